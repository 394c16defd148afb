"""Lists that share a pool: values stay what they were, and the pool does not grow without end."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from modulog.closures.shared_lists import SPARE, Lists


def words(pairs: list[tuple[int, int]]) -> np.ndarray:
    return np.array(sorted(key << 32 | number for key, number in pairs), np.int64)


def listed(lists: Lists) -> list[list[int]]:
    starts, numbers = lists.gathered(np.arange(len(lists), dtype=np.int32))
    return [numbers[a:b].tolist() for a, b in pairwise(starts)]


def test_values_stay_what_they_were() -> None:
    first = Lists.of(np.array([0, 2, 2, 3], np.int32), np.array([4, 7, 1], np.int32))
    second = first.with_more(words([(0, 5), (1, 0), (4, 9)]), 5)
    third = second.with_fewer(words([(0, 4), (2, 1)]))
    other = first.with_more(words([(2, 0)]), 3)
    assert listed(first) == [[4, 7], [], [1]]
    assert listed(second) == [[4, 5, 7], [0], [1], [], [9]]
    assert listed(third) == [[5, 7], [0], [], [], [9]]
    assert listed(other) == [[4, 7], [], [0, 1]]
    assert (first.count, second.count, third.count, other.count) == (3, 6, 4, 4)
    assert third.present(words([(0, 5), (0, 6), (9, 1)])).tolist() == [True, False, False]


def test_nothing_changes_nothing() -> None:
    lists = Lists.of(np.array([0, 1], np.int32), np.array([3], np.int32))
    assert lists.with_more(words([]), 1) is lists
    assert lists.with_fewer(words([])) is lists


def test_the_pool_is_left_behind_when_most_of_it_is_unused() -> None:
    many = np.arange(2 * SPARE, dtype=np.int32)
    lists = Lists.of(np.array([0, len(many)], np.int32), many)
    for number in range(6):
        lists = lists.with_more(words([(0, len(many) + number)]), 1)
        assert lists.pool.used <= 2 * lists.count + SPARE
    assert listed(lists)[0] == list(range(len(many) + 6))


def test_a_graph_turned_round() -> None:
    graph = Lists.of(np.array([0, 2, 3, 3], np.int32), np.array([1, 2, 2], np.int32))
    assert listed(graph.transposed()) == [[], [0], [0, 1]]
