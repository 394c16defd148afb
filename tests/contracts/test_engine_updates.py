"""Rules evaluated during updates: facts leave and come in rounds, every version is read by joins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.test_engine import SETTINGS, bag_of, closure, patched
from modulog.algebra import expressions as p
from modulog.engines.engine import Work
from support.engine_model import Row
from support.engine_updates import fill, table_of
from support.relation_reads import scan, take_away

SETTINGS_OF_LEVELS = {"modulog.engines.local.versions.SMALL": 0, "modulog.engines.local.versions.RATIO": 2}
EDGES = st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=25)
CHANGES = st.lists(st.tuples(EDGES, EDGES, st.booleans()), min_size=1, max_size=5)


@pytest.fixture(scope="module", params=SETTINGS.values(), ids=SETTINGS)
def limits(request: pytest.FixtureRequest) -> Iterator[None]:
    with patched(request.param | (SETTINGS_OF_LEVELS if request.param else {})):
        yield


class Closure:
    """path(x, y) ← edge(x, y); path(x, z) ← path(x, y), edge(y, z): deleted by rounds, derived again by rounds."""

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


@pytest.mark.usefixtures("limits")
@given(edges=EDGES, changes=CHANGES)
def test_a_closure_through_updates(
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


@pytest.mark.usefixtures("limits")
@given(
    facts=EDGES,
    gone=EDGES,
    come=EDGES,
    leave=EDGES,
    version=st.sampled_from(["all", "old", "kept", "either"]),
)
def test_filters_over_layers(
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


@pytest.mark.usefixtures("limits")
@given(facts=EDGES, other=EDGES, first=st.booleans(), data=st.data())
def test_facts_that_are_known_to_be_there(
    make_engine: Any, facts: set[Row], other: set[Row], first: bool, data: st.DataObject
) -> None:
    """What leaves is the same whether or not work says that its facts are there; work that does not say so beside it, and facts that left before, count."""
    engine = make_engine(terms=9)
    relation = fill(engine, 2, facts)
    relation.merge()
    relation.begin()
    known = data.draw(st.sets(st.sampled_from(sorted(facts)))) if facts else set()
    gone = set() if first else set(sorted(known)[:2])
    if gone:
        take_away(relation, table_of(engine, 2, gone))
    project = [p.Project(p.Rows(table_of(engine, 2, rows)), ("c0", "c1"), "keep") for rows in (known, other)]
    engine.run([Work(relation, project[0], 1, there=True), Work(relation, project[1], 2)][: 1 + bool(other)])
    relation.derive(leaving=True)
    found = bag_of(scan(relation, ("x", "y"), "delta"), ("x", "y"))
    assert found == Counter((known | other) & (facts - gone))
