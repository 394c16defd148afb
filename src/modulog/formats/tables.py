"""Read facts from values in memory: tuples, NumPy arrays, data frames, Arrow tables, streams of batches.

What all readers of tables share is here, too: which columns are the arguments, and columns of Arrow as ids.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa

from modulog.errors import DataError
from modulog.formats.files import holds_facts
from modulog.formats.keyed_facts import Keyed
from modulog.terms.arrow import encode_arrow, encode_integers, encode_texts, is_turtle, wrap
from modulog.terms.dictionary import Dictionary, Ids
from modulog.terms.python_values import constant
from modulog.wording import plural

CHUNK = 1 << 20
"""The most rows of a chunk of ids."""

TUPLES = 1 << 16
"""Tuples that are encoded at once."""

_SOURCE = "facts"
"""What errors call values in memory."""


def read_table(
    data: object,
    dictionary: Dictionary,
    *,
    arity: int | None = None,
    columns: Sequence[int | str] | None = None,
    chunk: int = CHUNK,
    tuples: int = TUPLES,
) -> Iterator[Ids]:
    """Read Python values and yield facts in chunks of ids.

    Taken are iterables of tuples or lists, NumPy arrays (one or two dimensions, or with named fields), pandas
    and Polars frames and series, Arrow tables, batches, readers and arrays, and whatever offers an Arrow
    stream. `columns` picks the columns that are the arguments, by name or by position from 0.
    A chunk has at most `chunk` facts, and from an iterable so many `tuples` are taken at once.

    >>> from modulog.terms.dictionary import Dictionary
    >>> [c.tolist() for c in read_table([("a", "b"), ("b", "c")], Dictionary())]
    [[[0, 1], [1, 2]]]
    """
    if isinstance(data, Keyed):
        return data.read(dictionary)
    if isinstance(data, (str, bytes, dict, os.PathLike)):
        raise DataError(_not_facts(data))
    held = _held_columns(data)
    if held is not None:
        return _read_columns(*held, dictionary, arity, columns, chunk)
    reader = _reader(data)
    if reader is not None:
        return _read_reader(reader, dictionary, arity, columns, chunk)
    if not isinstance(data, Iterable):
        raise DataError(_not_facts(data))
    return _read_rows(iter(data), dictionary, arity, columns, tuples)


def _not_facts(data: object) -> str:
    """The message for a value that holds no facts, with what was probably meant."""
    hint = ""
    if isinstance(data, os.PathLike) or (isinstance(data, str) and holds_facts(data)):
        hint = "; for a file use `load`"
    elif isinstance(data, dict):
        hint = "; for a dictionary of columns write `pyarrow.table(…)`"
    return f"facts are an iterable of tuples or a table, not a {type(data).__name__}{hint}"


def _held_columns(data: Any) -> tuple[list[Any], list[str] | None, int] | None:
    """Columns, names and the number of rows of a NumPy array or a pandas frame; None for other values."""
    if isinstance(data, np.ndarray):
        if data.dtype.names is not None and data.ndim == 1:
            return [data[name] for name in data.dtype.names], list(data.dtype.names), len(data)
        if data.ndim == 1:
            return [data], None, len(data)
        if data.ndim == 2:
            return [data[:, i] for i in range(data.shape[1])], None, len(data)
        raise DataError(f"an array of facts has one or two dimensions, not {data.ndim}")
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(data, pandas.Series):
        return [data], None, len(data)
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return [data.iloc[:, i] for i in range(data.shape[1])], [str(c) for c in data.columns], len(data)
    return None


def _read_columns(
    held: list[Any],
    names: list[str] | None,
    rows: int,
    dictionary: Dictionary,
    arity: int | None,
    columns: Sequence[int | str] | None,
    chunk: int,
) -> Iterator[Ids]:
    """Yield the facts of columns of NumPy or pandas, `chunk` rows at a time."""
    chosen = choose_columns(names, len(held), arity, columns, _SOURCE)
    for start in range(0, rows, chunk):
        end = min(start + chunk, rows)
        ids = np.empty((len(chosen), end - start), np.uint32)
        for place, column in enumerate(chosen):
            name = names[column] if names else column
            try:
                ids[place] = _encode_held(dictionary, held[column][start:end], start + 1)
            except DataError as error:
                raise _named(error, f"column {name!r}") from error
        yield ids


def _encode_held(dictionary: Dictionary, column: Any, row: int) -> Ids:
    """The ids of a part of a column, whose first row has the number `row`.

    What pandas calls missing is an error; NaN in an array of NumPy is a number.
    """
    if isinstance(column, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(column)
        if masked.any():
            raise DataError(f"row {row + int(np.argmax(masked))}: a masked value")
        column = column.data
    series = not isinstance(column, np.ndarray)
    if not series and column.dtype.kind == "i":
        return encode_integers(dictionary, column)
    if column.dtype == object or (not series and column.dtype.kind == "U"):
        missing = column.isna().to_numpy() if series else np.zeros(0, np.bool_)
        if missing.any():
            raise DataError(f"row {row + int(np.argmax(missing))}: a missing value")
        return _encode_values(dictionary, column.tolist(), row)
    try:
        simple = not series and column.dtype.kind in "ufb"
        array = wrap(column) if simple else pa.array(column, from_pandas=series)
    except (pa.ArrowException, UnicodeError) as error:
        raise DataError(f"row {row}: {error}") from error
    return encode_arrow(dictionary, array, row=row)


def _reader(data: Any) -> pa.RecordBatchReader | None:
    """The stream of batches of a table or a series; None for other values."""
    if isinstance(data, pa.RecordBatchReader):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.RecordBatchReader.from_batches(data.schema, [data])
    if isinstance(data, (pa.Array, pa.ChunkedArray)):
        return pa.table({"0": data}).to_reader()
    if isinstance(data, pa.Table):
        return data.to_reader()
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(data, polars.LazyFrame):
        data = data.collect()
    if polars is not None and isinstance(data, polars.Series):
        data = data.to_frame()
    if not hasattr(data, "__arrow_c_stream__"):
        return None
    try:
        return pa.RecordBatchReader.from_stream(data)
    except pa.ArrowException as error:
        raise DataError(f"{_SOURCE}: {_unreadable(data)}cannot be read by Arrow: {error}") from error


def _unreadable(frame: Any) -> str:
    """The start of an error about a frame: the column that has a type which only Polars has."""
    for name, type_ in getattr(frame, "schema", {}).items():
        try:
            pa.RecordBatchReader.from_stream(frame.select(name))
        except pa.ArrowException:
            return f"column {name!r} of type {type_} (cast it, to Int64, Decimal or String) "
    return "the table "


def _read_reader(
    reader: pa.RecordBatchReader,
    dictionary: Dictionary,
    arity: int | None,
    columns: Sequence[int | str] | None,
    chunk: int,
) -> Iterator[Ids]:
    """Yield the facts of a stream of batches."""
    names = reader.schema.names
    chosen = choose_columns(names, len(names), arity, columns, _SOURCE)
    yield from encode_batches(iter(reader), dictionary, chosen, _SOURCE, chunk)


def _read_rows(
    rows: Iterator[Any],
    dictionary: Dictionary,
    arity: int | None,
    columns: Sequence[int | str] | None,
    tuples: int,
) -> Iterator[Ids]:
    """Yield the facts of tuples or lists. The first one says how many values each has."""
    first = next(rows, None)
    if first is None:
        return
    _check_row(first, None, 1)
    width = len(first)
    chosen = choose_columns(None, width, arity, columns, f"{_SOURCE}: row 1")
    rows, row = chain([first], rows), 1
    while batch := list(islice(rows, tuples)):
        for i, fact in enumerate(batch):
            _check_row(fact, width, row + i)
        values = list(zip(*batch, strict=True)) if width else []
        ids = np.empty((len(chosen), len(batch)), np.uint32)
        for place, column in enumerate(chosen):
            try:
                ids[place] = _encode_values(dictionary, values[column], row)
            except DataError as error:
                raise _named(error, f"column {column}") from error
        row += len(batch)
        yield ids


def _check_row(fact: Any, width: int | None, row: int) -> None:
    """Raise an error unless this is a tuple or a list, and of this width if one is given."""
    if not isinstance(fact, (tuple, list)):
        hint = (
            f"; write ({fact!r},) for a fact with one argument" if isinstance(fact, (str, int, float)) else ""
        )
        raise DataError(f"{_SOURCE}: row {row}: a {type(fact).__name__} instead of a tuple{hint}")
    if width is not None and len(fact) != width:
        raise DataError(
            f"{_SOURCE}: row {row}: {plural(len(fact), 'value')}, but the rows before have {width}"
        )


def _encode_values(dictionary: Dictionary, values: Sequence[Any], row: int) -> Ids:
    """The ids of Python values, the first of which is in row `row`.

    All strings or all integers are encoded without a Python object for each.
    """
    kinds = set(map(type, values))
    try:
        if kinds == {str}:
            return encode_texts(dictionary, values)
        if kinds == {int}:
            return encode_integers(dictionary, np.array(values, np.int64))
    except (UnicodeError, OverflowError):
        pass  # encoding them one by one, below, finds the value that is wrong
    constants = []
    for i, value in enumerate(values):
        try:
            constants.append(constant(value))
        except DataError as error:
            raise DataError(f"row {row + i}: {error}") from error
    return dictionary.encode(constants)


def _named(error: DataError, place: str) -> DataError:
    """The error with the column that it is about."""
    return DataError(f"{_SOURCE}: {place}, {error}")


# ---- Columns


def choose_columns(
    names: Sequence[str] | None,
    width: int,
    arity: int | None,
    columns: Sequence[int | str] | None,
    source: str,
) -> list[int]:
    """The positions of the columns to read, from 0, in the order of the arguments.

    `columns` are the columns that the user asks for, by name or position; None means all, in their order.
    `names` are the names of the table's columns, None if it has none, `width` how many there are. `arity` is
    the number of arguments if it is known. A column that does not exist, or a wrong number of columns, is a
    DataError that names `source`.
    """
    if columns is None:
        if arity is not None and width != arity:
            shown = f" ({', '.join(names)})" if names else ""
            raise DataError(
                f"{source}: {plural(width, 'column')}{shown} where {plural(arity, 'argument')} should be"
            )
        return list(range(width))
    if arity is not None and len(columns) != arity:
        raise DataError(f"{source}: {plural(len(columns), 'column')} named for {plural(arity, 'argument')}")
    known = list(names or ())
    chosen = []
    for column in columns:
        place = known.index(column) if isinstance(column, str) and column in known else column
        if not isinstance(place, int) or not 0 <= place < width:
            have = f"columns {', '.join(map(repr, known))}" if known else plural(width, "column")
            if isinstance(column, str) and not known:
                have += "; columns have names only in a file that is said to have a header"
            raise DataError(f"{source}: there is no column {column!r}, but {have}")
        chosen.append(place)
    return chosen


def encode_batches(
    batches: Iterator[pa.RecordBatch],
    dictionary: Dictionary,
    chosen: Sequence[int],
    source: str,
    chunk: int = CHUNK,
) -> Iterator[Ids]:
    """Record batches as chunks of ids: column `chosen[j]` of the table is argument j.

    A DataError names the source, the column and the row, counted from 1.
    """
    row = 1
    for whole in batches:
        for start in range(0, whole.num_rows, chunk):
            batch = whole.slice(start, chunk)
            ids = np.empty((len(chosen), batch.num_rows), np.uint32)
            for place, column in enumerate(chosen):
                field = batch.schema.field(column)
                try:
                    ids[place] = encode_arrow(
                        dictionary, batch.column(column), row=row, turtle=is_turtle(field)
                    )
                except DataError as error:
                    raise DataError(f"{source}: column {field.name!r}, {error}") from error
            row += batch.num_rows
            yield ids


def pieces(chunks: Iterable[Ids], rows: int) -> Iterator[Ids]:
    """Cut chunks into chunks of at most this many rows."""
    for chunk in chunks:
        for start in range(0, chunk.shape[1], rows):
            yield np.ascontiguousarray(chunk[:, start : start + rows], np.uint32)
