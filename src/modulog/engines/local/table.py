"""Rows of ids in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from modulog.closures.pair_sets import Pairs
from modulog.kernels.types import Columns, Integers

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class LocalTable:
    """An array of ids with one row for each named column, and perhaps a multiplicity for each of its rows."""

    columns: tuple[str, ...]
    ids: Columns
    weights: Integers | None = None

    def __len__(self) -> int:
        return int(self.ids.shape[1])

    def batches(self) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from modulog.terms.arrow import wrap

        arrays = [wrap(column) for column in self.ids]
        names = list(self.columns)
        if self.weights is not None or not names:
            arrays.append(wrap(np.ones(len(self), np.int64) if self.weights is None else self.weights))
            names.append("#")
        yield pa.RecordBatch.from_arrays(arrays, names=names)


@dataclass(frozen=True, slots=True)
class VirtualTable:
    """Pairs that are listed, in bounded pieces, when somebody reads them."""

    columns: tuple[str, ...]
    pairs: Pairs

    def __len__(self) -> int:
        return self.pairs.count()

    def listed(self) -> LocalTable:
        """All of them in one table."""
        pieces = list(self.pairs.scan())
        return LocalTable(
            self.columns, np.concatenate(pieces, axis=1) if pieces else np.empty((2, 0), np.int32)
        )

    def batches(self) -> Iterator[pa.RecordBatch]:
        for piece in self.pairs.scan():
            yield from LocalTable(self.columns, piece).batches()


def as_ids(data: Any, arity: int) -> Columns:
    """Any array of ids, one row for each column, as kernels want it."""
    ids = np.ascontiguousarray(data)
    ids = ids.view(np.int32) if ids.dtype == np.uint32 else ids.astype(np.int32, copy=False)
    return ids if ids.ndim == 2 else ids.reshape(arity, -1)
