"""The difference between two states as one table with a row for each fact that came or went.

Its columns are the predicate, the sign (1: the fact was added, -1: it was removed) and the list of the terms,
each as text in Turtle form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from modulog.terms.arrow import column_field, to_arrow, wrap
from modulog.terms.constant import Kind
from modulog.terms.dictionary import Dictionary, Ids

SCHEMA = pa.schema([("predicate", pa.string()), ("sign", pa.int32()), ("terms", pa.list_(pa.string()))])
"""The columns of the table."""
_TERMS = column_field("", frozenset(Kind))

Part = tuple[str, int, Iterable[Ids]]
"""The name of a predicate, the sign of some of its facts, and these facts in chunks of ids."""


def change_batches(parts: Iterable[Part], dictionary: Dictionary) -> Iterator[pa.RecordBatch]:
    """The table in batches, one for each chunk of facts."""
    for predicate, sign, chunks in parts:
        for ids in chunks:
            arity, rows = ids.shape
            terms = to_arrow(dictionary, np.ascontiguousarray(ids.T).reshape(-1), _TERMS)
            ends = wrap(np.arange(rows + 1, dtype=np.int32) * np.int32(arity))
            signs = wrap(np.full(rows, sign, np.int32))
            names = pa.DictionaryArray.from_arrays(wrap(np.zeros(rows, np.int8)), [predicate])
            columns = [names.cast(pa.string()), signs, pa.ListArray.from_arrays(ends, terms)]
            yield pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def write_change(folder: Path, parts: Iterable[Part], dictionary: Dictionary) -> None:
    """Make a folder and write the table into it, as one Parquet file."""
    folder.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(folder / "part-0.parquet", SCHEMA) as writer:
        for batch in change_batches(parts, dictionary):
            writer.write_batch(batch)
