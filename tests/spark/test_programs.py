"""Random programs give on Spark what the oracle gives: alone, and with small strata on the driver."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings

import oracle
from modulog import Reasoner
from strategies import Case, cases, text
from values import rows_of_python, rows_to_python

# Random programs have empty predicates and Cartesian bodies.
pytestmark = pytest.mark.filterwarnings("ignore")

SLOW = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))


@SLOW
@given(case=cases())
@pytest.mark.parametrize("local_limit", [0, 30, 100_000])
def test_equals_oracle(spark: Any, local_limit: int, case: Case) -> None:
    note(str(case))
    expected = {p: rows for p, rows in oracle.materialise(case.rules, case.facts).items() if rows}
    with Reasoner(text(case.rules), spark=spark, local_limit=local_limit) as r:
        for predicate, rows in case.facts.items():
            r.add(predicate, rows_to_python(rows))
        found = {p.name: rows_of_python(r.rows(p.name)) for p in r.predicates()}
        assert {p: set(rows) for p, rows in found.items() if rows} == expected
        assert all(len(rows) == r.count(p) for p, rows in found.items())
