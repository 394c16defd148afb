"""What expressions need, and how many rows they may give: so that the driver takes on only what is small."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np

from modulog.engines import protocol as p
from modulog.engines.defaults import as_joins
from modulog.engines.spark.mirrored import MirroredRelation
from modulog.engines.spark.table import SparkTable


class Needs:
    """The relations and tables that expressions read, and whether they compare or compute values."""

    def __init__(self, exprs: Iterable[p.Expr]) -> None:
        self.relations: set[MirroredRelation] = set()
        self.tables: list[SparkTable] = []
        self.values = False
        for expr in exprs:
            self._walk(expr)

    def _walk(self, expr: p.Expr) -> None:
        match expr:
            case p.Read():
                assert isinstance(expr.relation, MirroredRelation)
                self.relations.add(expr.relation)
            case p.Rows():
                assert isinstance(expr.table, SparkTable)
                self.tables.append(expr.table)
            case p.Join() | p.SemiJoin() | p.AntiJoin():
                self._walk(expr.left)
                self._walk(expr.right)
            case p.Union():
                for part in expr.parts:
                    self._walk(part)
            case p.Multiway():
                self._walk(as_joins(expr))
            case p.Where() | p.Extend() | p.Project():
                self.values |= isinstance(expr, p.Where) and expr.condition.operator != "is"
                self.values |= isinstance(expr, p.Extend) and isinstance(expr.value, p.Compute)
                self._walk(expr.child)


def most_rows(expr: p.Expr) -> float:
    """About how many rows an expression, or a part of it that is evaluated row by row, gives."""
    match expr:
        case p.Join() | p.SemiJoin() | p.AntiJoin():
            right = 0.0 if isinstance(expr.right, p.Read) else most_rows(expr.right)
            return max(expected_rows(expr), most_rows(expr.left), right)
        case p.Where() | p.Extend() | p.Project():
            return max(expected_rows(expr), most_rows(expr.child))
        case p.Union():
            return sum(map(most_rows, expr.parts))
    return expected_rows(expr)


def expected_rows(expr: p.Expr) -> float:
    """About how many rows an expression gives before duplicates go."""
    return _expected(expr)[0]


def _expected(expr: p.Expr) -> tuple[float, dict[str, float]]:
    """Rows, and different values of each variable, as if values were spread evenly."""
    match expr:
        case p.Read():
            return _expected_facts(expr)
        case p.Rows():
            rows = float(len(expr.table))
            return rows, dict.fromkeys(expr.variables, rows)
        case p.Join():
            (left, mine), (right, others) = _expected(expr.left), _expected(expr.right)
            if isinstance(expr.left, p.Rows) and isinstance(expr.right, p.Rows):
                left, right = _matches(expr.left, expr.right), 1.0
                mine, others = dict.fromkeys(expr.variables, left), {}
            shared = prod(max(mine[v], others[v], 1.0) for v in mine.keys() & others.keys())
            return left * right / shared, {
                v: min(mine.get(v, d), others.get(v, d)) for v, d in (mine | others).items()
            }
        case p.Multiway():
            return _expected(as_joins(expr))
        case p.SemiJoin() | p.AntiJoin():
            return _expected(expr.left)
        case p.Union():
            parts = [_expected(part)[0] for part in expr.parts]
            return sum(parts), dict.fromkeys(expr.variables, sum(parts))
        case p.Where() | p.Extend() | p.Project():
            rows, values = _expected(expr.child)
            return rows, {v: values.get(v, rows) for v in expr.variables}


def _matches(left: p.Rows, right: p.Rows) -> float:
    """How many pairs of rows agree on the first variable that they share; members of large components make many."""
    shared = next((v for v in left.variables if v in right.variables), None)
    if shared is None:
        return float(len(left.table)) * len(right.table)
    (values, counts), (others, numbers) = (
        np.unique(_column(side, shared), return_counts=True) for side in (left, right)
    )
    _, mine, yours = np.intersect1d(values, others, assume_unique=True, return_indices=True)
    return float(counts[mine].astype(np.float64) @ numbers[yours])


def _column(side: p.Rows, variable: str) -> Any:
    assert isinstance(side.table, SparkTable)
    return side.table.rows().ids[side.variables.index(variable)]


def _expected_facts(read: p.Read) -> tuple[float, dict[str, float]]:
    estimate = read.relation.estimate(read.version)
    rows, values = estimate.rows, dict[str, float]()
    for arg, distinct in zip(read.args, estimate.distinct, strict=True):
        if isinstance(arg, int) or arg in values:
            rows /= max(distinct, 1.0)
        elif arg is not None:
            values[arg] = distinct
    if not read.relation.listed and len(values) < 2:
        rows = min([rows, *values.values()])  # what is represented comes once, with its multiplicity
    return rows, values
