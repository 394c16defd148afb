"""Sorting packed facts, merging sorted ones, finding neighbours that are equal.

Large arrays are sorted in pieces and merged, so that no call is long.
"""

from __future__ import annotations

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Integers, Words

# Facts of one word are sorted by NumPy, positions by a radix sort on the bits that vary. Measured on an AMD
# EPYC core with NumPy 2.4, nanoseconds for each fact; words are pairs of numbers below 2¹⁷. "Radix" of one
# word is what was here before. Of words with 16 or 20 bits that vary it took 2 to 9 ns: up to 1.6 times as
# fast as NumPy with AVX-512, and up to 3 times as with AVX2, between 16,000 and 1 million facts; of all
# others it was slower.
#
#  facts                              1,000  4,000  16,000  64,000  250,000  1 million  4 million  10 million
#  one word, NumPy with AVX-512         2.9    2.3     2.5     2.8      3.4        4.2        5.0         5.7
#  one word, NumPy with AVX2            3.9      -     3.9     4.4      6.2        7.0        7.7         8.3
#  one word, NumPy without them         4.2      -      34      41       47         53         58          57
#  one word, radix                       11    5.8     4.7     4.7      4.7        5.5         13          16
#  positions by two words, lexsort       14     65      89     110      133        154        208           -
#  positions by two words, radix         21     14      13      16       21         26         94           -
#
# Measured again with NumPy 2.4.6, processor time on a busy machine: facts of two words whose halves lie below
# 2¹⁷, sorted by this file and by np.lexsort with a copy. Of the nearly sorted facts, one in fifty was out of
# its place.
#
#  facts               100,000        1 million       20 million
#  random, radix            47              100              299
#  random, lexsort         174              204              455
#  nearly, radix            32               46              222
#  nearly, lexsort         132              184              374

SMALL = 1 << 11
"""Facts whose positions are sorted by np.lexsort."""

PIECE = 1 << 22
"""Facts that are sorted at once."""

WORD_PIECE = 4
"""So many times PIECE are facts of one word, a tenth of a second: merging two halves takes longer than
sorting them.
"""

DIGIT = 11
"""Bits that one pass of the radix sort looks at."""


@kernel
def _varying_bits(word: Integers) -> int:
    """A mask of the bits in which the values differ."""
    varying = 0
    for i in range(len(word)):
        varying |= word[i] ^ word[0]
    return int(varying)


@kernel
def _radix_pass(word: Integers, source: Integers, target: Integers, shift: int) -> None:
    """Put positions in the order of one digit of their words; those that are equal keep their order."""
    counts = np.zeros((1 << DIGIT) + 1, np.int64)
    digits = (1 << DIGIT) - 1
    for i in range(len(source)):
        counts[((word[source[i]] >> shift) & digits) + 1] += 1
    for d in range(1 << DIGIT):
        counts[d + 1] += counts[d]
    for i in range(len(source)):
        d = (word[source[i]] >> shift) & digits
        target[counts[d]] = source[i]
        counts[d] += 1


def positions_sorted(words: Words) -> Integers:
    """The positions of the facts in lexicographic order; equal facts keep their order."""
    source = np.arange(words.shape[1], dtype=np.int64)
    if words.shape[1] < SMALL:
        return np.lexsort(words[::-1]).astype(np.int64)
    target = np.empty_like(source)
    for word in words[::-1]:
        varying = int(_varying_bits(word))
        for shift in range(0, 64, DIGIT):
            if varying >> shift & ((1 << DIGIT) - 1):
                _radix_pass(word, source, target, shift)
                source, target = target, source
    return source


def sort_words(words: Words) -> Words:
    """The facts in lexicographic order, in a new array."""
    n = words.shape[1]
    if n > PIECE * (WORD_PIECE if words.shape[0] == 1 else 1):
        half = n // 2
        return merge(sort_words(words[:, :half]), sort_words(words[:, half:]))
    if words.shape[0] == 1:
        return np.sort(words[0])[np.newaxis]
    return np.ascontiguousarray(words[:, positions_sorted(np.ascontiguousarray(words))])


@kernel
def compare(a: Words, i: int, b: Words, j: int) -> int:
    """-1, 0 or 1 as fact i of a comes before, equals or comes after fact j of b."""
    for w in range(a.shape[0]):
        if a[w, i] != b[w, j]:
            return -1 if a[w, i] < b[w, j] else 1
    return 0


@kernel
def _copy(words: Words, first: int, end: int, target: Words, at: int) -> None:
    """Write the facts first to end into the target, from a position on (assigning slices takes Numba a second
    to compile).
    """
    for w in range(words.shape[0]):
        for i in range(first, end):
            target[w, at + i - first] = words[w, i]


