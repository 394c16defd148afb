"""Read facts from Parquet files, and write them. The type of a column says what its values are."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from modulog.errors import DataError
from modulog.formats.bad_records import BadRecord, without_missing
from modulog.formats.folders import replacing
from modulog.formats.tables import CHUNK, choose_columns, encode_batches, pieces
from modulog.formats.text_files import open_stream
from modulog.terms.arrow import TURTLE, column_field, to_arrow, wrap
from modulog.terms.constant import Kind
from modulog.terms.dictionary import Dictionary, Ids
from modulog.wording import plural

_SPARK_NOTE = b"org.apache.spark.sql.parquet.row.metadata"
"""The metadata of a file in which Spark keeps the schema, with the metadata of its columns."""

HOLDS = "holds"
"""The name of the one column, of booleans, in a file of a predicate without arguments."""

CHANGE_SCHEMA = pa.schema(
    [("predicate", pa.string()), ("sign", pa.int32()), ("terms", pa.list_(pa.string()))]
)
"""The columns of the file that `write_change` writes."""

_TERMS = column_field("", frozenset(Kind))

Part = tuple[str, int, Iterable[Ids]]
"""The name of a predicate, the sign of some of its facts, and these facts in chunks of ids."""


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
    except PermissionError as error:
        raise DataError(f"{path}: cannot be opened: {os.strerror(error.errno or 0)}") from error
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


# ---- Writing


def write_parquet(
    path: str | os.PathLike[str],
    chunks: Iterable[Ids] | Callable[[], Iterable[Ids]],
    dictionary: Dictionary,
    *,
    names: Sequence[str] | None = None,
) -> int:
    """Write facts to a Parquet file; returns the number of rows.

    The type of a column depends on all of its terms, so the chunks are read twice: once for the types, once
    to write. `chunks` may be a function that gives them anew; an iterator, which can be read only once, is
    kept in memory.
    """
    if not callable(chunks):
        kept = list(chunks) if isinstance(chunks, Iterator) else chunks
        again: Callable[[], Iterable[Ids]] = lambda: kept  # noqa: E731
    else:
        again = chunks
    kinds = _kinds(again(), dictionary)
    rows = 0
    schema = _schema(kinds, names)
    with replacing(path) as partial, pq.ParquetWriter(partial, schema) as writer:
        for chunk in pieces(again(), CHUNK):
            rows += chunk.shape[1]
            if kinds:
                arrays = [to_arrow(dictionary, column, schema.field(i)) for i, column in enumerate(chunk)]
                writer.write_batch(pa.record_batch(arrays, schema=schema))
        if not kinds and rows:
            writer.write_batch(pa.record_batch([pa.array([True])], schema=schema))
    return rows


def _kinds(chunks: Iterable[Ids], dictionary: Dictionary) -> list[set[int]] | None:
    """The kinds of terms that each column has; None if there is no chunk."""
    kinds: list[set[int]] | None = None
    for chunk in chunks:
        if kinds is None:
            kinds = [set() for _ in chunk]
        for seen, column in zip(kinds, chunk, strict=True):
            seen.update(np.flatnonzero(np.bincount(dictionary.kinds(column), minlength=1)).tolist())
    return kinds


def _schema(kinds: list[set[int]] | None, names: Sequence[str] | None) -> pa.Schema:
    """The types of columns with these kinds of terms; a predicate without arguments has the column HOLDS."""
    if not kinds:
        if names and kinds is None:
            return pa.schema([column_field(name, ()) for name in names])
        return pa.schema([pa.field(HOLDS, pa.bool_())])
    names = names if names is not None else [f"c{i}" for i in range(len(kinds))]
    if len(names) != len(kinds):
        raise DataError(f"{plural(len(names), 'name')} for {plural(len(kinds), 'column')}")
    return pa.schema([column_field(name, seen) for name, seen in zip(names, kinds, strict=True)])


def write_change(folder: Path, parts: Iterable[Part], dictionary: Dictionary) -> None:
    """Make a folder and write the difference between two states into it, as one Parquet file.

    It has a row for each fact that came or went: the predicate, the sign (1: the fact was added, -1: it was
    removed) and the list of the terms, each as text in Turtle form.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(folder / "part-0.parquet", CHANGE_SCHEMA) as writer:
        for batch in change_batches(parts, dictionary):
            writer.write_batch(batch)


def change_batches(parts: Iterable[Part], dictionary: Dictionary) -> Iterator[pa.RecordBatch]:
    """The rows that `write_change` writes in batches, one for each chunk of facts."""
    for predicate, sign, chunks in parts:
        for ids in chunks:
            arity, rows = ids.shape
            terms = to_arrow(dictionary, np.ascontiguousarray(ids.T).reshape(-1), _TERMS)
            ends = wrap(np.arange(rows + 1, dtype=np.int32) * np.int32(arity))
            signs = wrap(np.full(rows, sign, np.int32))
            names = pa.DictionaryArray.from_arrays(wrap(np.zeros(rows, np.int8)), [predicate])
            columns = [names.cast(pa.string()), signs, pa.ListArray.from_arrays(ends, terms)]
            yield pa.RecordBatch.from_arrays(columns, schema=CHANGE_SCHEMA)
