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


# ---- Components


ROOT, INDEX, PATH, STACK, FOUND = 0, 1, 2, 3, 4
"""The entries of Tarjan's state, in this order.

The next root, the last index given, the depth of the path, the height of the stack, the number of components
found.
"""


@kernel
def tarjan(
    graph: ListArrays,
    group: Columns,
    roots: Columns,
    state: Integers,
    work: Columns,
    component: Columns,
    budget: int,
) -> bool:
    """Find the components that the roots reach by edges within a group, as far as the budget goes.

    Tarjan's algorithm without recursion, O(nodes + edges). `state` and `work` keep everything between calls:
    the caller calls with a budget of nodes and edges until True is returned, when all is done. `work` has
    five rows with an entry for each node: index (0 if not visited, -1 if its component is known), low link,
    next edge, path, stack.

    Components are numbered from state[FOUND] on in the order in which they end, so that each comes after all
    that it leads to.
    """
    first, last, targets = graph
    index, low, edge, path, stack = work[0], work[1], work[2], work[3], work[4]
    at, counter, depth, height, found = state[0], state[1], state[2], state[3], state[4]
    while budget > 0:
        budget -= 1
        if depth == 0:
            while at < len(roots) and index[roots[at]] != 0:
                at += 1
            if at == len(roots):
                break
            v = roots[at]
            counter += 1
            index[v], low[v], edge[v] = counter, counter, first[v]
            path[0], stack[height] = v, v
            depth, height = 1, height + 1
        v = path[depth - 1]
        descended = False
        while edge[v] < last[v]:
            t = targets[edge[v]]
            edge[v] += 1
            budget -= 1
            if group[t] != group[v]:
                continue
            if index[t] == 0:
                counter += 1
                index[t], low[t], edge[t] = counter, counter, first[t]
                path[depth], stack[height] = t, t
                depth, height = depth + 1, height + 1
                descended = True
                break
            if index[t] > 0:
                low[v] = min(low[v], index[t])
        if descended:
            continue
        depth -= 1
        if depth > 0:
            p = path[depth - 1]
            low[p] = min(low[p], low[v])
        if low[v] == index[v]:
            while True:
                height -= 1
                t = stack[height]
                component[t] = found
                index[t] = -1
                if t == v:
                    break
            found += 1
    state[0], state[1], state[2], state[3], state[4] = at, counter, depth, height, found
    return bool(depth == 0 and at == len(roots))


@kernel
def set_levels(
    graph: ListArrays,
    component: Columns,
    level: Columns,
    queue: Columns,
    head: int,
    tail: int,
    budget: int,
) -> tuple[int, int]:
    """Write the distance from the root to the nodes of its component, breadth first.

    Nodes without a level have -1. `queue[head:tail]` are the nodes that are reached and not yet expanded, at
    first the root. Returns head and tail when the queue is empty or `budget` edges have been followed.
    O(edges of the component) in all.
    """
    first, last, targets = graph
    while head < tail and budget > 0:
        v = queue[head]
        head += 1
        budget -= 1 + last[v] - first[v]
        for e in range(first[v], last[v]):
            t = targets[e]
            if component[t] == component[v] and level[t] < 0:
                level[t] = level[v] + 1
                queue[tail] = t
                tail += 1
    return head, tail


@kernel
def orphans(
    first: Columns,
    last: Columns,
    targets: Columns,
    component: Columns,
    level: Columns,
    sources: Columns,
    sons: Columns,
    doubtful: Mask,
) -> None:
    """Mark the components in which a node has lost its last predecessor one level above.

    The deleted edges are (sources[i], sons[i]), and the lists are those of predecessors that remain. A
    component that is not marked is still connected from its root. O(predecessors of the sons).
    """
    for i in range(len(sources)):
        x, y = sources[i], sons[i]
        if component[x] != component[y] or level[x] < 0 or level[y] != level[x] + 1:
            continue
        found = False
        for e in range(first[y], last[y]):
            if component[targets[e]] == component[y] and level[targets[e]] == level[x]:
                found = True
                break
        if not found:
            doubtful[component[y]] = True


@kernel
def unite(parents: Columns, sources: Columns, targets: Columns) -> None:
    """Union-find: join the trees of the ends of each edge, with the smaller root on top.

    Paths are halved on the way, so this is almost linear in the edges; the trees are not balanced by size.
    """
    for i in range(len(sources)):
        a, b = sources[i], targets[i]
        while parents[a] != a:
            parents[a] = parents[parents[a]]
            a = parents[a]
        while parents[b] != b:
            parents[b] = parents[parents[b]]
            b = parents[b]
        if a < b:
            parents[b] = a
        elif b < a:
            parents[a] = b


@kernel
def flatten(parents: Columns) -> None:
    """Let each node of a union-find forest point at the root of its tree. O(nodes).

    A root is the smallest node of its tree, and parents are smaller than their nodes, so one ascending pass
    is enough.
    """
    for v in range(len(parents)):
        parents[v] = parents[parents[v]]
