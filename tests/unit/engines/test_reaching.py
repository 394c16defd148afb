"""What sources lead to, and how it changed, is the same whether rows are bits, searched as bits, or searched as lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.engines.local import reaching

IDS = st.sampled_from([2, 3, 5, 8, 130, 131, 900])
PAIRS = st.sets(st.tuples(IDS, IDS), max_size=12)
WAYS = {
    "bits": {"STEP": 4},
    "bits in parts": {"ROW_BYTES": 8, "STEP": 1 << 40},
    "a search for each": {"ROW_BYTES": 0, "STEP": 1 << 40, "WIDE": 0},
    "lists": {"ROW_BYTES": 0, "STEP": 1e-9},
    "lists, in pieces": {"ROW_BYTES": 0, "STEP": 1e-9, "PIECE": 1},
}


def columns(pairs: Any) -> np.ndarray:
    return np.array(sorted(pairs), np.int32).reshape(len(pairs), 2).T.copy()


def led_to(seeds: set[tuple[int, int]], edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    found = set(seeds)
    while more := {(s, v) for s, t in found for u, v in edges if t == u} - found:
        found |= more
    return found


@pytest.mark.parametrize("way", WAYS)
@given(seeds=PAIRS, edges=PAIRS, known=PAIRS)
def test_ways_agree(way: str, seeds: set[Any], edges: set[Any], known: set[Any]) -> None:
    expected = led_to(seeds, edges)
    sources = np.unique(np.array([s for s, _ in seeds | known], np.int32))

    def before(chunk: np.ndarray) -> Iterator[np.ndarray]:
        yield columns({pair for pair in known if pair[0] in chunk})

    with patch.multiple(reaching, **WAYS[way]):
        found = reaching.Reach(sources, columns(seeds), columns(edges))
        pairs = [tuple(p) for piece in found.pairs() for p in piece.T.tolist()]
        assert len(pairs) == len(expected) and set(pairs) == expected
        lost: set[Any] = set()
        won: set[Any] = set()
        for gone, come in found.changes(before):
            lost |= {tuple(p) for p in gone.T.tolist()}
            won |= {tuple(p) for p in come.T.tolist()}
    assert lost == known - expected and won == expected - known
