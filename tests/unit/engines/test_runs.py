"""Runs: orders made when they are asked for, look-ups, merging, changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.engines.local.runs import Run, changed, concatenate, places
from modulog.kernels import packing
from support.runs import facts_of, run_of, some_facts


@pytest.mark.parametrize("arity", [1, 2, 3, 4, 5])
@given(data=st.data(), seed=st.integers(0, 999))
def test_orders_in_any_sequence(arity: int, data: st.DataObject, seed: int) -> None:
    facts = some_facts(seed, arity, 30)
    run = run_of(facts, arity)
    for _ in range(3):
        bound = tuple(data.draw(st.permutations(range(arity)))[: data.draw(st.integers(0, arity))])
        order = run.order(bound)
        assert order.is_sorted and set(order.permutation[: len(bound)]) == set(bound)
        assert run.has_order(bound)
        permuted = sorted(tuple(f[j] for j in order.permutation) for f in facts)
        found = packing.unpack(order.words, places(tuple(range(arity))), 0, len(run)).T.tolist()
        assert [tuple(f) for f in found] == permuted
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


def check_orders(run: Run) -> None:
    """Every order is sorted and holds the same facts."""
    for order in run.orders:
        rows = order.words.T.tolist()
        assert not order.is_sorted or rows == sorted(rows)
        inverse = tuple(order.permutation.index(j) for j in range(run.arity))
        found = packing.unpack(order.words, places(inverse), 0, len(order)).T.tolist()
        assert sorted(map(tuple, found)) == sorted(facts_of(run))


def draw_orders(data: st.DataObject, run: Run) -> None:
    for bound in data.draw(st.lists(st.sampled_from([(0,), (run.arity - 1,)]), max_size=2)):
        run.order(bound)


@given(st.data(), st.integers(1, 4), st.integers(0, 999), st.integers(0, 40), st.integers(0, 40))
def test_changed(data: st.DataObject, arity: int, seed: int, leave: int, number: int) -> None:
    every = some_facts(seed, arity, 80)
    facts, come = every[number:], every[:number]
    gone = facts[:leave]
    run, coming = run_of(facts, arity), run_of(come, arity)
    for each in (run, coming):
        draw_orders(data, each)
    before = run.permutations
    result = changed(run, run_of(gone, arity), coming)
    assert sorted(facts_of(result)) == sorted([*facts[leave:], *come])
    check_orders(result)
    assert set(before) <= set(result.permutations)


@given(st.data(), st.integers(1, 4), st.integers(0, 999), st.integers(0, 60))
def test_without(data: st.DataObject, arity: int, seed: int, number: int) -> None:
    facts, others = some_facts(seed, arity, 30), some_facts(seed + 1, arity, number)
    run, other = run_of(facts, arity), run_of(others, arity)
    for each in (run, other):
        draw_orders(data, each)
    result = run.without(other)
    assert sorted(facts_of(result)) == sorted(set(facts) - set(others))
    assert (result is run) == (not set(facts) & set(others))
    check_orders(result)
