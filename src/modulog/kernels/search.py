"""Looking facts up in sorted words, through a table of bucket starts.

The ids of the first argument are cut into buckets of 2^shift ids; `starts[b]` is where bucket b begins. With
as many buckets as ids a look-up is one access, with fewer it ends in a short binary search.
"""

from __future__ import annotations

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Columns, Integers, Words


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
def lower_bound(word: Integers | Columns, low: int, high: int, key: int) -> int:
    """The first position in [low, high) whose value is at least key; without branches, half of which would be
    guessed wrong.
    """
    length = high - low
    while length > 1:
        half = length >> 1
        low += half * (word[low + half - 1] < key)
        length -= half
    return low + (word[low] < key) if length == 1 else low


@kernel
def matching(words: Words, starts: Columns, base: int, shift: int, keys: Columns, i: int) -> tuple[int, int]:
    """The range [low, high) of the facts that begin with column i of the keys, of which there is at least
    one.
    """
    bound, first, k = keys.shape[0], words[0], int(keys[0, i])
    b = (k - base) >> shift
    if b < 0 or b >= len(starts) - 1:
        return 0, 0
    low, high = int(starts[b]), int(starts[b + 1])
    if bound == 1:
        if shift > 0:
            low = lower_bound(first, low, high, k << 32)
            high = lower_bound(first, low, high, (k + 1) << 32)
        return low, high
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
    return low, high


@kernel
def find(words: Words, starts: Columns, base: int, shift: int, keys: Columns) -> tuple[Columns, Columns]:
    """For each column of keys, the range [low, high) of the facts that begin with it.

    One and two keys have a loop here: a view of a row of the words, made for each key as in `matching`, costs
    more than the search.
    """
    lows, highs = np.zeros(keys.shape[1], np.int32), np.zeros(keys.shape[1], np.int32)
    bound, last, first = keys.shape[0], len(starts) - 1, words[0]
    if bound == 0:
        highs[:] = words.shape[1]
    elif bound > 2:
        for i in range(keys.shape[1]):
            lows[i], highs[i] = matching(words, starts, base, shift, keys, i)
    else:
        for i in range(keys.shape[1]):
            k = int(keys[0, i])
            b = (k - base) >> shift
            if b < 0 or b >= last:
                continue
            low, high = int(starts[b]), int(starts[b + 1])
            if bound == 2:
                key = (k << 32) | int(keys[1, i])
                low = lower_bound(first, low, high, key)
                if words.shape[0] > 1:
                    high = lower_bound(first, low, high, key + 1)
                else:
                    end = low
                    while end < high and first[end] == key:
                        end += 1
                    high = end
            elif shift > 0:
                low = lower_bound(first, low, high, k << 32)
                high = lower_bound(first, low, high, (k + 1) << 32)
            lows[i], highs[i] = low, high
    return lows, highs


@kernel
def count_matching(
    words: Words, starts: Columns, base: int, shift: int, keys: Columns, sign: int, counts: Integers
) -> None:
    """Add to each count, or with sign -1 subtract, how many facts begin with that column of keys."""
    lows, highs = find(words, starts, base, shift, keys)
    for i in range(len(lows)):
        counts[i] += sign * (int(highs[i]) - int(lows[i]))


@kernel
def position(words: Words, starts: Columns, base: int, shift: int, facts: Words, i: int) -> int:
    """The position of fact i, packed in the same order, among the sorted words; -1 if it is absent."""
    b = ((facts[0, i] >> 32) - base) >> shift
    if b < 0 or b >= len(starts) - 1:
        return -1
    low, high = lower_bound(words[0], int(starts[b]), int(starts[b + 1]), facts[0, i]), int(starts[b + 1])
    for w in range(1, words.shape[0]):
        high = lower_bound(words[w - 1], low, high, facts[w - 1, i] + 1)
        low = lower_bound(words[w], low, high, facts[w, i])
    return low if low < high and words[-1, low] == facts[-1, i] else -1


@kernel
def find_facts(words: Words, starts: Columns, base: int, shift: int, facts: Words) -> Columns:
    """The position of each fact, packed in the same order, among the sorted words; -1 where it is absent."""
    result = np.full(facts.shape[1], -1, np.int32)
    if words.shape[0] > 1:
        for i in range(facts.shape[1]):
            result[i] = position(words, starts, base, shift, facts, i)
        return result
    last, first = len(starts) - 1, words[0]
    for i in range(facts.shape[1]):
        key = facts[0, i]
        b = ((key >> 32) - base) >> shift
        if b >= 0 and b < last:
            high = int(starts[b + 1])
            low = lower_bound(first, int(starts[b]), high, key)
            if low < high and first[low] == key:
                result[i] = low
    return result


@kernel
def tally_facts(
    words: Words, starts: Columns, base: int, shift: int, facts: Words, sign: int, counts: Integers
) -> None:
    """Add the sign to the count of each fact, packed in the same order, that is among the sorted words."""
    positions = find_facts(words, starts, base, shift, facts)
    for i in range(len(positions)):
        if positions[i] >= 0:
            counts[i] += sign


@kernel
def drop_hidden(
    rows: Columns, positions: Columns, words: Words, hidden: Words, lows: Columns, highs: Columns
) -> tuple[Columns, Columns]:
    """Of the pairs (row, position), sorted by row, those whose fact, words[:, position], is not hidden.

    The hidden facts are sorted in the same order; those that a row can match lie in its range [low, high).
    """
    n = len(rows)
    left, right = np.empty(n, np.int32), np.empty(n, np.int32)
    i = o = 0
    for row in range(rows[0] if n else 0, rows[-1] + 1 if n else 0):
        if lows[row] == highs[row]:
            continue
        start = lower_bound(rows, i, n, row)  # what lies between two such rows is copied as it is
        for j in range(i, start):
            left[o + j - i], right[o + j - i] = rows[j], positions[j]
        o, i = o + start - i, start
        while i < n and rows[i] == row:
            low, high, p = int(lows[row]), int(highs[row]), positions[i]
            for w in range(words.shape[0]):
                low = lower_bound(hidden[w], low, high, words[w, p])
                high = lower_bound(hidden[w], low, high, words[w, p] + 1)
            if low == high:
                left[o], right[o] = row, p
                o += 1
            i += 1
    for j in range(i, n):
        left[o + j - i], right[o + j - i] = rows[j], positions[j]
    return left[: o + n - i].copy(), right[: o + n - i].copy()


@kernel
def some(lows: Columns, highs: Columns) -> bool:
    """Whether some range is not empty."""
    for i in range(len(lows)):
        if highs[i] > lows[i]:
            return True
    return False


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
