"""Closures that are represented on Spark hold what the local engine lists, after every update, wherever they are read; stores keep them for either engine."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contracts.test_compact_relations import ClosurePair
from modulog import Reasoner
from modulog.engines.spark.engine import SparkEngine
from modulog.engines.spark.terms import SparkTerms
from spark.test_contract import SparkPair

CLOSURES = """
tc(?x, ?y) :- e(?x, ?y) .   tc(?x, ?z) :- tc(?x, ?y), tc(?y, ?z) .
rf(?x, ?y) :- e(?x, ?y) .   rf(?x, ?z) :- rf(?x, ?y), rf(?y, ?z) .   rf(?x, ?x) :- rf(?x, ?y) .   rf(?y, ?y) :- rf(?x, ?y) .
rl(?x, ?y) :- b(?x, ?y) .   rl(?x, ?z) :- rl(?x, ?y), e(?y, ?z) .
ll(?x, ?y) :- b(?x, ?y) .   ll(?x, ?z) :- e(?x, ?y), ll(?y, ?z) .
sy(?x, ?y) :- f(?x, ?y) .   sy(?y, ?x) :- sy(?x, ?y) .   sy(?x, ?z) :- sy(?x, ?y), sy(?y, ?z) .
"""
SCHEMES = {
    "tc": "closure",
    "rf": "reflexive closure",
    "rl": "right-linear",
    "ll": "left-linear",
    "sy": "components",
}
READERS = """
two(?x, ?z) :- tc(?x, ?y), rl(?y, ?z) .      range(?y) :- ll(?x, ?y) .         loop(?x) :- tc(?x, ?x) .
apart(?x, ?y) :- b(?x, ?y), ~tc(?x, ?y) .    alone(?x) :- b(?x, ?y), ~sy(?x, _) .
to3(?x) :- rf(?x, 3) .                       round(?x, ?y, ?z) :- b(?x, ?y), tc(?y, ?z), sy(?z, ?x) .
"""
RECURSIVE = """
met(?x) :- b(1, ?x) .   met(?y) :- met(?x), tc(?x, ?y) .
on(?x, ?y) :- f(?x, ?y) .   on(?x, ?z) :- on(?x, ?y), sy(?y, ?u), f(?u, ?z), ~rl(?x, ?z) .
"""
QUERIES = [
    "tc(1, ?y)",
    "tc(?x, 2), ~sy(?x, 2)",
    "sy(?x, ?x)",
    "b(?x, ?y), tc(?y, _)",
    "rl(4, 5)",
    "rl(?x, ?y), f(?u, ?v)",
]
GIVEN = {"e": 16, "b": 10, "f": 7}


class Two:
    """The same program in the local engine, listed, and on Spark, represented."""

    def __init__(self, spark: Any, program: str, local_limit: int, **limits: int) -> None:
        self.chance = random.Random(2)
        self.local = Reasoner(program, storage="plain")
        self.spark = Reasoner(program, spark=spark, storage="compact", local_limit=local_limit, **limits)
        for name, number in GIVEN.items():
            rows = self.some(number)
            for reasoner in (self.local, self.spark):
                reasoner.add(name, rows)
        self.names = sorted({str(p).split("/")[0] for p in self.local.program.predicates()})

    def some(self, number: int) -> list[tuple[int, int]]:
        return [(self.chance.randrange(14), self.chance.randrange(14)) for _ in range(number)]

    def update(self, more: int = 3) -> None:
        add = {name: self.some(more) for name in GIVEN}
        there = {name: sorted(map(tuple, self.local.rows(name))) for name in GIVEN}
        delete = {name: self.chance.sample(rows, min(3, len(rows))) for name, rows in there.items()}
        changes = [r.update(add=add, delete=delete) for r in (self.local, self.spark)]
        assert str(changes[0]).splitlines()[0] == str(changes[1]).splitlines()[0]

    def agree(self) -> None:
        assert {n: self.spark.count(n) for n in self.names} == {n: self.local.count(n) for n in self.names}
        for name in self.names:
            assert sorted(self.spark.rows(name)) == sorted(self.local.rows(name)), name

    def agree_on(self, queries: list[str]) -> None:
        for query in queries:
            assert self.spark.count(query) == self.local.count(query), query
            rows = [sorted(map(str, r.query(query).to_pylist())) for r in (self.local, self.spark)]
            assert rows[0] == rows[1], query


def represented(reasoner: Reasoner) -> dict[str, str]:
    reasoner.materialise()
    return {p.name: r.scheme for p, r in reasoner._facts.derived.items() if not r.listed}


@pytest.mark.long
def test_every_kind_on_the_executors(spark: Any) -> None:
    two = Two(spark, CLOSURES + READERS, local_limit=0)
    assert represented(two.spark) == SCHEMES
    assert "listed by executors" in str(two.spark.plan())
    two.agree()
    two.agree_on(QUERIES)


def test_updates_on_the_driver(spark: Any) -> None:
    two = Two(spark, CLOSURES + READERS + RECURSIVE, local_limit=100_000)
    two.agree()
    for _ in range(3):
        two.update()
        two.agree()
    two.agree_on(QUERIES)


def test_an_update_outgrows_the_limit(spark: Any) -> None:
    """More edges than may come to the driver: the closure goes on with joins, the components stay represented."""
    rules = [line for line in CLOSURES.splitlines() if line.startswith(("tc", "sy"))]
    readers = "further(?x, ?z) :- b(?x, ?y), tc(?y, ?z) .   apart(?x, ?y) :- b(?x, ?y), ~sy(?x, ?y) ."
    two = Two(spark, "\n".join([*rules, readers]), local_limit=30, broadcast_limit=20)
    assert represented(two.spark) == {"tc": "closure", "sy": "components"}
    two.update(more=12)
    assert represented(two.spark) == {"sy": "components"}
    assert "`broadcast_limit` is 20" in str(two.spark.plan())
    two.agree()


class SparkClosurePair(ClosurePair, SparkPair):
    """A closure and its model; versions are compared in one job."""

    check = SparkPair.check


def test_versions_are_listed_by_executors(spark: Any, tmp_path: Path) -> None:
    engine = SparkEngine(spark, SparkTerms(spark, f"{tmp_path}/terms"), f"{tmp_path}/facts", local_limit=0)

    def table(rows: Any, arity: int) -> Any:
        return engine.table(("c0", "c1"), np.array(rows, np.int64).reshape(len(rows), arity).T)

    p = SparkClosurePair("closure", 3, engine.relation("r", 2, "closure"), table)
    for step in ("add", "merge", "begin", "delete", "merge", "add"):
        p.step(step)
    p.check()
    relation: Any = p.relation
    engine.broadcast_limit = 3
    p.step("merge")
    assert not relation.holds(4) and relation.listed
    assert relation.size("before") == len(p.model.version("before"))
    p.step("rollback")
    assert not relation.listed
    p.check()


def test_what_is_not_represented(spark: Any) -> None:
    plain = Reasoner(CLOSURES, spark=spark, storage="plain")
    few = Reasoner(CLOSURES, spark=spark, storage="auto")
    beyond = Reasoner(CLOSURES, spark=spark, storage="compact", broadcast_limit=2)
    for reasoner in (plain, few, beyond):
        for name, rows in {"e": [(1, 2), (2, 3), (3, 4)], "b": [], "f": []}.items():
            reasoner.add(name, rows)
        assert represented(reasoner).get("tc") is None
        assert reasoner.count("tc") == 6
    assert "listed: 6 pairs" in str(few.plan())
    assert "`broadcast_limit` is 2" in str(beyond.plan())


def test_views_and_shared_closures_are_listed(spark: Any) -> None:
    program = """
        u(?x, ?y) :- e(?y, ?x) .   u(?x, ?y) :- f(?x, ?y) .   p(?x, ?y) :- u(?x, ?y) .   from(?x) :- b(?x, ?y) .
        p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .   p(?x, ?y) :- p(?y, ?z), q(?z, ?x) .   q(?x, ?y) :- p(?x, ?y), f(?x, ?y) .
    """
    two = Two(spark, program, local_limit=100_000)
    assert represented(two.spark) == {}
    assert "no views of unions and inverses" in str(two.spark.plan())
    two.update()
    two.agree()


VIEWS = "up(?x, ?y) :- tc(?x, ?y) .   up(?y, ?x) :- ll(?x, ?y) .   up(?x, ?y) :- b(?x, ?y), ~sy(?x, ?y) ."


@pytest.mark.parametrize("writer", ["local", "spark"])
@pytest.mark.parametrize("rules", ["", VIEWS], ids=["closures", "views"])
def test_a_store_keeps_it_compact(spark: Any, tmp_path: Path, writer: str, rules: str) -> None:
    """Views are listed on Spark, so that a store with them is computed again by the other engine."""
    two = Two(spark, CLOSURES + rules, local_limit=100_000)
    compact = Reasoner(CLOSURES + rules, storage="compact")
    for name in GIVEN:
        compact.add(name, two.local.rows(name))
    first = two.spark if writer == "spark" else compact
    first.materialise()
    changes = [
        {"add": {"e": [(3, 1), (99, 3)]}, "delete": {"e": two.local.rows("e")[:2]}},
        {"add": {"f": [(1, 99)]}},
    ]
    for reasoner in (first, two.local):
        reasoner.update(**changes[0])
    first.save(tmp_path)
    assert not list(tmp_path.glob("facts/2/p=tc*"))
    with Reasoner.open(tmp_path, **({} if writer == "spark" else {"spark": spark})) as opened:
        assert SCHEMES.items() <= represented(opened).items()
        for change in ({}, changes[1]):
            if change:
                two.local.update(**change)
                opened.update(**change)
            for name in two.names:
                assert sorted(opened.rows(name)) == sorted(two.local.rows(name)), name


def test_a_store_beyond_the_limit_is_computed_again(spark: Any, tmp_path: Path) -> None:
    two = Two(spark, CLOSURES, local_limit=100_000)
    two.spark.save(tmp_path)
    with Reasoner.open(tmp_path, spark=spark, broadcast_limit=10) as opened:
        assert represented(opened) == {"sy": "components"}
        assert {name: opened.count(name) for name in two.names} == {n: two.local.count(n) for n in two.names}
