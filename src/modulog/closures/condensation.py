"""The condensed graph of a set of edges: its components, numbered in post-order of a tree cover.

A condensation is a value. What follows from it after a change (see `revision`) shares what stayed: of a
component that splits the largest part keeps the number, of several that merge the largest, and the other
parts get the next numbers. The *positions* of nodes are what rows speak of: at first the members of a
component, and what follows in post-order, lie side by side. Merging moves no node, and splitting only sorts
the nodes of one component among its own positions: since a row holds all positions of a component or none,
rows whose nodes stay the same remain valid.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from modulog.closures.edges import Edges
from modulog.closures.shared_lists import Lists
from modulog.kernels import graph_algorithms, intervals
from modulog.kernels import graph_algorithms as kernels
from modulog.kernels.types import Columns, Mask

STEPS = 1 << 23
"""Steps of a search in one kernel call."""


@dataclass(slots=True)
class Condensation:
    """Components of a graph: the component of each node, the members of each, the edges between them."""

    component: Columns
    members: Lists
    position: Columns  # of each node
    nodes: Columns  # at each position
    blocks: Lists  # the positions of each component, as intervals
    down: Lists
    loops: Mask
    ordered: bool  # every edge leads to a smaller number
    unused: int = 0  # numbers without members
    _up: Lists | None = field(default=None)

    @staticmethod
    def of(edges: Edges, reflexive: bool) -> Condensation:
        """The condensation of a graph, numbered afresh."""
        first = np.flatnonzero(edges.into.lengths() == 0).astype(np.int32)
        roots = np.concatenate([first, np.arange(edges.n, dtype=np.int32)])
        component = np.zeros(edges.n, np.int32)
        found = strong_components(edges.out, np.zeros(edges.n, np.int32), roots, component, 0)
        prefix, nodes = graph_algorithms.members_of(component, found)
        members, position = Lists.of(prefix, nodes), inverse(nodes)
        every = np.arange(found, dtype=np.int32)
        starts, sons, loops = sons_of(every, edges, component, members, reflexive)
        blocks = Lists.of(*intervals.blocks_of(prefix, nodes, position))
        return Condensation(
            component, members, position, nodes, blocks, Lists.of(starts, sons), loops, ordered=True
        )

    @property
    def size(self) -> int:
        """How many numbers are in use, or were."""
        return len(self.loops)

    @property
    def sizes(self) -> Columns:
        """How many members each component has."""
        return self.members.lengths()

    def members_of(self, c: int) -> Columns:
        """The members of one component."""
        found: Columns = self.members.pool.numbers[self.members.first[c] : self.members.last[c]]
        return found

    @property
    def up(self) -> Lists:
        """The condensed graph turned round."""
        if self._up is None:
            self._up = self.down.transposed()
        return self._up

    @property
    def known_up(self) -> Lists | None:
        """The condensed graph turned round, if that was done already."""
        return self._up

    def rest(self) -> None:
        """Give up the graph turned round, until it is asked for again."""
        self._up = None

    @property
    def bytes(self) -> int:
        """Bytes held."""
        lists = (self.members, self.blocks, self.down, *((self._up,) if self._up else ()))
        arrays = (self.component, self.position, self.loops)
        held: int = sum(array.nbytes for array in arrays) + sum(part.bytes for part in lists)
        return held if self.nodes is self.members.pool.numbers else held + self.nodes.nbytes

    def order_of(self, wanted: Mask) -> Columns:
        """The wanted components, sons before fathers."""
        chosen = np.flatnonzero(wanted).astype(np.int32)
        if self.ordered:
            return chosen
        place = np.zeros(self.size, np.int32)
        strong_components(self.down, wanted.astype(np.int32), chosen, place, 0)
        order = np.empty(len(chosen), np.int32)
        order[place[chosen]] = chosen
        return order


def sons_of(
    chosen: Columns, edges: Edges, component: Columns, members: Lists, reflexive: bool
) -> tuple[Columns, Columns, Mask]:
    """The sons of chosen components, one list after the other; where each starts; which of them reach
    themselves.
    """
    seen = np.full(len(members), -1, np.int32)
    starts, sons, loops = graph_algorithms.condense_some(
        chosen, edges.out.arrays, component, members.arrays, seen
    )
    if reflexive:
        alive = members.first[chosen] < members.last[chosen]
        one = members.pool.numbers[members.first[chosen[alive]]]
        out, into = edges.out, edges.into
        loops[alive] |= (out.first[one] < out.last[one]) | (into.first[one] < into.last[one])
    return starts, sons, loops


def inverse(permutation: Columns) -> Columns:
    """Where each number stands in a permutation."""
    result = np.empty_like(permutation)
    result[permutation] = np.arange(len(permutation), dtype=np.int32)
    return result


def marked_from(graph: Lists, marked: Mask, start: Mask | None = None) -> Mask:
    """The marked nodes and all that they, or only those at the start, lead to by nodes not marked yet."""
    first = np.flatnonzero(marked if start is None else start)
    result = marked.copy()
    result[first] = True
    stack = np.empty(len(marked), np.int32)
    stack[: len(first)] = first
    size = len(first)
    while size:
        size = graph_algorithms.spread(*graph.arrays, result, stack, size, STEPS)
    return result


def strong_components(graph: Lists, group: Columns, roots: Columns, component: Columns, first: int) -> int:
    """Write the components found from the roots by edges inside groups, numbered from `first` on; the next
    number.
    """
    work = np.empty((5, len(graph)), np.int32)
    work[0] = 0
    state = np.array([0, 0, 0, 0, first], np.int64)
    while not kernels.tarjan(graph.arrays, group, roots, state, work, component, STEPS):
        pass
    return int(state[kernels.FOUND])
