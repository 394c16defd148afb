"""What any engine can do without a kernel of its own: slow, correct, and what faster versions must equal."""

from __future__ import annotations

from modulog.algebra.expressions import Expr, Join, Multiway


def as_joins(expr: Multiway) -> Expr:
    """Reads joined one after another, each with those before it where they have a variable in common."""
    found: Expr = expr.reads[0]
    rest = list(expr.reads[1:])
    while rest:
        known = set(found.variables)
        chosen = next((read for read in rest if known.intersection(read.variables)), rest[0])
        rest.remove(chosen)
        found = Join(found, chosen, tuple(dict.fromkeys((*found.variables, *chosen.variables))))
    return found
