"""Decompositions of bodies one knows: what the tree looks like, when there is none, what it costs to find it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from modulog.algebra.expressions import Condition, Read
from modulog.engines.local.engine import LocalEngine
from modulog.engines.relation import Estimate
from modulog.joins.decompose import body_sizes, decompose
from modulog.joins.decomposition import Decomposition
from modulog.joins.decomposition_cost import weigh
from modulog.joins.hypergraph import is_simple
from modulog.joins.order import Body, Ordering
from modulog.language.model import Atom, Predicate, Rule, Variable
from modulog.language.parser import parse_program
from modulog.planning.normalise import normalise
from modulog.planning.plan import Clause
from support.bodies import clique, cycle, flower, petals, violated
from support.implementations import Numbers
from support.steps import lines_run


def clause(text: str) -> Clause:
    return normalise(parse_program(text).rules)[0]


def even(atom: Atom) -> Estimate:
    return Estimate(1000, (100,) * len(atom.terms))


def tree(text: str, estimate: Any = even) -> Decomposition:
    found, reason = decompose(clause(text), estimate)
    assert found is not None, reason
    assert not violated(found)
    return found


def shown(text: str, estimate: Any = even) -> list[str]:
    return str(tree(text, estimate)).split("\n")


def of_edges(edges: Any, head: tuple[str, ...] = ()) -> Clause:
    atoms = tuple(
        Atom(Predicate(f"p{i}", len(e)), tuple(Variable(v) for v in e)) for i, e in enumerate(edges)
    )
    return Clause(Atom(Predicate("h", len(head)), tuple(map(Variable, head))), atoms, (), (), Rule((), ()))


# ---- Trees


def test_possible_collaborator() -> None:
    """The example of the paper's section 3."""
    found = tree("pc(?x, ?y) :- cw(?x, ?a), ca(?x, ?b), pc(?a, ?y), pc(?b, ?y) .")
    nodes = [(set(p.variables), p.atoms) for p in found.nodes()]
    assert nodes == [({"x", "a", "y"}, (0, 2)), ({"x", "b", "y"}, (1, 3))]


def test_a_triangle_is_one_node() -> None:
    """Width 2 suffices; the third atom lies within χ and filters."""
    (node,) = tree("h(?x) :- r(?x, ?y), s(?y, ?z), t(?z, ?x) .").nodes()
    assert node.atoms == (0, 1, 2) and len(node.cover) == 2


def test_errata_an_atom_that_nobody_checks() -> None:
    """Condition 1 as printed is content with r and s."""
    found = tree("h(?x) :- r(?x, ?y), s(?y, ?z), t(?z, ?x) .")
    assert 2 in found.root.atoms


def test_errata_a_ground_atom() -> None:
    found = tree("h(?x) :- s(?x), g(c) .")
    assert sorted(i for p in found.nodes() for i in p.atoms) == [0, 1]


def test_errata_an_atom_that_is_projected() -> None:
    (node,) = tree("h(?x) :- s(?x, ?y), r(?x, ?y) .").nodes()
    assert node.atoms == (0, 1) and node.variables == ("x", "y")


def test_errata_one_node_does_not_win() -> None:
    """With n=10 and k=5 the paper's own example would be one node of four atoms."""
    sizes = {"cw": Estimate(51, (11, 51)), "ca": Estimate(51, (11, 51)), "pc": Estimate(100, (100, 5))}
    found = tree(
        "pc(?x, ?y) :- cw(?x, ?a), ca(?x, ?b), pc(?a, ?y), pc(?b, ?y) .", lambda a: sizes[a.predicate.name]
    )
    assert len(list(found.nodes())) == 2


def test_errata_an_empty_predicate_is_large() -> None:
    """A product with a predicate that has no facts yet is not free."""
    sizes = {"e": Estimate(100, (50, 50)), "p": Estimate(0, (0, 0))}
    found = tree("h(?a) :- e(?c, ?b), p(?a, ?b), e(?d, ?a), e(?c, ?d) .", lambda a: sizes[a.predicate.name])
    for p in found.nodes():
        held = [{v.name for v in found.clause.atoms[i].variables()} for i in p.cover]
        assert len(held) == 1 or held[0] & held[1], "a product"
    empty = body_sizes(found.clause.atoms, lambda a: sizes[a.predicate.name])[1]
    assert empty == (100, {"a": 50, "b": 50})


def test_nothing_is_known() -> None:
    found = tree("h(?a) :- p(?a, ?b), p(?b, ?c), p(?c, ?d), p(?d, ?a) .", lambda a: Estimate(0, (0, 0)))
    assert len(list(found.nodes())) == 2


