"""A long chain of join rules over small relations: what a rule costs when there is little to join."""

import numpy as np
from numpy.typing import NDArray


def rule_chain(rules: int, facts: int, seed: int = 1) -> tuple[str, dict[str, NDArray[np.int64]]]:
    """Return a program of ``rules`` join rules, each of whose predicates has ``facts`` facts, and its facts.

    Every relation is a permutation, so each rule derives exactly as many facts as the one before it.

    >>> text, relations = rule_chain(2, 3)
    >>> print(text)
    p1(?x, ?z) :- p0(?x, ?y), e0(?y, ?z) .
    p2(?x, ?z) :- p1(?x, ?y), e1(?y, ?z) .
    >>> sorted(relations), relations["p0"].shape
    (['e0', 'e1', 'p0'], (3, 2))
    """
    rng = np.random.default_rng(seed)
    nodes = np.arange(facts, dtype=np.int64)
    names = ["p0", *(f"e{i}" for i in range(rules))]
    relations = {name: np.column_stack([nodes, rng.permutation(nodes)]) for name in names}
    text = "\n".join(f"p{i + 1}(?x, ?z) :- p{i}(?x, ?y), e{i}(?y, ?z) ." for i in range(rules))
    return text, relations
