"""Columns to words and back, for every arity, at both ends of the ids."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.kernels import packing

LAST = 2**31 - 1
IDS = st.one_of(st.integers(0, 3), st.integers(0, LAST), st.sampled_from([0, 1, 2**16, LAST - 1, LAST]))


def columns_of(rows: list[tuple[int, ...]], arity: int) -> Any:
    return np.ascontiguousarray(np.array(rows, np.int32).reshape(len(rows), arity).T)


def places(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def rows(arity: int, most: int = 20) -> st.SearchStrategy[list[tuple[int, ...]]]:
    return st.lists(st.tuples(*[IDS] * arity), max_size=most)


@given(st.data(), st.integers(0, 5))
def test_round_trip_in_any_order(data: st.DataObject, arity: int) -> None:
    facts = data.draw(rows(arity))
    order = data.draw(st.permutations(range(arity)))
    words = packing.pack(columns_of(facts, arity), places(*order))
    assert words.shape == (max(1, (arity + 1) // 2), len(facts)) and words.dtype == np.int64
    assert (words >= 0).all()
    start = data.draw(st.integers(0, len(facts)))
    stop = data.draw(st.integers(start, len(facts)))
    chosen = data.draw(st.lists(st.integers(0, max(0, arity - 1)), max_size=arity))
    found = packing.unpack(words, places(*chosen), start, stop)
    assert found.dtype == np.int32
    assert found.tolist() == [[fact[order[j]] for fact in facts[start:stop]] for j in chosen]


@given(st.integers(1, 5).flatmap(lambda arity: st.tuples(rows(arity), rows(arity))))
def test_words_sort_as_facts_do(pair: tuple[list[tuple[int, ...]], list[tuple[int, ...]]]) -> None:
    facts = pair[0] + pair[1]
    arity = len(facts[0]) if facts else 1
    words = packing.pack(columns_of(facts, arity), places(*range(arity)))
    assert sorted(zip(*words.tolist(), strict=True)) == [
        tuple(w) for w in packing.pack(columns_of(sorted(facts), arity), places(*range(arity))).T.tolist()
    ]


def test_packing_written_out() -> None:
    words = packing.pack(np.array([[1], [2], [3]], np.int32), places(0, 1, 2))
    assert words.tolist() == [[(1 << 32) + 2], [3 << 32]]
    assert packing.pack(np.empty((0, 4), np.int32), places()).tolist() == [[0, 0, 0, 0]]


@given(st.integers(1, 4).flatmap(lambda arity: st.lists(st.tuples(*[IDS] * arity), min_size=1)))
def test_ranges(facts: list[tuple[int, ...]]) -> None:
    least, greatest = packing.ranges(columns_of(facts, len(facts[0])))
    assert least.tolist() == [min(column) for column in zip(*facts, strict=True)]
    assert greatest.tolist() == [max(column) for column in zip(*facts, strict=True)]


@given(st.data(), st.integers(1, 5))
def test_select(data: st.DataObject, arity: int) -> None:
    facts = data.draw(rows(arity))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(facts), max_size=len(facts))), np.bool_)
    keep = data.draw(st.lists(st.integers(0, arity - 1), max_size=6))
    columns = columns_of(facts, arity)
    assert packing.select(columns, places(*keep), mask).tolist() == [columns[j][mask].tolist() for j in keep]
    words = packing.pack(columns, places(*range(arity)))
    assert (packing.select_words(words, mask) == words[:, mask]).all()


@pytest.mark.parametrize("arity", range(6))
def test_nothing(arity: int) -> None:
    words = packing.pack(np.empty((arity, 0), np.int32), places(*range(arity)))
    assert words.shape == (max(1, (arity + 1) // 2), 0)
    assert packing.unpack(words, places(*range(arity)), 0, 0).shape == (arity, 0)
    assert packing.select_words(words, np.empty(0, np.bool_)).shape == words.shape
