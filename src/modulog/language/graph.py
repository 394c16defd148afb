"""Which predicate depends on which, and the strongly connected components of such a graph."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

from modulog.language.model import Predicate, Rule

Node = TypeVar("Node", bound=Hashable)


def dependencies(rules: Iterable[Rule]) -> dict[Predicate, dict[Predicate, bool]]:
    """For each predicate of the rules, those it depends on; True where some rule negates them.

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

    An edge leads from a node to one it depends on. Tarjan's algorithm with a stack of its own: a chain of any
    length needs no recursion.

    >>> components("abc", {"a": "b", "b": "ac"})
    [['c'], ['b', 'a']]
    """
    order: dict[Node, int] = {}
    low: dict[Node, int] = {}
    path: list[Node] = []
    open_: set[Node] = set()
    found: list[list[Node]] = []
    for root in nodes:
        if root in order:
            continue
        work: list[tuple[Node, Iterator[Node]]] = []
        following: Node | None = root
        while True:
            if following is not None:
                order[following] = low[following] = len(order)
                path.append(following)
                open_.add(following)
                work.append((following, iter(edges.get(following, ()))))
            node, rest = work[-1]
            following = None
            for neighbour in rest:
                if neighbour not in order:
                    following = neighbour
                    break
                if neighbour in open_:
                    low[node] = min(low[node], order[neighbour])
            if following is not None:
                continue
            work.pop()
            if low[node] == order[node]:
                found.append(_pop(path, open_, node))
            if not work:
                break
            low[work[-1][0]] = min(low[work[-1][0]], low[node])
    return found


def shortest_path(
    start: Node, goal: Node, edges: Mapping[Node, Iterable[Node]], within: set[Node]
) -> list[Node]:
    """The nodes of a shortest way between two nodes inside a set, both ends included; empty if there is none.

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


def _pop(path: list[Node], open_: set[Node], root: Node) -> list[Node]:
    """Take a finished component off the path."""
    component: list[Node] = []
    while True:
        node = path.pop()
        open_.discard(node)
        component.append(node)
        if node == root:
            return component
