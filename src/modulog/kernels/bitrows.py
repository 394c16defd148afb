"""Rows as bits: all rows of a small condensed graph, or the weights of rows of a large one, 512 targets at a
time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Columns, Integers, ListArrays, Mask

BLOCK = 8
"""Words of bits that `count_block` handles at a time."""

Bits = NDArray[np.uint64]


class BitGraph(NamedTuple):
    """A condensed graph: the sons and the nodes of each component, which reach themselves, which have one
    node.
    """

    sons: ListArrays
    members: ListArrays
    loops: Mask
    single: Bits


@kernel
def ones(word: np.uint64) -> int:
    """How many bits are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def weigh(word: np.uint64, single: np.uint64, bit: int, member_first: Columns, member_last: Columns) -> int:
    """The weight of the components whose bits are set; `single` marks those of one node, `bit` is the number
    of bit 0.
    """
    total = ones(word & single)
    rest = word & ~single
    while rest != np.uint64(0):
        lowest = rest & (~rest + np.uint64(1))
        c = bit + ones(lowest - np.uint64(1))
        total += member_last[c] - member_first[c]
        rest = rest & (rest - np.uint64(1))
    return total


@kernel
def single_bits(member_first: Columns, member_last: Columns, words: int) -> Bits:
    """One bit for each component that has one node."""
    result = np.zeros(words, np.uint64)
    for c in range(len(member_first)):
        if member_last[c] - member_first[c] == 1:
            result[c >> 6] |= np.uint64(1) << np.uint64(c & 63)
    return result


@kernel
def fill_rows(
    order: Columns,
    position: int,
    end: int,
    graph: BitGraph,
    bits: Bits,
    counts: Columns,
) -> None:
    """The rows and their weights of components in an order with sons before fathers."""
    first, last, targets = graph.sons
    member_first, member_last, _ = graph.members
    loops, single = graph.loops, graph.single
    words = bits.shape[1]
    for i in range(position, end):
        s = order[i]
        row = bits[s]
        row[:] = np.uint64(0)
        for e in range(first[s], last[s]):
            c = targets[e]
            bit = np.uint64(1) << np.uint64(c & 63)
            if row[c >> 6] & bit:
                continue
            son = bits[c]
            for w in range(words):
                row[w] |= son[w]
            row[c >> 6] |= bit
        if loops[s]:
            row[s >> 6] |= np.uint64(1) << np.uint64(s & 63)
        count = 0
        for w in range(words):
            if row[w] != np.uint64(0):
                count += weigh(row[w], single[w], w << 6, member_first, member_last)
        counts[s] = count


@kernel
def count_block(
    order: Columns,
    position: int,
    end: int,
    graph: BitGraph,
    least: int,
    bits: Bits,
    counts: Columns,
) -> None:
    """Add the weight of what each component reaches among the 512 numbers from `least` on."""
    first, last, targets = graph.sons
    member_first, member_last, _ = graph.members
    loops, single = graph.loops, graph.single
    for i in range(position, end):
        s = int(order[i])
        row = bits[s]
        row[:] = np.uint64(0)
        for e in range(first[s], last[s]):
            c = int(targets[e])
            son = bits[c]
            for w in range(BLOCK):
                row[w] |= son[w]
            if least <= c < least + 64 * BLOCK:
                row[(c - least) >> 6] |= np.uint64(1) << np.uint64((c - least) & 63)
        if loops[s] and least <= s < least + 64 * BLOCK:
            row[(s - least) >> 6] |= np.uint64(1) << np.uint64((s - least) & 63)
        count = 0
        for w in range(BLOCK):
            if row[w] != np.uint64(0):
                count += weigh(row[w], single[(least >> 6) + w], least + (w << 6), member_first, member_last)
        counts[s] += count


@kernel
def read_bits(
    components: Columns,
    at: int,
    lists: ListArrays,
    bits: Bits,
    counts: Columns,
    out: Columns,
    ends: Integers,
) -> tuple[int, int]:
    """Write the nodes in the rows of components[at], … and where each row ends; how far it came, and the room
    the next row needs, or 0.
    """
    member_first, member_last, members = lists
    filled = ends[at - 1] if at > 0 else 0
    while at < len(components):
        s = components[at]
        if filled + counts[s] > len(out):
            return at, counts[s]
        for w in range(bits.shape[1]):
            rest = bits[s, w]
            while rest != np.uint64(0):
                c = (w << 6) + ones((rest & (~rest + np.uint64(1))) - np.uint64(1))
                for i in range(member_first[c], member_last[c]):
                    out[filled] = members[i]
                    filled += 1
                rest = rest & (rest - np.uint64(1))
        ends[at] = filled
        at += 1
    return at, 0


@kernel
def in_bits(sources: Columns, sons: Columns, bits: Bits) -> Mask:
    """Whether sons[i] is in the row of sources[i]."""
    result = np.zeros(len(sources), np.bool_)
    for i in range(len(sources)):
        c = sons[i]
        result[i] = (bits[sources[i], c >> 6] >> np.uint64(c & 63)) & np.uint64(1) != np.uint64(0)
    return result
