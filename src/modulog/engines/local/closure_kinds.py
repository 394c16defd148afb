"""The structures behind compact relations, all used in the same way: a closure of edges, and how its pairs
are read.

A linear closure is fed with seeds and edges, the others with edges alone. Sources and targets are those of
the closure as it runs; a left-linear one is read turned round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modulog.closures.closure import NOTHING, Closure
from modulog.closures.closure_difference import Change, Delta
from modulog.closures.closure_state import State
from modulog.closures.components import Components
from modulog.closures.edges import Edges, unpacked
from modulog.closures.linear_closure import LinearClosure, Seeded
from modulog.closures.pair_sets import Pairs
from modulog.closures.shared_lists import Lists
from modulog.engines.schemes import Scheme
from modulog.kernels.types import Columns


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

    def __init__(self, scheme: Scheme) -> None:
        kind = self.kind = scheme.kind
        self._last: tuple[State | Change, Pairs] | None = None  # what was read last
        self._components = Components() if kind == "components" else None
        self._linear = LinearClosure() if scheme.is_linear else None
        if self._components is not None:
            self.closure = self._components.closure
        elif self._linear is not None:
            self.closure = self._linear.closure
        else:
            self.closure = Closure(reflexive=kind == "reflexive closure")

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
            self._last = pairs, seeded.turned() if self.kind == "left-linear" else seeded
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

    def most_pairs(self) -> int:
        """At least as many pairs as there are, as the numbers of nodes say."""
        n = self.state.n
        seeds = int(np.count_nonzero(self.closure.nodes.ids[:n] < 0)) if self._linear is not None else 0
        return seeds * (n - seeds) if self._linear is not None else n**2

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
