"""Facts whose terms have no ids yet, as executors write them: blocks of numbers over dictionaries that live
as long as a chunk.

A *chunk* is a stretch of the input of one task that fits into memory, with a dictionary of its own. What
leaves the task is binary: *facts*, by predicate, as numbers in that dictionary, and the *keys* behind the
numbers, by a hash of the key, so that equal keys of all chunks can meet in one place. For Spark these are a
few large rows instead of millions of small ones. `assign_ids` goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import Accumulator, TaskContext

from modulog.engines.spark.term_keys import read_keys, string_array, text_buffers
from modulog.formats.rdf import NO_GRAPH, facts_of_triples, types_of_triples
from modulog.language.triples import TYPE, VIEWS_BY_NAME
from modulog.terms.arrow import unwrap, wrap
from modulog.terms.dictionary import Dictionary, Ids, Texts

SCHEMA = "chunk long, name string, arity int, size long, bucket int, numbers binary, data binary, ends binary"
"""Blocks: of facts, with a name and an arity, or of keys, with a bucket."""

KNOWN, PENDING = -1, -2
"""What stands for a chunk: the terms that have ids, and those of them that only the driver knows."""

BUCKETS = 256
CHUNK_BITS = 20  # chunks of one task
MOST_FACTS = 1 << 20  # facts of a chunk, about
MOST_BYTES = 1 << 26  # of the dictionary of a chunk, about

Batches = Iterable[pa.RecordBatch]
Reader = Callable[[Batches], Iterator[pa.RecordBatch]]
"""Turns batches of whatever a source consists of into batches of keys."""

Block = dict[str, Any]
_TYPES = {"int": pa.int32(), "long": pa.int64(), "string": pa.string(), "binary": pa.binary()}


def arrow_schema(columns: str) -> pa.Schema:
    """The schema of batches whose columns are given as Spark has them."""
    return pa.schema([(name, _TYPES[kind]) for name, kind in (c.split() for c in columns.split(", "))])


_BLOCK = arrow_schema(SCHEMA)


@dataclass(slots=True)
class Chunk:
    """A dictionary and columns of numbers in it."""

    number: int
    dictionary: Dictionary = field(default_factory=Dictionary)
    pieces: list[Ids] = field(default_factory=list)
    rows: int = 0

    def add(self, columns: Sequence[pa.Array]) -> None:
        """Read a batch of keys; an empty text, the default graph, is NO_GRAPH."""
        self.pieces.append(np.stack([_numbers(self.dictionary, column) for column in columns]))
        self.rows += self.pieces[-1].shape[1]

    @property
    def full(self) -> bool:
        """Whether another chunk should begin."""
        return self.rows >= MOST_FACTS or self.dictionary.memory() >= MOST_BYTES

    @property
    def columns(self) -> Ids:
        """All that was read."""
        return np.concatenate(self.pieces, axis=1)

    def facts(self, name: str, ids: Ids) -> Block:
        """A block of facts."""
        numbers = np.ascontiguousarray(ids, np.uint32).tobytes()
        return {
            "chunk": self.number,
            "name": name,
            "arity": ids.shape[0],
            "size": ids.shape[1],
            "numbers": numbers,
        }

    def keys(self, used: npt.NDArray[np.bool_] | None = None) -> Iterator[Block]:
        """The keys of all numbers, or of those that are used."""
        wanted = np.arange(len(self.dictionary)) if used is None else np.flatnonzero(used)
        if len(wanted):
            yield from _key_blocks(self.number, wanted, string_array(*self.dictionary.keys(wanted)))


def _numbers(dictionary: Dictionary, column: pa.Array) -> Ids:
    empty = pc.equal(pc.binary_length(column), 0)
    if not pc.any(empty).as_py():
        return read_keys(dictionary, column)
    numbers = np.full(len(column), NO_GRAPH, np.uint32)
    there = unwrap(pc.invert(empty).cast(pa.int8())).astype(np.bool_)
    numbers[there] = read_keys(dictionary, column.filter(pc.invert(empty)))
    return numbers


def _key_blocks(chunk: int, numbers: npt.NDArray[np.int64], keys: pa.Array) -> Iterator[Block]:
    """Keys with their numbers as blocks by bucket."""
    data, offsets = text_buffers(keys)
    hashes = Texts(data, offsets[:-1] + 1, offsets[1:], data[offsets[:-1]]).hashes
    order, ends = by_bucket(hashes)
    numbers, ordered = numbers[order], keys.take(wrap(order))
    content, places = ordered.buffers()[2], np.frombuffer(ordered.buffers()[1], np.int32)
    for bucket, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        if start < end:
            first, last = int(places[start]), int(places[end])
            yield {
                "chunk": chunk,
                "size": end - start,
                "bucket": bucket,
                "numbers": numbers[start:end].tobytes(),
                "data": content[first:last].to_pybytes(),
                "ends": (places[start : end + 1] - first).tobytes(),
            }


def by_bucket(hashes: npt.NDArray[np.integer[Any]]) -> tuple[npt.NDArray[np.int64], list[int]]:
    """The order of rows by the bucket that their hashes name, and where each bucket ends.

    >>> order, ends = by_bucket(np.array([3, 0, 3]))
    >>> order.tolist(), ends[:4]
    ([1, 0, 2], [1, 1, 1, 3])
    """
    buckets = (hashes % BUCKETS).astype(np.uint16)  # sixteen bits are sorted in linear time
    order = np.argsort(buckets, kind="stable")
    return order, np.cumsum(np.bincount(buckets, minlength=BUCKETS)).tolist()


def partition() -> int:
    """The number of the task that runs, among those of its stage."""
    context = TaskContext.get()
    return int(context.partitionId()) if context is not None else 0


def _batch(blocks: Iterable[Block]) -> Iterator[pa.RecordBatch]:
    if found := list(blocks):
        yield pa.RecordBatch.from_pylist(found, _BLOCK)


@dataclass(frozen=True, slots=True)
class Chunks:
    """Batches of keys, perhaps made by a reader, as blocks; rows are added to `counter`."""

    blocks: Callable[[Chunk], Iterator[Block]]
    read: Reader | None = None
    counter: Accumulator[int] | None = None

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        chunk = Chunk(partition() << CHUNK_BITS)
        for batch in batches if self.read is None else self.read(batches):
            if batch.num_rows:
                chunk.add(batch.columns)
                if self.counter is not None:
                    self.counter.add(batch.num_rows)
            if chunk.full:
                yield from _batch(self.blocks(chunk))
                chunk = Chunk(chunk.number + 1)
        if chunk.rows:
            yield from _batch(self.blocks(chunk))


def key_blocks(chunk: Chunk) -> Iterator[Block]:
    """Only keys, no facts."""
    yield from chunk.keys()


def keys_of_blocks(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The keys of blocks of keys, one to a row."""
    for batch in batches:
        for data, ends in zip(batch.column("data"), batch.column("ends"), strict=True):
            places, content = ends.as_buffer(), data.as_buffer()
            keys = pa.StringArray.from_buffers(len(places) // 4 - 1, places, content)
            yield pa.RecordBatch.from_arrays([keys], ["key"])


@dataclass(frozen=True, slots=True)
class TableBlocks:
    """All rows are facts of one predicate, which is called by a name."""

    name: str

    def __call__(self, chunk: Chunk) -> Iterator[Block]:
        yield chunk.facts(self.name, chunk.columns)
        yield from chunk.keys()


@dataclass(frozen=True, slots=True)
class TripleBlocks:
    """All rows are triples or quads: facts of properties and classes, and of the views that are wanted."""

    views: tuple[str, ...]

    def __call__(self, chunk: Chunk) -> Iterator[Block]:
        triples, used = chunk.columns, np.zeros(len(chunk.dictionary), np.bool_)
        found = [(p.name, ids) for p, ids in facts_of_triples(chunk.dictionary, triples)]
        found += [(view, _seen(chunk.dictionary, triples, view)) for view in self.views]
        for name, ids in found:
            if ids.shape[1]:
                used[ids.ravel()] = True
                yield chunk.facts(name, ids)
        yield from chunk.keys(used)


def _seen(dictionary: Dictionary, triples: Ids, view: str) -> Ids:
    """The facts of a view: all triples, all of named graphs, or all classes."""
    if view == TYPE.name:
        return types_of_triples(dictionary, triples)
    if VIEWS_BY_NAME[view].arity == 3:
        return triples[:3]
    return triples[:, triples[3] != NO_GRAPH] if len(triples) == 4 else np.empty((4, 0), np.uint32)


@dataclass(frozen=True, slots=True)
class TermBlocks:
    """Batches (id, key) of terms that have ids, as blocks of keys whose numbers are ids."""

    chunk: int

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        held: list[pa.RecordBatch] = []
        for batch in batches:
            held.append(batch)
            if sum(b.num_rows for b in held) >= MOST_FACTS or sum(b.nbytes for b in held) >= MOST_BYTES:
                yield from self._blocks(held)
                held = []
        yield from self._blocks(held)

    def _blocks(self, held: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if any(batch.num_rows for batch in held):
            ids, keys = (pa.concat_arrays([batch.column(j) for batch in held]) for j in (0, 1))
            yield from _batch(_key_blocks(self.chunk, unwrap(ids).astype(np.int64), keys))
