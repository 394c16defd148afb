"""Lists of numbers, a value each: what follows from one shares its pool, and only the lists that changed are
appended to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modulog.kernels import adjacency as kernels
from modulog.kernels import graph_algorithms
from modulog.kernels.types import Columns, Integers, ListArrays, Mask

SPARE = 4096
"""So many numbers of lists that were replaced are always allowed to stay in a pool."""


def distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """Sorted, each once; `numpy.unique` hashes, which takes far longer."""
    numbers = np.sort(numbers)
    return numbers[np.concatenate([[True], numbers[1:] != numbers[:-1]])] if len(numbers) else numbers


def among(numbers: NDArray[Any], others: NDArray[Any]) -> Mask:
    """Which numbers are among others, sorted ones or not; `numpy.isin` and `numpy.setdiff1d` hash, too.

    >>> among(np.array([3, 1, 2]), np.array([5, 2, 3])).tolist()
    [True, False, True]
    """
    if not len(others):
        return np.zeros(len(numbers), np.bool_)
    others = np.sort(others)
    found: Mask = others[np.minimum(np.searchsorted(others, numbers), len(others) - 1)] == numbers
    return found


class Pool:
    """The numbers of lists: appended only, so that every value that has some of them stays valid."""

    def __init__(self, numbers: NDArray[Any]) -> None:
        self.numbers, self.used = numbers, len(numbers)

    @staticmethod
    def empty(room: int, kind: type[np.integer[Any]]) -> Pool:
        """A pool without numbers; room costs memory only once it is used."""
        result = Pool(np.empty(room, kind))
        result.used = 0
        return result

    def __getstate__(self) -> dict[str, Any]:
        """A copy elsewhere needs no room."""
        return {"numbers": self.numbers[: self.used].copy(), "used": self.used}

    @property
    def bytes(self) -> int:
        """Bytes held."""
        return self.used * self.numbers.itemsize

    def append(self, more: NDArray[Any]) -> int:
        """Append numbers; returns where they start."""
        start, end = self.used, self.used + len(more)
        if end > len(self.numbers):
            self.make_room(end + end // 4)
        self.numbers[start:end] = more
        self.used = end
        return start

    def make_room(self, size: int) -> None:
        """Let there be room for so many numbers in all."""
        numbers = np.empty(size, self.numbers.dtype)
        numbers[: self.used] = self.numbers[: self.used]
        self.numbers = numbers


@dataclass(frozen=True, slots=True)
class Lists:
    """List k is pool.numbers[first[k] : last[k]]; the lists of a graph hold the sons of each node,
    ascending.
    """

    first: Columns
    last: Columns
    pool: Pool
    count: int

    @staticmethod
    def of(starts: Columns, numbers: NDArray[Any]) -> Lists:
        """Lists that lie one after the other."""
        return Lists(starts[:-1], starts[1:], Pool(numbers), len(numbers))

    def __len__(self) -> int:
        return len(self.first)

    @property
    def arrays(self) -> ListArrays:
        """What kernels take."""
        return ListArrays(self.first, self.last, self.pool.numbers)

    def lengths(self) -> Columns:
        """How long each list is."""
        return self.last - self.first

    def gathered(self, keys: Columns) -> tuple[Integers, NDArray[Any]]:
        """Some lists, one after the other: where each starts, and the numbers."""
        lengths = (self.last[keys] - self.first[keys]).astype(np.int64)
        starts = np.zeros(len(keys) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        places = np.arange(starts[-1]) + np.repeat(self.first[keys] - starts[:-1], lengths)
        return starts, self.pool.numbers[places]

    def replaced(self, size: int, keys: Columns, starts: Columns | Integers, numbers: NDArray[Any]) -> Lists:
        """The same with `size` lists, of which those named by keys are new: numbers[starts[i] : starts[i +
        1]] for keys[i].
        """
        if size == len(self) and not len(keys):
            return self
        first, last = np.zeros(size, np.int32), np.zeros(size, np.int32)
        old = len(self.first)
        first[:old], last[:old] = self.first, self.last
        count = self.count - int((last[keys] - first[keys]).sum()) + len(numbers)
        start = self.pool.append(numbers)
        first[keys], last[keys] = starts[:-1] + start, starts[1:] + start
        if self.pool.used <= 2 * count + SPARE:
            return Lists(first, last, self.pool, count)
        every = np.arange(size, dtype=np.int32)
        ends, kept = Lists(first, last, self.pool, count).gathered(every)
        return Lists.of(ends.astype(np.int32), kept)

    def present(self, words: Integers) -> Mask:
        """Which of the words (list, number) are there."""
        return kernels.present(*self.arrays, words)

    def with_more(self, words: Integers, size: int) -> Lists:
        """The same with sorted words that are not there yet, in `size` lists."""
        if not len(words) and size == len(self):
            return self
        return self.replaced(size, *kernels.with_more(*self.arrays, words))

    def with_fewer(self, words: Integers) -> Lists:
        """The same without sorted words that are there."""
        return self.replaced(len(self), *kernels.with_fewer(*self.arrays, words)) if len(words) else self

    def differing(self, other: Lists) -> Columns:
        """The lists that are not the same in another value; one that the other does not have is as if empty
        there.
        """
        return kernels.differing(*self.arrays, *other.arrays, self.pool is other.pool)

    def transposed(self) -> Lists:
        """The graph turned round."""
        starts, sources = graph_algorithms.transpose(*self.arrays, self.count)
        return Lists.of(starts, sources)

    @property
    def bytes(self) -> int:
        """Bytes held."""
        shared = self.first.base is not None and self.first.base is self.last.base
        return self.first.nbytes * (1 if shared else 2) + self.pool.bytes
