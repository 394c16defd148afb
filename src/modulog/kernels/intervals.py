"""Sets of positions as intervals: one word each, the first position in the upper half, the last in the
lower.
"""

from __future__ import annotations

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Columns, Integers


@kernel
def tidy(buffer: Integers, m: int) -> int:
    """Sort intervals and unite those that touch; returns how many are left.

    A Shell sort, whose steps shrink by 9/4 (Tokuda): it needs no room and few lines to compile; a million
    words take twice as long as by quicksort.
    """
    gap = 1
    while gap * 9 // 4 < m:
        gap = gap * 9 // 4 + 1
    while gap > 0:
        for i in range(gap, m):
            word, j = buffer[i], i
            while j >= gap and buffer[j - gap] > word:
                buffer[j] = buffer[j - gap]
                j -= gap
            buffer[j] = word
        gap = gap * 4 // 9
    o = 0
    for i in range(m):
        low, high = buffer[i] >> 32, buffer[i] & 0xFFFFFFFF
        if o > 0 and low <= (buffer[o - 1] & 0xFFFFFFFF) + 1:
            if high > buffer[o - 1] & 0xFFFFFFFF:
                buffer[o - 1] = (buffer[o - 1] >> 32 << 32) | high
        else:
            buffer[o] = buffer[i]
            o += 1
    return o


@kernel
def covers(row: Integers, n: int, place: int) -> bool:
    """Whether a position lies in one of n sorted intervals."""
    low, high, key = 0, n, (place << 32) | 0xFFFFFFFF
    while low < high:
        middle = (low + high) >> 1
        if row[middle] <= key:
            low = middle + 1
        else:
            high = middle
    return low > 0 and (row[low - 1] & 0xFFFFFFFF) >= place


@kernel
def unite(a: Integers, n: int, b: Integers, m: int, out: Integers) -> int:
    """Merge two sorted rows into one; returns its length."""
    i, j, o, end = 0, 0, 0, -2
    while i < n or j < m:
        if j == m or (i < n and a[i] <= b[j]):
            word = a[i]
            i += 1
        else:
            word = b[j]
            j += 1
        high = word & 0xFFFFFFFF
        if word >> 32 > end + 1:
            out[o] = word
            o += 1
            end = high
        elif high > end:
            out[o - 1] = (out[o - 1] >> 32 << 32) | high
            end = high
    return o


@kernel
def weight_of(buffer: Integers, m: int) -> int:
    """How many nodes m disjoint intervals have."""
    total = m
    for i in range(m):
        total += (buffer[i] & 0xFFFFFFFF) - (buffer[i] >> 32)
    return total


@kernel
def blocks_of(prefix: Columns, members: Columns, position: Columns) -> tuple[Columns, Integers]:
    """The intervals of positions that the members of each component have; a component without members gets
    one that is empty.
    """
    components = len(prefix) - 1
    starts = np.zeros(components + 1, np.int32)
    result = np.empty(len(members) + components, np.int64)
    o = 0
    for c in range(components):
        first, end = int(prefix[c]), int(prefix[c + 1])
        for i in range(first, end):
            place = int(position[members[i]])
            result[o + i - first] = (place << 32) | place
        if end == first:
            result[o] = 1 << 32
            o += 1
        elif end == first + 1:
            o += 1
        else:
            o += tidy(result[o:], end - first)
        starts[c + 1] = o
    return starts, result[:o].copy()


@kernel
def write_nodes(row: Integers, m: int, nodes: Columns, out: Columns, filled: int) -> int:
    """Append the nodes of m intervals; returns how many are written then."""
    for i in range(m):
        low, high = row[i] >> 32, (row[i] & 0xFFFFFFFF) + 1
        for j in range(low, high):
            out[filled + j - low] = nodes[j]
        filled += high - low
    return filled


@kernel
def moved_rows(row_at: Columns, row_length: Columns, arena: Integers, out: Integers) -> int:
    """Copy all kept rows, one after the other, and note where each is; returns how many intervals they
    have.
    """
    o = 0
    for c in range(len(row_at)):
        if row_at[c] >= 0:
            n = row_length[c]
            for i in range(n):
                out[o + i] = arena[row_at[c] + i]
            row_at[c] = o
            o += n
    return o
