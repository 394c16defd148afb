"""Connected components as tables, and the pairs that tell two partitions apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from modulog.engines.protocol import Engine, Expr, Table
from modulog.terms.arrow import unwrap


def components_of(engine: Engine, edges: Expr) -> Table:
    """Members x and their component c, which is named by one of its members."""
    return engine.components(edges)


def moved_pairs(engine: Engine, these: Table, those: Table) -> tuple[Table, Table]:
    """The pairs that are together in these components, but not in those: groups (x, g), and the pairs (g, h) of groups.

    A group is a set of nodes that neither partition takes apart. A node that those components lack is not even together with itself.
    """
    nodes, here = labels_of(these)
    others, labels = labels_of(those)
    there = look_up(others, labels, nodes)
    # A node without a component there is a group of its own: its label is made different from all others.
    lost = there < 0
    there = np.where(lost, -2 - np.arange(len(nodes)), there)
    order = np.lexsort((there, here))
    nodes, here, there, lost = nodes[order], here[order], there[order], lost[order]
    fresh = np.ones(len(nodes), np.bool_)
    fresh[1:] = (here[1:] != here[:-1]) | (there[1:] != there[:-1])
    group = np.cumsum(fresh) - 1
    first = np.flatnonzero(fresh)
    pairs = _pairs_within(here[first], lost[first])
    used = np.zeros(len(first), np.bool_)
    used[pairs.ravel()] = True
    keep = used[group] if len(group) else np.zeros(0, np.bool_)
    groups = np.stack([nodes[keep], group[keep]])
    return engine.table(("x", "g"), groups), engine.table(("g", "h"), pairs)


def labels_of(table: Table) -> tuple[Any, Any]:
    """Nodes in ascending order, and the component of each."""
    columns = [
        np.concatenate([unwrap(b.column(j)) for b in table.batches()] or [np.empty(0, np.int64)])
        for j in (0, 1)
    ]
    order = np.argsort(columns[0], kind="stable")
    return columns[0][order].astype(np.int64), columns[1][order].astype(np.int64)


def look_up(keys: Any, values: Any, wanted: Any) -> Any:
    """The value of each wanted key, or -1; keys are sorted."""
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    where = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[where] == wanted, values[where], -1)


def _pairs_within(label: Any, alone: Any) -> Any:
    """All ordered pairs of different groups with one label, in runs of equal labels; a group marked alone also with itself."""
    starts = (
        np.flatnonzero(np.concatenate([[True], label[1:] != label[:-1]])) if len(label) else np.empty(0, int)
    )
    sizes = np.diff(np.append(starts, len(label)))
    several = np.repeat(sizes, sizes) > 1
    wide = np.repeat(sizes, sizes)[several]
    left = np.repeat(np.flatnonzero(several), wide)
    begin = np.repeat(np.repeat(starts, sizes)[several], wide)
    right = begin + np.arange(len(left)) - np.repeat(np.cumsum(wide) - wide, wide)
    different = left != right
    itself = np.flatnonzero(alone)
    return np.stack(
        [np.concatenate([left[different], itself]), np.concatenate([right[different], itself])]
    ).astype(np.int64)
