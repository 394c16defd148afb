"""A worst-case optimal join: bind one variable after another by intersecting sorted lists.

This is leapfrog triejoin (Veldhuizen 2014). Each atom is a table of sorted facts, read as a trie: the facts
that begin with given values are a range, in which the values of the next place ascend. A *part* is one place
of one atom. The parts of a variable stand together, and variables in the order in which they are bound. To
bind a variable is to find the next value that all of its parts have, where each part skips to the greatest
value seen so far. So the work is bounded by the largest result that tables of these sizes can have for the
variables bound so far: a triangle costs the square root of the product of its three tables, not the product
of two.

Most time goes into the two innermost variables. They have a loop of their own, in `triangle_join.py`, if an
atom leads from the one to the other.

The positions of the parts are kept in an array between calls: a call ends when the result is full or its
budget of skips is used up.
"""

from __future__ import annotations

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.search import lower_bound
from modulog.kernels.types import Columns, Integers

WORD, SHIFT, TABLE, BASE, BUCKET, NEXT, SINGLE = range(7)
"""The columns of `parts`, in this order.

The word of the facts that has the place, and its half (a shift of 32 for the upper, 0 for the lower); the
index table of the word or -1, with its base and its shift; the part of the atom's next place or -1; whether
each value is in one fact only.
"""

POSITION, LOW, HIGH, END = range(4)
"""The columns of `state`, in this order.

Where a part is, the range in which it moves, and where the facts with its present value end.
"""

DEPTH, COUNT, INNER, AT = range(4)
"""The entries of the cursor, in this order.

Which variable is bound next; how many matches the variables behind the kept ones have so far; where the
innermost loops stopped.
"""

HALF = 0xFFFFFFFF
"""The lower half of a word."""


@kernel
def gallop(word: Integers, low: int, high: int, key: int) -> int:
    """The first position in [low, high) whose word is at least `key`; high if there is none.

    Steps are doubled, then the last one is bisected: O(log of the distance), which is short if the position
    is near.
    """
    at, step = low, 1
    while at < high and word[at] < key:
        low = at + 1
        at += step
        step <<= 1
    return lower_bound(word, low, min(at, high), key)


@kernel
def seek(word: Integers, table: Columns, part: Integers, low: int, high: int, key: int) -> int:
    """The first position in [low, high) whose value is at least `key`; the range is not empty.

    The index table, if there is one, says for each bucket of values where it starts.
    """
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
    """Move the parts from `first` to `stop` to the next value that all of them have.

    Returns the value, or -1 if there is none, and how many skips it took, O(log facts) each. The entry END of
    each part says where its facts with this value end.
    """
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
    """All values that the parts from `first` to `stop` have in their ranges, if no value is in several facts.

    Returns them and how many skips it took. One part is copied, two are intersected by a loop of their own.
    """
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
    """Move the parts of a variable behind their present value."""
    for p in range(levels[depth], levels[depth + 1]):
        state[p, POSITION] = state[p, END]


@kernel
def descend(parts: Integers, levels: Integers, state: Integers, depth: int) -> None:
    """Restrict the parts below those of a variable to the facts with its present value.

    The parts of the next variable start at the beginning of their ranges.
    """
    for p in range(levels[depth], levels[depth + 1]):
        after = parts[p, NEXT]
        if after >= 0:
            state[after, LOW], state[after, HIGH] = state[p, POSITION], state[p, END]
    for p in range(levels[depth + 1], levels[depth + 2]):
        state[p, POSITION] = state[p, LOW]
