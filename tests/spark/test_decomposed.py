"""Rules along hypertree decompositions on Spark give what they give on the local engine, at first and after updates: semi-joins, tables and counters."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from modulog import Reasoner
from modulog.algebra.expressions import Expr, SemiJoin
from modulog.engines.spark import relation
from modulog.engines.spark.engine import SparkEngine
from modulog.joins import decompose
from modulog.modules.tree_join import CrossNode
from support.cyclic_programs import cyclic_story
from support.reasoners import with_switches
from support.spark_stories import tell
from support.whole import all_rows

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
FURTHER = [(100 + i, 200 + i) for i in range(20)]
"""So many more facts of each predicate make a tree of two nodes the cheapest; nothing follows from them."""


def tables(engine: Any) -> int:
    """How many tables of nodes are kept."""
    gc.collect()
    return sum(kept.name.endswith(" node") for kept in engine.relations)


@pytest.mark.long
def test_equals_the_local_engine(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decompose, "FEWER", 0.0)
    options: dict[str, Any] = {"modules": "off", "decompose": "all"}
    with Reasoner(PROGRAM, spark=spark, **with_switches(options)) as there:
        here, engine = Reasoner(PROGRAM, engine="local", **with_switches(options)), there._backend.engine
        collect, reductions = SparkEngine.collect, list[bool]()

        def spying(self: SparkEngine, expr: Expr, limit: int | None = None) -> Any:
            reductions.append(isinstance(expr, SemiJoin))
            return collect(self, expr, limit)

        monkeypatch.setattr(SparkEngine, "collect", spying)
        for reasoner in (there, here):
            for name, rows in FACTS.items():
                reasoner.add(name, rows if name == "no" else rows + FURTHER)
            statistics = reasoner.materialise()
            assert statistics.decomposed_rules == 2 and statistics.node_bytes > 0
        assert any(reductions), "tables are reduced by semi-joins"
        assert str(there.plan()).count("along a tree of width 2") == 2
        assert tables(engine) == 0, "no table outlives a materialisation"
        change = {"delete": {"cw": [(1, 2)]}, "add": {"no": [(9,)], "t": [(3, 6)]}}
        changes = [reasoner.update(**change) for reasoner in (there, here)]
        assert (changes[0].added, changes[0].deleted) == (changes[1].added, changes[1].deleted)
        assert tables(engine) > 0 and changes[0].statistics.node_bytes > 0
        found = all_rows(there)
        for predicate in here.predicates():
            assert sorted(found[predicate.name]) == sorted(here.rows(predicate.name)), predicate


@pytest.mark.parametrize(("seed", "updates"), [(30, 1), pytest.param(16, 1, marks=pytest.mark.long)])
def test_random_cyclic_bodies(spark: Any, monkeypatch: pytest.MonkeyPatch, seed: int, updates: int) -> None:
    """Few facts are taken for many, so that trees have several nodes."""
    monkeypatch.setattr(relation, "GUESSED", 0.3)
    reduce, nodes = CrossNode._reduce, list[int]()

    def spying(self: CrossNode, delta: int | None) -> bool:
        nodes.append(len(self.active))
        return reduce(self, delta)

    monkeypatch.setattr(CrossNode, "_reduce", spying)
    tell(cyclic_story(seed, updates), spark, modules="off", decompose="all")
    assert max(nodes) > 1
