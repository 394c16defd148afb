"""Columns of values as columns of term ids, and back; and small functions between NumPy and Arrow.

Values to ids: the Arrow type of a column says what its values are. A column of text holds strings, or, as a
CSV file does, fields whose text decides what they are.

Ids to values: if all terms of a column are of one simple kind, the column has the type of Arrow for it. Any
other column is text in Turtle form, and the metadata of its field says so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from modulog.errors import DataError
from modulog.kernels import csv_fields, numbers
from modulog.terms.constant import XSD, Constant, Kind, literal, parse_term, term_text
from modulog.terms.dictionary import Bytes, Dictionary, Ids, Offsets, Texts, frozen
from modulog.terms.python_values import constant

Typing = Literal["infer", "strings", "arrow"]
"""How `encode_arrow` reads values: as fields of CSV, all as strings, or by their Arrow types."""

_PIECE = 1 << 17
"""Rows that are encoded at once: their texts and hashes stay in the processor's caches."""
TURTLE = {b"modulog.terms": b"turtle"}
"""The metadata of the field of a column that is text in Turtle form."""

_SIMPLE = {
    frozenset({Kind.INTEGER}): pa.int64(),
    frozenset({Kind.DOUBLE}): pa.float64(),
    frozenset({Kind.BOOLEAN}): pa.bool_(),
    frozenset({Kind.STRING}): pa.string(),
    frozenset[Kind](): pa.string(),
}
"""The types of columns whose terms are all of one kind, or that have no terms."""
_LONGEST_ARRAY = 2**31 - 1
"""The most bytes of an array of texts, whose offsets have 32 bits."""


# ---- From values to ids


def encode_arrow(
    dictionary: Dictionary,
    array: pa.Array | pa.ChunkedArray,
    *,
    types: Typing = "arrow",
    row: int = 1,
    turtle: bool = False,
) -> Ids:
    """The ids of the values of an Arrow column; new terms are added to the dictionary.

    `types` says what a text is: "infer" reads it as a field of a CSV file, the others as a string; "strings"
    takes values of other types for strings, too. `turtle` is for columns that hold terms in Turtle form.
    `row` is the number of the first row, for errors.
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
    """A column of text without nulls, hashed for a dictionary.

    With `typed` the texts are read as fields of a CSV file. With `marked`, a byte 1 in front of a text is no
    part of it, but says that it is a string whatever it looks like.
    """
    data, offsets = text_buffers(array)
    if not typed and not marked:
        return Texts(data, offsets[:-1], offsets[1:], Kind.STRING)
    starts, ends = offsets[:-1].copy(), offsets[1:].copy()
    kinds = np.empty(len(starts), np.uint8)
    if csv_fields.read_fields(frozen(data), starts, ends, kinds, typed, marked):
        data = _read_awkward(data, starts, ends, kinds)
    return Texts(data, starts, ends, kinds)


def encode_integers(dictionary: Dictionary, values: npt.NDArray[np.integer[Any]]) -> Ids:
    """The ids of integers in an array."""
    ids = np.empty(len(values), np.uint32)
    buffer = np.empty(min(len(values), _PIECE) * numbers.LONGEST_INTEGER, np.uint8)
    for start in range(0, len(values), _PIECE):
        piece = frozen(np.ascontiguousarray(values[start : start + _PIECE], np.int64))
        offsets = np.empty(len(piece) + 1, np.int64)
        numbers.format_integers(piece, buffer, offsets)
        ids[start : start + _PIECE] = dictionary.encode_strings(buffer, offsets, Kind.INTEGER)
    return ids


def encode_texts(dictionary: Dictionary, texts: Sequence[str]) -> Ids:
    """The ids of strings in a list."""
    return dictionary.encode_strings(*join_texts(texts))


def _is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of those for text."""
    kinds = (pa.string(), pa.large_string(), pa.string_view())
    return any(kind == k for k in kinds)


def _refuse_nulls(array: pa.Array, row: int) -> None:
    """Raise an error that names the first row with a null, if there is one."""
    if array.null_count:
        first = pc.index(pc.is_null(array), True).as_py()
        raise DataError(f"row {row + first}: a missing value; facts have a value in every place")


def text_buffers(array: pa.Array) -> tuple[Bytes, Offsets]:
    """The bytes of an array of texts, and the offsets of its texts in them."""
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


