"""Turning ranges of matching facts into rows of a join, in bounded pieces.

A cursor (row, offset) says where the previous piece ended, so that even one row with a billion matches is cut.
"""

from __future__ import annotations

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Columns, Integers, Words


@kernel
def pair(
    lows: Columns, highs: Columns, row: int, offset: int, limit: int
) -> tuple[Columns, Columns, int, int]:
    """At most `limit` pairs (row, position) from the cursor on, and the cursor after them."""
    total, r = 0, row
    while r < len(lows) and total < limit:
        total += int(highs[r]) - int(lows[r])
        if r == row:
            total -= offset
        r += 1
    total = min(total, limit)
    rows, positions = np.empty(total, np.int32), np.empty(total, np.int32)
    o = 0
    while row < len(lows):
        low, high = int(lows[row]) + offset, int(highs[row])
        stop = min(high, low + (total - o))
        for p in range(low, stop):
            rows[o] = row
            positions[o] = p
            o += 1
        if stop < high:
            return rows, positions, row, offset + (stop - low)
        row, offset = row + 1, 0
    return rows, positions, row, 0


@kernel
def gather(
    columns: Columns, keep: Integers, rows: Columns, words: Words, places: Integers, positions: Columns
) -> Columns:
    """The joined rows: columns keep[…] of the left rows, then the arguments at places[…] of the matching facts."""
    n = len(rows)
    result = np.empty((len(keep) + len(places), n), np.int32)
    for j in range(len(keep)):
        source, target = columns[keep[j]], result[j]
        for i in range(n):
            target[i] = source[rows[i]]
    for j in range(len(places)):
        word, target = words[places[j] // 2], result[len(keep) + j]
        if places[j] % 2 == 0:
            for i in range(n):
                target[i] = np.int32(word[positions[i]] >> 32)
        else:
            for i in range(n):
                target[i] = np.int32(word[positions[i]] & 0xFFFFFFFF)
    return result


@kernel
def join_into_bitmap(
    columns: Columns,
    lows: Columns,
    highs: Columns,
    words: Words,
    sources: Integers,
    bits: np.ndarray,
    box: Integers,
    buffer: Integers,
    row: int,
    offset: int,
    budget: int,
) -> tuple[int, int, int, int]:
    """Join, project to a pair of arguments and keep what is new in the bitmap, all in one pass.

    sources[h] says where argument h comes from: a left column c as c, argument a of the fact as -1 - a. New facts are packed into the
    buffer. Ends when the buffer is full or the budget of pairs is spent; returns how many facts, how many pairs, and the cursor.
    """
    low0, low1, width = box[0], box[1], box[2]
    fact0, fact1 = -1 - sources[0], -1 - sources[1]
    o, seen = 0, 0
    a = b = 0
    while row < len(lows):
        low, high = int(lows[row]) + offset, int(highs[row])
        if sources[0] >= 0:
            a = int(columns[sources[0], row])
        if sources[1] >= 0:
            b = int(columns[sources[1], row])
        stop = min(high, low + (budget - seen))
        p = low
        while p < stop and o < len(buffer):
            if fact0 >= 0:
                a = words[fact0 // 2, p] >> 32 if fact0 % 2 == 0 else words[fact0 // 2, p] & 0xFFFFFFFF
            if fact1 >= 0:
                b = words[fact1 // 2, p] >> 32 if fact1 % 2 == 0 else words[fact1 // 2, p] & 0xFFFFFFFF
            cell = (a - low0) * width + (b - low1)
            bit = np.uint64(1) << np.uint64(cell & 63)
            if not bits[cell >> 6] & bit:
                bits[cell >> 6] |= bit
                buffer[o] = (a << 32) | b
                o += 1
            p += 1
        seen += p - low
        if p < high:
            return o, seen, row, offset + (p - low)
        row, offset = row + 1, 0
    return o, seen, row, 0


@kernel
def keep_new(word: Integers, bits: np.ndarray, box: Integers) -> Integers:
    """The facts that are not in the bitmap yet, which they enter."""
    low0, low1, width = box[0], box[1], box[2]
    result = np.empty(len(word), np.int64)
    o = 0
    for i in range(len(word)):
        cell = ((word[i] >> 32) - low0) * width + ((word[i] & 0xFFFFFFFF) - low1)
        bit = np.uint64(1) << np.uint64(cell & 63)
        if not bits[cell >> 6] & bit:
            bits[cell >> 6] |= bit
            result[o] = word[i]
            o += 1
    return result[:o].copy()
