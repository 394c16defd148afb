"""Batches of rows, and the nodes that only reshape them: pick columns, remove duplicates, add up,
concatenate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from modulog.engines.local import layer_lookup
from modulog.engines.local.bitmap import LARGEST, Bitmap
from modulog.engines.local.relation import Bounds
from modulog.engines.local.runs import places
from modulog.engines.local.table import LocalTable
from modulog.kernels import packing, sort, split_work
from modulog.kernels.types import Columns, Integers, Words

ANY: tuple[int, int] = (0, (1 << 31) - 1)
SET_LIMIT = 1 << 23  # rows that may wait before they are made distinct


@dataclass(slots=True)
class Batch:
    """Some rows, with multiplicities where sums are asked for."""

    ids: Columns
    weights: Integers | None = None

    @property
    def rows(self) -> int:
        """How many there are."""
        return int(self.ids.shape[1])


class Node(Protocol):
    """A compiled expression."""

    variables: tuple[str, ...]

    def batches(self) -> Iterator[Batch]:
        """The rows, evaluated anew at each call."""

    def bounds(self) -> Bounds:
        """For each column the least and the greatest id it can hold."""


class Ahead:
    """A node that may be read ahead of whoever takes its rows: nothing that is done with them changes what
    comes next.
    """


class Arrangement:
    """Columns picked and repeated by name; constants have one value in every row."""

    def __init__(self, variables: tuple[str, ...], args: tuple[str | int, ...]) -> None:
        self.args, self.identity = args, args == variables
        self.sources = [a if isinstance(a, int) else variables.index(a) for a in args]
        self.natural = places(tuple(range(len(args))))
        self.constant = any(isinstance(a, int) for a in args)
        self.places = self.natural if self.constant else places(tuple(self.sources))

    def pack(self, ids: Columns) -> Words:
        """The arranged rows as facts."""
        return packing.pack(self(ids) if self.constant else ids, self.places)

    def __call__(self, ids: Columns) -> Columns:
        if self.identity:
            return ids
        result = np.empty((len(self.args), ids.shape[1]), np.int32)
        for target, arg, source in zip(result, self.args, self.sources, strict=True):
            target[:] = source if isinstance(arg, int) else ids[source]
        return result

    def bounds(self, child: Bounds) -> Bounds:
        return tuple(
            (a, a) if isinstance(a, int) else child[s] for a, s in zip(self.args, self.sources, strict=True)
        )


class Distinct:
    """Each row once: by a bitmap while rows stream, where the domain is small, otherwise by sorting all of
    them.
    """

    def __init__(self, child: Node) -> None:
        self.child, self.variables = child, child.variables

    def batches(self) -> Iterator[Batch]:
        natural = places(tuple(range(len(self.variables))))
        seen = self._bitmap()
        waiting: list[np.ndarray] = []
        pending = left = 0  # rows that wait, and how many the last look left of them
        for batch in self.child.batches():
            words = packing.pack(batch.ids, natural)
            if seen is not None:
                fresh = seen.keep_new(words)
                yield Batch(packing.unpack(fresh, natural, 0, fresh.shape[1]))
                continue
            waiting.append(words)
            pending += words.shape[1]
            if pending > max(SET_LIMIT, 2 * left):
                waiting = [split_work.sort_distinct(split_work.concatenate(waiting))]
                pending = left = waiting[0].shape[1]
        if waiting:
            words = split_work.sort_distinct(split_work.concatenate(waiting))
            for start in range(0, words.shape[1], layer_lookup.PIECE):
                yield Batch(
                    packing.unpack(words, natural, start, min(words.shape[1], start + layer_lookup.PIECE))
                )

    def _bitmap(self) -> Bitmap | None:
        if len(self.variables) not in (1, 2):
            return None
        (a, b), (c, d) = (*self.child.bounds(), (0, 0))[:2]
        if b < a or d < c or Bitmap.size((a, c), (b, d)) > LARGEST:
            return None
        return Bitmap((a, c), (b, d))

    def bounds(self) -> Bounds:
        return self.child.bounds()


class Sum:
    """Each row once, with the sum of its multiplicities."""

    def __init__(self, child: Node) -> None:
        self.child, self.variables = child, child.variables

    def batches(self) -> Iterator[Batch]:
        natural = places(tuple(range(len(self.variables))))
        waiting: list[tuple[Words, Integers]] = []
        pending = left = 0  # rows that wait, and how many the last look left of them
        for batch in self.child.batches():
            n = batch.ids.shape[1]
            weights = np.ones(n, np.int64) if batch.weights is None else batch.weights
            waiting.append((packing.pack(batch.ids, natural), weights))
            pending += n
            if pending > max(SET_LIMIT, 2 * left):
                waiting = [_summed(waiting)]
                pending = left = waiting[0][0].shape[1]
        if waiting:
            rows, sums = _summed(waiting)
            yield Batch(packing.unpack(rows, natural, 0, rows.shape[1]), sums)

    def bounds(self) -> Bounds:
        return self.child.bounds()


def _summed(parts: list[tuple[Words, Integers]]) -> tuple[Words, Integers]:
    """Each row once, in order, with the sum of its multiplicities."""
    words = parts[0][0] if len(parts) == 1 else np.concatenate([words for words, _ in parts], axis=1)
    weights = parts[0][1] if len(parts) == 1 else np.concatenate([weights for _, weights in parts])
    where = sort.positions_sorted(words)
    return sort.sum_equal(np.ascontiguousarray(words[:, where]), weights[where])


class Concatenate:
    """The rows of several expressions, one after the other."""

    def __init__(self, parts: tuple[Node, ...]) -> None:
        self.parts, self.variables = parts, parts[0].variables

    def batches(self) -> Iterator[Batch]:
        for part in self.parts:
            yield from part.batches()

    def bounds(self) -> Bounds:
        every = [part.bounds() for part in self.parts]
        return tuple(
            (min(b[j][0] for b in every), max(b[j][1] for b in every)) for j in range(len(self.variables))
        )


class Given(Ahead):
    """The rows of a table."""

    def __init__(self, table: LocalTable, variables: tuple[str, ...]) -> None:
        self.table, self.variables = table, variables

    def batches(self) -> Iterator[Batch]:
        yield Batch(self.table.ids, self.table.weights)

    def bounds(self) -> Bounds:
        return (ANY,) * len(self.variables)
