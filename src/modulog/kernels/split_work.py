"""Sorting, merging and subtracting packed facts in parts, which threads work on at the same time.

Facts are cut at keys: what lies between two keys is a task of its own, and its result has a place of its own.
So results are those of `sort.py` and `packing.py`, whatever the number of threads (`threads.current`), and no
call of a kernel is long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from modulog.kernels import packing, sort
from modulog.kernels.compiled import kernel
from modulog.kernels.threads import current, for_ranges, ranges, undivided
from modulog.kernels.types import Columns, Integers, Mask, Words

CELLS = 1 << 11
"""Ranges of keys that are counted to find parts of equal size."""

BUCKET = 1 << 18
"""Facts of a part that is sorted at once: both of its arrays fit the cache of a core."""

SHORT = 1 << 15
"""Entries up to which a kernel makes its own result. Of longer arrays NumPy takes larger pages from the
system, which makes the first write to them faster.
"""

LONGEST = 1 << 22
"""Entries that one call of a kernel goes through, a twentieth of a second."""


def _is_short(entries: int) -> bool:
    """Whether to leave it all to one call of a kernel."""
    return entries <= SHORT and undivided(entries)


@kernel
def _count_cells(words: Words, low: int, high: int, least: int, shift: int, counts: Integers) -> None:
    """Count the facts from low to high by the range of keys that the first word lies in."""
    for i in range(low, high):
        counts[(words[0, i] - least) >> shift] += 1


@kernel
def _scatter(
    words: Words, low: int, high: int, least: int, shift: int, part: Integers, at: Integers, result: Words
) -> None:
    """Write each fact from low to high to the next place of its part."""
    for i in range(low, high):
        p = part[(words[0, i] - least) >> shift]
        for w in range(words.shape[0]):
            result[w, at[p]] = words[w, i]
        at[p] += 1


def _parted(words: Words, parts: int) -> tuple[Words, list[int]]:
    """The facts by ranges of keys that are about equally many, and where each range ends; equal facts are in
    one range.
    """
    n, word = words.shape[1], words[0]
    chunks = ranges(n, LONGEST)
    least = min(for_ranges(n, lambda low, high: int(word[low:high].min()), LONGEST))
    span = max(for_ranges(n, lambda low, high: int(word[low:high].max()), LONGEST)) - least
    shift = max(0, span.bit_length() - CELLS.bit_length() + 1)
    counts = np.zeros((len(chunks), CELLS), np.int64)
    current().run(
        [
            partial(_count_cells, words, *chunk, least, shift, row)
            for chunk, row in zip(chunks, counts, strict=True)
        ]
    )
    before = np.cumsum(counts.sum(axis=0)) - counts.sum(axis=0)
    part = np.minimum(before * parts // n, parts - 1)
    sizes = np.zeros((len(chunks), parts), np.int64)
    for c in range(len(chunks)):
        np.add.at(sizes[c], part, counts[c])
    ends = np.cumsum(sizes.sum(axis=0))
    at = (ends - sizes.sum(axis=0)) + np.cumsum(sizes, axis=0) - sizes
    result = np.empty(words.shape, np.int64)
    current().run(
        [
            partial(_scatter, words, *chunk, least, shift, part, row, result)
            for chunk, row in zip(chunks, at, strict=True)
        ]
    )
    return result, ends.tolist()


def _sorted_parts(words: Words, finish: Callable[[Words], Words]) -> list[Words]:
    """The facts sorted, in parts one after the other, each of them finished."""
    n = words.shape[1]
    parts = current().parts(n)
    if n > (sort.PIECE * sort.WORD_PIECE if words.shape[0] == 1 else 2 * BUCKET):  # pays on one thread, too
        parts = max(4 * parts, n // BUCKET)
    if parts == 1:
        return [finish(sort.sort_words(words))]
    parted, ends = _parted(words, parts)
    starts = [0, *ends[:-1]]

    def task(start: int, end: int) -> Words:
        return finish(sort.sort_words(np.ascontiguousarray(parted[:, start:end])))

    return current().run([lambda s=s, e=e: task(s, e) for s, e in zip(starts, ends, strict=True) if s < e])  # type: ignore[misc]


def sort_words(words: Words) -> Words:
    """The facts in lexicographic order, in a new array."""
    if _is_short(words.shape[1]):
        return sort.sort_words(words)
    return concatenate(_sorted_parts(words, lambda part: part))


def sort_distinct(words: Words) -> Words:
    """The facts in lexicographic order, each once, in a new array."""
    if _is_short(words.shape[1]):
        return sort.distinct(sort.sort_words(words))
    return concatenate(_sorted_parts(words, sort.distinct))


@kernel
def _copy(words: Words, low: int, high: int, result: Words, at: int) -> None:
    """Write the facts from low to high to the places from `at` on."""
    for w in range(words.shape[0]):
        source, target = words[w], result[w]
        for i in range(low, high):
            target[at + i - low] = source[i]


def concatenate(parts: Sequence[Words]) -> Words:
    """The facts of all parts, one after the other; the part itself if there is one."""
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([part.shape[1] for part in parts]).tolist()
    if undivided(ends[-1]):
        return np.concatenate(parts, axis=1)
    result = np.empty((parts[0].shape[0], ends[-1]), np.int64)

    def copy(part: Words, low: int, high: int, end: int) -> None:
        _copy(part, low, high, result, end - part.shape[1] + low)

    pieces = [
        (part, low, high, end)
        for part, end in zip(parts, ends, strict=True)
        for low, high in ranges(part.shape[1], LONGEST)
    ]
    current().run([partial(copy, *piece) for piece in pieces])
    return result


# ---- Sorted facts


def is_increasing(words: Words) -> bool:
    """Whether the facts are sorted and all different."""
    n = words.shape[1]
    if _is_short(n):
        return bool(increases(words, 1, n))
    return all(for_ranges(n, lambda low, high: increases(words, max(low, 1), high), LONGEST))


@kernel
def increases(words: Words, low: int, high: int) -> bool:
    """Whether each fact from low to high comes after the one before it."""
    for i in range(low, high):
        if sort.compare(words, i - 1, words, i) >= 0:
            return False
    return True


def merge(a: Words, b: Words) -> Words:
    """Two sorted arrays of facts as one; equal facts stay, those of a first."""
    n, m = a.shape[1], b.shape[1]
    if _is_short(n + m):
        return sort.merge(a, b)
    result = np.empty((a.shape[0], n + m), np.int64)

    def task(low: int, high: int) -> None:
        i, stop = int(_split(a, b, low)), int(_split(a, b, high))
        _merge(a, i, stop, b, low - i, high - stop, result, low)

    for_ranges(n + m, task, LONGEST)
    return result


@kernel
def _split(a: Words, b: Words, total: int) -> int:
    """How many of the first so many facts of both come from a, where equal ones of a come first."""
    low, high = int(max(0, total - b.shape[1])), int(min(total, a.shape[1]))
    while low < high:
        i = (low + high) >> 1  # whether fact i of a is among them: it is unless as many of b come before it
        if sort.compare(b, total - i - 1, a, i) < 0:
            high = i
        else:
            low = i + 1
    return low


@kernel
def _merge(a: Words, i: int, n: int, b: Words, j: int, m: int, result: Words, at: int) -> None:
    """Merge the facts i to n of a with the facts j to m of b into the result, from a place on."""
    if a.shape[0] == 1:
        left, right, out = a[0], b[0], result[0]
        while i < n and j < m:
            if right[j] < left[i]:
                out[at] = right[j]
                j += 1
            else:
                out[at] = left[i]
                i += 1
            at += 1
    else:
        while i < n and j < m:
            first = sort.compare(b, j, a, i) >= 0
            for w in range(a.shape[0]):
                result[w, at] = a[w, i] if first else b[w, j]
            if first:
                i += 1
            else:
                j += 1
            at += 1
    _copy(a, i, n, result, at)
    _copy(b, j, m, result, at + n - i)


def absent(words: Words, others: Words) -> Mask:
    """A mask of the sorted facts that are not among the sorted others."""
    n = words.shape[1]
    result = np.empty(n, np.bool_)
    if _is_short(n):
        _absent(words, 0, n, others, result)
    else:
        for_ranges(n, lambda low, high: _absent(words, low, high, others, result), LONGEST)
    return result


@kernel
def _absent(words: Words, low: int, high: int, others: Words, result: Mask) -> None:
    """Mark the facts from low to high that are not among the others."""
    j, end = 0, others.shape[1]
    if low < high:
        j = sort.first_at_least(others, 0, words, low)
    for i in range(low, high):
        while j < end and sort.compare(others, j, words, i) < 0:
            j += 1
        result[i] = j == end or sort.compare(others, j, words, i) != 0


def select(words: Words, mask: Mask) -> Words:
    """The facts that the mask marks."""
    n = words.shape[1]
    if undivided(n):
        return packing.select_words(words, mask)
    return concatenate(
        for_ranges(
            n,
            lambda low, high: packing.select_words(np.ascontiguousarray(words[:, low:high]), mask[low:high]),
        )
    )


# ---- Columns


def pack(columns: Columns, order: Integers) -> Words:
    """As `packing.pack`."""
    n = columns.shape[1]
    if _is_short(n):
        return packing.pack(columns, order)
    words = np.empty((max(1, (len(order) + 1) // 2), n), np.int64)
    for_ranges(n, lambda low, high: packing.pack_into(columns, order, low, high, words), LONGEST)
    return words


def unpack(words: Words, places: Integers, start: int, stop: int) -> Columns:
    """As `packing.unpack`."""
    if _is_short(stop - start):
        return packing.unpack(words, places, start, stop)
    columns = np.empty((len(places), stop - start), np.int32)

    def task(low: int, high: int) -> None:
        packing.unpack_into(words, places, start + low, start + high, columns, low)

    for_ranges(stop - start, task, LONGEST)
    return columns
