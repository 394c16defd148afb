"""Textbook estimates: how many rows a read gives, and how many the join of several.

Garcia-Molina, Ullman, Widom: Database Systems, section 16.4: values are spread evenly, and of two sets of values the smaller lies in the larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, prod

from modulog.engines.protocol import Argument, Estimate

Sizes = tuple[float, Mapping[str, float]]
"""The rows of a read, and the number of values of each of its variables."""


def read_sizes(args: Sequence[Argument], estimate: Estimate) -> Sizes:
    """What is left of a relation when constants and repeated variables have chosen; never nothing, for it may yet grow.

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
    """Matches of all reads together: every further occurrence of a variable divides by its number of values.

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
