"""A module that has only what no module inherits: add, delete and rederive are enough for rounds, updates and stores."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from modulog import Reasoner, Switches
from modulog.engines.engine import Work
from modulog.engines.relation import Version
from modulog.evaluation import stratum
from modulog.modules.clause import prepare
from modulog.modules.clause_changes import due, rederivation
from modulog.modules.module import Module

PROGRAM = "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . p(?y, ?x) :- p(?x, ?y), back(?x) ."


class AllAgain(Module):
    """Evaluates every clause again in each round, over everything that holds."""

    def __init__(self, plan: Any, number: int, stratum: Any, context: Any) -> None:
        self.number = number
        self.clauses = [prepare(clause, context, stratum.predicates) for clause in plan.clauses]
        made.append(self)

    def add(self) -> list[Work]:
        return [clause.whole("after", self.number, own="all").work() for clause in self.clauses]

    def delete(self) -> list[Work]:
        """An instance with a leaving fact: each atom of the stratum reads Δ in turn."""
        work = []
        for clause in self.clauses:
            for place, atom in enumerate(clause.atoms):
                versions: list[Version] = ["all" if a.own else "before" for a in clause.atoms]
                if atom.own:
                    versions[place] = "delta"
                    work.append(clause.evaluation(versions, self.number).work())
        return work

    def rederive(self) -> list[Work]:
        return [e.work() for e in due([rederivation(clause, self.number) for clause in self.clauses])]


made: list[AllAgain] = []


def test_a_module_of_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It takes the place of the seminaive module, through updates and a store, and gives the same facts."""
    made.clear()
    monkeypatch.setattr(stratum, "make_module", AllAgain)
    random = Random(3)
    pairs = [(random.randrange(12), random.randrange(12)) for _ in range(30)]
    own = Reasoner(PROGRAM, switches=Switches(modules="off"))
    own.add("e", pairs[:20])
    own.add("back", [(3,), (7,)])
    own.materialise()
    assert made
    for turn in range(6):
        leaving, coming = random.sample(pairs, 4), random.sample(pairs, 3)
        own.update(delete={"e": leaving}, add={"e": coming})
        if turn == 2:
            own.save(tmp_path / "store")
            own = Reasoner.open(tmp_path / "store", engine="local")
        assert set(own.rows("p")) == follows({*own.rows("e")}, {3, 7}), turn


def follows(edges: set[tuple[int, int]], back: set[int]) -> set[tuple[int, int]]:
    """What the program derives."""
    pairs: set[tuple[int, int]] = set()
    more = edges
    while more - pairs:
        pairs |= more
        more = {(x, z) for x, y in pairs for u, z in pairs if u == y} | {
            (y, x) for x, y in pairs if x in back
        }
    return pairs


def test_what_no_module_inherits() -> None:
    """Without the three functions that every module must have there is no module."""

    class Nothing(Module):
        number = 1

    with pytest.raises(TypeError, match="add"):
        Nothing()  # type: ignore[abstract]
