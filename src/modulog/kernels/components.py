"""Strongly connected components: Tarjan's algorithm in slices, and levels that show a component to be whole.

A graph is lists: the sons of node v are targets[first[v] : last[v]].
"""

from __future__ import annotations

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Columns, Integers, Mask

ROOT, INDEX, PATH, STACK, FOUND = 0, 1, 2, 3, 4
"""The entries of Tarjan's state: the next root, the last index given, how deep the path and the stack are, components found."""


@kernel
def tarjan(
    first: Columns,
    last: Columns,
    targets: Columns,
    group: Columns,
    roots: Columns,
    state: Integers,
    work: Columns,
    component: Columns,
    budget: int,
) -> bool:
    """Find components from the roots on, by edges inside a group; True when done, False after `budget` steps.

    Components are numbered from state[FOUND] on in the order in which they end: a post-order of a tree cover of the condensed
    graph, sons before fathers. `work` holds five rows: index (0: not seen), low link, next edge, path, stack.
    """
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
    first: Columns,
    last: Columns,
    targets: Columns,
    component: Columns,
    level: Columns,
    queue: Columns,
    head: int,
    tail: int,
    budget: int,
) -> tuple[int, int]:
    """Breadth first inside a component: write the distance from the root, which is the first in the queue.

    Nodes without a level have -1. Ends after `budget` edges or when head reaches tail, the number of nodes found.
    """
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
    """Mark the components in which a son lost the edge from its level above and found no other father there.

    The lists are those of fathers. While each member but the root has a father one level above, the root leads to all.
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
    """Union-find: join the trees of the ends of every edge, the smaller root above; paths are halved."""
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
    """Let every node of a union-find forest, whose roots are the smallest of their trees, point at its root."""
    for v in range(len(parents)):
        parents[v] = parents[parents[v]]
