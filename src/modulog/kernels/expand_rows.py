"""Rows of nodes, one after the other: differences of rows, and the pairs that rows stand for.

Row r is `nodes[ends[r - 1]:ends[r]]`; the first one starts at 0.
"""

from __future__ import annotations

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Columns, Integers, ListArrays


@kernel
def subtract_rows(
    nodes: Columns, ends: Integers, other: Columns, other_ends: Integers, stamps: Columns
) -> tuple[Columns, Integers]:
    """Each row without the nodes of the row with the same number in `other`; returns nodes and ends.

    `stamps` has an entry for each node, which is overwritten. O(nodes of both + entries of stamps).
    """
    result, result_ends = np.empty(len(nodes), np.int32), np.empty(len(ends), np.int64)
    stamps[:] = -1
    start, other_start, o = 0, 0, 0
    for r in range(len(ends)):
        for i in range(other_start, other_ends[r]):
            stamps[other[i]] = r
        for i in range(start, ends[r]):
            if stamps[nodes[i]] != r:
                result[o] = nodes[i]
                o += 1
        start, other_start = ends[r], other_ends[r]
        result_ends[r] = o
    return result[:o].copy(), result_ends


@kernel
def multiply(
    lists: ListArrays,
    groups: Columns,
    nodes: Columns,
    ends: Integers,
    ids: Columns,
    cursor: Integers,
    limit: int,
) -> Columns:
    """Up to `limit` pairs of ids: each member of group `groups[r]` with each node of row r.

    Group g has the nodes of list g, and `ids` has the id of each node. `cursor` says where
    to start (row, member of the group, place in the row) and is moved to where the next call goes on. O(pairs
    + rows passed).
    """
    first, last, members = lists
    total = 0
    for r in range(cursor[0], len(groups)):
        g = groups[r]
        total += int(last[g] - first[g]) * (ends[r] - (ends[r - 1] if r > 0 else 0))
        if total > limit + len(nodes):
            break
    result = np.empty((2, min(total, limit)), np.int32)
    sources, targets = result[0], result[1]
    o = 0
    r, m, p = cursor[0], cursor[1], cursor[2]
    while r < len(groups) and o < limit:
        start = ends[r - 1] if r > 0 else 0
        if first[groups[r]] + m >= last[groups[r]] or start == ends[r]:
            r, m, p = r + 1, 0, 0
            continue
        source = ids[members[first[groups[r]] + m]]
        end = min(ends[r], start + p + limit - o)
        for i in range(start + p, end):
            sources[o] = source
            targets[o] = ids[nodes[i]]
            o += 1
        if end == ends[r]:
            m, p = m + 1, 0
        else:
            p = end - start
    cursor[0], cursor[1], cursor[2] = r, m, p
    return result[:, :o].copy()
