"""The oracle: every consequence of a stratified program, by trying everything again until nothing is new.

It shares no code with the package. A rule is `(heads, body)`, a head `(predicate, arguments)`, a literal `("+", predicate,
arguments)`, `("-", predicate, arguments)`, `(operator, left, right)` or `("filter", test)`, a constant `(kind, value)`, a variable
a string. What expressions and tests mean is in `oracle_values`.
"""

from typing import Any

from support.oracle_values import evaluate, holds

Way = dict[str, Any]


def fits(arguments: Any, row: Any, way: Way) -> bool:
    """Whether the arguments can be the row; gives the variables among them their values."""
    pairs = [(a, v) for a, v in zip(arguments, row, strict=True) if a != "_"]
    return all((way.setdefault(a, v) if isinstance(a, str) else a) == v for a, v in pairs)


def step(literal: Any, way: Way, facts: Any) -> list[Way]:
    """The ways to go on from one way so that the literal is true; `?x = e` gives an unbound variable its value."""
    if literal[0] in "+-":
        found = [new for row in facts.get(literal[1], ()) if fits(literal[2], row, new := dict(way))]
        return found if literal[0] == "+" else [way] * (not found)
    if literal[0] == "filter":
        return [way] * (holds(literal[1], way) is True)
    left, right = (evaluate(t, way) for t in literal[1:])
    unbound = [(a, b) for a, b in ((left, right), (right, left)) if isinstance(a, str) and b is not None]
    if unbound or None in (left, right):
        return [way | dict(unbound[:1])] if unbound else []
    return [way] * (holds((literal[0], left, right), way) is True)


def solve(body: Any, facts: Any) -> list[Way]:
    """Every way to make the body true: atoms first, then equations, then the other tests."""
    ways: list[Way] = [{}]
    for literal in sorted(body, key=lambda b: "+=".find(b[0]) % 3):
        ways = [new for way in ways for new in step(literal, way, facts)]
    return ways


def materialise(rules: Any, facts: dict[str, set[Any]]) -> dict[str, set[Any]]:
    """All facts that follow, by predicate. A predicate is as high as what it needs, and above what it negates."""
    facts, level = {p: set(rows) for p, rows in facts.items()}, {p: 0 for heads, _ in rules for p, _ in heads}
    for _ in range(len(rules) * (len(rules) + 1)):
        for heads, body in rules:
            needs = [level.get(b[1], 0) + (b[0] == "-") for b in body if b[0] in "+-"]
            level |= dict.fromkeys((p for p, _ in heads), max(needs + [level[p] for p, _ in heads]))
    assert max(level.values(), default=0) <= len(rules), "negation through recursion"
    for n in range(len(rules) + 1):
        size, stratum = -1, [(heads, body) for heads, body in rules if level[heads[0][0]] == n]
        while size != (size := sum(map(len, facts.values()))):
            for heads, way in [(heads, way) for heads, body in stratum for way in solve(body, facts)]:
                for p, arguments in heads:
                    facts.setdefault(p, set()).add(tuple(way.get(a, a) for a in arguments))
    return facts
