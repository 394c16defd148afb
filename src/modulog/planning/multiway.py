"""When reads that close a cycle are joined all at once, and what that costs.

Pair by pair, a cycle goes through all paths before the last atom closes them; variable by variable it only ever holds one. The same number of paths is
looked at, but none of them becomes a row, and lists are intersected where they lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import prod

from modulog.engines.protocol import Multiway, Read
from modulog.planning.estimating import Sizes, join_rows, read_sizes
from modulog.planning.hypergraph import Hypergraph, as_set

LEAP, PRODUCE, INDEX = (
    0.15,
    0.5,
    4.0,
)  # one step through sorted lists, one row, one fact sorted; in rows looked up
FEW_VARIABLES = 5  # variables up to which every order is tried
WORDS = 8  # words of sorted facts that can be read at once


def cheapest_multiway(
    reads: Sequence[Read], wanted: tuple[str, ...], counting: bool
) -> tuple[Multiway, float] | None:
    """The reads as one join, and its estimated cost; None if they close no cycle or cannot be read in sorted order."""
    if not can_intersect(reads, counting) or _graph(reads).is_acyclic():
        return None
    sizes = [read_sizes(read.args, read.relation.estimate(read.version)) for read in reads]
    sorting = INDEX * sum(read.relation.unsorted((), read.version) for read in reads)
    order, leaps = best_order(sizes, _graph(reads).vertices)
    cost = LEAP * leaps + PRODUCE * join_rows(sizes) + sorting
    return Multiway(tuple(reads), wanted, counting, order), cost


def best_order(sizes: Sequence[Sizes], variables: Sequence[str]) -> tuple[tuple[str, ...], float]:
    """The order of binding that makes the fewest leaps, and how many: of few variables every order is tried, else the next is the cheapest.

    >>> large, small = (1000, {"x": 10.0, "y": 100.0}), (100, {"y": 100.0, "z": 10.0})
    >>> best_order([large, small, (50, {"z": 10.0, "x": 10.0})], ("x", "y", "z"))[0]
    ('x', 'z', 'y')
    """
    if len(variables) <= FEW_VARIABLES:
        return min(((o, _leaps(sizes, o)) for o in permutations(variables)), key=lambda found: found[1])
    chosen: tuple[str, ...] = ()
    while len(chosen) < len(variables):
        rest = [(*chosen, v) for v in variables if v not in chosen]
        chosen = min(rest, key=lambda o: _leaps(sizes, o))
    return chosen, _leaps(sizes, chosen)


def _leaps(sizes: Sequence[Sizes], order: Sequence[str]) -> float:
    """For each variable: the ways to bind those before it, times the shortest list of its values that some atom then has."""
    total, ways = 0.0, 1.0
    for i, name in enumerate(order):
        before, upto = frozenset(order[:i]), frozenset(order[: i + 1])
        lists = [_rows(s, upto) / _rows(s, before) for s in sizes if name in s[1]]
        total += ways * min(lists)
        ways = join_rows([(_rows(s, upto), {v: s[1][v] for v in s[1] if v in upto}) for s in sizes])
    return total


def _rows(sizes: Sizes, names: frozenset[str]) -> float:
    """The different rows of an atom over some of its variables."""
    rows, distinct = sizes
    return max(min(rows, prod(values for v, values in distinct.items() if v in names)), 1.0)


def can_intersect(reads: Sequence[Read], counting: bool = False) -> bool:
    """Whether every read has variables, none of them repeated, and few words have to be read; counting needs every argument."""
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
