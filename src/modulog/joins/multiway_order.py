"""Decides when reads that form a cycle are joined all at once, by a worst-case optimal join.

Joining a cycle pair by pair stores all paths before the last atom closes them. Binding one variable after the
other follows one path at a time: the number of paths is the same, but none of them becomes a row, and the
sorted lists of facts are intersected in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod

from modulog.algebra.expressions import Multiway, Read
from modulog.joins.estimates import Sizes, join_rows, read_sizes
from modulog.joins.hypergraph import Hypergraph, as_set

# Costs of one step in a sorted list, of one row of the result, of one fact sorted; in lookups of one row.
LEAP, PRODUCE, INDEX = 0.15, 0.5, 4.0
# With skewed degrees, the steps are underestimated by this factor for each variable after the third.
DOUBT = 2.0
FEW_VARIABLES = 7  # the most variables for which every order is tried
WORDS = 8  # the most words, in one fact of each read together, that the kernel can read


def cheapest_multiway(
    reads: Sequence[Read], wanted: tuple[str, ...], counting: bool
) -> tuple[Multiway, float, float] | None:
    """The reads as one join, its estimated cost, and the cost of sorting the facts before it.

    None if the reads form no cycle or cannot be read in sorted order. `wanted` are the variables of the
    result; `counting` says that each match must give a row.
    """
    if not can_intersect(reads, counting) or (graph := _graph(reads)).is_acyclic():
        return None
    sizes = [read_sizes(read.args, read.relation.estimate(read.version)) for read in reads]
    sorting = INDEX * sum(read.relation.unsorted((), read.version) for read in reads)
    order, leaps = best_order(sizes, graph.vertices)
    leaps *= DOUBT ** max(len(order) - 3, 0)
    return Multiway(tuple(reads), wanted, counting, order), LEAP * leaps + PRODUCE * join_rows(sizes), sorting


def best_order(sizes: Sequence[Sizes], variables: Sequence[str]) -> tuple[tuple[str, ...], float]:
    """The order of binding variables that needs the fewest steps, and their number.

    A variable costs the number of ways to bind those before it times the length of the shortest list of
    values that some atom then has for it. All orders are tried for up to `FEW_VARIABLES` variables; for more,
    the cheapest next variable is taken each time.

    >>> large, small = (1000, {"x": 10.0, "y": 100.0}), (100, {"y": 100.0, "z": 10.0})
    >>> best_order([large, small, (50, {"z": 10.0, "x": 10.0})], ("x", "y", "z"))[0]
    ('x', 'z', 'y')
    """

    @cache
    def ways(names: frozenset[str]) -> float:
        return join_rows([(_rows(s, names), {v: s[1][v] for v in s[1] if v in names}) for s in sizes])

    def leaps(before: frozenset[str], name: str) -> float:
        lists = [_rows(s, before | {name}) / _rows(s, before) for s in sizes if name in s[1]]
        return ways(before) * min(lists)

    best: dict[frozenset[str], tuple[float, tuple[str, ...]]] = {frozenset(): (0.0, ())}
    for _ in variables:
        found: dict[frozenset[str], tuple[float, tuple[str, ...]]] = {}
        for before, (cost, order) in best.items():
            for v in variables:
                if v not in before:
                    longer, total = before | {v}, cost + leaps(before, v)
                    if longer not in found or total < found[longer][0]:
                        found[longer] = total, (*order, v)
        few = len(variables) <= FEW_VARIABLES
        best = found if few else dict([min(found.items(), key=lambda item: item[1][0])])
    ((total, order),) = best.values()
    return order, total


def _rows(sizes: Sizes, names: frozenset[str]) -> float:
    """The number of distinct rows of an atom over some of its variables."""
    rows, distinct = sizes
    return max(min(rows, prod(values for v, values in distinct.items() if v in names)), 1.0)


def can_intersect(reads: Sequence[Read], counting: bool = False) -> bool:
    """Whether reads can be intersected: relations in sorted order, distinct variables in each, few words.

    With `counting`, anonymous arguments are not allowed, since different facts must give different rows.
    """
    words = sum((read.relation.arity + 1) // 2 for read in reads)
    return words <= WORDS and all(
        read.relation.intersects
        and read.variables
        and sum(isinstance(a, str) for a in read.args) == len(read.variables)
        and not (counting and None in read.args)
        for read in reads
    )


def _graph(reads: Sequence[Read]) -> Hypergraph:
    vertices = tuple(dict.fromkeys(v for read in reads for v in read.variables))
    return Hypergraph(vertices, tuple(as_set(map(vertices.index, read.variables)) for read in reads))
