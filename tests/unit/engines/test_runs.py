"""Runs: orders made when they are asked for, look-ups, merging, weights."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.engines.local.runs import Run, concatenate, places
from modulog.engines.local.summing import compact, negated, settle, sum_of
from modulog.kernels import packing

Fact = tuple[int, ...]


def run_of(facts: list[Fact], arity: int, is_sorted: bool = False, weights: list[int] | None = None) -> Run:
    columns = np.ascontiguousarray(np.array(facts, np.int32).reshape(len(facts), arity).T)
    words = packing.pack(columns, places(tuple(range(arity))))
    return Run.of(arity, words, is_sorted, None if weights is None else np.array(weights, np.int64))


def facts_of(run: Run) -> list[Fact]:
    return [tuple(fact) for fact in run.columns().T.tolist()]


def some_facts(seed: int, arity: int, number: int, ids: int = 6) -> list[Fact]:
    choose = random.Random(seed)
    found = {tuple(choose.choices(range(ids), k=arity)) for _ in range(number)}
    return choose.sample(sorted(found), len(found))


@pytest.mark.parametrize("arity", [1, 2, 3, 4, 5])
@given(data=st.data(), seed=st.integers(0, 999))
def test_orders_in_any_sequence(arity: int, data: st.DataObject, seed: int) -> None:
    facts = some_facts(seed, arity, 30)
    weights = data.draw(st.none() | st.just(list(range(1, len(facts) + 1))))
    run = run_of(facts, arity, weights=weights)
    for _ in range(3):
        bound = tuple(data.draw(st.permutations(range(arity)))[: data.draw(st.integers(0, arity))])
        order = run.order(bound)
        assert order.is_sorted and set(order.permutation[: len(bound)]) == set(bound)
        assert run.has_order(bound)
        permuted = sorted(tuple(f[j] for j in order.permutation) for f in facts)
        found = packing.unpack(order.words, places(tuple(range(arity))), 0, len(run)).T.tolist()
        assert [tuple(f) for f in found] == permuted
        if weights is not None:
            known = dict(zip(facts, weights, strict=True))
            given_back = [known[tuple(f[order.permutation.index(j)] for j in range(arity))] for f in permuted]
            assert order.weights is not None and order.weights.tolist() == given_back
    assert sorted(facts_of(run)) == sorted(facts)
    words = packing.unpack(run.words(), places(tuple(range(arity))), 0, len(run)).T.tolist()
    assert sorted(map(tuple, words)) == sorted(facts)


@pytest.mark.parametrize("arity", [1, 2, 3, 5])
@given(data=st.data(), seed=st.integers(0, 999))
def test_absent(arity: int, data: st.DataObject, seed: int) -> None:
    facts, others = some_facts(seed, arity, 20), sorted(some_facts(seed + 1, arity, 25))
    run = run_of(facts, arity)
    if data.draw(st.booleans()):
        run.order((arity - 1,))
    mask = run.absent(run_of(others, arity).words(), True)
    assert mask.tolist() == [fact not in set(facts) for fact in others]


@given(st.integers(0, 999), st.integers(1, 4))
def test_estimates(seed: int, arity: int) -> None:
    facts = some_facts(seed, arity, 30, 50)
    run = run_of(facts, arity)
    assert run.distinct() == tuple(float(len({f[j] for f in facts})) for j in range(arity))
    least, greatest = run.ranges()
    assert least.tolist() == [min(f[j] for f in facts) for j in range(arity)]
    assert greatest.tolist() == [max(f[j] for f in facts) for j in range(arity)]


@given(st.data(), st.integers(1, 4), st.integers(0, 999), st.integers(1, 5))
def test_concatenate(data: st.DataObject, arity: int, seed: int, number: int) -> None:
    facts = some_facts(seed, arity, 40)
    runs = [run_of(facts[k::number], arity) for k in range(number)]
    for run in runs:
        for bound in data.draw(st.lists(st.sampled_from([(0,), (arity - 1,)]), max_size=2)):
            run.order(bound)
    joined = concatenate(arity, runs)
    assert sorted(facts_of(joined)) == sorted(facts)
    for order in joined.orders:
        if order.is_sorted:
            rows = order.words.T.tolist()
            assert rows == sorted(rows)


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(-2, 3)), max_size=8), min_size=1, max_size=5)
)
def test_sums(parts: list[list[tuple[int, int]]]) -> None:
    expected: Counter[Fact] = Counter()
    runs = []
    for part in parts:
        weights = dict(part)
        runs.append(run_of([(k,) for k in weights], 1, False, list(weights.values())))
        for k, weight in weights.items():
            expected[(k,)] += weight
    positive = sum_of(1, runs, positive=True)
    assert sorted(facts_of(positive)) == sorted(f for f, weight in expected.items() if weight > 0)
    assert not positive.weighted
    total = sum_of(1, runs, positive=False)
    found: Any = [1] * len(total) if total.orders[0].weights is None else total.orders[0].weights.tolist()
    assert dict(zip(facts_of(total), found, strict=True)) == {f: w for f, w in expected.items() if w}


def test_negated() -> None:
    run = negated(run_of([(3,), (1,)], 1))
    assert run.orders[0].weights is not None and run.orders[0].weights.tolist() == [-1, -1]


@given(st.lists(st.integers(1, 20), max_size=12), st.booleans())
def test_compacting_keeps_runs_in_proportion(sizes: list[int], ordered: bool) -> None:
    stack: list[Run] = []
    expected: list[Fact] = []
    for number, size in enumerate(sizes):
        facts = [(number, k) for k in range(size)]
        expected += facts
        stack.append(run_of(facts, 2, is_sorted=ordered))
        compact(2, stack)
        if ordered:
            assert all(2 * len(b) < len(a) for a, b in pairwise(stack))
    settle(2, stack)
    assert sorted(f for run in stack for f in facts_of(run)) == sorted(expected)
    if not ordered:
        assert len(stack) <= 1
