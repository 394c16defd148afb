"""The last join of a rule, the projection to its head and the test for new facts in one pass, where a bitmap
removes duplicates.

Rows are cut into blocks of bounded numbers of matches. Where there are many, rows are divided into shards by
an argument of the head that comes from the left, so that no two threads enter the same facts. New facts come
shard by shard, also on one thread: their order does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from modulog.engines.local.batches import Batch
from modulog.engines.local.evaluate import Probe
from modulog.engines.local.fact_levels import Layer
from modulog.engines.local.relation import PlainRelation
from modulog.engines.local.runs import Run, places
from modulog.engines.relation import ModuleId
from modulog.kernels import joining
from modulog.kernels.joining import Block
from modulog.kernels.threads import current
from modulog.kernels.types import Columns, Integers

BLOCK = 1 << 21  # matches of a block, and new facts that are found before they are handed on
PAIRS = 1 << 24  # matches that one call considers


ROWS = 1 << 17  # rows of the left that are worth dividing


def gathered(batches: Iterator[Batch]) -> Iterator[Columns]:
    """The rows of batches, small ones put together; none of them is empty."""
    waiting, rows = list[Columns](), 0
    for batch in batches:
        if found := batch.ids.shape[1]:
            waiting.append(batch.ids)
            rows += found
        if rows >= ROWS:
            yield waiting[0] if len(waiting) == 1 else np.concatenate(waiting, axis=1)
            waiting, rows = [], 0
    if waiting:
        yield waiting[0] if len(waiting) == 1 else np.concatenate(waiting, axis=1)


class FusedJoin:
    """Joins rows with facts and schedules what is new."""

    def __init__(
        self, relation: PlainRelation, node: Probe, args: tuple[str | int, ...], source: ModuleId
    ) -> None:
        self.relation, self.node, self.args, self.source = relation, node, args, source
        self._buffer: Integers | None = None

    def takes(self, layer: Layer) -> bool:
        """Whether it can join rows with the facts of a layer; if not, `reading.matches` does."""
        return self.relation.seen is not None and not self.node.lookup.equal and not layer.hidden

    def run(self, run: Run, ids: Columns) -> Iterator[int]:
        """Join rows with the facts of a run; gives the number of matches of each block."""
        if not len(run):
            return
        order, lows, highs = self.node.lookup.find(ids, run)
        sources = places(tuple(self._origin(order.permutation, str(a)) for a in self.args))
        own = next((argument for argument in (0, 1) if sources[argument] >= 0), None)
        seen = self.relation.seen
        assert seen is not None
        shards = None if own is None else seen.shards(own)
        block = Block(ids, lows, highs, order.words, sources, seen.bits, seen.box)
        total = int(joining.matches_of(lows, highs, 0, len(lows)))
        if total < min(BLOCK, 2 * current().least):
            self._in_order(block, 0, len(lows), np.empty(total + 1, np.int64))
            yield total
            return
        if self._buffer is None:
            self._buffer = np.empty(BLOCK, np.int64)
        for first, last in pairwise(joining.blocks(lows, highs, BLOCK).tolist()):
            matches = int(joining.matches_of(lows, highs, first, last))
            if shards is None or own is None or not 2 * current().least <= matches <= BLOCK:
                self._in_order(block, first, last, self._buffer)
            else:
                self._by_shards(block, first, last, ids[sources[own]], shards)
            yield matches

    def _origin(self, permutation: tuple[int, ...], variable: str) -> int:
        """Where an argument of the head comes from, as the kernels want it."""
        if variable in self.node.left.variables:
            return self.node.left.variables.index(variable)
        return -1 - permutation.index(self.node.lookup.args.index(variable))

    def _in_order(self, block: Block, first: int, last: int, buffer: Integers) -> None:
        """Join the rows from first to last one after the other."""
        block, row, offset = block._replace(lows=block.lows[:last], highs=block.highs[:last]), first, 0
        while row < last:
            fresh, _, row, offset = joining.join_into_bitmap(block, buffer, row, offset, PAIRS)
            self.relation.accept(buffer[:fresh].copy()[np.newaxis], self.source)

    def _by_shards(
        self, block: Block, first: int, last: int, owners: Columns, shards: tuple[int, int, int]
    ) -> None:
        """Join the rows from first to last, each shard in one thread."""
        rows, ends, matches = joining.shards(owners, block.lows, block.highs, first, last, *shards)
        starts, at = np.append(0, ends[:-1]).tolist(), (np.cumsum(matches) - matches).tolist()
        buffer = self._buffer
        assert buffer is not None

        def join(start: int, end: int, place: int) -> Integers:
            stop = joining.join_rows(block, rows, start, end, buffer, place)
            return buffer[place:stop].copy()

        parts = zip(starts, ends.tolist(), at, strict=True)
        tasks = [partial(join, *part) for part in parts if part[0] < part[1]]
        for found in current().run(tasks):
            self.relation.accept(found[np.newaxis], self.source)
