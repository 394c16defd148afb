"""Graphs, their components and their levels equal what plain Python finds, also in slices of any budget."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from modulog.kernels import graph_algorithms
from modulog.kernels.types import ListArrays

NODES = 7
Edges = set[tuple[int, int]]
EDGES = st.sets(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=20)


def made(edges: Edges) -> tuple[Any, Any]:
    """The graph as the kernel makes it."""
    words = np.array([(a << 32) | b for a, b in sorted(edges)], np.int64)
    return graph_algorithms.adjacency(words, NODES)


def lists(starts: Any, targets: Any) -> list[list[int]]:
    return [targets[a:b].tolist() for a, b in pairwise(starts)]


def closed(edges: Edges) -> Edges:
    """All pairs that a path of at least one edge connects."""
    found = set(edges)
    while more := {(a, d) for a, b in found for c, d in edges if b == c} - found:
        found |= more
    return found


def numbered(edges: Edges) -> Any:
    """A component for each node by the pairs that reach each other, numbered by their first nodes."""
    reach = closed(edges)
    firsts = [min(w for w in range(NODES) if w == v or {(v, w), (w, v)} <= reach) for v in range(NODES)]
    order = sorted(set(firsts))
    return np.array([order.index(first) for first in firsts], np.int32)


@given(EDGES)
def test_adjacency_and_transpose(edges: Edges) -> None:
    starts, targets = made(edges)
    assert lists(starts, targets) == [sorted(b for a, b in edges if a == v) for v in range(NODES)]
    back = graph_algorithms.transpose(starts[:-1], starts[1:], targets, len(targets))
    assert lists(*back) == [sorted(a for a, b in edges if b == v) for v in range(NODES)]


@given(st.lists(st.lists(st.integers(0, 2**31 - 2), max_size=8), max_size=4))
def test_numbers_of_nodes(batches: list[list[int]]) -> None:
    bits, count = 6, 0
    slots, ids = np.full(1 << bits, -1, np.int32), np.empty(32, np.int32)
    known: dict[int, int] = {}
    for batch in batches:
        values, result = np.array(batch, np.int32), np.empty(len(batch), np.int32)
        count = graph_algorithms.number_nodes(slots, bits, ids, count, values, result)
        assert result.tolist() == [known.setdefault(value, len(known)) for value in batch]
    assert ids[:count].tolist() == list(known)
    again = np.full(1 << bits, -1, np.int32)
    graph_algorithms.enter_nodes(again, bits, ids, 0, count)
    wanted = np.array([*known, 5, 6], np.int32)
    for table in (slots, again):
        found = graph_algorithms.find_nodes(table, bits, ids, wanted)
        assert found.tolist() == [known.get(value, -1) for value in wanted.tolist()]


@given(EDGES)
@example({(0, 1), (1, 0), (0, 2), (1, 2)})
def test_condensed(edges: Edges) -> None:
    starts, targets = made(edges)
    component = numbered(edges)
    count = int(component.max()) + 1
    member_starts, members = graph_algorithms.members_of(component, count)
    assert lists(member_starts, members) == [np.flatnonzero(component == c).tolist() for c in range(count)]
    above = {(int(component[a]), int(component[b])) for a, b in edges}
    sons = [sorted(d for c, d in above if c == e != d) for e in range(count)]
    reach = closed(edges)
    cyclic = [any((v, v) in reach for v in np.flatnonzero(component == c)) for c in range(count)]
    chosen = np.arange(count - 1, -1, -2, dtype=np.int32)
    seen = np.full(count, -1, np.int32)
    out = ListArrays(starts[:-1], starts[1:], targets)
    places = ListArrays(member_starts[:-1], member_starts[1:], members)
    some_starts, some, some_loops = graph_algorithms.condense_some(chosen, out, component, places, seen)
    assert [sorted(x) for x in lists(some_starts, some)] == [sons[c] for c in chosen]
    assert some_loops.tolist() == [cyclic[c] for c in chosen]


@given(EDGES, st.integers(0, NODES - 1), st.integers(1, 5))
def test_spread(edges: Edges, root: int, budget: int) -> None:
    starts, targets = made(edges)
    marked, stack = np.zeros(NODES, np.bool_), np.empty(NODES, np.int32)
    marked[root], stack[0], size = True, root, 1
    while size:
        size = graph_algorithms.spread(starts[:-1], starts[1:], targets, marked, stack, size, budget)
    assert set(np.flatnonzero(marked).tolist()) == {root} | {b for a, b in closed(edges) if a == root}


@given(EDGES, st.integers(1, 5), st.lists(st.integers(0, 1), min_size=NODES, max_size=NODES))
@example({(0, 1), (1, 2), (2, 0)}, 3, [0] * NODES)
def test_tarjan(edges: Edges, budget: int, groups: list[int]) -> None:
    starts, targets = made(edges)
    group = np.array(groups, np.int32)
    within = {(a, b) for a, b in edges if groups[a] == groups[b]}
    state, work = np.zeros(5, np.int64), np.zeros((5, NODES), np.int32)
    component, roots = np.full(NODES, -1, np.int32), np.arange(NODES, dtype=np.int32)
    graph = ListArrays(starts[:-1], starts[1:], targets)
    arguments = (graph, group, roots, state, work, component, budget)
    while not graph_algorithms.tarjan(*arguments):
        pass
    expected = numbered(within)
    assert state[graph_algorithms.FOUND] == expected.max() + 1
    for v in range(NODES):
        assert [component[v] == component[w] for w in range(NODES)] == (expected[v] == expected).tolist()
    assert all(component[b] <= component[a] for a, b in within)


@given(EDGES, st.integers(0, NODES - 1), st.integers(1, 5), st.sets(st.integers(0, 19), max_size=9))
@example({(0, 1), (1, 0)}, 0, 1, {0})
@example({(0, 1), (0, 2), (1, 3), (2, 3), (3, 0)}, 0, 1, {2})
def test_levels_and_orphans(edges: Edges, root: int, budget: int, chosen: set[int]) -> None:
    component = numbered(edges)
    starts, targets = made(edges)
    level, queue = np.full(NODES, -1, np.int32), np.empty(NODES, np.int32)
    level[root], queue[0], head, tail = 0, root, 0, 1
    while head < tail:
        graph = ListArrays(starts[:-1], starts[1:], targets)
        head, tail = graph_algorithms.set_levels(graph, component, level, queue, head, tail, budget)
    inside = {(a, b) for a, b in edges if component[a] == component[b] == component[root]}
    distance, front = {root: 0}, {root}
    while front := {b for a, b in inside if a in front} - distance.keys():
        distance |= dict.fromkeys(front, max(distance.values()) + 1)
    assert level.tolist() == [distance.get(v, -1) for v in range(NODES)]
    gone = {edge for place, edge in enumerate(sorted(edges)) if place in chosen}
    left = edges - gone
    fathers = graph_algorithms.transpose(*_ranges(*made(left)), len(left))
    lost = np.array(sorted(gone), np.int32).reshape(-1, 2).T
    doubtful = np.zeros(int(component.max()) + 1, np.bool_)
    graph_algorithms.orphans(*_ranges(*fathers), component, level, *np.ascontiguousarray(lost), doubtful)
    orphans = {
        b
        for a, b in gone & inside
        if level[b] == level[a] + 1 and not any(d == b and level[c] == level[a] for c, d in left & inside)
    }
    assert doubtful.tolist() == [bool(orphans) and c == component[root] for c in range(len(doubtful))]


def _ranges(starts: Any, targets: Any) -> tuple[Any, Any, Any]:
    return starts[:-1], starts[1:], targets


@given(EDGES)
def test_union_find(edges: Edges) -> None:
    parents = np.arange(NODES, dtype=np.int32)
    ends = np.ascontiguousarray(np.array(sorted(edges), np.int32).reshape(-1, 2).T)
    graph_algorithms.unite(parents, ends[0], ends[1])
    graph_algorithms.flatten(parents)
    both = closed(edges | {(b, a) for a, b in edges})
    assert parents.tolist() == [min([v, *(w for a, w in both if a == v)]) for v in range(NODES)]
