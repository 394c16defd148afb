"""A closure beside other recursive rules: whatever they derive is closed as it comes.

With "auto" the first round decides: the closure of what explicit facts and nonrecursive rules give is part of the result, so that if it is
much larger than its edges, so is the result. When something changes the whole stratum is computed again beside it, and `become` goes over to what came out.
"""

from __future__ import annotations

import numpy as np

from modulog.engines.local.closure_relation import ClosureRelation
from modulog.engines.local.structures import Input
from modulog.engines.local.table import LocalTable
from modulog.engines.protocol import Relation
from modulog.errors import InternalError
from modulog.kernels import packing
from modulog.kernels.types import Columns, Integers, Words
from modulog.storage.lists import among


class SharedClosureRelation(ClosureRelation):
    """A transitive or symmetric-transitive relation that other recursive rules feed."""

    def __init__(self, name: str, kind: str, wanted: str) -> None:
        super().__init__(name, kind, wanted)
        self._undecided = wanted == "auto"

    def derive(self, leaving: bool = False) -> int:
        if self._undecided and self.scheduled and not self.versions.updating:
            self._undecided = False
            waiting = np.concatenate([words for _, words in self.scheduled], axis=1)
            if self.consider(LocalTable(("s", "t"), self._unpacked(waiting)), None):
                self.scheduled, self.pending, self.consolidated, self.offered = [], 0, 0, False
                self.seen = None
        if not self.listed and not leaving:
            self._coming = [fresh for ids in self._coming if (fresh := self._new(ids)).shape[1]]
        return super().derive(leaving)

    def _new(self, ids: Columns) -> Columns:
        """What does not follow already: rules may derive most of a closure, which need not become edges."""
        return np.ascontiguousarray(ids[:, ~self.represented("all").contains(ids)])

    def external_words(self) -> Words:
        """The external facts, packed and sorted: what a store keeps."""
        return np.sort(_packed(self._made.external()))[np.newaxis]

    def become(self, other: Relation) -> None:
        """Go over to the external facts of another; the change is exact."""
        if not isinstance(other, ClosureRelation) or other.listed:
            raise InternalError(f"{self.name}: a closure cannot become a list")
        mine, others = _packed(self._made.external()), _packed(other._made.external())
        for words, leaving in ((mine[~among(mine, others)], True), (others[~among(others, mine)], False)):
            given = Input(self._unpacked(words[np.newaxis]))
            self._delta = self._made.update(*((Input(), given) if leaving else (given, Input())))
            self._leaving = leaving
            self._widen(given.seeds)
            self.merge()

    def _unpacked(self, words: Words) -> Columns:
        return packing.unpack(words, self.natural, 0, words.shape[1])


def _packed(ids: Columns) -> Integers:
    words: Integers = (ids[0].astype(np.int64) << 32) | ids[1]
    return words
