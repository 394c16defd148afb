"""A relation that may change how it keeps its facts: a *body* keeps them, and answers all questions.

A body is a list of facts (`PlainRelation`) or represents them (`PairsRelation`). These two are relations by
themselves, and their own bodies, for predicates of which it is known how they are kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from modulog.engines.local.pairs_relation import PairsRelation
from modulog.engines.local.relation import PlainRelation
from modulog.engines.local.table import LocalTable
from modulog.engines.relation import Closing, Estimate, Memory, ModuleId, Relation, Version, Viewing
from modulog.engines.schemes import Scheme
from modulog.engines.table import Table
from modulog.kernels.threads import ALONE, Threads

Body = PlainRelation | PairsRelation


class BodyRelation(ABC):
    """A relation of pairs whose body may become another."""

    arity = 2
    by_source = True
    intersects = False  # not even while it is listed: a plan may outlast that

    def __init__(self, name: str, wanted: Scheme, threads: Threads = ALONE) -> None:
        self.name, self.wanted, self.threads = name, wanted, threads

    def new_list(self) -> PlainRelation:
        """A body that lists facts, of which there are none yet."""
        return PlainRelation(self.name, 2, self.threads)

    @property
    @abstractmethod
    def body(self) -> Body:
        """What keeps the facts now."""

    @property
    def closing(self) -> Closing | None:
        """Itself, if it can close what it is given."""
        return None

    @property
    def viewing(self) -> Viewing | None:
        """Itself, if it can show the facts of others."""
        return None

    @property
    def listed(self) -> bool:
        """Whether the facts are listed."""
        return self.body.listed

    @property
    def takes_facts(self) -> bool:
        """Whether facts are handed in one by one."""
        return self.body.takes_facts

    @property
    def scheme(self) -> Scheme:
        """How the facts are kept."""
        return self.body.scheme

    @property
    def storage(self) -> str:
        """How the facts are kept and why, for people."""
        return self.body.storage

    def has(self, version: Version) -> bool:
        return self.body.has(version)

    def guess(self, version: Version) -> int:
        return self.body.guess(version)

    def size(self, version: Version) -> int:
        return self.body.size(version)

    def estimate(self, version: Version) -> Estimate:
        return self.body.estimate(version)

    def unsorted(self, bound: tuple[int, ...], version: Version) -> int:
        return self.body.unsorted(bound, version)

    def contains(self, rows: Table, version: Version) -> LocalTable:
        return self.body.contains(rows, version)

    def memory(self) -> Memory:
        return self.body.memory()

    def schedule(self, rows: Table, source: ModuleId) -> None:
        self.body.schedule(rows, source)

    def derive(self, leaving: bool = False) -> int:
        return self.body.derive(leaving)

    def merge(self) -> None:
        self.body.merge()

    def spare(self, rows: Table) -> None:
        self.body.spare(rows)

    def rest(self) -> None:
        self.body.rest()

    def begin(self) -> None:
        self.body.begin()

    def commit(self) -> None:
        self.body.commit()

    def rollback(self) -> None:
        self.body.rollback()


LocalRelation = PlainRelation | PairsRelation | BodyRelation


def body_of(relation: Relation) -> Body:
    """What keeps the facts of a relation of this engine."""
    if isinstance(relation, PlainRelation):
        return relation
    assert isinstance(relation, PairsRelation | BodyRelation)
    return relation.body
