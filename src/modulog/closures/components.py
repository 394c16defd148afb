"""A symmetric and transitive relation, represented by the components of its external edges: members, never
pairs.

    components = Components()
    delta = components.add(edges)             the same calls, states and deltas as `closure.Closure` has
    delta = components.delete(edges)
    components.state, components.before, components.settle(), components.memory()

All members of a component are related to each other and to themselves; an id without external edges is
related to nothing. An external edge counts once, whichever way it is written, and (a, b) is another fact than
(b, a): the relation loses nothing while one of them is there.

The state is that of a closure whose graph has every edge both ways: its condensed graph has no edges, and a
row is one component. Additions unite components; deletions are judged by levels, and only a component in
which a member lost its father without finding another is searched.
"""

from __future__ import annotations

import numpy as np

from modulog.closures.closure import NOTHING, Closure, Footprint
from modulog.closures.closure_difference import Delta
from modulog.closures.closure_state import State
from modulog.closures.edges import edge_words, in_order, turned
from modulog.closures.shared_lists import Lists, distinct
from modulog.kernels import graph_algorithms as kernels
from modulog.kernels.types import Columns, Integers


class Components:
    """The components of a changing set of edges.

    >>> components = Components()
    >>> components.add(np.array([[1, 2, 7], [2, 3, 7]])).come.count()
    10
    >>> components.delete(np.array([[2], [3]])).gone.count(), sorted(components.state.successors(1).tolist())
    (5, [1, 2])
    """

    def __init__(self) -> None:
        self.closure = Closure(symmetric=True)
        # The external edges as they were given.
        self.facts = Lists.of(np.zeros(1, np.int32), np.empty(0, np.int32))

    def __len__(self) -> int:
        return self.facts.count

    @property
    def state(self) -> State:
        """The current state."""
        return self.closure.state

    @property
    def before(self) -> State:
        """The state before the last change."""
        return self.closure.before

    def add(self, edges: Columns) -> Delta:
        """Add external edges."""
        return self.update(edges, NOTHING)

    def delete(self, edges: Columns) -> Delta:
        """Take external edges away."""
        return self.update(NOTHING, edges)

    def update(self, add: Columns, delete: Columns) -> Delta:
        """Delete edges, then add others; the change between before and after."""
        nodes = self.closure.nodes
        going = edge_words(nodes.find, np.asarray(delete))
        going = going[self.facts.present(going)]
        facts = self.facts.with_fewer(going)
        single = going[~facts.present(turned(going))]
        coming = edge_words(nodes.number, np.asarray(add))
        coming = coming[~facts.present(coming)]
        delta = self.closure.update_words(_both_ways(coming), _both_ways(single))
        self.facts = facts.with_more(coming, nodes.count)
        return delta

    def settle(self) -> None:
        """The last change is over: give up the state before it, and what only searches need."""
        self.closure.settle()

    @property
    def bytes(self) -> int:
        """Bytes held, the state before included; nothing is counted for it."""
        return self.closure.bytes + self.facts.bytes

    def memory(self) -> Footprint:
        """Bytes held and the plain equivalent."""
        return Footprint(self.bytes, 8 * self.state.count())


def _both_ways(words: Integers) -> Integers:
    return in_order(np.concatenate([words, turned(words)]))


def connected(edges: Columns) -> Columns:
    """Each node with the least node of its connected component."""
    ids = distinct(edges.ravel())
    parents = np.arange(len(ids), dtype=np.int32)
    nodes = np.searchsorted(ids, edges).astype(np.int32)
    kernels.unite(parents, np.ascontiguousarray(nodes[0]), np.ascontiguousarray(nodes[1]))
    kernels.flatten(parents)
    return np.ascontiguousarray(np.stack([ids, ids[parents]]))
