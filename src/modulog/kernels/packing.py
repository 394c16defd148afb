"""Columns of ids to words and back. Every kernel is one pass for each column, O(rows)."""

from __future__ import annotations

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Columns, Integers, Words


@kernel
def pack(columns: Columns, order: Integers) -> Words:
    """The words of the facts whose argument j is column order[j]; an empty order gives one zero word."""
    words = np.empty((max(1, (len(order) + 1) // 2), columns.shape[1]), np.int64)
    pack_into(columns, order, 0, columns.shape[1], words)
    return words


@kernel
def pack_into(columns: Columns, order: Integers, start: int, stop: int, words: Words) -> None:
    """Write the words of the facts start to stop."""
    for w in range(len(order) // 2):
        upper, lower, packed = columns[order[2 * w]], columns[order[2 * w + 1]], words[w]
        for i in range(start, stop):
            packed[i] = (int(upper[i]) << 32) | int(lower[i])
    if len(order) % 2 == 1:
        last, packed = columns[order[-1]], words[len(order) // 2]
        for i in range(start, stop):
            packed[i] = int(last[i]) << 32
    if len(order) == 0:
        words[0, start:stop] = 0


@kernel
def unpack(words: Words, places: Integers, start: int, stop: int) -> Columns:
    """The arguments at some places of the facts from `start` to `stop`, a column for each place."""
    columns = np.empty((len(places), stop - start), np.int32)
    unpack_into(words, places, start, stop, columns, 0)
    return columns


@kernel
def unpack_into(words: Words, places: Integers, start: int, stop: int, columns: Columns, at: int) -> None:
    """Write the arguments of facts start to stop into the columns, from a place on."""
    shift = at - start
    for j in range(len(places)):
        word, column = words[places[j] // 2], columns[j]
        if places[j] % 2 == 0:
            for i in range(start, stop):
                column[i + shift] = np.int32(word[i] >> 32)
        else:
            for i in range(start, stop):
                column[i + shift] = np.int32(word[i] & 0xFFFFFFFF)


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
    """The columns keep[0], keep[1], … of the rows that the mask has."""
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
    """The facts that the mask has."""
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
