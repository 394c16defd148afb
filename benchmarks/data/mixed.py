"""A program of a hundred rules of every kind, most not recursive, over twenty sparse graphs."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.graphs import digraph

GRAPHS: Final = 20
CHOSEN, ROOTS = 50, 1_000
"""One node in so many is chosen (only there do the recursive rules work), and one is a root."""

RECURSIVE: Final = (
    "t(?x, ?y) :- e19(?x, ?y), chosen(?x) .",
    "t(?x, ?z) :- t(?x, ?y), t(?y, ?z) .",
    "p(?x) :- root(?x) .",
    "p(?y) :- p(?x), e18(?x, ?y), chosen(?y) .",
    "s(?x, ?y) :- e17(?x, ?y), chosen(?x), chosen(?y) .",
    "s(?y, ?x) :- s(?x, ?y) .",
    "s(?x, ?z) :- s(?x, ?y), s(?y, ?z) .",
)


def mixed_rules() -> str:
    """Return a hundred rules: projections, inverses, unions, joins, negations, filters by a join, and three kinds of recursion.

    >>> len(mixed_rules().splitlines())
    100
    """
    every = range(GRAPHS)
    rules = [f"c{i}(?x) :- e{i}(?x, ?y) ." for i in every]
    rules += [f"inverse{i}(?y, ?x) :- e{i}(?x, ?y) ." for i in every]
    rules += [f"u{i % 5}(?x, ?y) :- e{i}(?x, ?y) ." for i in every]
    rules += [f"j{i}(?x, ?z) :- e{i}(?x, ?y), e{i + 1}(?y, ?z) ." for i in range(15)]
    rules += [f"n{i}(?x) :- c{i}(?x), ~c{i + 1}(?x) ." for i in range(10)]
    rules += [f"d{i}(?x, ?y) :- j{i}(?x, ?y), c{i + 5}(?y) ." for i in range(8)]
    return "\n".join([*rules, *RECURSIVE])


def mixed(facts: int, seed: int = 1) -> dict[str, NDArray[np.int64]]:
    """Return exactly so many facts (at least 2,000): random graphs with about one edge a node, chosen nodes and roots.

    >>> facts = mixed(10_000)
    >>> len(facts), sum(len(rows) for rows in facts.values())
    (22, 10000)
    """
    nodes = facts // GRAPHS
    single = {
        "chosen": np.arange(0, nodes, CHOSEN, dtype=np.int64)[:, None],
        "root": np.arange(0, nodes, ROOTS, dtype=np.int64)[:, None],
    }
    edges = facts - sum(len(rows) for rows in single.values())
    sizes = [edges // GRAPHS + (i < edges % GRAPHS) for i in range(GRAPHS)]
    return {**single, **{f"e{i}": digraph(nodes, size, seed + i) for i, size in enumerate(sizes)}}
