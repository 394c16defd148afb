"""One state of a closure: an immutable graph with its rows, and everything that can be asked of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from modulog.closures.bfs_levels import Levels
from modulog.closures.condensation import Condensation
from modulog.closures.edges import Edges, Nodes
from modulog.closures.pair_sets import CHUNK, Pairs, are_few
from modulog.closures.reachable_sets import Rows
from modulog.closures.shared_lists import Lists, among, distinct
from modulog.kernels import expand_rows, list_closure
from modulog.kernels.types import Columns, Integers, ListArrays, Mask

FEW_ROWS, SOME_ROWS = 64, 512
"""Up to the first, rows are read as they are kept, or searched; up to the second, bits are the fastest
way.
"""


class State(Pairs):
    """R as it follows from some external edges."""

    counts_itself = True

    def __init__(
        self, nodes: Nodes, edges: Edges, graph: Condensation, levels: Levels, rows: Rows | None = None
    ) -> None:
        self.nodes, self.edges, self.graph, self.levels = nodes, edges, graph, levels
        self.n = edges.n
        self.rows = Rows(graph, graph.down) if rows is None else rows
        self._back: Rows | None = None
        self._sizes: Integers | None = None

    @property
    def back(self) -> Rows:
        """Rows of the inverse relation."""
        if self._back is None:
            self._back = Rows(self.graph, self.graph.up)
        return self._back

    # ---- counts: never expanded

    def count(self) -> int:
        """How many pairs there are."""
        return int((self.rows.count() * self.graph.sizes).sum())

    def count_by(self, column: int) -> tuple[Columns, Integers]:
        """The ids in a column, 0 or 1, and how many pairs have each."""
        counts = self.row_sizes(np.arange(self.n, dtype=np.int32), column)
        found = np.flatnonzero(counts)
        return self.nodes.ids[found], counts[found]

    def row_sizes(self, nodes: Columns, column: int = 0) -> Integers:
        """How many pairs have each node in a column; nodes that are not there yet have none."""
        result = np.zeros(len(nodes), np.int64)
        known = (nodes >= 0) & (nodes < self.n)
        rows = self.back if column else self.rows
        result[known] = rows.count(self.graph.component[nodes[known]])
        return result

    def all_row_sizes(self) -> Integers:
        """How many pairs have each node as source; computed once."""
        if self._sizes is None:
            self._sizes = self.rows.count()[self.graph.component]
        return self._sizes

    def distinct(self, column: int) -> Columns:
        """The different ids in a column: the domain or the range."""
        graph = self.graph
        degrees = (self.edges.into if column else self.edges.out).lengths()
        return self.nodes.ids[np.flatnonzero((degrees > 0) | graph.loops[graph.component])]

    def some(self) -> bool:
        return len(self.edges) > 0

    def spread(self, column: int) -> float:
        return float(len(self.distinct(column)))

    def sizes(self, ids: Columns, column: int) -> Integers:
        if (self.back if column else self.rows).counted or not are_few(ids):
            return self.row_sizes(self.nodes.find(ids), column)
        return super().sizes(ids, column)

    def touched(self, ids: Columns, column: int) -> Mask:
        return among(ids, self.distinct(column))

    def both_ways(self) -> Pairs:
        return BothWays(self)

    # ---- pairs

    def contains(self, pairs: Columns) -> Mask:
        """Which of the pairs (an array of two rows of ids) hold."""
        return self.holds(self.nodes.find(pairs[0]), self.nodes.find(pairs[1]))

    def holds(self, sources: Columns, targets: Columns) -> Mask:
        """Which pairs of nodes hold; -1 stands for an unknown node."""
        known = (sources >= 0) & (targets >= 0) & (sources < self.n) & (targets < self.n)
        result = np.zeros(len(sources), np.bool_)
        component = self.graph.component
        result[known] = self.rows.contains(component[sources[known]], component[targets[known]])
        return result

    def successors(self, source: int) -> Columns:
        """The ids that one id reaches."""
        return self._row(source, self.rows)

    def predecessors(self, target: int) -> Columns:
        """The ids that reach one id."""
        return self._row(target, self.back)

    def _row(self, value: int, rows: Rows) -> Columns:
        node = self.nodes.find(np.array([value]).astype(np.int32))
        if node[0] < 0 or node[0] >= self.n:
            return np.empty(0, np.int32)
        _, _, found, _ = next(rows.read(self.graph.component[node], 0))
        return self.nodes.ids[found]

    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        """All pairs, or those with sources, targets or both among the given ids, at most `limit` at a
        time.
        """
        if sources is None and targets is not None:
            for piece in self._expand(self.back, self._known(targets), limit):
                yield piece[::-1].copy()
            return
        wanted = None if targets is None else np.zeros(self.n, np.bool_)
        if wanted is not None and targets is not None:
            wanted[self._known(targets)] = True
        everything = sources is None
        nodes = np.arange(self.n, dtype=np.int32) if sources is None else self._known(sources)
        for piece in self._expand(self.rows, nodes, limit, everything):
            if wanted is not None:
                piece = piece[:, wanted[self.nodes.find(piece[1])]]
            if piece.shape[1]:
                yield piece

    def _known(self, ids: Columns) -> Columns:
        nodes = self.nodes.find(ids)
        return distinct(nodes[(nodes >= 0) & (nodes < self.n)])

    def _expand(self, rows: Rows, nodes: Columns, limit: int, everything: bool = False) -> Iterator[Columns]:
        lists = self.graph.members
        if everything:
            components = np.flatnonzero(lists.lengths()).astype(np.int32)
        else:
            starts, members, components = grouped(nodes, self.graph.component[nodes])
            lists = Lists.of(starts, members)
        done = 0
        if len(components) > SOME_ROWS or not (rows.counted or len(components) > FEW_ROWS):
            for piece, came in self._searched(rows, components, lists, limit):
                yield piece
                done = came
        if len(components) - done > FEW_ROWS:
            rows = rows.for_listing()
        components = components[done:]
        for first, end, found, ends in rows.read(components, limit):
            groups = (
                components[first:end] if everything else np.arange(done + first, done + end, dtype=np.int32)
            )
            yield from multiplied(lists, groups, found, ends, self.nodes.ids, limit)

    def _searched(
        self, rows: Rows, components: Columns, groups: Lists, limit: int
    ) -> Iterator[tuple[Columns, int]]:
        """Pairs found by searches from the first components, in pieces; with each, how many components are
        done.
        """
        graph = rows.graph
        keys = components if len(groups) == graph.size else np.arange(len(components), dtype=np.int32)
        sources = ListArrays(groups.first[keys], groups.last[keys], groups.pool.numbers)
        sons, members = rows.adjacency.arrays, graph.members.arrays
        listing = list_closure.Listing(components, sources, sons, graph.loops, members, self.nodes.ids)
        stamps, stack = np.full(graph.size, -1, np.int32), np.empty(graph.size + 1, np.int32)
        spent, at, calls, more = np.zeros(2, np.int64), 0, 0, True
        while more and at < len(components):
            calls += 1  # marks are other ones than those of a search that was broken off
            result = np.empty((2, min(limit, len(self.nodes.ids) ** 2)), np.int32)
            came, written = list_closure.list_pairs(listing, at, stamps, calls, stack, spent, result)
            more, at = came > at and list_closure.pays(came, spent[0], spent[1]), came
            if written:
                yield result[:, :written].copy(), at

    def rest(self) -> None:
        """Give up what only searches need."""
        self.rows.rest()
        self._back = self._sizes = None

    @property
    def bytes(self) -> int:
        """Bytes held, without the nodes."""
        held = self.edges.bytes + self.graph.bytes + self.levels.bytes + self.rows.bytes
        return held + (self._back.bytes if self._back else 0)


class BothWays(Pairs):
    """A state of a closure united with its inverse: descendants plus ancestors minus the component."""

    counts_itself = True

    def __init__(self, state: State) -> None:
        self.state = state

    def _shared(self) -> Integers:
        """For each component, its size if its members reach each other: pairs among them are the ones that
        both ways have.
        """
        graph = self.state.graph
        return np.where(graph.loops, graph.sizes, 0).astype(np.int64)

    def count(self) -> int:
        shared = self._shared()
        return 2 * self.state.count() - int((shared * shared).sum())

    def some(self) -> bool:
        return self.state.some()

    def spread(self, column: int) -> float:
        return float(len(self.distinct(column)))

    def sizes(self, ids: Columns, column: int) -> Integers:
        return super().sizes(ids, column) if are_few(ids) else self._row_sizes(ids)

    def touched(self, ids: Columns, column: int) -> Mask:
        return among(ids, self.distinct(column))

    def opened(self) -> list[Pairs]:
        return [self.state, self.state.turned()]

    def _row_sizes(self, ids: Columns) -> Integers:
        """How many pairs have each of the ids; in either column the same."""
        state = self.state
        nodes = state.nodes.find(ids)
        result = state.row_sizes(nodes, 0) + state.row_sizes(nodes, 1)
        known = (nodes >= 0) & (nodes < state.n)
        result[known] -= self._shared()[state.graph.component[nodes[known]]]
        return result

    def count_by(self, column: int) -> tuple[Columns, Integers]:
        ids = self.distinct(column)
        return ids, self._row_sizes(ids)

    def distinct(self, column: int) -> Columns:
        edges, graph = self.state.edges, self.state.graph
        degrees = edges.out.lengths() + edges.into.lengths()
        return self.state.nodes.ids[np.flatnonzero((degrees > 0) | graph.loops[graph.component])]

    def contains(self, pairs: Columns) -> Mask:
        found = self.state.contains(pairs)
        rest = np.flatnonzero(~found)
        found[rest] = self.state.contains(np.ascontiguousarray(pairs[::-1, rest]))
        return found

    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        yield from self.state.scan(sources, targets, limit)
        component, loops, find = self.state.graph.component, self.state.graph.loops, self.state.nodes.find
        for piece in self.state.scan(targets, sources, limit):
            ends = component[find(piece[0])]
            fresh = (ends != component[find(piece[1])]) | ~loops[ends]
            if fresh.any():
                yield np.ascontiguousarray(piece[::-1, fresh])


def grouped(nodes: Columns, keys: Integers | Columns) -> tuple[Columns, Columns, Columns]:
    """Nodes in groups of equal key: where each group starts, the nodes, the key of each group."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.empty(0, int)
    return np.append(first, len(keys)).astype(np.int32), nodes[order], keys[first]


def multiplied(
    members: Lists,
    groups: Columns,
    nodes: Columns,
    ends: Integers,
    ids: Columns,
    limit: int,
) -> Iterator[Columns]:
    """Pairs of ids, each member of a group with each node of its row, at most `limit` at a time."""
    cursor = np.zeros(3, np.int64)
    while cursor[0] < len(groups):
        piece = expand_rows.multiply(members.arrays, groups, nodes, ends, ids, cursor, limit)
        if piece.shape[1]:
            yield piece
