"""Expressions as people read them: one line, in the order of evaluation."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from modulog.engines.protocol import (
    AntiJoin,
    Argument,
    Compute,
    Expr,
    Extend,
    Join,
    Multiway,
    Project,
    Read,
    Rows,
    SemiJoin,
    Value,
    Where,
)
from modulog.terms.functions import OPERATORS


def describe(expr: Expr, name: Callable[[int], str] = "#{}".format) -> str:
    """An expression on one line, in the order of its evaluation.

    `⋈` looks an atom up for each row, `⋈[…]` joins several atoms at once, `⋉` only asks whether it is there, `▷` whether it is not, `π` removes duplicates, `let` computes.
    """

    def term(a: Argument) -> str:
        return "_" if a is None else f"?{a}" if isinstance(a, str) else name(a)

    def value(v: Value) -> str:
        if not isinstance(v, Compute):
            return term(v)
        inner = [value(a) for a in v.arguments]
        if v.function in OPERATORS and len(inner) == 2:
            return f"({inner[0]} {v.function} {inner[1]})"
        return f"{v.function}({', '.join(inner)})"

    def text(e: Expr) -> str:
        match e:
            case Read():
                mark = {"delta": "Δ", "old": "", "all": "", "after": ""}.get(e.version, f"[{e.version}]")
                return f"{mark}{e.relation.name}({', '.join(map(term, e.args))})"
            case Join():
                return f"{text(e.left)} ⋈ {inner(e.right)}"
            case SemiJoin():
                return f"{text(e.left)} ⋉ {inner(e.right)}"
            case AntiJoin():
                return f"{text(e.left)} ▷ {inner(e.right)}"
            case Where():
                test = e.condition
                return f"{text(e.child)} where {value(test.left)} {test.operator} {value(test.right)}"
            case Extend():
                return f"{text(e.child)} let ?{e.variable} = {value(e.value)}"
            case Project():
                listed = ", ".join(map(term, e.args))
                return f"π[{listed}]({text(e.child)})" if e.how != "keep" else text(e.child)
            case Multiway():
                return f"⋈[{', '.join(text(read) for read in e.reads)}]"
            case Rows():
                return "true" if not e.variables else f"rows({', '.join(map(term, e.variables))})"
            case _:
                return reduce(lambda a, b: f"{a} ∪ {b}", (text(part) for part in getattr(e, "parts", ())), "")

    def inner(e: Expr) -> str:
        return text(e) if isinstance(e, Read) else f"({text(e)})"

    return text(expr)
