"""Decompositions of random bodies: the four conditions, completeness, least width, least cost, and the right answers."""

from __future__ import annotations

from itertools import combinations
from math import inf
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from modulog.engines.relation import Estimate
from modulog.joins import decompose as d
from modulog.joins.decomposition import Decomposition
from modulog.joins.hypergraph import Hypergraph, NodeSizes, as_set, members
from modulog.language.model import Variable
from modulog.planning.plan import Clause
from support.bodies import SHAPES, clauses, estimators, generalised_width, names, random_edges, violated
from support.oracle import solve, step

BODIES = st.one_of(clauses(SHAPES), clauses(random_edges(12, 9)))
SMALL = st.one_of(clauses(SHAPES.filter(lambda e: len(e) <= 6)), clauses(random_edges(6, 6)))


def decomposed(clause: Clause, estimate: Any) -> Decomposition:
    tree, reason = d.decompose(clause, estimate)
    assert tree is not None, reason
    return tree


def several(clause: Clause) -> bool:
    return len(clause.atoms) > 1


@given(BODIES.filter(several), estimators())
def test_the_four_conditions_and_completeness(clause: Clause, estimate: Any) -> None:
    assert not violated(decomposed(clause, estimate))


LONG = clauses(random_edges(30, 20, 20)).filter(lambda clause: len(clause.atoms) > d.EXACT_LIMIT)


@given(LONG, estimators())
def test_the_heuristic_keeps_the_conditions(clause: Clause, estimate: Any) -> None:
    assert not violated(decomposed(clause, estimate))


@given(SMALL.filter(several), estimators())
def test_least_width_or_one_above(clause: Clause, estimate: Any) -> None:
    """A generalised decomposition may be narrower than any that keeps the fourth condition, but not in bodies so small."""
    tree, least = decomposed(clause, estimate), generalised_width(clause)
    assert least <= tree.width <= least + (least > 1)
    flat = d.Search(*_search(clause, lambda _: Estimate(1, ())), _covers(clause, least)).cheapest_tree()
    assert flat is not None
    if least > 1:
        assert (
            d.Search(*_search(clause, lambda _: Estimate(1, ())), _covers(clause, least - 1)).cheapest_tree()
            is None
        )


@given(BODIES.filter(several))
def test_acyclicity(clause: Clause) -> None:
    """A body has a join tree exactly if a heaviest spanning tree of its atoms is one; then the width is 1."""
    edges = [names([a]) for a in clause.atoms]
    joined: list[set[int]] = [{i} for i in range(len(edges))]
    weight = 0
    for i, j in sorted(combinations(range(len(edges)), 2), key=lambda p: -len(edges[p[0]] & edges[p[1]])):
        if joined[i] is not joined[j]:
            weight += len(edges[i] & edges[j])
            joined[i] |= joined[j]
            for k in joined[j]:
                joined[k] = joined[i]
    acyclic = weight == sum(map(len, edges)) - len(set().union(*edges))
    assert Hypergraph.of(clause.atoms).is_acyclic() is acyclic
    assert (decomposed(clause, lambda a: Estimate(100, (10,) * len(a.terms))).width == 1) is acyclic


def _search(clause: Clause, estimate: Any) -> tuple[Hypergraph, NodeSizes, int]:
    graph = Hypergraph.of(clause.atoms)

    def sizes(atom: Any) -> Estimate:
        found = estimate(atom)
        return found if found.distinct else Estimate(found.rows, (1.0,) * len(atom.terms))

    head = graph.numbers(v.name for v in clause.head.variables())
    return graph, NodeSizes(graph, d.body_sizes(clause.atoms, sizes)), head


def _covers(clause: Clause, width: int) -> d.Covers:
    return d.narrow_covers(Hypergraph.of(clause.atoms), width)


def cheapest(
    graph: Hypergraph, sizes: NodeSizes, component: int, connector: int, width: int, top: bool
) -> float:
    """The least cost by trying every cover for every component, without remembering or cutting anything."""
    held, best = graph.variables(component), inf
    for k in range(1, width + 1):
        for cover in map(as_set, combinations(range(len(graph.edges)), k)):
            chi = graph.variables(cover) & held
            apart = [graph.variables(cover & ~(1 << i)) & held for i in members(cover)]
            if not cover & component or connector & ~chi or (k > 1 and chi in apart):
                continue
            done = graph.within(component, chi)
            parts = graph.components(component & ~done, chi)
            join, rows = sizes.size(cover, cover | done, chi)
            cost = join + 2 * rows * (len(parts) + (not top))
            for part in parts:
                cost += cheapest(graph, sizes, part, graph.variables(part) & chi, width, False)
            best = min(best, cost)
    return best


@given(clauses(random_edges(5, 5)).filter(several), estimators())
def test_least_cost(clause: Clause, estimate: Any) -> None:
    tree = decomposed(clause, estimate)
    graph, sizes, _ = _search(clause, estimate)
    width = generalised_width(clause)
    expected = cheapest(graph, sizes, graph.everything, 0, width + (width > 1), True)
    assert abs(tree.cost - expected) <= 1e-9 * expected
    degrees = {id(p): len(p.children) + (p is not tree.root) for p in tree.nodes()}
    total = sum(p.join + 2 * p.rows * degrees[id(p)] for p in tree.nodes())
    assert abs(tree.cost - total) <= 1e-9 * total, "the cost is that of the nodes and edges"


