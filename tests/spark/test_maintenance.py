"""Updates on Spark equal updates on the local engine: every kind of module, negation, counters, in a sequence."""

from __future__ import annotations

from typing import Any

import pytest

from modulog import Reasoner, SparkOptions
from support.module_programs import story
from support.spark_stories import tell
from support.whole import all_rows

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
FACTS = {
    "edge": [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")],
    "eq": [("a", "c"), ("c", "d"), ("x", "y")],
    "node": [(n,) for n in "abcdxy"],
    "e": [("a", "b"), ("b", "c"), ("c", "d")],
    "u": [("a",), ("b",)],
}
ADD: dict[str, Any] = {"edge": [("d", "x")], "u": [("c",)], "path": [("y", "a")]}
DELETE: dict[str, Any] = {
    "edge": [("c", "a")],
    "node": [("q",)],
    "eq": [("a", "c")],
    "e": [("a", "b")],
    "u": [("b",)],
}


@pytest.mark.long
def test_updates_equal_the_local_engine(spark: Any) -> None:
    with Reasoner(PROGRAM, spark=spark) as there:
        here = Reasoner(PROGRAM, engine="local")
        for reasoner in (there, here):
            for name, rows in FACTS.items():
                reasoner.add(name, rows)
            reasoner.materialise()
        changes = [reasoner.update(add=ADD, delete=DELETE) for reasoner in (there, here)]
        assert changes[0].added == changes[1].added
        assert changes[0].deleted == changes[1].deleted
        assert changes[0].ignored == changes[1].ignored
        found = all_rows(there)
        for predicate in here.predicates():
            assert sorted(found[predicate.name]) == sorted(here.rows(predicate.name)), predicate
        some = next(iter(changes[1].deleted))
        assert sorted(changes[0].rows(some, deleted=True)) == sorted(changes[1].rows(some, deleted=True))


STORIES = [
    pytest.param(3, 2, "auto", "auto", marks=pytest.mark.partitions),
    pytest.param(1, 1, "auto", "auto", marks=[pytest.mark.long, pytest.mark.partitions]),
    pytest.param(4, 1, "off", "dred", marks=pytest.mark.long),
    pytest.param(7, 1, "auto", "recompute", marks=pytest.mark.long),
    pytest.param(5, 1, "off", "dredc", marks=pytest.mark.long),
    pytest.param(6, 1, "auto", "dred", marks=pytest.mark.long),
]


@pytest.mark.parametrize(("seed", "updates", "modules", "maintenance"), STORIES)
def test_random_programs_with_updates(
    spark: Any, seed: int, updates: int, modules: str, maintenance: str
) -> None:
    tell(story(seed, updates), spark, modules=modules, maintenance=maintenance)


SYMMETRIC = """
same(?x, ?y) :- alike(?x, ?y) .
same(?y, ?x) :- same(?x, ?y) .
same(?x, ?z) :- same(?x, ?y), same(?y, ?z) .
"""
SHARED = SYMMETRIC + "same(?x, ?y) :- hint(?x, ?z), same(?z, ?y) ."


@pytest.mark.long
@pytest.mark.parametrize("program", [SYMMETRIC, SHARED], ids=["alone", "beside other recursion"])
def test_components_that_are_not_gathered(spark: Any, program: str) -> None:
    """With a limit of one edge components are found, and told apart, by Spark alone."""
    chain = [(str(i), str(i + 1)) for i in range(6)]
    add = {"alike": [("6", "0"), ("x", "y")], "hint": [("y", "2")]}
    delete = {"alike": [("2", "3"), ("4", "5")]}
    there = Reasoner(program, spark=SparkOptions(session=spark, broadcast_limit=1))
    here = Reasoner(program, engine="local")
    with there:
        for r in (there, here):
            r.add("alike", chain)
            r.add("hint", [("z", "3")])
        assert sorted(all_rows(there)["same"]) == sorted(here.rows("same"))
        changes = [r.update(add=add, delete=delete) for r in (there, here)]
        assert changes[0].added == changes[1].added and changes[0].deleted == changes[1].deleted
        assert sorted(all_rows(there)["same"]) == sorted(here.rows("same"))
