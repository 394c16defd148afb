"""Estimates how many rows a read gives, and how many a join of several reads gives.

These are the textbook estimates (Garcia-Molina, Ullman, Widom: Database Systems, section 16.4). They assume
that values are spread evenly, and that of two sets of values to be joined the smaller is contained in the
larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, prod

from modulog.algebra.expressions import Argument
from modulog.engines.relation import Estimate

Sizes = tuple[float, Mapping[str, float]]
"""The number of rows of a read, and the number of distinct values of each of its variables."""


def read_sizes(args: Sequence[Argument], estimate: Estimate) -> Sizes:
    """The sizes of a read, from those of its relation; constants and repeated variables select facts.

    At least half a row is assumed, since an empty relation may still grow.

    >>> read_sizes(("x", 7), Estimate(100, (20, 10)))
    (10.0, {'x': 10.0})
    """
    rows = estimate.rows
    distinct: dict[str, float] = {}
    for arg, count in zip(args, estimate.distinct, strict=True):
        values = max(count, 1.0)
        if isinstance(arg, int):
            rows /= values
        elif arg is not None:
            if arg in distinct:
                rows /= max(values, distinct[arg])
            distinct[arg] = min(values, distinct.get(arg, inf))
    rows = max(rows, 0.5)
    return rows, {name: max(1.0, min(values, rows)) for name, values in distinct.items()}


def join_rows(reads: Iterable[Sizes]) -> float:
    """The rows of the join of all reads; each further occurrence of a variable divides by its values.

    >>> join_rows([(100, {"x": 10.0, "y": 50.0}), (60, {"y": 20.0, "z": 60.0})])
    120.0
    """
    rows, seen = 1.0, dict[str, list[float]]()
    for count, distinct in reads:
        rows *= count
        for name, values in distinct.items():
            seen.setdefault(name, []).append(values)
    for counts in seen.values():
        rows /= prod(sorted(counts)[1:])
    return rows
