"""A set of pairs over a small dense domain, one bit for each possible pair."""

from __future__ import annotations

import numpy as np

from modulog.kernels import joining
from modulog.kernels.types import Integers, Words

LARGEST = 1 << 30  # bits: 128 MiB


class Bitmap:
    """Which facts of arity one or two, packed in one word, have been seen. Every id lies within the box."""

    def __init__(self, least: tuple[int, int], greatest: tuple[int, int]) -> None:
        width = greatest[1] - least[1] + 1
        self.least, self.greatest = least, greatest
        self.box = np.array([least[0], least[1], width], np.int64)
        self.bits = np.zeros((width * (greatest[0] - least[0] + 1) >> 6) + 1, np.uint64)

    @staticmethod
    def size(least: tuple[int, int], greatest: tuple[int, int]) -> int:
        """How many bits a box takes."""
        return (greatest[0] - least[0] + 1) * (greatest[1] - least[1] + 1)

    def keep_new(self, words: Words) -> Words:
        """The facts that were not there, each once; they are now."""
        fresh: Integers = joining.keep_new(words[0], self.bits, self.box)
        return fresh[np.newaxis]

    @property
    def bytes(self) -> int:
        return self.bits.nbytes