def test_costs_decide() -> None:
    """Of two ways to cut a cycle of four the one that joins small with large."""
    sizes = {"big": Estimate(10_000, (100, 100)), "small": Estimate(10, (10, 10))}
    found = tree(
        "h(?a) :- big(?a, ?b), big(?b, ?c), small(?c, ?d), small(?d, ?a) .",
        lambda a: sizes[a.predicate.name],
    )
    assert all({0, 1} - set(p.cover) for p in found.nodes())


def test_the_root_has_the_head() -> None:
    for head in ("?x, ?y", "?v, ?w"):
        found = tree(f"h({head}) :- r(?x, ?y), r(?y, ?z), r(?z, ?u), r(?u, ?v), r(?v, ?w) .")
        assert {f"?{v}" for v in found.root.variables} == set(head.split(", "))


def test_disconnected_bodies() -> None:
    found = tree("h(?x, ?u) :- r(?x, ?y), s(?y, ?x), t(?u, ?v) .")
    assert [p.variables for p in found.nodes()] == [("x", "y"), ("u", "v")]


def test_repeated_variables_constants_and_anonymous_ones() -> None:
    found = tree("h(?x) :- r(?x, ?x), s(?x, a), t(?x, _), u(?x, ?y, ?x, _) .")
    assert found.root.variables == ("x", "y") and found.root.atoms == (0, 1, 2, 3)


def test_drawing() -> None:
    lines = shown(
        "h(?x) :- r(?x, ?a), s(?a, ?y), r(?x, ?b), s(?b, ?y), r(?x, ?c), s(?c, ?y), "
        "~n(?x, ?a), ~n(?a, ?b), ?x != ?y, ?a < ?b ."
    )
    assert lines == [
        "width 2, estimated cost 116,000",
        "{?x, ?a, ?y} r(?x, ?a), s(?a, ?y) where ~n(?x, ?a), ?x != ?y  ~10,000 rows",
        "├─ {?x, ?y, ?b} r(?x, ?b), s(?b, ?y)  ~10,000 rows",
        "└─ {?x, ?y, ?c} r(?x, ?c), s(?c, ?y)  ~10,000 rows",
        "after the join: ~n(?a, ?b), ?a < ?b",
    ]


def test_drawing_of_a_deep_tree() -> None:
    lines = shown("h(?a) :- r(?a, ?b), r(?b, ?c), r(?c, ?d), r(?d, ?e), s(?b, ?f) .")
    assert [line[: line.index("{")] for line in lines[1:]] == ["", "├─ ", "│  └─ ", "└─ "] or len(lines) == 6


# ---- Refusals


def test_too_few_atoms() -> None:
    assert decompose(clause("h(?x) :- r(?x, ?y), ?y != 1 ."), even) == (None, "fewer than two atoms")


def test_a_variable_that_no_atom_binds() -> None:
    plain = clause("h(?x) :- r(?x, ?y), s(?y, ?z) .")
    made = Clause(Atom(plain.head.predicate, (Variable("new"),)), plain.atoms, (), (), plain.origin)
    assert decompose(made, even) == (None, "no atom binds ?new")


# ---- Work, in lines of the package that run


def decomposed(edges: Any) -> tuple[Decomposition, int]:
    """The decomposition of a body, and the work that it took."""
    made, found = of_edges(edges), []
    work = lines_run(lambda: found.append(decompose(made, even)[0]))
    assert found[0] is not None
    return found[0], work


@pytest.mark.parametrize(
    "edges",
    [cycle(12), clique(5), petals(6), flower(4), [*cycle(9), ("x0", "x3"), ("x2", "x6"), ("x4", "x8")]],
    ids=["cycle", "clique", "petals", "flower", "chords"],
)
def test_twelve_atoms_take_little_work(edges: Any) -> None:
    found, work = decomposed(edges)
    assert work < 3_000_000
    assert not violated(found)


@pytest.mark.parametrize(("edges", "width"), [(cycle(30), 3), (clique(7), 4), (petals(15), 2)])
def test_thirty_atoms_by_the_heuristic(edges: Any, width: int) -> None:
    found, work = decomposed(edges)
    assert work < 4_000_000
    assert not violated(found)
    assert found.width <= width


# ---- Whether it pays

ENGINE = LocalEngine(Numbers(1_000_000))
UNIT = ENGINE.table((), np.empty((0, 1), np.int32))


