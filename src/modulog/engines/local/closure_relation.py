"""A closure that is alone in its stratum: a structure closes external facts, and a list is a cache of it.

Changes go to the structure, and what they change there goes into the list. While there is a list, it is what
is read. With the scheme "auto" a list is kept as long as its pairs are few, or the structure is not much
smaller.
"""

from __future__ import annotations

import numpy as np

from modulog.closures.pair_sets import Pairs
from modulog.engines.local.body_relation import Body, BodyRelation
from modulog.engines.local.closure_body import ClosureBody, Given, listed_few
from modulog.engines.local.relation import PlainRelation
from modulog.engines.local.runs import places
from modulog.engines.relation import Memory, ModuleId, Relation
from modulog.engines.schemes import Scheme
from modulog.engines.table import Table
from modulog.errors import InternalError
from modulog.kernels import split_work
from modulog.kernels.threads import ALONE, Threads, divided
from modulog.kernels.types import Words

GROWN = 2
"""A list whose pairs have grown by this factor"""

GROWN_PAIRS = 1000
"""and by more than so many makes the relation think again."""

NATURAL = places((0, 1))

PIECE = 1 << 20
"""Pairs that are listed at a time."""


class ClosureRelation(BodyRelation):
    """A closure of one of the kinds."""

    takes_facts = False

    def __init__(self, name: str, wanted: Scheme, threads: Threads = ALONE) -> None:
        super().__init__(name, wanted, threads)
        self.closure = ClosureBody(name, wanted.represented)
        self.intersects = wanted.listing == "always"
        self.list = None if wanted.listing == "never" else self.new_list()
        self._dropped: PlainRelation | None = None  # the list that an update gave up
        self._undecided = wanted.listing == "auto"
        self._decided = 0  # how many pairs there were when it was decided whether to list them
        self._told = ""  # why they are listed
        self._updating = False

    @property
    def body(self) -> Body:
        return self.closure if self.list is None else self.list

    @property
    def closing(self) -> ClosureRelation:
        return self

    @property
    def storage(self) -> str:
        if self.list is None:
            return self.closure.storage
        return self._told or (listed_few(self.size("all")) if self.wanted.listing == "auto" else "")

    def memory(self) -> Memory:
        held = self.closure.structure
        listed = None if self.list is None else self.list.memory()
        if listed is None:
            return self.closure.memory()
        return Memory(listed.bytes + (0 if held is None else held.bytes()), listed.plain)

    # ---- Closing

    def consider(self, seeds: Table, edges: Table | None) -> bool:
        self.closure.take(seeds, edges)
        return True

    def holds(self, external: int) -> bool:
        return True

    def later(self, given: Given, rows: int) -> None:
        self.closure.later(given, rows)
        if self._undecided:  # no list was kept
            self.list, self._undecided = None, False

    def keep_list(self, relation: Relation) -> bool:
        assert isinstance(relation, PlainRelation)
        self.list, self._decided = relation, relation.size("all")
        self._undecided = False
        return True

    def become(self, other: Relation) -> None:
        raise InternalError(f"{self.name}: a closure that is alone follows from its external facts")

    def lead(self, edges: Table) -> None:
        self.closure.lead(edges)

    # ---- Changing: first the structure, then the list

    def schedule(self, rows: Table, source: ModuleId) -> None:
        self.closure.schedule(rows, source)

    @divided
    def derive(self, leaving: bool = False) -> int:
        if not self.closure.advance(leaving):
            return 0
        delta = self.closure.pairs("delta")
        if not self._is_listed(delta, leaving):
            return delta.count()
        words = _words(delta)
        if words.shape[1]:
            assert self.list is not None and self.closure.bounds is not None
            self.list.show(words, self.closure.bounds, leaving)
        return int(words.shape[1])

    def _is_listed(self, delta: Pairs, leaving: bool) -> bool:
        """Whether there is a list to follow a change; decided anew after much has changed."""
        if self.list is not None and (self._undecided or self._has_grown(self.list, delta, leaving)):
            worth, self._told = self.closure.is_worth()
            self._decided = 0 if self.closure.are_few() else self.closure.pairs_held()
            if worth:
                self._dropped, self.list = self.list if self._updating else None, None
            self._undecided = False
        return self.list is not None

    def _has_grown(self, listed: PlainRelation, delta: Pairs, leaving: bool) -> bool:
        """Whether there are many more pairs than when it was decided: those listed, and the change of them."""
        if self.wanted.listing == "always" or self.closure.are_few():
            return False
        pairs = listed.size("all") + (-delta.count() if leaving else delta.count())
        return pairs > GROWN * self._decided + GROWN_PAIRS

    def merge(self) -> None:
        self.closure.merge()
        if self.list is not None:
            self.list.merge()

    def spare(self, rows: Table) -> None:
        self.closure.spare(rows)

    def rest(self) -> None:
        self.closure.rest()
        if self.list is not None:
            self.list.rest()

    def begin(self) -> None:
        self.closure.begin()
        if self.list is not None:
            self.list.begin()
        self._updating = True

    def commit(self) -> None:
        self.closure.commit()
        if self.list is not None:
            self.list.commit()
        self._dropped, self._updating = None, False

    def rollback(self) -> None:
        self.closure.rollback()
        self.list, self._dropped, self._updating = self._dropped or self.list, None, False
        self._decided = 0  # what was decided may rest on facts that are no more
        if self.list is not None:
            self.list.rollback()


def _words(pairs: Pairs) -> Words:
    """Pairs, packed."""
    found = [split_work.pack(piece, NATURAL) for piece in pairs.scan(limit=PIECE)]
    return found[0] if len(found) == 1 else np.concatenate([np.empty((1, 0), np.int64), *found], axis=1)
