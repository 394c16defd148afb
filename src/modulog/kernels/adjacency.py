"""Many ascending lists of numbers in one array: list k is `numbers[first[k]:last[k]]`.

Pairs (list, number) are passed as sorted words, with the list in the upper half.
"""

from __future__ import annotations

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Columns, Integers, Mask


@kernel
def present(first: Columns, last: Columns, numbers: Columns, words: Integers) -> Mask:
    """Which of the words are in their lists. Bisection: O(log of the list) for each word."""
    result = np.zeros(len(words), np.bool_)
    for i in range(len(words)):
        key, number = words[i] >> 32, words[i] & 0xFFFFFFFF
        if key >= len(first):
            continue
        low, high = int(first[key]), int(last[key])
        end = high
        while low < high:
            middle = (low + high) >> 1
            if numbers[middle] < number:
                low = middle + 1
            else:
                high = middle
        result[i] = low < end and numbers[low] == number
    return result


@kernel
def differing(
    first: Columns,
    last: Columns,
    numbers: Columns,
    other_first: Columns,
    other_last: Columns,
    other_numbers: Columns,
    shared: bool,
) -> Columns:
    """The lists that differ from the list with the same name in another array of lists.

    `shared` says that both have the same array of numbers, so that lists at the same place are equal.
    O(numbers).
    """
    found, m = np.empty(len(first), np.int32), 0
    for k in range(len(first)):
        start, length = int(first[k]), int(last[k] - first[k])
        there, other = 0, 0
        if k < len(other_first):
            there, other = int(other_first[k]), int(other_last[k] - other_first[k])
        same = length == other
        if same and not (shared and start == there):
            for i in range(length):
                if numbers[start + i] != other_numbers[there + i]:
                    same = False
                    break
        if not same:
            found[m] = k
            m += 1
    return found[:m]


@kernel
def _grouped(first: Columns, last: Columns, words: Integers) -> tuple[Columns, int]:
    """The lists that sorted words belong to, and how many numbers these lists have together."""
    keys, m, room = np.empty(len(words), np.int32), 0, 0
    for i in range(len(words)):
        key = words[i] >> 32
        if i == 0 or key != words[i - 1] >> 32:
            keys[m] = key
            m += 1
            if key < len(first):
                room += last[key] - first[key]
    return keys[:m].copy(), room


@kernel
def with_more(
    first: Columns, last: Columns, numbers: Columns, words: Integers
) -> tuple[Columns, Columns, Columns]:
    """The lists that get the numbers of some words: their names, starts, and all their numbers.

    None of the lists has its new numbers already. A merge for each list: O(words + numbers of these lists).
    """
    keys, room = _grouped(first, last, words)
    starts, result = np.zeros(len(keys) + 1, np.int32), np.empty(room + len(words), np.int32)
    w, o = 0, 0
    for k in range(len(keys)):
        key = keys[k]
        low, high = 0, 0
        if key < len(first):
            low, high = int(first[key]), int(last[key])
        while low < high or (w < len(words) and words[w] >> 32 == key):
            if w < len(words) and words[w] >> 32 == key:
                number = words[w] & 0xFFFFFFFF
                if low == high or number < numbers[low]:
                    result[o] = number
                    w += 1
                    o += 1
                    continue
            result[o] = numbers[low]
            low += 1
            o += 1
        starts[k + 1] = o
    return keys, starts, result


@kernel
def with_fewer(
    first: Columns, last: Columns, numbers: Columns, words: Integers
) -> tuple[Columns, Columns, Columns]:
    """The lists that lose the numbers of some words: their names, starts, and the numbers that are left.

    The lists have all of these numbers. O(words + numbers of these lists).
    """
    keys, room = _grouped(first, last, words)
    starts, result = np.zeros(len(keys) + 1, np.int32), np.empty(room - len(words), np.int32)
    w, o = 0, 0
    for k in range(len(keys)):
        for i in range(first[keys[k]], last[keys[k]]):
            if w < len(words) and words[w] >> 32 == keys[k] and words[w] & 0xFFFFFFFF == numbers[i]:
                w += 1
            else:
                result[o] = numbers[i]
                o += 1
        starts[k + 1] = o
    return keys, starts, result
