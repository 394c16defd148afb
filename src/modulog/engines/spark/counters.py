"""Numbers of facts on Spark: a table of changes, summed when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from modulog.engines.protocol import Memory, Table
from modulog.engines.spark.relation import WEIGHT, SparkTable

if TYPE_CHECKING:
    from modulog.engines.spark.engine import SparkEngine

MANY = 8  # tables of changes that are summed as they are
BYTES = 8


class SparkCounters:
    """A number for each fact, as tables (c0, c1, …, #) of what was added to it."""

    def __init__(self, engine: SparkEngine, name: str, arity: int) -> None:
        self.engine, self.name, self.arity = engine, name, arity
        self.columns = tuple(f"c{j}" for j in range(arity))
        self.base: list[SparkTable] = []
        self.since: list[SparkTable] | None = None

    def adjust(self, rows: Table, sign: int = 1) -> None:
        assert isinstance(rows, SparkTable)
        weight = F.col(f"`{WEIGHT}`") if rows.weighted else F.lit(1)
        named = [F.col(f"`{name}`").alias(c) for name, c in zip(rows.columns, self.columns, strict=True)]
        frame = rows.frame.select(*named, (weight * sign).cast("long").alias(WEIGHT))
        stack = self.base if self.since is None else self.since
        stack.append(self.engine.parts.keep(self.columns, frame, True))
        if len(stack) > MANY:
            stack[:] = [self.engine.parts.keep(self.columns, _sums(stack, self.columns), True)]

    def _all(self) -> DataFrame | None:
        tables = [*self.base, *(self.since or ())]
        return _sums(tables, self.columns) if tables else None

    def _numbered(self, rows: SparkTable) -> DataFrame:
        """The rows under the names c0, c1, …, each with its number."""
        named = [F.col(f"`{name}`").alias(c) for name, c in zip(rows.columns, self.columns, strict=True)]
        asked, sums = rows.frame.select(*named), self._all()
        if sums is None:
            return asked.withColumn(WEIGHT, F.lit(0).cast("long"))
        if not self.columns:
            return asked.crossJoin(sums)
        return asked.join(sums, list(self.columns), "left").fillna(0, [WEIGHT])

    def positive(self, rows: Table) -> SparkTable:
        assert isinstance(rows, SparkTable)
        found = self._numbered(rows).filter(F.col(f"`{WEIGHT}`") > 0)
        named = [F.col(c).alias(name) for name, c in zip(rows.columns, self.columns, strict=True)]
        return self.engine.parts.keep(rows.columns, found.select(*named), False)

    def numbers(self, rows: Table) -> Any:
        assert isinstance(rows, SparkTable)
        return np.array([row[-1] for row in self._numbered(rows).collect()], np.int64)

    def items(self) -> Iterator[SparkTable]:
        sums = self._all()
        if sums is not None:
            yield SparkTable(self.columns, sums.filter(F.col(f"`{WEIGHT}`") != 0), None, True)

    def begin(self) -> None:
        self.since = []

    def commit(self) -> None:
        self.base += self.since or []
        self.since = None

    def rollback(self) -> None:
        self.since = None

    def memory(self) -> Memory:
        held = sum(map(len, self.base)) * (self.arity + 1) * BYTES
        return Memory(held, held)


def _sums(tables: list[SparkTable], columns: tuple[str, ...]) -> DataFrame:
    changes = reduce(DataFrame.unionByName, [table.frame for table in tables])
    return changes.groupBy(*columns).agg(F.sum(f"`{WEIGHT}`").alias(WEIGHT))
