"""A closure beside other recursive rules: whatever they derive is closed as it comes.

With the scheme "auto" the first round decides: the closure of what explicit facts and nonrecursive rules give
is part of the result, so that if it is much larger than its edges, so is the result. Otherwise the facts are
listed, and the rules close them. When something changes, the whole stratum is computed again beside it, and
`become` goes over to what came out.
"""

from __future__ import annotations

import numpy as np

from modulog.closures.shared_lists import among, distinct
from modulog.engines.local.body_relation import Body, BodyRelation
from modulog.engines.local.closure_body import FEW_PAIRS, ClosureBody, Given, listed_few
from modulog.engines.local.closure_kinds import Input
from modulog.engines.local.table import LocalTable
from modulog.engines.relation import Relation
from modulog.engines.schemes import Scheme
from modulog.engines.table import Table
from modulog.errors import InternalError
from modulog.kernels.threads import ALONE, Threads
from modulog.kernels.types import Columns, Integers, Words


class SharedClosureBody(ClosureBody):
    """Closes what rules derive, of which only what does not follow already becomes an edge."""

    def derive(self, leaving: bool = False) -> int:
        if not leaving:
            self._coming = [fresh for ids in self._coming if (fresh := self._new(ids)).shape[1]]
        return super().derive(leaving)

    def _new(self, ids: Columns) -> Columns:
        return np.ascontiguousarray(ids[:, ~self.pairs("all").contains(ids)])

    def external_words(self) -> Words:
        """The external facts, packed and sorted: what a store keeps."""
        return np.sort(_packed(self.made.external()))[np.newaxis]

    def become(self, other: SharedClosureBody) -> None:
        """Go over to the external facts of another; the change is exact."""
        mine, others = _packed(self.made.external()), _packed(other.made.external())
        for words, leaving in ((mine[~among(mine, others)], True), (others[~among(others, mine)], False)):
            self._follow(Input(_unpacked(words)), leaving)
            self.merge()


class SharedClosureRelation(BodyRelation):
    """A transitive or symmetric-transitive relation that other recursive rules feed."""

    def __init__(self, name: str, wanted: Scheme, threads: Threads = ALONE) -> None:
        super().__init__(name, wanted, threads)
        self._plain = self.new_list()
        self._closure = None if wanted.listing == "auto" else SharedClosureBody(name, wanted.represented)
        self._undecided = wanted.listing == "auto"
        self._told = ""

    @property
    def body(self) -> Body:
        return self._plain if self._closure is None else self._closure

    @property
    def closing(self) -> SharedClosureRelation:
        return self

    @property
    def storage(self) -> str:
        if self._closure is not None:
            return self._closure.storage
        return self._told or listed_few(self.size("all"))

    # ---- Closing

    def consider(self, seeds: Table, edges: Table | None) -> bool:
        """Nobody hands in everything external: rules derive it."""
        return False

    def holds(self, external: int) -> bool:
        return True

    def keep_list(self, relation: Relation) -> bool:
        return False

    def lead(self, edges: Table) -> None:
        raise InternalError(f"{self.name}: a closure that other rules feed is not linear")

    def later(self, given: Given, rows: int) -> None:
        self._closure = SharedClosureBody(self.name, self.wanted.represented)
        self._closure.later(given, rows)

    def become(self, other: Relation) -> None:
        body = other.body if isinstance(other, SharedClosureRelation) else None
        if self._closure is None or not isinstance(body, SharedClosureBody):
            raise InternalError(f"{self.name}: a closure cannot become a list")
        self._closure.become(body)

    def derive(self, leaving: bool = False) -> int:
        plain = self._plain
        if self._undecided and plain.scheduled and not plain.versions.updating:
            self._undecided = False
            self._decide(np.concatenate([words for _, words in plain.scheduled], axis=1))
        return self.body.derive(leaving)

    def _decide(self, waiting: Words) -> None:
        """Represent what follows from the first facts, if that is worth while.

        Where there are few nodes it is not, and no structure is made to find out.
        """
        ids = _unpacked(waiting[0])
        if len(distinct(ids.ravel())) ** 2 <= FEW_PAIRS:
            return
        closure = SharedClosureBody(self.name, self.wanted.represented)
        closure.take(LocalTable(("s", "t"), ids), None)
        worth, self._told = closure.is_worth()
        if worth:
            self._closure, self._plain = closure, self.new_list()


def _unpacked(words: Integers) -> Columns:
    return np.stack([words >> 32, words & 0xFFFFFFFF]).astype(np.int32)


def _packed(ids: Columns) -> Integers:
    words: Integers = (ids[0].astype(np.int64) << 32) | ids[1]
    return words
