"""Dense node numbers for the ids that a graph uses; a number is never given up."""

from __future__ import annotations

import numpy as np

from modulog.kernels import graph_algorithms
from modulog.kernels.types import Columns

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
