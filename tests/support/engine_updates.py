"""Relations for engines to read: filled in rounds, or by updates some of which are still under way."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np

from modulog.algebra import expressions as p
from modulog.engines.engine import Engine, Work
from support.engine_model import Row, bag_of, closure
from support.relation_reads import scan, take_away


def table_of(engine: Engine, arity: int, rows: Any) -> Any:
    """A table of rows of ids."""
    ids = np.array(list(rows), np.int32).reshape(len(rows), arity).T
    return engine.table(tuple(f"c{j}" for j in range(arity)), np.ascontiguousarray(ids))


def fill(engine: Engine, arity: int, facts: Any, parts: int = 1) -> Any:
    """A relation with facts that came in parts, the last of them still in delta."""
    relation = engine.relation(f"r{arity}", arity)
    every = list(facts)
    for k in range(parts):
        relation.merge()
        relation.schedule(table_of(engine, arity, every[k::parts]), k % 3)
        relation.derive()
    return relation


def updated(engine: Engine, arity: int, facts: set[Row], parts: int = 1) -> Any:
    """A relation whose facts are what updates have left: others were there, some came late, some are about to
    leave.
    """
    choose = random.Random(len(facts) * 7 + parts)
    others = {tuple(choose.choices(range(6), k=arity)) for _ in range(2 * len(facts))} - facts
    late = set(choose.sample(sorted(facts), len(facts) // 3))
    relation = fill(engine, arity, (facts - late) | others)
    relation.merge()
    for k in range(parts):
        relation.begin()
        take_away(relation, table_of(engine, arity, sorted(others)[k::parts]))
        relation.schedule(table_of(engine, arity, sorted(late)[k::parts]), k % 3)
        relation.derive()
        relation.merge()
        if k + 1 < parts or choose.random() < 0.5:
            relation.commit()
            continue
        relation.rest()
        relation.schedule(table_of(engine, arity, choose.sample(sorted(facts), len(facts) // 2)), 1)
        relation.derive(leaving=True)
    return relation


# ---- The contract of engines about updates


class Closure:
    """path(x, y) ← edge(x, y); path(x, z) ← path(x, y), edge(y, z): deleted by rounds, derived again by
    rounds.
    """

    def __init__(self, engine: Any, edges: set[Row]) -> None:
        self.engine = engine
        self.edge, self.path = fill(engine, 2, edges), engine.relation("path", 2)
        self.edge.merge()
        self.rounds(self.copy("old"), self.step("delta", "old"), leaving=False)

    def copy(self, version: Any) -> list[Work]:
        read = p.Read(self.edge, ("x", "y"), version)
        return [Work(self.path, p.Project(read, ("x", "y"), "keep"), 0)]

    def step(self, path: Any, edge: Any) -> list[Work]:
        join = p.Join(p.Read(self.path, ("x", "y"), path), p.Read(self.edge, ("y", "z"), edge), ("x", "z"))
        return [Work(self.path, p.Project(join, ("x", "z"), "keep"), 1)]

    def rounds(self, first: list[Work], then: list[Work], leaving: bool) -> None:
        self.engine.run(first)
        while self.path.derive(leaving):
            self.engine.run(then)
            self.path.merge()
        self.path.rest()

    def update(self, deleted: set[Row], added: set[Row]) -> None:
        self.edge.begin()
        self.path.begin()
        take_away(self.edge, table_of(self.engine, 2, deleted))
        self.edge.schedule(table_of(self.engine, 2, added), 0)
        self.edge.derive()
        self.edge.merge()
        gone = [*self.copy("gone"), *self.step("before", "gone")]
        self.rounds(gone, self.step("delta", "before"), leaving=True)
        again = [*self.copy("after"), *self.step("after", "after")]
        self.rounds(again, self.step("delta", "after"), leaving=False)

    def facts(self, version: Any) -> set[Row]:
        found = bag_of(scan(self.path, ("x", "y"), version), ("x", "y"))
        assert set(found.values()) <= {1} and self.path.size(version) == len(found)
        return set(found)


def check_a_closure_through_updates(
    make_engine: Any, edges: set[Row], changes: list[tuple[set[Row], set[Row], bool]]
) -> None:
    """After each update the closure is that of the new edges, and the net change is the difference."""
    it = Closure(make_engine(terms=9), edges)
    before = closure(edges)
    assert it.facts("all") == before
    for deleted, added, stays in changes:
        after = closure(new := (edges - deleted) | added)
        it.update(deleted, added)
        assert it.facts("before") == before and it.facts("after") == it.facts("all") == after
        assert it.facts("gone") == before - after and it.facts("come") == after - before
        assert it.facts("kept") == before & after and it.facts("either") == before | after
        for relation in (it.edge, it.path):
            relation.commit() if stays else relation.rollback()
        edges, before = (new, after) if stays else (edges, before)
        assert it.facts("all") == before and not it.facts("come") and not it.facts("gone")


def check_filters_over_layers(
    make_engine: Any, facts: set[Row], gone: set[Row], come: set[Row], leave: set[Row], version: Any
) -> None:
    """Semi-joins, anti-joins and counts subtract what is hidden."""
    engine = make_engine(terms=9)
    relation = fill(engine, 2, facts)
    relation.merge()
    relation.begin()
    take_away(relation, table_of(engine, 2, gone))
    relation.schedule(table_of(engine, 2, come), 0)
    relation.derive()
    relation.merge()
    relation.rest()
    relation.schedule(table_of(engine, 2, leave), 0)
    relation.derive(leaving=True)
    now = (facts - gone) | come
    expected = {"all": now, "old": now - leave, "kept": facts - (gone - come), "either": facts | come}[
        version
    ]
    left = p.Rows(table_of(engine, 1, [(k,) for k in range(9)]), ("y",))
    for kind, wanted in ((p.SemiJoin, True), (p.AntiJoin, False)):
        found = bag_of(engine.evaluate(kind(left, p.Read(relation, ("x", "y"), version), ("y",))), ("y",))
        assert found == Counter((k,) for k in range(9) if (k in {y for _, y in expected}) == wanted)
    pairs = bag_of(
        engine.evaluate(p.Join(left, p.Read(relation, ("x", "y"), version), ("x", "y"))), ("x", "y")
    )
    assert pairs == Counter(expected)
