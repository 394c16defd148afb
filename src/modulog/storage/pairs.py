"""Sets of pairs that answer the same questions, whatever keeps them, and what can be made of them without listing them.

A state of a closure, either side of its change, and listed facts are `Pairs`; so are a set turned round, the pairs of one that another has or
lacks, and unions, which give each pair once. What is read comes in bounded pieces.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from modulog.kernels.types import Columns, Integers, Mask
from modulog.storage.delta import Change
from modulog.storage.lists import distinct
from modulog.storage.state import CHUNK, State

LOOK = 1 << 12
"""Pairs that are read at a time to see whether there are any."""

NO_IDS = np.empty(0, np.int32)


class Pairs(Protocol):
    """A set of pairs of ids; a column is 0 or 1."""

    def count(self) -> int:
        """How many pairs there are."""

    def count_by(self, column: int) -> tuple[Columns, Integers]:
        """The ids in a column, and how many pairs have each."""

    def distinct(self, column: int) -> Columns:
        """The different ids in a column."""

    def contains(self, pairs: Columns) -> Mask:
        """Which of the pairs (an array of two rows of ids) are there."""

    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        """All pairs, or those with sources, targets or both among the given ids, at most `limit` at a time."""


# ---- Questions to any set --------------------------------------------------------------------------------------------


def some(pairs: Pairs) -> bool:
    """Whether there is a pair."""
    match pairs:
        case State():
            return len(pairs.edges) > 0
        case Change():
            return bool(pairs)
        case BothWays():
            return some(pairs.state)
        case Turned():
            return some(pairs.pairs)
        case Together():
            return any(map(some, pairs.parts))
        case Selected():
            return pairs.some()
    return next(pairs.scan(limit=LOOK), None) is not None


def guess(pairs: Pairs) -> int:
    """How many pairs there are, or somewhat more where counting them would mean reading them."""
    match pairs:
        case Together():
            return sum(map(guess, pairs.parts))
        case Selected():
            return guess(pairs.pairs)
        case Turned():
            return guess(pairs.pairs)
    return pairs.count()


def added_up(values: Iterator[Columns]) -> tuple[Columns, Integers]:
    """How often each id comes, sorted by id; pieces are added up as they come."""
    ids, counts = NO_IDS, np.empty(0, np.int64)
    waiting: list[tuple[Columns, Integers]] = []
    pending = 0
    for piece in values:
        found = np.unique(piece, return_counts=True)
        waiting.append((found[0], found[1].astype(np.int64)))
        pending += len(found[0])
        if pending > CHUNK + 2 * len(ids):
            ids, counts = merged([(ids, counts), *waiting])
            waiting, pending = [], 0
    return merged([(ids, counts), *waiting])


def merged(parts: Sequence[tuple[Columns, Integers]]) -> tuple[Columns, Integers]:
    """Counts of ids added up, sorted by id."""
    ids, counts = (np.concatenate([part[j] for part in parts]) for j in (0, 1))
    if not len(ids):
        return ids, counts
    order = np.argsort(ids, kind="stable")
    ids, counts = ids[order], counts[order]
    first = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    return ids[first], np.add.reduceat(counts, first)


# ---- What is made of sets --------------------------------------------------------------------------------------------


class Nothing:
    """No pairs."""

    def count(self) -> int:
        return 0

    def count_by(self, column: int) -> tuple[Columns, Integers]:
        return NO_IDS, np.empty(0, np.int64)

    def distinct(self, column: int) -> Columns:
        return NO_IDS

    def contains(self, pairs: Columns) -> Mask:
        return np.zeros(pairs.shape[1], np.bool_)

    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        return iter(())


NOTHING = Nothing()


class Turned:
    """Every pair turned round."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs

    def count(self) -> int:
        return self.pairs.count()

    def count_by(self, column: int) -> tuple[Columns, Integers]:
        return self.pairs.count_by(1 - column)

    def distinct(self, column: int) -> Columns:
        return self.pairs.distinct(1 - column)

    def contains(self, pairs: Columns) -> Mask:
        return self.pairs.contains(np.ascontiguousarray(pairs[::-1]))

    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        for piece in self.pairs.scan(targets, sources, limit):
            yield np.ascontiguousarray(piece[::-1])


def turned(pairs: Pairs) -> Pairs:
    """Every pair turned round; twice is not at all."""
    if isinstance(pairs, Turned):
        return pairs.pairs
    return pairs if isinstance(pairs, Nothing) else Turned(pairs)


class Scanned(ABC):
    """Counts by reading, for sets that know no shorter way."""

    @abstractmethod
    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        """The pairs, in pieces."""

    def count(self) -> int:
        return sum(piece.shape[1] for piece in self.scan())

    def count_by(self, column: int) -> tuple[Columns, Integers]:
        return added_up(piece[column] for piece in self.scan())

    def distinct(self, column: int) -> Columns:
        return self.count_by(column)[0]


class Selected(Scanned):
    """The pairs of one set that another has, or lacks."""

    def __init__(self, pairs: Pairs, others: Pairs, wanted: bool) -> None:
        self.pairs, self.others, self.wanted = pairs, others, wanted
        self._some: bool | None = None

    def some(self) -> bool:
        """Whether there is a pair; looked for once."""
        if self._some is None:
            self._some = next(self.scan(limit=LOOK), None) is not None
        return self._some

    def contains(self, pairs: Columns) -> Mask:
        found = self.pairs.contains(pairs)
        chosen = np.flatnonzero(found)
        found[chosen] = self.others.contains(np.ascontiguousarray(pairs[:, chosen])) == self.wanted
        return found

    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        for piece in self.pairs.scan(sources, targets, limit):
            kept = piece[:, self.others.contains(piece) == self.wanted]
            if kept.shape[1]:
                yield kept


