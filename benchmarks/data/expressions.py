"""Arithmetic expressions as random trees, each with many sets of values for its variables, after the Exp benchmark of the hypertree paper.

A value is a thing of its own: it belongs to a node of an expression, stems from one set of values, and has a number. The value of an inner node joins those
of both operands in the same set; it is named by a hash of the node and the set.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

OPERATORS: Final = {"sum": "+", "difference": "-", "product": "*"}
BODY: Final = (
    "{kind}(?e), left(?e, ?l), right(?e, ?r), value(?l, ?a), value(?r, ?b), within(?a, ?s), within(?b, ?s), "
    "number(?a, ?m), number(?b, ?n)"
)


def expression_rules() -> str:
    """Return three recursive rules of nine atoms and three heads: a sum, a difference and a product.

    >>> rules = expression_rules().splitlines()
    >>> len(rules), rules[0].count("(?") - 3
    (3, 9)
    """
    return "\n".join(
        f"value(?e, ?v), within(?v, ?s), number(?v, ?c) :- {BODY.format(kind=kind)}, "
        f'?v = SKOLEM("v", ?e, ?s), ?c = ?m {sign} ?n .'
        for kind, sign in OPERATORS.items()
    )


def expressions(count: int, values: int, depth: int = 5, seed: int = 1) -> dict[str, NDArray[np.int64]]:
    """Return the nodes and leaf values of so many random trees of at most the given depth, each with so many sets of values.

    >>> facts = expressions(3, 10)
    >>> len(facts["value"]) == len(facts["within"]) == len(facts["number"])
    True
    """
    random = np.random.default_rng(seed)
    nodes = 0
    edges: dict[str, list[tuple[int, ...]]] = {name: [] for name in (*OPERATORS, "left", "right")}
    leaves: list[int] = []

    def grow(height: int) -> int:
        nonlocal nodes
        node, nodes = nodes, nodes + 1
        if height == 0 or (height < depth - 1 and random.random() < 0.25):
            leaves.append(node)
            return node
        edges[str(random.choice(list(OPERATORS)))].append((node,))
        edges["left"].append((node, grow(height - 1)))
        edges["right"].append((node, grow(height - 1)))
        return node

    for _ in range(count):
        grow(depth)
    given = np.arange(len(leaves) * values, dtype=np.int64) + nodes
    sets = np.tile(np.arange(values, dtype=np.int64), len(leaves)) + nodes + len(given)
    # Small numbers, so that products of 32 of them have 64 bits.
    numbers = random.integers(-2, 3, size=len(given), dtype=np.int64)
    return {
        **{
            name: np.array(rows, np.int64).reshape(len(rows), 1 if name in OPERATORS else 2)
            for name, rows in edges.items()
        },
        "value": np.column_stack([np.repeat(np.array(leaves, np.int64), values), given]),
        "within": np.column_stack([given, sets]),
        "number": np.column_stack([given, numbers]),
    }
