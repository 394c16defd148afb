"""A set of pairs over a small dense domain, one bit for each possible pair.

Several threads may enter facts at the same time if each has ids of its own: those of the first argument, or
where the set is wide those of the second. The bits of different owners lie in different words, and where it
matters for speed in different lines of the cache.
"""

from __future__ import annotations

import numpy as np

from modulog.kernels import joining, split_work
from modulog.kernels.threads import current
from modulog.kernels.types import Integers, Words

LARGEST = 1 << 30  # bits: 128 MiB
SHARDS = 1 << 4  # enough for some threads; a power of two
WIDE = 1 << 9  # bits of a line of the cache; the rows of a set as wide as that begin with a word


class Bitmap:
    """Which facts of arity one or two, packed in one word, have been seen. Every id lies within the box."""

    def __init__(self, least: tuple[int, int], greatest: tuple[int, int]) -> None:
        width = greatest[1] - least[1] + 1
        self.wide = width >= WIDE
        if self.wide:
            width = width + 63 & ~63
        self.least, self.greatest = least, greatest
        self.box = np.array([least[0], least[1], width], np.int64)
        self.bits = np.zeros((width * (greatest[0] - least[0] + 1) >> 6) + 1, np.uint64)

    @staticmethod
    def size(least: tuple[int, int], greatest: tuple[int, int]) -> int:
        """How many bits a box takes."""
        return (greatest[0] - least[0] + 1) * (greatest[1] - least[1] + 1)

    def shards(self, argument: int) -> tuple[int, int, int] | None:
        """How to divide the ids of an argument so that the facts of each shard have words of their own: the
        least id, so many bits left out, the number.
        """
        if argument and not self.wide:
            return None
        return self.least[argument], 0 if self.wide and not argument else 6, SHARDS

    def keep_new(self, words: Words) -> Words:
        """The facts that were not there, each once; they are now."""
        parts = current().parts(words.shape[1])
        if parts == 1:
            fresh: Integers = joining.keep_new(words[0], self.bits, self.box)
            return fresh[np.newaxis]
        masks = np.zeros((parts, words.shape[1]), np.bool_)
        shift = 0 if self.wide else 9

        def task(part: int) -> None:
            joining.mark_new(words[0], self.bits, self.box, shift, part, parts, masks[part])

        current().run([lambda part=part: task(part) for part in range(parts)])  # type: ignore[misc]
        return split_work.select(words, np.logical_or.reduce(masks))

    @property
    def bytes(self) -> int:
        return self.bits.nbytes
