"""Numbers of facts on Spark: a table of changes, summed when somebody asks. While they are few, they are on the driver."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.sql import DataFrame

from modulog.engines.local.counters import LocalCounters
from modulog.engines.local.table import LocalTable
from modulog.engines.protocol import Memory, Table
from modulog.engines.spark.functions import F
from modulog.engines.spark.table import WEIGHT, SparkTable
from modulog.errors import InternalError

if TYPE_CHECKING:
    from modulog.engines.spark.engine import SparkEngine

MANY = 8  # tables of changes that are summed as they are
BYTES = 8
_PLACE = "_place"


class SparkCounters:
    """A number for each fact, as tables (c0, c1, …, #) of what was added to it; `mirror` has them instead while it can."""

    def __init__(self, engine: SparkEngine, name: str, arity: int) -> None:
        self.engine, self.name, self.arity = engine, name, arity
        self.columns = tuple(f"c{j}" for j in range(arity))
        self.base: list[SparkTable] = []
        self.since: list[SparkTable] | None = None
        self.mirror = LocalCounters(name, arity) if engine.driver.usable else None
        self.adjusted = 0  # rows that the mirror was given, at least as many as it has numbers

    def adjust(self, rows: Table, sign: int = 1) -> None:
        assert isinstance(rows, SparkTable)
        self.adjusted += len(rows)
        here = self._here(rows)
        if here is not None:
            here[0].adjust(here[1], sign)
            return
        weight = F.col(f"`{WEIGHT}`") if rows.weighted else F.lit(1)
        named = [F.col(f"`{name}`").alias(c) for name, c in zip(rows.columns, self.columns, strict=True)]
        frame = rows.frame.select(*named, (weight * sign).cast("long").alias(WEIGHT))
        stack = self.base if self.since is None else self.since
        stack.append(self.engine.parts.keep(self.columns, frame, True))
        if len(stack) > MANY:
            stack[:] = [self.engine.parts.keep(self.columns, _sums(stack, self.columns), True)]

    def _here(self, rows: SparkTable) -> tuple[LocalCounters, LocalTable] | None:
        """The mirror and the rows, if both are few; otherwise the mirror is given up."""
        if self.mirror is None:
            return None
        driver = self.engine.driver
        if self.adjusted > driver.limit:
            self.adjusted = sum(len(table) for table in self.mirror.items())
        found = driver.here(rows) if self.adjusted <= driver.limit else None
        if found is not None:
            return self.mirror, found
        self._to_spark(self.mirror)
        return None

    def _to_spark(self, mirror: LocalCounters) -> None:
        """Give the mirror up: what held before the update, and what the update did."""
        table, now = self.engine.driver.table, list(mirror.items())
        if self.since is None:
            self.base = list(map(table, now))
        else:
            mirror.rollback()
            before = list(mirror.items())
            taken = [LocalTable(t.columns, t.ids, None if t.weights is None else -t.weights) for t in before]
            self.base, self.since = list(map(table, before)), list(map(table, (*taken, *now)))
        self.mirror = None

    def _all(self) -> DataFrame | None:
        tables = [*self.base, *(self.since or ())]
        return _sums(tables, self.columns) if tables else None

    def _numbered(self, rows: SparkTable, *others: str) -> DataFrame:
        """The rows under the names c0, c1, …, each with its number, and other columns that stay."""
        named = [F.col(f"`{name}`").alias(c) for name, c in zip(rows.columns, self.columns, strict=True)]
        asked, sums = rows.frame.select(*named, *others), self._all()
        if sums is None:
            return asked.withColumn(WEIGHT, F.lit(0).cast("long"))
        if not self.columns:
            return asked.crossJoin(sums)
        return asked.join(sums, list(self.columns), "left").fillna(0, [WEIGHT])

    def positive(self, rows: Table) -> SparkTable:
        assert isinstance(rows, SparkTable)
        here = self._here(rows)
        if here is not None:
            return self.engine.driver.table(here[0].positive(here[1]))
        kept = self._numbered(rows).filter(F.col(f"`{WEIGHT}`") > 0)
        named = [F.col(c).alias(name) for name, c in zip(rows.columns, self.columns, strict=True)]
        return self.engine.parts.keep(rows.columns, kept.select(*named), False)

    def numbers(self, rows: Table) -> Any:
        assert isinstance(rows, SparkTable)
        here = self._here(rows)
        if here is not None:
            return here[0].numbers(here[1])
        placed = SparkTable(rows.columns, rows.frame.withColumn(_PLACE, F.monotonically_increasing_id()))
        found = self._numbered(placed, _PLACE).orderBy(_PLACE).collect()
        return np.array([row[WEIGHT] for row in found], np.int64)

    def items(self) -> Iterator[SparkTable]:
        if self.mirror is not None:
            yield from map(self.engine.driver.table, self.mirror.items())
            return
        sums = self._all()
        if sums is not None:
            yield SparkTable(self.columns, sums.filter(F.col(f"`{WEIGHT}`") != 0), None, True)

    def begin(self) -> None:
        if self.since is not None:
            raise InternalError(f"{self.name}: an update is under way")
        self.since = []
        if self.mirror is not None:
            self.mirror.begin()

    def commit(self) -> None:
        self.base += self.since or []
        self.since = None
        if self.mirror is not None:
            self.mirror.commit()

    def rollback(self) -> None:
        self.since = None
        if self.mirror is not None:
            self.mirror.rollback()

    def memory(self) -> Memory:
        if self.mirror is not None:
            return self.mirror.memory()
        held = sum(map(len, self.base)) * (self.arity + 1) * BYTES
        return Memory(held, held)


def _sums(tables: list[SparkTable], columns: tuple[str, ...]) -> DataFrame:
    changes = reduce(DataFrame.unionByName, [table.frame for table in tables])
    return changes.groupBy(*columns).agg(F.sum(f"`{WEIGHT}`").alias(WEIGHT))
