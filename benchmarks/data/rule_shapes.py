"""Many small rules of five shapes over many facts: what a rule costs where evaluation is shared by shape."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.graphs import digraph

PREDICATES = 20
_SHAPES = (
    "copy{i}(?x, ?y) :- r{i}(?x, ?y) .",
    "inverse{i}(?y, ?x) :- r{i}(?x, ?y) .",
    "domain{i}(?x) :- r{i}(?x, ?y) .",
    "range{i}(?y) :- r{i}(?x, ?y) .",
    "chain{i}(?x, ?z) :- r{i}(?x, ?y), r{j}(?y, ?z) .",
)


def rule_shapes(
    rules: int, facts: int, sizes: Literal["even", "skewed"], seed: int = 1
) -> tuple[str, dict[str, NDArray[np.int64]]]:
    """Return ``rules`` copy, inverse, domain, range and chain rules, and about ``facts`` facts of 20 predicates.

    The facts do not depend on the number of rules. Skewed sizes fall as 1, 1/2, 1/3, …, as those of predicates in knowledge graphs roughly do,
    and rules speak of the largest predicates first.

    >>> text, relations = rule_shapes(5, 1000, "even")
    >>> print(text.splitlines()[-1])
    chain0(?x, ?z) :- r0(?x, ?y), r1(?y, ?z) .
    >>> len(relations), relations["r3"].shape
    (20, (50, 2))
    """
    shares = np.ones(PREDICATES) if sizes == "even" else 1 / np.arange(1, PREDICATES + 1)
    counts = (facts * shares / shares.sum()).astype(np.int64)
    relations = {f"r{i}": digraph(facts // 4, int(n), seed + i) for i, n in enumerate(counts)}
    chosen = range(rules // len(_SHAPES))
    text = "\n".join(s.format(i=i, j=(i + 1) % PREDICATES) for i in chosen for s in _SHAPES)
    return text, relations