@kernel
def distinct(words: Words) -> Words:
    """Sorted facts without repetitions."""
    n = words.shape[1]
    fresh = 0
    for i in range(n):
        if i == 0 or compare(words, i - 1, words, i) != 0:
            fresh += 1
    if fresh == n:
        return words
    result = np.empty((words.shape[0], fresh), np.int64)
    o = 0
    for i in range(n):
        if i == 0 or compare(words, i - 1, words, i) != 0:
            _copy(words, i, i + 1, result, o)
            o += 1
    return result


@kernel
def merge(a: Words, b: Words) -> Words:
    """Two sorted arrays of facts as one; equal facts stay, those of a first."""
    n, m = a.shape[1], b.shape[1]
    result = np.empty((a.shape[0], n + m), np.int64)
    i = j = 0
    if a.shape[0] == 1:
        left, right, out = a[0], b[0], result[0]
        while i < n and j < m:
            if right[j] < left[i]:
                out[i + j] = right[j]
                j += 1
            else:
                out[i + j] = left[i]
                i += 1
    else:
        while i < n and j < m:
            if compare(b, j, a, i) < 0:
                _copy(b, j, j + 1, result, i + j)
                j += 1
            else:
                _copy(a, i, i + 1, result, i + j)
                i += 1
    _copy(a, i, n, result, i + j)
    _copy(b, j, m, result, n + j)
    return result


@kernel
def first_at_least(words: Words, low: int, others: Words, j: int) -> int:
    """The first position from low on whose fact is not before fact j of the others; near positions are found
    fastest.
    """
    step, high = 1, low
    while high < words.shape[1] and compare(words, high, others, j) < 0:
        low = high + 1
        high += step
        step *= 2
    high = min(high, words.shape[1])
    while low < high:
        middle = (low + high) >> 1
        if compare(words, middle, others, j) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def change(words: Words, gone: Words, come: Words) -> Words:
    """Sorted facts without those of gone, all of which are there, and with those of come, none of which is.

    Whatever lies between two changes is copied as it is: few changes cost little more than a copy.
    """
    g, c = gone.shape[1], come.shape[1]
    result = np.empty((words.shape[0], words.shape[1] - g + c), np.int64)
    i = j = k = o = 0
    while j < g or k < c:
        leaves = k == c or (j < g and compare(gone, j, come, k) < 0)
        stop = first_at_least(words, i, gone, j) if leaves else first_at_least(words, i, come, k)
        _copy(words, i, stop, result, o)
        o, i = o + stop - i, stop
        if leaves:
            i, j = i + 1, j + 1
        else:
            _copy(come, k, k + 1, result, o)
            o, k = o + 1, k + 1
    _copy(words, i, words.shape[1], result, o)
    return result


@kernel
def exchange(words: Words, gone: Words, others: Words, unwanted: Words) -> Words:
    """Sorted facts without those of gone, together with the others without the unwanted; no fact comes from
    both.
    """
    n, m = words.shape[1], others.shape[1]
    result = np.empty((words.shape[0], n + m), np.int64)
    i = j = g = u = o = 0
    while i < n or j < m:
        if j == m or (i < n and compare(words, i, others, j) < 0):
            while g < gone.shape[1] and compare(gone, g, words, i) < 0:
                g += 1
            if g == gone.shape[1] or compare(gone, g, words, i) != 0:
                _copy(words, i, i + 1, result, o)
                o += 1
            i += 1
        else:
            while u < unwanted.shape[1] and compare(unwanted, u, others, j) < 0:
                u += 1
            if u == unwanted.shape[1] or compare(unwanted, u, others, j) != 0:
                _copy(others, j, j + 1, result, o)
                o += 1
            j += 1
    return result[:, :o].copy()


@kernel
def sum_equal(words: Words, weights: Integers) -> tuple[Words, Integers]:
    """Sorted facts without repetitions, with the sums of their weights; sums of zero are left out."""
    n = words.shape[1]
    result = np.empty((words.shape[0], n), np.int64)
    sums = np.empty(n, np.int64)
    o = i = 0
    while i < n:
        total, first = 0, i
        while i < n and compare(words, first, words, i) == 0:
            total += weights[i]
            i += 1
        if total != 0:
            _copy(words, first, first + 1, result, o)
            sums[o] = total
            o += 1
    return result[:, :o].copy(), sums[:o].copy()


@kernel
def merge_sums(a: Words, x: Integers, b: Words, y: Integers) -> tuple[Words, Integers]:
    """Two sorted arrays of facts with numbers as one: numbers of a fact in both are added, sums of zero are
    left out.
    """
    n, m = a.shape[1], b.shape[1]
    result = np.empty((a.shape[0], n + m), np.int64)
    sums = np.empty(n + m, np.int64)
    i = j = o = 0
    while i < n or j < m:
        sign = 1 if i == n else -1 if j == m else compare(a, i, b, j)
        total = 0
        if sign <= 0:
            _copy(a, i, i + 1, result, o)
            total += x[i]
            i += 1
        if sign >= 0:
            _copy(b, j, j + 1, result, o)
            total += y[j]
            j += 1
        if total != 0:
            sums[o] = total
            o += 1
    return result[:, :o].copy(), sums[:o].copy()
