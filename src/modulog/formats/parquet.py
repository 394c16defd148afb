"""Read facts from Parquet files. The type of a column says what its values are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from modulog.errors import DataError
from modulog.formats.bad_records import BadRecord
from modulog.formats.columns import CHUNK, choose_columns, encode_batches
from modulog.formats.lenient import without_missing
from modulog.formats.records import open_stream
from modulog.terms.arrow import TURTLE
from modulog.terms.dictionary import Dictionary, Ids

_SPARK_NOTE = b"org.apache.spark.sql.parquet.row.metadata"
"""The metadata of a file in which Spark keeps the schema, with the metadata of its columns."""
HOLDS = "holds"
"""The name of the one column, of booleans, in a file of a predicate without arguments."""


def read_parquet(
    path: str | os.PathLike[str],
    dictionary: Dictionary,
    *,
    arity: int | None = None,
    columns: Sequence[int | str] | None = None,
    aside: list[BadRecord] | None = None,
) -> Iterator[Ids]:
    """Read a file and yield its facts in chunks of ids.

    `columns` are those to read, by name or position from 0. Rows with a null are appended to `aside`; without
    it they are an error.
    """
    source = str(path)
    file = _open(path)
    with file:
        schema = file.schema_arrow
        if arity == 0 and columns is None and schema.names in ([], [HOLDS]):
            yield from _nullary(file, source)
            return
        if schema.names == [HOLDS] and file.metadata.num_rows == 0:
            return
        chosen = choose_columns(schema.names, len(schema.names), arity, columns, source)
        names = [schema.names[i] for i in dict.fromkeys(chosen)]
        places = [names.index(schema.names[i]) for i in chosen]
        batches = _batches(file, names, source)
        if aside is not None:
            batches = without_missing(batches, source, aside)
        yield from encode_batches(batches, dictionary, places, source)


def _open(path: str | os.PathLike[str]) -> pq.ParquetFile:
    """Open a file; one that is compressed as a whole is read into memory."""
    if not Path(path).exists():
        raise DataError(f"{path}: there is no such file")
    try:
        if Path(path).suffix.lower() == ".gz":
            with open_stream(path) as stream:
                return pq.ParquetFile(pa.BufferReader(stream.read()))
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: not a readable Parquet file: {error}") from error


def _batches(file: pq.ParquetFile, names: list[str], source: str) -> Iterator[pa.RecordBatch]:
    """The columns of these names, batch by batch; the field of a column in Turtle form says so."""
    turtle = _spark_turtle(file)
    try:
        for batch in file.iter_batches(batch_size=CHUNK, columns=names):
            # Columns arrive in the order of the file, whatever order was asked for.
            batch = batch.select(names)
            if turtle:
                fields = [f.with_metadata(TURTLE) if f.name in turtle else f for f in batch.schema]
                batch = pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields))
            yield batch
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{source}: damaged: {error}") from error


def _spark_turtle(file: pq.ParquetFile) -> set[str]:
    """The columns in Turtle form of a file that Spark wrote: it says so in metadata of its own."""
    note = (file.metadata.metadata or {}).get(_SPARK_NOTE)
    fields = json.loads(note)["fields"] if note else []
    return {f["name"] for f in fields if f.get("metadata", {}).get("modulog.terms") == "turtle"}


def _nullary(file: pq.ParquetFile, source: str) -> Iterator[Ids]:
    """Yield one empty row if a row of the file says that the predicate without arguments holds."""
    for batch in _batches(file, file.schema_arrow.names, source):
        if batch.num_columns == 0 or True in batch.column(0).to_pylist():
            yield np.empty((0, 1), np.uint32)
            return
