"""The plain relation: a set of sorted runs with weights, in every version that a fixpoint or an update asks for.

The life of a fact: rules *schedule* it; `derive` moves what is new into `delta`; `merge` moves delta into `old`. Facts of `old` lie in
runs of growing size, which are merged when a run is at least half as large as the one before it. Between `begin` and `commit` nothing in
`base` changes: what has gone (D) and what has come (A) lie beside it.

A run may carry weights. A fact is present when its weights sum above zero; a run without weights counts one for each of its facts, and
as long as no run has weights, runs are disjoint and reading needs no sums.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from modulog.engines.local.bitmap import LARGEST, Bitmap
from modulog.engines.local.reading import matching
from modulog.engines.local.runs import Run, concatenate, places
from modulog.engines.local.summing import compact, negated, settle, sum_of
from modulog.engines.local.table import LocalTable
from modulog.engines.protocol import Argument, Estimate, Memory, ModuleId, Table, Version
from modulog.errors import InternalError
from modulog.kernels import packing, searching, sorting
from modulog.kernels.types import Columns, Integers, Words

SMALL_BITMAP = (
    1 << 27
)  # bits: a bitmap of 16 MiB is used at once, a larger one when enough facts will fill it
SPARSEST = 1 << 14  # bits for each fact
FREE_FACTS = 1 << 16  # facts that are read to fill a bitmap without asking whether it pays
UNSORTED_LIMIT = 1 << 23  # scheduled facts that may wait before they are made distinct
Bounds = tuple[tuple[int, int], ...]  # for each argument the least and the greatest id, perhaps too wide


class PlainRelation:
    """One predicate kept as a list of facts."""

    def __init__(self, name: str, arity: int) -> None:
        self.name, self.arity = name, arity
        self.base: list[Run] = []
        self.come: list[Run] = []  # A: merged since begin
        self.gone: Run | None = None  # D: retracted since begin, each with weight -1
        self.delta: list[tuple[ModuleId, Run]] = []
        self.scheduled: list[tuple[ModuleId, Words]] = []
        self.pending = self.consolidated = 0  # facts that wait, and how many the last look left of them
        self.bounds: Bounds | None = None
        self.seen: Bitmap | None = None
        self.updating = False

    # ---- Reading

    def runs(self, version: Version, except_from: ModuleId | None = None) -> list[Run]:
        """The runs whose weights, summed, make up a version."""
        if not self.updating and (version == "old" or (version == "all" and not self.delta)):
            return list(self.base)
        delta = [run for source, run in self.delta if source != except_from]
        if version == "delta":
            return delta
        if not self.updating:
            return (
                []
                if version in ("gone", "come")
                else [*self.base, *delta]
                if version == "all"
                else list(self.base)
            )
        gone = [] if self.gone is None else [self.gone]
        match version:
            case "old" | "after":
                return [*self.base, *gone, *self.come]
            case "all":
                return [*self.base, *gone, *self.come, *delta]
            case "before":
                return list(self.base)
            case "either":
                won = self._net(self.come, self.base)
                return [*self.base, *([] if won is None else [won])]
            case "kept":
                return [
                    *self.base,
                    *([] if (lost := self._net(gone, self.come)) is None else [negated(lost)]),
                ]
            case "gone":
                return [] if (lost := self._net(gone, self.come)) is None else [lost]
            case "come":
                return [] if (won := self._net(self.come, gone)) is None else [won]

    def lookup(self, version: Version, except_from: ModuleId | None = None) -> list[Run]:
        """As `runs`, for one who looks facts up: runs nobody has sorted yet are put together first."""
        settle(self.arity, self.base)
        settle(self.arity, self.come)
        return self.runs(version, except_from)

    def _net(self, runs: list[Run], others: list[Run]) -> Run | None:
        """The facts of runs that are not in the others, unweighted."""
        if not runs:
            return None
        words = sorting.distinct(sorting.sort_words(np.concatenate([run.words() for run in runs], axis=1)))
        for other in others:
            words = packing.select_words(words, other.absent(words, True))
        return Run.of(self.arity, words, True)

    def size(self, version: Version) -> int:
        runs = self.runs(version)
        if any(run.weighted for run in runs):
            return len(sum_of(self.arity, runs, positive=True))
        return sum(map(len, runs))

    def scan(self, args: tuple[Argument, ...], version: Version) -> Iterator[LocalTable]:
        yield from matching(self.runs(version), args)

    def contains(self, rows: Table, version: Version) -> LocalTable:
        assert isinstance(rows, LocalTable)
        mask = np.ascontiguousarray(self._weights(rows.ids, self.runs(version)) > 0)
        if not self.arity:
            return LocalTable(rows.columns, np.empty((0, int(mask.sum())), np.int32))
        return LocalTable(rows.columns, packing.select(rows.ids, places(tuple(range(self.arity))), mask))

    def _weights(self, ids: Columns, runs: list[Run]) -> Integers:
        """The sum of weights that each row has in the runs."""
        sums = np.zeros(ids.shape[1], np.int64)
        for run in runs:
            if len(run):
                order = run.order(tuple(range(self.arity)))
                where = order.positions(packing.pack(ids, places(order.permutation)))
                sums += np.where(where >= 0, 1 if order.weights is None else order.weights[where], 0)
        return sums

    def count(self, args: tuple[Argument, ...], version: Version, by: int | None = None) -> LocalTable:
        if by is None:
            total = sum(len(table) for table in self.scan(args, version))
            return LocalTable((), np.empty((0, 1), np.int32), np.array([total], np.int64))
        column = args[by]
        if isinstance(column, int):
            total = sum(len(table) for table in self.scan(args, version))
            values, counts = np.array([column][:total], np.int32), np.array([total][:total], np.int64)
            return LocalTable((f"#{by}",), values[np.newaxis], counts)
        name = f"#{by}" if column is None else column
        named = tuple(name if j == by else a for j, a in enumerate(args))
        found = [table.ids[table.columns.index(name)] for table in self.scan(named, version)]
        values, counts = searching.count_values(
            np.sort(np.concatenate(found)) if found else np.empty(0, np.int32)
        )
        return LocalTable((f"#{by}",), values[np.newaxis], counts)

    def distinct(self, column: int, version: Version) -> LocalTable:
        counts = self.count((None,) * self.arity, version, by=column)
        return LocalTable(counts.columns, counts.ids)

    def estimate(self, version: Version) -> Estimate:
        runs = [run for run in self.runs(version) if len(run)]
        rows = float(sum(map(len, runs)))
        if not rows:
            return Estimate(0.0, (0.0,) * self.arity)
        large = [run.distinct() for run in runs if len(run) * 8 >= rows]
        spans = [b - a + 1 for a, b in self.bounds] if self.bounds else [rows] * self.arity
        distinct = tuple(min(rows, float(spans[j]), sum(d[j] for d in large)) for j in range(self.arity))
        return Estimate(rows, distinct)

    def unsorted(self, bound: tuple[int, ...], version: Version) -> int:
        return sum(len(run) for run in self.runs(version) if not run.has_order(bound))

    # ---- The three beats of a round

    def schedule(self, rows: Table, source: ModuleId) -> None:
        assert isinstance(rows, LocalTable)
        if len(rows):
            self._bound_rows(rows.ids)
            if self.seen is not None:
                self.choose_bitmap(again=True)
            self.offer(packing.pack(rows.ids, places(tuple(range(self.arity)))), source)

    def offer(self, words: Words, source: ModuleId) -> None:
        """Schedule facts packed in the order of their arguments, within the bounds."""
        if self.seen is not None:
            words = self.seen.keep_new(words)
        self.accept(words, source)
        # Twice as many as were left the last time: each fact is sorted a logarithmic number of times.
        if self.seen is None and self.pending > max(UNSORTED_LIMIT, 2 * self.consolidated):
            self._consolidate_scheduled()

    def accept(self, words: Words, source: ModuleId) -> None:
        """Schedule facts that the bitmap has just found to be new."""
        if words.shape[1]:
            self.scheduled.append((source, words))
            self.pending += words.shape[1]

    def _consolidate_scheduled(self) -> None:
        """Make the waiting facts distinct, and leave out those that are there."""
        groups: dict[ModuleId, list[Words]] = {}
        for source, words in self.scheduled:
            groups.setdefault(source, []).append(words)
        earlier: list[Run] = list(self.runs("all"))
        self.scheduled = []
        for source, parts in groups.items():
            fresh = sorting.distinct(
                sorting.sort_words(parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1))
            )
            if any(run.weighted for run in earlier):
                earlier = [sum_of(self.arity, earlier, positive=True)]
            for run in earlier:
                if len(run):
                    fresh = packing.select_words(fresh, run.absent(fresh, True))
            if fresh.shape[1]:
                self.scheduled.append((source, fresh))
                earlier.append(Run.of(self.arity, fresh, True))
        self.pending = self.consolidated = sum(words.shape[1] for _, words in self.scheduled)

    def widen(self, bounds: Bounds) -> None:
        """Promise that facts to be scheduled lie within the bounds, and decide whether a bitmap removes their duplicates."""
        self._bound(bounds)
        self.choose_bitmap(again=True)

    def _bound_rows(self, ids: Columns) -> None:
        least, greatest = packing.ranges(ids) if self.arity else (places(()), places(()))
        self._bound(tuple(zip(least.tolist(), greatest.tolist(), strict=True)))

    def _bound(self, bounds: Bounds) -> None:
        if self.bounds is not None:
            bounds = tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(self.bounds, bounds, strict=True))
        self.bounds = bounds

    def choose_bitmap(self, again: bool = False) -> None:
        """Use a bitmap if its size is in proportion to the facts; `again` also looks at one that is in use."""
        if self.bounds is None or self.arity not in (1, 2) or (self.seen is not None and not again):
            return
        box = self.bounds if self.arity == 2 else (*self.bounds, (0, 0))
        least, greatest = (box[0][0], box[1][0]), (box[0][1], box[1][1])
        if self.seen is not None and _inside(least, greatest, self.seen):
            return
        bits = Bitmap.size(least, greatest)
        there = sum(len(run) for run in self.runs("all"))
        dense = bits <= SMALL_BITMAP or (there + self.pending) * SPARSEST >= bits
        # Filling a bitmap reads every fact, which a few new ones do not repay.
        paid = self.seen is not None or there <= max(FREE_FACTS, 8 * self.pending)
        if not (bits <= LARGEST and dense and paid) or any(run.weighted for run in self.runs("all")):
            self.seen = None
            return
        self.seen = Bitmap(least, greatest)
        for run in self.runs("all"):
            self.seen.keep_new(run.words())
        self.scheduled = [(source, self.seen.keep_new(words)) for source, words in self.scheduled]
        self.pending = sum(words.shape[1] for _, words in self.scheduled)

    def derive(self) -> int:
        if self.delta:
            raise InternalError(f"{self.name}: delta must be merged before the next one is derived")
        is_sorted = self.seen is None
        if is_sorted and self.scheduled:
            self._consolidate_scheduled()
        groups: dict[ModuleId, list[Words]] = {}
        for source, words in self.scheduled:
            groups.setdefault(source, []).append(words)
        for source, parts in groups.items():
            words = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
            if words.shape[1]:
                self.delta.append((source, Run.of(self.arity, words, is_sorted and len(parts) == 1)))
        self.scheduled, self.pending, self.consolidated = [], 0, 0
        return sum(len(run) for _, run in self.delta)

    def merge(self) -> None:
        stack = self.come if self.updating else self.base
        for _, run in self.delta:
            stack.append(run)
        self.delta = []
        compact(self.arity, stack)

    def rest(self) -> None:
        self.seen = None
        if not self.updating and len(self.base) > 1 and not any(run.weighted for run in self.base):
            self.base = [concatenate(self.arity, self.base)]

    # ---- Weights and updates

    def adjust(self, rows: Table) -> None:
        assert isinstance(rows, LocalTable)
        if self.updating:
            raise InternalError(f"{self.name}: weights change outside updates only")
        if len(rows):
            self._bound_rows(rows.ids)
            self.seen = None
            weights = np.ones(len(rows), np.int64) if rows.weights is None else rows.weights
            self._push_weighted(self.base, packing.pack(rows.ids, places(tuple(range(self.arity)))), weights)

    def _push_weighted(self, stack: list[Run], words: Words, weights: np.ndarray) -> None:
        where = sorting.positions_sorted(words)
        words, weights = sorting.sum_equal(
            np.ascontiguousarray(words[:, where]), weights[where].astype(np.int64)
        )
        if words.shape[1]:
            stack.append(Run.of(self.arity, words, True, weights))
            compact(self.arity, stack)

    def retract(self, rows: Table) -> None:
        assert isinstance(rows, LocalTable)
        if not self.updating:
            raise InternalError(f"{self.name}: retract outside an update")
        if not len(rows):
            return
        words = sorting.distinct(sorting.sort_words(packing.pack(rows.ids, places(tuple(range(self.arity))))))
        self.seen = None
        # What came in this update has not been there before: it only leaves A again.
        self.come = [kept for run in self.come if len(kept := self._without(run, words))]
        if self.gone is not None:
            words = packing.select_words(words, self.gone.absent(words, True))
        weights = self._weights(
            packing.unpack(words, places(tuple(range(self.arity))), 0, words.shape[1]), self.base
        )
        words, weights = packing.select_words(words, weights > 0), weights[weights > 0]
        if self.gone is not None:
            gone = self.gone.orders[0]
            assert gone.weights is not None
            words = np.concatenate([gone.words, words], axis=1)
            weights = np.concatenate([gone.weights.astype(np.int64), -weights])
            where = sorting.positions_sorted(words)
            self.gone = Run.of(self.arity, np.ascontiguousarray(words[:, where]), True, weights[where])
        elif words.shape[1]:
            self.gone = Run.of(self.arity, words, True, -weights)

    def _without(self, run: Run, words: Words) -> Run:
        own = run.words()
        return Run.of(
            self.arity, packing.select_words(own, Run.of(self.arity, words, True).absent(own, False)), False
        )

    def begin(self) -> None:
        self.updating, self.gone, self.come = True, None, []

    def commit(self) -> None:
        gone, come = self.gone, self.come
        self.updating, self.gone, self.come = False, None, []
        if gone is not None:
            assert gone.orders[0].weights is not None
            self._push_weighted(self.base, gone.words(), gone.orders[0].weights)
        self.base.extend(come)
        compact(self.arity, self.base)

    def rollback(self) -> None:
        self.updating, self.gone, self.come = False, None, []
        self.delta, self.scheduled, self.pending, self.seen = [], [], 0, None

    def memory(self) -> Memory:
        held = sum(run.bytes for run in self.runs("all")) + (self.seen.bytes if self.seen else 0)
        return Memory(held, held)


def _inside(least: tuple[int, int], greatest: tuple[int, int], seen: Bitmap) -> bool:
    return all(a >= b for a, b in zip(least, seen.least, strict=True)) and all(
        a <= b for a, b in zip(greatest, seen.greatest, strict=True)
    )
