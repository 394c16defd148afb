"""Runs put together: weights summed, sizes kept in proportion."""

from __future__ import annotations

import numpy as np

from modulog.engines.local.runs import Run, concatenate
from modulog.kernels import packing, sorting
from modulog.kernels.types import Integers


def sum_of(arity: int, runs: list[Run], positive: bool) -> Run:
    """One run with the sums of all weights; `positive` leaves only the facts that are present, without weights."""
    words = np.concatenate([run.words() for run in runs], axis=1)
    weights = np.concatenate([_natural_weights(run) for run in runs])
    where = sorting.positions_sorted(words)
    words, weights = sorting.sum_equal(np.ascontiguousarray(words[:, where]), weights[where])
    if positive:
        return Run.of(arity, packing.select_words(words, weights > 0), True)
    return Run.of(arity, words, True, None if (weights == 1).all() else weights)


def _natural_weights(run: Run) -> Integers:
    """The weights in the sequence of `run.words()`."""
    natural = tuple(range(run.arity))
    order = next((o for o in run.orders if o.permutation == natural), run.orders[0])
    return np.ones(len(run), np.int64) if order.weights is None else order.weights.astype(np.int64)


def negated(run: Run) -> Run:
    """The same facts, each with weight -1."""
    return Run.of(run.arity, run.words(), run.orders[0].is_sorted, np.full(len(run), -1, np.int8))


def compact(arity: int, stack: list[Run]) -> None:
    """Merge runs from the end while one is at least half as large as the one before it.

    Unsorted runs wait: nobody looks them up, and `settle` puts them together when somebody does.
    """
    while len(stack) > 1 and 2 * len(stack[-1]) >= len(stack[-2]):
        last, previous = stack[-1], stack[-2]
        if last.weighted or previous.weighted:
            stack[-2:] = [sum_of(arity, [previous, last], positive=False)]
        elif any(o.is_sorted for o in previous.orders):
            for order in previous.orders:
                if order.is_sorted:
                    last.order_exactly(order.permutation)
            stack[-2:] = [concatenate(arity, [previous, last])]
        else:
            return


def settle(arity: int, stack: list[Run]) -> None:
    """Before a look-up: the unsorted runs at the end of a stack become one."""
    waiting = 0
    while waiting < len(stack) and not stack[-1 - waiting].orders[0].is_sorted:
        waiting += 1
    if waiting > 1:
        stack[-waiting:] = [concatenate(arity, stack[-waiting:])]
