"""What a relation of pairs answers where its facts are represented: each version is a set of pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from modulog.algebra.expressions import Argument
from modulog.closures.pair_sets import Pairs
from modulog.engines.local.layer_lookup import Lookup
from modulog.engines.local.readers import PairsReader
from modulog.engines.local.relation import Bounds
from modulog.engines.local.table import LocalTable
from modulog.engines.relation import Closing, Estimate, Memory, ModuleId, Version, Viewing
from modulog.engines.schemes import Scheme
from modulog.engines.table import Table
from modulog.errors import InternalError
from modulog.kernels.types import Columns, Words

PAIR_BYTES = 8
"""Bytes of a listed pair, in one order."""


class PairsRelation(ABC):
    """A relation of represented pairs. Unless it is a closure, nothing can be added to it or taken
    from it.
    """

    arity = 2
    by_source = intersects = False
    closing: Closing | None = None
    viewing: Viewing | None = None
    listed = takes_facts = False

    def __init__(self, name: str, scheme: Scheme) -> None:
        self.name, self.scheme = name, scheme

    @property
    def body(self) -> PairsRelation:
        """Itself: what keeps the facts."""
        return self

    @property
    @abstractmethod
    def storage(self) -> str:
        """How the facts are kept, with what a list would take."""

    @abstractmethod
    def pairs(self, version: Version) -> Pairs:
        """The facts of a version; the set stays what it is."""

    @abstractmethod
    def span(self) -> Bounds | None:
        """Bounds of the arguments of all facts."""

    # ---- Reading

    def reader(
        self, version: Version, except_from: ModuleId | None = None, looking: bool = True
    ) -> PairsReader:
        """A version, to be read by pattern."""
        return PairsReader(self.pairs(version))

    def count(self, args: tuple[Argument, ...], version: Version) -> int:
        """How many facts match the arguments; those that are not asked for are dropped before rows are
        made.
        """
        tallied = self.reader(version).tallied(Lookup((), args, ()))
        return sum(ids.shape[1] if weights is None else int(weights.sum()) for ids, weights in tallied)

    def contains(self, rows: Table, version: Version) -> LocalTable:
        assert isinstance(rows, LocalTable)
        mask = self.pairs(version).contains(rows.ids)
        return LocalTable(rows.columns, np.ascontiguousarray(rows.ids[:, mask]))

    # ---- Sizes

    def size(self, version: Version) -> int:
        match version:
            case "kept":
                return self.size("before") - self.size("gone")
            case "either":
                return self.size("before") + self.size("come")
        return self.pairs(version).count()

    def has(self, version: Version) -> bool:
        return self.pairs(version).some()

    def guess(self, version: Version) -> int:
        return self.pairs(version).guess()

    def estimate(self, version: Version) -> Estimate:
        pairs = self.pairs(version)
        rows = float(self.guess(version))
        return Estimate(rows, tuple(min(rows, max(pairs.spread(j), min(rows, 1.0))) for j in (0, 1)))

    def unsorted(self, bound: tuple[int, ...], version: Version) -> int:
        return 0

    def memory(self) -> Memory:
        return Memory(0, PAIR_BYTES * self.size("all"))

    # ---- The three beats of a round, and updates

    @abstractmethod
    def schedule(self, rows: Table, source: ModuleId) -> None:
        """Hand in facts for the next `derive`."""

    @abstractmethod
    def offer(self, words: Words, source: ModuleId) -> None:
        """Schedule facts packed in the order of their arguments."""

    @abstractmethod
    def derive(self, leaving: bool = False) -> int:
        """delta := what follows from scheduled facts and is not there, or is there and leaves; returns its
        size.
        """

    @abstractmethod
    def merge(self) -> None:
        """delta joins what is there, or leaves it."""

    @abstractmethod
    def rest(self) -> None:
        """The fixpoint is over."""

    def spare(self, rows: Table) -> None:
        if len(rows):
            raise InternalError(
                f"{self.name}: what a {self.scheme.kind} loses follows from its external facts"
            )

    @abstractmethod
    def begin(self) -> None:
        """before := the current state."""

    @abstractmethod
    def commit(self) -> None:
        """The current state becomes `before` for good."""

    @abstractmethod
    def rollback(self) -> None:
        """Back to `before`."""


def ids_of(rows: Table | None) -> Columns:
    """The ids of a table of pairs; none of no table."""
    if rows is None:
        return np.empty((2, 0), np.int32)
    assert isinstance(rows, LocalTable)
    return rows.ids
