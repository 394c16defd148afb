"""Hypothesis strategies: expressions, filters, and small programs that compute."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from support.strategies import (
    CONSTANTS,
    OPERATORS,
    VARIABLES,
    Case,
    Draw,
    Predicates,
    bound_in,
    negative,
    positive,
    rows,
    rule,
)
from support.values import Value

NUMBERS: list[Value] = [
    ("integer", 0),
    ("integer", 3),
    ("integer", 2**63 - 1),
    ("integer", -(2**63)),
    ("decimal", Decimal("0.1")),
    ("decimal", Decimal("-2.5")),
    ("decimal", Decimal("12345678901234567890.123456789")),
    ("double", "0.5"),
    ("double", "0.0"),
]


def expressions(draw: Draw, known: Predicates, bound: list[str], depth: int = 2) -> Any:
    """An expression over bound variables and constants: mostly arithmetic, so mostly with a value."""
    leaves = [*bound * 4, *known.universe[:2], *NUMBERS]
    functions = ["+", "-", "*", "/"] * 3 + ["-1", "ABS", "STR", "STRLEN", "CONCAT", "UCASE", "SKOLEM"]
    name = draw(st.sampled_from(functions))
    arity = 1 if name in ("-1", "ABS", "STR", "STRLEN", "UCASE") else 2

    def part() -> Any:
        deeper = depth > 1 and draw(st.integers(0, 3)) == 0
        return expressions(draw, known, bound, depth - 1) if deeper else draw(st.sampled_from(leaves))

    return ("()", name.removesuffix("1"), tuple(part() for _ in range(arity)))


def conditions(draw: Draw, known: Predicates, bound: list[str], depth: int = 2) -> Any:
    """A filter: comparisons, some of them of expressions, under !, && and ||."""
    kind = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "||", "&&", "!", "||"]))
    if depth and kind in ("&&", "||", "!"):
        parts = 1 if kind == "!" else 2
        return (kind, *(conditions(draw, known, bound, depth - 1) for _ in range(parts)))
    left = expressions(draw, known, bound, 1) if draw(st.booleans()) else draw(st.sampled_from(bound))
    sign = kind if kind in OPERATORS else "<"
    return (sign, left, draw(st.sampled_from([*bound, *known.universe, *NUMBERS])))


def computing_rule(draw: Draw, known: Predicates, head: str) -> list[Any]:
    """A rule that creates values from predicates of lower levels, so that there is an end to them."""
    lower = known.upto(known.level[head] - 1)
    body = [positive(draw, known, lower, VARIABLES[:3]) for _ in range(draw(st.sampled_from([1, 2])))]
    if not (bound := bound_in(body)):
        return []
    terms = list(bound)
    if draw(st.integers(0, 2)) == 0:
        body.append(("filter", conditions(draw, known, bound)))
    if draw(st.integers(0, 4)):
        body.append(("=", "?new", expressions(draw, known, bound)))
        terms += ["?new"] * 5
        if draw(st.integers(0, 4)) == 0:
            limit = draw(st.sampled_from([*bound, *NUMBERS]))
            body.append((draw(st.sampled_from(OPERATORS[1:])), "?new", limit))
        if draw(st.integers(0, 4)) == 0:
            body.append(negative(draw, known, lower, [*bound, "?new"]))
    return [([(head, tuple(draw(st.sampled_from(terms)) for _ in range(known.arity[head])))], body)]


@st.composite
def computing_cases(draw: Draw) -> Case:
    """A program of two levels that compute and filter, and a closure over what they create; data is mostly numbers."""
    arity = {"a0": 1, "b0": 2, "c1": 1, "d1": 2, "f2": 2, "g2": 1}
    universe = tuple(
        draw(st.lists(st.sampled_from([*NUMBERS, *CONSTANTS]), min_size=3, max_size=6, unique=True))
    )
    known = Predicates(arity, {p: int(p[1]) for p in arity}, universe)
    rules = [rule for p in "c1 d1 f2 f2 g2".split() for rule in computing_rule(draw, known, p)]
    x, y, z, _ = VARIABLES
    rules += [rule(("path", x, y), ("f2", x, y)), rule(("path", x, z), ("path", x, y), ("d1", y, z))]
    facts = {p: draw(rows(arity[p], universe, 6, fewest=2)) for p in ("a0", "b0")}
    return Case(draw(st.permutations(rules)), facts, {**arity, "path": 2}, universe)
