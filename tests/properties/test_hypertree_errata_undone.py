"""Every correction of the hypertree paper matters: with one undone, its case folder gives wrong results along
decompositions.

docs/errata.md describes the errors, `cases/errata-h*` hold their examples. Tables keep as little as they may
here, so that small examples have rows with several matches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from modulog.algebra.expressions import Project
from modulog.engines.relation import Version
from modulog.joins import decompose
from modulog.joins.decompose import Choice, Search
from modulog.joins.decomposition import HypertreeNode
from modulog.maintenance.support import Support
from modulog.modules import clause_changes, seminaive
from modulog.modules.clause import Evaluation, Prepared
from modulog.modules.decomposed_clause import TreeTables
from modulog.modules.derivation_counts import Counting
from modulog.modules.node_table import NodeTable
from support.case_folders import HERE, play
from support.switches import UPDATING

pytestmark = pytest.mark.filterwarnings("ignore")

DECOMPOSED = {"modules": "off", "decompose": "all"}
"""Every rule with two atoms or more along a hypertree decomposition."""
FOLDERS = sorted(folder.name.removeprefix("errata-") for folder in HERE.glob("errata-h*"))


@pytest.fixture
def undo(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(decompose, "FEWER", 0.0)
    return monkeypatch


def right(name: str) -> bool:
    """Whether a case gives right results with every rule decomposed."""
    try:
        play(HERE / f"errata-{name}", DECOMPOSED, "local")
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize("how", ["auto", "dred", "dredc"])
def test_as_it_is(undo: pytest.MonkeyPatch, name: str, how: str) -> None:
    play(HERE / f"errata-{name}", DECOMPOSED | {"maintenance": how}, "local")


def test_h1_atoms_that_nobody_checks(undo: pytest.MonkeyPatch) -> None:
    """Conditions 1 to 4 as printed: an atom whose variables a node happens to hold counts as done."""
    tree = Search.tree

    def covered(self: Search, choice: Choice) -> HypertreeNode:
        found = tree(self, choice)
        return replace(found, atoms=found.cover)

    undo.setattr(Search, "tree", covered)
    assert not right("h1")


def only_new(self: Counting, evaluations: Sequence[Evaluation], sign: int) -> Any:
    """Count what Algorithm 3 assigns: matches for rows that are not there."""
    work, counters = change(self, evaluations, 0), self.counters
    assert counters is not None
    for item in work:
        rows = self.engine.collect(item.expr)
        there = {*map(tuple, self.relation.contains(rows, "all").ids.T.tolist())}  # type: ignore[attr-defined]
        if sign < 0 or not there.issuperset(map(tuple, rows.ids.T.tolist())):  # type: ignore[attr-defined]
            counters.adjust(rows, sign)
    return work


change = Counting.change


def test_h2_matches_of_rows_that_are_there(undo: pytest.MonkeyPatch) -> None:
    undo.setattr(Counting, "change", only_new)
    assert not right("h2")


def test_h4_rows_instead_of_matches(undo: pytest.MonkeyPatch) -> None:
    chosen = Evaluation.chosen

    def distinct(self: Evaluation) -> Project:
        found = chosen(self)
        return Project(found.child, found.args, "set" if found.how == "sum" else found.how)

    undo.setattr(Evaluation, "chosen", distinct)
    assert not right("h4")


def test_h5_what_returns_has_no_support(undo: pytest.MonkeyPatch) -> None:
    """Here nothing counts heads: without the question to the tables, h(a, 2) would be lost."""
    made = Support.__init__

    def silent(self: Support, *arguments: Any) -> None:
        made(self, *arguments)
        self.queries = []

    undo.setattr(Support, "__init__", silent)
    assert not right("h5")


def test_h6_tables_that_start_empty(undo: pytest.MonkeyPatch) -> None:
    def nothing(self: NodeTable, version: Version, own: Version | None = None) -> None:
        self.built = True
        if self.counting is not None:
            self.counting.counters = self.engine.counters("", self.relation.arity)

    undo.setattr(NodeTable, "build", nothing)
    assert not right("h6")


def test_h7_rows_go_with_their_first_match(undo: pytest.MonkeyPatch) -> None:
    """As Algorithm 5 does; here nothing restores them."""

    def leave(self: NodeTable, variants: Any) -> None:
        self._schedule(variants, -1)
        self.relation.derive(leaving=True)

    undo.setattr(NodeTable, "_leave", leave)
    assert not right("h2")


def test_h9_both_atoms_read_the_smaller_state(undo: pytest.MonkeyPatch) -> None:
    def small(delta: int, atom: int, below: Version, own: bool) -> Version:
        return below if not own else "delta" if atom == delta else "old"

    undo.setattr(seminaive, "_version", small)
    assert not right("h9")


def test_h9_matches_that_lose_two_facts_are_counted_twice(undo: pytest.MonkeyPatch) -> None:
    """Both atoms read the larger state: only tables count, and theirs is the triangle of what changes below."""
    evaluation = Prepared.evaluation

    def overlapping(self: Prepared, versions: Sequence[Version], *rest: Any, **more: Any) -> Evaluation:
        state: Version = "before" if "gone" in versions else "after"
        return evaluation(self, [state if v == "kept" else v for v in versions], *rest, **more)

    undo.setattr(Prepared, "evaluation", overlapping)
    assert not right("h9b")


def test_h15_negated_atoms_outside_the_triangle(undo: pytest.MonkeyPatch) -> None:
    evaluations = clause_changes._evaluations

    def apart(clause: Prepared, source: int, state: Version, *rest: Any) -> Any:
        for evaluation in evaluations(clause, source, state, *rest):
            reads = tuple(replace_version(read, state) for read in evaluation.body.reads)
            evaluation.body = replace(evaluation.body, reads=reads)
            yield evaluation

    undo.setattr(clause_changes, "_evaluations", apart)
    assert not right("h15")


def replace_version(read: Any, state: Version) -> Any:
    return type(read)(read.relation, read.args, state if read.version == "kept" else read.version)


def test_every_case_is_right_without_trees() -> None:
    """The examples say what holds, whatever evaluates them."""
    for name in FOLDERS:
        play(HERE / f"errata-{name}", UPDATING[0], "local")


def test_tables_are_used(undo: pytest.MonkeyPatch) -> None:
    """The examples have tables with several matches for a row: otherwise nothing above would be shown."""
    seen: set[str] = set()
    begin = TreeTables.begin

    def noted(self: TreeTables) -> None:
        begin(self)
        seen.update(type(node.counting).__name__ for node in self.nodes)

    undo.setattr(TreeTables, "begin", noted)
    assert right("h2") and "Counting" in seen
