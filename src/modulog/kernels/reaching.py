"""What nodes lead to, listed: bit rows of a condensed graph, and a search for each source where bit rows would be too wide or nearly empty."""

from __future__ import annotations

import numpy as np

from modulog.kernels.compiled import inlined, kernel
from modulog.kernels.types import Columns, Integers


@inlined
def _unite(row: Integers, other: Integers) -> None:
    """Add the bits of another row (`|=` for whole rows takes Numba two seconds to compile)."""
    for w in range(len(row)):
        row[w] |= other[w]


@kernel
def fill_rows(
    starts: Columns,
    targets: Columns,
    member_starts: Columns,
    members: Columns,
    rows: Integers,
    first: int,
    end: int,
    column: int,
) -> None:
    """Rows of the components first to end, whose sons have theirs: a bit for each member and each node they lead to.

    Bit b of a row is node column + b; nodes outside the row's width are left out.
    """
    width = rows.shape[1] * 64
    for c in range(first, end):
        for i in range(member_starts[c], member_starts[c + 1]):
            b = members[i] - column
            if 0 <= b < width:
                rows[c, b >> 6] |= np.int64(1) << (b & 63)
        for e in range(starts[c], starts[c + 1]):
            _unite(rows[c], rows[targets[e]])


@kernel
def list_rows(
    rows: Integers,
    seed_starts: Columns,
    seeds: Columns,
    sources: Columns,
    ids: Columns,
    column: int,
    first: int,
    word: int,
    row: Integers,
    result: Columns,
) -> tuple[int, int, int]:
    """Pairs of a source's id and the id of each node that its seeds lead to, in ascending order.

    Starts at source `first`, word `word` of its row, and ends when the result is full or the sources are; returns where it stopped, and
    how many pairs there are.
    """
    written, capacity = 0, result.shape[1]
    s, w = first, word
    while s < len(sources):
        if w == 0:
            row[:] = 0
            for i in range(seed_starts[s], seed_starts[s + 1]):
                _unite(row, rows[seeds[i]])
        while w < len(row):
            bits = row[w]
            if bits != 0:
                if written + 64 > capacity:
                    return s, w, written
                node = column + w * 64
                b = 0
                while bits != 0:
                    while bits & 0xFF == 0:
                        bits = (bits >> 8) & 0xFFFFFFFFFFFFFF
                        b += 8
                    if bits & 1:
                        result[0, written] = sources[s]
                        result[1, written] = ids[node + b]
                        written += 1
                    bits = (bits >> 1) & 0x7FFFFFFFFFFFFFFF
                    b += 1
            w += 1
        s, w = s + 1, 0
    return s, 0, written


@kernel
def fill_sources(
    starts: Columns,
    targets: Columns,
    member_starts: Columns,
    members: Columns,
    seed_starts: Columns,
    seeds: Columns,
    first: int,
    rows: Integers,
    seen: Columns,
    stack: Columns,
) -> None:
    """A row for each source from `first` on: a bit for every node that the components of its seeds lead to, by a search."""
    rows[:] = 0
    for k in range(rows.shape[0]):
        s, size = first + k, 0
        for i in range(seed_starts[s], seed_starts[s + 1]):
            if seen[seeds[i]] != s:
                seen[seeds[i]] = s
                stack[size] = seeds[i]
                size += 1
        while size > 0:
            size -= 1
            c = stack[size]
            for i in range(member_starts[c], member_starts[c + 1]):
                rows[k, members[i] >> 6] |= np.int64(1) << (members[i] & 63)
            for e in range(starts[c], starts[c + 1]):
                d = targets[e]
                if seen[d] != s:
                    seen[d] = s
                    stack[size] = d
                    size += 1


@kernel
def list_sources(
    starts: Columns,
    targets: Columns,
    member_starts: Columns,
    members: Columns,
    seed_starts: Columns,
    seeds: Columns,
    sources: Columns,
    ids: Columns,
    first: int,
    end: int,
    seen: Columns,
    stack: Columns,
    result: Columns,
    budget: int,
) -> tuple[int, int, int]:
    """Pairs of a source's id and the id of every node that its seeds lead to, for sources first to end, by a search for each.

    Ends early when the next row does not fit into the result, which has room for any one row, or after `budget` edges; returns where it stopped, how many pairs there are,
    and the edges left of the budget.
    """
    written, s = 0, first
    while s < end and budget > 0:
        began, size = written, 0
        for i in range(seed_starts[s], seed_starts[s + 1]):
            if seen[seeds[i]] != s:
                seen[seeds[i]] = s
                stack[size] = seeds[i]
                size += 1
        while size > 0:
            size -= 1
            c = stack[size]
            if written + member_starts[c + 1] - member_starts[c] > result.shape[1]:
                # The marks of this source say what was seen: it must begin again under another one.
                seen[:] = -1
                return s, began, budget
            for i in range(member_starts[c], member_starts[c + 1]):
                result[0, written] = sources[s]
                result[1, written] = ids[members[i]]
                written += 1
            budget -= 1 + starts[c + 1] - starts[c]
            for e in range(starts[c], starts[c + 1]):
                d = targets[e]
                if seen[d] != s:
                    seen[d] = s
                    stack[size] = d
                    size += 1
        s += 1
    return s, written, budget


@kernel
def unite_rows(
    component_rows: Integers, seed_starts: Columns, seeds: Columns, first: int, rows: Integers
) -> None:
    """As `fill_sources`, from the rows of components."""
    rows[:] = 0
    for k in range(rows.shape[0]):
        for i in range(seed_starts[first + k], seed_starts[first + k + 1]):
            _unite(rows[k], component_rows[seeds[i]])


@kernel
def take_known(rows: Integers, sources: Columns, nodes: Columns) -> np.ndarray:
    """Clear the bit of each known pair; a mask of the pairs that had none. A node of -1 has no bit."""
    lost = np.zeros(len(sources), np.bool_)
    for i in range(len(sources)):
        v = nodes[i]
        if v < 0:
            lost[i] = True
            continue
        bit = np.int64(1) << (v & 63)
        if rows[sources[i], v >> 6] & bit:
            rows[sources[i], v >> 6] &= ~bit
        else:
            lost[i] = True
    return lost
