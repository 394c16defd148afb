"""The worst-case optimal join of `intersect.py`, with a loop of its own for the two innermost variables y and
z, where an atom leads from y to z.

All other lists of y and of z are known once the variables before them are bound. What they have in common is
found once; the values of z are marked in a bitmap, and for each y the atom's list of z is scanned against it.
Lists much longer than the marked one are leapt through instead: no step is made that the marked values do not
pay for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.intersect import (
    AT,
    BASE,
    BUCKET,
    COUNT,
    DEPTH,
    HALF,
    INNER,
    NEXT,
    SINGLE,
    TABLE,
    WORD,
    agree,
    all_common,
    descend,
    gallop,
    step_over,
)
from modulog.kernels.types import Columns, Integers

SKEW = 8  # a list this much longer than the marked one is leapt through, not scanned


class Indexes(NamedTuple):
    """The sorted facts of all atoms, their tables of buckets, the parts of the atoms; variable d has parts
    levels[d] to levels[d + 1].
    """

    words: tuple[Integers, ...]
    tables: tuple[Columns, ...]
    parts: Integers
    levels: Integers


class Progress(NamedTuple):
    """Where a join stands: the range of each part, the cursor, and the values of the variables so far."""

    state: Integers
    cursor: Integers
    values: Columns


class Output(NamedTuple):
    """Rows to be filled, and how many matches each stands for."""

    rows: Columns
    weights: Integers


class Atom(NamedTuple):
    """The sorted facts of one atom, the table of their buckets, and the part that reads their first
    argument.
    """

    word: Integers
    table: Columns
    part: Integers


class Common(NamedTuple):
    """What all other lists of y have in common, and those of z, whose bits are set."""

    ys: Columns
    zs: Columns
    bits: np.ndarray


@kernel
def closes(parts: Integers, levels: Integers) -> bool:
    """Whether one atom leads from the last but one variable to the last, both have other lists, and each
    value of these is one fact.
    """
    last = len(levels) - 2
    if last < 1:
        return False
    source, target = levels[last] - 1, levels[last + 1] - 1
    if parts[source, NEXT] != target or parts[source, TABLE] < 0 or not parts[target, SINGLE]:
        return False
    found = bool(levels[last - 1] < source and levels[last] < target)
    for p in range(levels[last - 1], target):
        if p != source and not parts[p, SINGLE]:
            found = False
    return found


@kernel
def facts_of(word: Integers, table: Columns, part: Integers, key: int) -> tuple[int, int]:
    """The range of the facts that begin with a key."""
    bucket = (key - part[BASE]) >> part[BUCKET]
    if bucket < 0 or bucket >= len(table) - 1:
        return 0, 0
    low, high = int(table[bucket]), int(table[bucket + 1])
    if part[BUCKET] > 0:
        low = gallop(word, low, high, key << 32)
        high = gallop(word, low, high, (key + 1) << 32)
    return low, high


@kernel
def mark(values: Columns, bits: np.ndarray) -> None:
    """Turn the bits of the values."""
    for i in range(len(values)):
        x = np.int64(values[i])
        bits[x >> 6] ^= np.uint64(1) << np.uint64(x & 63)


@kernel
def close(
    common: Common,
    atom: Atom,
    progress: Progress,
    keep: int,
    counting: bool,
    output: Output,
    o: int,
    budget: int,
) -> tuple[int, int]:
    """The pairs of y and z that the atom holds, z being marked in the bitmap; returns the rows filled so far
    and the leaps made.

    Ends when rows are full or the budget is spent, after one y at least, with the cursor's INNER at the next
    y, and AT inside its list or -1; INNER is -1 if all is done.
    """
    ys, zs, bits = common
    word, table, part = atom
    cursor, values = progress.cursor, progress.values
    rows, weights = output
    last, limit, leaps = len(values) - 1, rows.shape[1], 0
    n, at, count = cursor[INNER], cursor[AT], cursor[COUNT]
    everything = keep > last
    while n < len(ys) and o < limit and (leaps == 0 or leaps < budget):
        y = int(ys[n])
        low, high = facts_of(word, table, part, y)
        low = max(low, at)
        scanned, k = high - low <= SKEW * len(zs), 0
        leaps += min(high - low, len(zs)) + 1
        while low < high and (scanned or k < len(zs)):
            z, hit = 0, False
            if scanned:
                while low < high and not hit:
                    z = word[low] & HALF
                    hit = (bits[z >> 6] >> np.uint64(z & 63)) & np.uint64(1) != 0
                    low += 1
            else:
                z = int(zs[k])
                low, k = gallop(word, low, high, (y << 32) | z), k + 1
                hit = low < high and word[low] & HALF == z
                low += hit
            if not hit:
                continue
            if not everything:
                count += 1
                if not counting:
                    break
                continue
            for d in range(last - 1):
                rows[d, o] = values[d]
            rows[last - 1, o], rows[last, o], weights[o] = y, z, 1
            o += 1
            if o == limit:
                break
        if everything and o == limit:
            cursor[INNER], cursor[AT] = n, low
            return o, leaps
        n, at = n + 1, -1
        if keep == last and count > 0:
            for d in range(last - 1):
                rows[d, o] = values[d]
            rows[last - 1, o], weights[o] = y, count
            o, count = o + 1, 0
        if count > 0 and not counting:
            n = len(ys)
    cursor[INNER], cursor[AT], cursor[COUNT] = n if n < len(ys) else -1, -1, count
    return o, leaps


@kernel
def intersect(
    indexes: Indexes,
    progress: Progress,
    bits: np.ndarray,
    keep: int,
    counting: bool,
    output: Output,
    budget: int,
) -> int:
    """Fill rows with the first `keep` variables of the next matches; returns how many, and the cursor's depth
    is -1 after the last.

    The parts of variable d are levels[d] to levels[d + 1]. A row stands for all matches of the other
    variables: `counting` puts their number into weights, otherwise the first suffices. `bits` has a bit for
    each id that the last variable can have, or is empty: then nothing is marked.
    """
    words, tables, parts, levels = indexes
    state, cursor, values = progress
    rows, weights = output
    depth, last, o, limit = cursor[DEPTH], len(levels) - 2, 0, rows.shape[1]
    closing = len(bits) > 0 and closes(parts, levels)
    while depth >= 0 and o < limit and budget > 0:
        first, stop = levels[depth], levels[depth + 1]
        if closing and depth == last - 1:
            source, target = stop - 1, levels[last + 1] - 1
            ys, leaps = all_common(words, tables, parts, state, first, source)
            budget -= leaps
            cursor[INNER] = max(cursor[INNER], 0)
            if len(ys):
                zs, leaps = all_common(words, tables, parts, state, stop, target)
                mark(zs, bits)
                atom = Atom(words[parts[source, WORD]], tables[parts[source, TABLE]], parts[source])
                o, more = close(Common(ys, zs, bits), atom, progress, keep, counting, output, o, budget)
                mark(zs, bits)
                budget -= leaps + more
                if cursor[INNER] >= 0:
                    continue
            cursor[INNER] = -1
            found = cursor[COUNT] > 0 and not counting
            depth = keep - 1 if found else depth - 1
        else:
            key, leaps = agree(words, tables, parts, state, first, stop)
            budget -= leaps
            if key >= 0:
                values[depth] = key
                if depth < last:
                    descend(parts, levels, state, depth)
                    depth += 1
                    continue
                cursor[COUNT] += 1
                depth = depth if counting else min(keep - 1, depth)
            else:
                depth -= 1
        if depth >= 0:
            step_over(levels, state, depth)
        if cursor[COUNT] > 0 and depth < keep:
            for d in range(keep):
                rows[d, o] = values[d]
            weights[o] = cursor[COUNT]
            o, cursor[COUNT] = o + 1, 0
    cursor[DEPTH] = depth
    return o
