"""Graphs as arrays: nodes for ids, successor lists, condensed graphs.

A graph of n nodes is *starts* (n + 1 entries) and *targets*: the successors of node v are
`targets[starts[v]:starts[v + 1]]`, in ascending order. Where lists are replaced one by one it is *first*,
*last* and *targets*, with the successors `targets[first[v]:last[v]]`. Edges are passed as sorted words,
source in the upper half.

Ids become nodes by a hash table with open addressing: `slots` has 2^bits places, with a node or -1 in each.
"""

from __future__ import annotations

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Columns, Integers, ListArrays, Mask

FIBONACCI = 2654435769
"""2^32 divided by the golden ratio: multiplying by it spreads ids that follow each other."""


@kernel
def slot_of(identity: int, bits: int) -> int:
    """The first place where the hash table may have an id."""
    return ((identity * FIBONACCI) & 0xFFFFFFFF) >> (32 - bits)


@kernel
def enter_nodes(slots: Columns, bits: int, ids: Columns, first: int, end: int) -> None:
    """Put the nodes from `first` to `end`, whose ids differ, into the hash table. O(1) each."""
    mask = len(slots) - 1
    for node in range(first, end):
        s = slot_of(int(ids[node]), bits)
        while slots[s] >= 0:
            s = (s + 1) & mask
        slots[s] = node


@kernel
def find_nodes(slots: Columns, bits: int, ids: Columns, values: Columns) -> Columns:
    """The node of each id, -1 where there is none. O(1) each."""
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
    """Write the node of each id to `result`, with new nodes from `count` on for ids that have none.

    Returns how many nodes there are then. O(1) for each id.
    """
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
    """Starts and targets of the graph with these sorted, distinct edges. O(nodes + edges)."""
    starts, targets = np.zeros(n + 1, np.int32), np.empty(len(words), np.int32)
    for i in range(len(words)):
        starts[(words[i] >> 32) + 1] += 1
        targets[i] = words[i] & 0xFFFFFFFF
    for v in range(n):
        starts[v + 1] += starts[v]
    return starts, targets


@kernel
def transpose(first: Columns, last: Columns, targets: Columns, count: int) -> tuple[Columns, Columns]:
    """Starts and targets of the graph with every edge reversed; `count` edges. O(nodes + edges)."""
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
    """The nodes of each component: component c has `members[starts[c]:starts[c + 1]]`. O(nodes)."""
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
def spread(
    first: Columns, last: Columns, targets: Columns, marked: Mask, stack: Columns, size: int, budget: int
) -> int:
    """Mark all nodes that the nodes on the stack reach, depth first; these are marked already.

    Returns the height of the stack when it is empty or `budget` edges have been followed. O(edges reached) in
    all.
    """
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
    chosen: Columns, edges: ListArrays, component: Columns, groups: ListArrays, seen: Columns
) -> tuple[Columns, Columns, Mask]:
    """The lists of chosen components by the edges of their nodes: starts, targets, and which have a cycle.

    `groups` has the nodes of each component, `seen` -1 for each component. O(edges of the chosen components).
    """
    first, last, targets = edges
    member_first, member_last, members = groups
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
