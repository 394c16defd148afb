"""Columns of term ids as columns of Arrow, and small functions between NumPy and Arrow.

If all terms of a column are of one simple kind, the column has the type of Arrow for it. Any other column is
text in Turtle form, and the metadata of its field says so. `columns.py` goes the other way.
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
from modulog.terms.constant import Kind
from modulog.terms.dictionary import Bytes, Dictionary, Ids, Offsets
from modulog.terms.turtle import term_text

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
