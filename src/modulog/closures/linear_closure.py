"""A linear closure P = B ∘ E*: seeds B and a graph E, both under additions and deletions.

`P(x,y) ← B(x,y)` and `P(x,z) ← P(x,y), E(y,z)`. A source x of a seed becomes a node of its own, beside the
node that x may be in E, with an edge to every y that B gives it; P is what the closure of this graph holds
for such sources. Their ids are told apart by the sign bit, so ids are 31 bits here, as they are in the
engine.

    linear = LinearClosure()
    delta = linear.update(add_seeds, delete_seeds, add_edges, delete_edges)  `come` and `gone` as for a closure
    linear.state, linear.before        count, count_by, distinct, contains, successors, predecessors, scan
    linear.settle(), linear.memory()
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modulog.closures.closure import NOTHING, Closure, Footprint
from modulog.closures.closure_difference import Change, Delta
from modulog.closures.closure_state import State
from modulog.closures.pair_sets import CHUNK, Pairs, are_few
from modulog.closures.shared_lists import among
from modulog.kernels import graph_algorithms as kernels
from modulog.kernels.types import Columns, Integers, Mask

STEPS = 1 << 23
"""Edges of a search in one kernel call."""

PIECE = 1 << 20
"""Pairs that are listed at a time."""

SIGN = np.int32(-(2**31))


class Seeded(Pairs):
    """The pairs of a state, or of a change, whose sources are those of seeds."""

    def __init__(self, view: State | Change) -> None:
        self._view = view

    def count(self) -> int:
        """How many pairs there are."""
        return int(self.count_by(0)[1].sum())

    def count_by(self, column: int) -> tuple[Columns, Integers]:
        """The ids in a column, 0 or 1, and how many pairs have each; column 1 reads the rows of the seeds'
        sources.
        """
        if column == 0:
            ids, counts = self._view.count_by(0)
            return ids[ids < 0] ^ SIGN, counts[ids < 0]
        nodes = self._view.nodes if isinstance(self._view, State) else self._view.numbering
        counts = np.zeros(nodes.count, np.int64)
        for piece in self.scan():
            counts += np.bincount(nodes.find(piece[1]), minlength=len(counts))
        found = np.flatnonzero(counts)
        return nodes.ids[found], counts[found]

    def distinct(self, column: int) -> Columns:
        """The different ids in a column; those of a state are searched, whatever the number of pairs."""
        if not isinstance(self._view, State):
            return self.count_by(column)[0]
        if column == 1:
            return self._reached(self._view)
        ids = self._view.distinct(0)
        return ids[ids < 0] ^ SIGN

    def touched(self, ids: Columns, column: int) -> Mask:
        return super().touched(ids, column) if are_few(ids) else among(ids, self.distinct(column))

    @staticmethod
    def _reached(state: State) -> Columns:
        """What some seed leads to: a search from the sources of all seeds at once."""
        ids = state.nodes.ids[: state.n]
        sources = np.flatnonzero(ids < 0).astype(np.int32)
        level, queue = np.full(state.n, -1, np.int32), np.empty(state.n, np.int32)
        queue[: len(sources)] = sources
        level[sources] = 0
        everywhere, head, tail = np.zeros(state.n, np.int32), 0, len(sources)
        while head < tail:
            head, tail = kernels.set_levels(
                state.edges.out.arrays, everywhere, level, queue, head, tail, STEPS
            )
        return ids[queue[len(sources) : tail]]

    def contains(self, pairs: Columns) -> Mask:
        """Which of the pairs (an array of two rows of ids) hold."""
        pairs = np.asarray(pairs).astype(np.int32)
        return self._view.contains(np.stack([pairs[0] | SIGN, pairs[1]]))

    def successors(self, source: int) -> Columns:
        """The ids beside one id in the first column."""
        return self._view.successors(int(np.int32(source) | SIGN))

    def predecessors(self, target: int) -> Columns:
        """The ids beside one id in the second column."""
        found = self._view.predecessors(target)
        return found[found < 0] ^ SIGN

    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        """All pairs, or those with sources, targets or both among the given ids, at most `limit` at a
        time.
        """
        if sources is None and targets is None:
            sources = self._view.distinct(0)
            sources = sources[sources < 0]
        marked = None if sources is None else np.asarray(sources).astype(np.int32) | SIGN
        for piece in self._view.scan(marked, targets, limit):
            if marked is None:
                piece = piece[:, piece[0] < 0]
            piece[0] ^= SIGN
            if piece.shape[1]:
                yield piece


@dataclass(frozen=True, slots=True)
class SeededDelta:
    """The net change between two states of a linear closure."""

    before: Seeded
    after: Seeded
    come: Seeded
    gone: Seeded


class LinearClosure:
    """What seeds reach in a graph.

    >>> linear = LinearClosure()
    >>> delta = linear.update(add_seeds=np.array([[1], [5]]), add_edges=np.array([[5, 6], [6, 5]]))
    >>> linear.state.count(), sorted(linear.state.successors(1).tolist())
    (2, [5, 6])
    """

    def __init__(self) -> None:
        self.closure = Closure()

    @property
    def state(self) -> Seeded:
        """The current state."""
        return Seeded(self.closure.state)

    @property
    def before(self) -> Seeded:
        """The state before the last change."""
        return Seeded(self.closure.before)

    def update(
        self,
        add_seeds: Columns = NOTHING,
        delete_seeds: Columns = NOTHING,
        add_edges: Columns = NOTHING,
        delete_edges: Columns = NOTHING,
    ) -> SeededDelta:
        """Delete seeds and edges, then add others; the change between before and after."""
        delta = self.update_raw(add_seeds, delete_seeds, add_edges, delete_edges)
        return SeededDelta(Seeded(delta.before), Seeded(delta.after), Seeded(delta.come), Seeded(delta.gone))

    def update_raw(
        self, add_seeds: Columns, delete_seeds: Columns, add_edges: Columns, delete_edges: Columns
    ) -> Delta:
        """The same; the change of the graph with the sources of seeds, of which `Seeded` shows what concerns
        these.
        """
        return self.closure.update(_together(add_seeds, add_edges), _together(delete_seeds, delete_edges))

    def settle(self) -> None:
        """The last change is over: give up the state before it, and what only searches need."""
        self.closure.settle()

    def memory(self) -> Footprint:
        """Bytes held, and 8 bytes for each pair."""
        return Footprint(self.closure.memory().bytes, 8 * self.state.count())


def reached(seeds: Columns, edges: Columns) -> Iterator[Columns]:
    """What seeds lead to along edges: all pairs, each once, in pieces."""
    linear = LinearClosure()
    linear.update_raw(seeds, NOTHING, edges, NOTHING)
    found = linear.state
    if found.count():  # rows are counted before they are read: all at once then, not each by a search
        yield from found.scan(limit=PIECE)


def _together(seeds: Columns, edges: Columns) -> Columns:
    seeds, edges = (np.asarray(part).astype(np.int32) for part in (seeds, edges))
    return np.concatenate([np.stack([seeds[0] | SIGN, seeds[1]]), edges], axis=1)