def _read_awkward(data: Bytes, starts: Offsets, ends: Offsets, kinds: Bytes) -> Bytes:
    """Read the numbers that the kernel has left AWKWARD, because they are too long for it.

    Each gets its kind, and its canonical text is appended to the bytes, which are returned.
    """
    pieces, size = [data], len(data)
    for i in np.flatnonzero(kinds == csv_fields.AWKWARD).tolist():
        text = data[starts[i] : ends[i]].tobytes().decode()
        key = literal(text, XSD + ("decimal" if "." in text else "integer")).key
        kinds[i], starts[i], ends[i] = key[0], size, size + len(key) - 1
        pieces.append(np.frombuffer(key, np.uint8)[1:])
        size = int(ends[i])
    return np.concatenate(pieces)


def _encode_dictionary(
    dictionary: Dictionary, array: pa.DictionaryArray, types: Typing, row: int, turtle: bool
) -> Ids:
    """The ids of an array with a dictionary: each value of the dictionary is encoded once."""
    values = array.dictionary
    if len(values) > len(array) or values.null_count:
        return encode_arrow(
            dictionary, array.cast(array.type.value_type), types=types, row=row, turtle=turtle
        )
    ids = encode_arrow(dictionary, values, types=types, row=row, turtle=turtle)
    return np.take(ids, unwrap(array.indices))


def _encode_integers(dictionary: Dictionary, array: pa.Array, row: int) -> Ids:
    """The ids of an Arrow array of integers; one that does not fit 64 bits is an error."""
    values = unwrap(array)
    if values.dtype == np.uint64 and len(values) and values.max() > np.iinfo(np.int64).max:
        first = int(np.argmax(values > np.uint64(np.iinfo(np.int64).max)))
        raise DataError(f"row {row + first}: the integer {values[first]} does not fit 64 bits")
    return encode_integers(dictionary, values)


def _encode_distinct(dictionary: Dictionary, array: pa.Array, row: int, distinct: list[Constant]) -> Ids:
    """The ids of an array whose different values, in the order of their first rows, are `distinct`."""
    ids = dictionary.encode(distinct)
    return np.take(ids, unwrap(array.dictionary_encode().indices))


def _constants(array: pa.Array, row: int) -> list[Constant]:
    """The constants of the different values of a column that is neither text nor integers."""
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
    """A timestamp, as Arrow prints it, as a literal of the type xsd:dateTime."""
    zone = "Z" if text.endswith("Z") else ""
    text = text.removesuffix("Z").replace(" ", "T")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return Constant(Kind.TYPED, text + zone, f"{XSD}dateTime")


# ---- From ids to values


def column_field(name: str, kinds: Collection[int]) -> pa.Field:
    """The field (name, type, metadata) of a column whose terms are of these kinds.

    It depends on the kinds alone, so that all batches of a stream get the same.

    >>> column_field("x", {Kind.INTEGER}).type, column_field("x", {Kind.INTEGER, Kind.IRI}).metadata
    (DataType(int64), {b'modulog.terms': b'turtle'})
    """
    simple = _SIMPLE.get(frozenset(Kind(k) for k in kinds))
    if simple is not None:
        return pa.field(name, simple, nullable=False)
    return pa.field(name, pa.string(), nullable=False, metadata=TURTLE)


def to_arrow(dictionary: Dictionary, ids: Ids, field: pa.Field) -> pa.Array:
    """The terms with these ids as an array of the type of a field that `column_field` gave."""
    data, offsets, _ = dictionary.arrays()
    if is_turtle(field):
        return _turtle_array(dictionary, ids)
    if pa.types.is_int64(field.type):
        values = np.empty(len(ids), np.int64)
        numbers.parse_integers(data, offsets, np.ascontiguousarray(ids, np.uint32), values)
        return wrap(values)
    if pa.types.is_boolean(field.type):
        return wrap(data[offsets[ids] + 1] == ord("t"))
    texts = text_array(dictionary, ids)
    return texts.cast(pa.float64()) if pa.types.is_float64(field.type) else texts


def is_turtle(field: pa.Field) -> bool:
    """Whether the field says that its column holds terms in Turtle form."""
    return bool(field.metadata and field.metadata.get(b"modulog.terms") == b"turtle")


