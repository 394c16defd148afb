"""The hub: a large component that most others reach, so that their rows need not repeat what it reaches.

The graphs of categories that people make have a giant component; a row is then mostly that component and what it reaches (what is *inside*). Rows above the hub leave
this out. They are short, and when an edge inside goes or comes, they stay as they are, though every one of them has changed: only where a node left the inside, or
entered it, the rows that reach this node otherwise are *forced* to be computed again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modulog.kernels import intervals
from modulog.kernels.rows import ABOVE, APART, BESIDE, INSIDE, Sides
from modulog.kernels.types import Columns, Integers, Mask
from modulog.storage.condensation import Condensation, marked_from
from modulog.storage.edges import Edges
from modulog.storage.lists import Lists

MEMBERS = 64
"""A hub has at least so many members."""

REST = 4.0
"""What a hub reaches has at most so many nodes for each of its members."""

SHARE = 8
"""At least one component in so many reaches a hub."""


class Hub(NamedTuple):
    """A hub: its component, or -1; the sides of all; the positions of what is inside, as intervals, and its weight."""

    component: int
    side: Sides
    inside: Integers
    weight: int


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
    if not _suits(sizes, c, inside) or np.count_nonzero(above) * SHARE <= graph.size:
        return no_hub(graph.size)
    beside = inside.copy()
    beside[c] = False
    side = np.where(marked_from(fathers, beside), BESIDE, APART).astype(np.int8)
    side[above] = ABOVE
    side[inside] = INSIDE
    return _hub(graph, c, inside, side)


def follow(
    old: Hub, before: Condensation, graph: Condensation, edges: Edges
) -> tuple[Hub, Columns | None] | None:
    """The hub after a change that made one graph of another, and what is forced; None if it is a hub no longer."""
    side = np.zeros(graph.size, np.int8)
    if old.component < 0:
        return old._replace(side=side), None
    side[: before.size] = old.side
    parts, sizes = np.unique(graph.component[before.members_of(old.component)], return_counts=True)
    c = int(parts[np.argmax(sizes)])
    inside = _from(graph.down, c)
    if not _suits(graph.sizes, c, inside) or 2 * sizes.max() < sizes.sum():
        return None
    side[(side == INSIDE) & ~inside] = APART
    side[inside] = INSIDE
    return _hub(graph, c, inside, side), _forced(old, before, graph, edges, inside)


def _forced(
    old: Hub, before: Condensation, graph: Condensation, edges: Edges, inside: Mask
) -> Columns | None:
    """The components outside that reach, or did, a node that left the inside or entered it."""
    moved = inside[graph.component]
    moved[: len(before.component)] ^= (old.side == INSIDE)[before.component]
    nodes = np.flatnonzero(moved).astype(np.int32)
    if not len(nodes):
        return None
    start = np.zeros(graph.size, np.bool_)
    start[graph.component[nodes]] = True
    start[graph.component[edges.into.gathered(nodes)[1]]] = True
    start &= ~inside
    return np.flatnonzero(marked_from(graph.up, start)).astype(np.int32)


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
