"""Runs of facts and the orders in which they are sorted.

A run is an immutable set of facts. It keeps them packed in at least one *order*, a permutation of the
arguments; more orders are built when a join asks for them, and live and die with the run. A run nobody has
looked up is not even sorted.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np

from modulog.kernels import packing, search, sort, split_work
from modulog.kernels.threads import current, for_ranges, undivided
from modulog.kernels.types import Columns, Integers, Mask, Words

Permutation = tuple[int, ...]
FEW = 1 << 12  # facts of a run that is sorted in a moment
ONE_BUCKET = 64  # facts that need no table of buckets
DENSE_TABLE = (
    1 << 21
)  # buckets: up to 8 MiB a table may have one for each id, where a look-up needs no search (1 ns, not 25)
EMPTY_STARTS = np.zeros(1, np.int32)


class Building:
    """What is made at the first look is made by one thread, while others that want to look wait."""

    lock = threading.RLock()

    @classmethod
    def forget(cls) -> None:
        """A forked process has none of the threads that may have held the lock."""
        cls.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=Building.forget)


@cache
def places(numbers: tuple[int, ...]) -> Integers:
    """Small tuples of numbers as the arrays that kernels take; each array is made once, and nobody changes
    it.
    """
    return np.array(numbers, np.int64)


@cache
def _no_words(arity: int) -> Words:
    return np.empty((max(1, (arity + 1) // 2), 0), np.int64)


@dataclass(slots=True)
class Order:
    """Facts packed in the order `permutation`: place j holds argument permutation[j]."""

    permutation: Permutation
    words: Words
    is_sorted: bool
    starts: Columns | None = None
    base: int = 0
    shift: int = 0

    def __len__(self) -> int:
        return int(self.words.shape[1])

    def table(self) -> tuple[Columns, int, int]:
        """The table of bucket starts, at most one entry for four facts, or two for each fact while that is
        short; built at the first look-up.
        """
        if self.starts is None:
            with Building.lock:
                if self.starts is None:
                    self.starts = self._starts()  # last: who sees them may read the rest
        return self.starts, self.base, self.shift

    def _starts(self) -> Columns:
        n = len(self)
        if n == 0:
            return EMPTY_STARTS
        if n <= ONE_BUCKET:
            self.shift = 32
            return np.array([0, n], np.int32)
        self.base = int(self.words[0, 0] >> 32)
        span = int(self.words[0, -1] >> 32) - self.base + 1
        most, self.shift = max(n // 4, min(2 * n, DENSE_TABLE)), 0
        while span >> self.shift > most:
            self.shift += 1
        buckets = ((span - 1) >> self.shift) + 1
        return search.bucket_starts(self.words[0], self.base, self.shift, buckets)

    def find(self, keys: Columns) -> tuple[Columns, Columns]:
        """For each column of keys, the range of positions whose first places equal it."""
        starts, base, shift = self.table()
        return search.find(self.words, starts, base, shift, keys)

    def positions(self, facts: Words) -> Columns:
        """The position of each fact, packed in this order; -1 where it is absent."""
        starts, base, shift = self.table()
        return search.find_facts(self.words, starts, base, shift, facts)

    @property
    def bytes(self) -> int:
        return self.words.nbytes + (0 if self.starts is None else self.starts.nbytes)


@dataclass(slots=True)
class Run:
    """A set of facts of one arity, in one or more orders."""

    arity: int
    orders: list[Order]
    _ranges: tuple[Integers, Integers] | None = field(default=None, repr=False)
    _distinct: tuple[float, ...] | None = field(default=None, repr=False)
    _known: dict[Permutation, Order] = field(default_factory=dict, repr=False)  # what `order` gave

    @staticmethod
    def of(arity: int, words: Words, is_sorted: bool) -> Run:
        """A run of distinct facts packed in the order of their arguments."""
        return Run(arity, [Order(tuple(range(arity)), words, is_sorted)])

    @staticmethod
    def empty(arity: int) -> Run:
        """A run without facts."""
        return Run.of(arity, _no_words(arity), True)

    def __len__(self) -> int:
        return int(self.orders[0].words.shape[1])

    @property
    def is_sorted(self) -> bool:
        """Whether some order is; if one is, all are."""
        return self.orders[0].is_sorted

    @property
    def permutations(self) -> list[Permutation]:
        """The orders in which the run is sorted."""
        return [order.permutation for order in self.orders if order.is_sorted]

    def _ordered(self, wanted: set[int]) -> Order | None:
        for order in self.orders:
            if order.is_sorted and set(order.permutation[: len(wanted)]) == wanted:
                return order
        return None

    def has_order(self, bound: Permutation) -> bool:
        """Whether facts can be looked up by the arguments `bound` without sorting."""
        return self._ordered(set(bound)) is not None

    def order(self, bound: Permutation) -> Order:
        """A sorted order whose first places hold exactly the arguments `bound`, in any sequence."""
        found = self._known.get(bound)
        if found is None:
            wanted = set(bound)
            found = self._ordered(wanted)  # nobody needs the lock to see an order that is there
            if found is None:
                rest = (a for a in range(self.arity) if a not in wanted)
                with Building.lock:
                    found = self._ordered(wanted) or self.order_exactly((*bound, *rest))
            self._known[bound] = found
        return found

    def order_exactly(self, permutation: Permutation) -> Order:
        """The sorted order of the given permutation."""
        found = self._sorted_as(permutation)  # nobody needs the lock to see an order that is there
        if found is None:
            with Building.lock:
                found = self._sorted_as(permutation) or self._add_order(permutation)
        return found

    def _sorted_as(self, permutation: Permutation) -> Order | None:
        for order in self.orders:
            if order.is_sorted and order.permutation == permutation:
                return order
        return None

    def _add_order(self, permutation: Permutation) -> Order:
        order = self._build(permutation)
        if self.orders[0].is_sorted:
            self.orders.append(order)
        else:
            self.orders[0] = order
        return order

    def _build(self, permutation: Permutation) -> Order:
        first = self.orders[0]
        words = (
            first.words
            if permutation == first.permutation
            else split_work.pack(self.columns(), places(permutation))
        )
        return Order(permutation, split_work.sort_words(words), True)

    def columns(self, start: int = 0, stop: int | None = None) -> Columns:
        """The arguments of the facts from start to stop, in the order of `orders[0]`."""
        first = self.orders[0]
        inverse = tuple(first.permutation.index(a) for a in range(self.arity))
        return split_work.unpack(first.words, places(inverse), start, len(self) if stop is None else stop)

    def natural(self) -> tuple[Words, bool]:
        """The facts packed in the order of their arguments, and whether they are sorted."""
        permutation = tuple(range(self.arity))
        for order in self.orders:
            if order.permutation == permutation:
                return order.words, order.is_sorted
        return split_work.pack(self.columns(), places(permutation)), False

    def words(self) -> Words:
        """The facts packed in the order of their arguments, sorted or not."""
        return self.natural()[0]

    def absent(self, words: Words, is_sorted: bool) -> Mask:
        """A mask of the facts, packed in the order of their arguments, that the run lacks."""
        n = len(self)
        if n == 0:
            return np.ones(words.shape[1], np.bool_)
        natural = tuple(range(self.arity))
        order = next((o for o in self.orders if o.is_sorted), None) or self.order(natural)
        if order.permutation == natural:
            if is_sorted and words.shape[1] * 8 > n:
                return split_work.absent(words, order.words)
        if undivided(words.shape[1]):
            return np.asarray(order.positions(_packed_as(order, words)) < 0)
        packed, lacks = _packed_as(order, words), np.empty(words.shape[1], np.bool_)
        order.table()

        def task(low: int, high: int) -> None:
            lacks[low:high] = order.positions(np.ascontiguousarray(packed[:, low:high])) < 0

        for_ranges(words.shape[1], task)
        return lacks

    def tally(self, words: Words, is_sorted: bool, sign: int, counts: Integers) -> None:
        """Add the sign to the count of each fact, packed in the order of its arguments, that the run has."""
        if words.shape[1] > FEW or not self.orders[0].is_sorted:
            counts += sign * ~self.absent(words, is_sorted)
            return
        order = self.orders[0]
        search.tally_facts(order.words, *order.table(), _packed_as(order, words), sign, counts)

    def without(self, other: Run) -> Run:
        """The facts that another run lacks; the run itself if that is all of them."""
        if len(self) <= FEW and len(self.orders) == 1 and len(other):
            words, is_sorted = self.natural()
            rest = split_work.select(words, other.absent(words, is_sorted))
            return self if rest.shape[1] == len(self) else Run.of(self.arity, rest, is_sorted)
        small, large = (self, other) if len(self) < len(other) else (other, self)
        if not len(small):
            return self
        words, is_sorted = small.natural()
        lost = ~large.absent(words, is_sorted)
        if not lost.any():
            return self
        return changed(self, Run.of(self.arity, split_work.select(words, lost), is_sorted), None)

    def ranges(self) -> tuple[Integers, Integers]:
        """The least and the greatest id of each argument; the run is not empty."""
        if self._ranges is None:
            self._ranges = packing.ranges(self.columns())
        return self._ranges

    def distinct(self) -> tuple[float, ...]:
        """How many different values each argument has: counted up to a million facts, guessed from a part
        beyond.
        """
        if self._distinct is None:
            n = len(self)
            if n == 1:
                self._distinct = (1.0,) * self.arity
                return self._distinct
            part = min(n, 1 << 20)
            columns = self.columns(0, part)
            least, greatest = packing.ranges(columns) if part else (places(()), places(()))
            counts: list[float] = []

            def count(j: int) -> int:
                return _count_distinct(columns[j], int(least[j]), int(greatest[j])) if part else 0

            divided = not undivided(part)
            tasks = [partial(count, j) for j in range(self.arity)]
            for seen in current().run(tasks) if divided else [task() for task in tasks]:
                # Values that are rare in the part will go on to appear; frequent ones have all been seen.
                counts.append(
                    float(seen) if part == n else min(seen * n / part, seen * (n / part) ** (seen / part))
                )
            for order in self.orders:
                if order.is_sorted and part < n and self.arity:
                    counts[order.permutation[0]] = float(search.count_leading(order.words[0]))
            self._distinct = tuple(counts)
        return self._distinct

    @property
    def bytes(self) -> int:
        return sum(order.bytes for order in self.orders)


def _packed_as(order: Order, words: Words) -> Words:
    """Facts packed in the order of their arguments, packed in another one."""
    natural = tuple(range(len(order.permutation)))
    if order.permutation == natural:
        return words
    return packing.pack(packing.unpack(words, places(natural), 0, words.shape[1]), places(order.permutation))


def _count_distinct(column: Columns, least: int, greatest: int) -> int:
    if greatest - least > 64 * len(column):
        return len(search.count_values(np.sort(column))[0])
    return int(search.count_distinct(column, least, greatest))


def concatenate(arity: int, runs: list[Run]) -> Run:
    """Disjoint runs as one; every order that all of them have sorted is merged, not sorted again."""
    if len(runs) == 1:
        return runs[0]
    shared = [
        o.permutation
        for o in runs[0].orders
        if o.is_sorted
        and all(any(p.is_sorted and p.permutation == o.permutation for p in r.orders) for r in runs)
    ]
    if not shared:
        return Run.of(arity, split_work.concatenate([run.words() for run in runs]), False)
    orders = []
    for permutation in shared:
        parts = [
            next(o.words for o in r.orders if o.is_sorted and o.permutation == permutation) for r in runs
        ]
        while len(parts) > 1:
            parts.sort(key=lambda part: part.shape[1], reverse=True)
            smallest = parts.pop()
            parts.append(split_work.merge(parts.pop(), smallest))
        orders.append(Order(permutation, parts[0], True))
    return Run(arity, orders)


def changed(run: Run, gone: Run | None, come: Run | None) -> Run:
    """The run without the facts of one run, all of which it has, and with those of another, none of which it
    has.

    Orders are changed, not sorted again: those of the run, and those of the facts that come if they are more.
    """
    wanted = list(run.permutations)
    if come is not None and len(come) > len(run):
        wanted += [p for p in come.permutations if p not in wanted]
    orders = []
    for permutation in wanted or [tuple(range(run.arity))]:
        words = run.order_exactly(permutation).words
        leaving, coming = (
            words[:, :0] if other is None else other.order_exactly(permutation).words
            for other in (gone, come)
        )
        if leaving.shape[1] == 0 and coming.shape[1] * 8 > words.shape[1]:
            orders.append(Order(permutation, split_work.merge(words, coming), True))
        else:
            orders.append(Order(permutation, sort.change(words, leaving, coming), True))
    return Run(run.arity, orders)
