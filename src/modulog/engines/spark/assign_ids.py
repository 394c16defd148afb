"""Ids for the keys of blocks, in executors: equal keys meet and get a slot, chunks get their ids back, facts
become distinct.

`assign` sees all keys of some buckets, `Translate` all blocks of some chunks, `Distinct` all facts of some
buckets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from modulog.engines.spark.key_blocks import PENDING, Batches, arrow_schema, by_bucket, partition
from modulog.engines.spark.term_keys import string_array
from modulog.terms.arrow import wrap
from modulog.terms.dictionary import Dictionary, Ids, Texts

TERM, PLACES = 0, 1
"""Kinds of rows that `assign` gives: a term with its slot, and the slots of the numbers of a chunk."""

ASSIGNED = "kind int, slot long, key string, chunk long, numbers binary, slots binary"
ENCODED = "bucket int, facts binary"
SIZE = -1  # in the place of a chunk: the row with the number of new terms of a partition
ROW_BITS = 33  # of a slot
SOURCE_BITS = 44  # of a chunk, below the number of its source
_ROWS = 1 << 16  # of a batch

Longs = npt.NDArray[np.int64]
_ASSIGNED = arrow_schema(ASSIGNED)


def fixed(number: Any) -> Any:
    """The slot of a key whose id is fixed, and the id of such a slot."""
    return -number - 1


def assign(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Blocks of keys as rows of new terms, and of terms that only the driver knows, and as the slots of every
    chunk's numbers.
    """
    dictionary, pieces = Dictionary(), list[tuple[int, bytes, Ids]]()
    for batch in batches:
        for row in batch.to_pylist():
            data, offsets = np.frombuffer(row["data"], np.uint8), np.frombuffer(row["ends"], np.int32)
            starts, ends = offsets[:-1].astype(np.int64), offsets[1:].astype(np.int64)
            found = dictionary.encode_texts(Texts(data, starts + 1, ends, data[starts]))
            pieces.append((row["chunk"], row["numbers"], found))
    if not pieces:
        return
    slots, written = np.zeros(len(dictionary), np.int64), np.ones(len(dictionary), np.bool_)
    for chunk, numbers, found in pieces:
        if chunk < 0:
            slots[found] = fixed(np.frombuffer(numbers, np.int64))
            written[found] = chunk == PENDING
    fresh, first = slots == 0, partition() << ROW_BITS
    count = int(np.count_nonzero(fresh))
    slots[fresh] = first + np.arange(count)
    yield from _terms(dictionary, np.flatnonzero(written).astype(np.uint32), slots)
    yield _places(pieces, slots, first + count)


def _terms(dictionary: Dictionary, numbers: Ids, slots: Longs) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(numbers), _ROWS):
        some = numbers[start : start + _ROWS]
        keys = string_array(*dictionary.keys(some))
        columns = [wrap(np.full(len(some), TERM, np.int32)), wrap(slots[some]), keys]
        nothing = [pa.nulls(len(some), column.type) for column in list(_ASSIGNED)[len(columns) :]]
        yield pa.RecordBatch.from_arrays([*columns, *nothing], schema=_ASSIGNED)


def _places(pieces: Iterable[tuple[int, bytes, Ids]], slots: Longs, size: int) -> pa.RecordBatch:
    rows: list[dict[str, Any]] = [{"kind": PLACES, "chunk": SIZE, "slot": size}]
    chunks: dict[int, list[tuple[bytes, Ids]]] = {}
    for chunk, numbers, found in pieces:
        if chunk >= 0:
            chunks.setdefault(chunk, []).append((numbers, found))
    for chunk, some in chunks.items():
        there = slots[np.concatenate([found for _, found in some])].tobytes()
        numbers = b"".join(numbers for numbers, _ in some)
        rows.append({"kind": PLACES, "chunk": chunk, "numbers": numbers, "slots": there})
    return pa.RecordBatch.from_pylist(rows, _ASSIGNED)


