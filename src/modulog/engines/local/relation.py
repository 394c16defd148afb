"""The plain relation: a set of facts, listed.

The life of a fact: rules *schedule* it; `derive` moves what is new into `delta`; `merge` moves delta into
`old`. Inside an update facts can also *leave* in rounds: then `derive` keeps what is there, and `merge` takes
it away. How the facts lie is for `levels` and `versions` to say; here is what happens to them in a round.

A bitmap of what is there removes duplicates as they are made. It takes scheduled facts for facts to come, so
inside an update it is used only from the second round of such a fixpoint on.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from modulog.algebra.expressions import Argument
from modulog.engines.local import layer_lookup
from modulog.engines.local.bitmap import LARGEST, Bitmap
from modulog.engines.local.fact_levels import Layer, fresh, held, size
from modulog.engines.local.readers import LayerReader, Reader
from modulog.engines.local.runs import Run, places
from modulog.engines.local.table import LocalTable
from modulog.engines.local.versions import Versions
from modulog.engines.relation import EXPLICIT, Closing, Estimate, Memory, ModuleId, Version, Viewing
from modulog.engines.schemes import PLAIN, Scheme
from modulog.engines.table import Table, columns_of
from modulog.errors import InternalError
from modulog.kernels import packing, split_work
from modulog.kernels.threads import ALONE, Threads, divided
from modulog.kernels.types import Columns, Words

SMALL_BITMAP = (
    1 << 27
)  # bits: a bitmap of 16 MiB is used at once, a larger one when enough facts will fill it
SPARSEST = 1 << 14  # bits for each fact
FREE_FACTS = 1 << 16  # facts that are read to fill a bitmap without asking whether it pays
UNSORTED_LIMIT = 1 << 23  # scheduled facts that may wait before they are made distinct
Bounds = tuple[tuple[int, int], ...]  # for each argument the least and the greatest id, perhaps too wide


class PlainRelation:
    """One predicate kept as a list of facts."""

    listed = takes_facts = True
    scheme: Scheme = PLAIN
    closing: Closing | None = None
    viewing: Viewing | None = None
    storage = ""

    def __init__(self, name: str, arity: int, threads: Threads = ALONE) -> None:
        self.name, self.arity = name, arity
        self.threads = threads  # what its work is divided between
        self.by_source = True  # always, at no cost
        self.intersects = True
        self.natural = places(tuple(range(arity)))
        self.versions = Versions(arity)
        self.scheduled: list[tuple[ModuleId, Words]] = []
        self.pending = self.consolidated = 0  # facts that wait, and how many the last look left of them
        self.bounds: Bounds | None = None
        self.seen: Bitmap | None = None
        self.coming = False  # inside an update: whether a fixpoint is under way whose facts come
        self.offered = False  # whether anything was scheduled since the last `derive`
        self.vouched = True  # whether all of that held when the update began

    # ---- Reading

    def layers(self, version: Version, except_from: ModuleId | None = None) -> list[Layer]:
        """What makes up a version."""
        return self.versions.layers(version, except_from)

    def lookup(self, version: Version, except_from: ModuleId | None = None) -> list[Layer]:
        """As `layers`, for one who looks facts up: runs nobody has sorted yet are put together first."""
        self.versions.settle()
        return self.versions.layers(version, except_from)

    def columns(self, version: Version) -> Columns:
        """The facts of `gone`, `come` or `delta`, of which nothing is hidden."""
        found = [layer.run.columns() for layer in self.layers(version)]
        if len(found) == 1:
            return found[0]
        return np.concatenate(found, axis=1) if found else np.empty((self.arity, 0), np.int32)

    def reader(self, version: Version, except_from: ModuleId | None = None, looking: bool = True) -> Reader:
        """A version, to be read by pattern; `looking` says that something will be bound."""
        layers = self.lookup(version, except_from) if looking else self.layers(version, except_from)
        return LayerReader(layers)

    @property
    def body(self) -> PlainRelation:
        """Itself: what keeps the facts."""
        return self

    def span(self) -> Bounds | None:
        """Bounds of the arguments of all facts."""
        return self.bounds

    def size(self, version: Version) -> int:
        found = self.versions.sizes.get(version)
        return self.versions.size(version) if found is None else found

    def has(self, version: Version) -> bool:
        return self.versions.size(version) > 0

    def guess(self, version: Version) -> int:
        return self.versions.size(version)

    def count(self, args: tuple[Argument, ...], version: Version) -> int:
        """How many facts match the arguments."""
        return layer_lookup.count(self.layers(version), args)

    @divided
    def contains(self, rows: Table, version: Version) -> LocalTable:
        assert isinstance(rows, LocalTable)
        mask = held(self.layers(version), packing.pack(rows.ids, self.natural), False)
        if not self.arity:
            return LocalTable(rows.columns, np.empty((0, int(mask.sum())), np.int32))
        return LocalTable(rows.columns, packing.select(rows.ids, self.natural, mask))

    @divided
    def estimate(self, version: Version) -> Estimate:
        layers = [layer for layer in self.layers(version) if len(layer.run)]
        rows = float(size(layers))
        if not rows:
            return Estimate(0.0, (0.0,) * self.arity)
        large = [layer.run.distinct() for layer in layers if len(layer.run) * 8 >= rows]
        spans = [b - a + 1 for a, b in self.bounds] if self.bounds else [rows] * self.arity
        distinct = tuple(min(rows, float(spans[j]), sum(d[j] for d in large)) for j in range(self.arity))
        return Estimate(rows, distinct)

    def unsorted(self, bound: tuple[int, ...], version: Version) -> int:
        layers = self.layers(version)
        waiting = sum(len(layer.run) for layer in layers if not layer.run.has_order(bound))
        return min(waiting, size(layers)) if waiting else 0

    # ---- The three beats of a round

    @divided
    def schedule(self, rows: Table, source: ModuleId) -> None:
        assert isinstance(rows, LocalTable)
        if len(rows):
            self.vouched = False
            self._bound_rows(rows.ids)
            if self.seen is not None:
                self.choose_bitmap(again=True)
            self.offer(split_work.pack(rows.ids, self.natural), source)

    def offer(self, words: Words, source: ModuleId) -> None:
        """Schedule facts packed in the order of their arguments, within the bounds."""
        self.offered = True
        if self.seen is not None:
            words = self.seen.keep_new(words)
        self.accept(words, source)
        # Twice as many as were left the last time: each fact is sorted a logarithmic number of times.
        if self.seen is None and self.pending > max(UNSORTED_LIMIT, 2 * self.consolidated):
            self._consolidate(None if self.versions.updating and not self.coming else False)

    def accept(self, words: Words, source: ModuleId) -> None:
        """Schedule facts that the bitmap has just found to be new."""
        self.offered = True
        if words.shape[1]:
            self.scheduled.append((source, words))
            self.pending += words.shape[1]

    def _grouped(self) -> Iterator[tuple[ModuleId, Words, bool]]:
        """What waits, by source, and whether it came in one piece."""
        groups: dict[ModuleId, list[Words]] = {}
        for source, words in self.scheduled:
            groups.setdefault(source, []).append(words)
        for source, parts in groups.items():
            yield source, split_work.concatenate(parts), len(parts) == 1

    def _consolidate(self, leaving: bool | None) -> None:
        """Make the waiting facts distinct; leave out those that are there, or those that are not if they are
        to leave.
        """
        there, kept = self.layers("all"), list[tuple[ModuleId, Words]]()
        certain = self.vouched and not self.versions.gone and not self.versions.come
        earlier: list[Run] = []
        for source, words, _ in self._grouped():
            if not split_work.is_increasing(words):
                words = split_work.sort_distinct(words)
            for run in earlier:
                words = split_work.select(words, run.absent(words, True))
            if leaving and not certain:
                words = split_work.select(words, held(there, words, True))
            elif not leaving and leaving is not None:
                words = fresh(there, words)
            if words.shape[1]:
                kept.append((source, words))
                earlier.append(Run.of(self.arity, words, True))
        self.scheduled = kept
        self.pending = self.consolidated = sum(words.shape[1] for _, words in kept)

    def widen(self, bounds: Bounds) -> None:
        """Promise that facts to be scheduled lie within the bounds, and decide whether a bitmap removes their
        duplicates.
        """
        self._bound(bounds)
        self.choose_bitmap(again=True)

    @property
    def bounds_wanted(self) -> bool:
        """Whether bounds must be promised before facts are scheduled: not in a round of an update that uses
        no bitmap.
        """
        return self.coming or not self.versions.updating

    def _bound_rows(self, ids: Columns) -> None:
        least, greatest = packing.ranges(ids) if self.arity else (places(()), places(()))
        self._bound(tuple(zip(least.tolist(), greatest.tolist(), strict=True)))

    def _bound(self, bounds: Bounds) -> None:
        if self.bounds is not None:
            bounds = tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(self.bounds, bounds, strict=True))
        self.bounds = bounds

    def choose_bitmap(self, again: bool = False) -> None:
        """Use a bitmap if its size is in proportion to the facts; `again` also looks at one that is in
        use.
        """
        if self.bounds is None or self.arity not in (1, 2) or (self.seen is not None and not again):
            return
        if self.versions.updating and not self.coming:
            return
        box = self.bounds if self.arity == 2 else (*self.bounds, (0, 0))
        least, greatest = (box[0][0], box[1][0]), (box[0][1], box[1][1])
        if self.seen is not None and _inside(least, greatest, self.seen):
            return
        bits = Bitmap.size(least, greatest)
        layers = self.layers("all")
        there = size(layers)
        dense = bits <= SMALL_BITMAP or (there + self.pending) * SPARSEST >= bits
        # Filling a bitmap reads every fact, which a few new ones do not repay; least of all in an update.
        free = 0 if self.versions.updating else FREE_FACTS
        paid = self.seen is not None or there <= max(free, 8 * self.pending)
        if not (bits <= LARGEST and dense and paid):
            self.seen = None
            return
        self.seen = Bitmap(least, greatest)
        for layer in layers:
            self._fill(self.seen, layer)
        self.scheduled = [(source, self.seen.keep_new(words)) for source, words in self.scheduled]
        self.pending = sum(words.shape[1] for _, words in self.scheduled)

    def _fill(self, seen: Bitmap, layer: Layer) -> None:
        if not layer.hidden:
            seen.keep_new(layer.run.words())
            return
        for table in layer_lookup.matching([layer], columns_of(self.arity)):
            seen.keep_new(packing.pack(table.ids, self.natural))

    def derive(self, leaving: bool = False) -> int:
        if self.versions.delta:
            raise InternalError(f"{self.name}: delta must be merged before the next one is derived")
        if leaving and not self.versions.updating:
            raise InternalError(f"{self.name}: facts leave inside an update only")
        if leaving and self.coming:
            raise InternalError(f"{self.name}: a fixpoint whose facts come must rest before facts leave")
        promised = self.bounds_wanted
        self.coming = self.versions.updating and not leaving
        delta = self._made_distinct(leaving) if self.scheduled else []
        if not promised and not leaving and self.arity:
            for _, run in delta:
                least, greatest = run.ranges()
                self._bound(tuple(zip(least.tolist(), greatest.tolist(), strict=True)))
        self.versions.show(delta, leaving and bool(delta))
        self.scheduled, self.pending, self.consolidated, self.offered = [], 0, 0, False
        self.vouched = True
        return sum(len(run) for _, run in delta)

    @divided
    def _made_distinct(self, leaving: bool) -> list[tuple[ModuleId, Run]]:
        """What waits, by source: each fact once, and without those that change nothing."""
        is_sorted = self.seen is None
        if is_sorted:
            self._consolidate(leaving)
        return [
            (source, Run.of(self.arity, words, is_sorted and whole))
            for source, words, whole in self._grouped()
            if words.shape[1]
        ]

    @divided
    def show(self, words: Words, bounds: Bounds, leaving: bool) -> None:
        """Let delta be facts that lie within bounds.

        They are different ones, of which none is there, or all are if they are leaving.
        """
        if self.versions.updating:
            words = split_work.sort_words(words)
        run = Run.of(self.arity, words, self.versions.updating)
        self._bound(bounds)
        self.versions.show([(EXPLICIT, run)], leaving)

    def merge(self) -> None:
        if self.versions.delta:
            self._merge()
        self.versions.leaving = False

    @divided
    def _merge(self) -> None:
        self.versions.merge()

    @divided
    def spare(self, rows: Table) -> None:
        if self.versions.delta and not self.versions.leaving:
            raise InternalError(f"{self.name}: only facts that are leaving can be spared")
        if len(rows):
            self.versions.spare(self._run(rows))

    def rest(self) -> None:
        self.seen, self.coming = None, False
        if not self.versions.updating:
            self._rest()

    @divided
    def _rest(self) -> None:
        self.versions.rest()

    # ---- Updates

    def _run(self, rows: Table) -> Run:
        """The different rows of a table as a run."""
        assert isinstance(rows, LocalTable)
        words = split_work.sort_distinct(split_work.pack(rows.ids, self.natural))
        return Run.of(self.arity, words, True)

    def begin(self) -> None:
        if self.versions.updating:
            raise InternalError(f"{self.name}: an update is under way")
        self.seen, self.coming = None, False
        self.versions.begin()

    def commit(self) -> None:
        if self.versions.leaving:
            raise InternalError(f"{self.name}: delta must be merged before the update ends")
        self.seen, self.coming = None, False
        if self.versions.gone or self.versions.come:
            self._commit()
        else:
            self.versions.commit()

    @divided
    def _commit(self) -> None:
        self.versions.commit()

    def rollback(self) -> None:
        self.seen, self.coming = None, False
        self.scheduled, self.pending, self.consolidated, self.offered = [], 0, 0, False
        self.vouched = True
        self.versions.rollback()

    def memory(self) -> Memory:
        runs = self.versions.runs()
        held = sum(run.bytes for run in runs) + (self.seen.bytes if self.seen else 0)
        return Memory(held, held)


def _inside(least: tuple[int, int], greatest: tuple[int, int], seen: Bitmap) -> bool:
    return all(a >= b for a, b in zip(least, seen.least, strict=True)) and all(
        a <= b for a, b in zip(greatest, seen.greatest, strict=True)
    )
