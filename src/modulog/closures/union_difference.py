"""What an update changed in a union of sets of pairs, as far as it follows from what it changed in the parts.

Few pairs change their place among the parts, though a great many may come or go: a closure and its inverse count themselves, and only pairs of the other parts, which are
listed, are looked up among the pairs that the closure lost or won.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from modulog.closures.edges import packed
from modulog.closures.pair_sets import NOTHING, Pairs, are_few, merged
from modulog.closures.shared_lists import among, distinct
from modulog.closures.unions import Selected, Together, together, without
from modulog.kernels.types import Columns, Integers, Mask

MANY = 1 << 20
"""Pairs that are read to be counted where there is another way."""


class Part(NamedTuple):
    """A part of a union on both sides of a change: the pairs that one side has and the other lacks, and the other way round."""

    has: Pairs
    lacks: Pairs
    only: Pairs
    opposite: Pairs


class Difference(Selected):
    """The pairs that a union has and lacks on the other side of a change: found among those that a part has only there.

    There may be a great many. What is the other way round is often little or nothing, and the whole sets count themselves: so these are subtracted.
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

    With M the parts that count themselves and P the others: |M ∪ P| = |M| + |P \\ M| on either side. The last number differs by pairs that only one side has in P,
    and by pairs of P on both sides that only one has in M.
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
