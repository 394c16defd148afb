"""Random and regular graphs as int64 arrays, one row for each edge, no edge twice, nodes from 0."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Edges = NDArray[np.int64]
Draw = Callable[[np.random.Generator, int], NDArray[np.int64]]

# Parents are drawn from this many nodes before the child: 30,000 nodes form about 300 levels of 100.
DEEP_WINDOW = 200


def dag(n: int, m: int, seed: int = 1) -> Edges:
    """Return m random edges (x, y) with x < y over n nodes.

    >>> edges = dag(100, 300)
    >>> edges.shape, bool((edges[:, 0] < edges[:, 1]).all())
    ((300, 2), True)
    """
    if m > n * (n - 1) // 2:
        raise ValueError(f"a DAG with {n} nodes has at most {n * (n - 1) // 2} edges, not {m}")

    def draw(rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        # An unordered pair of the square, loops left out: every pair x < y is equally likely.
        pairs = np.sort(rng.integers(0, n, size=(size, 2), dtype=np.int64), axis=1)
        low, high = pairs[:, 0], pairs[:, 1]
        codes: NDArray[np.int64] = (low * n + high)[low != high]
        return codes

    return split(distinct(draw, m, seed), n)


def digraph(n: int, m: int, seed: int = 1) -> Edges:
    """Return m random directed edges without loops over n nodes.

    >>> edges = digraph(100, 300)
    >>> edges.shape, bool((edges[:, 0] != edges[:, 1]).all())
    ((300, 2), True)
    """
    if m > n * (n - 1):
        raise ValueError(f"a digraph with {n} nodes has at most {n * (n - 1)} edges, not {m}")

    def draw(rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        codes = rng.integers(0, n * n, size=size, dtype=np.int64)
        loops: NDArray[np.bool_] = codes // n == codes % n
        return codes[~loops]

    return split(distinct(draw, m, seed), n)


def tree(n: int, kind: Literal["wide", "deep"] = "wide", seed: int = 1) -> Edges:
    """Return the n - 1 edges (parent, child) of a random tree with root 0.

    Wide: the parent of a node is any earlier node, so the depth is logarithmic. Deep: it is one of the
    last ``DEEP_WINDOW`` earlier nodes, so the depth grows with n and all levels are about equally large.

    >>> tree(5).shape, tree(5, "deep").shape
    ((4, 2), (4, 2))
    """
    if kind not in ("wide", "deep"):
        raise ValueError(f'kind is "wide" or "deep", not {kind!r}')
    children = np.arange(1, n, dtype=np.int64)
    window = children if kind == "wide" else np.minimum(children, DEEP_WINDOW)
    back = np.random.default_rng(seed).integers(0, window) + 1
    return np.column_stack([children - back, children])


def chain(n: int) -> Edges:
    """Return the n - 1 edges of a path through n nodes.

    >>> chain(3).tolist()
    [[0, 1], [1, 2]]
    """
    nodes = np.arange(n, dtype=np.int64)
    return np.column_stack([nodes[:-1], nodes[1:]])


def cliques(k: int, size: int) -> Edges:
    """Return k disjoint cliques, each with all ordered pairs of its ``size`` nodes, without loops.

    >>> cliques(2, 2).tolist()
    [[0, 1], [1, 0], [2, 3], [3, 2]]
    """
    nodes = np.arange(size, dtype=np.int64)
    sources, targets = np.repeat(nodes, size), np.tile(nodes, size)
    one = np.column_stack([sources, targets])[sources != targets]
    offsets = np.repeat(np.arange(k, dtype=np.int64) * size, len(one))
    return np.tile(one, (k, 1)) + offsets[:, None]


def levels(parent: Edges) -> NDArray[np.int64]:
    """Return the number of nodes at each depth of a tree made by ``tree``, the root's depth first.

    >>> levels(chain(3)).tolist()
    [1, 1, 1]
    """
    depth = np.zeros(len(parent) + 1, dtype=np.int64)
    pointer = np.zeros(len(parent) + 1, dtype=np.int64)
    pointer[parent[:, 1]] = parent[:, 0]
    depth[parent[:, 1]] = 1
    # Pointer doubling: after i steps a node points 2**i ancestors up, or at the root.
    while pointer.any():
        depth += depth[pointer]
        pointer = pointer[pointer]
    return np.bincount(depth)


def distinct(draw: Draw, size: int, seed: int) -> NDArray[np.int64]:
    """Return ``size`` different numbers from ``draw``, in random order."""
    rng = np.random.default_rng(seed)
    numbers: NDArray[np.int64] = np.empty(0, dtype=np.int64)
    while len(numbers) < size:
        numbers = np.sort(np.concatenate([numbers, draw(rng, size + size // 4 + 16)]))
        numbers = numbers[np.concatenate([[True], numbers[1:] != numbers[:-1]])]
    rng.shuffle(numbers)
    return numbers[:size]


def split(codes: NDArray[np.int64], base: int) -> Edges:
    """Return the pairs (x, y) that were coded as x * base + y."""
    return np.column_stack([codes // base, codes % base])


def cycle(n: int) -> Edges:
    """Return the n edges of a cycle through n nodes.

    >>> cycle(3).tolist()
    [[0, 1], [1, 2], [2, 0]]
    """
    nodes = np.arange(n, dtype=np.int64)
    return np.column_stack([nodes, np.roll(nodes, -1)])


def chorded_cycle(n: int) -> Edges:
    """Return a cycle through n nodes with a chord from each to the node half way around: connected without any one edge.

    >>> chorded_cycle(4).tolist()
    [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3], [3, 0]]
    """
    nodes = np.arange(n, dtype=np.int64)
    chords = np.column_stack([nodes, nodes + n // 2])[: n // 2]
    return np.unique(np.concatenate([cycle(n), chords]), axis=0)
