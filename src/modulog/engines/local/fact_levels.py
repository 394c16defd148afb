"""Levels: how a set of facts changes at the cost of the change.

A set is a list of levels, oldest first. A level adds facts and may hide facts of older levels. Every fact of
the set is alive in exactly one level, and what a level hides is alive below it, once: sizes are differences
of lengths. Levels are merged when they are no longer small beside the one before them, so that there are few.
What a reader sees of a level is a *layer*: a run, and the runs that hide parts of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from modulog.engines.local.runs import Order, Permutation, Run, changed, concatenate
from modulog.kernels import sort, split_work
from modulog.kernels.types import Mask, Words

ROUND_RATIO = 2  # a round's facts join those before them if they are half as many
RATIO = 8  # an update's facts join those before them if they are an eighth as many
SMALL = 1 << 12  # facts in two levels that are always merged: copying so few costs less than looking twice


class Layer(NamedTuple):
    """Facts to read: those of a run that no hiding run has."""

    run: Run
    hidden: tuple[Run, ...] = ()

    def is_same(self, other: Layer) -> bool:
        """Whether both are made of the same runs."""
        runs, others = (self.run, *self.hidden), (other.run, *other.hidden)
        return len(runs) == len(others) and all(a is b for a, b in zip(runs, others, strict=True))


@dataclass(frozen=True, slots=True)
class Level:
    """Facts that are added, and facts of older levels that are hidden; never the same ones."""

    adds: Run
    dels: Run | None = None

    def __len__(self) -> int:
        return len(self.adds) + (0 if self.dels is None else len(self.dels))


def layers_of(levels: Sequence[Level], hidden: tuple[Run, ...] = ()) -> list[Layer]:
    """The layers of a list of levels, parts of which are hidden."""
    found = []
    for level in reversed(levels):
        found.append(Layer(level.adds, hidden))
        if level.dels is not None:
            hidden = (level.dels, *hidden)
    found.reverse()
    return found


def hiding(layers: Iterable[Layer]) -> list[Run]:
    """Every run that hides something, once; each of its facts hides one fact of the layers."""
    return list({id(run): run for layer in layers for run in layer.hidden}.values())


def size(layers: Iterable[Layer]) -> int:
    """How many facts the layers have."""
    layers = list(layers)
    return sum(len(layer.run) for layer in layers) - sum(map(len, hiding(layers)))


def held(layers: Sequence[Layer], words: Words, is_sorted: bool) -> Mask:
    """A mask of the facts, packed in the order of their arguments, that the layers have."""
    hidden = hiding(layers)
    if not hidden:
        found = np.zeros(words.shape[1], np.bool_)
        for layer in layers:
            if len(layer.run):
                found |= ~layer.run.absent(words, is_sorted)
        return found
    counts = np.zeros(words.shape[1], np.int64)
    for layer in layers:
        if len(layer.run):
            layer.run.tally(words, is_sorted, 1, counts)
    for run in hidden:
        run.tally(words, is_sorted, -1, counts)
    return counts > 0


def fresh(layers: Sequence[Layer], words: Words) -> Words:
    """Those of the sorted facts that the layers lack."""
    if any(layer.hidden for layer in layers):
        return split_work.select(words, ~held(layers, words, True))
    for layer in layers:
        if len(layer.run):
            words = split_work.select(words, layer.run.absent(words, True))
    return words


def merged(older: Level, newer: Level) -> Level:
    """Two neighbours as one level. A fact that one hides and the other adds is in neither: what lies below
    shows again.
    """
    if older.dels is None and newer.dels is None:
        return Level(changed(older.adds, None, newer.adds) if len(newer.adds) else older.adds)
    runs = [older.adds, older.dels, newer.adds, newer.dels]
    # The orders of the largest run: whatever else must be sorted for them is smaller.
    largest = max((run for run in runs if run is not None), key=len)
    adds, dels = [], []
    for permutation in largest.permutations or [tuple(range(largest.arity))]:
        a, d, b, e = (_words(run, permutation) for run in runs)
        adds.append(Order(permutation, sort.exchange(a, e, b, d), True))
        dels.append(Order(permutation, sort.exchange(d, b, e, a), True))
    hides = Run(largest.arity, dels)
    return Level(Run(largest.arity, adds), hides if len(hides) else None)


def _words(run: Run | None, permutation: Permutation) -> Words:
    """The sorted facts of a run; none is there for no run."""
    if run is None or not len(run):
        return Run.empty(len(permutation)).orders[0].words
    return run.order_exactly(permutation).words


def compact(levels: list[Level], ratio: int, small: int = 0) -> None:
    """Merge levels from the end while one is not small beside the one before it, or both are.

    Unsorted levels wait: nobody looks them up, and `settle` puts them together when somebody does.
    """
    while len(levels) > 1:
        last, previous = levels[-1], levels[-2]
        if ratio * len(last) < len(previous) and len(last) + len(previous) > small:
            return
        if not previous.adds.is_sorted:
            return
        both = merged(previous, last)
        levels[-2:] = [both] if len(both) else []


def settle(arity: int, levels: list[Level]) -> None:
    """Before a look-up: the unsorted levels at the end become one."""
    waiting = 0
    while (
        waiting < len(levels)
        and levels[-1 - waiting].dels is None
        and not levels[-1 - waiting].adds.is_sorted
    ):
        waiting += 1
    if waiting > 1:
        levels[-waiting:] = [Level(concatenate(arity, [level.adds for level in levels[-waiting:]]))]
