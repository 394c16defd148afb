"""Lists in one pool: list k is numbers[first[k] : last[k]], in ascending order; words are (list, number), list in the upper half."""

from __future__ import annotations

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Columns, Integers, Mask


@kernel
def present(first: Columns, last: Columns, numbers: Columns, words: Integers) -> Mask:
    """Which of the words are in their lists; a list that does not exist has nothing."""
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
    """The lists that hold other numbers than those of the same key beside them; in a shared pool what lies at the same place is the same."""
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
    """The lists that sorted words speak of, and how long they are together."""
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
    """The lists that get numbers, which are sorted words and not there yet: their names, where each starts, the numbers."""
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
    """The lists that lose numbers, which are sorted words and there: their names, where each starts, the numbers."""
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
