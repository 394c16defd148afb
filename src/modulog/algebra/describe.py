"""Prints expressions of the algebra on one line each, in the order of evaluation."""

from __future__ import annotations

from collections.abc import Callable

from modulog.algebra.expressions import (
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
    Union,
    Value,
    Where,
)


def describe(expr: Expr, name: Callable[[int], str] = "#{}".format) -> str:
    """An expression on one line, in the order of its evaluation; `name` prints the id of a constant.

    `⋈` looks an atom up for each row, `⋈[…]` joins several atoms at once, `⋉` keeps rows with a match and `▷`
    those without one, `π` removes duplicates, `let` computes a value.
    """
    return _Describer(name).expression(expr)


class _Describer:
    """Prints the parts of expressions; `name` prints the id of a constant."""

    def __init__(self, name: Callable[[int], str]) -> None:
        self.name = name

    def term(self, a: Argument) -> str:
        return "_" if a is None else f"?{a}" if isinstance(a, str) else self.name(a)

    def value(self, v: Value) -> str:
        if not isinstance(v, Compute):
            return self.term(v)
        inner = [self.value(a) for a in v.arguments]
        if len(inner) == 2 and not v.function.isidentifier():
            return f"({inner[0]} {v.function} {inner[1]})"
        return f"{v.function}({', '.join(inner)})"

    def read(self, e: Read) -> str:
        mark = {"delta": "Δ", "old": "", "all": "", "after": ""}.get(e.version, f"[{e.version}]")
        return f"{mark}{e.relation.name}({', '.join(map(self.term, e.args))})"

    def expression(self, e: Expr) -> str:
        text = self.expression
        match e:
            case Read():
                return self.read(e)
            case Join():
                return f"{text(e.left)} ⋈ {self.operand(e.right)}"
            case SemiJoin():
                return f"{text(e.left)} ⋉ {self.operand(e.right)}"
            case AntiJoin():
                return f"{text(e.left)} ▷ {self.operand(e.right)}"
            case Where():
                test = e.condition
                return (
                    f"{text(e.child)} where {self.value(test.left)} {test.operator} {self.value(test.right)}"
                )
            case Extend():
                return f"{text(e.child)} let ?{e.variable} = {self.value(e.value)}"
            case Project():
                listed = ", ".join(map(self.term, e.args))
                return f"π[{listed}]({text(e.child)})" if e.how != "keep" else text(e.child)
            case Multiway():
                return f"⋈[{', '.join(text(read) for read in e.reads)}]"
            case Rows():
                return "true" if not e.variables else f"rows({', '.join(map(self.term, e.variables))})"
            case Union():
                return " ∪ ".join(map(text, e.parts))

    def operand(self, e: Expr) -> str:
        """The right side of a join, in parentheses unless it is a read."""
        return self.expression(e) if isinstance(e, Read) else f"({self.expression(e)})"
