"""A transitive relation, represented by its external edges: R = X_R⁺, kept under additions and deletions.

Follows "Optimised Storage for Datalog Reasoning" in what is represented (components, numbers in post-order of
a tree cover, rows of intervals shared by the members of a component, the stages before and after a change)
and goes past it with deletions.

    closure = Closure()                       reflexive=True: whatever has an external edge also reaches itself
    delta = closure.add(edges)                edges: an array of two rows, sources and targets, of 32-bit ids
    delta = closure.delete(edges)             what is not there is ignored, as is what is added twice
    delta = closure.update(add=…, delete=…)   deletions first; the delta is net
    closure.state                             the current State; closure.before the one before the last change
    closure.settle()                          the change is over: before = state
    closure.go_back(state)                    back to an earlier state, at no cost; a failed update does this
    closure.bytes, closure.memory()           bytes held; 8 bytes for each pair, which may have to be counted

A **State** is immutable and stays valid whatever follows, so every version is a state or the difference of
two:

    state.count()                             pairs; `count_by(0)`, `count_by(1)`: ids, counts; `distinct(0)`
    state.contains(pairs)                     a mask for an array of two rows
    state.successors(a), state.predecessors(b)
    state.scan(sources, targets, limit)       bounded pieces of two rows of ids; arguments are arrays of ids

A **Delta** has `before`, `after`, `come` and `gone`; the last two answer the same questions as a state.
`Delta.between(state, other, direction)` gives the difference of any two states: "grown" if only additions lie
between them, "shrunk" if only deletions (both are counted without reading), else "mixed". Counts, `count_by`
and `distinct` never expand pairs, except `come` and `gone` of a mixed delta, whose rows are read once, in
pieces, for the sources that both a deletion and an addition touched (and not only because something left or
entered the hub).

What an update costs: some arrays with an entry for each node are copied (about 30 ms for 700,000), the lists
of nodes and components that changed are appended to pools that all states share, and rows are computed again
where they really change, as far as counts were asked for before. Rows above a hub (see `hub`) leave out what
the hub reaches, so that they stay when an edge inside changes, and when a few members leave it or come back;
only what enters the hub for the first time costs the rows of all that reach it otherwise, which may be most
of them.

Where the paper's cases went: an edge inside a component or between components that reach each other already
(forward edge) is kept and changes no row; a cross edge, a new child, a new parent and two new nodes make the
father due; a back edge merges all that lies between. After a deletion a component in doubt (see `levels`) is
condensed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from modulog.closures.bfs_levels import Levels
from modulog.closures.closure_difference import Delta, Direction
from modulog.closures.closure_state import State
from modulog.closures.condensation import Condensation
from modulog.closures.edges import Edges, Nodes, edge_words, in_order
from modulog.closures.update_condensation import Revised, with_more, without
from modulog.kernels.types import Columns, Integers

NOTHING = np.empty((2, 0), np.int32)
NONE = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes held, and the bytes that listing every pair once would take."""

    bytes: int
    plain: int


@cache
def _empty(symmetric: bool) -> tuple[Edges, Condensation]:
    """A graph without nodes, the first state of every closure: nothing is ever appended to its lists."""
    edges = Edges.of(np.empty(0, np.int64), 0, symmetric)
    return edges, Condensation.of(edges, reflexive=False)


class Closure:
    """The transitive closure of a changing set of edges.

    >>> closure = Closure()
    >>> closure.add(np.array([[1, 2, 3], [2, 3, 1]])).come.count()
    9
    >>> closure.delete(np.array([[3], [1]])).gone.count(), closure.state.successors(1).tolist()
    (6, [3, 2])
    """

    def __init__(self, reflexive: bool = False, symmetric: bool = False) -> None:
        self._reflexive, self._symmetric = reflexive, symmetric
        self._fresh = True  # the state was computed from its edges alone
        self.nodes = Nodes()
        self.state = State(self.nodes, *_empty(symmetric), Levels())
        self.before = self.state

    def __len__(self) -> int:
        return len(self.state.edges)

    def add(self, edges: Columns) -> Delta:
        """Add external edges."""
        return self.update(edges, NOTHING)

    def delete(self, edges: Columns) -> Delta:
        """Take external edges away."""
        return self.update(NOTHING, edges)

    def update(self, add: Columns, delete: Columns) -> Delta:
        """Delete edges, then add others; the change between before and after."""
        going = edge_words(self.nodes.find, np.asarray(delete))
        return self.update_words(edge_words(self.nodes.number, np.asarray(add)), going)

    def update_words(self, add: Integers, delete: Integers) -> Delta:
        """The same for edges between nodes, as sorted words."""
        before = self.state
        try:
            shrunk = self._delete(delete)
            middle = self.state
            grown = self._add(add)
        except BaseException:
            self.go_back(before)
            raise
        self.before = before
        if self.state is not before:
            before.rest()
        if shrunk is not None and grown is not None:
            return Delta.mixed(before, self.state, shrunk.gone.nodes, grown.come.nodes, middle)
        return shrunk or grown or Delta.mixed(before, before, NONE, NONE)

    def _delete(self, words: Integers) -> Delta | None:
        old = self.state
        words = words[old.edges.present(words)]
        if not len(words):
            return None
        edges = old.edges.with_fewer(words)
        return self._follow(edges, without(old.graph, edges, words, old.levels, self._reflexive), "shrunk")

    def _add(self, words: Integers) -> Delta | None:
        old = self.state
        words = words[~old.edges.present(words)]
        if not len(words):
            return None
        if len(words) > len(old.edges):
            joined = in_order(np.concatenate([words, old.edges.words()])) if len(old.edges) else words
            return self._become(self._afresh(Edges.of(joined, self.nodes.count, self._symmetric)), "grown")
        edges = old.edges.with_more(words, self.nodes.count)
        return self._follow(edges, with_more(old.graph, edges, words, old.levels, self._reflexive), "grown")

    def _follow(self, edges: Edges, revised: Revised, direction: Direction) -> Delta:
        old, graph = self.state, revised.graph
        if graph.unused > 1000 + graph.size // 4:
            return self._become(self._afresh(edges), direction)
        self._fresh, rows = False, None
        if old.rows.counted:
            rows = old.rows.follow(graph, revised.due, edges)
        return self._become(State(self.nodes, edges, graph, revised.levels, rows), direction)

    def _afresh(self, edges: Edges) -> State:
        """The state of some edges, computed from them alone."""
        self._fresh = True
        return State(self.nodes, edges, Condensation.of(edges, self._reflexive), Levels())

    def _become(self, state: State, direction: Direction) -> Delta:
        self.before, self.state = self.state, state
        return Delta.between(self.before, state, direction, consecutive=True)

    def go_back(self, state: State) -> None:
        """Be what it was in an earlier state, which has all that later changes need: this costs nothing."""
        self.state = self.before = state

    def settle(self) -> None:
        """The last change is over: give up the state before it, and what only searches need."""
        self.before = self.state
        self.state.rest()
        self.nodes.rest()
        if self._fresh:
            # Only updates need the inverse graphs, and then keep them.
            self.state.edges.rest()
            self.state.graph.rest()

    @property
    def bytes(self) -> int:
        """Bytes held, the state before included; nothing is counted for it."""
        held = self.nodes.bytes + self.state.bytes
        return held if self.before is self.state else held + self.before.bytes

    def memory(self) -> Footprint:
        """Bytes held and the plain equivalent."""
        return Footprint(self.bytes, 8 * self.state.count())
