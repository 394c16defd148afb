"""Relations, case by case: each version and limit with what must come out written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from modulog.algebra.expressions import Project, Read
from modulog.engines.engine import Work
from modulog.errors import InternalError
from support.relation_model import Fact
from support.relation_pair import SMALL, Pair, rows_of
from support.relation_reads import scan


@pytest.fixture
def pair(make_relation: Any, make_table: Any) -> Callable[..., Pair]:
    return lambda arity, ids=SMALL, seed=0: Pair(make_relation(arity), make_table, ids, seed)


def test_an_empty_relation_answers_everything(pair: Callable[..., Pair]) -> None:
    for arity in range(6):
        p = pair(arity)
        p.schedule([])
        p.derive()
        p.merge()
        p.check()


def test_a_proposition_is_true_once(pair: Callable[..., Pair]) -> None:
    p = pair(0)
    p.schedule([(), (), ()])
    p.derive()
    assert p.relation.size("delta") == 1
    p.merge()
    p.schedule([()])
    assert p.relation.derive() == 0
    assert p.relation.size("all") == 1


def test_hundreds_of_rounds(pair: Callable[..., Pair]) -> None:
    p = pair(2, list(range(200)))
    for number in range(400):
        p.schedule([(number % 200, j) for j in range(number % 7)], number % 3)
        p.schedule(p.facts(20), number % 4)
        p.derive()
        p.merge()
        if number % 50 == 0:
            p.check()
    p.check()
    p.relation.rest()
    p.check()


def test_a_delta_knows_who_derived_it(make_engine: Any, make_table: Any) -> None:
    engine = make_engine()
    relation = engine.relation("r", 2)
    relation.schedule(make_table([(1, 1), (1, 2)], 2), 1)
    relation.schedule(make_table([(1, 2), (2, 2)], 2), 2)
    relation.schedule(make_table([(3, 3)], 2), 3)
    assert relation.derive() == 4

    def read(without: int | None) -> set[Fact]:
        tables = engine.evaluate(Read(relation, ("x", "y"), "delta", without))
        return {row for table in tables for row in rows_of(table)}

    assert read(None) == {(1, 1), (1, 2), (2, 2), (3, 3)}
    assert read(1) - {(1, 2)} == {(2, 2), (3, 3)}
    assert read(2) - {(1, 2)} == {(1, 1), (3, 3)}
    assert read(3) == {(1, 1), (1, 2), (2, 2)}
    assert read(4) == read(None)


def test_counting_a_delta_leaves_out_what_a_module_derived_itself(make_engine: Any, make_table: Any) -> None:
    engine = make_engine()
    relation = engine.relation("r", 2)
    relation.schedule(make_table([(1, 1), (1, 2)], 2), 1)
    relation.schedule(make_table([(2, 2)], 2), 2)
    relation.derive()
    assert engine.count(Read(relation, ("x", "y"), "delta", except_from=1)) == 1


def test_deriving_over_a_delta_is_an_error(pair: Callable[..., Pair]) -> None:
    p = pair(1)
    p.schedule([(1,)])
    p.derive()
    with pytest.raises(InternalError, match="merged"):
        p.relation.derive()


def test_facts_beyond_the_ids_of_the_rounds_before(make_engine: Any, make_table: Any) -> None:
    """Facts handed in beside a round that is under way, with ids that no rule has promised."""
    engine = make_engine(terms=100)
    edge, relation = engine.relation("e", 2), engine.relation("r", 2)
    rows = [(i, j) for i in range(10) for j in range(10)]
    edge.schedule(make_table(rows, 2), 0)
    edge.derive()
    edge.merge()
    engine.run([Work(relation, Project(Read(edge, ("x", "y"), "old"), ("x", "y"), "keep"), 1)])
    relation.derive()
    relation.merge()
    relation.schedule(make_table([(0, 20), (3, 50)], 2), 1)
    assert relation.derive() == 2


@pytest.mark.parametrize("arity", [1, 2, 3, 4, 5])
def test_the_greatest_id(pair: Callable[..., Pair], arity: int) -> None:
    """The last id, 2³¹ - 2, at each place, looked up alone and with others."""
    last = 2**31 - 2
    p = pair(arity, [0, 5, last])
    facts = [tuple(last if j == place else j for j in range(arity)) for place in range(arity)]
    facts += [(last,) * arity, *((i * 7 + 1,) * arity for i in range(200))]
    p.schedule(facts)
    p.derive()
    p.merge()
    for place in range(arity):
        args = tuple(last if j == place else f"x{j}" for j in range(arity))
        assert p.scan(args, "all").total() == len({f for f in facts if f[place] == last}), args
        args = tuple(last if j >= place else f"x{j}" for j in range(arity))
        assert p.scan(args, "all").total() == len({f for f in facts if set(f[place:]) == {last}}), args
    assert len(p.relation.contains(p.rows(facts), "all")) == len(facts)


def test_an_index_is_made_once(pair: Callable[..., Pair]) -> None:
    p = pair(3, list(range(9)))
    for _ in range(3):
        p.schedule(p.facts(30))
        p.derive()
        p.merge()
    for bound in [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)]:
        args = tuple(1 if j in bound else f"x{j}" for j in range(3))
        list(scan(p.relation, args, "old"))
        assert p.relation.unsorted(bound, "old") == 0, bound


@pytest.mark.inside
def test_memory_per_binary_fact(make_engine: Any, make_table: Any) -> None:
    """At most 12 bytes where one order is enough, 20 with a second one."""
    engine = make_engine()
    relation = engine.relation("r", 2)
    generator = np.random.default_rng(0)
    relation.schedule(engine.table(("c0", "c1"), generator.integers(0, 50_000, (2, 300_000), np.int32)), 0)
    relation.derive()
    relation.merge()
    relation.rest()
    list(scan(relation, (3, "y"), "all"))
    assert relation.memory().bytes <= 12 * relation.size("all") + 16
    list(scan(relation, ("x", 3), "all"))
    assert relation.memory().bytes <= 20 * relation.size("all") + 16
