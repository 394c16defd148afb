"""Rules that compute, on executors: the oracle's facts, and the same nodes as the local engine."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings

from modulog import Reasoner, Switches
from modulog.engines.values import Failures
from modulog.errors import LimitReached
from support import oracle
from support.amounts import amount
from support.computing_strategies import computing_cases
from support.strategies import Case, text
from support.values import rows_of_python, rows_to_python

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAM = """
    p(0) . p(2) . p(9223372036854775807) . p(a) . p(1.5) . p(2.5E0) .
    inverse(?y) :- p(?x), ?y = 1 / ?x .
    small(?x) :- p(?x), FILTER(?x * 2 < 4 || ?x + 1 = 3.0) .
    node(?x, SKOLEM("n", ?x, ?x + 1)) :- p(?x) .
    constant(?c) :- ?c = 6 * 7 .
    up(0) . up(?y) :- up(?x), ?x < 2, ?y = ?x + 1 .
"""

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))


@settings(SLOW, max_examples=amount(1, 3))
@given(case=computing_cases())
def test_executors_equal_the_oracle(spark: Any, case: Case) -> None:
    note(str(case))
    expected = {p: rows for p, rows in oracle.materialise(case.rules, case.facts).items() if rows}
    with Reasoner(text(case.rules), spark=spark) as r:
        for predicate, rows in case.facts.items():
            r.add(predicate, rows_to_python(rows))
        found = {p.name: rows_of_python(r.rows(p.name)) for p in r.predicates()}
        assert {p: set(rows) for p, rows in found.items() if rows} == expected


def facts(r: Reasoner) -> dict[str, set[Any]]:
    """All facts of a reasoner."""
    return {p.name: set(rows_of_python(r.rows(p.name))) for p in r.predicates()}


def test_equals_the_local_engine(spark: Any) -> None:
    local = Reasoner(PROGRAM)
    with Reasoner(PROGRAM, spark=spark) as r:
        assert facts(r) == facts(local)
        expected, found = local.materialise().failures, r.materialise().failures
        assert expected == Failures(0, 3, 1, 4)
        assert all(a >= b for a, b in zip(found.counts(), expected.counts(), strict=True))
        query = "p(?x), ?y = ?x * 2, ?y + 1 > 4, ~up(?y)"
        assert sorted(map(str, r.query(query).to_pylist())) == sorted(
            map(str, local.query(query).to_pylist())
        )
        assert r.query("?z = 1 + 1").to_pydict() == {"z": [2]}


def test_limits(spark: Any) -> None:
    endless = "n(0) . n(?y) :- n(?x), ?y = ?x + 1 ."
    with (
        Reasoner(endless, spark=spark, switches=Switches(value_rounds=2)) as r,
        pytest.raises(LimitReached, match="this rule creates values"),
    ):
        r.materialise()
