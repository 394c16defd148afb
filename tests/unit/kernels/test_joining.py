"""Joins in pieces: every pair once, wherever the cursor stops."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.kernels import joining, packing

LAST = 2**31 - 1
RANGES = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 6)), max_size=12)


def ends(ranges: list[tuple[int, int]]) -> tuple[Any, Any]:
    lows = np.array([low for low, _ in ranges], np.int32)
    return lows, lows + np.array([length for _, length in ranges], np.int32)


def packed(facts: Any, arity: int) -> Any:
    columns = np.ascontiguousarray(np.array(list(facts), np.int32).reshape(-1, arity).T)
    return packing.pack(columns, np.arange(arity, dtype=np.int64))


@given(RANGES, st.integers(1, 30))
def test_pair(ranges: list[tuple[int, int]], limit: int) -> None:
    lows, highs = ends(ranges)
    found: list[tuple[int, int]] = []
    row = offset = calls = 0
    while row < len(ranges):
        rows, positions, row, offset = joining.pair(lows, highs, row, offset, limit)
        assert len(rows) <= limit
        assert len(rows) == limit or row == len(ranges), "a piece is full unless it is the last"
        found += zip(rows.tolist(), positions.tolist(), strict=True)
        calls += 1
        assert calls < 1000
    assert found == [(r, p) for r, (low, n) in enumerate(ranges) for p in range(low, low + n)]


@given(st.data(), st.integers(1, 5), st.integers(0, 3))
def test_gather(data: st.DataObject, arity: int, width: int) -> None:
    ids = st.sampled_from([0, 1, 77, LAST])
    facts = data.draw(st.lists(st.tuples(*[ids] * arity), min_size=1, max_size=9))
    left = data.draw(st.lists(st.tuples(*[ids] * width), min_size=1, max_size=9))
    pairs = data.draw(st.lists(st.tuples(st.integers(0, len(left) - 1), st.integers(0, len(facts) - 1))))
    keep = data.draw(st.lists(st.integers(0, width - 1), max_size=3)) if width else []
    chosen = data.draw(st.lists(st.integers(0, arity - 1), max_size=3))
    found = joining.gather(
        np.ascontiguousarray(np.array(left, np.int32).reshape(len(left), width).T),
        np.array(keep, np.int64),
        np.array([r for r, _ in pairs], np.int32),
        packed(facts, arity),
        np.array(chosen, np.int64),
        np.array([p for _, p in pairs], np.int32),
    )
    expected = [[left[r][j] for r, _ in pairs] for j in keep] + [
        [facts[p][j] for _, p in pairs] for j in chosen
    ]
    assert found.tolist() == expected


@pytest.mark.parametrize("sources", [(0, -1), (-1, 0), (0, -2), (-2, -1), (0, 1), (1, 1), (-3, -3), (-3, 0)])
@given(data=st.data(), budget=st.integers(1, 9), room=st.integers(1, 9))
def test_join_into_bitmap(sources: tuple[int, int], data: st.DataObject, budget: int, room: int) -> None:
    """The buffer may be full and the budget may be spent anywhere."""
    base = data.draw(st.sampled_from([0, 5, LAST - 9]))
    ids = st.integers(base, base + 9)
    facts = data.draw(st.lists(st.tuples(ids, ids, ids), min_size=7, max_size=20))
    left = data.draw(st.lists(st.tuples(ids, ids), min_size=1, max_size=6))
    ranges = [(data.draw(st.integers(0, len(facts) - 6)), data.draw(st.integers(0, 6))) for _ in left]
    lows, highs = ends(ranges)
    columns = np.ascontiguousarray(np.array(left, np.int32).T)
    bits, box = np.zeros(2, np.uint64), np.array([base, base, 10], np.int64)
    known = joining.keep_new(packed([(base, base), (base + 1, base + 9)], 2)[0], bits, box)
    assert len(known) == 2
    row = offset = total = calls = 0
    found: list[int] = []
    while row < len(left):
        buffer = np.empty(room, np.int64)
        block = joining.Block(columns, lows, highs, packed(facts, 3), np.array(sources, np.int64), bits, box)
        fresh, seen, row, offset = joining.join_into_bitmap(block, buffer, row, offset, budget)
        assert seen <= budget
        found += buffer[:fresh].tolist()
        total += seen
        calls += 1
        assert calls < 1000
    pairs = [(r, p) for r, (low, n) in enumerate(ranges) for p in range(low, low + n)]
    heads = [tuple(left[r][s] if s >= 0 else facts[p][-1 - s] for s in sources) for r, p in pairs]
    expected = list(dict.fromkeys(h for h in heads if h not in {(base, base), (base + 1, base + 9)}))
    assert total == len(pairs)
    assert found == [a << 32 | b for a, b in expected]


@given(st.lists(st.tuples(st.integers(10, 14), st.integers(3, 20)), max_size=40), st.integers(1, 5))
def test_keep_new(pairs: list[tuple[int, int]], step: int) -> None:
    bits, box = np.zeros(5 * 18 // 64 + 1, np.uint64), np.array([10, 3, 18], np.int64)
    found: list[int] = []
    for start in range(0, len(pairs), step):
        found += joining.keep_new(packed(pairs[start : start + step], 2)[0], bits, box).tolist()
    assert found == [a << 32 | b for a, b in dict.fromkeys(pairs)]
    assert sum(int(word).bit_count() for word in bits) == len(set(pairs))


@given(st.lists(st.integers(0, 6), max_size=20), st.integers(1, 9))
def test_blocks(sizes: list[int], most: int) -> None:
    lows, highs = ends([(0, size) for size in sizes])
    cuts = joining.blocks(lows, highs, most).tolist()
    assert [row for a, b in pairwise(cuts) for row in range(a, b)] == list(range(len(sizes)))
    for a, b in pairwise(cuts):
        total = int(joining.matches_of(lows, highs, a, b))
        assert total == sum(sizes[a:b]) and (total <= most or b == a + 1)
        assert b == len(sizes) or total + sizes[b] > most  # no block could be longer


@pytest.mark.parametrize("sources", [(0, -1), (-1, 0), (0, -2), (1, 0)])
@given(data=st.data(), shift=st.sampled_from([0, 1]), number=st.sampled_from([1, 2, 4]))
def test_join_by_shards(sources: tuple[int, int], data: st.DataObject, shift: int, number: int) -> None:
    """Every shard has the rows of its owners in their order, and together they find what one call finds."""
    facts = data.draw(st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=7, max_size=20))
    left = data.draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))
    ranges = [(data.draw(st.integers(0, len(facts) - 6)), data.draw(st.integers(0, 6))) for _ in left]
    lows, highs = ends(ranges)
    columns = np.ascontiguousarray(np.array(left, np.int32).T)
    own = next(argument for argument in (0, 1) if sources[argument] >= 0)
    owners = columns[sources[own]]
    rows, stops, matches = joining.shards(owners, lows, highs, 0, len(left), 0, shift, number)
    bits, box = np.zeros(2, np.uint64), np.array([0, 0, 10], np.int64)
    buffer = np.empty(int(matches.sum()), np.int64)
    found: list[int] = []
    start = at = 0
    for shard, (stop, room) in enumerate(zip(stops.tolist(), matches.tolist(), strict=True)):
        mine = [r for r, (_, n) in enumerate(ranges) if n and (int(owners[r]) >> shift) % number == shard]
        assert rows[start:stop].tolist() == mine and room == sum(ranges[r][1] for r in mine)
        block = joining.Block(columns, lows, highs, packed(facts, 3), np.array(sources, np.int64), bits, box)
        end = joining.join_rows(block, rows, start, stop, buffer, at)
        assert end <= at + room
        found += buffer[at:end].tolist()
        start, at = stop, at + room
    pairs = [(r, p) for r, (low, n) in enumerate(ranges) for p in range(low, low + n)]
    heads = {tuple(left[r][s] if s >= 0 else facts[p][-1 - s] for s in sources) for r, p in pairs}
    assert sorted(found) == sorted(a << 32 | b for a, b in heads)
