"""The order in which a multiway join binds its variables."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from modulog.joins.estimates import Sizes, join_rows
from modulog.joins.multiway_order import FEW_VARIABLES, _rows, best_order


def leaps(sizes: list[Sizes], order: tuple[str, ...]) -> float:
    """For each variable the ways to bind those before it, times the shortest list of its values."""
    total = 0.0
    for i, name in enumerate(order):
        before, upto = frozenset(order[:i]), frozenset(order[: i + 1])
        ways = join_rows([(_rows(s, before), {v: s[1][v] for v in s[1] if v in before}) for s in sizes])
        total += ways * min(_rows(s, upto) / _rows(s, before) for s in sizes if name in s[1])
    return total


def cycle_of(chance: random.Random, variables: int) -> tuple[list[Sizes], tuple[str, ...]]:
    names = tuple(f"x{i}" for i in range(variables))
    sizes: list[Sizes] = []
    for i, name in enumerate(names):
        rows = float(chance.randint(10, 10_000))
        values = {v: min(rows, float(chance.randint(1, 5000))) for v in (name, names[(i + 1) % variables])}
        sizes.append((rows, values))
    return sizes, names


@pytest.mark.parametrize("seed", range(30))
def test_of_few_variables_no_order_is_better(seed: int) -> None:
    chance = random.Random(seed)
    sizes, names = cycle_of(chance, chance.randint(3, 5))
    order, cost = best_order(sizes, names)
    assert cost == pytest.approx(leaps(sizes, order))
    assert cost == pytest.approx(min(leaps(sizes, o) for o in permutations(names)))


def test_of_many_variables_all_are_bound() -> None:
    sizes, names = cycle_of(random.Random(0), FEW_VARIABLES + 2)
    order, cost = best_order(sizes, names)
    assert sorted(order) == sorted(names) and cost == pytest.approx(leaps(sizes, order))
