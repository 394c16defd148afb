"""The structures behind compact relations, all used in the same way: a closure of edges, and how its pairs are read.

A linear closure is fed with seeds and edges, the others with edges alone. Sources and targets are those of the closure as it runs; a left-linear
one is read turned round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modulog.kernels.types import Columns
from modulog.storage.closure import NOTHING, Closure
from modulog.storage.components import Components
from modulog.storage.delta import Change, Delta
from modulog.storage.edges import Edges, unpacked
from modulog.storage.linear import LinearClosure, Seeded
from modulog.storage.lists import Lists
from modulog.storage.pairs import Pairs, turned
from modulog.storage.state import State

KINDS = ("closure", "reflexive closure", "components", "right-linear", "left-linear")
"""The schemes of relations that close what they are given."""


class Mark(NamedTuple):
    """A state to go back to."""

    state: State
    facts: Lists | None


class Input(NamedTuple):
    """Seeds and edges; where a closure is not linear, its edges are the seeds."""

    seeds: Columns = NOTHING
    edges: Columns = NOTHING


class Structure:
    """A closure of one of the kinds."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._last: tuple[State | Change, Pairs] | None = None  # what was read last
        self._components = Components() if kind == "components" else None
        self._linear = LinearClosure() if kind.endswith("-linear") else None
        if self._components is not None:
            self.closure = self._components.closure
        elif self._linear is not None:
            self.closure = self._linear.closure
        else:
            self.closure = Closure(reflexive=kind.startswith("reflexive"))

    @property
    def state(self) -> State:
        """The current state."""
        return self.closure.state

    def read(self, pairs: State | Change) -> Pairs:
        """A state, or a side of a change, as the relation shows it."""
        if self._linear is None:
            return pairs
        if self._last is None or self._last[0] is not pairs:
            seeded = Seeded(pairs)
            self._last = pairs, turned(seeded) if self.kind == "left-linear" else seeded
        return self._last[1]

    def update(self, add: Input, delete: Input) -> Delta:
        """Delete, then add; the change."""
        if self._linear is not None:
            return self._linear.update_raw(add.seeds, delete.seeds, add.edges, delete.edges)
        if self._components is not None:
            return self._components.update(add.seeds, delete.seeds)
        return self.closure.update(add.seeds, delete.seeds)

    def mark(self) -> Mark:
        """The state that it has now."""
        return Mark(self.closure.state, None if self._components is None else self._components.facts)

    def go_back(self, mark: Mark) -> None:
        """Be what it was at a mark."""
        self.closure.go_back(mark.state)
        if self._components is not None and mark.facts is not None:
            self._components.facts = mark.facts

    def settle(self) -> None:
        """A change is over."""
        self.closure.settle()

    def bytes(self) -> int:
        """Bytes held."""
        return self.closure.bytes if self._components is None else self._components.bytes

    def external(self) -> Columns:
        """The edges that were given, where the closure is not linear."""
        given = None if self._components is None else self._components.facts
        edges = self.state.edges if given is None else Edges(given, given)
        sources, targets = unpacked(edges.words())
        ids = self.closure.nodes.ids
        return np.stack([ids[sources], ids[targets]])


def joined(parts: list[Columns]) -> Columns:
    """Rows of pairs, one after the other."""
    return np.concatenate(parts, axis=1) if parts else NOTHING
