"""Sides of a hub: where the components of a condensed graph lie, seen from a large one that most of them
reach.

One component may be the *hub*; *side* tells where the others are. What the hub reaches, itself included, is
INSIDE. The row of a component ABOVE the hub leaves out what is inside, since it has all of it. What is BESIDE
reaches something inside, but not the hub; what is APART reaches neither.

A component that was inside, and reaches nothing that was not, is LEFT, or, if it reaches the hub, LEFT_ABOVE:
rows above the hub go on leaving it out, so that they stay as they are, and bit i of reached[c] tells whether
c reaches left[i]. Its own row is whole.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from modulog.kernels.compiled import kernel
from modulog.kernels.intervals import tidy
from modulog.kernels.types import Columns, Integers, Mask

Sides = NDArray[np.int8]
Bits = NDArray[np.uint32]

APART, BESIDE, ABOVE, INSIDE, LEFT, LEFT_ABOVE = 0, 1, 2, 3, 4, 5
"""The sides of a hub; rows above leave out what is INSIDE or beyond."""


@kernel
def side_of(s: int, first: Columns, last: Columns, targets: Columns, side: Sides, hub: int) -> int:
    """On which side of the hub a component is that is not inside, from the sides of its sons."""
    result = APART
    for e in range(first[s], last[s]):
        c = targets[e]
        if c == hub or side[c] == ABOVE or side[c] == LEFT_ABOVE:
            return ABOVE
        if side[c] != APART:
            result = BESIDE
    return result


@kernel
def lost_above(
    fathers: Columns, first: Columns, last: Columns, targets: Columns, side: Sides, hub: int
) -> Mask:
    """Which of some components are held to be above the hub, and have no son any more that is."""
    found = np.zeros(len(fathers), np.bool_)
    for i in range(len(fathers)):
        s = fathers[i]
        found[i] = side[s] == ABOVE and side_of(s, first, last, targets, side, hub) != ABOVE
    return found


@kernel
def spread_above(
    first: Columns,
    last: Columns,
    targets: Columns,
    side: Sides,
    marked: Mask,
    stack: Columns,
    size: int,
    budget: int,
) -> int:
    """Mark the components whose rows depend on those on the stack; ends like `graphs.spread`. The lists are
    those of fathers.

    What is above the hub does not depend on what is inside, or was.
    """
    while size > 0 and budget > 0:
        size -= 1
        v = stack[size]
        budget -= 1 + last[v] - first[v]
        for e in range(first[v], last[v]):
            t = targets[e]
            if not marked[t] and not (side[v] >= INSIDE and side[t] == ABOVE):
                marked[t] = True
                stack[size] = t
                size += 1
    return size


@kernel
def append_left(
    s: int,
    m: int,
    left: Columns,
    reached: Bits,
    block_first: Columns,
    block_last: Columns,
    blocks: Integers,
    row: Integers,
) -> int:
    """Add what s, above the hub, reaches of what left the inside to its row of m intervals; its length
    then.
    """
    n = m
    for i in range(len(left)):
        if reached[s] >> np.uint32(i) & np.uint32(1):
            for j in range(block_first[left[i]], block_last[left[i]]):
                row[n] = blocks[j]
                n += 1
    return n if n == m else tidy(row, n)


@kernel
def spread_bits(
    first: Columns,
    last: Columns,
    targets: Columns,
    reached: Bits,
    waiting: Mask,
    stack: Columns,
    size: int,
    budget: int,
) -> int:
    """Give the bits of the components on the stack, which wait there, to all their fathers; ends like
    `graphs.spread`.
    """
    while size > 0 and budget > 0:
        size -= 1
        v = stack[size]
        waiting[v] = False
        budget -= 1 + last[v] - first[v]
        for e in range(first[v], last[v]):
            t = targets[e]
            if reached[v] & ~reached[t]:
                reached[t] |= reached[v]
                if not waiting[t]:
                    waiting[t] = True
                    stack[size] = t
                    size += 1
    return size


@kernel
def whole_weights(
    components: Columns,
    weights: Columns,
    side: Sides,
    inside: int,
    reached: Bits,
    left_sizes: Columns,
) -> Integers:
    """The weights of the rows of components with what they leave out: what is inside, and what is reached of
    what left, whose sizes are given.
    """
    result = np.empty(len(components), np.int64)
    for i in range(len(components)):
        c = components[i]
        result[i] = weights[c]
        if side[c] == ABOVE:
            result[i] += inside
            for j in range(len(left_sizes)):
                if reached[c] >> np.uint32(j) & np.uint32(1):
                    result[i] += left_sizes[j]
    return result
