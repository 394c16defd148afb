"""Rows: what a component of a condensed graph reaches, found by a search that ends at rows already kept.

Every node has a *position*, and rows are intervals of positions. Component c owns the intervals
blocks[block_first[c] : block_last[c]]; its sons are targets[first[c] : last[c]]. Its kept row is
arena[row_at[c] : row_at[c] + row_length[c]], sorted; row_at[c] is -1 where none is kept.

A hub and the *side* of each component are what `sides` says.
"""

from __future__ import annotations

from typing import NamedTuple

from modulog.kernels.compiled import kernel
from modulog.kernels.giant_component_rows import ABOVE, BESIDE, INSIDE, Bits, Sides, append_left, side_of
from modulog.kernels.intervals import covers, tidy, unite, weight_of, write_nodes
from modulog.kernels.types import Columns, Integers, ListArrays, Mask

EFFORT = 12
"""A row is kept if the search for it went over so many edges, and one more for each 16 intervals it has."""

EDGE = 8
"""An edge, which leads to another place in memory, costs as much as so many intervals, which lie side by
side.
"""

FORCED, BY_SON = 2, -1
"""Said of a component that is due: it has changed, whatever its weight; or a son of it has changed."""

POSITION, USED, MARK, SPENT = 0, 1, 2, 3
"""The entries of the state of a count: position in the order, intervals in the arena, the last mark, effort
spent.
"""


class Rows(NamedTuple):
    """A condensed graph, the side of each component, and where kept rows lie in the arena."""

    sons: ListArrays
    loops: Mask
    blocks: ListArrays
    side: Sides
    row_at: Columns
    row_length: Columns
    arena: Integers


class Scratch(NamedTuple):
    """What a search overwrites: the last mark of each component, a stack of them, three rows of intervals."""

    stamps: Columns
    stack: Columns
    buffer: Integers


class Counting(NamedTuple):
    """What a count reads and writes for each component of an order with sons before fathers.

    `counts` and `debts` are written; `before` has the weights that each had, alone and with itself.
    """

    order: Columns
    due: Sides
    changed: Mask
    fathers: ListArrays
    members: ListArrays
    counts: Columns
    before: Integers
    debts: Columns


class Hub(NamedTuple):
    """What rows above a hub leave out: the intervals inside, and what left the inside, with the bits that say
    who reaches it.
    """

    inside: Integers
    left: Columns
    reached: Bits


class Page(NamedTuple):
    """Rows that have been read: the node at each position; the nodes of the rows, and where each row ends."""

    nodes: Columns
    out: Columns
    ends: Integers


class Questions(NamedTuple):
    """Pairs of components, by source, and whether the first reaches the second."""

    sources: Columns
    sons: Columns
    result: Mask


@kernel
def search_row(s: int, rows: Rows, scratch: Scratch, mark: int) -> tuple[int, int, int]:
    """Write the row of component s into the first row of the buffer; returns its length, the edges walked,
    the intervals merged.

    The buffer has three rows, each with room for an interval a node. Rows are closed under reachability: what
    lies in a row already united need not be searched. Above the hub, rows of what is beside it hold something
    inside: they are searched anew.
    """
    first, last, targets = rows.sons
    block_first, block_last, blocks = rows.blocks
    loops, side, row_at, row_length, arena = rows.loops, rows.side, rows.row_at, rows.row_length, rows.arena
    stamps, stack, buffer = scratch
    if row_at[s] >= 0:
        length = int(row_length[s])
        for i in range(length):
            buffer[0, i] = arena[row_at[s] + i]
        return length, 0, length
    singles, united, spare = buffer[0], buffer[1], buffer[2]
    m, n, walked, merged, size = 0, 0, 0, 0, 1
    above = side[s] == ABOVE
    stack[0] = s
    if loops[s]:
        for i in range(block_first[s], block_last[s]):
            singles[m] = blocks[i]
            m += 1
    while size > 0:
        size -= 1
        v = stack[size]
        for e in range(first[v], last[v]):
            c = int(targets[e])
            walked += 1
            if stamps[c] == mark:
                continue
            stamps[c] = mark
            if above and side[c] >= INSIDE:
                continue
            if n > 0 and covers(united, n, blocks[block_first[c]] >> 32):
                continue
            for i in range(block_first[c], block_last[c]):
                singles[m] = blocks[i]
                m += 1
            if row_at[c] < 0 or (above and side[c] == BESIDE):
                stack[size] = c
                size += 1
                continue
            length = int(row_length[c])
            merged += length + n
            n = unite(united, n, arena[row_at[c] : row_at[c] + length], length, spare)
            united, spare = spare, united
    m = tidy(singles, m)
    if n == 0:
        return m, walked, merged
    n = unite(united, n, singles, m, spare)
    for i in range(n):
        singles[i] = spare[i]
    return n, walked, merged


@kernel
def follows(c: int, d: int, block_first: Columns, block_last: Columns, blocks: Integers) -> bool:
    """Whether the first block of c comes directly after the last of d."""
    return bool(blocks[block_first[c]] >> 32 == (blocks[block_last[d] - 1] & 0xFFFFFFFF) + 1)


