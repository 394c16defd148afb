"""Graphs as arrays: nodes for ids, adjacency, condensed graphs.

A graph of n nodes is *starts* (n + 1 entries) and *targets*: the sons of node v are targets[starts[v] : starts[v + 1]], in
ascending order; where lists are replaced one by one it is *first*, *last* and *targets*, the sons targets[first[v] : last[v]]. Edges
travel as sorted words, source in the upper half.
"""

from __future__ import annotations

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Columns, Integers, Mask

FIBONACCI = 2654435769


@kernel
def slot_of(identity: int, bits: int) -> int:
    """The first place where the hash table may hold an id."""
    return ((identity * FIBONACCI) & 0xFFFFFFFF) >> (32 - bits)


@kernel
def enter_nodes(slots: Columns, bits: int, ids: Columns, first: int, end: int) -> None:
    """Put the nodes first to end, whose ids differ, into the hash table."""
    mask = len(slots) - 1
    for node in range(first, end):
        s = slot_of(int(ids[node]), bits)
        while slots[s] >= 0:
            s = (s + 1) & mask
        slots[s] = node


@kernel
def find_nodes(slots: Columns, bits: int, ids: Columns, values: Columns) -> Columns:
    """The node of each id; -1 where there is none."""
    mask = len(slots) - 1
    result = np.empty(len(values), np.int32)
    for i in range(len(values)):
        s = slot_of(int(values[i]), bits)
        while slots[s] >= 0 and ids[slots[s]] != values[i]:
            s = (s + 1) & mask
        result[i] = slots[s]
    return result


@kernel
def number_nodes(
    slots: Columns, bits: int, ids: Columns, count: int, values: Columns, result: Columns
) -> int:
    """Write the node of each id, making new ones from `count` on; returns how many nodes there are then."""
    mask = len(slots) - 1
    for i in range(len(values)):
        s = slot_of(int(values[i]), bits)
        while slots[s] >= 0 and ids[slots[s]] != values[i]:
            s = (s + 1) & mask
        if slots[s] < 0:
            slots[s] = count
            ids[count] = values[i]
            count += 1
        result[i] = slots[s]
    return count


@kernel
def adjacency(words: Integers, n: int) -> tuple[Columns, Columns]:
    """The graph of sorted, distinct edges."""
    starts, targets = np.zeros(n + 1, np.int32), np.empty(len(words), np.int32)
    for i in range(len(words)):
        starts[(words[i] >> 32) + 1] += 1
        targets[i] = words[i] & 0xFFFFFFFF
    for v in range(n):
        starts[v + 1] += starts[v]
    return starts, targets


@kernel
def transpose(first: Columns, last: Columns, targets: Columns, count: int) -> tuple[Columns, Columns]:
    """The graph with every edge, of which there are `count`, turned round."""
    n = len(first)
    result_starts, result = np.zeros(n + 1, np.int32), np.empty(count, np.int32)
    for v in range(n):
        for e in range(first[v], last[v]):
            result_starts[targets[e] + 1] += 1
    for v in range(n):
        result_starts[v + 1] += result_starts[v]
    at = result_starts[:-1].copy()
    for v in range(n):
        for e in range(first[v], last[v]):
            t = targets[e]
            result[at[t]] = v
            at[t] += 1
    return result_starts, result


@kernel
def members_of(component: Columns, components: int) -> tuple[Columns, Columns]:
    """The nodes of each component: component c has members[starts[c] : starts[c + 1]]."""
    starts, members = np.zeros(components + 1, np.int32), np.empty(len(component), np.int32)
    for v in range(len(component)):
        starts[component[v] + 1] += 1
    for c in range(components):
        starts[c + 1] += starts[c]
    at = starts[:-1].copy()
    for v in range(len(component)):
        c = component[v]
        members[at[c]] = v
        at[c] += 1
    return starts, members


@kernel
def condense(
    starts: Columns, targets: Columns, component: Columns, member_starts: Columns, members: Columns
) -> tuple[Columns, Columns, Mask]:
    """The condensed graph, each edge once and no loops; which components reach themselves."""
    components = len(member_starts) - 1
    result_starts, result = np.zeros(components + 1, np.int32), np.empty(len(targets), np.int32)
    loops, seen = np.zeros(components, np.bool_), np.full(components, -1, np.int32)
    o = 0
    for c in range(components):
        loops[c] = member_starts[c + 1] - member_starts[c] > 1
        for i in range(member_starts[c], member_starts[c + 1]):
            for e in range(starts[members[i]], starts[members[i] + 1]):
                d = component[targets[e]]
                if d == c:
                    loops[c] = True
                elif seen[d] != c:
                    seen[d] = c
                    result[o] = d
                    o += 1
        result_starts[c + 1] = o
    return result_starts, result[:o].copy(), loops


@kernel
def spread(
    first: Columns, last: Columns, targets: Columns, marked: Mask, stack: Columns, size: int, budget: int
) -> int:
    """Mark what the nodes on the stack lead to; ends after `budget` edges or with an empty stack, whose size it returns."""
    while size > 0 and budget > 0:
        size -= 1
        v = stack[size]
        budget -= 1 + last[v] - first[v]
        for e in range(first[v], last[v]):
            t = targets[e]
            if not marked[t]:
                marked[t] = True
                stack[size] = t
                size += 1
    return size


@kernel
def condense_some(
    chosen: Columns,
    first: Columns,
    last: Columns,
    targets: Columns,
    component: Columns,
    member_first: Columns,
    member_last: Columns,
    members: Columns,
    seen: Columns,
) -> tuple[Columns, Columns, Mask]:
    """The sons of the chosen components, one list after the other; where each starts; which reach themselves.

    `seen` has -1 for each component.
    """
    room = 0
    for k in range(len(chosen)):
        for i in range(member_first[chosen[k]], member_last[chosen[k]]):
            room += last[members[i]] - first[members[i]]
    starts, result = np.zeros(len(chosen) + 1, np.int32), np.empty(room, np.int32)
    loops = np.zeros(len(chosen), np.bool_)
    o = 0
    for k in range(len(chosen)):
        c = chosen[k]
        loops[k] = member_last[c] - member_first[c] > 1
        for i in range(member_first[c], member_last[c]):
            for e in range(first[members[i]], last[members[i]]):
                d = component[targets[e]]
                if d == c:
                    loops[k] = True
                elif seen[d] != k:
                    seen[d] = k
                    result[o] = d
                    o += 1
        starts[k + 1] = o
    return starts, result[:o].copy(), loops
