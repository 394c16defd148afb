"""Looking facts up in sorted words, through a table of bucket starts.

The ids of the first argument are cut into buckets of 2^shift ids; `starts[b]` is where bucket b begins. With as many buckets as
ids a look-up is one access, with fewer it ends in a short binary search.
"""

from __future__ import annotations

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Columns, Integers, Mask, Words


@kernel
def bucket_starts(word: Integers, base: int, shift: int, buckets: int) -> Columns:
    """Where each bucket of the sorted facts begins, and a last entry for their end."""
    starts = np.zeros(buckets + 1, np.int32)
    for i in range(len(word)):
        starts[(((word[i] >> 32) - base) >> shift) + 1] += 1
    for b in range(buckets):
        starts[b + 1] += starts[b]
    return starts


@kernel
def lower_bound(word: Integers, low: int, high: int, key: int) -> int:
    """The first position in [low, high) whose value is at least key."""
    while high - low > 8:
        middle = (low + high) >> 1
        if word[middle] < key:
            low = middle + 1
        else:
            high = middle
    while low < high and word[low] < key:
        low += 1
    return low


@kernel
def find(words: Words, starts: Columns, base: int, shift: int, keys: Columns) -> tuple[Columns, Columns]:
    """For each column of keys, the range [low, high) of the facts that begin with it."""
    bound, n = keys.shape
    lows, highs = np.zeros(n, np.int32), np.zeros(n, np.int32)
    buckets, first = len(starts) - 1, words[0]
    if bound == 0:
        highs[:] = words.shape[1]
        return lows, highs
    for i in range(n):
        k = int(keys[0, i])
        b = (k - base) >> shift
        if b < 0 or b >= buckets:
            continue
        low, high = int(starts[b]), int(starts[b + 1])
        if bound == 1:
            if shift > 0:
                low = lower_bound(first, low, high, k << 32)
                high = lower_bound(first, low, high, (k + 1) << 32)
        else:
            key = (k << 32) | int(keys[1, i])
            low = lower_bound(first, low, high, key)
            high = lower_bound(first, low, high, key + 1)
            for j in range(2, bound, 2):
                word = words[j // 2]
                key, step = int(keys[j, i]) << 32, 1 << 32
                if j + 1 < bound:
                    key, step = key | int(keys[j + 1, i]), 1
                low = lower_bound(word, low, high, key)
                high = lower_bound(word, low, high, key + step)
        lows[i], highs[i] = low, high
    return lows, highs


@kernel
def find_facts(words: Words, starts: Columns, base: int, shift: int, facts: Words) -> Columns:
    """The position of each fact, packed in the same order, among the sorted words; -1 where it is absent."""
    n, buckets, first = facts.shape[1], len(starts) - 1, words[0]
    result = np.full(n, -1, np.int32)
    for i in range(n):
        b = ((facts[0, i] >> 32) - base) >> shift
        if b < 0 or b >= buckets:
            continue
        low = lower_bound(first, int(starts[b]), int(starts[b + 1]), facts[0, i])
        high = int(starts[b + 1])
        for w in range(1, words.shape[0]):
            high = lower_bound(words[w - 1], low, high, facts[w - 1, i] + 1)
            low = lower_bound(words[w], low, high, facts[w, i])
        if low < high and words[-1, low] == facts[-1, i]:
            result[i] = low
    return result


@kernel
def count_leading(word: Integers) -> int:
    """How many different first arguments sorted facts have."""
    count = 0
    for i in range(len(word)):
        if i == 0 or word[i] >> 32 != word[i - 1] >> 32:
            count += 1
    return count


@kernel
def count_distinct(column: Columns, low: int, high: int) -> int:
    """How many different ids between low and high a column holds; at most one bit for each possible id."""
    seen = np.zeros(((high - low) >> 3) + 1, np.uint8)
    count = 0
    for i in range(len(column)):
        v = int(column[i]) - low
        bit = np.uint8(1 << (v & 7))
        if not seen[v >> 3] & bit:
            seen[v >> 3] |= bit
            count += 1
    return count


@kernel
def nonempty(lows: Columns, highs: Columns, mask: Mask) -> None:
    """Mark the rows whose range is not empty."""
    for i in range(len(mask)):
        if highs[i] > lows[i]:
            mask[i] = True


@kernel
def count_values(column: Columns) -> tuple[Columns, Integers]:
    """The different values of a sorted column, and how often each occurs."""
    values, counts = np.empty(len(column), np.int32), np.empty(len(column), np.int64)
    o = 0
    for i in range(len(column)):
        if i == 0 or column[i] != column[i - 1]:
            values[o], counts[o] = column[i], 0
            o += 1
        counts[o - 1] += 1
    return values[:o].copy(), counts[:o].copy()
