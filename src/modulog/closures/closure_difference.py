"""What an update changed: two states, and the sources whose rows differ. Nothing is listed until it is
read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from modulog.closures.closure_state import State, grouped, multiplied
from modulog.closures.edges import Nodes, packed, unpacked
from modulog.closures.pair_sets import CHUNK, Pairs
from modulog.closures.reachable_sets import Rows
from modulog.closures.shared_lists import Lists, among, distinct
from modulog.kernels import expand_rows
from modulog.kernels.types import Columns, Integers, Mask

NONE = np.empty(0, np.int32)

READ = 256
"""Nodes that are read rather than counted otherwise, for each component and each edge."""

MANY_ASKED = 1 << 10
"""Pairs that are asked for together, so many that knowing the targets of a change pays."""

Direction = Literal["grown", "shrunk", "mixed"]
"""Whether the later state has all pairs of the earlier one, the other way round, or neither."""


class Change(Pairs):
    """The pairs of one state that another lacks: counted, asked and read like a state."""

    def __init__(
        self,
        has: State,
        lacks: State,
        sources: Columns | None,
        nested: bool,
        doubtful: Columns = NONE,
        shifted: Columns | None = NONE,
        local: tuple[Mask, Columns] | None = None,
    ) -> None:
        """`nested` says that each row of a source holds the row of the other state.

        Otherwise this is not known of the doubtful sources. The rows of the shifted sources differ only in
        what left the inside of the hub; if they are not given, they are the sources that are not in a local
        component: a mask of components, and the component of each node.
        """
        self._has, self._lacks, self._sources, self._nested = has, lacks, sources, nested
        self._doubtful, self._shifted, self._local = doubtful, shifted, local
        self._sizes: Integers | None = None
        self._ends: Mask | None = None

    @property
    def numbering(self) -> Nodes:
        """The nodes of all ids."""
        return self._has.nodes

    @property
    def nodes(self) -> Columns:
        """The nodes whose rows differ, sorted; all pairs have one of them as source."""
        if self._sources is None:
            self._sources = changed_nodes(self._lacks, self._has)
        return self._sources

    def _row_sizes(self) -> Integers:
        """For each source node, how many pairs it has here."""
        if self._sizes is None:
            self._sizes = self._has.row_sizes(self.nodes) - self._lacks.row_sizes(self.nodes)
            if len(self._doubtful):
                self._sizes[np.searchsorted(self.nodes, self._doubtful)] = self._sizes_by_reading()
            if not self._nested and len(self.shifted):
                self._sizes[np.searchsorted(self.nodes, self.shifted)] = len(self._left_inside())
        return self._sizes

    @property
    def shifted(self) -> Columns:
        """The sources whose rows differ only in what left the inside of the hub."""
        if self._shifted is None:
            self._shifted = NONE
            if self._local is not None:
                mask, component = self._local
                known = self.nodes[self.nodes < min(self._has.n, self._lacks.n)]
                self._shifted = known[~mask[component[known]]]
        return self._shifted

    def _left_inside(self) -> Columns:
        """The nodes inside the hub of one state that are not inside in the other."""
        left = self._has.rows.inside
        both = min(len(left), self._lacks.n)
        left[:both] &= ~self._lacks.rows.inside[:both]
        return np.flatnonzero(left).astype(np.int32)

    def _sizes_by_reading(self) -> Integers:
        """How many pairs each doubtful source has here."""
        result = np.zeros(len(self._doubtful), np.int64)
        starts, members, keys = self._groups(self._doubtful)
        place = np.searchsorted(self._doubtful, members)
        for first, end, _, ends in self._differences(self._has.rows, self._lacks.rows, keys, CHUNK):
            sizes = np.diff(ends, prepend=0)
            inside = slice(starts[first], starts[end])
            result[place[inside]] = np.repeat(sizes, np.diff(starts[first : end + 1]))
        return result

    def count(self) -> int:
        """How many pairs there are."""
        return int(self._row_sizes().sum())

    def some(self) -> bool:
        return bool(self._row_sizes().any())

    def spread(self, column: int) -> float:
        return super().spread(column) if column else float(len(self.nodes))

    def touched(self, ids: Columns, column: int) -> Mask:
        return among(ids, self.distinct(column))

    def count_by(self, column: int) -> tuple[Columns, Integers]:
        """The ids in a column, 0 or 1, and how many pairs have each."""
        if column == 0:
            sizes, nodes = self._row_sizes(), self.nodes
        else:
            nodes = np.arange(self._has.n, dtype=np.int32)
            sizes = self._target_sizes(nodes)
        found = np.flatnonzero(sizes)
        return self._has.nodes.ids[nodes[found]], sizes[found]

    def _target_sizes(self, nodes: Columns) -> Integers:
        """How many pairs each node has as target: read from the rows of sources that differ, unless counting
        everything twice is less.
        """
        result, sources = np.zeros(len(nodes), np.int64), self.nodes
        if len(self.shifted):
            sources = np.setdiff1d(sources, self.shifted, assume_unique=True)
            result[self._left_inside()] = len(self.shifted)
        graph = self._has.graph
        if self._nested and self._has.row_sizes(sources).sum() > READ * (graph.size + graph.down.count):
            return self._has.row_sizes(nodes, 1) - self._lacks.row_sizes(nodes, 1)
        starts, _, keys = self._groups(sources)
        for first, end, found, ends in self._differences(self._has.rows, self._lacks.rows, keys, CHUNK):
            weights = np.repeat(np.diff(starts[first : end + 1]), np.diff(ends, prepend=0))
            result += np.bincount(found, weights, len(nodes)).astype(np.int64)
        return result

    def distinct(self, column: int) -> Columns:
        """The different ids in a column."""
        if column == 0:
            return self.count_by(0)[0]
        ids: Columns = self._has.nodes.ids[np.flatnonzero(self._targets())]
        return ids

    def _targets(self) -> Mask:
        """Which nodes are targets here; read once, from the rows of the few nodes that have edges which the
        other state lacks.

        A path that only this state has begins with edges of both and comes to one that the other lacks: its
        source has lost the target too, or else the path could go on from there.
        """
        if self._ends is None:
            sources, graph = self._sources_of_edges(), self._has.graph
            if self._has.row_sizes(sources).sum() > READ * (graph.size + graph.down.count):
                self._ends = self._target_sizes(np.arange(self._has.n, dtype=np.int32)) > 0
            else:
                self._ends = np.zeros(self._has.n, np.bool_)
                keys = self._groups(sources)[2]
                for _, _, found, _ in self._differences(self._has.rows, self._lacks.rows, keys, CHUNK):
                    self._ends[found] = True
        return self._ends

    def _sources_of_edges(self) -> Columns:
        """The sources of all edges that the other state lacks, and the nodes that reach themselves
        only here.
        """
        has, lacks = self._has, self._lacks
        found = has.edges.out.differing(lacks.edges.out)
        if has.edges.into is has.edges.out:
            return found
        ends = has.edges.into.differing(lacks.edges.into)
        ends = ends[has.graph.loops[has.graph.component[ends]]]
        known = ends < lacks.n
        known[known] = lacks.graph.loops[lacks.graph.component[ends[known]]]
        return distinct(np.concatenate([found, ends[~known]]))

    def contains(self, pairs: Columns) -> Mask:
        """Which of the pairs (an array of two rows of ids) are here."""
        sources, targets = self._has.nodes.find(pairs[0]), self._has.nodes.find(pairs[1])
        result = np.zeros(len(sources), np.bool_)
        known = np.flatnonzero(
            (sources >= 0) & (sources < self._has.n) & (targets >= 0) & (targets < self._has.n)
        )
        changed = np.zeros(self._has.n, np.bool_)
        changed[self.nodes] = True
        chosen = known[changed[sources[known]]]
        if len(chosen) > MANY_ASKED:
            chosen = chosen[self._targets()[targets[chosen]]]
        sources, targets = sources[chosen], targets[chosen]
        result[chosen] = self._has.holds(sources, targets) & ~self._lacks.holds(sources, targets)
        return result

    def successors(self, source: int) -> Columns:
        """The ids beside one id in the first column."""
        return self._column(self.scan(sources=np.array([source]).astype(np.int32)), 1)

    def predecessors(self, target: int) -> Columns:
        """The ids beside one id in the second column."""
        return self._column(self.scan(targets=np.array([target]).astype(np.int32)), 0)

    @staticmethod
    def _column(pieces: Iterator[Columns], column: int) -> Columns:
        return np.concatenate([np.empty(0, np.int32), *(piece[column] for piece in pieces)])

    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        """All pairs, or those with sources, targets or both among the given ids, at most `limit` at a
        time.
        """
        has = self._has
        if sources is None and targets is not None:
            nodes = distinct(has.nodes.find(targets))
            for piece in self._expand(
                has.back, self._lacks.back, nodes[(nodes >= 0) & (nodes < has.n)], limit
            ):
                yield piece[::-1].copy()
            return
        nodes = self.nodes
        if sources is not None:
            asked = distinct(has.nodes.find(sources))
            nodes = asked[among(asked, nodes)]
        for piece in self._expand(has.rows, self._lacks.rows, nodes, limit):
            if targets is not None:
                piece = piece[:, among(piece[1], targets)]
            if piece.shape[1]:
                yield piece

    def _expand(self, has: Rows, lacks: Rows, nodes: Columns, limit: int) -> Iterator[Columns]:
        starts, members, keys = self._groups(nodes)
        lists = Lists.of(starts, members)
        for first, end, found, ends in self._differences(has, lacks, keys, limit):
            groups = np.arange(first, end, dtype=np.int32)
            yield from multiplied(lists, groups, found, ends, self._has.nodes.ids, limit)

    def _groups(self, nodes: Columns) -> tuple[Columns, Columns, Integers]:
        """Nodes that share their component in both states; a node that the other state does not know has
        component -1 there.
        """
        there = np.full(len(nodes), -1, np.int32)
        known = nodes < self._lacks.n
        there[known] = self._lacks.graph.component[nodes[known]]
        starts, members, keys = grouped(nodes, packed(self._has.graph.component[nodes], there + 1))
        return starts, members, keys.astype(np.int64)

    def _differences(
        self, has: Rows, lacks: Rows, keys: Integers, room: int
    ) -> Iterator[tuple[int, int, Columns, Integers]]:
        """The rows of pairs of components, without what the other state has: first, end, nodes, where each
        row ends.
        """
        here, there = unpacked(keys)
        stamps = np.empty(max(self._has.n, self._lacks.n), np.int32)
        for first, end, nodes, ends in has.read(here, room):
            other, other_ends = _rows_or_nothing(lacks, there[first:end] - 1)
            yield first, end, *expand_rows.subtract_rows(nodes, ends, other, other_ends, stamps)


def _rows_or_nothing(rows: Rows, components: Columns) -> tuple[Columns, Integers]:
    """The rows of components one after the other, an empty one for -1."""
    known = components >= 0
    parts, sizes = [np.empty(0, np.int32)], np.zeros(len(components), np.int64)
    found = []
    for _, _, nodes, ends in rows.read(components[known], CHUNK):
        parts.append(nodes)
        found.append(np.diff(ends, prepend=0))
    if found:
        sizes[known] = np.concatenate(found)
    return np.concatenate(parts), np.cumsum(sizes)


@dataclass(frozen=True, slots=True)
class Delta:
    """The net change between two states: `come` and `gone` share no pair."""

    before: State
    after: State
    come: Change
    gone: Change

    @staticmethod
    def between(before: State, after: State, direction: Direction, consecutive: bool = False) -> Delta:
        """The difference of two states; consecutive if one followed from the other directly."""
        if direction == "mixed":
            everything = np.arange(after.n, dtype=np.int32)
            return Delta.mixed(before, after, everything[: before.n], everything)
        small, large = (before, after) if direction == "grown" else (after, before)
        local = None
        if consecutive and after.rows.changed is not None:
            local = after.rows.changed, after.graph.component
        rest, nothing = Change(large, small, None, True, NONE, None, local), Change(small, large, NONE, True)
        if direction == "grown":
            return Delta(before, after, rest, nothing)
        return Delta(before, after, nothing, rest)

    @staticmethod
    def mixed(
        before: State, after: State, shrunk: Columns, grown: Columns, middle: State | None = None
    ) -> Delta:
        """The difference of two states, of which only the nodes `shrunk` may have lost and only `grown` may
        have gained pairs.

        If a state between them is given, all that was lost was lost before it, and all that was gained was
        gained after it.
        """
        both = np.intersect1d(shrunk, grown, assume_unique=True).astype(np.int32)
        shifted = NONE
        if middle is not None and middle.rows.changed is not None and after.rows.changed is not None:
            touched = after.rows.changed[after.graph.component[both]]
            touched |= middle.rows.changed[middle.graph.component[np.minimum(both, middle.n - 1)]]
            touched |= both >= middle.n
            both, shifted = both[touched], both[~touched]
        come = Change(after, before, grown, False, both, shifted)
        gone = Change(before, after, shrunk, False, both[both < before.n], shifted)
        return Delta(before, after, come, gone)

    @property
    def sources(self) -> Columns:
        """The nodes whose rows may differ, sorted."""
        return distinct(np.concatenate([self.come.nodes, self.gone.nodes]))


def changed_nodes(small: State, large: State) -> Columns:
    """The nodes whose rows differ, where all pairs of one state are in the other: those whose rows differ in
    size.
    """
    if small.graph.component is large.graph.component:
        differing = np.flatnonzero(large.rows.count() != small.rows.count()).astype(np.int32)
        return np.sort(large.graph.members.gathered(differing)[1])
    more, less = large.all_row_sizes(), small.all_row_sizes()
    both = min(len(more), len(less))
    changed = more != 0
    changed[:both] = more[:both] != less[:both]
    return np.flatnonzero(changed).astype(np.int32)
