"""Strongly connected components, and numbers that show that a component is still connected.

A graph is lists: the successors of node v are `targets[first[v]:last[v]]`. Tarjan's algorithm finds the
components. Within a component each node has a *level*, its distance from the component's root; while every
node but the root has a predecessor one level above, the component is connected from its root, whatever edges
are deleted.

Also union-find for symmetric relations, whose components need no direction.
"""

from __future__ import annotations

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Columns, Integers, ListArrays, Mask

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
