"""Whole programs with limits so small that every way of cutting work is taken: pieces, buffers, bitmaps,
merges.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, note

from modulog import Reasoner
from support import oracle
from support.engine_limits import SETTINGS, patched
from support.strategies import Case, cases, text
from support.values import rows_of_python, rows_to_python

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module", params=[s for s in SETTINGS if s != "usual"])
def limits(request: pytest.FixtureRequest) -> Iterator[None]:
    with patched(SETTINGS[request.param]):
        yield


@pytest.mark.usefixtures("limits")
@given(case=cases())
def test_equals_oracle(case: Case) -> None:
    note(str(case))
    r = Reasoner(text(case.rules))
    for predicate, rows in case.facts.items():
        r.add(predicate, rows_to_python(rows))
    expected = oracle.materialise(case.rules, case.facts)
    for p, rows in expected.items():
        found = rows_of_python(r.rows(p)) if rows else []
        assert len(found) == len(set(found))
        assert set(found) == rows, p
