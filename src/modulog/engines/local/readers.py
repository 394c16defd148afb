"""How facts are looked up, whatever keeps them: by the layers of a listed relation, or by questions to a set
of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from modulog.closures.pair_sets import Pairs
from modulog.engines.local import layer_lookup
from modulog.engines.local.fact_levels import Layer
from modulog.engines.local.layer_lookup import PIECE, Lookup
from modulog.kernels import joining
from modulog.kernels.types import Columns, Integers, Mask


class Reader(Protocol):
    """Facts to read by pattern, in bounded pieces."""

    def scan(self, lookup: Lookup) -> Iterator[Columns]:
        """The matching facts themselves, as often as they match."""

    def tallied(self, lookup: Lookup) -> Iterator[tuple[Columns, Integers | None]]:
        """As `scan`, but what would repeat may come once, with its multiplicity."""

    def distinct(self, lookup: Lookup) -> Iterator[Columns]:
        """As `scan`, for one who does not mind how often a row comes.

        Where a single argument is asked of what came to a union or went from it, there may be rows whose
        facts came to, or went from, a part alone: they are rows of the version after, or before, and whoever
        looks for changes asks for what else holds anyway.
        """

    def matches(self, lookup: Lookup, ids: Columns) -> Iterator[tuple[Columns, Columns]]:
        """The joined rows, each with the number of the left row that it extends."""

    def number(self, lookup: Lookup, ids: Columns) -> int:
        """How many joined rows there are."""

    def exists(self, lookup: Lookup, ids: Columns) -> Mask:
        """A mask of the rows for which some fact matches."""


class LayerReader:
    """Listed facts."""

    __slots__ = ("layers",)

    def __init__(self, layers: Sequence[Layer]) -> None:
        self.layers = layers

    def scan(self, lookup: Lookup) -> Iterator[Columns]:
        return layer_lookup.scan(self.layers, lookup)

    def tallied(self, lookup: Lookup) -> Iterator[tuple[Columns, Integers | None]]:
        return ((ids, None) for ids in layer_lookup.scan(self.layers, lookup))

    def distinct(self, lookup: Lookup) -> Iterator[Columns]:
        return layer_lookup.scan(self.layers, lookup)

    def matches(self, lookup: Lookup, ids: Columns) -> Iterator[tuple[Columns, Columns]]:
        return layer_lookup.matches(self.layers, lookup, ids)

    def number(self, lookup: Lookup, ids: Columns) -> int:
        return sum(len(rows) for rows, _ in self.matches(lookup, ids))

    def exists(self, lookup: Lookup, ids: Columns) -> Mask:
        return layer_lookup.exists(self.layers, lookup, ids)


class PairsReader:
    """Pairs that are represented: only what a pattern asks for is listed."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs

    # ---- Nothing on the left

    def scan(self, lookup: Lookup) -> Iterator[Columns]:
        for ids, weights in self.tallied(lookup):
            yield ids if weights is None else np.repeat(ids, weights, axis=1)

    def tallied(self, lookup: Lookup) -> Iterator[tuple[Columns, Integers | None]]:
        if lookup.bound:
            yield from self._fixed(lookup)
        elif lookup.equal:
            yield from ((ids, None) for ids in self._diagonal(lookup))
        elif len(lookup.fresh) == 1:
            values, counts = self.pairs.count_by(lookup.fresh[0])
            yield values[np.newaxis], counts
        elif lookup.fresh:
            yield from ((_picked(piece, lookup.fresh), None) for piece in self.pairs.scan())
        else:
            yield np.empty((0, 1), np.int32), np.array([self.pairs.count()], np.int64)

    def distinct(self, lookup: Lookup) -> Iterator[Columns]:
        if not lookup.bound and not lookup.equal and len(lookup.fresh) < 2:
            if lookup.fresh:
                yield self.pairs.changed_ids(lookup.fresh[0])[np.newaxis]
            elif self.pairs.some():
                yield np.empty((0, 1), np.int32)
            return
        for ids, _ in self.tallied(lookup):
            yield ids

    def _fixed(self, lookup: Lookup) -> Iterator[tuple[Columns, Integers | None]]:
        """Some argument is a constant."""
        fixed = [np.array([a], np.int32) if j in lookup.bound else None for j, a in enumerate(lookup.args)]
        source, target = fixed
        if source is not None and target is not None:
            if self.pairs.contains(np.stack([source, target]))[0]:
                yield np.empty((0, 1), np.int32), None
        elif lookup.fresh:
            for piece in self.pairs.scan(source, target):
                yield _picked(piece, lookup.fresh), None
        else:
            column = lookup.bound[0]
            value = source if source is not None else target
            assert value is not None
            number = self.pairs.sizes(value, column)
            if number[0]:
                yield np.empty((0, 1), np.int32), number

    def _diagonal(self, lookup: Lookup) -> Iterator[Columns]:
        """R(x,x)."""
        values = self.pairs.distinct(0)
        for start in range(0, len(values), PIECE):
            part = values[start : start + PIECE]
            part = part[self.pairs.contains(np.stack([part, part]))]
            if len(part):
                yield part[np.newaxis] if lookup.fresh else np.empty((0, len(part)), np.int32)

    # ---- A lookup for each row on the left

    def matches(self, lookup: Lookup, ids: Columns) -> Iterator[tuple[Columns, Columns]]:
        if len(lookup.bound) == 2:
            rows = np.flatnonzero(self._held(lookup, ids)).astype(np.int32)
            if len(rows):
                yield rows, ids[np.ix_(lookup.keep, rows)]
        elif lookup.bound and lookup.fresh:
            yield from self._extended(lookup, ids)
        elif lookup.bound:
            numbers = self.pairs.sizes(self._keys(lookup, ids, lookup.bound[0]), lookup.bound[0])
            for rows, _ in _paired(np.zeros(len(numbers), np.int32), numbers.astype(np.int32)):
                yield rows, ids[np.ix_(lookup.keep, rows)]
        else:
            yield from self._multiplied(lookup, ids)

    def _keys(self, lookup: Lookup, ids: Columns, column: int) -> Columns:
        a = lookup.args[column]
        return np.full(ids.shape[1], a, np.int32) if isinstance(a, int) else ids[lookup.left.index(str(a))]

    def _held(self, lookup: Lookup, ids: Columns) -> Mask:
        return self.pairs.contains(np.stack([self._keys(lookup, ids, j) for j in (0, 1)]))

    def _extended(self, lookup: Lookup, ids: Columns) -> Iterator[tuple[Columns, Columns]]:
        """One end is bound: the pairs of its different values, a piece at a time, with the rows that ask for
        them.
        """
        column = lookup.bound[0]
        keys = self._keys(lookup, ids, column)
        order = np.argsort(keys, kind="stable").astype(np.int32)
        keys = keys[order]
        asked = keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys
        for piece in self.pairs.scan(None, asked) if column else self.pairs.scan(asked):
            lows = np.searchsorted(keys, piece[column], "left").astype(np.int32)
            highs = np.searchsorted(keys, piece[column], "right").astype(np.int32)
            for at, positions in _paired(lows, highs):
                rows = order[positions]
                yield (
                    rows,
                    np.concatenate([ids[np.ix_(lookup.keep, rows)], piece[1 - column][np.newaxis, at]]),
                )

    def _multiplied(self, lookup: Lookup, ids: Columns) -> Iterator[tuple[Columns, Columns]]:
        """Nothing is bound: every row on the left with every pair."""
        for piece in self.scan(lookup):
            width = piece.shape[1]
            ends = np.full(ids.shape[1], width, np.int32)
            for rows, positions in _paired(np.zeros(len(ends), np.int32), ends):
                yield rows, np.concatenate([ids[np.ix_(lookup.keep, rows)], piece[:, positions]])

    def number(self, lookup: Lookup, ids: Columns) -> int:
        if len(lookup.bound) == 2:
            return int(np.count_nonzero(self._held(lookup, ids)))
        if lookup.bound:
            column = lookup.bound[0]
            return int(self.pairs.sizes(self._keys(lookup, ids, column), column).sum())
        if lookup.equal:
            return len(ids.T) * sum(len(part.T) for part in self._diagonal(lookup))
        return len(ids.T) * self.pairs.count()

    def exists(self, lookup: Lookup, ids: Columns) -> Mask:
        if len(lookup.bound) == 2:
            return self._held(lookup, ids)
        if lookup.bound:
            column = lookup.bound[0]
            return self.pairs.touched(self._keys(lookup, ids, column), column)
        found = any(True for _ in self._diagonal(lookup)) if lookup.equal else self.pairs.some()
        return np.full(ids.shape[1], found, np.bool_)


def _picked(piece: Columns, fresh: tuple[int, ...]) -> Columns:
    return piece if fresh == (0, 1) else np.ascontiguousarray(piece[list(fresh)])


def _paired(lows: Columns, highs: Columns) -> Iterator[tuple[Columns, Columns]]:
    row = offset = 0
    while row < len(lows):
        rows, positions, row, offset = joining.pair(lows, highs, row, offset, PIECE)
        if len(rows):
            yield rows, positions
