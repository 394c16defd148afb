"""Components and paths of dependency graphs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from modulog.language.dependency_graph import components, dependencies, shortest_path
from modulog.language.model import Predicate
from modulog.language.parser import parse_program

GRAPHS = st.dictionaries(st.integers(0, 7), st.lists(st.integers(0, 7), max_size=4), max_size=8)


def reachable(start: int, edges: dict[int, list[int]]) -> set[int]:
    seen, todo = {start}, [start]
    while todo:
        for node in edges.get(todo.pop(), []):
            if node not in seen:
                seen.add(node)
                todo.append(node)
    return seen


@given(GRAPHS)
def test_components(edges: dict[int, list[int]]) -> None:
    groups = components(range(8), edges)
    assert sorted(node for group in groups for node in group) == list(range(8))
    reach = {node: reachable(node, edges) for node in range(8)}
    place = {node: i for i, group in enumerate(groups) for node in group}
    for a in range(8):
        for b in range(8):
            assert (place[a] == place[b]) == (b in reach[a] and a in reach[b])
            assert b not in reach[a] or place[b] <= place[a]


def test_a_long_chain() -> None:
    edges = {i: [i + 1] for i in range(20_000)}
    assert components([0], edges)[0] == [20_000]


def test_dependencies() -> None:
    graph = dependencies(parse_program("a(?x), b(?x) :- c(?x), ~d(?x) . a(?x) :- c(?x), d(?x) .").rules)
    a, b, c, d = (Predicate(name, 1) for name in "abcd")
    assert graph == {a: {c: False, d: True}, b: {c: False, d: True}, c: {}, d: {}}


def test_shortest_path() -> None:
    edges = {1: [2, 3], 2: [4], 3: [5], 4: [5]}
    assert shortest_path(1, 5, edges, {1, 2, 3, 4, 5}) == [1, 3, 5]
    assert shortest_path(1, 5, edges, {1, 2, 4, 5}) == [1, 2, 4, 5]
    assert shortest_path(5, 1, edges, {1, 5}) == []
    assert shortest_path(1, 1, edges, {1}) == [1]
