"""The switch `decompose`: which rules are decomposed, what the plan and the statistics show of it, and what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from modulog import Reasoner, Switches
from modulog.algebra.expressions import Join, Project, Rows
from modulog.cli.app import app
from modulog.engines.engine import Work
from modulog.modules import decomposed_clause, hypertree_module

PETALS = "h(?s, ?t) :- " + ", ".join(f"r(?s, ?x{i}), r(?x{i}, ?t)" for i in range(4)) + " ."
COLLABORATOR = "pc(?x, ?y) :- cw(?x, ?a), ca(?x, ?b), pc(?a, ?y), pc(?b, ?y) ."
FACTS = {"cw": [(1, 2), (9, 1)], "ca": [(1, 3), (9, 1)], "pc": [(2, 7), (3, 7)]}


def pairs(rows: int, values: int) -> Any:
    return np.unique(np.random.default_rng(1).integers(0, values, (rows, 2)), axis=0)


def petals(decompose: str) -> Reasoner:
    r = Reasoner(PETALS, switches=Switches(decompose=decompose))
    r.add("r", pairs(6000, 200))
    return r


def test_auto_takes_a_rule_when_it_pays() -> None:
    results = {mode: petals(mode).materialise() for mode in ("auto", "all", "off")}
    assert {mode: s.decomposed_rules for mode, s in results.items()} == {"auto": 1, "all": 1, "off": 0}
    assert len({s.facts for s in results.values()}) == 1


@pytest.mark.parametrize(
    "rule", ["h(?x, ?z) :- r(?x, ?y), r(?y, ?z) .", "h(?x) :- r(?x, ?y), r(?y, ?z), r(?z, ?w), r(?w, ?v) ."]
)
def test_auto_leaves_simple_rules(rule: str) -> None:
    for mode, expected in (("auto", 0), ("all", 1)):
        r = Reasoner(rule, switches=Switches(decompose=mode))
        r.add("r", pairs(6000, 200))
        assert r.materialise().decomposed_rules == expected


def test_all_leaves_rules_of_one_atom_and_closures() -> None:
    r = Reasoner(
        "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .", switches=Switches(decompose="all")
    )
    r.add("e", [(1, 2), (2, 3)])
    assert r.materialise().decomposed_rules == 0
    assert r.count("p") == 3


def test_the_plan_draws_the_tree() -> None:
    r = Reasoner(COLLABORATOR, switches=Switches(decompose="all"))
    people, topics = range(10), range(100, 105)
    for name, start in (("cw", 1000), ("ca", 2000)):
        known = [(x, start + 10 * x + y - 100) for x in people for y in topics]
        r.add(name, known)
        r.add("pc", [(friend, 100 + friend % 10) for _, friend in known])
    assert "along a tree" not in str(r.plan()), "nothing is decided before the rule runs"
    r.materialise()
    lines = str(r.plan()).splitlines()
    assert "  module seminaive or hypertree decompositions" in lines
    start = next(i for i, line in enumerate(lines) if "along a tree of width 2" in line)
    assert lines[start + 1].strip().startswith("{?x, ?a, ?y} cw(?x, ?a), pc(?a, ?y)  ~")
    assert lines[start + 2].strip().startswith("└─ {?x, ?b, ?y} ca(?x, ?b), pc(?b, ?y)  ~")
    assert "└─ {?x, ?b, ?y}" in r.plan()._repr_html_()


def test_a_decomposition_is_fixed_when_its_rule_first_runs() -> None:
    r = petals("auto")
    r.materialise()
    before = str(r.plan())
    r.update(delete={"r": pairs(6000, 200)[:5000]})
    assert str(r.plan()) == before


def test_memory_of_tables() -> None:
    r = Reasoner(COLLABORATOR, switches=Switches(decompose="all"))
    for name, rows in FACTS.items():
        r.add(name, rows)
    first = r.materialise()
    assert first.node_bytes > 0 and "1 rule decomposed, tables of" in str(first)
    assert r._maintenance is not None and not r._maintenance.node_bytes(), (
        "dropped: nobody maintains anything"
    )
    change = r.update(add={"cw": [(5, 1)], "ca": [(5, 1)]})
    assert change.added == {"cw": 1, "ca": 1, "pc": 1}
    assert change.statistics.node_bytes == r._maintenance.node_bytes() > 0
    assert "tables of decomposed rules" in str(change.statistics)
    statistics = r.materialise()
    assert statistics.node_bytes == change.statistics.node_bytes


def test_without_maintenance_nothing_is_kept() -> None:
    r = Reasoner(COLLABORATOR, switches=Switches(decompose="all", maintenance="recompute"))
    for name, rows in FACTS.items():
        r.add(name, rows)
    assert r.update(add={"cw": [(5, 1)], "ca": [(5, 1)]}).statistics.node_bytes == 0
    assert r.contains("pc", (5, 7))


def test_a_store_goes_on(tmp_path: Path) -> None:
    """Tables are not in the store: the first update makes them."""
    r = Reasoner(COLLABORATOR, switches=Switches(decompose="all"))
    for name, rows in FACTS.items():
        r.add(name, rows)
    r.save(tmp_path / "store")
    opened = Reasoner.open(tmp_path / "store")
    opened.update(delete={"ca": [(1, 3)]})
    assert sorted(opened.rows("pc")) == [(2, 7), (3, 7)]
    opened.update(add={"ca": [(1, 3)]})
    assert sorted(opened.rows("pc")) == [(1, 7), (2, 7), (3, 7), (9, 7)]


def test_an_unknown_mode() -> None:
    with pytest.raises(ValueError, match='decompose is "auto" or "all" or "off", not \'some\''):
        Reasoner(COLLABORATOR, switches=Switches(decompose="some"))


def test_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "rules.rls").write_text(COLLABORATOR, encoding="utf-8")
    for name, rows in FACTS.items():
        (tmp_path / f"{name}.csv").write_text("".join(f"{a},{b}\n" for a, b in rows), encoding="utf-8")
    facts = [option for name in FACTS for option in ("--facts", str(tmp_path / f"{name}.csv"))]
    shown = {
        mode: CliRunner().invoke(app, ["plan", str(tmp_path / "rules.rls"), *facts, "--decompose", mode])
        for mode in ("auto", "all", "off")
    }
    assert {mode: "along a tree" in result.stdout for mode, result in shown.items()} == {
        "auto": False,
        "all": True,
        "off": False,
    }
    assert all(result.exit_code == 0 for result in shown.values())


GROWING = """
    q(?x, ?y) :- start(?x, ?y) .
    p(?x, ?y) :- q(?x, ?y) .
    q(?x, ?z) :- p(?x, ?y), step(?y, ?z) .
    p(?x, ?w) :- q(?x, ?a), r(?a, ?b), r(?b, ?c), q(?x, ?d), r(?d, ?e), r(?e, ?c), r(?c, ?w), mark(?w, ?x) ."""


def growing(decompose: str, table_rows: int | None = None) -> Reasoner:
    """A rule of eight atoms over predicates that have one fact at first, and 600 in the end."""
    r = Reasoner(GROWING, switches=Switches(decompose=decompose, table_rows=table_rows))
    r.add("start", [(0, 0)])
    r.add("step", [(i, i + 1) for i in range(300)])
    r.add("r", pairs(900, 300))
    r.add("mark", [(i, 0) for i in range(0, 300, 7)])
    return r


def test_a_tree_is_given_up_when_its_tables_grow() -> None:
    """Each time twice as many rows are allowed: in the end the rule has a tree, and the plan of a reasoner that allows too few says why it has none."""
    results = {rows: growing("all", rows).materialise() for rows in (None, 1, 10)}
    off = growing("off").materialise()
    assert {s.facts for s in results.values()} == {off.facts}
    assert results[None].returned_rules == 0 < results[1].returned_rules
    assert "went back to the standard plan" in str(results[1])
    assert "standard plan" not in str(results[None])


def test_the_plan_says_why_a_tree_was_given_up() -> None:
    r = Reasoner(PETALS, switches=Switches(decompose="all", table_rows=5))
    r.add("r", pairs(60, 20))
    statistics = r.materialise()
    assert (statistics.decomposed_rules, statistics.returned_rules) == (0, 1)
    line = next(line for line in str(r.plan()).splitlines() if "no longer along a tree" in line)
    assert "more than 5 rows of {?s" in line and "were expected" in line
    assert "no longer along a tree" in r.plan()._repr_html_()
    standard = Reasoner(PETALS, switches=Switches(decompose="off"))
    standard.add("r", pairs(60, 20))
    assert sorted(r.rows("h")) == sorted(standard.rows("h"))


def test_an_update_gives_a_tree_up() -> None:
    """The tables that the first update makes may be too large; facts are right all the same, and the next update needs no tables."""
    r = growing("all", 100_000)
    whole = r.materialise()
    assert whole.decomposed_rules and not whole.returned_rules
    for tree in [t for s in r._maintenance.strata for t in s.live.all_trees]:  # type: ignore[union-attr]
        tree.limit = 1
    r.update(delete={"step": [(150, 151)]})
    r.update(add={"step": [(150, 151)]})
    assert r.count("p") == growing("off").count("p")
    assert any(s.live.given_up for s in r._maintenance.strata)  # type: ignore[union-attr]


BODY = "r(?u, ?a), r(?a, ?t), r(?u, ?b), r(?b, ?t), r(?u, ?c), r(?c, ?t)"


@pytest.mark.parametrize(("sources", "expected"), [(0, 0), (3, 1)])
def test_auto_waits_until_rounds_cost_something(
    sources: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is decided for a recursive rule while a predicate of its own has no facts, and seldom afterwards."""
    asked = []

    def decide(clause: Any, prepared: Any, *rest: Any) -> Any:
        asked.append([atom.relation.size("all") for atom in prepared.atoms if atom.own])
        return decomposed_clause.decide(clause, prepared, *rest)

    monkeypatch.setattr(hypertree_module, "decide", decide)
    r = Reasoner(
        f"q(?s, ?u) :- start(?s, ?u) . q(?s, ?t) :- q(?s, ?u), late(?s), {BODY} . late(?s) :- q(?s, 7) ."
    )
    r.add("start", [(1_000 + s, u) for s in range(sources) for u in (3, 7)])
    r.add("start", [(2_000, 1)]) if sources else None
    r.add("r", pairs(1_500, 100))
    r.materialise()
    assert all(min(sizes) > 0 for sizes in asked), "a body without facts needs no plan"
    assert expected <= len(asked) < 4 * expected + 1


