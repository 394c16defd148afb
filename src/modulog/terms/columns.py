"""Columns of values as columns of terms: Arrow arrays of any type, NumPy integers, lists of strings.

A column is typed by its Arrow type; a column of text holds plain strings, or whatever its texts read as by the
rule of CSV files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from modulog.errors import DataError
from modulog.kernels import csv, numbers
from modulog.terms.arrow import join_texts, unwrap
from modulog.terms.canonical import XSD, literal
from modulog.terms.dictionary import Bytes, Dictionary, Ids, Offsets, Texts, frozen
from modulog.terms.model import Constant, Kind
from modulog.terms.python import constant
from modulog.terms.turtle import parse_term

Typing = Literal["infer", "strings", "arrow"]

_PIECE = 1 << 17  # rows whose texts and hashes stay in the caches of a processor


def encode_arrow(
    dictionary: Dictionary,
    array: pa.Array | pa.ChunkedArray,
    *,
    types: Typing = "arrow",
    row: int = 1,
    turtle: bool = False,
) -> Ids:
    """The numbers of a column of values; `row` is the number of its first row, for errors.

    `types` says what a text is: "infer" applies the rule of CSV files, the others make it a plain string;
    "strings" takes the values of other types for strings, too. `turtle` is for columns that hold terms in
    Turtle form.
    """
    if isinstance(array, pa.ChunkedArray):
        parts, at = [np.empty(0, np.uint32)], row
        for chunk in array.chunks:
            parts.append(encode_arrow(dictionary, chunk, types=types, row=at, turtle=turtle))
            at += len(chunk)
        return np.concatenate(parts)
    _refuse_nulls(array, row)
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if types == "strings" and not _is_text(array.type) and not pa.types.is_dictionary(array.type):
        array = array.cast(pa.string())
    if pa.types.is_dictionary(array.type):
        return _encode_dictionary(dictionary, array, types, row, turtle)
    if turtle:
        return _encode_distinct(dictionary, array, row, [parse_term(t) for t in array.unique().to_pylist()])
    if _is_text(array.type):
        ids = np.empty(len(array), np.uint32)
        for start in range(0, len(array), _PIECE):
            texts = column_texts(array.slice(start, _PIECE), typed=types == "infer")
            ids[start : start + _PIECE] = dictionary.encode_texts(texts)
        return ids
    if pa.types.is_integer(array.type):
        return _encode_integers(dictionary, array, row)
    return _encode_distinct(dictionary, array, row, _constants(array, row))


def column_texts(array: pa.Array, *, typed: bool, marked: bool = False) -> Texts:
    """A column of text without nulls, ready for a dictionary; fields are read as in CSV files if `typed`.

    `marked` says that a byte 1 at the start is no part of the text, but marks a string.
    """
    data, offsets = text_buffers(array)
    if not typed and not marked:
        return Texts(data, offsets[:-1], offsets[1:], Kind.STRING)
    starts, ends = offsets[:-1].copy(), offsets[1:].copy()
    kinds = np.empty(len(starts), np.uint8)
    if csv.read_fields(frozen(data), starts, ends, kinds, typed, marked):
        data = _settle_awkward(data, starts, ends, kinds)
    return Texts(data, starts, ends, kinds)


def encode_integers(dictionary: Dictionary, values: npt.NDArray[np.integer[Any]]) -> Ids:
    """The numbers of integers given as an array."""
    ids = np.empty(len(values), np.uint32)
    buffer = np.empty(min(len(values), _PIECE) * numbers.LONGEST_INTEGER, np.uint8)
    for start in range(0, len(values), _PIECE):
        piece = frozen(np.ascontiguousarray(values[start : start + _PIECE], np.int64))
        offsets = np.empty(len(piece) + 1, np.int64)
        numbers.format_integers(piece, buffer, offsets)
        ids[start : start + _PIECE] = dictionary.encode_strings(buffer, offsets, Kind.INTEGER)
    return ids


def encode_texts(dictionary: Dictionary, texts: Sequence[str]) -> Ids:
    """The numbers of plain strings given as a list."""
    return dictionary.encode_strings(*join_texts(texts))


def _is_text(kind: pa.DataType) -> bool:
    kinds = (pa.string(), pa.large_string(), pa.string_view())
    return any(kind == k for k in kinds)


def _refuse_nulls(array: pa.Array, row: int) -> None:
    if array.null_count:
        first = pc.index(pc.is_null(array), True).as_py()
        raise DataError(f"row {row + first}: a missing value; facts have a value in every place")


def text_buffers(array: pa.Array) -> tuple[Bytes, Offsets]:
    """The bytes of a text array and its offsets into them."""
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    wide = pa.types.is_large_string(array.type)
    _, places, content = array.buffers()
    if len(array) == 0 or places is None:
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    offsets = np.frombuffer(
        places, np.int64 if wide else np.int32, len(array) + 1, array.offset * (8 if wide else 4)
    )
    data = np.frombuffer(content, np.uint8) if content is not None else np.empty(0, np.uint8)
    return data, offsets.astype(np.int64)


def _settle_awkward(data: Bytes, starts: Offsets, ends: Offsets, kinds: Bytes) -> Bytes:
    """Give numbers that are too long for their kind their place; answers the bytes with theirs appended."""
    pieces, size = [data], len(data)
    for i in np.flatnonzero(kinds == csv.AWKWARD).tolist():
        text = data[starts[i] : ends[i]].tobytes().decode()
        key = literal(text, XSD + ("decimal" if "." in text else "integer")).key
        kinds[i], starts[i], ends[i] = key[0], size, size + len(key) - 1
        pieces.append(np.frombuffer(key, np.uint8)[1:])
        size = int(ends[i])
    return np.concatenate(pieces)


def _encode_dictionary(
    dictionary: Dictionary, array: pa.DictionaryArray, types: Typing, row: int, turtle: bool
) -> Ids:
    values = array.dictionary
    if len(values) > len(array) or values.null_count:
        return encode_arrow(
            dictionary, array.cast(array.type.value_type), types=types, row=row, turtle=turtle
        )
    ids = encode_arrow(dictionary, values, types=types, row=row, turtle=turtle)
    return np.take(ids, unwrap(array.indices))


def _encode_integers(dictionary: Dictionary, array: pa.Array, row: int) -> Ids:
    values = unwrap(array)
    if values.dtype == np.uint64 and len(values) and values.max() > np.iinfo(np.int64).max:
        first = int(np.argmax(values > np.uint64(np.iinfo(np.int64).max)))
        raise DataError(f"row {row + first}: the integer {values[first]} does not fit 64 bits")
    return encode_integers(dictionary, values)


def _encode_distinct(dictionary: Dictionary, array: pa.Array, row: int, distinct: list[Constant]) -> Ids:
    """The numbers of values given by their distinct ones, in order of appearance."""
    ids = dictionary.encode(distinct)
    return np.take(ids, unwrap(array.dictionary_encode().indices))


def _constants(array: pa.Array, row: int) -> list[Constant]:
    """The constants of the distinct values of a column that holds neither text nor integers."""
    kind = array.type
    if pa.types.is_timestamp(kind):
        values = array.unique()
        if kind.tz is not None:
            values = values.cast(pa.timestamp(kind.unit, "UTC"))
        return [_date_time(text) for text in values.cast(pa.string()).to_pylist()]
    tests = (pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_date)
    if not any(test(kind) for test in tests):
        raise DataError(f"row {row}: values of the Arrow type {kind} cannot be terms")
    return [constant(value) for value in array.unique().to_pylist()]


def _date_time(text: str) -> Constant:
    zone = "Z" if text.endswith("Z") else ""
    text = text.removesuffix("Z").replace(" ", "T")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return Constant(Kind.TYPED, text + zone, f"{XSD}dateTime")
