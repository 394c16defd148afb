"""Rows: what each component of a condensed graph reaches, shared by its members, computed when read and kept
where that pays.

A row is searched over the condensed graph, and the search ends at rows that are kept. Counting visits all
rows; on the way it keeps, as intervals, those that are compact or were long to search, within a budget that
follows nodes and edges; rows above a hub leave out what it reaches. Where intervals do not help (random
graphs) all rows are kept as bits, if these are few, or else weights are counted in blocks of 512 targets and
rows searched when read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from modulog.closures import giant_component as hubs
from modulog.closures.condensation import Condensation
from modulog.closures.edges import Edges
from modulog.closures.shared_lists import Lists, Pool
from modulog.kernels import bitrows, giant_component_rows, intervals
from modulog.kernels import reachable_rows as kernels
from modulog.kernels.types import Columns, Integers, Mask

BITS = 16 << 20
"""Bytes that the bits of all rows may take."""

LISTED_BITS = 1 << 28
"""Bytes that the bits of all rows may take while they are listed as a whole."""

STEPS = 1 << 24
"""Effort of one kernel call."""

SOURCES = 1 << 14
"""Rows that are read at a time."""

MANY_ASKED = 1 << 12
"""Pairs that are asked for together, so many that looking at all edges pays."""

PER_ELEMENT = 4
"""Intervals that may be kept for each component and each edge of a large graph; small ones, which are
searched fast anyway, keep fewer.
"""


MOST = 1 << 29
"""Intervals that are ever kept: where one lies has 31 bits, and as many may wait to be left behind."""


class Scratch:
    """Arrays that a search needs, one entry for each component; given up after it."""

    def __init__(self, size: int, nodes: int) -> None:
        self.stamps = np.zeros(size, np.int32)
        self.stack = np.empty(size + 1, np.int32)
        self.buffer = np.empty((3, nodes + 64), np.int64)
        self._mark = 0

    @property
    def arrays(self) -> kernels.Scratch:
        """What kernels take."""
        return kernels.Scratch(self.stamps, self.stack, self.buffer)

    def marks(self, count: int) -> int:
        """A mark such that it and the following ones have not been used."""
        if self._mark + count >= 2**31 - 1:
            self.stamps[:] = 0
            self._mark = 0
        self._mark += count
        return self._mark - count + 1


class Rows:
    """The rows of a condensed graph in one direction."""

    def __init__(self, graph: Condensation, adjacency: Lists) -> None:
        self.graph, self.adjacency = graph, adjacency
        self._hub = hubs.no_hub(graph.size)
        self._weights: Columns | None = None  # without what is left out, above a hub
        self._scheme: Literal["intervals", "bits", "blocks"] = "intervals"
        self._bits: bitrows.Bits | None = None
        self._arena = Pool.empty(0, np.int64)
        self._kept = 0  # intervals of rows that are kept
        self._row_at = np.full(graph.size, -1, np.int32)
        self._row_length = np.zeros(graph.size, np.int32)
        self._debts = np.zeros(graph.size, np.int32)
        self._scratch: Scratch | None = None
        self._entered: Mask | None = None  # the components that are somebody's sons
        self.changed: Mask | None = None
        """After `follow`: the components whose kept or searched rows differ from those before, whatever
        happened inside a hub; None if all may.
        """

    def __getstate__(self) -> dict[str, Any]:
        """A copy elsewhere searches with arrays of its own."""
        return {**self.__dict__, "_scratch": None}

    # ---- counting

    @property
    def counted(self) -> bool:
        """Whether rows were counted already."""
        return self._weights is not None

    def count(self, components: Columns | None = None) -> Integers:
        """How many nodes each component reaches, or some of them."""
        weights, hub = self._weigh(), self._hub
        if components is None:
            components = np.arange(self.graph.size, dtype=np.int32)
        left = self.graph.sizes[hub.left]
        return giant_component_rows.whole_weights(
            components, weights, hub.side, hub.weight, hub.reached, left
        )

    def for_listing(self) -> Rows:
        """The same rows, to be read once as a whole: as bits where these are few, which is faster than
        intervals.
        """
        if (
            self._bits is not None
            or self._bit_bytes() > LISTED_BITS
            or (self.counted and self._scheme != "blocks")
        ):
            self.count()
            return self
        result = Rows(self.graph, self.adjacency)
        result._give_up_intervals()
        result._scheme = "bits"
        result.count()
        return result

    def _weigh(self) -> Columns:
        if self._weights is None:
            graph = self.graph
            self._weights = np.zeros(graph.size, np.int32)
            order = self._order(np.ones(graph.size, np.bool_))
            if self._scheme == "intervals":
                self._hub = hubs.choose(graph, self.adjacency, self._fathers)
                before, due = np.full((2, graph.size), -1, np.int64), np.ones(graph.size, np.int8)
                if not self._count_intervals(order, due, before):
                    self._give_up_intervals()
                self.changed = None
            if self._scheme != "intervals":
                self._count_bits(order)
        return self._weights

    @property
    def _fathers(self) -> Lists:
        graph = self.graph
        return graph.up if self.adjacency is graph.down else graph.down

    def _order(self, wanted: Mask) -> Columns:
        if self.adjacency is self.graph.down:
            return self.graph.order_of(wanted)
        return self.graph.order_of(wanted)[::-1].copy()

    def _effort_allowed(self) -> int:
        size = self.graph.size
        work = size + self.adjacency.count
        return 8 * work * (8 if self._few_bits() else 8 + size // 512)

    def _few_bits(self) -> bool:
        return self._bit_bytes() <= BITS

    def _bit_bytes(self) -> int:
        return self.graph.size * ((self.graph.size + 63) // 64) * 8

    def _limit(self) -> int:
        elements = self.graph.size + self.adjacency.count
        return min(
            4096 * min(1, PER_ELEMENT) + int(elements * min(PER_ELEMENT, 0.75 + (elements >> 18))), MOST
        )

    def _count_intervals(self, order: Columns, due: giant_component_rows.Sides, before: Integers) -> bool:
        """Count the rows that are due or whose sons changed; False if that takes too long."""
        assert self._weights is not None
        graph, arena, scratch, hub = self.graph, self._arena, self._search_arrays(), self._hub
        changed = np.zeros(graph.size, np.bool_)
        state = np.array([0, arena.used, scratch.marks(2 * len(order) + 64), 0], np.int64)
        self._kept -= self._kept_of(order)
        limit, allowed = arena.used + self._limit() - self._kept, self._effort_allowed()
        if limit > len(arena.numbers):
            arena.make_room(max(limit, 3 * self._limit()))
        counting = kernels.Counting(
            order,
            due,
            changed,
            self._fathers.arrays,
            graph.members.arrays,
            self._weights,
            before,
            self._debts,
        )
        rows = self._arrays()
        while state[kernels.POSITION] < len(order):
            kernels.count_rows(
                counting, rows, hub.component, limit, scratch.arrays, state, min(STEPS, allowed + 64)
            )
            arena.used = int(state[kernels.USED])
            if state[kernels.SPENT] > allowed:
                return False
        self._kept += self._kept_of(order)
        self.changed = changed
        return True

    def _kept_of(self, components: Columns) -> int:
        """How many intervals are kept for some components."""
        return int(self._row_length[components[self._row_at[components] >= 0]].sum())

    def _compact(self) -> None:
        """Leave the intervals of rows that are no longer kept behind, once they are many or the arena is
        nearly full.
        """
        arena = self._arena
        room = arena.used + self._limit() - self._kept
        if arena.used > 2 * self._kept + 4096 and (
            2 * arena.used > 3 * self._limit() or room > len(arena.numbers)
        ):
            self._arena = Pool.empty(3 * self._limit(), np.int64)
            self._arena.used = intervals.moved_rows(
                self._row_at, self._row_length, arena.numbers, self._arena.numbers
            )

    def _give_up_intervals(self) -> None:
        self._arena, self._kept, self._hub = Pool.empty(0, np.int64), 0, hubs.no_hub(self.graph.size)
        self._row_at = np.full(self.graph.size, -1, np.int32)
        self._scheme = "bits" if self._few_bits() else "blocks"

    def _count_bits(self, order: Columns) -> None:
        assert self._weights is not None
        size = self.graph.size
        words = (size + 63) // 64
        self._weights[order] = 0
        if self._scheme == "bits":
            self._bits = np.zeros((size, words), np.uint64)
            self._fill_bits(self._bits, order)
            return
        bit_graph = self._bit_graph(words + bitrows.BLOCK)
        block = np.zeros((size, bitrows.BLOCK), np.uint64)
        step = max(64, STEPS // max(1, self.adjacency.count // max(1, size)))
        for least in range(0, size, 64 * bitrows.BLOCK):
            for at in range(0, len(order), step):
                end = min(len(order), at + step)
                bitrows.count_block(order, at, end, bit_graph, least, block, self._weights)

    def _fill_bits(self, bits: bitrows.Bits, order: Columns) -> None:
        assert self._weights is not None
        graph, words = self.graph, bits.shape[1]
        bit_graph = self._bit_graph(words)
        step = max(64, (STEPS << 2) // (words * (1 + self.adjacency.count // max(1, graph.size)) + 1))
        for at in range(0, len(order), step):
            bitrows.fill_rows(order, at, min(len(order), at + step), bit_graph, bits, self._weights)

    def _bit_graph(self, words: int) -> bitrows.BitGraph:
        """The condensed graph as kernels of bits take it; `words` is for components of one node."""
        graph = self.graph
        single = bitrows.single_bits(graph.members.first, graph.members.last, words)
        return bitrows.BitGraph(self.adjacency.arrays, graph.members.arrays, graph.loops, single)

    # ---- following a change

    def follow(self, graph: Condensation, due: Columns, edges: Edges) -> Rows:
        """The rows of the graph that this one became, counted; only rows that depend on what is due are
        looked at.
        """
        assert self._weights is not None
        new = Rows(graph, graph.down)
        new._scheme = self._scheme
        followed = hubs.follow(self._hub, self.graph, graph, edges)
        if self._scheme == "blocks" or followed is None:
            new.count()
            return new
        new._hub = followed.hub
        urgent = np.zeros(graph.size, np.int8)
        urgent[due] = 1
        urgent[followed.forced] = kernels.FORCED
        order = new._order(new._dependent(urgent > 0))
        size = self.graph.size
        new._weights = np.zeros(graph.size, np.int32)
        new._weights[:size] = self._weights
        if self._bits is not None:
            new._follow_bits(self._bits, order)
        else:
            new._follow_intervals(self, order, urgent)
            if new.changed is not None:
                new.changed[followed.touched] = True
        return new

    def _dependent(self, marked: Mask) -> Mask:
        """The marked components and all whose rows depend on theirs."""
        start = np.flatnonzero(marked)
        stack, size = np.empty(len(marked), np.int32), len(start)
        stack[:size] = start
        while size:
            size = giant_component_rows.spread_above(
                *self.graph.up.arrays, self._hub.side, marked, stack, size, STEPS
            )
        return marked

    def _follow_intervals(self, old: Rows, order: Columns, urgent: giant_component_rows.Sides) -> None:
        assert self._weights is not None
        graph, size = old.graph, old.graph.size
        self._arena, self._kept = old._arena, old._kept
        self._row_at[:size], self._row_length[:size], self._debts[:size] = (
            old._row_at,
            old._row_length,
            old._debts,
        )
        self._compact()
        before = np.full((2, self.graph.size), -1, np.int64)
        before[0, :size] = self._weights[:size]
        before[1, :size] = before[0, :size] + np.where(graph.loops, 0, graph.sizes)
        if not self._count_intervals(order, urgent, before):
            self._weights = None
            self._give_up_intervals()
            self.count()
        elif self.changed is not None:
            self.changed |= (
                urgent > 0
            )  # a component with other members may have the row that its number had before

    def _follow_bits(self, old: bitrows.Bits, order: Columns) -> None:
        if not self._few_bits():
            self._weights, self._scheme = None, "blocks"
            self.count()
            return
        self._bits = np.zeros((self.graph.size, (self.graph.size + 63) // 64), np.uint64)
        self._bits[: len(old), : old.shape[1]] = old
        self._fill_bits(self._bits, order)

    # ---- reading

    def _arrays(self) -> kernels.Rows:
        """What searches read."""
        graph, side = self.graph, self._hub.side
        sons, blocks, arena = self.adjacency.arrays, graph.blocks.arrays, self._arena.numbers
        return kernels.Rows(sons, graph.loops, blocks, side, self._row_at, self._row_length, arena)

    def _search_arrays(self) -> Scratch:
        if self._scratch is None:
            self._scratch = Scratch(self.graph.size, len(self.graph.nodes))
        return self._scratch

    def read(self, components: Columns, room: int) -> Iterator[tuple[int, int, Columns, Integers]]:
        """The rows of components first to end: (first, end, nodes, where each row ends), about `room` nodes
        at a time.
        """
        at = 0
        while at < len(components):
            part, out = components[at : at + SOURCES], np.empty(room, np.int32)
            ends = np.empty(len(part), np.int64)
            done, more = 0, 0
            while done < len(part):
                came, more = self._read(part, done, out, ends)
                if more and came == 0:
                    out = np.empty(more, np.int32)
                elif more:
                    done = came
                    break
                done = came
            yield at, at + done, out[: ends[done - 1]], ends[:done]
            at += done
        self._scratch = None

    def _read(self, part: Columns, at: int, out: Columns, ends: Integers) -> tuple[int, int]:
        graph = self.graph
        if self._bits is not None and self._weights is not None:
            return bitrows.read_bits(part, at, graph.members.arrays, self._bits, self._weights, out, ends)
        scratch, hub = self._search_arrays(), self._hub
        page, mark = kernels.Page(graph.nodes, out, ends), scratch.marks(len(part))
        return kernels.read_rows(part, at, self._arrays(), _left_out(hub), scratch.arrays, mark, page, STEPS)

    def contains(self, sources: Columns, sons: Columns) -> Mask:
        """Whether each component reaches the other beside it."""
        if self._bits is not None:
            return bitrows.in_bits(sources, sons, self._bits)
        side = self._hub.side
        result: Mask = (side[sources] == giant_component_rows.ABOVE) & (
            side[sons] == giant_component_rows.INSIDE
        )
        asked = np.flatnonzero(~result)
        if len(asked) > MANY_ASKED:
            asked = asked[self._possible(sources[asked], sons[asked])]
        asked = asked[np.argsort(sources[asked], kind="stable")]
        result[asked] = self._searched(sources[asked], sons[asked])
        return result

    def _possible(self, sources: Columns, sons: Columns) -> Mask:
        """Where a search has to tell: not from what has no sons, to what has no fathers, or to what comes
        later in the order.
        """
        if self._entered is None:
            self._entered = np.zeros(self.graph.size, np.bool_)
            self._entered[self.adjacency.gathered(np.arange(self.graph.size, dtype=np.int32))[1]] = True
        found: Mask = (self.adjacency.lengths()[sources] > 0) & self._entered[sons]
        if self.graph.ordered:
            found &= sources > sons if self.adjacency is self.graph.down else sources < sons
        found |= sources == sons
        return found

    def _searched(self, sources: Columns, sons: Columns) -> Mask:
        """The same for sources in order, by searches."""
        found = np.zeros(len(sources), np.bool_)
        questions, scratch, at = kernels.Questions(sources, sons, found), self._search_arrays(), 0
        rows, hub = self._arrays(), _left_out(self._hub)
        while at < len(sources):
            mark = scratch.marks(len(sources))
            at = kernels.in_rows(questions, at, rows, hub, scratch.arrays, mark, STEPS)
        self._scratch = None
        return found

    @property
    def inside(self) -> Mask:
        """Which nodes are inside the hub; none without one."""
        if self._hub.component < 0:
            return np.zeros(len(self.graph.component), np.bool_)
        found: Mask = (self._hub.side == giant_component_rows.INSIDE)[self.graph.component]
        return found

    def rest(self) -> None:
        """Give up what only searches need, and what follows from the rest at once."""
        self._scratch = self.changed = self._entered = None

    @property
    def bytes(self) -> int:
        """Bytes held, without the graph."""
        arrays: list[NDArray[Any]] = [
            self._row_at,
            self._row_length,
            self._debts,
            self._hub.side,
            self._hub.inside,
            self._hub.reached,
        ]
        arrays += [part for part in (self._bits, self._weights) if part is not None]
        if self._scratch is not None:
            arrays += [self._scratch.stamps, self._scratch.stack, self._scratch.buffer]
        return self._arena.bytes + sum(int(array.nbytes) for array in arrays)


def _left_out(hub: hubs.Hub) -> kernels.Hub:
    """What rows above a hub leave out, as kernels take it."""
    return kernels.Hub(hub.inside, hub.left, hub.reached)
