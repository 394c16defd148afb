"""Rules evaluated during updates: facts leave and come in rounds, every version is read by joins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.algebra import expressions as p
from modulog.engines.engine import Work
from support.engine_limits import SETTINGS, patched
from support.engine_model import Row, bag_of
from support.engine_updates import check_a_closure_through_updates, check_filters_over_layers, fill, table_of
from support.relation_reads import scan, take_away

SETTINGS_OF_LEVELS = {"modulog.engines.local.versions.SMALL": 0, "modulog.engines.local.versions.RATIO": 2}
EDGES = st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=25)
CHANGES = st.lists(st.tuples(EDGES, EDGES, st.booleans()), min_size=1, max_size=5)


@pytest.fixture(scope="module", params=SETTINGS.values(), ids=SETTINGS)
def limits(request: pytest.FixtureRequest) -> Iterator[None]:
    with patched(request.param | (SETTINGS_OF_LEVELS if request.param else {})):
        yield


@pytest.mark.usefixtures("limits")
@given(edges=EDGES, changes=CHANGES)
def test_a_closure_through_updates(
    make_engine: Any, edges: set[Row], changes: list[tuple[set[Row], set[Row], bool]]
) -> None:
    check_a_closure_through_updates(make_engine, edges, changes)


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
    check_filters_over_layers(make_engine, facts, gone, come, leave, version)


@pytest.mark.usefixtures("limits")
@given(facts=EDGES, other=EDGES, first=st.booleans(), data=st.data())
def test_facts_that_are_known_to_be_there(
    make_engine: Any, facts: set[Row], other: set[Row], first: bool, data: st.DataObject
) -> None:
    """What leaves is the same whether or not work says that its facts are there; work that does not say so
    beside it, and facts that left before, count.
    """
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
