"""Conditions with `&&`, `||` and `!`, turned into the comparisons that rule bodies hold.

A comparison of values that cannot be compared is false, and so is the opposite comparison: negation therefore moves
inwards to the comparisons (negation normal form), and a disjunction becomes several rules (disjunctive normal form).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from modulog.language.model import Comparison, Literal

OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Some part holds."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part is false."""

    part: Formula


Formula = Comparison | And | Or | Not


def conjunctions(formula: Formula) -> list[tuple[Comparison, ...]]:
    """The disjunctive normal form: the formula holds if all comparisons of one of the tuples hold.

    >>> from modulog.language.model import Variable
    >>> x, y = Variable("x"), Variable("y")
    >>> [[c.operator for c in part] for part in conjunctions(Not(And((Comparison("<", x, y), Comparison("=", x, y)))))]
    [['>='], ['!=']]
    """
    return list(dict.fromkeys(_normal(formula, True)))


def _normal(formula: Formula, positive: bool) -> list[tuple[Comparison, ...]]:
    if isinstance(formula, Not):
        return _normal(formula.part, not positive)
    if isinstance(formula, Comparison):
        operator = formula.operator if positive else OPPOSITE[formula.operator]
        return [(Comparison(operator, formula.left, formula.right, formula.position),)]
    parts = [_normal(part, positive) for part in formula.parts]
    if isinstance(formula, Or) == positive:
        return [conjunction for part in parts for conjunction in part]
    return [tuple(itertools.chain(*choice)) for choice in itertools.product(*parts)]


def bodies(body: Sequence[Literal | And | Or | Not]) -> list[tuple[Literal, ...]]:
    """The bodies without `&&`, `||` and `!` that together say what a body with formulas says; one if it has no `||`.

    >>> from modulog.language.model import Variable
    >>> test = Comparison("<", Variable("x"), Variable("y"))
    >>> len(bodies([Or((test, Not(test))), test]))
    2
    """
    choices: list[list[tuple[Literal, ...]]] = [
        list(conjunctions(part)) if isinstance(part, And | Or | Not) else [(part,)] for part in body
    ]
    return [tuple(itertools.chain(*choice)) for choice in itertools.product(*choices)]
