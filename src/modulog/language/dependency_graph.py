"""The dependency graph of predicates, and graph algorithms: strongly connected components, shortest paths."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

from modulog.language.model import Predicate, Rule

Node = TypeVar("Node", bound=Hashable)


def dependencies(rules: Iterable[Rule]) -> dict[Predicate, dict[Predicate, bool]]:
    """For each predicate of the rules, those that its rules read; True for those that some rule negates.

    >>> from modulog.language.parser import parse_program
    >>> rules = parse_program("p(?x) :- q(?x), ~r(?x) .").rules
    >>> {str(q): negated for q, negated in dependencies(rules)[rules[0].heads[0].predicate].items()}
    {'q/1': False, 'r/1': True}
    """
    graph: dict[Predicate, dict[Predicate, bool]] = {}
    for rule in rules:
        reads = [(atom.predicate, False) for atom in rule.atoms]
        reads += [(atom.predicate, True) for atom in rule.negations]
        for head in rule.heads:
            needs = graph.setdefault(head.predicate, {})
            for predicate, negated in reads:
                needs[predicate] = needs.get(predicate, False) or negated
        for predicate, _ in reads:
            graph.setdefault(predicate, {})
    return graph


def components(nodes: Iterable[Node], edges: Mapping[Node, Iterable[Node]]) -> list[list[Node]]:
    """The strongly connected components, each before those that depend on it.

    An edge leads from a node to one that it depends on. This is Tarjan's algorithm with an explicit stack, so
    that a long chain of predicates does not exceed Python's recursion limit.

    >>> components("abc", {"a": "b", "b": "ac"})
    [['c'], ['b', 'a']]
    """
    order: dict[Node, int] = {}
    low: dict[Node, int] = {}
    path: list[Node] = []
    on_path: set[Node] = set()
    found: list[list[Node]] = []
    for root in nodes:
        if root in order:
            continue
        stack: list[tuple[Node, Iterator[Node]]] = []
        following: Node | None = root
        while True:
            if following is not None:
                order[following] = low[following] = len(order)
                path.append(following)
                on_path.add(following)
                stack.append((following, iter(edges.get(following, ()))))
            node, neighbours = stack[-1]
            following = None
            for neighbour in neighbours:
                if neighbour not in order:
                    following = neighbour
                    break
                if neighbour in on_path:
                    low[node] = min(low[node], order[neighbour])
            if following is not None:
                continue
            stack.pop()
            if low[node] == order[node]:
                found.append(_pop(path, on_path, node))
            if not stack:
                break
            low[stack[-1][0]] = min(low[stack[-1][0]], low[node])
    return found


def shortest_path(
    start: Node, goal: Node, edges: Mapping[Node, Iterable[Node]], within: set[Node]
) -> list[Node]:
    """The nodes of a shortest path inside the set `within`, both ends included; empty if there is none.

    >>> shortest_path("a", "c", {"a": "bd", "b": "c", "d": "b"}, set("abcd"))
    ['a', 'b', 'c']
    """
    before: dict[Node, Node] = {start: start}
    frontier = [start]
    while frontier and goal not in before:
        reached: list[Node] = []
        for node in frontier:
            for neighbour in edges.get(node, ()):
                if neighbour in within and neighbour not in before:
                    before[neighbour] = node
                    reached.append(neighbour)
        frontier = reached
    if goal not in before:
        return []
    path = [goal]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path[::-1]


def _pop(path: list[Node], on_path: set[Node], root: Node) -> list[Node]:
    """Remove the component of `root`, which is complete, from the end of the path, and return it."""
    component: list[Node] = []
    while True:
        node = path.pop()
        on_path.discard(node)
        component.append(node)
        if node == root:
            return component
