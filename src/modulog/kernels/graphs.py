"""Graphs as arrays: nodes for ids, adjacency, what changes in it.

A graph of n nodes is *starts* (n + 1 entries) and *targets*: the sons of node v are targets[starts[v] : starts[v + 1]], in
ascending order. Edges travel as sorted words, source in the upper half.
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
def transpose(starts: Columns, targets: Columns, n: int) -> tuple[Columns, Columns]:
    """The graph of n nodes with every edge turned round."""
    result_starts, result = np.zeros(n + 1, np.int32), np.empty(len(targets), np.int32)
    for i in range(len(targets)):
        result_starts[targets[i] + 1] += 1
    for v in range(n):
        result_starts[v + 1] += result_starts[v]
    at = result_starts[:-1].copy()
    for v in range(len(starts) - 1):
        for e in range(starts[v], starts[v + 1]):
            t = targets[e]
            result[at[t]] = v
            at[t] += 1
    return result_starts, result


@kernel
def find_edges(starts: Columns, targets: Columns, words: Integers) -> Columns:
    """Where each edge is, or -1 - the place where it would be."""
    result = np.empty(len(words), np.int32)
    for i in range(len(words)):
        source, target = words[i] >> 32, words[i] & 0xFFFFFFFF
        if source >= len(starts) - 1:
            result[i] = -1 - len(targets)
            continue
        low, high = int(starts[source]), int(starts[source + 1])
        end = high
        while low < high:
            middle = (low + high) >> 1
            if targets[middle] < target:
                low = middle + 1
            else:
                high = middle
        result[i] = low if low < end and targets[low] == target else -1 - low
    return result


@kernel
def with_edges(
    starts: Columns, targets: Columns, n: int, words: Integers, places: Columns
) -> tuple[Columns, Columns]:
    """A graph of n nodes with more edges: sorted, absent, their places as `find_edges` gives them."""
    result_starts, result = np.empty(n + 1, np.int32), np.empty(len(targets) + len(words), np.int32)
    before = 0
    for i in range(len(words)):
        place = -1 - places[i]
        result[before + i : place + i] = targets[before:place]
        result[place + i] = words[i] & 0xFFFFFFFF
        before = place
    result[before + len(words) :] = targets[before:]
    i, old = 0, len(starts) - 1
    for v in range(n + 1):
        while i < len(words) and words[i] >> 32 < v:
            i += 1
        result_starts[v] = starts[min(v, old)] + i
    return result_starts, result


@kernel
def without_edges(
    starts: Columns, targets: Columns, words: Integers, places: Columns
) -> tuple[Columns, Columns]:
    """A graph without some of its edges: sorted, present, at the given places."""
    n = len(starts) - 1
    result_starts, result = np.empty(n + 1, np.int32), np.empty(len(targets) - len(words), np.int32)
    before = 0
    for i in range(len(words)):
        result[before - i : places[i] - i] = targets[before : places[i]]
        before = places[i] + 1
    result[before - len(words) :] = targets[before:]
    i = 0
    for v in range(n + 1):
        while i < len(words) and words[i] >> 32 < v:
            i += 1
        result_starts[v] = starts[v] - i
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
def spread(starts: Columns, targets: Columns, marked: Mask, stack: Columns, size: int, budget: int) -> int:
    """Mark what the nodes on the stack lead to; ends after `budget` edges or with an empty stack, whose size it returns."""
    while size > 0 and budget > 0:
        size -= 1
        v = stack[size]
        budget -= 1 + starts[v + 1] - starts[v]
        for e in range(starts[v], starts[v + 1]):
            t = targets[e]
            if not marked[t]:
                marked[t] = True
                stack[size] = t
                size += 1
    return size
