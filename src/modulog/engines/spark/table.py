"""Tables of the Spark engine: data frames of ids, rows that are on the driver, and facts that have no ids yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark import Accumulator
from pyspark.sql import DataFrame, SparkSession

from modulog.engines.local.table import LocalTable
from modulog.engines.protocol import ModuleId
from modulog.engines.spark.blocks import SCHEMA, Chunks, Reader, TableBlocks
from modulog.engines.spark.functions import F
from modulog.engines.spark.waiting import Staged, Waiting
from modulog.errors import InternalError

if TYPE_CHECKING:
    from modulog.engines.spark.relation import SparkRelation

WEIGHT = "#"


class SparkTable:
    """A data frame of ids; its size is found at the first question and remembered."""

    def __init__(
        self,
        columns: tuple[str, ...],
        frame: DataFrame | None,
        size: int | None = None,
        weighted: bool = False,
    ) -> None:
        self.columns, self.weighted, self.size = columns, weighted, size
        self._frame = frame
        self._rows: LocalTable | None = None

    @property
    def frame(self) -> DataFrame:
        """The rows as Spark reads them."""
        assert self._frame is not None
        return self._frame

    def __len__(self) -> int:
        if self.size is None:
            self.size = int(self.frame.count())
        return self.size

    def batches(self) -> Iterator[pa.RecordBatch]:
        yield from self._arrow().to_batches()

    def _arrow(self) -> pa.Table:
        bare = not self.columns and not self.weighted
        return (self.frame.select(F.lit(1).cast("long").alias(WEIGHT)) if bare else self.frame).toArrow()

    def rows(self) -> LocalTable:
        """The rows on the driver, fetched once; ids must fit into 32 bits."""
        if self._rows is None:
            found = self._arrow()
            ids = [found.column(name).to_numpy().astype(np.int32) for name in self.columns]
            weights = found.column(WEIGHT).to_numpy() if self.weighted else None
            shape = np.stack(ids) if ids else np.empty((0, len(found)), np.int32)
            self._rows = LocalTable(self.columns, np.ascontiguousarray(shape), weights)
        return self._rows


class DriverTable(SparkTable):
    """Rows on the driver; Spark gets them as part of a plan, without a job."""

    def __init__(self, spark: SparkSession, rows: LocalTable) -> None:
        super().__init__(rows.columns, None, len(rows), rows.weights is not None)
        self._spark, self._rows = spark, rows

    @property
    def frame(self) -> DataFrame:
        """The rows as Spark reads them."""
        if self._frame is None:
            local = self.rows()
            columns = {name: ids.astype(np.int64) for name, ids in zip(self.columns, local.ids, strict=True)}
            if local.weights is not None:
                columns[WEIGHT] = local.weights.astype(np.int64)
            self._frame = frame_of(self._spark, columns, len(local))
        return self._frame

    def batches(self) -> Iterator[pa.RecordBatch]:
        yield from self.rows().batches()


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
    """Facts that have no ids yet: keys k0, k1, …, encoded together with all others when somebody reads.

    `keys` is a frame, of keys or of what `read` turns into keys, or, with the number of rows, arrays on the driver.
    """

    def __init__(
        self,
        arity: int,
        keys: DataFrame | Sequence[pa.Array],
        *,
        read: Reader | None = None,
        spark: SparkSession | None = None,
        rows: int = 0,
    ) -> None:
        self.columns, self._read = tuple(f"c{j}" for j in range(arity)), read
        self._frame = keys if isinstance(keys, DataFrame) else None
        self.arrays = None if isinstance(keys, DataFrame) else list(keys)
        self._spark, self._rows = spark, rows
        self.counter = RowCounter(rows)

    @property
    def frame(self) -> DataFrame:
        """What Spark reads: keys, or what gives keys."""
        if self._frame is None:
            assert self._spark is not None and self.arrays is not None
            names = {f"k{j}": array for j, array in enumerate(self.arrays)}
            self._frame = (
                self._spark.createDataFrame(pa.table(names))
                if names
                else self._spark.range(self._rows).select()
            )
        return self._frame

    @property
    def bytes(self) -> int:
        """What it takes on the driver."""
        return sum(array.nbytes for array in self.arrays or ())

    def wait(self, relation: SparkRelation, source: ModuleId) -> Waiting:
        """The facts as those of a relation."""
        name = str(relation.number)
        counter = self.counter.counting(self.frame) if self.arrays is None else None
        blocks = self.frame.mapInArrow(Chunks(TableBlocks(name), self._read, counter), SCHEMA)
        return Waiting(relation.arity, blocks, {name: relation}, source)

    def __len__(self) -> int:
        if self.arrays is not None:
            return self._rows
        if not self.columns:
            return int(self.frame.count())
        return _size(
            self.frame.mapInArrow(Chunks(TableBlocks(""), self._read), SCHEMA).where("name is not null")
        )

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

    def __len__(self) -> int:
        mine = (F.col("name") == self._name) & (F.col("arity") == len(self.columns))
        return _size(self._staged.frame.where(mine))


def _size(blocks: DataFrame) -> int:
    return int(blocks.agg(F.sum("size")).collect()[0][0] or 0)
