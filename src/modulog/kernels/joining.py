"""Turning ranges of matching facts into rows of a join, in bounded pieces.

A cursor (row, offset) says where the previous piece ended, so that even one row with a billion matches is
cut.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Columns, Integers, Mask, Words


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
    """The joined rows: columns keep[…] of the left rows, then the arguments at places[…] of the matching
    facts.
    """
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


class Block(NamedTuple):
    """Rows to be joined and projected to a pair of arguments.

    Row i of the columns matches the facts lows[i] to highs[i] of the words; sources[h] says where argument h
    comes from: a left column c as c, argument a of the fact as -1 - a. Bit (a - box[0]) * box[2] + (b -
    box[1]) of `bits` tells whether (a, b) has been seen.
    """

    columns: Columns
    lows: Columns
    highs: Columns
    words: Words
    sources: Integers
    bits: NDArray[np.uint64]
    box: Integers


@kernel
def join_into_bitmap(
    block: Block,
    buffer: Integers,
    row: int,
    offset: int,
    budget: int,
) -> tuple[int, int, int, int]:
    """Join, project to a pair of arguments and keep what is new in the bitmap, all in one pass.

    New facts are packed into the buffer. Ends when the buffer is full or the budget of pairs is spent;
    returns how many facts, how many pairs, and the cursor.
    """
    columns, lows, highs, words, sources, bits, box = block
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
def blocks(lows: Columns, highs: Columns, most: int) -> Integers:
    """Where to cut the rows so that those between two cuts have at most so many matches, or there is
    one row.
    """
    cuts, o, total = np.empty(len(lows) + 1, np.int64), 0, 0
    for row in range(len(lows)):
        matches = int(highs[row]) - int(lows[row])
        if row == 0 or total + matches > most:
            cuts[o] = row
            o, total = o + 1, 0
        total += matches
    cuts[o] = len(lows)
    return cuts[: o + 1].copy()


@kernel
def matches_of(lows: Columns, highs: Columns, first: int, last: int) -> int:
    """How many matches the rows from first to last have."""
    total = 0
    for row in range(first, last):
        total += int(highs[row]) - int(lows[row])
    return total


@kernel
def shards(
    owners: Columns, lows: Columns, highs: Columns, first: int, last: int, low: int, shift: int, number: int
) -> tuple[Columns, Integers, Integers]:
    """The rows from first to last that have matches, by shards; where each shard ends, and how many matches
    it has.

    The shard of a row is what the id of its owner gives when it is divided by 2^shift, modulo the number of
    shards, which is a power of two. Ids that follow each other are spread, since rows that do are often in
    one call.
    """
    ends, matches = np.zeros(number, np.int64), np.zeros(number, np.int64)
    for row in range(first, last):
        if highs[row] > lows[row]:
            ends[((owners[row] - low) >> shift) & (number - 1)] += 1
    at = np.zeros(number, np.int64)
    for shard in range(1, number):
        at[shard] = ends[shard - 1]
        ends[shard] += ends[shard - 1]
    rows = np.empty(ends[-1], np.int32)
    for row in range(first, last):
        if highs[row] > lows[row]:
            shard = ((owners[row] - low) >> shift) & (number - 1)
            rows[at[shard]] = row
            at[shard] += 1
            matches[shard] += int(highs[row]) - int(lows[row])
    return rows, ends, matches


@kernel
def join_rows(
    block: Block,
    rows: Columns,
    first: int,
    last: int,
    buffer: Integers,
    at: int,
) -> int:
    """As `join_into_bitmap`, for rows[first:last], into the buffer from a place on, where there is room for
    all matches; returns where it stopped.
    """
    columns, lows, highs, words, sources, bits, box = block
    low0, low1, width = box[0], box[1], box[2]
    fact0, fact1 = -1 - sources[0], -1 - sources[1]
    o = at
    a = b = 0
    for i in range(first, last):
        row = rows[i]
        if sources[0] >= 0:
            a = int(columns[sources[0], row])
        if sources[1] >= 0:
            b = int(columns[sources[1], row])
        for p in range(lows[row], highs[row]):
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
    return o


@kernel
def mark_new(
    word: Integers, bits: np.ndarray, box: Integers, shift: int, part: int, parts: int, mask: Mask
) -> None:
    """Mark the facts that are not in the bitmap yet, which they enter, if their first argument is one of this
    thread's own.

    Its upper bits times a number that spreads them, scaled, say whose it is; a division would take longer.
    """
    low0, low1, width = box[0], box[1], box[2]
    for i in range(len(word)):
        a = word[i] >> 32
        if (((((a - low0) >> shift) * 0x9E3779B1) & 0xFFFFFFFF) * parts) >> 32 == part:
            cell = (a - low0) * width + ((word[i] & 0xFFFFFFFF) - low1)
            bit = np.uint64(1) << np.uint64(cell & 63)
            if not bits[cell >> 6] & bit:
                bits[cell >> 6] |= bit
                mask[i] = True


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
