"""Counters equal `collections.Counter`, through any sequence of adjustments and updates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.errors import InternalError
from support.counter_pair import Both, signed
from support.engine_limits import patched
from support.relation_pair import SMALL, WIDE

STEPS = st.lists(st.sampled_from(["adjust", "adjust", "undo", "begin", "commit", "rollback"]), max_size=25)


@given(
    arity=st.integers(0, 5),
    ids=st.sampled_from([SMALL, WIDE]),
    seed=st.integers(0, 2**32),
    steps=STEPS,
    small=st.sampled_from([0, 4, 4096]),
)
def test_any_sequence(
    make_engine: Any, make_table: Any, arity: int, ids: list[int], seed: int, steps: list[str], small: int
) -> None:
    with patched({"modulog.engines.local.counters.SMALL": small, "modulog.engines.local.counters.PIECE": 5}):
        both = Both(make_engine(), make_table, arity, ids, seed)
        for step in steps:
            both.step(step)


def test_no_update_in_an_update(make_engine: Any) -> None:
    counters = make_engine().counters("r", 1)
    counters.begin()
    with pytest.raises(InternalError, match="under way"):
        counters.begin()


@pytest.mark.inside
def test_bytes_for_each_number(make_engine: Any) -> None:
    """Nine bytes and a share of the bucket table while numbers fit into a byte; one less while all are one."""
    engine = make_engine()
    counters = engine.counters("r", 2)
    pairs = np.stack(np.divmod(np.arange(200_000, dtype=np.int32), 500))
    rows = engine.table(("c0", "c1"), np.ascontiguousarray(pairs))
    counters.adjust(rows)
    counters.positive(rows)
    assert counters.memory().bytes <= 9 * 200_000 + 16
    counters.adjust(rows)
    counters.positive(rows)
    assert counters.memory().bytes <= 10 * 200_000 + 16


@pytest.mark.inside
def test_adjusting_one_costs_no_pass(make_engine: Any, make_table: Any) -> None:
    """A million numbers stay where they are when a thousand change one by one."""
    engine = make_engine()
    counters = engine.counters("r", 2)
    pairs = np.stack(np.divmod(np.arange(1_000_000, dtype=np.int32), 1000))
    counters.adjust(engine.table(("c0", "c1"), np.ascontiguousarray(pairs)))
    large = counters.base[0]
    for k in range(1000):
        counters.begin()
        counters.adjust(make_table([(k, k), (k, k + 1)], 2))
        counters.commit()
    assert counters.base[0] is large and len(counters.base) == 2
    found = signed(counters)
    assert [found[fact] for fact in ((5, 5), (5, 6), (5, 7))] == [2, 2, 1]
