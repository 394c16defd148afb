"""A labelled random graph with skewed degrees, and twenty rules whose bodies are cliques, cycles, flowers and petals, four of them recursive."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.graphs import distinct, split

LABELS: Final = 24
DEGREE: Final = 40
"""Edges for each node, over all labels."""
SKEW: Final = 2.0
"""A node's rank is a uniform number to this power: the first hundredth of the nodes has a tenth of all ends, sources and targets alike."""


def _cycle(labels: list[int]) -> str:
    n = len(labels)
    return ", ".join(f"e{k}(?x{i}, ?x{(i + 1) % n})" for i, k in enumerate(labels))


def _clique(labels: list[int], n: int) -> str:
    pairs = [(i, j) for j in range(n) for i in range(j)]
    return ", ".join(f"e{labels[p % len(labels)]}(?x{i}, ?x{j})" for p, (i, j) in enumerate(pairs))


def _petals(labels: list[int]) -> str:
    return ", ".join(
        f"e{a}(?x0, ?y{i}), e{b}(?y{i}, ?x1)"
        for i, (a, b) in enumerate(zip(labels[::2], labels[1::2], strict=True))
    )


def _flower(labels: list[int]) -> str:
    triples = zip(labels[::3], labels[1::3], labels[2::3], strict=True)
    return ", ".join(
        f"e{a}(?x0, ?y{i}), e{b}(?y{i}, ?z{i}), e{c}(?z{i}, ?x0)" for i, (a, b, c) in enumerate(triples)
    )


BODIES: Final = (
    ("cycle4a", "?x0, ?x2", _cycle([3, 4, 5, 6])),
    ("cycle4b", "?x0, ?x1", _cycle([7, 8, 9, 10])),
    ("cycle4c", "?x0", _cycle([4, 6, 8, 10])),
    ("cycle5a", "?x0, ?x2", _cycle([12, 13, 14, 15, 16])),
    ("cycle5b", "?x0", _cycle([11, 12, 13, 14, 15])),
    ("cycle6a", "?x0, ?x3", _cycle([16, 17, 18, 19, 20, 21])),
    ("cycle6b", "?x0", _cycle([15, 16, 17, 18, 19, 20])),
    ("clique4a", "?x0, ?x3", _clique([2, 3, 4, 5, 6, 7], 4)),
    ("clique4b", "?x0, ?x1, ?x2", _clique([3, 4, 5, 2, 6, 7], 4)),
    ("clique5", "?x0, ?x4", _clique([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 5)),
    ("petals2", "?x0, ?x1", _petals([8, 9, 10, 11])),
    ("petals3a", "?x0, ?x1", _petals([9, 10, 11, 12, 13, 14])),
    ("petals3b", "?x0, ?x1", _petals([10, 12, 14, 16, 18, 20])),
    ("petals4", "?x0, ?x1", _petals([12, 13, 14, 15, 16, 17, 18, 19])),
    ("flower2", "?x0", _flower([6, 7, 8, 9, 10, 11])),
    ("flower3", "?x0", _flower([8, 9, 10, 11, 12, 13, 14, 15, 16])),
)
"""Name, head and body of the nonrecursive rules."""

RECURSIVE: Final = (
    ("near", "?x0, ?x2", "near(?x0, ?x1), e18(?x1, ?x2), near(?x2, ?x3), e19(?x3, ?x0)"),
    ("apart", "?x0, ?x1", "e17(?x0, ?y0), apart(?y0, ?x1), e18(?x0, ?y1), apart(?y1, ?x1)"),
    ("joined", "?x0, ?x3", "joined(?x0, ?x1), e20(?x1, ?x2), e21(?x2, ?x3), e22(?x3, ?x0)"),
    ("ring", "?x0, ?x1", "ring(?x1, ?x2), e21(?x2, ?x3), ring(?x3, ?x0), e22(?x0, ?x1)"),
)
SEEDS: Final = {"near": 22, "apart": 20, "joined": 23, "ring": 23}


def labelled_rules(names: tuple[str, ...] | None = None) -> str:
    """Return the rules, or some of them, each with a predicate of its own; recursive ones also copy a label.

    >>> len(labelled_rules().splitlines())
    24
    """
    wanted = [rule for rule in (*BODIES, *RECURSIVE) if names is None or rule[0] in names]
    copies = [f"{n}(?x, ?y) :- e{SEEDS[n]}(?x, ?y) ." for n, _, _ in wanted if n in SEEDS]
    return "\n".join([*copies, *(f"{name}({head}) :- {body} ." for name, head, body in wanted)])


def labelled_graph(edges: int, seed: int = 1) -> dict[str, NDArray[np.int64]]:
    """Return about so many edges in all, with labels whose sizes fall slowly

    >>> facts = labelled_graph(10_000)
    >>> len(facts), len(facts["e0"]) > 2 * len(facts["e23"])
    (24, True)
    """
    nodes = max(edges // DEGREE, 10)
    shares = 1 / np.sqrt(np.arange(4, LABELS + 4))
    sizes = np.maximum(edges * shares / shares.sum(), 5).astype(int)

    def draw(random: np.random.Generator, size: int) -> NDArray[np.int64]:
        ends = (random.random((2, size)) ** SKEW * nodes).astype(np.int64)
        codes: NDArray[np.int64] = ends[0] * nodes + ends[1]
        return codes[ends[0] != ends[1]]

    return {f"e{k}": split(distinct(draw, int(size), seed + k), nodes) for k, size in enumerate(sizes)}
