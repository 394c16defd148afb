"""Numbers of facts on Spark: how many derivations each fact has, as tables of changes that are summed when they are read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from modulog.engines.relation import Memory
from modulog.engines.spark.table import WEIGHT, SparkTable
from modulog.engines.table import Table
from modulog.errors import InternalError

if TYPE_CHECKING:
    from modulog.engines.spark.engine import SparkEngine

MANY = 8  # tables of changes that are summed as they are
BYTES = 8


class SparkCounters:
    """A number for each fact, as tables (c0, c1, …, #) of what was added to it; `since` has those of an update."""

    def __init__(self, engine: SparkEngine, name: str, arity: int) -> None:
        self.engine, self.name, self.arity = engine, name, arity
        self.columns = tuple(f"c{j}" for j in range(arity))
        self.base: list[SparkTable] = []
        self.since: list[SparkTable] | None = None

    def adjust(self, rows: Table, sign: int = 1) -> None:
        assert isinstance(rows, SparkTable)
        weight = F.col(f"`{WEIGHT}`") if rows.weighted else F.lit(1)
        frame = rows.frame.select(*self._named(rows), (weight * sign).cast("long").alias(WEIGHT))
        stack = self.base if self.since is None else self.since
        stack.append(self.engine.parts.keep(self.columns, frame, True))
        if len(stack) > MANY:
            stack[:] = [self.engine.parts.keep(self.columns, self._sums(stack), True)]

    def _named(self, rows: SparkTable) -> list[Any]:
        return [F.col(f"`{name}`").alias(c) for name, c in zip(rows.columns, self.columns, strict=True)]

    def _sums(self, tables: list[SparkTable]) -> DataFrame:
        """The number of each fact that some tables speak of."""
        changes = reduce(DataFrame.unionByName, [table.frame for table in tables])
        return changes.groupBy(*self.columns).agg(F.sum(f"`{WEIGHT}`").alias(WEIGHT))

    def _all(self) -> DataFrame | None:
        tables = [*self.base, *(self.since or ())]
        return self._sums(tables) if tables else None

    def _numbered(self, rows: SparkTable) -> DataFrame:
        """The rows under the names c0, c1, …, each with its number."""
        asked, sums = rows.frame.select(*self._named(rows)), self._all()
        if sums is None:
            return asked.withColumn(WEIGHT, F.lit(0).cast("long"))
        if not self.columns:
            return asked.crossJoin(sums)
        return asked.join(sums, list(self.columns), "left").fillna(0, [WEIGHT])

    def positive(self, rows: Table) -> SparkTable:
        assert isinstance(rows, SparkTable)
        kept = self._numbered(rows).filter(F.col(f"`{WEIGHT}`") > 0)
        named = [F.col(c).alias(name) for name, c in zip(rows.columns, self.columns, strict=True)]
        return self.engine.parts.keep(rows.columns, kept.select(*named), False)

    def items(self) -> Iterator[SparkTable]:
        sums = self._all()
        if sums is not None:
            yield SparkTable(self.columns, sums.filter(F.col(f"`{WEIGHT}`") != 0), None, True)

    def begin(self) -> None:
        if self.since is not None:
            raise InternalError(f"{self.name}: an update is under way")
        self.since = []

    def commit(self) -> None:
        self.base += self.since or []
        self.since = None

    def rollback(self) -> None:
        self.since = None

    def memory(self) -> Memory:
        held = sum(map(len, self.base)) * (self.arity + 1) * BYTES
        return Memory(held, held)
