"""What seeds lead to along a graph, and connected components: the graph operations of the local engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from modulog.kernels import components, graphs, reaching, sorting
from modulog.kernels.types import Columns, Integers
from modulog.storage.lists import among, distinct

PIECE = 1 << 20  # pairs of one piece
ROW_BYTES = 1 << 28  # of the bit rows that are held at once
CHUNK_BYTES = 1 << 23  # of the rows of sources that are compared at once: they stay in the cache
SHORT_TABLE = 1 << 22  # entries of a table that is always worth its memory
STEPS = 1 << 26  # of a kernel call, so that an interruption is noticed
WIDE = (
    1 << 33
)  # operations on words beyond which bit rows of a sparse graph give way to a search for each source

SAMPLE = 256  # sources from which a search tells how far the others go
STEP = 4  # words of bit rows that are united while a search goes over one edge
NOTHING = np.empty((2, 0), np.int32)


@dataclass(slots=True)
class Condensed:
    """A graph of components, sons numbered before fathers; members are positions in `ids`, the sorted ids of the nodes."""

    ids: Columns
    component: Columns
    starts: Columns
    targets: Columns
    member_starts: Columns
    members: Columns


def condensed(ids: Columns, edges: Columns) -> Condensed:
    """Condense a graph given by pairs of ids, all of them among the sorted ids."""
    n = len(ids)
    nodes = np.searchsorted(ids, edges).astype(np.int64)
    words = sorting.distinct(sorting.sort_words(((nodes[0] << 32) | nodes[1])[np.newaxis]))[0]
    starts, targets = graphs.adjacency(words, n)
    component, state = np.empty(n, np.int32), np.zeros(5, np.int64)
    work, roots, group = np.zeros((5, n), np.int32), np.arange(n, dtype=np.int32), np.zeros(n, np.int32)
    while not components.tarjan(
        starts[:-1], starts[1:], targets, group, roots, state, work, component, STEPS
    ):
        pass
    member_starts, members = graphs.members_of(component, int(state[components.FOUND]))
    sons, heads, _ = graphs.condense(starts, targets, component, member_starts, members)
    return Condensed(ids, component, sons, heads, member_starts, members)


class Reach:
    """What sources lead to: from a seed (s, y), along a path of any length, also none, to t."""

    def __init__(self, sources: Columns, seeds: Columns, edges: Columns) -> None:
        self.sources = sources
        self.graph = condensed(distinct(np.concatenate([seeds[1], edges[0], edges[1]])), edges)
        places = self.graph.component[np.searchsorted(self.graph.ids, seeds[1])]
        self.seed_starts, self.seeds = _grouped(sources, seeds, places)
        self.count = len(self.graph.starts) - 1
        self.width = (len(self.graph.ids) + 63) // 64
        # Rows of all components, shared by their fathers, unless they would be too wide for a sparse graph.
        large = self.count * self.width * 8 > ROW_BYTES
        self.sparse = large and self._is_sparse((len(self.graph.targets) + len(sources)) * self.width // STEP)
        self.searching = large and len(self.graph.targets) * self.width > WIDE

    def _is_sparse(self, limit: int) -> bool:
        """Whether searches from all sources go over no more edges than the limit, as a sample of them tells."""
        graph, result = self.graph, np.empty((2, len(self.graph.ids)), np.int32)
        seen, stack = np.full(self.count, -1, np.int32), np.empty(self.count, np.int32)
        step, walked = max(1, len(self.sources) // SAMPLE), 0
        for s in range(0, len(self.sources), step):
            *_, left = reaching.list_sources(
                *self._searchable, graph.ids, s, s + 1, seen, stack, result, STEPS
            )
            walked += STEPS - left
            if walked * step > limit:
                return False
        return True

    @property
    def _searchable(self) -> tuple[Columns, Columns, Columns, Columns, Columns, Columns, Columns]:
        graph = self.graph
        return (
            graph.starts,
            graph.targets,
            graph.member_starts,
            graph.members,
            self.seed_starts,
            self.seeds,
            self.sources,
        )

    def pairs(self, most: int = PIECE) -> Iterator[Columns]:
        """All pairs (s, t) in pieces of at most so many, each once."""
        block = max(1, min(self.width, ROW_BYTES // (8 * max(1, self.count))))
        if self.sparse:
            yield from (pairs for _, _, pairs in self._found())
            return
        if self.searching:
            yield from self._searched()
            return
        for first in range(0, self.width, block):
            rows = self._component_rows(min(block, self.width - first), first * 64)
            yield from self._listed(rows, self.seed_starts, self.seeds, self.sources, first * 64, most)

    def _found(self) -> Iterator[tuple[int, int, Columns]]:
        """The pairs of sources first to end, as searches find them."""
        graph, room = self.graph, max(PIECE, len(self.graph.ids))
        seen, stack = np.full(self.count, -1, np.int32), np.empty(self.count, np.int32)
        first, end = 0, len(self.sources)
        while first < end:
            result = np.empty((2, room), np.int32)
            came, written, _ = reaching.list_sources(
                *self._searchable, graph.ids, first, end, seen, stack, result, STEPS
            )
            yield first, came, result[:, :written].copy()
            first = came

    def _searched(self) -> Iterator[Columns]:
        for first, rows in self._source_rows():
            sources = self.sources[first : first + len(rows)]
            own = np.arange(len(rows) + 1, dtype=np.int32)
            yield from self._listed(rows, own, own[:-1], sources, 0)

    def _listed(
        self,
        rows: Integers,
        seed_starts: Columns,
        seeds: Columns,
        sources: Columns,
        column: int,
        most: int = PIECE,
    ) -> Iterator[Columns]:
        source = word = 0
        room = min(most, len(sources) * len(self.graph.ids) + 64)  # a word of 64 nodes is written at once
        row, result = np.empty(rows.shape[1], np.int64), np.empty((2, room), np.int32)
        while source < len(sources):
            source, word, written = reaching.list_rows(
                rows, seed_starts, seeds, sources, self.graph.ids, column, source, word, row, result
            )
            if written:
                yield result[:, :written].copy()

    def changes(self, known: Callable[[Columns], Iterator[Columns]]) -> Iterator[tuple[Columns, Columns]]:
        """The known pairs of the sources that are not there any more, and the pairs that are new, piece by piece."""
        if self.sparse:
            yield from self._compared(known)
            return
        own_place, node_place = Places(self.sources), Places(self.graph.ids)
        for first, rows in self._source_rows():
            sources = self.sources[first : first + len(rows)]
            for pairs in known(sources):
                lost = reaching.take_known(
                    rows, own_place.of(pairs[0]) - np.int32(first), node_place.of(pairs[1])
                )
                yield np.ascontiguousarray(pairs[:, lost]), NOTHING
            own = np.arange(len(rows) + 1, dtype=np.int32)
            for fresh in self._listed(rows, own, own[:-1], sources, 0):
                yield NOTHING, fresh

    def _compared(self, known: Callable[[Columns], Iterator[Columns]]) -> Iterator[tuple[Columns, Columns]]:
        """The same where rows are short: lists of pairs are compared."""
        for first, end, pairs in self._found():
            now = _words(pairs)
            before = _words(np.concatenate([NOTHING, *known(self.sources[first:end])], axis=1))
            yield _pairs(before[~among(before, now)]), _pairs(now[~among(now, before)])

    def _source_rows(self) -> Iterator[tuple[int, Integers]]:
        """A bit row for each source, some of them at a time."""
        graph, several = self.graph, max(1, CHUNK_BYTES // (8 * max(1, self.width)))
        wide = self.searching or self.count * self.width * 8 > ROW_BYTES
        whole = None if wide else self._component_rows(self.width, 0)
        seen, stack = np.full(self.count, -1, np.int32), np.empty(self.count, np.int32)
        for first in range(0, len(self.sources), several):
            rows = np.empty((min(several, len(self.sources) - first), self.width), np.int64)
            if whole is not None:
                reaching.unite_rows(whole, self.seed_starts, self.seeds, first, rows)
            else:
                reaching.fill_sources(
                    graph.starts,
                    graph.targets,
                    graph.member_starts,
                    graph.members,
                    self.seed_starts,
                    self.seeds,
                    first,
                    rows,
                    seen,
                    stack,
                )
            yield first, rows

    def _component_rows(self, words: int, column: int) -> Integers:
        """Bit rows of all components, a part of their columns."""
        graph = self.graph
        rows = np.zeros((self.count, words), np.int64)
        slice_ = max(1, STEPS // (max(1, words) * (1 + len(graph.targets) // max(1, self.count))))
        for first in range(0, self.count, slice_):
            end = min(self.count, first + slice_)
            reaching.fill_rows(
                graph.starts, graph.targets, graph.member_starts, graph.members, rows, first, end, column
            )
        return rows


class Places:
    """Where ids stand among sorted ids: by a table of all ids up to the greatest, unless that is far too long."""

    def __init__(self, ids: Columns) -> None:
        self.ids = ids
        self.table: Columns | None = None
        greatest = int(ids[-1]) if len(ids) else 0
        if greatest < max(SHORT_TABLE, 32 * len(ids)):
            self.table = np.full(greatest + 2, -1, np.int32)
            self.table[ids] = np.arange(len(ids), dtype=np.int32)

    def of(self, wanted: Columns) -> Columns:
        """The place of each wanted id; -1 where there is none."""
        if self.table is not None:
            return self.table[np.minimum(wanted, len(self.table) - 1)]
        where = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1).astype(np.int32)
        return np.where(self.ids[where] == wanted, where, np.int32(-1))


def _grouped(sources: Columns, seeds: Columns, values: Columns) -> tuple[Columns, Columns]:
    """The different values of each source's seeds."""
    words = (np.searchsorted(sources, seeds[0]).astype(np.int64) << 32) | values
    return graphs.adjacency(sorting.distinct(sorting.sort_words(words[np.newaxis]))[0], len(sources))


def _words(pairs: Columns) -> Integers:
    """Pairs as sorted words."""
    words: Integers = sorting.sort_words(((pairs[0].astype(np.int64) << 32) | pairs[1])[np.newaxis])[0]
    return words


def _pairs(words: Integers) -> Columns:
    return np.stack([words >> 32, words & 0xFFFFFFFF]).astype(np.int32)


def connected(edges: Columns) -> Columns:
    """Each node with the least node of its connected component."""
    ids = distinct(edges.ravel())
    parents = np.arange(len(ids), dtype=np.int32)
    nodes = np.searchsorted(ids, edges).astype(np.int32)
    components.unite(parents, np.ascontiguousarray(nodes[0]), np.ascontiguousarray(nodes[1]))
    components.flatten(parents)
    return np.ascontiguousarray(np.stack([ids, ids[parents]]))
