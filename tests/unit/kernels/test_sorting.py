"""Sorting, merging and comparing packed facts equal Python's own, on both sides of every size limit."""

from __future__ import annotations

from collections import Counter
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.kernels import sort
from support.packed_facts import LAST, WORDS, facts, rows_of, words_of

LIMITS = [(1 << 14, 1 << 22), (1, 1 << 22), (3, 6), (1, 5)]


@pytest.fixture(params=LIMITS, ids=str, scope="module")
def limits(request: pytest.FixtureRequest) -> Any:
    small, piece = request.param
    with patch.object(sort, "SMALL", small), patch.object(sort, "PIECE", piece):
        yield


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("width", [1, 2, 3])
@given(data=st.data())
def test_sort_words(width: int, data: st.DataObject) -> None:
    rows = data.draw(facts(width))
    words = words_of(rows, width)
    before = words.copy()
    found = sort.sort_words(words)
    assert rows_of(found) == sorted(rows)
    assert (words == before).all() and not np.shares_memory(words, found)
    assert found.flags.c_contiguous


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("width", [1, 2, 3])
@given(data=st.data())
def test_positions_are_stable(width: int, data: st.DataObject) -> None:
    rows = data.draw(facts(width))
    found = sort.positions_sorted(words_of(rows, width))
    assert found.tolist() == sorted(range(len(rows)), key=lambda i: rows[i])


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize(
    ("upper", "lower"),
    [
        ((0, 5), (0, 5)),
        ((7, 8), (0, 3)),
        ((0, LAST), (LAST, LAST)),
        ((LAST - 3, LAST), (LAST - 3, LAST)),
        ((5, 5), (5, 5)),
    ],
)
def test_words_that_share_bits(upper: tuple[int, int], lower: tuple[int, int]) -> None:
    generator = np.random.default_rng(0)
    word = generator.integers(upper[0], upper[1], 300, np.int64, endpoint=True) << 32
    word |= generator.integers(lower[0], lower[1], 300, np.int64, endpoint=True)
    assert sort.sort_words(word[np.newaxis]).tolist() == [sorted(word.tolist())]


def test_many_words() -> None:
    generator = np.random.default_rng(0)
    for width, bits in ((1, 62), (1, 20), (2, 3), (2, 62)):
        words = generator.integers(0, 1 << bits, (width, 4_000), np.int64)
        with patch.object(sort, "PIECE", 900), patch.object(sort, "SMALL", 500):
            found = sort.sort_words(words)
        assert (found == words[:, np.lexsort(words[::-1])]).all()


@pytest.mark.parametrize("width", [1, 2, 3])
@given(data=st.data())
def test_merge_and_distinct(width: int, data: st.DataObject) -> None:
    few = data.draw(facts(width, 15))
    a, b = sorted(few + data.draw(facts(width, 15))), sorted(few[::2] + data.draw(facts(width, 15)))
    both = sort.merge(words_of(a, width), words_of(b, width))
    assert rows_of(both) == sorted(a + b)
    assert rows_of(sort.distinct(both)) == sorted(set(a + b))


@pytest.mark.parametrize("width", [1, 2, 3])
@given(data=st.data())
def test_exchange(width: int, data: st.DataObject) -> None:
    every = sorted(set(data.draw(facts(width, 30))))
    side = [data.draw(st.sampled_from("ab")) for _ in every]
    a, b = ([row for row, s in zip(every, side, strict=True) if s == which] for which in "ab")
    gone, unwanted = (sorted(set(data.draw(facts(width, 8)) + half[::2])) for half in (a, b))
    found = sort.exchange(*(words_of(rows, width) for rows in (a, gone, b, unwanted)))
    assert rows_of(found) == sorted((set(a) - set(gone)) | (set(b) - set(unwanted)))


@pytest.mark.parametrize("width", [1, 2, 3])
@given(data=st.data())
def test_sum_equal(width: int, data: st.DataObject) -> None:
    rows = sorted(data.draw(facts(width, 8)) * 3)
    weights = data.draw(st.lists(st.integers(-2, 2), min_size=len(rows), max_size=len(rows)))
    sums: Counter[tuple[int, ...]] = Counter()
    for row, weight in zip(rows, weights, strict=True):
        sums[row] += weight
    found, totals = sort.sum_equal(words_of(rows, width), np.array(weights, np.int64))
    assert dict(zip(rows_of(found), totals.tolist(), strict=True)) == {k: v for k, v in sums.items() if v}
    assert rows_of(found) == sorted(rows_of(found))


@pytest.mark.parametrize("width", [1, 2, 3])
@given(data=st.data())
def test_merge_sums(width: int, data: st.DataObject) -> None:
    few = data.draw(facts(width, 15))
    sums: Counter[tuple[int, ...]] = Counter()
    parts: list[Any] = []
    for rows in (
        sorted({*few, *data.draw(facts(width, 15))}),
        sorted({*few[::2], *data.draw(facts(width, 15))}),
    ):
        numbers = data.draw(st.lists(st.integers(-2, 2), min_size=len(rows), max_size=len(rows)))
        for row, number in zip(rows, numbers, strict=True):
            sums[row] += number
        parts += [words_of(rows, width), np.array(numbers, np.int64)]
    found, totals = sort.merge_sums(*parts)
    assert dict(zip(rows_of(found), totals.tolist(), strict=True)) == {k: v for k, v in sums.items() if v}
    assert rows_of(found) == sorted(rows_of(found))


@pytest.mark.parametrize("width", [1, 2, 3])
@given(data=st.data())
def test_change(width: int, data: st.DataObject) -> None:
    every = sorted(set(data.draw(facts(width, 60))))
    come = set(data.draw(st.lists(st.sampled_from(every)))) if every else set()
    rows = [row for row in every if row not in come]
    gone = sorted(set(data.draw(st.lists(st.sampled_from(rows))))) if rows else []
    changed = sort.change(*(words_of(part, width) for part in (rows, gone, sorted(come))))
    assert rows_of(changed) == sorted((set(rows) - set(gone)) | come)


@given(st.integers(1, 3).flatmap(lambda w: st.tuples(st.tuples(*[WORDS] * w), st.tuples(*[WORDS] * w))))
def test_compare(pair: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    a, b = (words_of([row], len(row)) for row in pair)
    assert sort.compare(a, 0, b, 0) == (pair[0] > pair[1]) - (pair[0] < pair[1])


@pytest.mark.parametrize("width", [1, 2, 3])
def test_nothing(width: int) -> None:
    empty = np.empty((width, 0), np.int64)
    assert sort.sort_words(empty).shape == (width, 0)
    assert sort.positions_sorted(empty).tolist() == []
    assert sort.distinct(empty).shape == (width, 0)
    assert sort.merge(empty, empty).shape == (width, 0)
    assert sort.sum_equal(empty, np.empty(0, np.int64))[1].tolist() == []
