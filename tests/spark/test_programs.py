"""Random programs give by SQL over executors what the local engine gives, and the oracle."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings

from modulog import Reasoner
from support import oracle
from support.amounts import amount
from support.strategies import Case, cases, text
from support.values import rows_of_python, rows_to_python
from support.whole import all_rows

# Random programs have empty predicates and Cartesian bodies.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.partitions]


def agree(case: Case, spark: Any) -> None:
    note(str(case))
    expected = {p: rows for p, rows in oracle.materialise(case.rules, case.facts).items() if rows}
    local = Reasoner(text(case.rules), engine="local")
    with Reasoner(text(case.rules), spark=spark) as r:
        for predicate, rows in case.facts.items():
            for reasoner in (r, local):
                reasoner.add(predicate, rows_to_python(rows))
        r.materialise()
        found = {p: rows_of_python(rows) for p, rows in all_rows(r).items()}
        assert {p: set(rows) for p, rows in found.items() if rows} == expected
        for p, rows in found.items():
            assert len(rows) == r.count(p) == local.count(p), p
            assert set(rows) == set(rows_of_python(local.rows(p))), p


def of(examples: int) -> Any:
    return settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))


@of(amount(3, 5))
@given(case=cases())
def test_random_programs(spark: Any, case: Case) -> None:
    agree(case, spark)
