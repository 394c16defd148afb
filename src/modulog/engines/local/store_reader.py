"""Relations of the local engine that lie in a store until somebody asks for their facts.

Sizes, and the least and greatest ids, are in the manifest. Files are sorted as runs are, and become runs
without being sorted again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import accumulate

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from modulog.engines.local.fact_levels import RATIO, SMALL, Level, compact
from modulog.engines.local.relation import Bounds, PlainRelation
from modulog.engines.local.runs import Run
from modulog.engines.local.versions import Versions
from modulog.errors import DataError
from modulog.kernels.types import Words
from modulog.store.manifest import FactsFile, StoredRelation
from modulog.store.store import Store
from modulog.terms.arrow import text_buffers, unwrap
from modulog.terms.dictionary import Bytes, Dictionary, Offsets

BATCH = 1 << 17  # facts


class OpenedVersions(Versions):
    """The versions of a relation whose facts are read from a store at the first question."""

    __slots__ = ("_levels", "_store", "_stored", "_waiting")

    def __init__(self, stored: StoredRelation, store: Store) -> None:
        self._stored, self._store, self._waiting = stored, store, False
        super().__init__(stored.predicate.arity)
        self._waiting = True

    @property
    def base(self) -> list[Level]:
        """The committed levels."""
        if self._waiting:
            self._levels, self._waiting = read_relation(self._stored, self._store), False
        return self._levels

    @base.setter
    def base(self, levels: list[Level]) -> None:
        self._levels, self._waiting = levels, False

    def _size_before(self) -> int:
        return self._stored.rows if self._waiting else super()._size_before()

    def rest(self) -> None:
        if not self._waiting:
            super().rest()

    def runs(self) -> list[Run]:
        return [] if self._waiting else super().runs()


class OpenedRelation(PlainRelation):
    """A relation whose facts are read from a store at the first question."""

    def __init__(self, stored: StoredRelation, store: Store) -> None:
        super().__init__(stored.predicate.name, stored.predicate.arity)
        self.versions = OpenedVersions(stored, store)
        self.bounds = bounds_of(stored.files)


def bounds_of(files: Iterable[FactsFile]) -> Bounds | None:
    """Bounds of the arguments of all facts of some files; None if there is no file."""
    columns = zip(*(file.bounds for file in files), strict=True)
    return tuple((min(a for a, _ in c), max(b for _, b in c)) for c in columns) or None


def read_relation(stored: StoredRelation, store: Store) -> list[Level]:
    """The facts of a relation."""
    if not stored.rows:
        return []
    if not stored.predicate.arity:
        return [Level(Run.of(0, np.zeros((1, 1), np.int64), True))]
    return read_levels(stored.predicate.arity, stored.files, store)


def read_levels(arity: int, files: Sequence[FactsFile], store: Store) -> list[Level]:
    """The facts of files, or a change, as levels: files that continue each other are one run, changes lie
    above what they change.
    """
    ends = list(accumulate((file.rows for file in files), initial=0))
    words = np.zeros(((arity + 1) // 2, ends[-1]), np.int64)
    with ThreadPoolExecutor() as threads:
        list(threads.map(partial(_read_words, store, arity, words), files, ends))
    levels: list[Level] = []
    start = 0
    for place, file in enumerate(files):
        if place + 1 < len(files) and _continues(words, ends[place + 1], file, files[place + 1]):
            continue
        piece = np.ascontiguousarray(words[:, start : ends[place + 1]])
        run, start = Run.of(arity, piece, file.is_sorted), ends[place + 1]
        levels.append(Level(run) if file.sign > 0 else Level(Run.empty(arity), run))
        compact(levels, RATIO, SMALL)
    return levels


def _continues(words: Words, at: int, file: FactsFile, following: FactsFile) -> bool:
    """Whether the facts of two files, the second one beginning at a place, are one sorted sequence."""
    alike = file.sign == following.sign and file.is_sorted and following.is_sorted
    return alike and tuple(words[:, at - 1]) < tuple(words[:, at])


def _read_words(store: Store, arity: int, words: Words, file: FactsFile, at: int) -> None:
    """Pack the facts of a file, as runs do, from a place on; in batches that stay near the processor."""
    if any(high >= 2**31 for _, high in file.bounds):
        raise DataError(f"{store.folder / file.path}: ids beyond 2³¹ are for the Spark engine")
    with pq.ParquetFile(pa.BufferReader(store.content(file))) as parquet:
        for batch in parquet.iter_batches(BATCH, use_threads=False):
            for j in range(arity):
                column, word = unwrap(batch.column(j)), words[j // 2, at : at + len(batch)]
                if j % 2 == 0:
                    np.left_shift(column, 32, out=word)
                else:
                    np.bitwise_or(word, column, out=word)
            at += len(batch)


def open_dictionary(store: Store) -> Dictionary:
    """The terms of a store; they are read when one of them is asked for."""
    return Dictionary.opened(store.manifest.term_count, lambda: _read_keys(store))


def _read_keys(store: Store) -> tuple[Bytes, Offsets]:
    """The keys of all terms, one after the other, and where each begins and the last one ends."""
    arrays: list[pa.Array] = []
    for file in sorted(store.manifest.terms, key=lambda f: f.first):
        with pq.ParquetFile(pa.BufferReader(store.content(file))) as parquet:
            arrays += parquet.read(["key"]).column(0).chunks
    parts = [text_buffers(array) for array in arrays if len(array)]
    sizes = [int(offsets[-1] - offsets[0]) for _, offsets in parts]
    data = np.empty(sum(sizes), np.uint8)
    starts = np.zeros(store.manifest.term_count + 1, np.int64)
    byte = term = 0
    for (content, offsets), size in zip(parts, sizes, strict=True):
        data[byte : byte + size] = content[offsets[0] : offsets[-1]]
        starts[term : term + len(offsets)] = offsets + (byte - offsets[0])
        byte, term = byte + size, term + len(offsets) - 1
    return data, starts
