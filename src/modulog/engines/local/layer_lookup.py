"""Reading layers by pattern: which facts match the rows of a table, in bounded pieces.

A `Lookup` says once how the arguments of an atom meet the columns of a table; `matches` then joins any number
of layers with the table. A run of which something is hidden is read as it is, and what was found is looked up
among the hidden facts; where only numbers are asked for, they are subtracted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from modulog.algebra.expressions import Argument
from modulog.engines.local.fact_levels import Layer, hiding, size
from modulog.engines.local.runs import Order, Permutation, Run, places
from modulog.engines.local.table import LocalTable
from modulog.kernels import joining, packing, search
from modulog.kernels.types import Columns, Integers, Mask, Words

PIECE = (
    1 << 18
)  # rows of one piece of a join: small enough for the cache, large enough to hide the interpreter
UNIT = np.empty((0, 1), np.int32)  # a table without columns and with one row


class Way(NamedTuple):
    """An order read for a look-up: whether each of its first places equals a constant or a column, and the
    places of new columns.
    """

    sources: tuple[tuple[bool, int], ...]
    fresh: Integers


@dataclass(slots=True)
class Lookup:
    """How an atom with arguments `args` is looked up for rows with columns `left`, and what is kept.

    `bound` are the arguments that a constant or a column fixes; `fresh` the arguments that give new columns;
    `equal` pairs of new arguments that must agree because a variable is repeated.
    """

    left: tuple[str, ...]
    args: tuple[Argument, ...]
    wanted: tuple[str, ...]
    bound: tuple[int, ...] = ()
    fresh: tuple[int, ...] = ()
    equal: tuple[tuple[int, int], ...] = ()
    keep: Integers = field(default_factory=lambda: places(()))
    variables: tuple[str, ...] = ()
    ways: dict[Permutation, Way] = field(default_factory=dict)

    def __post_init__(self) -> None:
        first: dict[str, int] = {}
        bound, equal = [], []
        for j, a in enumerate(self.args):
            if isinstance(a, int) or (a is not None and a in self.left):
                bound.append(j)
            elif a is not None:
                if a in first:
                    equal.append((first[a], j))
                first.setdefault(a, j)
        self.bound, self.equal = tuple(bound), tuple(equal)
        kept = tuple(v for v in self.wanted if v in self.left)
        new = tuple(v for v in self.wanted if v not in self.left)
        self.keep = places(tuple(self.left.index(v) for v in kept))
        self.fresh = tuple(first[v] for v in new)
        self.variables = (*kept, *new)

    def way(self, permutation: Permutation) -> Way:
        """How an order is read, thought out once."""
        found = self.ways.get(permutation)
        if found is None:
            sources = tuple(self._source(self.args[j]) for j in permutation[: len(self.bound)])
            taken = (*self.fresh, *(j for pair in self.equal for j in pair))
            fresh = places(tuple(permutation.index(j) for j in taken))
            found = self.ways[permutation] = Way(sources, fresh)
        return found

    def _source(self, argument: Argument) -> tuple[bool, int]:
        return (True, argument) if isinstance(argument, int) else (False, self.left.index(str(argument)))

    def keys(self, ids: Columns, order: Order) -> Columns:
        """What the first places of the order must equal, for each row."""
        sources = self.way(order.permutation).sources
        if len(sources) == 1 and not sources[0][0]:
            column = sources[0][1]
            return ids[column : column + 1]
        result = np.empty((len(sources), ids.shape[1]), np.int32)
        for target, (constant, value) in zip(result, sources, strict=True):
            target[:] = value if constant else ids[value]
        return result

    def find(self, ids: Columns, run: Run) -> tuple[Order, Columns, Columns]:
        """The order to read and the range of matching positions for each row."""
        order = run.order(self.bound)
        lows, highs = order.find(self.keys(ids, order))
        return order, lows, highs

    def count(self, ids: Columns, run: Run, sign: int, counts: Integers) -> None:
        """Add to each row's count how many facts of the run match it, or with sign -1 subtract them."""
        order = run.order(self.bound)
        search.count_matching(order.words, *order.table(), self.keys(ids, order), sign, counts)


