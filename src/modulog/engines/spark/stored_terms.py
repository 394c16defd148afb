"""The terms of a store, for Spark: a table that executors read, and files that the driver looks through by itself where that takes less time than a job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from modulog.engines.spark.folders import file_uri
from modulog.engines.spark.hadoop import AS_WRITTEN
from modulog.store.reading import Store

BATCH = 1 << 17  # terms
LOOKED_THROUGH = 20_000_000
"""So many terms the driver looks through, one batch at a time: a second for about ten million."""


class StoredTerms:
    """The terms that a state of a store has; `few` says that the driver may look for some of them."""

    def __init__(self, spark: SparkSession, store: Store) -> None:
        self.spark, self.store, self.count = spark, store, store.manifest.term_count
        self.files = sorted(store.manifest.terms, key=lambda file: file.first)

    @property
    def few(self) -> bool:
        """Whether a job would take longer."""
        return self.count <= LOOKED_THROUGH

    def frame(self) -> DataFrame:
        """All terms: id, key."""
        self.store.verify(self.files)
        scan = self.spark.read.schema("id long, key string").option(AS_WRITTEN, "false")
        return scan.parquet(*(file_uri(self.store.folder / file.path) for file in self.files))

    def _batches(self) -> Iterator[tuple[int, pa.Array]]:
        """All keys, in the order of their ids, with the id of the first of each batch."""
        for file in self.files:
            with pq.ParquetFile(pa.BufferReader(self.store.content(file))) as parquet:
                first = file.first
                for batch in parquet.iter_batches(BATCH, columns=["key"]):
                    yield first, batch.column(0).cast(pa.large_string())
                    first += len(batch)

    def find(self, keys: Sequence[str]) -> Iterator[tuple[str, int]]:
        """The keys that are there, with their ids."""
        wanted = pa.array(keys, pa.large_string())
        for first, some in self._batches():
            there = pc.is_in(some, value_set=wanted)
            if pc.any(there).as_py():
                places = np.flatnonzero(there.to_numpy(zero_copy_only=False))
                yield from zip(some.filter(there).to_pylist(), (first + places).tolist(), strict=True)

    def texts(self, numbers: npt.NDArray[np.int64]) -> pa.Array:
        """The keys of ids, which are sorted."""
        found = [pa.array([], pa.large_string())]
        for first, some in self._batches():
            low, high = np.searchsorted(numbers, [first, first + len(some)])
            if low < high:
                found.append(some.take(pa.array(numbers[low:high] - first)))
        return pa.concat_arrays(found)
