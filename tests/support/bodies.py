"""Hypothesis: bodies of rules whose hypergraphs have cycles, and naive ways to say what a decomposition of them must be."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

from hypothesis import strategies as st

from modulog.engines.relation import Estimate
from modulog.joins.decomposition import Decomposition
from modulog.language.model import Atom, Comparison, Predicate, Rule, Variable
from modulog.planning.plan import Clause
from modulog.terms.constant import Constant, Kind

Edges = list[tuple[str, ...]]
ONE = Constant(Kind.INTEGER, "1")


def cycle(n: int) -> Edges:
    return [(f"x{i}", f"x{(i + 1) % n}") for i in range(n)]


def clique(n: int) -> Edges:
    return [(f"x{i}", f"x{j}") for i, j in combinations(range(n), 2)]


def petals(n: int) -> Edges:
    """Paths of two edges between the same two ends."""
    return [edge for k in range(n) for edge in (("s", f"x{k}"), (f"x{k}", "t"))]


def flower(n: int) -> Edges:
    """Triangles that share one corner."""
    return [edge for k in range(n) for edge in (("s", f"x{k}"), (f"x{k}", f"y{k}"), (f"y{k}", "s"))]


def chain(n: int, chords: Any = ()) -> Edges:
    return [(f"x{i}", f"x{i + 1}") for i in range(n)] + [(f"x{i}", f"x{j}") for i, j in chords]


CHORDS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda c: c[0] != c[1]), max_size=4, unique=True
)
SHAPES = st.one_of(
    st.integers(3, 9).map(cycle),
    st.integers(3, 4).map(clique),
    st.integers(2, 4).map(petals),
    st.integers(1, 3).map(flower),
    st.builds(chain, st.just(5), CHORDS),
)


def random_edges(atoms: int, variables: int, least: int = 2) -> Any:
    """Any edges, also empty ones and such that are disconnected."""
    names = st.sampled_from([f"x{i}" for i in range(variables)])
    return st.lists(st.lists(names, max_size=4).map(tuple), min_size=least, max_size=atoms)


@st.composite
def clauses(draw: st.DrawFn, edges: Any, filters: bool = False) -> Clause:
    """A clause with the given edges: some variables become constants or `_`; with filters also negated atoms and comparisons."""
    spots = st.sampled_from(["", "", "", "", "", "", "1", "_"])
    atoms = []
    for edge in draw(edges):
        marks = draw(st.tuples(*[spots] * len(edge)))
        terms = tuple(_term(m or v) for m, v in zip(marks, edge, strict=True))
        atoms.append(Atom(Predicate(f"{draw(st.sampled_from('pqr'))}{len(terms)}", len(terms)), terms))
    atoms = list(dict.fromkeys(atoms))
    names = sorted({v.name for a in atoms for v in a.variables()})
    some = st.sampled_from(names) if names else st.just("1")
    head = draw(st.lists(some, max_size=3))
    negated = draw(st.lists(st.lists(some, max_size=2), max_size=2)) if filters else []
    compared = draw(st.lists(st.tuples(some, some), max_size=2)) if filters else []
    return Clause(
        _atom("h", head),
        tuple(atoms),
        tuple(dict.fromkeys(_atom("n", n) for n in negated)),
        tuple(dict.fromkeys(Comparison("!=", _term(a), _term(b)) for a, b in compared)),
        Rule((), ()),
    )


def _term(text: str) -> Variable | Constant:
    return ONE if text == "1" else Variable(text)


def _atom(name: str, terms: list[str]) -> Atom:
    return Atom(Predicate(f"{name}{len(terms)}", len(terms)), tuple(map(_term, terms)))


@st.composite
def estimators(draw: st.DrawFn) -> Any:
    """Sizes for each predicate, some of them still empty."""
    sizes: dict[Predicate, Estimate] = {}

    def estimate(atom: Atom) -> Estimate:
        if atom.predicate not in sizes:
            rows = draw(st.sampled_from([0, 10, 1000, 100_000]))
            sizes[atom.predicate] = Estimate(
                rows, tuple(draw(st.integers(min(1, rows), max(1, rows))) for _ in atom.terms)
            )
        return sizes[atom.predicate]

    return estimate


def names(atoms: Any) -> set[str]:
    return {v.name for atom in atoms for v in atom.variables()}


def violated(tree: Decomposition) -> set[str]:
    """Which of the paper's four conditions do not hold, for λ and for the cover alone, and whether an atom is missed."""
    body, nodes = tree.clause.atoms, list(tree.nodes())
    above = {id(child): set(p.variables) for p in nodes for child in p.children}
    tops = [v for p in nodes for v in set(p.variables) - above.get(id(p), set())]
    found = set()
    if not all(any(names([b]) <= set(p.variables) for p in nodes) for b in body):
        found.add("1")
    if len(tops) != len(set(tops)):
        found.add("2: a variable has two topmost nodes")
    for p in nodes:
        below = {v for q in p.subtree() for v in q.variables}
        for chosen in (p.atoms, p.cover):
            held = names(body[i] for i in chosen)
            if not set(p.variables) <= held:
                found.add("3")
            if not held & below <= set(p.variables):
                found.add("4")
        if not set(p.cover) <= set(p.atoms):
            found.add("a cover outside λ")
    if not all(
        any(i in p.atoms and names([b]) <= set(p.variables) for p in nodes) for i, b in enumerate(body)
    ):
        found.add("complete")
    return found


def generalised_width(clause: Clause) -> int:
    """The least number of atoms that hold each bag of some tree decomposition, by trying every elimination order."""
    edges = [frozenset(names([a])) for a in clause.atoms]
    orders = permutations(sorted(set().union(*edges)))
    return min(max((_cover(bag, edges) for bag in _bags(order, edges)), default=1) for order in orders)


def _bags(order: tuple[str, ...], edges: list[frozenset[str]]) -> list[frozenset[str]]:
    bags, rest = [], list(edges)
    for v in order:
        bag = frozenset().union(*(e for e in rest if v in e))
        bags.append(bag)
        rest = [e for e in rest if v not in e] + [bag - {v}]
    return bags


def _cover(bag: frozenset[str], edges: list[frozenset[str]]) -> int:
    sizes = range(1, len(edges) + 1)
    return next(k for k in sizes for c in combinations(edges, k) if bag <= frozenset().union(*c))
