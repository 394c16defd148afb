"""Rules that compute, on executors (`local_limit=0`) and on the driver: the oracle's facts, and the same nodes as the local engine."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings

import oracle
from computing_strategies import computing_cases
from modulog import Reasoner
from modulog.engines.protocol import Failures
from modulog.errors import LimitReached
from strategies import Case, text
from values import rows_of_python, rows_to_python

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAM = """
    p(0) . p(2) . p(9223372036854775807) . p(a) . p(1.5) . p(2.5E0) .
    inverse(?y) :- p(?x), ?y = 1 / ?x .
    small(?x) :- p(?x), FILTER(?x * 2 < 4 || ?x + 1 = 3.0) .
    node(?x, SKOLEM("n", ?x, ?x + 1)) :- p(?x) .
    constant(?c) :- ?c = 6 * 7 .
    up(0) . up(?y) :- up(?x), ?x < 2, ?y = ?x + 1 .
"""
MORE = """
    next(?x + 1) :- p(?x) .
    text(CONCAT("<", STR(?x), ">"), STRLEN(STR(?x))) :- p(?x) .
    both(?x) :- next(?x), up(?x) .
"""


SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.long
@settings(SLOW, max_examples=2)
@given(case=computing_cases())
def test_executors_equal_the_oracle(spark: Any, case: Case) -> None:
    check(spark, 0, case)


@settings(SLOW, max_examples=6)
@given(case=computing_cases())
def test_the_driver_equals_the_oracle(spark: Any, case: Case) -> None:
    check(spark, 100_000, case)


def check(spark: Any, local_limit: int, case: Case) -> None:
    """The facts are those of the oracle."""
    note(str(case))
    expected = {p: rows for p, rows in oracle.materialise(case.rules, case.facts).items() if rows}
    with Reasoner(text(case.rules), spark=spark, local_limit=local_limit) as r:
        for predicate, rows in case.facts.items():
            r.add(predicate, rows_to_python(rows))
        found = {p.name: rows_of_python(r.rows(p.name)) for p in r.predicates()}
        assert {p: set(rows) for p, rows in found.items() if rows} == expected


def facts(r: Reasoner) -> dict[str, set[Any]]:
    """All facts of a reasoner."""
    return {p.name: set(rows_of_python(r.rows(p.name))) for p in r.predicates()}


@pytest.mark.parametrize("local_limit", [pytest.param(0, marks=pytest.mark.long), 100_000])
def test_equals_the_local_engine(spark: Any, local_limit: int) -> None:
    program = PROGRAM + (MORE if local_limit else "")  # executors take seconds for each rule
    local = Reasoner(program)
    with Reasoner(program, spark=spark, local_limit=local_limit) as r:
        assert facts(r) == facts(local)
        expected, found = local.materialise().failures, r.materialise().failures
        assert expected == Failures(0, 4 if local_limit else 3, 1, 5 if local_limit else 4)
        assert all(a >= b for a, b in zip(found.counts(), expected.counts(), strict=True))
        query = "p(?x), ?y = ?x * 2, ?y + 1 > 4, ~up(?y)"
        assert sorted(map(str, r.query(query).to_pylist())) == sorted(
            map(str, local.query(query).to_pylist())
        )
        assert r.query("?z = 1 + 1").to_pydict() == {"z": [2]}


def test_terms_that_the_driver_makes_are_terms_for_executors(spark: Any) -> None:
    """A stratum on the driver creates values, the next one is too big for it and computes with them."""
    program = "up(0) . up(?y) :- up(?x), ?x < 5, ?y = ?x + 1 . sum(?x + ?y) :- up(?x), up(?y), big(_) ."
    with Reasoner(program, spark=spark, local_limit=10) as r:
        r.add("big", [(i,) for i in range(20)])
        assert sorted(r.rows("sum")) == [(i,) for i in range(11)]
        assert r.contains("sum", (10,))


@pytest.mark.parametrize("local_limit", [0, 100_000])
def test_limits(spark: Any, local_limit: int) -> None:
    endless = "n(0) . n(?y) :- n(?x), ?y = ?x + 1 ."
    with Reasoner(endless, spark=spark, local_limit=local_limit, value_rounds=2) as r:
        with pytest.raises(LimitReached, match="this rule creates values"):
            r.materialise()
        assert r.statistics is None
