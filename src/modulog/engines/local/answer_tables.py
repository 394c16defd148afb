"""Answers on their way out: ids to Arrow columns and Python values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from modulog.engines.table import Table
from modulog.terms.arrow import column_field, to_arrow, unwrap
from modulog.terms.dictionary import Dictionary
from modulog.terms.python_values import value


def ids_of(tables: Iterable[Table], columns: Sequence[str]) -> Iterator[Any]:
    """The ids of each table as arrays of shape (columns, rows), in the given order of columns."""
    for table in tables:
        for batch in table.batches():
            arrays = [unwrap(batch.column(name)).view(np.uint32) for name in columns]
            yield np.stack(arrays) if arrays else np.empty((0, batch.num_rows), np.uint32)


def schema_of(chunks: Iterable[Any], names: Sequence[str], dictionary: Dictionary) -> pa.Schema:
    """One schema for all chunks: the type of a column follows from the kinds of all its terms."""
    kinds: list[set[int]] = [set() for _ in names]
    for chunk in chunks:
        for found, column in zip(kinds, chunk, strict=True):
            found.update(np.flatnonzero(np.bincount(dictionary.kinds(column))).tolist())
    return pa.schema([column_field(name, found) for name, found in zip(names, kinds, strict=True)])


def arrow_batches(
    chunks: Iterable[Any], schema: pa.Schema, dictionary: Dictionary
) -> Iterator[pa.RecordBatch]:
    """The chunks as record batches of terms."""
    for chunk in chunks:
        arrays = [to_arrow(dictionary, column, field) for column, field in zip(chunk, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def python_rows(chunks: Iterable[Any], dictionary: Dictionary) -> Iterator[tuple[Any, ...]]:
    """The rows as tuples of Python values."""
    for chunk in chunks:
        if not chunk.shape[0]:
            yield from [()] * chunk.shape[1]
            continue
        distinct, places = np.unique(chunk, return_inverse=True)
        values = [value(constant) for constant in dictionary.decode(distinct)]
        columns = [[values[i] for i in column] for column in places.reshape(chunk.shape).tolist()]
        yield from zip(*columns, strict=True)
