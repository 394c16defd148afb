"""Values and texts as keys, in executors: functions over Arrow batches for `mapInArrow`.

A key is the text of `Constant.key`. Columns are read into a dictionary that lives as long as the batch, so
all rules of typing are those of `modulog.terms`. Nothing here knows Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from modulog.algebra.expressions import Compute, Condition, Value
from modulog.engines.values import Failures
from modulog.errors import DataError
from modulog.kernels import ntriples
from modulog.terms.arrow import Typing, column_field, encode_arrow, to_arrow, wrap
from modulog.terms.constant import Kind
from modulog.terms.dictionary import Bytes, Dictionary, Ids, Offsets, Texts, frozen
from modulog.terms.term_functions import compute, satisfy

_ALL_KINDS = frozenset(Kind)
_LONGEST_ARRAY = 2**31 - 1


def key_array(dictionary: Dictionary, ids: Ids) -> pa.Array:
    """The keys of terms as an array of strings.

    >>> from modulog.terms.constant import Constant
    >>> d = Dictionary()
    >>> key_array(d, d.encode([Constant(Kind.STRING, "a"), Constant(Kind.INTEGER, "1")])).to_pylist()
    ['\\x01a', '\\x021']
    """
    return string_array(*dictionary.keys(ids))


def read_keys(dictionary: Dictionary, keys: pa.Array) -> Ids:
    """The numbers of an array of keys; new ones are added."""
    data, offsets = text_buffers(keys)
    kinds = data[offsets[:-1]]
    return dictionary.encode_texts(Texts(data, offsets[:-1] + 1, offsets[1:], kinds))


def column_keys(array: pa.Array, *, types: Typing = "arrow", turtle: bool = False, row: int = 1) -> pa.Array:
    """The keys of a column of values of any type that `encode_arrow` takes.

    >>> column_keys(pa.array([1, 2])).to_pylist()
    ['\\x021', '\\x022']
    """
    dictionary = Dictionary()
    return key_array(dictionary, encode_arrow(dictionary, array, types=types, turtle=turtle, row=row))


def stretch_keys(data: Bytes, starts: Offsets, ends: Offsets, kinds: Bytes) -> pa.Array:
    """The keys of texts given as stretches of a buffer with their kinds, written one after the other."""
    offsets = np.empty(len(starts) + 1, np.int64)
    total = ntriples.measure_keys(starts, ends, offsets)
    buffer = np.empty(total, np.uint8)
    ntriples.write_keys(frozen(data), starts, ends, kinds, buffer)
    return string_array(buffer, offsets)


def text_buffers(array: pa.Array) -> tuple[Bytes, Offsets]:
    """The bytes of an array of strings without nulls, and where its texts start and the last one ends."""
    _, places, content = array.buffers()
    if len(array) == 0 or places is None:
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    offsets = np.frombuffer(
        places, np.int64 if wide else np.int32, len(array) + 1, array.offset * (8 if wide else 4)
    )
    data = np.frombuffer(content, np.uint8) if content is not None else np.empty(0, np.uint8)
    return data, offsets.astype(np.int64)


def string_array(buffer: Bytes, offsets: Offsets) -> pa.Array:
    """Texts that stand one after the other as an array of strings."""
    if len(buffer) > _LONGEST_ARRAY:
        raise DataError(
            "a batch holds more than 2 GB of text: lower spark.sql.execution.arrow.maxRecordsPerBatch"
        )
    places = pa.py_buffer(offsets.astype(np.int32))
    return pa.StringArray.from_buffers(len(offsets) - 1, places, pa.py_buffer(buffer))


def satisfy_batches(
    batches: Iterable[pa.RecordBatch],
    *,
    condition: Condition,
    constants: Sequence[str],
    counters: Sequence[Any],
    width: int,
) -> Iterator[pa.RecordBatch]:
    """Replace the last `width` columns, of keys, by one that says whether a condition holds.

    Constants of the condition are places in `constants`; the counters are those of `Failures`.
    """
    for batch in batches:
        dictionary = Dictionary()
        known = _constants(dictionary, constants)
        test = Condition(condition.operator, _with(condition.left, known), _with(condition.right, known))
        columns = _read_last(dictionary, batch, width)
        mask, failures = satisfy(dictionary, test, columns, batch.num_rows)
        _count(failures, counters)
        yield _replaced(batch, width, wrap(mask), "_holds")


def compute_batches(
    batches: Iterable[pa.RecordBatch],
    *,
    function: Compute,
    constants: Sequence[str],
    counters: Sequence[Any],
    width: int,
) -> Iterator[pa.RecordBatch]:
    """Replace the last `width` columns, of keys, by the key of what a function gives, or null."""
    for batch in batches:
        dictionary = Dictionary()
        call = _with(function, _constants(dictionary, constants))
        assert isinstance(call, Compute)
        columns = _read_last(dictionary, batch, width)
        ids, fine, failures = compute(dictionary, call, columns, batch.num_rows)
        _count(failures, counters)
        present = np.where(fine, ids, 0).astype(np.uint32)
        found = key_array(dictionary, present) if len(dictionary) else pa.nulls(len(ids), pa.string())
        yield _replaced(batch, width, pc.if_else(wrap(fine), found, None), "_key")


def _constants(dictionary: Dictionary, constants: Sequence[str]) -> list[int]:
    return [int(i) for i in read_keys(dictionary, pa.array(constants, pa.string()))]


def _with(value: Value, known: Sequence[int]) -> Value:
    """A value with the numbers of its constants."""
    if isinstance(value, Compute):
        return Compute(value.function, tuple(_with(a, known) for a in value.arguments))
    return known[value] if isinstance(value, int) else value


def _read_last(dictionary: Dictionary, batch: pa.RecordBatch, width: int) -> dict[str, Ids]:
    names = batch.schema.names[len(batch.schema.names) - width :]
    return {name: read_keys(dictionary, batch.column(name)) for name in names}


def _count(failures: Failures, counters: Sequence[Any]) -> None:
    for counter, number in zip(counters, failures.counts(), strict=True):
        if number:
            counter.add(number)


def _replaced(batch: pa.RecordBatch, width: int, column: pa.Array, name: str) -> pa.RecordBatch:
    kept = len(batch.schema.names) - width
    return pa.RecordBatch.from_arrays([*batch.columns[:kept], column], [*batch.schema.names[:kept], name])


def turtle_batches(batches: Iterable[pa.RecordBatch], *, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Replace columns of keys by the terms in Turtle form."""
    field = column_field("", _ALL_KINDS)
    for batch in batches:
        arrays = batch.columns
        for name in columns:
            place = batch.schema.names.index(name)
            dictionary = Dictionary()
            arrays[place] = to_arrow(dictionary, read_keys(dictionary, arrays[place]), field)
        yield pa.RecordBatch.from_arrays(arrays, batch.schema.names)
