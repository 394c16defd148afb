"""Sets of pairs made of others: the pairs of one that another has or lacks, and unions. Nothing is listed to
make them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from modulog.closures.edges import packed
from modulog.closures.pair_sets import CHUNK, NOTHING, Pairs, added_up, are_few, merged
from modulog.closures.shared_lists import among, distinct
from modulog.kernels.types import Columns, Integers, Mask


class Selected(Pairs):
    """The pairs of one set that another has, or lacks; counting them means reading them."""

    def __init__(self, pairs: Pairs, others: Pairs, wanted: bool) -> None:
        self.pairs, self.others, self.wanted = pairs, others, wanted
        self._some: bool | None = None

    def count(self) -> int:
        return sum(piece.shape[1] for piece in self.scan())

    def count_by(self, column: int) -> tuple[Columns, Integers]:
        return added_up(piece[column] for piece in self.scan())

    def some(self) -> bool:
        if self._some is None:
            self._some = super().some()
        return self._some

    def guess(self) -> int:
        return self.pairs.guess()

    def spread(self, column: int) -> float:
        return self.pairs.spread(column)

    def _counted(self, ids: Columns, column: int) -> tuple[Columns, Integers]:
        return self._counted_by_reading(ids, column)

    def contains(self, pairs: Columns) -> Mask:
        found = self.pairs.contains(pairs)
        chosen = np.flatnonzero(found)
        found[chosen] = self.others.contains(np.ascontiguousarray(pairs[:, chosen])) == self.wanted
        return found

    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        for piece in self.pairs.scan(sources, targets, limit):
            kept = piece[:, self.others.contains(piece) == self.wanted]
            if kept.shape[1]:
                yield kept


def without(pairs: Pairs, others: Pairs) -> Pairs:
    """The pairs that others lack."""
    return pairs if pairs is NOTHING or others is NOTHING else Selected(pairs, others, False)


def within(pairs: Pairs, others: Pairs) -> Pairs:
    """The pairs that others have."""
    return NOTHING if pairs is NOTHING or others is NOTHING else Selected(pairs, others, True)


class Together(Pairs):
    """The pairs of several sets, each once: a later set gives what the earlier ones lack. The largest comes
    first.
    """

    def __init__(self, parts: Sequence[Pairs], disjoint: bool = False) -> None:
        self.parts = list(parts) if disjoint else sorted(parts, key=lambda part: part.guess(), reverse=True)
        self.disjoint = disjoint
        self.counts_itself = any(part.counts_itself for part in parts)
        self._count: int | None = None

    def apart(self) -> Iterator[Pairs]:
        """What each set adds to those before it."""
        yield self.parts[0]
        for at in range(1, len(self.parts)):
            if self.disjoint:
                yield self.parts[at]
            else:
                yield Selected(self.parts[at], Together(self.parts[:at], True), False)

    @property
    def counted(self) -> int | None:
        """How many pairs there are, if that is known."""
        return self._count

    def know(self, count: int) -> None:
        """Say how many pairs there are."""
        self._count = count

    def count(self) -> int:
        if self._count is None:
            self._count = sum(part.count() for part in self.apart())
        return self._count

    def count_by(self, column: int) -> tuple[Columns, Integers]:
        return merged([part.count_by(column) for part in self.apart()])

    def distinct(self, column: int) -> Columns:
        return distinct(np.concatenate([part.distinct(column) for part in self.parts]))

    def contains(self, pairs: Columns) -> Mask:
        found = self.parts[0].contains(pairs)
        for part in self.parts[1:]:
            rest = np.flatnonzero(~found)
            found[rest] = part.contains(np.ascontiguousarray(pairs[:, rest]))
        return found

    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        for part in self.apart():
            yield from part.scan(sources, targets, limit)

    def some(self) -> bool:
        return any(part.some() for part in self.parts)

    def guess(self) -> int:
        return sum(part.guess() for part in self.parts)

    def spread(self, column: int) -> float:
        return sum(part.spread(column) for part in self.parts)

    def sizes(self, ids: Columns, column: int) -> Integers:
        total: Integers = np.sum([part.sizes(ids, column) for part in self.apart()], axis=0)
        return total

    def touched(self, ids: Columns, column: int) -> Mask:
        result = np.zeros(len(ids), np.bool_)
        for part in self.parts:
            rest = np.flatnonzero(~result)
            result[rest] = part.touched(ids[rest], column)
        return result

    def changed_ids(self, column: int) -> Columns:
        return distinct(np.concatenate([part.changed_ids(column) for part in self.parts]))

    def opened(self) -> list[Pairs]:
        return [self] if self.disjoint else self.parts


def together(parts: Sequence[Pairs], disjoint: bool = False) -> Pairs:
    """The union of sets, of which disjoint ones share no pair; a closure and its inverse become one set that
    counts itself.
    """
    parts = [part for part in (parts if disjoint else _opened(parts)) if part is not NOTHING]
    for part in list(parts):
        if (both := part.both_ways()) is not None:
            inverse = part.turned()
            others = [other for other in parts if other is not part and not other.is_same(inverse)]
            if len(others) < len(parts) - 1:
                parts = [*others, both]
    if len(parts) < 2:
        return parts[0] if parts else NOTHING
    return Together(parts, disjoint)


def _opened(parts: Sequence[Pairs]) -> list[Pairs]:
    """Unions inside unions opened, and nothing twice."""
    found: list[Pairs] = []
    for part in parts:
        found += [one for one in part.opened() if not any(one.is_same(other) for other in found)]
    return found


# ---- What changed in a union


MANY = 1 << 20
"""Pairs that are read to be counted where there is another way."""


class Part(NamedTuple):
    """A part of a union on both sides of a change: the pairs that one side has and the other lacks, and the
    other way round.
    """

    has: Pairs
    lacks: Pairs
    only: Pairs
    opposite: Pairs


class Difference(Selected):
    """The pairs that a union has and lacks on the other side of a change: found among those that a part has
    only there.

    There may be a great many. What is the other way round is often little or nothing, and the whole sets
    count themselves: so these are subtracted.
    """

    def __init__(self, has: Pairs, lacks: Pairs, parts: Sequence[Part]) -> None:
        super().__init__(together([part.only for part in parts]), lacks, False)
        self.has, self.parts = has, parts
        self._count: int | None = None

    @cached_property
    def opposite(self) -> Pairs:
        """What the other side has and this one lacks."""
        return without(together([part.opposite for part in self.parts]), self.has)

    def _subtracts(self) -> bool:
        """Whether subtracting reads less."""
        return self.pairs.guess() > MANY + self.opposite.guess()

    def count(self) -> int:
        if self._count is None:
            if self._subtracts():
                self._count = self._growth() + self.opposite.count()
            else:
                self._count = super().count()
        return self._count

    def _growth(self) -> int:
        """How many pairs there are more than on the other side."""
        growth = Growth(self.parts).count()
        for known, other, sign in ((self.has, self.others, -1), (self.others, self.has, 1)):
            if isinstance(known, Together) and isinstance(other, Together) and known.counted is not None:
                other.know(known.counted + sign * growth)
        return growth

    def count_by(self, column: int) -> tuple[Columns, Integers]:
        if not self._subtracts():
            return super().count_by(column)
        fewer, less = self.others.count_by(column)
        ids, counts = merged([self.has.count_by(column), (fewer, -less), self.opposite.count_by(column)])
        return ids[counts > 0], counts[counts > 0]

    def touched(self, ids: Columns, column: int) -> Mask:
        result = among(ids, self.changed_ids(column))
        rest = ids[result]
        few = are_few(rest)
        result[result] = super().touched(rest, column) if few else among(rest, self.distinct(column))
        return result

    def changed_ids(self, column: int) -> Columns:
        return self.pairs.changed_ids(column)


class Growth:
    """How much larger a union is than on the other side of a change.

    With M the parts that count themselves and P the others: |M ∪ P| = |M| + |P \\ M| on either side. The last
    number differs by pairs that only one side has in P, and by pairs of P on both sides that only one has in
    M.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self.own = [part for part in parts if part.has.counts_itself or part.lacks.counts_itself]
        self.listed = [part for part in parts if part not in self.own]
        self.has, self.lacks = (together([part[side] for part in self.own]) for side in (0, 1))
        self.among, self.others = (together([part[side] for part in self.listed]) for side in (0, 1))

    def count(self) -> int:
        """How many pairs more; negative if there are fewer."""
        growth = self.has.count() - self.lacks.count()
        growth += self._new(2, self.others, self.has) - self._new(3, self.among, self.lacks)
        return growth - self._moved(2, self.lacks) + self._moved(3, self.has)

    def _new(self, side: int, listed: Pairs, own: Pairs) -> int:
        """How many pairs one side alone has in P, and not in M."""
        changed = together([part[side] for part in self.listed])
        return without(without(changed, listed), own).count()

    def _moved(self, side: int, own: Pairs) -> int:
        """How many pairs of P on both sides one side alone has in M; `own` is M on the other."""
        changes = [part[side] for part in self.own if part[side] is not NOTHING]
        if not changes:
            return 0
        found = [np.empty(0, np.int64)]
        for piece in self._listed():
            piece = np.ascontiguousarray(piece[:, _in_any(changes, piece)])
            piece = piece[:, self.others.contains(piece) & ~own.contains(piece)]
            found.append(packed(piece[0], piece[1]))
        return len(distinct(np.concatenate(found)))

    def _listed(self) -> Iterator[Columns]:
        """The pairs of P, some perhaps more than once."""
        for part in self.listed:
            yield from part.has.scan()


def _in_any(sets: Sequence[Pairs], pairs: Columns) -> Mask:
    found = sets[0].contains(pairs)
    for one in sets[1:]:
        found |= one.contains(pairs)
    return found
