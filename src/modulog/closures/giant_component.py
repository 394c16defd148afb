"""The hub: a large component that most others reach, so that their rows need not repeat what it reaches.

The graphs of categories that people make have a giant component; a row is then mostly that component and what
it reaches (what is *inside*). Rows above the hub leave this out. They are short, and when an edge inside goes
or comes, they stay as they are, though every one of them has changed. They stay also when a component *left*
the inside: beside each row bits tell which of these few it reaches. Only where a node enters the inside that
the rows have known outside, where too many have left, or where what left comes to reach something new, the
rows that reach such a node are *forced* to be computed again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modulog.closures.condensation import Condensation, marked_from
from modulog.closures.edges import Edges
from modulog.closures.shared_lists import Lists, distinct
from modulog.kernels import giant_component_rows as kernels
from modulog.kernels import intervals
from modulog.kernels.giant_component_rows import ABOVE, APART, BESIDE, INSIDE, LEFT, LEFT_ABOVE, Bits, Sides
from modulog.kernels.types import Columns, Integers, Mask

MEMBERS = 64
"""A hub has at least so many members."""

REST = 4.0
"""What a hub reaches has at most so many nodes for each of its members."""

SHARE = 8
"""More than one component in so many reaches a hub, itself counted, and at least one other does."""


MOST_LEFT = 32
"""Components that may have left the inside before rows are computed again: each has a bit."""

STEPS = 1 << 24
"""Edges looked at in one kernel call."""

NONE = np.empty(0, np.int32)


class Hub(NamedTuple):
    """A hub: its component, or -1; the sides of all; the positions of what is inside, as intervals, and its
    weight; what left the inside, and who reaches it.
    """

    component: int
    side: Sides
    inside: Integers
    weight: int
    left: Columns = NONE
    left_nodes: Columns = NONE
    reached: Bits = np.empty(0, np.uint32)


class Followed(NamedTuple):
    """A hub after a change; the components whose rows must be computed again; and those that reach, or did, a
    node that left the inside or entered it.
    """

    hub: Hub
    forced: Columns
    touched: Columns


def no_hub(size: int) -> Hub:
    """There is no hub among so many components."""
    return Hub(-1, np.zeros(size, np.int8), np.empty(0, np.int64), 0)


def choose(graph: Condensation, sons: Lists, fathers: Lists) -> Hub:
    """The hub of a graph in one direction, if it has one."""
    if not graph.size:
        return no_hub(0)
    sizes = graph.sizes
    c = int(np.argmax(sizes))
    if sizes[c] < MEMBERS:
        return no_hub(graph.size)
    inside = _from(sons, c)
    above = _from(fathers, c)
    if not _suits(sizes, c, inside) or np.count_nonzero(above) <= max(1, graph.size // SHARE):
        return no_hub(graph.size)
    beside = inside.copy()
    beside[c] = False
    side = np.where(marked_from(fathers, beside), BESIDE, APART).astype(np.int8)
    side[above] = ABOVE
    side[inside] = INSIDE
    return _hub(graph, c, inside, side)


def follow(old: Hub, before: Condensation, graph: Condensation, edges: Edges) -> Followed | None:
    """The hub after a change that made one graph of another; None if it is a hub no longer."""
    side = np.zeros(graph.size, np.int8)
    if old.component < 0:
        return Followed(old._replace(side=side), NONE, NONE)
    side[: before.size] = old.side
    parts, sizes = np.unique(graph.component[before.members_of(old.component)], return_counts=True)
    c = int(parts[np.argmax(sizes)])
    inside = _from(graph.down, c)
    if not _suits(graph.sizes, c, inside) or 2 * sizes.max() < sizes.sum():
        return None
    now, was = inside[graph.component], np.zeros(edges.n, np.bool_)
    was[: len(before.component)] = (old.side == INSIDE)[before.component]
    moved = np.flatnonzero(now ^ was).astype(np.int32)
    was[old.left_nodes] = True  # what no row above has
    left_nodes, coming = (np.flatnonzero(which).astype(np.int32) for which in (was & ~now, now & ~was))
    left = distinct(graph.component[left_nodes])
    left_sides = _sides_of(graph, left, len(left_nodes), inside, c)
    side[((side == INSIDE) & ~inside) | (side >= LEFT)] = APART
    side[inside] = INSIDE
    if left_sides is None:
        coming, left, left_nodes = np.concatenate([coming, left_nodes]), NONE, NONE
    else:
        side[left] = left_sides
    hub = _hub(graph, c, inside, side)._replace(
        left=left, left_nodes=left_nodes, reached=_reaching_left(graph, left)
    )
    fathers = graph.up.gathered(left[side[left] == LEFT])[1]
    lost = fathers[kernels.lost_above(fathers, *graph.down.arrays, side, c)]
    forced, touched = (_reaching(nodes, graph, edges, inside) for nodes in (coming, moved))
    touched = np.concatenate([touched, _reaching_otherwise(old, before, hub, graph)])
    return Followed(hub, np.concatenate([forced, lost]), touched)


def _sides_of(graph: Condensation, left: Columns, nodes: int, inside: Mask, hub: int) -> Sides | None:
    """On which side each component is of those that left; None if bits cannot tell: they are many, or have,
    or reach, what was never inside.
    """
    if len(left) > MOST_LEFT or graph.sizes[left].sum() != nodes:
        return None
    known, result = inside.copy(), np.full(len(left), LEFT, np.int8)
    known[left] = True
    for place, x in enumerate(left.tolist()):
        reached = _from(graph.down, x)
        if (reached & ~known).any():
            return None
        if reached[hub]:
            result[place] = LEFT_ABOVE
    return result


def _reaching(nodes: Columns, graph: Condensation, edges: Edges, inside: Mask) -> Columns:
    """The components outside that reach nodes."""
    if not len(nodes):
        return NONE
    start = np.zeros(graph.size, np.bool_)
    start[graph.component[nodes]] = True
    start[graph.component[edges.into.gathered(nodes)[1]]] = True
    start &= ~inside
    return np.flatnonzero(marked_from(graph.up, start)).astype(np.int32)


def _reaching_otherwise(old: Hub, before: Condensation, hub: Hub, graph: Condensation) -> Columns:
    """The components that reach other nodes than before of those that had left and are still out; without
    bits now, whoever reached one.
    """
    if not len(hub.left):
        return np.flatnonzero(old.reached).astype(np.int32)
    stayed = np.intersect1d(old.left_nodes, hub.left_nodes, assume_unique=True)
    bits = (
        np.searchsorted(old.left, before.component[stayed]),
        np.searchsorted(hub.left, graph.component[stayed]),
    )
    differing = np.zeros(before.size, np.bool_)
    for was, now in set(zip(*(b.tolist() for b in bits), strict=True)):
        differing |= (
            (old.reached >> np.uint32(was)) ^ (hub.reached[: before.size] >> np.uint32(now))
        ) & np.uint32(1) > 0
    return np.flatnonzero(differing).astype(np.int32)


def _reaching_left(graph: Condensation, left: Columns) -> Bits:
    """For each component the bits of those that it reaches of what left; nothing if none did."""
    reached = np.zeros(graph.size if len(left) else 0, np.uint32)
    if len(left):
        reached[left] = np.uint32(1) << np.arange(len(left), dtype=np.uint32)
        stack, waiting = np.empty(graph.size, np.int32), np.zeros(graph.size, np.bool_)
        stack[: len(left)], waiting[left], size = left, True, len(left)
        while size:
            size = kernels.spread_bits(*graph.up.arrays, reached, waiting, stack, size, STEPS)
    return reached


def _from(graph: Lists, c: int) -> Mask:
    start = np.zeros(len(graph), np.bool_)
    start[c] = True
    return marked_from(graph, start)


def _suits(sizes: Columns, c: int, inside: Mask) -> bool:
    return bool(sizes[inside].sum() <= (1 + REST) * sizes[c])


def _hub(graph: Condensation, c: int, inside: Mask, side: Sides) -> Hub:
    _, words = graph.blocks.gathered(np.flatnonzero(inside).astype(np.int32))
    count = intervals.tidy(words, len(words))
    return Hub(c, side, words[:count], intervals.weight_of(words, count))
