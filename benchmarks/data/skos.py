"""A graph of categories like those of an encyclopaedia: pairs (narrower, broader), in a stream, the same for the same arguments.

A core of general categories that lead to each other in circles forms the giant component. Every later category has a broader one among the earlier
ones, general ones far more often (so that fan-out follows a power law), and perhaps a neighbour and another general one. Some
categories form long chains (series by year, by place), and now and then neighbours are put under each other.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 16
"""Categories drawn at a time."""

CORE = 560
"""One category in the core for so many edges: about as many pairs in the closure as the categories of DBpedia have."""

CHAIN = 500
"""How long a chain is; one block of this many categories in twenty is one."""


def categories(edges: int, seed: int = 1) -> Iterator[NDArray[np.int64]]:
    """Yield blocks of rows (narrower, broader), `edges` in all and no row twice.

    >>> blocks = list(categories(100_000))
    >>> sum(len(block) for block in blocks), blocks[0].shape[1]
    (100000, 2)
    """
    core = max(4, edges // CORE)
    left = edges
    block = _core(core, np.random.default_rng([seed, 0]))[:left]
    yield block
    left -= len(block)
    first, number = core, 1
    while left > 0:
        rng = np.random.default_rng([seed, number])
        block = _distinct(_block(first, BLOCK, 40 * core, rng))[:left]
        yield block
        left, first, number = left - len(block), first + BLOCK, number + 1


def _core(size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Eight random edges from each category of the core to others."""
    sources = np.repeat(np.arange(size, dtype=np.int64), 8)
    return _distinct(np.column_stack([sources, rng.integers(0, size, len(sources))]))


def _block(first: int, size: int, special: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The edges of the categories first, first + 1, …; only special ones, from a number on, get circles."""
    nodes = np.arange(first, first + size, dtype=np.int64)
    chained = _in_chain(nodes) & (nodes > first)
    broader = np.where(chained, nodes - 1, _general(nodes, rng))
    neighbour = nodes - 1 - rng.integers(0, np.minimum(nodes, 1000))
    general = _general(nodes, rng)
    draw = rng.random((3, size))
    parts = [
        np.column_stack([nodes, broader]),
        np.column_stack([nodes, neighbour])[(draw[0] < 0.25) & ~chained],
        np.column_stack([nodes, general])[draw[1] < 0.8],
        np.column_stack([nodes - 1, nodes])[(draw[2] < 0.001) & (nodes > special)],
    ]
    return np.concatenate(parts)


def _general(nodes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """An earlier category for each, the earliest most often; of a chain only its head."""
    chosen = (nodes * rng.random(len(nodes)) ** 3).astype(np.int64)
    return np.where(_in_chain(chosen), chosen - chosen % CHAIN, chosen)


def _in_chain(nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which categories have the one before them as broader."""
    return (nodes // CHAIN % 20 == 10) & (nodes % CHAIN > 0)


def _distinct(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows without loops, each once, ordered by their newest category."""
    codes = np.sort(rows.max(axis=1) << 32 | rows.min(axis=1) << 1 | (rows[:, 0] < rows[:, 1]))
    codes = codes[np.concatenate([[True], codes[1:] != codes[:-1]])]
    high, low, up = codes >> 32, (codes >> 1) & 0x7FFFFFFF, (codes & 1).astype(bool)
    kept = high != low
    return np.column_stack([np.where(up, low, high), np.where(up, high, low)])[kept]
