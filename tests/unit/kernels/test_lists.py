"""Lists in one array and rows of nodes equal what sets of Python give."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from modulog.kernels import adjacency, expand_rows
from modulog.kernels.types import ListArrays

Sets = list[set[int]]
NUMBERS = st.sets(st.integers(0, 6), max_size=7)
SETS = st.lists(NUMBERS, min_size=1, max_size=5)


def pooled(sets: Sets, gap: int = 0) -> tuple[Any, Any, Any]:
    """Ascending lists in one array, with some unused entries before each."""
    numbers, first, last = list[int](), list[int](), list[int]()
    for numbers_of_list in sets:
        numbers += [99] * gap
        first.append(len(numbers))
        numbers += sorted(numbers_of_list)
        last.append(len(numbers))
    return tuple(np.array(column, np.int32) for column in (first, last, numbers))


def words(pairs: set[tuple[int, int]]) -> Any:
    return np.array([(key << 32) | number for key, number in sorted(pairs)], np.int64)


def unpooled(starts: Any, numbers: Any) -> list[list[int]]:
    return [numbers[a:b].tolist() for a, b in pairwise(starts)]


PAIRS = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


@given(SETS, PAIRS, st.integers(0, 2))
def test_present(sets: Sets, pairs: set[tuple[int, int]], gap: int) -> None:
    found = adjacency.present(*pooled(sets, gap), words(pairs))
    assert found.tolist() == [key < len(sets) and number in sets[key] for key, number in sorted(pairs)]


@given(SETS, SETS, st.booleans())
def test_differing(sets: Sets, others: Sets, same: bool) -> None:
    if same:
        others = [*sets[: len(others)], *others[len(sets) :]]
    expected = [k for k, numbers in enumerate(sets) if numbers != (others[k] if k < len(others) else set())]
    assert adjacency.differing(*pooled(sets), *pooled(others, 1), False).tolist() == expected
    mine = pooled(sets)
    assert not len(adjacency.differing(*mine, *mine, True))


@given(SETS, PAIRS)
def test_more_and_fewer(sets: Sets, pairs: set[tuple[int, int]]) -> None:
    there = {(key, number) for key, number in pairs if key < len(sets) and number in sets[key]}
    new = pairs - there
    names, starts, numbers = adjacency.with_more(*pooled(sets, 1), words(new))
    assert names.tolist() == sorted({key for key, _ in new})
    before = {key: sets[key] if key < len(sets) else set[int]() for key in names.tolist()}
    more = [sorted(before[key] | {n for k, n in new if k == key}) for key in before]
    assert unpooled(starts, numbers) == more
    names, starts, numbers = adjacency.with_fewer(*pooled(sets, 1), words(there))
    assert names.tolist() == sorted({key for key, _ in there})
    fewer = [sorted(sets[key] - {n for k, n in there if k == key}) for key in names.tolist()]
    assert unpooled(starts, numbers) == fewer


def rows(sets: Sets) -> tuple[Any, Any]:
    """Rows one after the other, and where each ends."""
    nodes = [node for row in sets for node in sorted(row)]
    return np.array(nodes, np.int32), np.array(list(accumulate(map(len, sets))), np.int64)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=5))
def test_differences_of_rows(pairs: list[tuple[set[int], set[int]]]) -> None:
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    nodes, ends = expand_rows.subtract_rows(*rows(left), *rows(right), np.empty(7, np.int32))
    expected = rows([a - b for a, b in pairs])
    assert nodes.tolist() == expected[0].tolist() and ends.tolist() == expected[1].tolist()


@given(SETS, st.lists(st.tuples(st.integers(0, 4), NUMBERS), max_size=4), st.integers(1, 5))
def test_products_in_pieces(groups: Sets, wanted: list[tuple[int, set[int]]], limit: int) -> None:
    wanted = [(g % len(groups), row) for g, row in wanted]
    ids = np.arange(100, 107, dtype=np.int32)
    chosen, (nodes, ends) = np.array([g for g, _ in wanted], np.int32), rows([row for _, row in wanted])
    cursor, found = np.zeros(3, np.int64), list[tuple[int, int]]()
    while cursor[0] < len(wanted):
        piece = expand_rows.multiply(ListArrays(*pooled(groups)), chosen, nodes, ends, ids, cursor, limit)
        assert piece.shape[1] <= limit
        found += list(zip(*piece.tolist(), strict=True))
    assert found == [(100 + m, 100 + n) for g, row in wanted for m in sorted(groups[g]) for n in sorted(row)]
