"""Levels: what they hide, how they merge, and that a merge changes nothing that can be read."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from modulog.engines.local.fact_levels import (
    Level,
    compact,
    fresh,
    held,
    hiding,
    layers_of,
    merged,
    settle,
    size,
)
from modulog.engines.local.runs import Run
from support.runs import Fact, facts_of, run_of

HISTORY = st.lists(
    st.tuples(
        st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12),
        st.integers(0, 10),
        st.booleans(),
    ),
    max_size=8,
)
EVERY = [(i, j) for i in range(6) for j in range(6)]


def replay(history: list[tuple[set[Fact], int, bool]]) -> tuple[list[Level], set[Fact]]:
    """Levels, each of which takes some facts away and adds some that are not there, and the set they stand
    for.
    """
    levels: list[Level] = []
    facts: set[Fact] = set()
    for asked, number, _ in history:
        dels = sorted(facts)[:: number + 1] if number < 8 else []
        adds = sorted(asked - facts)
        facts = (facts - set(dels)) | set(adds)
        levels.append(Level(run_of(adds, 2, True), run_of(dels, 2, True) if dels else None))
    return levels, facts


def check(levels: list[Level], facts: set[Fact]) -> None:
    layers = layers_of(levels)
    words = run_of(EVERY, 2).words()
    assert held(layers, words, True).tolist() == [fact in facts for fact in EVERY]
    assert fresh(layers, words).shape[1] == len(EVERY) - len(facts)
    assert size(layers) == len(facts)
    assert not levels or levels[0].dels is None
    for level in levels:
        assert level.dels is None or not set(facts_of(level.adds)) & set(facts_of(level.dels))
    alive = [f for run, hidden in layers for f in facts_of(run) if not any(f in facts_of(h) for h in hidden)]
    assert sorted(alive) == sorted(facts)


@given(HISTORY)
def test_levels_stand_for_a_set(history: list[tuple[set[Fact], int, bool]]) -> None:
    check(*replay(history))


@given(HISTORY, st.data())
def test_merging_any_neighbours(history: list[tuple[set[Fact], int, bool]], data: st.DataObject) -> None:
    levels, facts = replay(history)
    while len(levels) > 1:
        at = data.draw(st.integers(0, len(levels) - 2))
        levels[at : at + 2] = [merged(levels[at], levels[at + 1])]
        check(levels, facts)


@given(HISTORY, st.sampled_from([2, 8]), st.sampled_from([0, 10, 100]))
def test_compacting_keeps_levels_in_proportion(
    history: list[tuple[set[Fact], int, bool]], ratio: int, small: int
) -> None:
    levels, facts = replay(history)
    kept: list[Level] = []
    for level in levels:
        kept.append(level)
        compact(kept, ratio, small)
        assert all(ratio * len(b) < len(a) and len(a) + len(b) > small for a, b in pairwise(kept))
    check(kept, facts)


@given(st.lists(st.integers(1, 20), max_size=12), st.booleans())
def test_unsorted_levels_wait_until_somebody_looks(sizes: list[int], ordered: bool) -> None:
    levels: list[Level] = []
    expected: list[Fact] = []
    for number, length in enumerate(sizes):
        facts = [(number, k) for k in range(length)]
        expected += facts
        levels.append(Level(run_of(facts, 2, is_sorted=ordered)))
        compact(levels, 2)
    if not ordered:
        assert len(levels) == len(sizes)
    settle(2, levels)
    assert sorted(f for level in levels for f in facts_of(level.adds)) == sorted(expected)
    assert ordered or len(levels) <= 1


def test_a_toggled_fact_vanishes_from_both_sides() -> None:
    toggled = run_of([(1, 1)], 2, True)
    both = merged(Level(Run.empty(2), toggled), Level(toggled))
    assert len(both) == 0
    both = merged(Level(toggled), Level(Run.empty(2), toggled))
    assert len(both) == 0 and both.dels is None


def test_a_run_hides_once() -> None:
    hides = run_of([(1, 1)], 2, True)
    layers = layers_of([Level(run_of([(1, 1)], 2)), Level(run_of([(2, 2)], 2)), Level(Run.empty(2), hides)])
    assert hiding(layers) == [hides] and size(layers) == 1