def without(pairs: Pairs, others: Pairs) -> Pairs:
    """The pairs that others lack."""
    if isinstance(pairs, Nothing) or isinstance(others, Nothing):
        return pairs
    return Selected(pairs, others, False)


def within(pairs: Pairs, others: Pairs) -> Pairs:
    """The pairs that others have."""
    return (
        NOTHING
        if isinstance(pairs, Nothing) or isinstance(others, Nothing)
        else Selected(pairs, others, True)
    )


class BothWays:
    """A state of a closure united with its inverse: descendants plus ancestors minus the component."""

    def __init__(self, state: State) -> None:
        self.state = state

    def _shared(self) -> Integers:
        """For each component, its size if its members reach each other: pairs among them are the ones that both ways have."""
        graph = self.state.graph
        return np.where(graph.loops, graph.sizes, 0).astype(np.int64)

    def count(self) -> int:
        shared = self._shared()
        return 2 * self.state.count() - int((shared * shared).sum())

    def sizes(self, ids: Columns) -> Integers:
        """How many pairs have each of the ids; in either column the same."""
        state = self.state
        nodes = state.nodes.find(ids)
        result = state.row_sizes(nodes, 0) + state.row_sizes(nodes, 1)
        known = (nodes >= 0) & (nodes < state.n)
        result[known] -= self._shared()[state.graph.component[nodes[known]]]
        return result

    def count_by(self, column: int) -> tuple[Columns, Integers]:
        ids = self.distinct(column)
        return ids, self.sizes(ids)

    def distinct(self, column: int) -> Columns:
        edges, graph = self.state.edges, self.state.graph
        degrees = edges.out.lengths() + edges.into.lengths()
        return self.state.nodes.ids[np.flatnonzero((degrees > 0) | graph.loops[graph.component])]

    def contains(self, pairs: Columns) -> Mask:
        found = self.state.contains(pairs)
        rest = np.flatnonzero(~found)
        found[rest] = self.state.contains(np.ascontiguousarray(pairs[::-1, rest]))
        return found

    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        yield from self.state.scan(sources, targets, limit)
        component, loops, find = self.state.graph.component, self.state.graph.loops, self.state.nodes.find
        for piece in self.state.scan(targets, sources, limit):
            ends = component[find(piece[0])]
            fresh = (ends != component[find(piece[1])]) | ~loops[ends]
            if fresh.any():
                yield np.ascontiguousarray(piece[::-1, fresh])


class Together:
    """The pairs of several sets, each once: a later set gives what the earlier ones lack. The largest comes first."""

    def __init__(self, parts: Sequence[Pairs], disjoint: bool = False) -> None:
        self.parts = list(parts) if disjoint else sorted(parts, key=guess, reverse=True)
        self.disjoint = disjoint
        self._count: int | None = None

    def apart(self) -> Iterator[Pairs]:
        """What each set adds to those before it."""
        yield self.parts[0]
        for at in range(1, len(self.parts)):
            if self.disjoint:
                yield self.parts[at]
            else:
                yield Selected(self.parts[at], Together(self.parts[:at], True), False)

    @property
    def counted(self) -> int | None:
        """How many pairs there are, if that is known."""
        return self._count

    def know(self, count: int) -> None:
        """Say how many pairs there are."""
        self._count = count

    def count(self) -> int:
        if self._count is None:
            self._count = sum(part.count() for part in self.apart())
        return self._count

    def count_by(self, column: int) -> tuple[Columns, Integers]:
        return merged([part.count_by(column) for part in self.apart()])

    def distinct(self, column: int) -> Columns:
        return distinct(np.concatenate([part.distinct(column) for part in self.parts]))

    def contains(self, pairs: Columns) -> Mask:
        found = self.parts[0].contains(pairs)
        for part in self.parts[1:]:
            rest = np.flatnonzero(~found)
            found[rest] = part.contains(np.ascontiguousarray(pairs[:, rest]))
        return found

    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        for part in self.apart():
            yield from part.scan(sources, targets, limit)


def together(parts: Sequence[Pairs], disjoint: bool = False) -> Pairs:
    """The union; a closure and its inverse are one set that counts itself."""
    parts = [part for part in (parts if disjoint else _flat(parts)) if not isinstance(part, Nothing)]
    for part in list(parts):
        if isinstance(part, State):
            inverse = [q for q in parts if isinstance(q, Turned) and q.pairs is part]
            if inverse:
                parts = [q for q in parts if q is not part and q not in inverse] + [BothWays(part)]
    if len(parts) < 2:
        return parts[0] if parts else NOTHING
    return Together(parts, disjoint)


def _flat(parts: Sequence[Pairs]) -> list[Pairs]:
    """Unions inside unions opened, and nothing twice."""
    found: list[Pairs] = []
    for part in parts:
        turns = isinstance(part, Turned)
        inner = part.pairs if isinstance(part, Turned) else part
        if isinstance(inner, Together) and not inner.disjoint:
            opened = [turned(p) if turns else p for p in inner.parts]
        elif isinstance(inner, BothWays):
            opened = [inner.state, turned(inner.state)]
        else:
            opened = [part]
        for one in opened:
            if not any(_same(one, other) for other in found):
                found.append(one)
    return found


def _same(a: Pairs, b: Pairs) -> bool:
    return a is b or (isinstance(a, Turned) and isinstance(b, Turned) and a.pairs is b.pairs)