@pytest.mark.parametrize("explicit", [True, False])
def test_a_tree_is_looked_for_at_once_where_all_predicates_have_facts(
    explicit: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then no order is looked for that begins with what is new; where a predicate gets facts only from rounds, there is."""
    ordered = []

    def decide(clause: Any, prepared: Any, *rest: Any) -> Any:
        ordered.append(any(e.expr for c in known for e in c.standard.evaluations()))
        return decomposed_clause.decide(clause, prepared, *rest)

    known: list[hypertree_module.SwitchingClause] = []
    monkeypatch.setattr(hypertree_module.SwitchingClause, "consider", remembering(known))
    monkeypatch.setattr(hypertree_module, "decide", decide)
    r = Reasoner(
        f"q(?s, ?u) :- start(?s, ?u) . q(?s, ?t) :- q(?s, ?u), late(?s), {BODY} . late(?s) :- q(?s, 7) ."
    )
    r.add("start", [(1_000 + s, u) for s in range(3) for u in (3, 7)])
    r.add("late", [(1_000 + s,) for s in range(3)] if explicit else [])
    r.add("r", pairs(1_500, 100))
    r.materialise()
    assert ordered[0] != explicit


def remembering(known: list[hypertree_module.SwitchingClause]) -> Any:
    """`consider`, after which the clause is among those known."""
    consider = hypertree_module.SwitchingClause.consider

    def changed(self: hypertree_module.SwitchingClause, updating: bool = False) -> None:
        known.append(self)
        consider(self, updating)

    return changed


def test_an_evaluation_stops_at_its_limit() -> None:
    """A product of 2,000 by 2,000 rows is not made when ten rows are allowed."""
    r = Reasoner("")
    r.add("n", [(i,) for i in range(2_000)])
    r.materialise()
    engine = r._backend.engine
    sides = [Rows(engine.table((v,), np.arange(2_000)[np.newaxis])) for v in "xy"]
    product = Project(Join(*sides, ("x", "y")), ("x", "y"), "keep")
    work = Work(engine.relation("product", 2), product, 1)
    engine.run([work], limit=10)
    assert work.rows is not None and 10 < work.rows < 4_000_000
    assert 10 < len(engine.collect(product, limit=10)) < 4_000_000
