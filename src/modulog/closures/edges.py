"""The external edges X_R of a relation, each once, in both directions; a value, shared by the states that
have it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from modulog.closures.shared_lists import Lists
from modulog.kernels import graph_algorithms
from modulog.kernels.sort import distinct, sort_words
from modulog.kernels.types import Columns, Integers, Mask


@dataclass(slots=True)
class Edges:
    """A graph with its inverse, which is made when it is asked for; a symmetric graph is given as its own."""

    out: Lists
    _into: Lists | None = None

    @staticmethod
    def of(words: Integers, n: int, symmetric: bool = False) -> Edges:
        """The graph of n nodes with sorted, distinct edges; a symmetric one is its own inverse."""
        out = Lists.of(*graph_algorithms.adjacency(words, n))
        return Edges(out, out if symmetric else None)

    @property
    def into(self) -> Lists:
        """The graph turned round."""
        if self._into is None:
            self._into = self.out.transposed()
        return self._into

    def rest(self) -> None:
        """Give up the inverse, until it is asked for again."""
        if self._into is not self.out:
            self._into = None

    def __len__(self) -> int:
        return self.out.count

    @property
    def n(self) -> int:
        """How many nodes there are."""
        return len(self.out)

    def present(self, words: Integers) -> Mask:
        """Which of the edges are there."""
        return self.out.present(words)

    def words(self) -> Integers:
        """All edges, sorted."""
        every = np.arange(self.n, dtype=np.int32)
        starts, targets = self.out.gathered(every)
        return packed(np.repeat(every, np.diff(starts)), targets)

    def with_more(self, words: Integers, n: int) -> Edges:
        """The same with edges that are not there yet, sorted, over n nodes."""
        out = self.out.with_more(words, n)
        return Edges(out, out if self.into is self.out else self.into.with_more(np.sort(turned(words)), n))

    def with_fewer(self, words: Integers) -> Edges:
        """The same without edges that are there, sorted."""
        out = self.out.with_fewer(words)
        return Edges(out, out if self.into is self.out else self.into.with_fewer(np.sort(turned(words))))

    @property
    def bytes(self) -> int:
        """Bytes held."""
        return self.out.bytes + (0 if self._into is None or self._into is self.out else self._into.bytes)


def packed(sources: Columns, targets: Columns) -> Integers:
    """Edges as words."""
    result: Integers = (sources.astype(np.int64) << 32) | targets
    return result


def unpacked(words: Integers) -> tuple[Columns, Columns]:
    """The sources and the targets of edges."""
    return (words >> 32).astype(np.int32), (words & 0xFFFFFFFF).astype(np.int32)


def turned(words: Integers) -> Integers:
    """Every edge turned round."""
    result: Integers = ((words & 0xFFFFFFFF) << 32) | (words >> 32)
    return result


def in_order(words: Integers) -> Integers:
    """The edges sorted, each once."""
    result: Integers = distinct(sort_words(words[np.newaxis]))[0]
    return result


def edge_words(number: Callable[[Columns], Columns], columns: Columns) -> Integers:
    """Edges between nodes as sorted words; those with an unknown end are left out."""
    if not columns.size:
        return np.empty(0, np.int64)
    sources, targets = (number(c.astype(np.int32)) for c in columns)
    known = (sources >= 0) & (targets >= 0)
    return in_order(packed(sources[known], targets[known]))


# ---- Numbers of nodes


SLICE = 1 << 12


class Nodes:
    """The ids of a graph's nodes and a hash table that finds them.

    >>> nodes = Nodes()
    >>> nodes.number(np.array([70, 5, 70], np.int32)).tolist(), nodes.find(np.array([5, 6], np.int32)).tolist()
    ([0, 1, 0], [1, -1])
    """

    def __init__(self) -> None:
        self.count = 0
        self._ids = np.empty(16, np.int32)
        self._bits = 5
        self._slots = np.full(32, -1, np.int32)

    @property
    def ids(self) -> Columns:
        """The id of each node."""
        return self._ids[: self.count]

    def number(self, values: Columns) -> Columns:
        """The node of each id; ids not seen before get the next numbers."""
        result = np.empty(len(values), np.int32)
        for at in range(0, len(values), SLICE):
            part = values[at : at + SLICE]
            self._make_room(self.count + len(part))
            self.count = graph_algorithms.number_nodes(
                self._slots, self._bits, self._ids, self.count, part, result[at : at + SLICE]
            )
        return result

    def find(self, values: Columns) -> Columns:
        """The node of each id, or -1."""
        return graph_algorithms.find_nodes(self._slots, self._bits, self._ids, values)

    def _make_room(self, size: int) -> None:
        if size > len(self._ids):
            ids = np.empty(max(size, 3 * len(self._ids) // 2), np.int32)
            ids[: self.count] = self.ids
            self._ids = ids
        if 3 * size > 2 * len(self._slots):
            self._bits = (3 * size // 2).bit_length()
            self._slots = np.full(1 << self._bits, -1, np.int32)
            graph_algorithms.enter_nodes(self._slots, self._bits, self._ids, 0, self.count)

    def rest(self) -> None:
        """Give up room for more."""
        self._ids = self.ids.copy() if self.count else self._ids

    @property
    def bytes(self) -> int:
        """Bytes held."""
        return self._ids.nbytes + self._slots.nbytes
