"""Rules along hypertree decompositions on Spark give what they give on the local engine, at first and after an update: semi-joins and counters."""

from __future__ import annotations

from typing import Any

import pytest

from modulog import Reasoner
from modulog.planning import narrowing
from spark.whole import all_rows

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAM = """
    pc(?x, ?y) :- cw(?x, ?a), ca(?x, ?b), pc(?a, ?y), pc(?b, ?y) .
    h(?x, ?n) :- cw(?x, ?a), t(?a, ?u), ca(?x, ?b), t(?b, ?u), ~no(?x), ?n = ?u + 1 .
"""
FACTS = {
    "cw": [(1, 2), (1, 4), (9, 1)],
    "ca": [(1, 3), (9, 1)],
    "pc": [(2, 7), (3, 7), (4, 7)],
    "t": [(2, 5), (3, 5), (4, 5), (4, 6), (1, 1)],
    "no": [(8,)],
}


def test_equals_the_local_engine(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrowing, "FEWER", 0.0)
    options: dict[str, Any] = {"modules": "off", "decompose": "all"}
    with Reasoner(PROGRAM, spark=spark, local_limit=0, **options) as there:
        here = Reasoner(PROGRAM, engine="local", **options)
        for reasoner in (there, here):
            for name, rows in FACTS.items():
                reasoner.add(name, rows)
            assert reasoner.materialise().decomposed_rules == 2
        change = {"delete": {"cw": [(1, 2)]}, "add": {"no": [(9,)], "t": [(3, 6)]}}
        changes = [reasoner.update(**change) for reasoner in (there, here)]
        assert (changes[0].added, changes[0].deleted) == (changes[1].added, changes[1].deleted)
        found = all_rows(there)
        for predicate in here.predicates():
            assert sorted(found[predicate.name]) == sorted(here.rows(predicate.name)), predicate
