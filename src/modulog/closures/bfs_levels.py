"""Levels: why a component is strongly connected, so that deletions inside it can be judged from their
surroundings.

Each member of a component has a distance from its root and a distance to it. While every member but the root
keeps a father one level nearer to the root in both directions, the root reaches all and is reached by all; a
deleted edge that did not join neighbouring levels changes nothing, another first looks for another father.
Only where there is none the component is searched again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from modulog.closures.edges import Edges
from modulog.closures.shared_lists import Lists
from modulog.kernels import graph_algorithms as kernels
from modulog.kernels.types import Columns

if TYPE_CHECKING:
    from modulog.closures.condensation import Condensation

STEPS = 1 << 23

SMALL = 256
"""Components with fewer members have no levels: they are condensed again, all at once, whenever an inner edge
goes.
"""


class Levels:
    """Distances from and to the root of each component, a value; -1 where they are not known yet."""

    def __init__(self, n: int = 0) -> None:
        self._from = np.full(n, -1, np.int32)
        self._to = np.full(n, -1, np.int32)

    def _copied(self, n: int) -> Levels:
        result, known = Levels(n), len(self._from)
        result._from[:known], result._to[:known] = self._from, self._to
        return result

    def without(self, nodes: Columns) -> Levels:
        """The same for a graph in which the components of these nodes changed."""
        nodes = nodes[nodes < len(self._from)]
        if not (self._from[nodes] >= 0).any():
            return self
        result = self._copied(len(self._from))
        result._forget(nodes)
        return result

    def _forget(self, nodes: Columns) -> None:
        self._from[nodes] = -1
        self._to[nodes] = -1

    def broken(
        self, edges: Edges, old: Condensation, sources: Columns, targets: Columns
    ) -> tuple[Levels, Columns]:
        """The levels, and the components to be condensed again, after inner edges went and `edges`
        were left.
        """
        loops = sources == targets
        sources, targets = sources[~loops], targets[~loops]
        if not len(sources):
            return self, np.empty(0, np.int32)
        own = self._copied(edges.n) if len(self._from) < edges.n else self
        doubtful = np.zeros(old.size, np.bool_)
        doubtful[old.component[sources[own._from[sources] < 0]]] = True
        kernels.orphans(*edges.into.arrays, old.component, own._from, sources, targets, doubtful)
        kernels.orphans(*edges.out.arrays, old.component, own._to, targets, sources, doubtful)
        suspects = np.flatnonzero(doubtful).astype(np.int32)
        small = old.members.last[suspects] - old.members.first[suspects] < SMALL
        if own is self and not small.all():
            own = self._copied(edges.n)
        result = [c for c in suspects[~small] if not own._whole(edges, old, int(c))]
        return own, np.concatenate([suspects[small], np.array(result, np.int32)])

    def _whole(self, edges: Edges, old: Condensation, c: int) -> bool:
        """Whether a component is still whole; if so, its members get new levels, else they have none."""
        members = old.members_of(c)
        self._forget(members)
        whole = all(
            self._search(graph, old.component, members, level)
            for graph, level in ((edges.out, self._from), (edges.into, self._to))
        )
        if not whole:
            self._forget(members)
        return whole

    @staticmethod
    def _search(graph: Lists, component: Columns, members: Columns, level: Columns) -> bool:
        queue = np.empty(len(members), np.int32)
        queue[0] = members[0]
        level[members[0]] = 0
        head, tail = 0, 1
        while head < tail:
            head, tail = kernels.set_levels(graph.arrays, component, level, queue, head, tail, STEPS)
        return bool(tail == len(members))

    @property
    def bytes(self) -> int:
        """Bytes held."""
        return self._from.nbytes + self._to.nbytes
