"""Relations for nonrecursive joins of three to five atoms, and the rules that join them."""

from math import isqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.graphs import digraph, distinct, split

JOIN_RULES: Final[dict[str, str]] = {
    "chain": "path(?a, ?d) :- r(?a, ?b), s(?b, ?c), t(?c, ?d) .",
    "triangle": "triangle(?a, ?b, ?c) :- r(?a, ?b), s(?b, ?c), t(?a, ?c) .",
    "star": "star(?x, ?a) :- hub(?x, ?a), u(?x, ?p), v(?x, ?q), w(?x, ?s) .",
    "projection": "ends(?a, ?f) :- r(?a, ?b), s(?b, ?c), t(?c, ?d), u(?d, ?e), v(?e, ?f) .",
}
"""One rule for each kind of join: its body names the relations that ``joins`` makes."""
SMALLEST: Final = 3_000


def joins(kind: str, facts: int, seed: int = 1) -> dict[str, NDArray[np.int64]]:
    """Return the relations of one of ``JOIN_RULES``, ``facts`` facts in total, evenly divided.

    - chain: each fact joins with 1.5 others on average, so results are about as many as facts;
    - triangle: a cyclic body, whose two-atom part is larger than its result;
    - star: three of four atoms only test that some value exists, each for two thirds of the hubs;
    - projection: few ends joined by many paths, about six for each result, so most of what is found is known.

    >>> {name: rows.shape for name, rows in joins("chain", 3000).items()}
    {'r': (1000, 2), 's': (1000, 2), 't': (1000, 2)}
    """
    if kind not in JOIN_RULES:
        raise ValueError(f"kind is one of {', '.join(JOIN_RULES)}, not {kind!r}")
    if facts < SMALLEST:
        raise ValueError(f"the joins keep their shape from {SMALLEST} facts on, not with {facts}")
    if kind == "star":
        return _star(facts // 4, seed)
    if kind == "projection":
        return _projection(facts // 5, seed)
    size = facts // 3
    nodes = {"chain": int(size / 1.5), "triangle": size // 30}[kind]
    return {name: digraph(nodes, size, seed + i) for i, name in enumerate(("r", "s", "t"))}


def _star(size: int, seed: int) -> dict[str, NDArray[np.int64]]:
    hubs = size // 4
    relations = {"hub": _pairs(size, hubs, size, seed)}
    for i, name in enumerate(("u", "v", "w"), start=1):
        present = np.random.default_rng(seed + i).permutation(hubs)[: hubs * 2 // 3]
        pairs = _pairs(size, len(present), size, seed + i)
        relations[name] = np.column_stack([present[pairs[:, 0]], pairs[:, 1]])
    return relations


def _projection(size: int, seed: int) -> dict[str, NDArray[np.int64]]:
    ends, middle = 2 * isqrt(size), max(size // 5, 4)
    domains = (ends, size, middle, middle, size, ends)
    steps = zip(("r", "s", "t", "u", "v"), domains[:-1], domains[1:], strict=True)
    return {name: _pairs(size, left, right, seed + i) for i, (name, left, right) in enumerate(steps)}


def _pairs(size: int, left: int, right: int, seed: int) -> NDArray[np.int64]:
    def draw(rng: np.random.Generator, count: int) -> NDArray[np.int64]:
        return rng.integers(0, left * right, size=count, dtype=np.int64)

    return split(distinct(draw, size, seed), right)
