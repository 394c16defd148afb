"""Updates on Spark equal updates on the local engine: every kind of module, negation, counters, in a sequence."""

from __future__ import annotations

from typing import Any

import pytest

from modulog import Reasoner
from spark.whole import all_rows

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAM = """
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
    same(?x, ?y) :- eq(?x, ?y) .
    same(?y, ?x) :- same(?x, ?y) .
    same(?x, ?z) :- same(?x, ?y), same(?y, ?z) .
    alone(?x) :- node(?x), ~path(?x, _) .
    r(?x, ?y) :- e(?x, ?y) .
    r(?x, ?z) :- r(?x, ?y), r(?y, ?z) .
    r(?x, ?y) :- t(?x, ?y) .
    t(?y, ?x) :- r(?x, ?y), u(?x), ~same(?x, ?y) .
"""
CHAIN = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z), ~u(?y) ."
FACTS = {
    "edge": [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")],
    "eq": [("a", "c"), ("c", "d"), ("x", "y")],
    "node": [(n,) for n in "abcdxy"],
    "e": [("a", "b"), ("b", "c"), ("c", "d")],
    "u": [("a",), ("b",)],
}
UPDATES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"edge": [("d", "x")], "u": [("c",)], "path": [("y", "a")]}, {"edge": [("c", "a")], "node": [("q",)]}),
    ({}, {"edge": [("c", "d")], "eq": [("a", "c")], "e": [("a", "b")], "u": [("b",)]}),
]


@pytest.mark.parametrize(
    ("program", "options", "updates"),
    [(PROGRAM, {}, UPDATES), (CHAIN, {"modules": "off", "maintenance": "dredc"}, UPDATES[1:])],
    ids=["modules", "dredc"],
)
def test_updates_equal_the_local_engine(
    spark: Any, program: str, options: dict[str, Any], updates: list[tuple[dict[str, Any], dict[str, Any]]]
) -> None:
    with Reasoner(program, spark=spark, local_limit=0, **options) as there:
        here = Reasoner(program, engine="local", **options)
        for reasoner in (there, here):
            for name, rows in FACTS.items():
                reasoner.add(name, rows)
            reasoner.materialise()
        for add, delete in updates:
            changes = [reasoner.update(add=add, delete=delete) for reasoner in (there, here)]
            assert changes[0].added == changes[1].added
            assert changes[0].deleted == changes[1].deleted
            assert changes[0].ignored == changes[1].ignored
            found = all_rows(there)
            for predicate in here.predicates():
                assert sorted(found[predicate.name]) == sorted(here.rows(predicate.name)), predicate
        some = next(iter(changes[1].deleted))
        assert sorted(changes[0].rows(some, deleted=True)) == sorted(changes[1].rows(some, deleted=True))
