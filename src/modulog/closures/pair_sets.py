"""Sets of pairs that answer the same questions, whatever keeps them.

A state of a closure, either side of its change, and listed facts are `Pairs`; so are a set turned round, the
pairs of one that another has or lacks, and unions (see `unions`). What is read comes in bounded pieces. A set
that knows a shorter way to an answer than reading its pairs overrides the method.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np

from modulog.closures.shared_lists import among, distinct
from modulog.kernels.types import Columns, Integers, Mask

CHUNK = 1 << 18
"""Pairs in one piece of a scan, unless told otherwise."""

LOOK = 1 << 12
"""Pairs that are read at a time to see whether there are any."""

FEW = 256
"""Ids that are searched one by one rather than by counting everything."""

NO_IDS = np.empty(0, np.int32)


def are_few(ids: Columns) -> bool:
    """Whether ids are searched one by one."""
    return len(ids) <= FEW


class Pairs(ABC):
    """A set of pairs of ids; a column is 0 or 1."""

    counts_itself: bool = False
    """Whether it is a closure, or made of closures: counting it then reads no pairs."""

    @abstractmethod
    def count(self) -> int:
        """How many pairs there are."""

    @abstractmethod
    def count_by(self, column: int) -> tuple[Columns, Integers]:
        """The ids in a column, and how many pairs have each."""

    @abstractmethod
    def contains(self, pairs: Columns) -> Mask:
        """Which of the pairs (an array of two rows of ids) are there."""

    @abstractmethod
    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        """All pairs, or those with sources, targets or both among the given ids, at most `limit` at a
        time.
        """

    def distinct(self, column: int) -> Columns:
        """The different ids in a column."""
        return self.count_by(column)[0]

    # ---- Sizes

    def some(self) -> bool:
        """Whether there is a pair."""
        return next(self.scan(limit=LOOK), None) is not None

    def guess(self) -> int:
        """How many pairs there are, or somewhat more where counting them would mean reading them."""
        return self.count()

    def spread(self, column: int) -> float:
        """About how many different ids there are in a column; no pair is read."""
        return float(np.sqrt(self.count()))

    # ---- Questions about some ids

    def sizes(self, ids: Columns, column: int) -> Integers:
        """How many pairs have each of the ids in a column."""
        values, counts = self._counted(ids, column)
        if not len(values):
            return np.zeros(len(ids), np.int64)
        places = np.minimum(np.searchsorted(values, ids), len(values) - 1)
        return np.where(values[places] == ids, counts[places], 0)

    def _counted(self, ids: Columns, column: int) -> tuple[Columns, Integers]:
        """Sorted ids with their counts: of all pairs, or by reading only those that have one of a few ids."""
        if are_few(ids):
            return self._counted_by_reading(ids, column)
        values, counts = self.count_by(column)
        order = np.argsort(values, kind="stable")
        return values[order], counts[order]

    def _counted_by_reading(self, ids: Columns, column: int) -> tuple[Columns, Integers]:
        return added_up(piece[column] for piece in self._having(ids, column))

    def _having(self, ids: Columns, column: int) -> Iterator[Columns]:
        """The pairs with one of the ids in a column."""
        asked = distinct(ids)
        return self.scan(None, asked) if column else self.scan(asked)

    def touched(self, ids: Columns, column: int) -> Mask:
        """Which of the ids some pair has in a column."""
        if not len(ids):
            return np.zeros(0, np.bool_)
        found = [NO_IDS, *(distinct(piece[column]) for piece in self._having(ids, column))]
        return among(ids, np.concatenate(found))

    def changed_ids(self, column: int) -> Columns:
        """Of what an update changed in a union: the ids in a column, and perhaps some whose pairs changed in
        a part alone.

        All are ids of the side of the update that has the pairs, which is what is needed to know where to
        look: whether a pair of theirs is really new, or the last, has to be asked.
        """
        return self.distinct(column)

    # ---- What it is made of

    def turned(self) -> Pairs:
        """Every pair turned round; twice is not at all."""
        return Turned(self)

    def opened(self) -> list[Pairs]:
        """The parts of a union; anything else is its own only part."""
        return [self]

    def both_ways(self) -> Pairs | None:
        """The union with the same set turned round, where that counts itself."""
        return None

    def is_same(self, other: Pairs) -> bool:
        """Whether it is quick to see that both have the same pairs."""
        return self is other


class Nothing(Pairs):
    """No pairs."""

    def count(self) -> int:
        return 0

    def count_by(self, column: int) -> tuple[Columns, Integers]:
        return NO_IDS, np.empty(0, np.int64)

    def contains(self, pairs: Columns) -> Mask:
        return np.zeros(pairs.shape[1], np.bool_)

    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        return iter(())

    def turned(self) -> Pairs:
        return self


NOTHING = Nothing()


class Turned(Pairs):
    """Every pair turned round."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs, self.counts_itself = pairs, pairs.counts_itself

    def count(self) -> int:
        return self.pairs.count()

    def count_by(self, column: int) -> tuple[Columns, Integers]:
        return self.pairs.count_by(1 - column)

    def distinct(self, column: int) -> Columns:
        return self.pairs.distinct(1 - column)

    def contains(self, pairs: Columns) -> Mask:
        return self.pairs.contains(np.ascontiguousarray(pairs[::-1]))

    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        for piece in self.pairs.scan(targets, sources, limit):
            yield np.ascontiguousarray(piece[::-1])

    def some(self) -> bool:
        return self.pairs.some()

    def guess(self) -> int:
        return self.pairs.guess()

    def spread(self, column: int) -> float:
        return self.pairs.spread(1 - column)

    def sizes(self, ids: Columns, column: int) -> Integers:
        return self.pairs.sizes(ids, 1 - column)

    def touched(self, ids: Columns, column: int) -> Mask:
        return self.pairs.touched(ids, 1 - column)

    def changed_ids(self, column: int) -> Columns:
        return self.pairs.changed_ids(1 - column)

    def turned(self) -> Pairs:
        return self.pairs

    def opened(self) -> list[Pairs]:
        return [part.turned() for part in self.pairs.opened()]

    def is_same(self, other: Pairs) -> bool:
        return isinstance(other, Turned) and self.pairs.is_same(other.pairs)


def added_up(values: Iterator[Columns]) -> tuple[Columns, Integers]:
    """How often each id comes, sorted by id; pieces are added up as they come."""
    ids, counts = NO_IDS, np.empty(0, np.int64)
    waiting: list[tuple[Columns, Integers]] = []
    pending = 0
    for piece in values:
        found = np.unique(piece, return_counts=True)
        waiting.append((found[0], found[1].astype(np.int64)))
        pending += len(found[0])
        if pending > CHUNK + 2 * len(ids):
            ids, counts = merged([(ids, counts), *waiting])
            waiting, pending = [], 0
    return merged([(ids, counts), *waiting])


def merged(parts: Sequence[tuple[Columns, Integers]]) -> tuple[Columns, Integers]:
    """Counts of ids added up, sorted by id."""
    ids, counts = (np.concatenate([part[j] for part in parts]) for j in (0, 1))
    if not len(ids):
        return ids, counts
    order = np.argsort(ids, kind="stable")
    ids, counts = ids[order], counts[order]
    first = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    return ids[first], np.add.reduceat(counts, first)
