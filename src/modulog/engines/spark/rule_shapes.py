"""The shapes of rules: which of them can share a plan.

Two pieces of work have the same *shape* when their expressions differ only in which relations they read and write and in the constants of their
atoms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from modulog.algebra import expressions as p
from modulog.algebra.default_joins import as_joins
from modulog.engines.spark.relation import SparkRelation


@dataclass(slots=True)
class Member:
    """An expression: its shape, and the values of its parameters in the order in which a walk meets them."""

    expr: p.Expr
    shape: tuple[Any, ...] = ()
    parameters: list[int] = field(default_factory=list)
    reads: list[p.Read] = field(default_factory=list)


def rule(expr: p.Project, head: SparkRelation) -> Member:
    """A rule: the projection's arguments are those of the head."""
    found, names = Member(expr), dict[str, int]()
    body = _shape(expr.child, found, names)
    found.parameters.append(head.number)
    found.shape = (head.arity, body, tuple(_slot(a, found, names) for a in expr.args))
    return found


def question(expr: p.Expr) -> Member:
    """An expression that stands for itself."""
    found = Member(expr)
    found.shape = _shape(expr, found, {})
    return found


def _slot(arg: p.Argument, found: Member, names: dict[str, int]) -> object:
    if isinstance(arg, str):
        return names.setdefault(arg, len(names))
    if isinstance(arg, int):
        found.parameters.append(arg)
        return "constant"
    return None


def _shape(expr: p.Expr, found: Member, names: dict[str, int]) -> tuple[Any, ...]:
    def listed(variables: Sequence[str]) -> tuple[int, ...]:
        return tuple(names[v] for v in variables)

    match expr:
        case p.Read():
            assert isinstance(expr.relation, SparkRelation)
            found.reads.append(expr)
            found.parameters.append(expr.relation.number)
            args = tuple(_slot(a, found, names) for a in expr.args)
            return ("read", expr.relation.arity, expr.version, expr.except_from, args)
        case p.Join() | p.SemiJoin() | p.AntiJoin():
            sides = (_shape(expr.left, found, names), _shape(expr.right, found, names))
            return (type(expr).__name__, *sides, listed(expr.variables))
        case p.Where():
            child = _shape(expr.child, found, names)
            condition = tuple(_value_shape(v, names) for v in (expr.condition.left, expr.condition.right))
            return ("where", child, expr.condition.operator, condition, listed(expr.variables))
        case p.Project():
            child = _shape(expr.child, found, names)
            return (
                "project",
                child,
                tuple(names[a] if isinstance(a, str) else ("is", a) for a in expr.args),
                expr.how,
            )
        case p.Extend():
            child = _shape(expr.child, found, names)
            value = _value_shape(expr.value, names)
            names.setdefault(expr.variable, len(names))
            return ("extend", child, names[expr.variable], value)
        case p.Union():
            return ("union", *(_shape(part, found, names) for part in expr.parts))
        case p.Rows():
            for name in expr.variables:
                names.setdefault(name, len(names))
            return ("rows", id(expr.table), listed(expr.variables))
        case p.Multiway():
            return _shape(as_joins(expr), found, names)


def _value_shape(value: p.Value, names: dict[str, int]) -> object:
    if isinstance(value, p.Compute):
        return (value.function, *(_value_shape(a, names) for a in value.arguments))
    return names[value] if isinstance(value, str) else ("is", value)
