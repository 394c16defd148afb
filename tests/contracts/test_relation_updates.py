"""Updates of relations, case by case, with what each version must be written down, and what an update may cost."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from modulog.algebra.expressions import Join, Project, Read
from modulog.engines.engine import Work
from modulog.errors import InternalError
from support.relation_model import VERSIONS, Fact
from support.relation_pair import SMALL, Pair, rows_of
from support.relation_reads import scan, take_away


@pytest.fixture
def pair(make_relation: Any, make_table: Any) -> Callable[..., Pair]:
    return lambda arity, ids=SMALL, seed=0: Pair(make_relation(arity), make_table, ids, seed)


def test_retracting_outside_an_update_is_an_error(pair: Callable[..., Pair]) -> None:
    p = pair(1)
    with pytest.raises(InternalError, match="inside an update only"):
        take_away(p.relation, p.rows([(1,)]))


def test_all_versions_of_an_update_written_out(pair: Callable[..., Pair]) -> None:
    """I = {1, 2, 3}, D = {1, 2}, A = {2, 4}."""
    p = pair(1)
    r = p.relation
    p.schedule([(1,), (2,), (3,)])
    p.derive()
    p.merge()
    r.begin()
    take_away(r, p.rows([(1,), (2,)]))
    r.schedule(p.rows([(2,), (4,)]), 1)
    assert r.derive() == 2
    r.merge()

    def values(version: Any) -> list[int]:
        return sorted(row[0] for row in p.scan(("x",), version).elements())

    assert values("before") == [1, 2, 3]
    assert values("after") == [2, 3, 4]
    assert values("kept") == [2, 3]
    assert values("gone") == [1]
    assert values("come") == [4]
    assert values("either") == [1, 2, 3, 4]
    r.commit()
    assert values("all") == [2, 3, 4]


def test_what_came_in_an_update_can_be_retracted(pair: Callable[..., Pair]) -> None:
    p = pair(1)
    r = p.relation
    r.begin()
    r.schedule(p.rows([(1,), (2,)]), 1)
    r.derive()
    r.merge()
    take_away(r, p.rows([(1,)]))
    assert p.scan(("x",), "after") == Counter({(2,): 1})
    r.commit()
    assert p.scan(("x",), "all") == Counter({(2,): 1})


def test_retracted_added_and_retracted_again(pair: Callable[..., Pair]) -> None:
    p = pair(1)
    r = p.relation
    p.schedule([(1,), (2,)])
    p.derive()
    p.merge()
    r.begin()
    take_away(r, p.rows([(1,)]))
    r.schedule(p.rows([(1,)]), 1)
    r.derive()
    r.merge()
    take_away(r, p.rows([(1,)]))
    assert p.scan(("x",), "after") == Counter({(2,): 1})
    assert len(r.contains(p.rows([(1,)]), "after")) == 0
    r.commit()
    assert p.scan(("x",), "all") == Counter({(2,): 1})


def test_rollback_forgets_what_waits(pair: Callable[..., Pair]) -> None:
    p = pair(2)
    r = p.relation
    p.schedule([(1, 1)])
    p.derive()
    p.merge()
    r.begin()
    r.schedule(p.rows([(2, 2)]), 1)
    r.rollback()
    assert r.derive() == 0
    assert p.scan(("x", "y"), "all") == Counter({(1, 1): 1})


def test_facts_that_leave_written_out(pair: Callable[..., Pair]) -> None:
    """I = {1, 2, 3, 4}; 1, 2 and 9 are asked to leave, 2 is spared."""
    p = pair(1)
    r = p.relation
    p.schedule([(1,), (2,), (3,), (4,)])
    p.derive()
    p.merge()
    r.begin()
    r.schedule(p.rows([(1,), (2,), (9,), (1,)]), 1)
    assert r.derive(leaving=True) == 2

    def values(version: Any) -> list[int]:
        return sorted(row[0] for row in p.scan(("x",), version).elements())

    assert values("delta") == [1, 2]
    assert values("all") == values("after") == [1, 2, 3, 4]
    assert values("old") == [3, 4]
    r.spare(p.rows([(2,), (3,)]))
    assert values("delta") == [1]
    assert values("old") == [2, 3, 4]
    r.merge()
    assert values("delta") == []
    assert values("old") == values("all") == values("kept") == [2, 3, 4]
    assert values("gone") == [1]
    r.commit()
    assert values("all") == [2, 3, 4]


def test_a_leaving_delta_knows_who_asked_for_it(make_engine: Any, make_table: Any) -> None:
    engine = make_engine()
    relation = engine.relation("r", 1)
    relation.schedule(make_table([(1,), (2,), (3,)], 1), 0)
    relation.derive()
    relation.merge()
    relation.begin()
    relation.schedule(make_table([(1,)], 1), 1)
    relation.schedule(make_table([(2,)], 1), 2)
    relation.derive(leaving=True)

    def read(version: Any, without: int | None) -> set[Fact]:
        tables = engine.evaluate(Read(relation, ("x",), version, without))
        return {row for table in tables for row in rows_of(table)}

    assert read("delta", 1) == {(2,)}
    assert read("all", None) == {(1,), (2,), (3,)}
    assert read("all", 1) == {(2,), (3,)}
    assert read("old", 1) == {(3,)}


def test_what_an_update_may_not_do(pair: Callable[..., Pair]) -> None:
    p = pair(1)
    r = p.relation
    p.schedule([(1,), (2,)])
    with pytest.raises(InternalError, match="inside an update"):
        r.derive(leaving=True)
    p.derive()
    p.merge()
    r.begin()
    with pytest.raises(InternalError, match="under way"):
        r.begin()
    r.schedule(p.rows([(1,)]), 1)
    r.derive(leaving=True)
    for forbidden in (lambda: take_away(r, p.rows([(2,)])), r.commit, r.derive):
        with pytest.raises(InternalError, match="merged"):
            forbidden()
    r.merge()
    r.schedule(p.rows([(3,)]), 1)
    r.derive()
    with pytest.raises(InternalError, match="spared"):
        r.spare(p.rows([(3,)]))
    r.merge()
    with pytest.raises(InternalError, match="rest"):
        r.derive(leaving=True)
    r.rest()
    r.schedule(p.rows([(2,), (3,)]), 1)
    assert r.derive(leaving=True) == 2
    r.rollback()
    assert p.scan(("x",), "all") == Counter({(1,): 1, (2,): 1})


def test_the_second_round_of_an_update_removes_duplicates_by_a_bitmap(
    make_engine: Any, make_table: Any
) -> None:
    """What was retracted is not there: it comes again, once."""
    engine = make_engine(terms=100)
    edge, relation = engine.relation("e", 2), engine.relation("r", 2)
    everything = [(i, j) for i in range(10) for j in range(10)]
    for target in (edge, relation):
        target.schedule(make_table(everything, 2), 0)
        target.derive()
        target.merge()
    relation.begin()
    take_away(relation, make_table(everything[3:], 2))
    relation.schedule(make_table(everything[:10], 2), 0)
    assert relation.derive() == 7
    relation.merge()
    rule = Project(Join(Read(edge, ("x", "y")), Read(edge, ("y", "z")), ("x", "z")), ("x", "z"), "keep")
    engine.run([Work(relation, rule, 1)])
    assert relation.derive() == 90
    relation.merge()
    assert relation.size("after") == 100
    assert relation.size("gone") == relation.size("come") == 0
    relation.commit()
    assert relation.size("all") == 100


@pytest.mark.inside
def test_a_fact_that_leaves_and_returns_leaves_nothing_behind(make_engine: Any) -> None:
    """A hundred updates that delete and add again cost no memory once they are done."""
    engine = make_engine()
    relation = engine.relation("r", 2)
    ids = np.random.default_rng(0).integers(0, 5_000, (2, 100_000), np.int32)
    relation.schedule(engine.table(("c0", "c1"), ids), 0)
    relation.derive()
    relation.merge()
    relation.rest()
    list(scan(relation, (3, "y"), "all"))
    held, number = relation.memory().bytes, relation.size("all")
    some = engine.table(("c0", "c1"), np.ascontiguousarray(ids[:, :50]))
    for _ in range(50):
        relation.begin()
        take_away(relation, some)
        relation.commit()
        assert relation.size("all") < number
        relation.begin()
        relation.schedule(some, 0)
        relation.derive()
        relation.merge()
        relation.commit()
    assert relation.size("all") == number
    assert relation.memory().bytes == held


@pytest.mark.inside
def test_an_update_of_one_fact_reads_few(make_engine: Any, make_table: Any) -> None:
    """Reading every version of a large relation with a small change makes nothing of its size."""
    engine = make_engine()
    relation = engine.relation("r", 2)
    ids = np.random.default_rng(0).integers(0, 50_000, (2, 500_000), np.int32)
    relation.schedule(engine.table(("c0", "c1"), ids), 0)
    relation.derive()
    relation.merge()

    def update(number: int) -> None:
        relation.begin()
        take_away(relation, make_table([tuple(ids[:, number].tolist())], 2))
        relation.schedule(make_table([(number, 50_001), (50_001, number)], 2), 0)
        relation.derive()
        relation.merge()
        for version in VERSIONS:
            relation.size(version)
            relation.estimate(version)
            list(scan(relation, (1, "y"), version))
            relation.contains(make_table([(1, 1), (1, 50_001)], 2), version)
        relation.commit()

    for number in (
        1,
        2,
    ):  # they make indexes and estimates, and load kernels; the second merges what the first has left
        update(number)
    tracemalloc.start()
    try:
        update(3)
        assert tracemalloc.get_traced_memory()[1] < 2**16
    finally:
        tracemalloc.stop()
