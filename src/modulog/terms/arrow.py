"""Columns of terms as columns of Arrow, and what both directions share.

A column whose terms are all of one simple kind has the Arrow type of that kind; any other is text in Turtle
form and says so in the metadata of its field. `modulog.terms.columns` goes the other way.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from modulog.errors import DataError
from modulog.kernels import numbers
from modulog.terms.dictionary import Bytes, Dictionary, Ids, Offsets
from modulog.terms.model import Kind
from modulog.terms.turtle import term_text

TURTLE = {b"modulog.terms": b"turtle"}
"""The metadata of a field whose column is text in Turtle form."""

_SIMPLE = {
    frozenset({Kind.INTEGER}): pa.int64(),
    frozenset({Kind.DOUBLE}): pa.float64(),
    frozenset({Kind.BOOLEAN}): pa.bool_(),
    frozenset({Kind.STRING}): pa.string(),
    frozenset[Kind](): pa.string(),
}
_LONGEST_ARRAY = 2**31 - 1


def column_field(name: str, kinds: Collection[int]) -> pa.Field:
    """The field of an output column whose terms are of these kinds: the same for all batches of a stream.

    >>> column_field("x", {Kind.INTEGER}).type, column_field("x", {Kind.INTEGER, Kind.IRI}).metadata
    (DataType(int64), {b'modulog.terms': b'turtle'})
    """
    simple = _SIMPLE.get(frozenset(Kind(k) for k in kinds))
    if simple is not None:
        return pa.field(name, simple, nullable=False)
    return pa.field(name, pa.string(), nullable=False, metadata=TURTLE)


def to_arrow(dictionary: Dictionary, ids: Ids, field: pa.Field) -> pa.Array:
    """The terms with these numbers as an array for a field that `column_field` gave."""
    data, offsets, _ = dictionary.arrays()
    if is_turtle(field):
        return _turtle_array(dictionary, ids)
    if pa.types.is_int64(field.type):
        values = np.empty(len(ids), np.int64)
        numbers.parse_integers(data, offsets, np.ascontiguousarray(ids, np.uint32), values)
        return wrap(values)
    if pa.types.is_boolean(field.type):
        return wrap(data[offsets[ids] + 1] == ord("t"))
    texts = _text_array(dictionary, ids)
    return texts.cast(pa.float64()) if pa.types.is_float64(field.type) else texts


def is_turtle(field: pa.Field) -> bool:
    """Does a column hold terms in Turtle form?"""
    return bool(field.metadata and field.metadata.get(b"modulog.terms") == b"turtle")


def wrap(values: npt.NDArray[np.generic]) -> pa.Array:
    """A NumPy array of numbers or booleans as an Arrow array; unlike `pyarrow.array` it does not load pandas.

    >>> wrap(np.array([True, False])).to_pylist()
    [True, False]
    """
    kind = pa.from_numpy_dtype(values.dtype)
    content = np.ascontiguousarray(values).view(np.uint8)
    if values.dtype == np.bool_:
        content = np.packbits(content, bitorder="little")
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(content)])


def unwrap(array: pa.Array) -> npt.NDArray[np.integer[Any]]:
    """An Arrow array of integers without nulls as a NumPy array, again without loading pandas."""
    kind = np.dtype(str(array.type))
    content = array.buffers()[1]
    if len(array) == 0 or content is None:
        return np.empty(0, kind)
    return np.frombuffer(content, kind, len(array), array.offset * kind.itemsize)


def join_texts(texts: Sequence[str]) -> tuple[Bytes, Offsets]:
    """Texts one after the other in UTF-8, with offsets; UnicodeEncodeError if one is not proper Unicode."""
    encoded = list(map(str.encode, texts))
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def _text_array(dictionary: Dictionary, ids: npt.ArrayLike) -> pa.Array:
    """The texts of terms, without kinds, as an array of strings."""
    return _strings(*dictionary.keys(ids, skip=1))


def _strings(buffer: Bytes, offsets: Offsets) -> pa.Array:
    if len(buffer) > _LONGEST_ARRAY:
        raise DataError("a batch holds more than 2 GB of text; ask for fewer rows at once")
    places = pa.py_buffer(offsets.astype(np.int32))
    return pa.StringArray.from_buffers(len(offsets) - 1, places, pa.py_buffer(buffer))


def _turtle_array(dictionary: Dictionary, ids: Ids) -> pa.Array:
    """Terms in Turtle form: texts are made for the distinct terms, most of them a kind at a time."""
    distinct, inverse = distinct_ids(ids, len(dictionary))
    kinds = dictionary.kinds(distinct)
    pieces, places = [], []
    for kind in np.unique(kinds).tolist():
        chosen = np.flatnonzero(kinds == kind)
        texts = _turtle_of_kind(dictionary, distinct[chosen], Kind(kind))
        pieces.append(texts)
        places.append(chosen)
    if not pieces:
        return _text_array(dictionary, ids)
    position = np.empty(len(distinct), np.int64)
    position[np.concatenate(places)] = np.arange(len(distinct))
    return pa.concat_arrays(pieces).take(wrap(position[inverse]))


def distinct_ids(ids: Ids, terms: int) -> tuple[Ids, npt.NDArray[np.integer[Any]]]:
    """The distinct numbers in order, and where each of the given ones is among them."""
    if terms > 8 * len(ids):
        return np.unique(ids, return_inverse=True)
    seen = np.zeros(terms, np.bool_)
    seen[ids] = True
    distinct = np.flatnonzero(seen).astype(np.uint32)
    places = np.empty(terms, np.int64)
    places[distinct] = np.arange(len(distinct))
    return distinct, places[ids]


def _turtle_of_kind(dictionary: Dictionary, ids: Ids, kind: Kind) -> pa.Array:
    """Terms of one kind in Turtle form; those that need escapes or qualifiers one by one."""
    around = {Kind.IRI: ("<", ">"), Kind.BLANK: ("_:", ""), Kind.STRING: ('"', '"')}
    if kind in (Kind.LANGUAGE, Kind.TYPED, Kind.DOUBLE):
        return _strings(*join_texts([term_text(c) for c in dictionary.decode(ids)]))
    texts = _text_array(dictionary, ids)
    if kind == Kind.STRING and pc.any(pc.match_substring_regex(texts, r'["\\\x00-\x1f\x7f]')).as_py():
        return _strings(*join_texts([term_text(c) for c in dictionary.decode(ids)]))
    if kind not in around:
        return texts
    before, after = around[kind]
    return pc.binary_join_element_wise(before, texts, after, "")