@dataclass(frozen=True, slots=True)
class Translate:
    """Blocks of facts (chunk, name, numbers) and slots (chunk, numbers, slots) as blocks of facts with ids,
    by bucket.

    `offsets` has the first id of each partition of new terms; `relations` says which relations want the facts
    of a source under a name.
    """

    arity: int
    offsets: tuple[int, ...]
    relations: Mapping[tuple[int, str], tuple[int, ...]]

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        facts: dict[int, list[tuple[str, bytes]]] = {}
        slots: dict[int, list[tuple[bytes, bytes]]] = {}
        for batch in batches:
            for row in batch.to_pylist():
                if row["slots"] is None:
                    facts.setdefault(row["chunk"], []).append((row["name"], row["numbers"]))
                else:
                    slots.setdefault(row["chunk"], []).append((row["numbers"], row["slots"]))
        for chunk, blocks in facts.items():
            ids = self._ids(slots.pop(chunk))
            columns = list(self._columns(chunk >> SOURCE_BITS, blocks, ids))
            if columns:
                yield _facts_by_bucket(np.concatenate(columns, axis=1))

    def _ids(self, pieces: Sequence[tuple[bytes, bytes]]) -> Longs:
        """The ids of the numbers of a chunk, by number."""
        numbers, slots = (np.frombuffer(b"".join(column), np.int64) for column in zip(*pieces, strict=True))
        firsts = np.array([*self.offsets, 0], np.int64)
        ids = np.zeros(int(numbers.max()) + 1, np.int64)
        later = firsts[np.maximum(slots, 0) >> ROW_BITS] + (slots & ((1 << ROW_BITS) - 1))
        ids[numbers] = np.where(slots < 0, fixed(slots), later)
        return ids

    def _columns(self, source: int, blocks: Iterable[tuple[str, bytes]], ids: Longs) -> Iterator[Longs]:
        """Relations and arguments of facts, column by column."""
        for name, block in blocks:
            numbers = np.frombuffer(block, np.uint32).reshape(self.arity, -1)
            for relation in self.relations.get((source, name), ()):
                columns = np.empty((1 + self.arity, numbers.shape[1]), np.int64)
                columns[0] = relation
                columns[1:] = ids[numbers]
                yield columns


def _facts_by_bucket(columns: Longs) -> pa.RecordBatch:
    mixed = np.zeros(columns.shape[1], np.uint64)
    for column in columns:
        mixed = (mixed ^ column.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    order, ends = by_bucket(mixed)
    ordered = columns[:, order]
    stretches = [(b, s, e) for b, (s, e) in enumerate(zip([0, *ends], ends, strict=False)) if s < e]
    facts = [np.ascontiguousarray(ordered[:, start:end]).tobytes() for _, start, end in stretches]
    buckets = pa.array([bucket for bucket, _, _ in stretches], pa.int32())
    return pa.RecordBatch.from_arrays([buckets, pa.array(facts, pa.binary())], ["bucket", "facts"])


@dataclass(frozen=True, slots=True)
class Distinct:
    """Blocks of facts with ids as facts (p, c0, c1, …), each once, in order."""

    arity: int

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        pieces = [
            np.frombuffer(block.as_buffer(), np.int64).reshape(1 + self.arity, -1)
            for batch in batches
            for block in batch.column("facts")
        ]
        if not pieces:
            return
        columns = distinct_columns(np.concatenate(pieces, axis=1))
        names = ["p", *(f"c{j}" for j in range(self.arity))]
        for start in range(0, columns.shape[1], _ROWS):
            relations, *arguments = columns[:, start : start + _ROWS]
            arrays = [wrap(relations.astype(np.int32)), *map(wrap, arguments)]
            yield pa.RecordBatch.from_arrays(arrays, names)


def distinct_columns(columns: Longs) -> Longs:
    """Rows of numbers from 0 on, given by columns: each once, in order.

    >>> distinct_columns(np.array([[2, 1, 2], [5, 7, 5]])).tolist()
    [[1, 2], [7, 5]]
    """
    bits = [int(column.max()).bit_length() for column in columns]
    if sum(bits) > 63:
        ordered = columns[:, np.lexsort(columns[::-1])]
        kept = np.concatenate([[True], (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)])
        return np.ascontiguousarray(ordered[:, kept])
    words = np.zeros(columns.shape[1], np.int64)
    for column, width in zip(columns, bits, strict=True):
        words = (words << width) | column
    words.sort()
    words = words[np.concatenate([[True], words[1:] != words[:-1]])]
    found = np.empty((len(columns), len(words)), np.int64)
    for place in range(len(columns) - 1, -1, -1):
        found[place] = words & ((1 << bits[place]) - 1)
        words >>= bits[place]
    return found
