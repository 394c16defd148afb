"""Columns of ids to words and back."""

from __future__ import annotations

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Columns, Integers, Words


@kernel
def pack(columns: Columns, order: Integers) -> Words:
    """The words of the facts whose argument j is column order[j]; an empty order gives one zero word."""
    n = columns.shape[1]
    words = np.zeros((max(1, (len(order) + 1) // 2), n), np.int64)
    for w in range(len(order) // 2):
        upper, lower, packed = columns[order[2 * w]], columns[order[2 * w + 1]], words[w]
        for i in range(n):
            packed[i] = (int(upper[i]) << 32) | int(lower[i])
    if len(order) % 2 == 1:
        last, packed = columns[order[-1]], words[len(order) // 2]
        for i in range(n):
            packed[i] = int(last[i]) << 32
    return words


@kernel
def unpack(words: Words, places: Integers, start: int, stop: int) -> Columns:
    """Columns of the arguments at the given places, for facts start to stop."""
    columns = np.empty((len(places), stop - start), np.int32)
    for j in range(len(places)):
        word, column = words[places[j] // 2], columns[j]
        if places[j] % 2 == 0:
            for i in range(start, stop):
                column[i - start] = np.int32(word[i] >> 32)
        else:
            for i in range(start, stop):
                column[i - start] = np.int32(word[i] & 0xFFFFFFFF)
    return columns


@kernel
def ranges(columns: Columns) -> tuple[Integers, Integers]:
    """The least and the greatest id of each column."""
    least = np.empty(columns.shape[0], np.int64)
    greatest = np.empty(columns.shape[0], np.int64)
    for j in range(columns.shape[0]):
        column = columns[j]
        low, high = int(column[0]), int(column[0])
        for i in range(len(column)):
            low, high = min(low, int(column[i])), max(high, int(column[i]))
        least[j], greatest[j] = low, high
    return least, greatest


@kernel
def select(columns: Columns, keep: Integers, mask: np.ndarray) -> Columns:
    """The columns keep[0], keep[1], … of the rows that the mask marks."""
    n = 0
    for i in range(len(mask)):
        n += mask[i]
    result = np.empty((len(keep), n), np.int32)
    for j in range(len(keep)):
        source, target, o = columns[keep[j]], result[j], 0
        for i in range(len(mask)):
            if mask[i]:
                target[o] = source[i]
                o += 1
    return result


@kernel
def select_words(words: Words, mask: np.ndarray) -> Words:
    """The facts that the mask marks."""
    n = 0
    for i in range(len(mask)):
        n += mask[i]
    result = np.empty((words.shape[0], n), np.int64)
    for w in range(words.shape[0]):
        source, target, o = words[w], result[w], 0
        for i in range(len(mask)):
            if mask[i]:
                target[o] = source[i]
                o += 1
    return result
