"""Looking facts up equals filtering a list, whatever the buckets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.kernels import packing, search

LAST = 2**31 - 2
MOST = LAST - 1  # the greatest id itself has tests of its own
IDS = st.one_of(st.integers(0, 3), st.integers(0, MOST), st.sampled_from([0, 1, MOST - 1, MOST]))


def packed(facts: Any, arity: int) -> Any:
    columns = np.ascontiguousarray(np.array(list(facts), np.int32).reshape(-1, arity).T)
    return packing.pack(columns, np.arange(arity, dtype=np.int64))


def buckets_of(words: Any, shift: int) -> tuple[Any, int, int]:
    if words.shape[1] == 0:
        return np.zeros(1, np.int32), 0, 0
    base = int(words[0, 0] >> 32)
    number = ((int(words[0, -1] >> 32) - base) >> shift) + 1
    return search.bucket_starts(words[0], base, shift, number), base, shift


def shift_for(facts: list[tuple[int, ...]], wanted: int) -> int:
    """The wanted shift, or a larger one where the ids lie so far apart that the table would be long."""
    span = facts[-1][0] - facts[0][0] if facts else 0
    return max(wanted, span.bit_length() - 8)


@pytest.mark.parametrize("arity", [1, 2, 3, 4, 5])
@given(data=st.data(), wanted=st.sampled_from([0, 0, 1, 5]))
def test_find(arity: int, data: st.DataObject, wanted: int) -> None:
    facts = sorted(data.draw(st.sets(st.tuples(*[IDS] * arity), max_size=40)))
    words = packed(facts, arity)
    table = buckets_of(words, shift_for(facts, wanted))
    bound = data.draw(st.integers(0, arity))
    known = st.sampled_from([f[:bound] for f in facts]) if facts else st.nothing()
    keys = data.draw(st.lists(st.one_of(known, st.tuples(*[IDS] * bound)), max_size=8))
    asked = np.ascontiguousarray(np.array(keys, np.int32).reshape(len(keys), bound).T)
    lows, highs = search.find(words, *table, asked)
    for key, low, high in zip(keys, lows.tolist(), highs.tolist(), strict=True):
        assert facts[low:high] == [f for f in facts if f[:bound] == key]
    counts = np.arange(len(keys), dtype=np.int64)
    search.count_matching(words, *table, asked, -1, counts)
    assert counts.tolist() == [
        i - (high - low) for i, (low, high) in enumerate(zip(lows, highs, strict=True))
    ]


@pytest.mark.parametrize("arity", [1, 2, 3, 4, 5])
@given(data=st.data(), wanted=st.sampled_from([0, 0, 1, 5]))
def test_find_facts(arity: int, data: st.DataObject, wanted: int) -> None:
    facts = sorted(data.draw(st.sets(st.tuples(*[IDS] * arity), max_size=40)))
    words = packed(facts, arity)
    asked = data.draw(st.lists(st.tuples(*[IDS] * arity), max_size=8)) + facts[::3]
    table = buckets_of(words, shift_for(facts, wanted))
    found = search.find_facts(words, *table, packed(asked, arity))
    assert found.tolist() == [facts.index(f) if f in facts else -1 for f in asked]
    counts = np.arange(len(asked), dtype=np.int64)
    search.tally_facts(words, *table, packed(asked, arity), -1, counts)
    assert counts.tolist() == [place - (f in facts) for place, f in enumerate(asked)]


def test_facts_without_arguments() -> None:
    words = np.zeros((1, 1), np.int64)
    table = buckets_of(words, 0)
    assert search.find_facts(words, *table, np.zeros((1, 3), np.int64)).tolist() == [0, 0, 0]
    lows, highs = search.find(words, *table, np.empty((0, 2), np.int32))
    assert (lows.tolist(), highs.tolist()) == ([0, 0], [1, 1])


@pytest.mark.parametrize("arity", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("shift", [0, 3, 28])
def test_the_greatest_id_is_found(arity: int, shift: int) -> None:
    """Behind the last id, 2³¹ - 2, the upper end of a range must not overflow."""
    facts = sorted({(LAST - 9,) * arity, (LAST - 1,) * arity, (LAST,) * arity, (LAST, *[5] * (arity - 1))})
    words = packed(facts, arity)
    table = buckets_of(words, shift)
    for bound in range(1, arity + 1):
        keys = np.full((bound, 1), LAST, np.int32)
        (low,), (high,) = search.find(words, *table, keys)
        assert facts[low:high] == [f for f in facts if f[:bound] == (LAST,) * bound], bound
    assert search.find_facts(words, *table, packed(facts, arity)).tolist() == list(range(len(facts)))


@given(st.lists(st.integers(0, 50), max_size=60), st.integers(-1, 52), st.data())
def test_lower_bound(values: list[int], key: int, data: st.DataObject) -> None:
    word = np.array(sorted(values), np.int64)
    low = data.draw(st.integers(0, len(word)))
    high = data.draw(st.integers(low, len(word)))
    found = search.lower_bound(word, low, high, key)
    assert found == low + int(np.searchsorted(word[low:high], key))


@given(st.lists(IDS, min_size=1, max_size=50), st.integers(0, 9))
def test_counting_values(values: list[int], spare: int) -> None:
    near = [v % 5000 for v in values]
    column = np.array(near, np.int32)
    assert search.count_distinct(column, max(0, min(near) - spare), max(near) + spare) == len(set(near))
    word = np.sort(np.array(values, np.int64)) << 32 | 7
    assert search.count_leading(word) == len(set(values))


def test_counting_nothing() -> None:
    assert search.count_distinct(np.empty(0, np.int32), 0, 0) == 0
    assert search.count_leading(np.empty(0, np.int64)) == 0


@pytest.mark.parametrize("arity", [1, 2, 3, 4])
@given(data=st.data())
def test_drop_hidden(arity: int, data: st.DataObject) -> None:
    """Pairs as a join makes them: rows ask for a first argument, some of the facts they find are hidden."""
    few = st.tuples(*[st.integers(0, 3)] * arity)
    facts = sorted(data.draw(st.sets(few, max_size=30)))
    hidden = sorted({*data.draw(st.sets(few, max_size=8)), *facts[:: data.draw(st.integers(1, 5))]})
    keys = np.array(data.draw(st.lists(st.integers(0, 4), max_size=8)), np.int32)[np.newaxis]
    words, veil = packed(facts, arity), packed(hidden, arity)
    pairs = [(r, p) for r, k in enumerate(keys[0].tolist()) for p, f in enumerate(facts) if f[0] == k]
    rows, positions = (np.array([pair[j] for pair in pairs], np.int32) for j in (0, 1))
    ranges = search.find(veil, *buckets_of(veil, 0), keys)
    assert search.some(*ranges) == any(f[0] in keys for f in hidden)
    found = search.drop_hidden(rows, positions, words, veil, *ranges)
    expected = [(r, p) for r, p in pairs if facts[p] not in hidden]
    assert list(zip(found[0].tolist(), found[1].tolist(), strict=True)) == expected
