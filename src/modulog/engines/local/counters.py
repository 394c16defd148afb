"""A number for each fact: how many derivations it has.

Numbers lie in sorted runs, and the number of a fact is the sum over all runs. Runs are merged when they are
no longer small beside the one before them, so that a look-up touches few and an adjustment costs what it
changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modulog.engines.local.layer_lookup import PIECE
from modulog.engines.local.runs import Order, places
from modulog.engines.local.table import LocalTable
from modulog.engines.relation import Memory
from modulog.engines.table import Table, columns_of
from modulog.errors import InternalError
from modulog.kernels import packing, sort
from modulog.kernels.types import Integers, Weights, Words

RATIO = 8  # numbers join those before them if they are an eighth as many
SMALL = 1 << 12  # numbers in two runs that are always merged


@dataclass(frozen=True, slots=True)
class Tally:
    """Sorted facts, each with a number that is not zero; without numbers, each has one."""

    order: Order
    numbers: Weights | None

    @staticmethod
    def of(arity: int, words: Words, numbers: Integers) -> Tally:
        """Numbers take as few bytes as they need."""
        order = Order(tuple(range(arity)), words, True)
        least, greatest = (int(numbers.min()), int(numbers.max())) if len(numbers) else (1, 1)
        if least == greatest == 1:
            return Tally(order, None)
        return Tally(order, numbers.astype(np.min_scalar_type(-max(-least - 1, greatest) - 1)))

    def __len__(self) -> int:
        return len(self.order)

    def whole(self) -> Integers:
        """The numbers as 64-bit integers."""
        return np.ones(len(self), np.int64) if self.numbers is None else self.numbers.astype(np.int64)

    def add_to(self, sums: Integers, words: Words) -> None:
        """Add the numbers of the given facts."""
        where = self.order.positions(words)
        found = where >= 0
        sums[found] += 1 if self.numbers is None else self.numbers[where[found]]

    @property
    def bytes(self) -> int:
        return self.order.bytes + (0 if self.numbers is None else self.numbers.nbytes)


class LocalCounters:
    """Numbers of facts in memory."""

    def __init__(self, name: str, arity: int) -> None:
        self.name, self.arity = name, arity
        self.natural = places(tuple(range(arity)))
        self.base: list[Tally] = []
        self.since: list[Tally] | None = None  # adjusted since begin; None outside an update

    def adjust(self, rows: Table, sign: int = 1) -> None:
        assert isinstance(rows, LocalTable)
        if not len(rows):
            return
        words = packing.pack(rows.ids, self.natural)
        numbers = np.ones(len(rows), np.int64) if rows.weights is None else rows.weights.astype(np.int64)
        where = sort.positions_sorted(words)
        words, numbers = sort.sum_equal(np.ascontiguousarray(words[:, where]), sign * numbers[where])
        if words.shape[1]:
            stack = self.base if self.since is None else self.since
            stack.append(Tally.of(self.arity, words, numbers))
            self._compact(stack)

    def _compact(self, stack: list[Tally]) -> None:
        while len(stack) > 1:
            last, previous = stack[-1], stack[-2]
            if RATIO * len(last) < len(previous) and len(last) + len(previous) > SMALL:
                return
            words, numbers = sort.merge_sums(
                previous.order.words, previous.whole(), last.order.words, last.whole()
            )
            stack[-2:] = [Tally.of(self.arity, words, numbers)] if words.shape[1] else []

    def _of(self, rows: Table) -> Integers:
        assert isinstance(rows, LocalTable)
        words = packing.pack(rows.ids, self.natural)
        sums = np.zeros(len(rows), np.int64)
        for tally in (*self.base, *(self.since or ())):
            tally.add_to(sums, words)
        return sums

    def positive(self, rows: Table) -> LocalTable:
        assert isinstance(rows, LocalTable)
        mask = self._of(rows) > 0
        if not self.arity:
            return LocalTable(rows.columns, np.empty((0, int(mask.sum())), np.int32))
        return LocalTable(rows.columns, packing.select(rows.ids, self.natural, mask))

    def items(self) -> Iterator[LocalTable]:
        whole = Tally.of(
            self.arity, np.empty((max(1, (self.arity + 1) // 2), 0), np.int64), np.empty(0, np.int64)
        )
        words, numbers = whole.order.words, whole.whole()
        for tally in (*self.base, *(self.since or ())):
            words, numbers = sort.merge_sums(words, numbers, tally.order.words, tally.whole())
        for start in range(0, len(numbers), PIECE):
            stop = min(len(numbers), start + PIECE)
            ids = packing.unpack(words, self.natural, start, stop)
            yield LocalTable(columns_of(self.arity), ids, numbers[start:stop])

    def begin(self) -> None:
        if self.since is not None:
            raise InternalError(f"{self.name}: an update is under way")
        self.since = []

    def commit(self) -> None:
        for tally in self.since or ():
            self.base.append(tally)
            self._compact(self.base)
        self.since = None

    def rollback(self) -> None:
        self.since = None

    def memory(self) -> Memory:
        held = sum(tally.bytes for tally in (*self.base, *(self.since or ())))
        return Memory(held, held)