def body(made: Clause, facts: dict[str, Any]) -> Body:
    """The clause over relations that hold the given arrays of ids."""
    relations = {}
    for name, ids in facts.items():
        relation: Any = ENGINE.relation(name, len(ids))
        relation.schedule(ENGINE.table(tuple("abc"[: len(ids)]), np.asarray(ids, np.int32)), 0)
        relation.derive()
        relation.merge()
        relations[name] = relation
    reads = tuple(
        Read(relations[a.predicate.name], tuple(t.name for t in a.terms))
        for a in made.atoms  # type: ignore[union-attr]
    )
    conditions = tuple(
        Condition(c.operator, c.left.name, c.right.name)
        for c in made.comparisons  # type: ignore[union-attr]
    )
    return Body(reads, (), conditions, tuple(v.name for v in made.head.variables()))


def worth(text: str, facts: dict[str, Any]) -> Any:
    made = clause(text)
    read = body(made, facts)
    sizes = {a: r.relation.estimate("all") for a, r in zip(made.atoms, read.reads, strict=True)}
    found, _ = decompose(made, sizes.__getitem__)
    assert found is not None
    return weigh(found, read, lambda: Ordering(read, UNIT).best().cost, UNIT)


def pairs(rows: int, left: int, right: int, seed: int) -> Any:
    generator = np.random.default_rng(seed)
    return np.stack([generator.integers(0, left, rows), generator.integers(0, right, rows)])


def test_simple_rules_are_left_alone() -> None:
    facts = {"r": pairs(1000, 100, 100, 0)}
    for text in ("h(?x) :- r(?x, ?y), r(?y, ?z) .", "h(?x) :- r(?x, ?y), r(?y, ?z), r(?z, ?w), r(?w, ?v) ."):
        assert is_simple(clause(text))
        assert worth(text, facts).reason == "a simple rule"


def test_one_node_does_not_pay() -> None:
    found = worth("h(?x) :- r(?x, ?y), r(?y, ?z), r(?z, ?x) .", {"r": pairs(1000, 100, 100, 0)})
    assert found.reason == "one node holds the whole body"


def test_many_petals_pay() -> None:
    """Each path from ?s to ?t is a node; one after another they would each multiply the pairs before they filter them."""
    steps = ", ".join(f"r(?s, ?x{i}), r(?x{i}, ?t)" for i in range(4))
    found = worth(f"h(?s, ?t) :- {steps} .", {"r": pairs(20_000, 400, 400, 0)})
    assert found.pays, found


def test_a_cycle_with_one_small_relation_does_not_pay() -> None:
    facts = {"r": pairs(100_000, 10_000, 10_000, 0), "s": pairs(2, 10_000, 10_000, 1)}
    found = worth("h(?a) :- s(?a, ?b), r(?b, ?c), r(?c, ?d), r(?d, ?a) .", facts)
    assert not found.pays, found


def test_a_short_body_must_promise_half() -> None:
    """Its plan may be a tree itself; tables have to pay for themselves."""
    made = clause("h(?a) :- r(?a, ?b), r(?b, ?c), r(?c, ?d), r(?d, ?a) .")
    read = body(made, {"r": pairs(20_000, 400, 400, 0)})
    found, _ = decompose(made, lambda atom: read.reads[0].relation.estimate("all"))
    assert found is not None
    cost = weigh(found, read, lambda: 0.0, UNIT).decomposed
    assert not weigh(found, read, lambda: 1.5 * cost, UNIT).pays
    assert weigh(found, read, lambda: 2.5 * cost, UNIT).pays


def test_the_plan_of_a_long_body_is_distrusted() -> None:
    """Five petals: a plan that is estimated to cost a tenth of the tree may cost any multiple of it."""
    made = clause("h(?s, ?t) :- " + ", ".join(f"r(?s, ?x{i}), r(?x{i}, ?t)" for i in range(5)) + " .")
    read = body(made, {"r": pairs(20_000, 400, 400, 0)})
    found, _ = decompose(made, lambda atom: read.reads[0].relation.estimate("all"))
    assert found is not None
    cost = weigh(found, read, lambda: 0.0, UNIT).decomposed
    assert weigh(found, read, lambda: cost / 10, UNIT).pays
    assert not weigh(found, read, lambda: cost / 1000, UNIT).pays


def test_a_long_clique_is_one_node() -> None:
    """The heuristic, too, prefers it to nodes that are products."""
    found, _ = decompose(of_edges(clique(6)), lambda atom: Estimate(40_000, (10_000, 10_000)))
    assert found is not None and not found.root.children and not violated(found)