def wrap(values: npt.NDArray[np.generic]) -> pa.Array:
    """A NumPy array of numbers or booleans as an Arrow array.

    Unlike `pyarrow.array` this does not import pandas.

    >>> wrap(np.array([True, False])).to_pylist()
    [True, False]
    """
    kind = pa.from_numpy_dtype(values.dtype)
    content = np.ascontiguousarray(values).view(np.uint8)
    if values.dtype == np.bool_:
        content = np.packbits(content, bitorder="little")
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(content)])


def unwrap(array: pa.Array) -> npt.NDArray[np.integer[Any]]:
    """An Arrow array of integers without nulls as a NumPy array that shares its bytes."""
    kind = np.dtype(str(array.type))
    content = array.buffers()[1]
    if len(array) == 0 or content is None:
        return np.empty(0, kind)
    return np.frombuffer(content, kind, len(array), array.offset * kind.itemsize)


def join_texts(texts: Sequence[str]) -> tuple[Bytes, Offsets]:
    """Texts as the bytes of all, in UTF-8, with offsets; UnicodeEncodeError if one cannot be encoded."""
    encoded = list(map(str.encode, texts))
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def text_array(dictionary: Dictionary, ids: npt.ArrayLike) -> pa.Array:
    """The texts of terms, without kinds, as an array of strings."""
    return strings_array(*dictionary.keys(ids, skip=1))


def strings_array(buffer: Bytes, offsets: Offsets) -> pa.Array:
    """Texts that lie one after the other as an array of strings."""
    if len(buffer) > _LONGEST_ARRAY:
        raise DataError("a batch holds more than 2 GB of text; ask for fewer rows at once")
    places = pa.py_buffer(offsets.astype(np.int32))
    return pa.StringArray.from_buffers(len(offsets) - 1, places, pa.py_buffer(buffer))


def _turtle_array(dictionary: Dictionary, ids: Ids) -> pa.Array:
    """Terms in Turtle form. Each different term is formatted once, for most kinds by Arrow, all at once."""
    distinct, inverse = distinct_ids(ids, len(dictionary))
    kinds = dictionary.kinds(distinct)
    pieces, places = [], []
    for kind in np.unique(kinds).tolist():
        chosen = np.flatnonzero(kinds == kind)
        texts = _turtle_of_kind(dictionary, distinct[chosen], Kind(kind))
        pieces.append(texts)
        places.append(chosen)
    if not pieces:
        return text_array(dictionary, ids)
    position = np.empty(len(distinct), np.int64)
    position[np.concatenate(places)] = np.arange(len(distinct))
    return pa.concat_arrays(pieces).take(wrap(position[inverse]))


def distinct_ids(ids: Ids, terms: int) -> tuple[Ids, npt.NDArray[np.integer[Any]]]:
    """The different ids in ascending order, and the place of each of the given ids among them.

    `terms` is the number of all ids. With few terms this marks them in an array, O(ids + terms); with many it
    sorts.
    """
    if terms > 8 * len(ids):
        return np.unique(ids, return_inverse=True)
    seen = np.zeros(terms, np.bool_)
    seen[ids] = True
    distinct = np.flatnonzero(seen).astype(np.uint32)
    places = np.empty(terms, np.int64)
    places[distinct] = np.arange(len(distinct))
    return distinct, places[ids]


def _turtle_of_kind(dictionary: Dictionary, ids: Ids, kind: Kind) -> pa.Array:
    """Terms of one kind in Turtle form; those with escapes or qualifiers one by one, in Python."""
    around = {Kind.IRI: ("<", ">"), Kind.BLANK: ("_:", ""), Kind.STRING: ('"', '"')}
    if kind in (Kind.LANGUAGE, Kind.TYPED, Kind.DOUBLE):
        return strings_array(*join_texts([term_text(c) for c in dictionary.decode(ids)]))
    texts = text_array(dictionary, ids)
    if kind == Kind.STRING and pc.any(pc.match_substring_regex(texts, r'["\\\x00-\x1f\x7f]')).as_py():
        return strings_array(*join_texts([term_text(c) for c in dictionary.decode(ids)]))
    if kind not in around:
        return texts
    before, after = around[kind]
    return pc.binary_join_element_wise(before, texts, after, "")