# ---- Evaluation over Python sets

Table = tuple[tuple[str, ...], set[tuple[Any, ...]]]
VALUES = [("integer", 1), ("integer", 2), ("integer", 3)]


def literals(clause: Clause, atoms: Any, negations: Any, comparisons: Any) -> list[Any]:
    """Parts of the body, by their positions, as the oracle reads them."""

    def term(t: Any) -> Any:
        return t.name if isinstance(t, Variable) else ("integer", int(t.text))

    def literal(sign: str, atom: Any) -> Any:
        return (sign, atom.predicate.name, tuple(map(term, atom.terms)))

    compared = [clause.comparisons[i] for i in comparisons]
    return [
        *(literal("+", clause.atoms[i]) for i in atoms),
        *(literal("-", clause.negations[i]) for i in negations),
        *((c.operator, term(c.left), term(c.right)) for c in compared),
    ]


def semijoin(left: Table, right: Table) -> Table:
    shared = [v for v in left[0] if v in right[0]]
    keys = {tuple(row[right[0].index(v)] for v in shared) for row in right[1]}
    return left[0], {row for row in left[1] if tuple(row[left[0].index(v)] for v in shared) in keys}


def join(left: Table, right: Table) -> Table:
    shared, extra = [v for v in left[0] if v in right[0]], [v for v in right[0] if v not in left[0]]
    rows = {
        a + tuple(b[right[0].index(v)] for v in extra)
        for a in left[1]
        for b in right[1]
        if all(a[left[0].index(v)] == b[right[0].index(v)] for v in shared)
    }
    return (*left[0], *extra), rows


def project(table: Table, wanted: set[str]) -> Table:
    kept = tuple(v for v in table[0] if v in wanted)
    return kept, {tuple(row[table[0].index(v)] for v in kept) for row in table[1]}


def evaluate(tree: Decomposition, facts: Any) -> set[tuple[Any, ...]]:
    """In-node joins, the full reducer, the cross-node join with early projection, the late filters, the head."""
    clause, nodes = tree.clause, list(tree.nodes())
    tables: dict[int, Table] = {}
    for p in nodes:
        ways = solve(literals(clause, p.atoms, p.negations, p.comparisons), facts)
        tables[id(p)] = p.variables, {tuple(way[v] for v in p.variables) for way in ways}
    edges = [(p, child) for p in nodes for child in p.children]
    for p, child in reversed(edges):
        tables[id(p)] = semijoin(tables[id(p)], tables[id(child)])
    for p, child in edges:
        tables[id(child)] = semijoin(tables[id(child)], tables[id(p)])
    late = literals(clause, (), tree.negations, tree.comparisons)
    needed = names([clause.head, *(clause.negations[i] for i in tree.negations)])
    needed |= {v.name for i in tree.comparisons for v in clause.comparisons[i].variables()}

    def joined(p: Any, above: set[str]) -> Table:
        table = tables[id(p)]
        for child in p.children:
            table = join(table, joined(child, set(p.variables)))
        return project(table, above | needed)

    columns, rows = joined(tree.root, set())
    found = set()
    for row in rows:
        ways = [dict(zip(columns, row, strict=True))]
        for part in late:
            ways = [new for way in ways for new in step(part, way, facts)]
        found |= {_head(clause, way) for way in ways}
    return found


def _head(clause: Clause, way: Any) -> tuple[Any, ...]:
    return tuple(way[t.name] if isinstance(t, Variable) else ("integer", 1) for t in clause.head.terms)


EVALUATED = st.one_of(
    clauses(SHAPES.filter(lambda e: len(e) <= 6), filters=True), clauses(random_edges(6, 5), filters=True)
)


@given(st.data(), EVALUATED.filter(several), estimators())
def test_evaluation(data: st.DataObject, clause: Clause, estimate: Any) -> None:
    """Along the tree the rule derives what it derives directly."""
    used = {a.predicate for a in (*clause.atoms, *clause.negations)}
    facts = {
        p.name: data.draw(st.sets(st.tuples(*[st.sampled_from(VALUES)] * p.arity), max_size=9))
        for p in sorted(used)
    }
    everything = [range(len(part)) for part in (clause.atoms, clause.negations, clause.comparisons)]
    expected = {_head(clause, way) for way in solve(literals(clause, *everything), facts)}
    assert evaluate(decomposed(clause, estimate), facts) == expected


@given(EVALUATED.filter(several), estimators())
def test_every_filter_has_one_home(clause: Clause, estimate: Any) -> None:
    """At a node whose χ holds its variables if there is one, else after the join."""
    tree = decomposed(clause, estimate)
    places = [(set(p.variables), p.negations, p.comparisons) for p in tree.nodes()]
    for kind, parts, late in (
        (1, clause.negations, tree.negations),
        (2, clause.comparisons, tree.comparisons),
    ):
        assert sorted([*late, *(i for place in places for i in place[kind])]) == list(range(len(parts)))  # type: ignore[misc]
        for i, part in enumerate(parts):  # type: ignore[arg-type]
            held = {v.name for v in part.variables()}
            fitting = [place for place in places if held <= place[0]]
            assert (i in late) is not bool(fitting)
            assert all(held <= place[0] for place in places if i in place[kind])  # type: ignore[operator]
