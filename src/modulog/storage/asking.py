"""Questions about some ids to any set of pairs: how many pairs have each, which of them occur at all."""

from __future__ import annotations

import numpy as np

from modulog.kernels.types import Columns, Integers, Mask
from modulog.storage.delta import Change
from modulog.storage.linear import Seeded
from modulog.storage.lists import among, distinct
from modulog.storage.pairs import (
    NO_IDS,
    BothWays,
    Nothing,
    Pairs,
    Selected,
    Together,
    Turned,
    added_up,
)
from modulog.storage.state import State
from modulog.storage.union_change import Difference, touched_ids

FEW = 256
"""Ids that are searched one by one rather than by counting everything."""


def spread(pairs: Pairs, column: int) -> float:
    """About how many different ids there are in a column; nothing is read."""
    match pairs:
        case Together():
            return sum(spread(part, column) for part in pairs.parts)
        case Selected():
            return spread(pairs.pairs, column)
        case Turned():
            return spread(pairs.pairs, 1 - column)
        case State() | BothWays() | Nothing():
            return float(len(pairs.distinct(column)))
        case Change() if column == 0:
            return float(len(pairs.nodes))
    return float(np.sqrt(pairs.count()))


def sizes(pairs: Pairs, ids: Columns, column: int) -> Integers:
    """How many pairs have each of the ids in a column."""
    if isinstance(pairs, Turned):
        return sizes(pairs.pairs, ids, 1 - column)
    if isinstance(pairs, State):
        counted = (pairs.back if column else pairs.rows).counted
        if counted or len(ids) > FEW:
            return pairs.row_sizes(pairs.nodes.find(ids), column)
    if isinstance(pairs, BothWays) and len(ids) > FEW:
        return pairs.sizes(ids)
    if isinstance(pairs, Together):
        total: Integers = np.sum([sizes(part, ids, column) for part in pairs.apart()], axis=0)
        return total
    values, counts = _counted(pairs, ids, column)
    if not len(values):
        return np.zeros(len(ids), np.int64)
    places = np.minimum(np.searchsorted(values, ids), len(values) - 1)
    return np.where(values[places] == ids, counts[places], 0)


def _counted(pairs: Pairs, ids: Columns, column: int) -> tuple[Columns, Integers]:
    """Sorted ids with their counts: of all pairs, or by reading only those that have one of a few ids."""
    if len(ids) > FEW and not isinstance(pairs, Selected):
        values, counts = pairs.count_by(column)
        order = np.argsort(values, kind="stable")
        return values[order], counts[order]
    asked = distinct(ids)
    pieces = pairs.scan(None, asked) if column else pairs.scan(asked)
    return added_up(piece[column] for piece in pieces)


def touched(pairs: Pairs, ids: Columns, column: int) -> Mask:
    """Which of the ids some pair has in a column."""
    if not len(ids):
        return np.zeros(0, np.bool_)
    if isinstance(pairs, Turned):
        return touched(pairs.pairs, ids, 1 - column)
    if isinstance(pairs, Together):
        result = np.zeros(len(ids), np.bool_)
        for part in pairs.parts:
            rest = np.flatnonzero(~result)
            result[rest] = touched(part, ids[rest], column)
        return result
    if isinstance(pairs, Difference):
        result = among(ids, touched_ids(pairs, column))
        result[result] = _really_touched(pairs, ids[result], column)
        return result
    return _really_touched(pairs, ids, column)


def _really_touched(pairs: Pairs, ids: Columns, column: int) -> Mask:
    several = isinstance(pairs, Difference | Seeded) and len(ids) > FEW
    if several or isinstance(pairs, State | Change | BothWays):
        return among(ids, pairs.distinct(column))
    asked = distinct(ids)
    found = [NO_IDS]
    for piece in pairs.scan(None, asked) if column else pairs.scan(asked):
        found.append(distinct(piece[column]))
    return among(ids, np.concatenate(found))
