"""A labelled random graph with skewed degrees, and twenty rules whose bodies are cliques, cycles, flowers and petals, four of them recursive.

Shapes as in the logs of public endpoints (Bonifati, Martens, Timm: An analytical study of large SPARQL query logs, 2017): petals are paths between the same two nodes,
flowers petals at one node. Degrees follow power laws as those of the web and of social networks do, with exponents of 3 for edges that leave a node and 2.5 for those that
enter it: among 250,000 nodes the first is the target of 1.6% of all edges. Recursive rules derive only pairs that some label has, as mined rules do.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.graphs import distinct, split

LABELS: Final = 24
DEGREE: Final = 40
"""Edges for each node, over all labels."""
SKEW: Final = (2.0, 3.0)
"""The rank of an edge's source and target is a uniform number to this power: the first hundredth of the nodes has a tenth of all sources and a fifth of all targets."""


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
    ("cycle4b", "?x0", _cycle([6, 7, 8, 9])),
    ("cycle5", "?x0, ?x2", _cycle([8, 9, 10, 11, 12])),
    ("cycle6", "?x0, ?x3", _cycle([11, 12, 13, 14, 15, 16])),
    ("clique4", "?x0, ?x1, ?x2", _clique([2, 3, 4, 5, 6, 7], 4)),
    ("clique5", "?x0, ?x4", _clique([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 5)),
    ("clique6", "?x0", _clique([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], 6)),
    ("petals2", "?x0, ?x1", _petals([5, 6, 7, 8])),
    ("petals3", "?x0, ?x1", _petals([6, 7, 8, 9, 10, 11])),
    ("petals4a", "?x0, ?x1", _petals([8, 9, 10, 11, 12, 13, 14, 15])),
    ("petals4b", "?x0", _petals([5, 6, 7, 8, 9, 10, 11, 12])),
    ("petals5", "?x0, ?x1", _petals([6, 7, 8, 9, 10, 11, 12, 13, 14, 15])),
    ("flower2", "?x0", _flower([5, 6, 7, 8, 9, 10])),
    ("flower3a", "?x0", _flower([4, 5, 6, 7, 8, 9, 10, 11, 12])),
    ("flower3b", "?x0, ?y0", _flower([6, 7, 8, 9, 10, 11, 12, 13, 14])),
    ("flower4", "?x0", _flower([4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])),
)
"""Name, head and body of the nonrecursive rules."""

RECURSIVE: Final = (
    ("near", "?x0, ?x1", "e9(?x0, ?x1), near(?x1, ?x2), e10(?x2, ?x3), near(?x3, ?x0)"),
    ("apart", "?x0, ?x1", "e8(?x0, ?x1), e9(?x0, ?y0), apart(?y0, ?x1), e10(?x0, ?y1), apart(?y1, ?x1)"),
    ("joined", "?x0, ?x3", "joined(?x0, ?x1), e13(?x1, ?x2), e14(?x2, ?x3), e15(?x3, ?x0)"),
    ("ring", "?x0, ?x1", "ring(?x1, ?x2), e14(?x2, ?x3), ring(?x3, ?x0), e15(?x0, ?x1)"),
)
SEEDS: Final = {"near": 12, "apart": 11, "joined": 16, "ring": 16}


def labelled_rules(names: tuple[str, ...] | None = None) -> str:
    """Return the rules, or some of them, each with a predicate of its own; recursive ones also copy a label.

    >>> len(labelled_rules().splitlines())
    24
    """
    wanted = [rule for rule in (*BODIES, *RECURSIVE) if names is None or rule[0] in names]
    copies = [f"{n}(?x, ?y) :- e{SEEDS[n]}(?x, ?y) ." for n, _, _ in wanted if n in SEEDS]
    return "\n".join([*copies, *(f"{name}({head}) :- {body} ." for name, head, body in wanted)])


def labelled_graph(edges: int, seed: int = 1) -> dict[str, NDArray[np.int64]]:
    """Return about so many edges in all, with labels whose sizes follow Zipf's law.

    >>> facts = labelled_graph(10_000)
    >>> len(facts), len(facts["e0"]) > 2 * len(facts["e23"])
    (24, True)
    """
    nodes = max(edges // DEGREE, 10)
    shares = 1 / np.arange(1, LABELS + 1)
    sizes = np.maximum(edges * shares / shares.sum(), 5).astype(int)

    def draw(random: np.random.Generator, size: int) -> NDArray[np.int64]:
        source, target = ((random.random(size) ** skew * nodes).astype(np.int64) for skew in SKEW)
        codes: NDArray[np.int64] = source * nodes + target
        return codes[source != target]

    return {f"e{k}": split(distinct(draw, int(size), seed + k), nodes) for k, size in enumerate(sizes)}