@kernel
def count_rows(
    counting: Counting, rows: Rows, hub: int, limit: int, scratch: Scratch, state: Integers, budget: int
) -> None:
    """The weights of rows, for components in an order with sons before fathers, and the rows worth keeping.

    A component is looked at if it is due, as it is once a son has changed; it changed if that is forced, if
    it changed sides, or if its weight, or its weight with itself, is not that of before[0] and before[1]. A
    debt is how many edges a search from a component whose row is not kept goes over. At most `limit`
    intervals of the arena are used. Ends after `budget` effort.
    """
    order, due, changed, father_lists, member_lists, counts, before, debts = counting
    father_first, father_last, fathers = father_lists
    member_first, member_last, _ = member_lists
    first, last, targets = rows.sons
    block_first, block_last, blocks = rows.blocks
    loops, side, row_at, row_length, arena = rows.loops, rows.side, rows.row_at, rows.row_length, rows.arena
    buffer = scratch.buffer
    while state[POSITION] < len(order) and budget > 0:
        s = int(order[state[POSITION]])
        state[POSITION] += 1
        budget -= 1
        if due[s] == 0:
            continue
        start, end = int(first[s]), int(last[s])
        was = side[s]
        if was < INSIDE:
            side[s] = side_of(s, first, last, targets, side, hub)
        own = int(member_last[s] - member_first[s])
        kept, count, length, debt = False, 0, 0, 0
        searched = end - start > 1
        if end - start == 0 or (end - start == 1 and side[s] == ABOVE and side[targets[start]] >= INSIDE):
            count, length, debt = (own, 1, end - start) if loops[s] else (0, 0, end - start)
        elif end - start == 1:
            c = int(targets[start])
            length = int(row_length[c])
            if first[c] == last[c] or not follows(c, int(targets[first[c]]), block_first, block_last, blocks):
                length += 1
            debt = 1 if row_at[c] >= 0 else 1 + int(debts[c])
            searched = debt >= EFFORT + (length >> 4)
            count = counts[c] + (own if loops[s] else 0)
            if not loops[c]:
                count += int(member_last[c] - member_first[c])
        if searched:
            row_at[s] = -1
            state[MARK] += 1
            length, debt, merged = search_row(s, rows, scratch, state[MARK])
            count = weight_of(buffer[0], length)
            state[SPENT] += EDGE * debt + merged
            budget -= EDGE * debt + merged
            kept = (length <= 2 or debt >= EFFORT + (length >> 4)) and state[USED] + length <= limit
        row_at[s], row_length[s], debts[s] = -1, length, debt
        if kept:
            row_at[s] = state[USED]
            for i in range(length):
                arena[state[USED] + i] = buffer[0, i]
            state[USED] += length
        counts[s] = count
        changed[s] = due[s] == FORCED or was != side[s] or count != before[0, s]
        changed[s] |= count + (0 if loops[s] else own) != before[1, s]
        if changed[s]:
            for e in range(father_first[s], father_last[s]):
                f = fathers[e]
                if due[f] == 0 and not (side[f] == ABOVE and side[s] >= INSIDE):
                    due[f] = BY_SON
            budget -= father_last[s] - father_first[s]


@kernel
def read_rows(
    components: Columns, at: int, rows: Rows, hub: Hub, scratch: Scratch, mark: int, page: Page, budget: int
) -> tuple[int, int]:
    """Write the nodes in the rows of components[at], components[at + 1], …, and where each row ends; nodes[p]
    is the node at position p.

    `inside` are the intervals of what is inside.

    Ends when `out` is full or after `budget` effort; returns how far it came, and the room that the next row
    needs, or 0.
    """
    inside = hub.inside
    nodes, out, ends = page
    block_first, block_last, blocks = rows.blocks
    side, buffer = rows.side, scratch.buffer
    filled = ends[at - 1] if at > 0 else 0
    rest = weight_of(inside, len(inside))
    while at < len(components) and budget > 0:
        m, walked, merged = search_row(components[at], rows, scratch, mark + at)
        above = side[components[at]] == ABOVE
        if above:
            m = append_left(
                components[at], m, hub.left, hub.reached, block_first, block_last, blocks, buffer[0]
            )
        weight = weight_of(buffer[0], m) + (rest if above else 0)
        if filled + weight > len(out):
            return at, weight
        filled = write_nodes(buffer[0], m, nodes, out, filled)
        if above:
            filled = write_nodes(inside, len(inside), nodes, out, filled)
        ends[at] = filled
        budget -= EDGE * walked + merged + weight
        at += 1
    return at, 0


@kernel
def in_rows(
    questions: Questions, at: int, rows: Rows, hub: Hub, scratch: Scratch, mark: int, budget: int
) -> int:
    """Whether sons[i] is in the row of sources[i], which are sorted; returns how far it came within the
    budget.
    """
    sources, sons, result = questions
    block_first, block_last, blocks = rows.blocks
    side, buffer = rows.side, scratch.buffer
    m, row = 0, -1
    while at < len(sources) and (budget > 0 or sources[at] == row):
        s = int(sources[at])
        if s != row:
            m, walked, merged = search_row(s, rows, scratch, mark + at)
            if side[s] == ABOVE:
                m = append_left(s, m, hub.left, hub.reached, block_first, block_last, blocks, buffer[0])
            row = s
            budget -= EDGE * walked + merged
        inside = side[s] == ABOVE and side[sons[at]] == INSIDE
        result[at] = inside or covers(buffer[0], m, blocks[block_first[sons[at]]] >> 32)
        at += 1
    return at
