"""A graph of categories like those of an encyclopaedia: pairs (narrower, broader), in a stream, the same for the same arguments.

What it imitates is the `broader` relation of DBpedia, as far as "Optimised Storage for Datalog Reasoning" tells of it:

- Closures of three sets of edges (Tables 1 and 2): 159,561 edges, 29.1 million pairs; 1,426,588, 1.95 billion; 2.7 million, 8.7 billion. Pairs grow with the square of
  the edges (1.1 thousandths of it), so the part of the graph that nearly all categories reach grows in proportion.
- Random parts lose nearly everything (Table 2): three quarters of the edges have a quarter of the pairs, half of them a sixtieth, a quarter a four-thousandth. So the giant
  component is sparse: it hangs together by less than two edges a category, and loses or gains members with every thousand edges.

And what is known of such graphs: a category has one to five broader ones, two on average; fan-out follows a power law; most lie a few steps from the most general ones;
series (by year, by number) form long chains; here and there two categories are put under each other.

How it is made. The *general* categories, one for `GENERAL` edges, have 1.8 broader ones on average (some none) among themselves, half of them nearby, in either
direction: a sparse random graph, of which two thirds form the giant component or what it reaches. Every later category has one broader category and 1.25 more on average,
all among the earlier ones: the first in half of the cases nearby, all others drawn by the cube of a uniform number, so that the earliest are drawn most often.
One block of `SERIES` categories in twenty is a chain. One category in 500 is also above its first broader one, unless that is general.

What comes out: 160,000 edges have 27 million pairs, 1.43 million edges 1.99 billion; of 160,000 edges three quarters have 0.47 of the pairs, half 0.04, a quarter 0.003. Half of the
categories are within two steps of a general one, the ends of chains 500 steps away; as many as x categories have a fan-out above n where x falls with the power 1.4 of n. (MeSH, the
Gene Ontology and WordNet: a median of 3 to 7 steps, powers of 1.4 to 2.2.) The numbers were chosen by these figures, not by how fast anything is, and stay.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 16
"""Categories drawn at a time."""

GENERAL = 400
"""One general category for so many edges."""

SERIES = 500
"""How long a chain is."""

Rows = NDArray[np.int64]


def categories(edges: int, seed: int = 1) -> Iterator[Rows]:
    """Yield blocks of rows (narrower, broader), `edges` in all and no row twice.

    >>> blocks = list(categories(100_000))
    >>> sum(len(block) for block in blocks), blocks[0].shape[1]
    (100000, 2)
    """
    general = max(4, edges // GENERAL)
    first, number, left = general, 1, edges
    block = _general(general, np.random.default_rng([seed, 0]))
    while left > 0:
        yield block[:left]
        left -= len(block)
        block = _block(first, general, np.random.default_rng([seed, number]))
        first, number = first + BLOCK, number + 1


def _general(size: int, rng: np.random.Generator) -> Rows:
    """The edges of the general categories: 1.8 on average, half of them to one of the fifty next in number on either side."""
    sources = np.repeat(np.arange(size, dtype=np.int64), rng.poisson(1.8, size))
    near = np.clip(sources + rng.integers(-50, 51, len(sources)), 0, size - 1)
    targets = np.where(rng.random(len(sources)) < 0.5, near, rng.integers(0, size, len(sources)))
    return _distinct(np.column_stack([sources, targets]))


def _block(first: int, general: int, rng: np.random.Generator) -> Rows:
    """The edges of the categories first, first + 1, …"""
    nodes = np.arange(first, first + BLOCK, dtype=np.int64)
    broader = np.where(_in_series(nodes) & (nodes > first), nodes - 1, _earlier(nodes, 0.5, rng))
    more = np.repeat(nodes, np.where(_in_series(nodes), 0, rng.poisson(1.25, BLOCK)))
    mutual = (rng.random(BLOCK) < 0.002) & (broader >= general)
    parts = [
        np.column_stack([nodes, broader]),
        np.column_stack([more, _earlier(more, 0.0, rng)]),
        np.column_stack([broader, nodes])[mutual],
    ]
    return _distinct(np.concatenate(parts))


def _earlier(nodes: Rows, near_share: float, rng: np.random.Generator) -> Rows:
    """An earlier category for each: one of the thousand before it, or any, the earliest most often; of a chain the head."""
    near = nodes - 1 - rng.integers(0, np.minimum(nodes, 1000))
    any_one = (nodes * rng.random(len(nodes)) ** 3).astype(np.int64)
    chosen: Rows = np.where(rng.random(len(nodes)) < near_share, near, any_one)
    return np.where(_in_series(chosen), chosen - chosen % SERIES, chosen)


def _in_series(nodes: Rows) -> NDArray[np.bool_]:
    """Which categories have the one before them as broader."""
    return (nodes // SERIES % 20 == 10) & (nodes % SERIES > 0)


def _distinct(rows: Rows) -> Rows:
    """The rows without loops, each once, ordered by their newest category."""
    codes = np.sort(rows.max(axis=1) << 32 | rows.min(axis=1) << 1 | (rows[:, 0] < rows[:, 1]))
    codes = codes[np.concatenate([[True], codes[1:] != codes[:-1]])]
    high, low, up = codes >> 32, (codes >> 1) & 0x7FFFFFFF, (codes & 1).astype(bool)
    kept = high != low
    return np.column_stack([np.where(up, low, high), np.where(up, high, low)])[kept]
