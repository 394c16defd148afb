"""The worst-case optimal join: one variable after another, each by intersecting sorted lists (leapfrog triejoin, Veldhuizen 2014).

Every atom is a set of sorted facts, read as a trie: the facts that begin with given values are a range, and in it the values of the next place ascend. A *part*
is one place of one atom; the parts of a variable stand together, and variables in the order in which they are bound. To bind a variable is to find the
next value that all its parts hold, each leaping to the greatest value seen so far. What matches is never larger than the join of the
variables bound so far could be, so that a triangle costs the square root of the product of its three relations, not the product of two.

Most of the time goes into the two innermost variables, so they have a loop of their own wherever an atom leads from the one to the other: `closing.py`.

The position of every part is kept in an array between calls: a call ends when the rows are full or the budget of leaps is spent.
"""

from __future__ import annotations

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.searching import lower_bound
from modulog.kernels.types import Columns, Integers

WORD, SHIFT, TABLE, BASE, BUCKET, NEXT, SINGLE = range(7)
"""What is known of a part: its word and which half (32 the upper, 0 the lower); its table of bucket starts or -1, with base and shift; the
part of the next place or -1; whether each value is one fact."""

POSITION, LOW, HIGH, END = range(4)
"""Where a part stands, the range it may move in, and where the facts with its present value end."""

DEPTH, COUNT, INNER, AT = range(4)
"""The cursor: the variable to be bound next; the matches of the variables behind the kept ones so far; where the innermost loops stopped."""

HALF = 0xFFFFFFFF


@kernel
def gallop(word: Integers, low: int, high: int, key: int) -> int:
    """The first position in [low, high) whose word is at least key, near low if it can be."""
    at, step = low, 1
    while at < high and word[at] < key:
        low = at + 1
        at += step
        step <<= 1
    return lower_bound(word, low, min(at, high), key)


@kernel
def seek(word: Integers, table: Columns, part: Integers, low: int, high: int, key: int) -> int:
    """The first position in [low, high) whose value is at least key; the range is not empty."""
    if part[SHIFT] == 0:
        return gallop(word, low, high, (word[low] >> 32 << 32) | key)
    if part[TABLE] >= 0:
        bucket = (key - part[BASE]) >> part[BUCKET]
        if bucket >= len(table) - 1:
            return high
        if bucket > 0:
            low = max(low, int(table[bucket]))
    return gallop(word, low, high, key << 32)


@kernel
def agree(
    words: tuple[Integers, ...],
    tables: tuple[Columns, ...],
    parts: Integers,
    state: Integers,
    first: int,
    stop: int,
) -> tuple[int, int]:
    """Move the parts from first to stop to the next value that all of them hold; returns it, or -1, and how many leaps it took."""
    if state[first, POSITION] >= state[first, HIGH]:
        return -1, 1
    key = int(words[parts[first, WORD]][state[first, POSITION]] >> parts[first, SHIFT]) & HALF
    p, same, leaps = first, 1, 1
    while same < stop - first:
        p = p + 1 if p + 1 < stop else first
        low, high = state[p, POSITION], state[p, HIGH]
        leaps += 1
        if low >= high:
            return -1, leaps
        word = words[parts[p, WORD]]
        at = seek(word, tables[max(parts[p, TABLE], 0)], parts[p], low, high, key)
        state[p, POSITION] = at
        if at >= high:
            return -1, leaps
        found = int(word[at] >> parts[p, SHIFT]) & HALF
        same = same + 1 if found == key else 1
        key = found
    for p in range(first, stop):
        at, high = state[p, POSITION], state[p, HIGH]
        if parts[p, SINGLE]:
            state[p, END] = at + 1
        else:
            table = tables[max(parts[p, TABLE], 0)]
            state[p, END] = seek(words[parts[p, WORD]], table, parts[p], at, high, key + 1)
    return key, leaps


@kernel
def all_common(
    words: tuple[Integers, ...],
    tables: tuple[Columns, ...],
    parts: Integers,
    state: Integers,
    first: int,
    stop: int,
) -> tuple[Columns, int]:
    """Every value that the parts from first to stop hold, each of which has one fact for a value; and how many leaps it took."""
    room = state[first, HIGH] - state[first, LOW]
    for p in range(first, stop):
        state[p, POSITION] = state[p, LOW]
        room = min(room, state[p, HIGH] - state[p, LOW])
    found, o, leaps = np.empty(room, np.int32), 0, 1
    left, i, high, a = words[parts[first, WORD]], state[first, LOW], state[first, HIGH], parts[first, SHIFT]
    if stop - first == 1:
        for o in range(room):
            found[o] = (left[i + o] >> a) & HALF
        return found, room
    if stop - first > 2:
        while True:
            key, more = agree(words, tables, parts, state, first, stop)
            leaps += more
            if key < 0:
                return found[:o], leaps
            found[o] = key
            o += 1
            for p in range(first, stop):
                state[p, POSITION] = state[p, END]
    right, b = words[parts[first + 1, WORD]], parts[first + 1, SHIFT]
    j, end = state[first + 1, LOW], state[first + 1, HIGH]
    while i < high and j < end:
        x, y = (left[i] >> a) & HALF, (right[j] >> b) & HALF
        leaps += 1
        if x == y:
            found[o] = x
            o, i, j = o + 1, i + 1, j + 1
        elif x < y:
            i = gallop(left, i + 1, high, y << 32 if a else (left[i] >> 32 << 32) | y)
        else:
            j = gallop(right, j + 1, end, x << 32 if b else (right[j] >> 32 << 32) | x)
    return found[:o], leaps


@kernel
def step_over(levels: Integers, state: Integers, depth: int) -> None:
    """Leave the present value of a variable behind."""
    for p in range(levels[depth], levels[depth + 1]):
        state[p, POSITION] = state[p, END]


@kernel
def descend(parts: Integers, levels: Integers, state: Integers, depth: int) -> None:
    """The present value of a variable narrows the next places of its atoms; the parts of the next variable start anew."""
    for p in range(levels[depth], levels[depth + 1]):
        after = parts[p, NEXT]
        if after >= 0:
            state[after, LOW], state[after, HIGH] = state[p, POSITION], state[p, END]
    for p in range(levels[depth + 1], levels[depth + 2]):
        state[p, POSITION] = state[p, LOW]