def matches(layers: Sequence[Layer], lookup: Lookup, ids: Columns) -> Iterator[tuple[Columns, Columns]]:
    """The joined rows in bounded pieces, each with the number of the left row that it extends."""
    for run, hidden in layers:
        if not len(run):
            continue
        order, lows, highs = lookup.find(ids, run)
        fresh = lookup.way(order.permutation).fresh
        veils: list[tuple[Words, Columns, Columns]] | None = None if hidden else []
        row = offset = 0
        while row < ids.shape[1]:
            rows, positions, row, offset = joining.pair(lows, highs, row, offset, PIECE)
            if len(rows) and veils is None:
                veils = list(_veils(lookup, ids, order, hidden))
            for veil in veils or ():
                rows, positions = search.drop_hidden(rows, positions, order.words, *veil)
            if len(rows):
                yield _checked(
                    lookup, rows, joining.gather(ids, lookup.keep, rows, order.words, fresh, positions)
                )


def _veils(
    lookup: Lookup, ids: Columns, order: Order, hidden: tuple[Run, ...]
) -> Iterator[tuple[Words, Columns, Columns]]:
    """The hidden facts in the same order, and those that each row can match; left out where there are
    none.
    """
    keys = lookup.keys(ids, order)
    for run in hidden:
        veil = run.order_exactly(order.permutation)
        lows, highs = veil.find(keys)
        if search.some(lows, highs):
            yield veil.words, lows, highs


def _checked(lookup: Lookup, rows: Columns, joined: Columns) -> tuple[Columns, Columns]:
    """Drop the rows whose repeated variables disagree, and the columns that only served to check it."""
    width = len(lookup.keep) + len(lookup.fresh)
    if not lookup.equal:
        return rows, joined
    mask = np.ones(len(rows), np.bool_)
    for pair in range(width, joined.shape[0], 2):
        mask &= joined[pair] == joined[pair + 1]
    return rows[mask], packing.select(joined, places(tuple(range(width))), mask)


def exists(layers: Sequence[Layer], lookup: Lookup, ids: Columns) -> Mask:
    """A mask of the rows for which some fact matches."""
    if lookup.equal:
        mask = np.zeros(ids.shape[1], np.bool_)
        for rows, _ in matches(layers, lookup, ids):
            mask[rows] = True
        return mask
    return np.asarray(_numbers(layers, lookup, ids) > 0)


def _numbers(layers: Sequence[Layer], lookup: Lookup, ids: Columns) -> Integers:
    """How many facts match each row: those of the runs, less those that are hidden; no variable is
    repeated.
    """
    counts = np.zeros(ids.shape[1], np.int64)
    for layer in layers:
        if len(layer.run):
            lookup.count(ids, layer.run, 1, counts)
    for run in hiding(layers):
        lookup.count(ids, run, -1, counts)
    return counts


def scan(layers: Sequence[Layer], lookup: Lookup) -> Iterator[Columns]:
    """The matching facts themselves; without anything bound, runs are read as they lie."""
    if lookup.bound or lookup.equal:
        for _, joined in matches(layers, lookup, UNIT):
            yield joined
        return
    for run, hidden in layers:
        order = run.orders[0]  # stays what it is, even if a look-up sorts the run meanwhile
        if hidden and not order.is_sorted:
            order = run.order_exactly(order.permutation)
        missing = _missing(order, hidden) if hidden else None
        fresh = lookup.way(order.permutation).fresh
        for start in range(0, len(order), PIECE):
            stop = min(len(order), start + PIECE)
            columns = packing.unpack(order.words, fresh, start, stop)
            yield columns if missing is None else _cut(columns, missing, start, stop)


def _cut(columns: Columns, missing: Columns, start: int, stop: int) -> Columns:
    """The columns of positions start to stop without those that are missing."""
    here = missing[np.searchsorted(missing, start) : np.searchsorted(missing, stop)]
    return np.ascontiguousarray(np.delete(columns, here - start, axis=1)) if len(here) else columns


def _missing(order: Order, hidden: tuple[Run, ...]) -> Columns:
    """The positions of hidden facts in a sorted order, sorted."""
    found = [order.positions(veil.order_exactly(order.permutation).words) for veil in hidden]
    positions = np.concatenate(found)
    return np.sort(positions[positions >= 0])


def count(layers: Sequence[Layer], args: tuple[Argument, ...]) -> int:
    """How many facts match the arguments."""
    lookup = Lookup((), args, ())
    if lookup.equal:
        return sum(len(rows) for rows, _ in matches(layers, lookup, UNIT))
    return int(_numbers(layers, lookup, UNIT)[0]) if lookup.bound else size(layers)


def matching(layers: Sequence[Layer], args: tuple[Argument, ...]) -> Iterator[LocalTable]:
    """The facts that match the arguments, as tables with one column for each variable."""
    variables = tuple(dict.fromkeys(a for a in args if isinstance(a, str)))
    lookup = Lookup((), args, variables)
    for ids in scan(layers, lookup):
        yield LocalTable(lookup.variables, ids)
