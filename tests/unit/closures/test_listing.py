"""Whole closures are listed in several ways, which give the same pairs, each once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.closures import linear_closure
from modulog.closures.closure import Closure
from modulog.closures.components import connected
from support.engine_limits import patched

IDS = st.sampled_from([2, 3, 5, 8, 130, 131, 900])
PAIRS = st.sets(st.tuples(IDS, IDS), max_size=14)
STATE, ROWS = "modulog.closures.closure_state", "modulog.closures.reachable_sets"
WAYS = {
    "searches": {},
    "bits": {f"{STATE}.FEW_ROWS": 0},
    "searches, in pieces": {"modulog.closures.linear_closure.PIECE": 8},
    "kept rows": {f"{STATE}.FEW_ROWS": 0, f"{ROWS}.BITS": 0},
    "kept rows after some searches": {f"{STATE}.FEW_ROWS": 0, f"{STATE}.SOME_ROWS": 0, f"{ROWS}.BITS": 0},
}


def columns(pairs: Any) -> np.ndarray:
    return np.array(sorted(pairs), np.int32).reshape(len(pairs), 2).T.copy()


def led_to(seeds: set[tuple[int, int]], edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    found = set(seeds)
    while more := {(s, v) for s, t in found for u, v in edges if t == u} - found:
        found |= more
    return found


def listed(pieces: Any) -> list[tuple[int, int]]:
    return [tuple(pair) for piece in pieces for pair in piece.T.tolist()]


@pytest.mark.parametrize("way", WAYS)
@given(seeds=PAIRS, edges=PAIRS)
def test_ways_agree(way: str, seeds: set[Any], edges: set[Any]) -> None:
    with patched(WAYS[way]):
        pairs = listed(linear_closure.reached(columns(seeds), columns(edges)))
        expected = led_to(seeds, edges)
        assert len(pairs) == len(expected) and set(pairs) == expected
        closure = Closure()
        closure.add(columns(edges))
        pairs, expected = listed(closure.state.scan()), led_to(edges, edges)
        assert len(pairs) == len(expected) and set(pairs) == expected


@pytest.mark.parametrize(
    "edges",
    [
        [(i, i + 1) for i in range(700)],
        [(i, j) for i in range(90) for j in range(i + 1, min(90, i + 9))],
        [(6 * k + i, 6 * k + i + 1) for k in range(150) for i in range(5)],
        [(40 * k + i, 40 * k + (i + 1) % 40) for k in range(20) for i in range(40)],
    ],
    ids=["a chain", "a dense graph", "short chains", "circles"],
)
def test_large_graphs(edges: list[tuple[int, int]]) -> None:
    """Searches begin, and may give way to rows in the middle."""
    closure = Closure()
    closure.add(columns(edges))
    found = listed(closure.state.scan(limit=1 << 14))
    assert len(found) == len(set(found)) == closure.state.count()
    pairs = np.array(found, np.int32).T
    assert closure.state.contains(np.ascontiguousarray(pairs)).all()
    assert sorted(listed(closure.state.scan(limit=1 << 20))) == sorted(found), "after rows were counted"


def test_connected() -> None:
    """Each node has the least one of its component."""
    found = connected(columns({(7, 3), (3, 9), (4, 4), (8, 5)}))
    assert found.tolist() == [[3, 4, 5, 7, 8, 9], [3, 4, 5, 3, 5, 3]]
