"""Several reads joined at once, variable by variable: the worst-case optimal join over the indexes of
relations.

It serves bodies in which atoms close a cycle: any order of two-way joins may go through far more rows than
result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from modulog.algebra import expressions as p
from modulog.engines.local.batches import ANY, Batch
from modulog.engines.local.body_relation import body_of
from modulog.engines.local.fact_levels import Layer
from modulog.engines.local.relation import Bounds, PlainRelation
from modulog.engines.local.runs import EMPTY_STARTS, Order, Run, concatenate
from modulog.kernels import intersect, triangle_join
from modulog.kernels.threads import current, stream
from modulog.kernels.types import Columns, Integers

SLOTS = 8
"""Words that the kernel can read; the same order of the same facts takes one slot for all atoms that read it."""
MOST_PIECES = 1 << 8
"""Pieces of a join, which need a bitmap each."""


class Limits(NamedTuple):
    """How much one call of the kernel does."""

    piece: int = 1 << 16
    """Rows that it returns."""
    budget: int = 1 << 22
    """How often it leaps: for a tenth of a second."""
    bits: int = 1 << 28
    """Ids up to which a list may be marked in a bitmap."""


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Trie:
    """An atom: sorted facts from low to high, whose places from `fixed` on hold the given variables, in the
    order of binding.
    """

    order: Order
    variables: tuple[str, ...]
    fixed: int
    low: int
    high: int
    greatest: int  # no id is above


def variable_order(reads: Sequence[p.Read], wanted: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """An order in which to bind the variables, and how many of the first hold all that are wanted.

    No variable comes before one that ties it to those bound so far: a product is the last thing to go
    through. Otherwise wanted ones come first, then those held by most of the reads begun so far, then by most
    reads, then those with the fewest values.
    """
    values: dict[str, float] = {}
    for read in reads:
        estimate = read.relation.estimate(read.version)
        for a, count in zip(read.args, estimate.distinct, strict=True):
            if isinstance(a, str):
                values[a] = min(count, values.get(a, float("inf")))
    chosen: list[str] = []

    def rank(name: str) -> tuple[bool, bool, int, int, float]:
        holding = [set(read.variables) for read in reads if name in read.variables]
        ties = sum(bool(held & {*chosen}) for held in holding)
        return ties > 0, name in wanted, ties, len(holding), -values[name]

    while len(chosen) < len(values):
        chosen.append(max((name for name in values if name not in chosen), key=rank))
    return tuple(chosen), max((chosen.index(name) + 1 for name in wanted), default=0)


class MultiwayJoin:
    """The matches of all reads, over the first `keep` of the variables; rows carry the number of matches if
    `counting`.
    """

    def __init__(
        self,
        reads: Sequence[p.Read],
        variables: tuple[str, ...],
        keep: int,
        counting: bool = False,
        limits: Limits = LIMITS,
    ) -> None:
        self.reads, self.order, self.counting, self.limits = reads, variables, counting, limits
        self.variables = variables[:keep]

    def batches(self) -> Iterator[Batch]:
        """The rows in bounded pieces; evaluated anew at each call."""
        tries = [_trie(read, self.order) for read in self.reads]
        if all(trie.low < trie.high for trie in tries):
            if not self.variables:
                yield from search(tries, self.order, 0, self.counting, self.limits)
                return
            yield from stream(
                (rows, partial(search, piece, self.order, len(self.variables), self.counting, self.limits))
                for rows, piece in _pieces(tries, self.order[0])
            )

    def bounds(self) -> Bounds:
        """For each variable the ids that every relation with it can hold."""
        found: dict[str, tuple[int, int]] = {}
        for read in self.reads:
            bounds = body_of(read.relation).span() or (ANY,) * len(read.args)
            for a, (low, high) in zip(read.args, bounds, strict=True):
                if isinstance(a, str):
                    known = found.get(a, ANY)
                    found[a] = (max(low, known[0]), min(high, known[1]))
        return tuple(found[v] for v in self.variables)


def _trie(read: p.Read, order: tuple[str, ...]) -> Trie:
    relation = body_of(read.relation)
    assert isinstance(relation, PlainRelation)
    run = _one(relation.arity, relation.lookup(read.version, read.except_from))
    places = range(relation.arity)
    fixed = [j for j in places if isinstance(read.args[j], int)]
    bound = sorted(
        (j for j in places if isinstance(read.args[j], str)), key=lambda j: order.index(str(read.args[j]))
    )
    rest = [j for j in places if read.args[j] is None]
    index = run.order_exactly((*fixed, *bound, *rest))
    keys = np.array([[read.args[j]] for j in fixed], np.int32).reshape(len(fixed), 1)
    low, high = index.find(keys) if len(index) else (np.zeros(1, np.int32),) * 2
    greatest = max((high for _, high in relation.bounds or (ANY,)), default=0)
    names = tuple(str(read.args[j]) for j in bound)
    return Trie(index, names, len(fixed), int(low[0]), int(high[0]), greatest)


def _pieces(tries: Sequence[Trie], variable: str) -> Iterator[tuple[int, list[Trie]]]:
    """The atoms cut at values of the first variable, so that the largest that has it has a piece's facts
    between two cuts; with their number.
    """
    largest = max(
        (trie for trie in tries if variable in trie.variables), key=lambda trie: trie.high - trie.low
    )
    facts = largest.high - largest.low
    pieces = min(MOST_PIECES, -(-facts // current().piece))
    values = {_value(largest, largest.low + facts * piece // pieces) for piece in range(1, pieces)}
    cuts = sorted(values - {_value(largest, largest.low)})
    edges = [
        [trie.low, *(_at_least(trie, value) for value in cuts), trie.high]
        if variable in trie.variables
        else [trie.low] * (len(cuts) + 1) + [trie.high]
        for trie in tries
    ]
    for n in range(len(cuts) + 1):
        piece = [
            replace(trie, low=e[n], high=e[n + 1]) if variable in trie.variables else trie
            for trie, e in zip(tries, edges, strict=True)
        ]
        if all(trie.low < trie.high for trie in piece):
            yield facts // pieces, piece


def _value(trie: Trie, position: int) -> int:
    """The value of the first place that is not fixed."""
    word = int(trie.order.words[trie.fixed // 2, position])
    return word & 0xFFFFFFFF if trie.fixed % 2 else word >> 32


def _at_least(trie: Trie, value: int) -> int:
    """The first position at which the first place that is not fixed has at least a value."""
    word = trie.order.words[trie.fixed // 2, trie.low : trie.high]
    key = (int(word[0]) >> 32 << 32) | value if trie.fixed % 2 else value << 32
    return trie.low + int(np.searchsorted(word, key))


def _one(arity: int, layers: list[Layer]) -> Run:
    """All facts in one run: where they lie in one, with the orders it has."""
    runs = []
    for run, hidden in layers:
        for veil in hidden:
            run = run.without(veil)
        if len(run):
            runs.append(run)
    if len(runs) == 1:
        return runs[0]
    return concatenate(arity, runs) if runs else Run.empty(arity)


def search(
    tries: Sequence[Trie], variables: tuple[str, ...], keep: int, counting: bool, limits: Limits
) -> Iterator[Batch]:
    """Run the kernel to its end, piece by piece."""
    words, tables, parts, levels, state = _layout(tries, variables)
    cursor, values = np.array([0, 0, -1, -1], np.int64), np.zeros(len(variables), np.int32)
    largest = max(trie.greatest for trie in tries if variables[-1] in trie.variables)
    bits = np.zeros(largest // 64 + 1 if largest < limits.bits else 0, np.uint64)
    indexes = triangle_join.Indexes(words, tables, parts, levels)
    progress = triangle_join.Progress(state, cursor, values)
    while cursor[intersect.DEPTH] >= 0:
        rows, weights = np.empty((keep, limits.piece), np.int32), np.empty(limits.piece, np.int64)
        output = triangle_join.Output(rows, weights)
        found = triangle_join.intersect(indexes, progress, bits, keep, counting, output, limits.budget)
        if found:
            ids = rows if found == limits.piece else np.ascontiguousarray(rows[:, :found])
            yield Batch(ids, weights[:found].copy() if counting else None)


def _layout(
    tries: Sequence[Trie], variables: tuple[str, ...]
) -> tuple[tuple[Integers, ...], tuple[Columns, ...], Integers, Integers, Integers]:
    """Words, tables, parts, levels and the first state, as the kernel takes them."""
    words: dict[tuple[int, int], tuple[int, Integers]] = {}
    tables: dict[int, tuple[int, Columns]] = {}
    found = sorted(
        (variables.index(v), _rank(trie, j, variables), n, trie.fixed + j, trie)
        for n, trie in enumerate(tries)
        for j, v in enumerate(trie.variables)
    )
    numbers = {(n, place): at for at, (_, _, n, place, _) in enumerate(found)}
    parts, state = np.empty((len(found), 7), np.int64), np.zeros((len(found), 4), np.int64)
    for at, (_, _, n, place, trie) in enumerate(found):
        order = trie.order
        word = words.setdefault((id(order), place // 2), (len(words), order.words[place // 2]))[0]
        table, base, bucket = -1, 0, 0
        if place == 0:
            starts, base, bucket = order.table()
            table = tables.setdefault(id(order), (len(tables), starts))[0]
        single = place == len(order.permutation) - 1
        after = numbers.get((n, place + 1), -1)
        parts[at] = word, 0 if place % 2 else 32, table, base, bucket, after, single
        state[at] = trie.low, trie.low, trie.high, trie.low
    held = [level for level, *_ in found]
    levels = np.searchsorted(held, np.arange(len(variables) + 1)).astype(np.int64)
    nothing = np.empty(0, np.int64)
    slots = [array for _, array in words.values()] + [nothing] * (SLOTS - len(words))
    starts_of = [array for _, array in tables.values()] + [EMPTY_STARTS] * (SLOTS - len(tables))
    return tuple(slots), tuple(starts_of), parts, levels, state


def _rank(trie: Trie, j: int, variables: tuple[str, ...]) -> tuple[bool, int]:
    """Which of a variable's lists comes first: the shortest leap; of the last variable, those that changed
    longest ago are intersected once.
    """
    since = variables.index(trie.variables[j - 1]) if j else -1
    if trie.variables[j] == variables[-1]:
        return False, since
    return trie.fixed + j < len(trie.order.permutation) - 1, -since
