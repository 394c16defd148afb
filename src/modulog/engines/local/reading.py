"""Reading runs by pattern: which facts match the rows of a table, in bounded pieces.

A `Lookup` says once how the arguments of an atom meet the columns of a table; `matches` then joins any number of runs with the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from modulog.engines.local.runs import Order, Run, places
from modulog.engines.local.summing import sum_of
from modulog.engines.local.table import LocalTable
from modulog.engines.protocol import Argument
from modulog.kernels import joining, packing, searching, sorting
from modulog.kernels.types import Columns, Integers, Mask

PIECE = (
    1 << 18
)  # rows of one piece of a join: small enough for the cache, large enough to hide the interpreter
UNIT = np.empty((0, 1), np.int32)  # a table without columns and with one row


@dataclass(slots=True)
class Lookup:
    """How an atom with arguments `args` is looked up for rows with columns `left`, and what is kept.

    `bound` are the arguments that a constant or a column fixes; `fresh` the arguments that give new columns; `equal` pairs of new arguments
    that must agree because a variable is repeated.
    """

    left: tuple[str, ...]
    args: tuple[Argument, ...]
    wanted: tuple[str, ...]
    bound: tuple[int, ...] = ()
    fresh: tuple[int, ...] = ()
    equal: tuple[tuple[int, int], ...] = ()
    keep: Integers = field(default_factory=lambda: places(()))
    variables: tuple[str, ...] = ()

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

    def keys(self, ids: Columns, order: Order) -> Columns:
        """What the first places of the order must equal, for each row."""
        sequence = order.permutation[: len(self.bound)]
        sources = [self.args[j] for j in sequence]
        if len(sources) == 1 and isinstance(sources[0], str):
            column = self.left.index(sources[0])
            return ids[column : column + 1]
        result = np.empty((len(sources), ids.shape[1]), np.int32)
        for target, source in zip(result, sources, strict=True):
            target[:] = source if isinstance(source, int) else ids[self.left.index(str(source))]
        return result

    def find(self, ids: Columns, run: Run) -> tuple[Order, Columns, Columns]:
        """The order to read and the range of matching positions for each row."""
        order = run.order(self.bound)
        lows, highs = order.find(self.keys(ids, order))
        return order, lows, highs


def matches(runs: Sequence[Run], lookup: Lookup, ids: Columns) -> Iterator[tuple[Columns, Columns]]:
    """The joined rows in bounded pieces, each with the number of the left row that it extends."""
    if any(run.weighted for run in runs):
        yield from _weighted_matches(runs, lookup, ids)
        return
    for run in runs:
        if not len(run):
            continue
        order, lows, highs = lookup.find(ids, run)
        fresh = _places(order, (*lookup.fresh, *(j for pair in lookup.equal for j in pair)))
        row = offset = 0
        while row < ids.shape[1]:
            rows, positions, row, offset = joining.pair(lows, highs, row, offset, PIECE)
            if len(rows):
                yield _checked(
                    lookup, rows, joining.gather(ids, lookup.keep, rows, order.words, fresh, positions)
                )


def _places(order: Order, arguments: tuple[int, ...]) -> Integers:
    return places(tuple(order.permutation.index(j) for j in arguments))


def _checked(lookup: Lookup, rows: Columns, joined: Columns) -> tuple[Columns, Columns]:
    """Drop the rows whose repeated variables disagree, and the columns that only served to check it."""
    width = len(lookup.keep) + len(lookup.fresh)
    if not lookup.equal:
        return rows, joined
    mask = np.ones(len(rows), np.bool_)
    for pair in range(width, joined.shape[0], 2):
        mask &= joined[pair] == joined[pair + 1]
    return rows[mask], packing.select(joined, places(tuple(range(width))), mask)


def _weighted_matches(runs: Sequence[Run], lookup: Lookup, ids: Columns) -> Iterator[tuple[Columns, Columns]]:
    """As `matches`, where a fact counts only if its weights in all runs sum above zero."""
    arity = runs[0].arity
    if not lookup.bound or ids.shape[1] * 4 > sum(map(len, runs)):
        yield from matches([sum_of(arity, list(runs), positive=True)], lookup, ids)
        return
    for start in range(0, ids.shape[1], PIECE >> 4):
        part = np.ascontiguousarray(ids[:, start : start + (PIECE >> 4)])
        found = [_all_matches(run, lookup, part) for run in runs if len(run)]
        rows = np.concatenate([f[0] for f in found])
        facts = np.concatenate([f[1] for f in found], axis=1)
        weights = np.concatenate([f[2] for f in found])
        keyed = np.concatenate([rows[np.newaxis], facts])
        words = packing.pack(np.ascontiguousarray(keyed), places(tuple(range(arity + 1))))
        where = sorting.positions_sorted(words)
        words, sums = sorting.sum_equal(np.ascontiguousarray(words[:, where]), weights[where])
        keyed = packing.unpack(
            packing.select_words(words, sums > 0), places(tuple(range(arity + 1))), 0, int((sums > 0).sum())
        )
        order = Order(tuple(range(arity)), packing.pack(keyed[1:], places(tuple(range(arity)))), False)
        positions = np.arange(keyed.shape[1], dtype=np.int32)
        fresh = _places(order, (*lookup.fresh, *(j for pair in lookup.equal for j in pair)))
        rows, joined = _checked(
            lookup, keyed[0], joining.gather(part, lookup.keep, keyed[0], order.words, fresh, positions)
        )
        yield rows + np.int32(start), joined


def _all_matches(run: Run, lookup: Lookup, ids: Columns) -> tuple[Columns, Columns, Integers]:
    order, lows, highs = lookup.find(ids, run)
    total = int((highs.astype(np.int64) - lows).sum())
    rows, positions, _, _ = joining.pair(lows, highs, 0, 0, max(1, total))
    natural = _places(order, tuple(range(run.arity)))
    facts = joining.gather(ids, places(()), rows, order.words, natural, positions)
    weights = (
        np.ones(len(rows), np.int64) if order.weights is None else order.weights[positions].astype(np.int64)
    )
    return rows, facts, weights


def exists(runs: Sequence[Run], lookup: Lookup, ids: Columns) -> Mask:
    """A mask of the rows for which some fact matches."""
    mask = np.zeros(ids.shape[1], np.bool_)
    if lookup.equal or any(run.weighted for run in runs):
        for rows, _ in matches(runs, lookup, ids):
            mask[rows] = True
        return mask
    for run in runs:
        if len(run):
            _, lows, highs = lookup.find(ids, run)
            searching.nonempty(lows, highs, mask)
    return mask


def scan(runs: Sequence[Run], lookup: Lookup) -> Iterator[Columns]:
    """The matching facts themselves; without anything bound, runs are read as they lie."""
    if lookup.bound or lookup.equal or any(run.weighted for run in runs):
        for _, joined in matches(runs, lookup, UNIT):
            yield joined
        return
    for run in runs:
        order = run.orders[0]  # stays what it is, even if a look-up sorts the run meanwhile
        fresh = _places(order, lookup.fresh)
        for start in range(0, len(order), PIECE):
            yield packing.unpack(order.words, fresh, start, min(len(order), start + PIECE))


def matching(runs: Sequence[Run], args: tuple[Argument, ...]) -> Iterator[LocalTable]:
    """The facts that match the arguments, as tables with one column for each variable."""
    variables = tuple(dict.fromkeys(a for a in args if isinstance(a, str)))
    lookup = Lookup((), args, variables)
    for ids in scan(runs, lookup):
        yield LocalTable(lookup.variables, ids)
