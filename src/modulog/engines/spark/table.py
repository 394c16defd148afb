"""Tables of the Spark engine: data frames of ids, and facts whose terms have no ids yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark import Accumulator
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from modulog.engines.relation import ModuleId
from modulog.engines.spark.key_blocks import SCHEMA, Chunks, Reader, TableBlocks
from modulog.engines.spark.unencoded_rows import Staged, Waiting
from modulog.errors import InternalError

if TYPE_CHECKING:
    from modulog.engines.spark.relation import SparkRelation

WEIGHT = "#"
"""The column with the multiplicity of a row."""


class SparkTable:
    """A data frame of ids; its size is found at the first question and remembered."""

    def __init__(
        self,
        columns: tuple[str, ...],
        frame: DataFrame,
        size: int | None = None,
        weighted: bool = False,
    ) -> None:
        self.columns, self.frame, self.size, self.weighted = columns, frame, size, weighted

    def __len__(self) -> int:
        if self.size is None:
            self.size = int(self.frame.count())
        return self.size

    def batches(self) -> Iterator[pa.RecordBatch]:
        bare = not self.columns and not self.weighted
        rows = self.frame.select(F.lit(1).cast("long").alias(WEIGHT)) if bare else self.frame
        yield from rows.toArrow().to_batches()


def frame_of(spark: SparkSession, columns: dict[str, np.ndarray], rows: int) -> DataFrame:
    """Arrays of the driver as a frame; from Arrow it is a part of the plan and needs no job."""
    if not columns:
        return spark.range(rows).select()
    return spark.createDataFrame(pa.table({name: pa.array(values) for name, values in columns.items()}))


class RowCounter:
    """How many rows executors have read for a table, once they have; it does not keep the table."""

    def __init__(self, rows: int = 0) -> None:
        self._rows = rows
        self._found: Accumulator[int] | None = None

    def counting(self, frame: DataFrame) -> Accumulator[int]:
        """What executors add to when they read the frame; only its last reading counts."""
        self._found = frame.sparkSession.sparkContext.accumulator(0)
        return self._found

    def __call__(self) -> int:
        return self._rows if self._found is None else int(self._found.value)


class KeyTable:
    """Facts whose terms have no ids yet: a frame of their keys, or of what `read` turns into keys.

    They get their ids together with all others that wait when a relation takes them in. `rows` says how many
    there are, where that is known.
    """

    def __init__(
        self, arity: int, frame: DataFrame, *, read: Reader | None = None, rows: int | None = None
    ) -> None:
        self.columns, self.frame = tuple(f"c{j}" for j in range(arity)), frame
        self._read, self._rows, self._is_counted = read, rows, rows is not None
        self.counter = RowCounter(rows or 0)

    @classmethod
    def of(cls, spark: SparkSession, keys: list[pa.Array], rows: int) -> KeyTable:
        """Keys of the driver, by column: they are a part of the plan."""
        named = {f"k{j}": column for j, column in enumerate(keys)}
        frame = spark.createDataFrame(pa.table(named)) if named else spark.range(rows).select()
        return cls(len(keys), frame, rows=rows)

    @property
    def mark(self) -> str | None:
        """The token that an error about a record of the source bears."""
        return getattr(self._read, "token", None)

    def wait(self, relation: SparkRelation, source: ModuleId) -> Waiting:
        """The facts as those of a relation."""
        name = str(relation.number)
        counter = None if self._is_counted else self.counter.counting(self.frame)
        blocks = self.frame.mapInArrow(Chunks(TableBlocks(name), self._read, counter), SCHEMA)
        return Waiting(relation.arity, blocks, {name: relation}, source)

    def __len__(self) -> int:
        if self._rows is None:
            self._rows = self._counted()
        return self._rows

    def _counted(self) -> int:
        if not self.columns:
            return int(self.frame.count())
        blocks = self.frame.mapInArrow(Chunks(TableBlocks(""), self._read), SCHEMA)
        return _size(blocks.where("name is not null"))

    def batches(self) -> Iterator[Any]:
        raise InternalError("facts without ids cannot be read")


class StagedTable(KeyTable):
    """Facts of one name and arity among blocks that are on disk."""

    def __init__(self, staged: Staged, arity: int, name: str) -> None:
        super().__init__(arity, staged.frame)
        self._staged, self._name = staged, name

    def wait(self, relation: SparkRelation, source: ModuleId) -> Waiting:
        """The facts as those of a relation."""
        return Waiting(relation.arity, self._staged, {self._name: relation}, source)

    def _counted(self) -> int:
        mine = (F.col("name") == self._name) & (F.col("arity") == len(self.columns))
        return _size(self._staged.frame.where(mine))


def _size(blocks: DataFrame) -> int:
    return int(blocks.agg(F.sum("size")).collect()[0][0] or 0)
