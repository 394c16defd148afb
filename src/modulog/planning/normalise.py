"""The pass that turns rules into clauses: one head each, assignments substituted, no literal twice.

`?x = e` is an assignment if nothing else binds ?x. If e is a constant or a variable, it replaces ?x
everywhere. If e is a call, it replaces ?x in comparisons and in other calls, so that these need no term for
its value; if ?x occurs in a head or in a negated atom, or nowhere else, the clause keeps the equation, with
?x on its left. A rule whose head is among its body atoms derives nothing and is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from modulog.language.model import (
    Atom,
    Call,
    Comparison,
    Expression,
    Rule,
    Term,
    Variable,
    assignments,
    replace_terms,
)
from modulog.planning.plan import Clause


def normalise(rules: tuple[Rule, ...]) -> tuple[Clause, ...]:
    """The clauses of the rules, in order."""
    return tuple(clause for rule in rules for clause in _clauses(rule))


def _clauses(rule: Rule) -> list[Clause]:
    simplified = substitute_assignments(rule.atoms, rule.negations, rule.comparisons)
    heads = dict.fromkeys(substitute(a, simplified.values) for a in rule.heads)
    return [
        Clause(head, simplified.atoms, simplified.negations, simplified.comparisons_for([head]), rule)
        for head in heads
        if head not in simplified.atoms
    ]


class SubstitutedBody:
    """A body in which assigned variables have been replaced; `values` has the expression of each of them."""

    def __init__(
        self,
        atoms: tuple[Atom, ...],
        negations: tuple[Atom, ...],
        values: dict[Variable, Expression],
        tests: tuple[Comparison, ...],
    ) -> None:
        self.atoms = tuple(dict.fromkeys(substitute(a, values) for a in atoms))
        self.negations = tuple(dict.fromkeys(substitute(a, values) for a in negations))
        self.values, self.tests = values, tests

    def comparisons_for(self, heads: Iterable[Atom]) -> tuple[Comparison, ...]:
        """The comparisons of the clause: the tests, and the equations of computed variables that stay.

        These are variables in heads or negated atoms, and those that occur nowhere else: their calls still
        have to succeed for the body to hold.
        """
        named = {v for atom in (*heads, *self.negations) for v in atom.variables()}
        computed = {v: e for v, e in self.values.items() if isinstance(e, Call)}
        inside = [c.left for c in self.tests] + [c.right for c in self.tests]
        inside += [a for v, e in computed.items() if v in named for a in (e, *e.arguments)]
        known = set(_calls(inside))
        kept = [v for v, e in computed.items() if v in named or e not in known]
        return (*self.tests, *(Comparison("=", v, computed[v]) for v in kept))


def substitute_assignments(
    atoms: tuple[Atom, ...], negations: tuple[Atom, ...], comparisons: tuple[Comparison, ...]
) -> SubstitutedBody:
    """Separate assignments from tests among the comparisons, and substitute the assigned variables."""
    bound = {v for atom in atoms for v in atom.variables()}
    values: dict[Variable, Expression] = {}
    tests = list(dict.fromkeys(comparisons))
    for comparison, variable, value in assignments(comparisons, bound):
        values[variable] = _value(value, values)
        tests.remove(comparison)
    simplified = (replace(c, left=_value(c.left, values), right=_value(c.right, values)) for c in tests)
    return SubstitutedBody(atoms, negations, values, tuple(dict.fromkeys(simplified)))


def _value(expression: Expression, values: Mapping[Variable, Expression]) -> Expression:
    """The expression with assigned variables replaced by their expressions."""
    if not values:
        return expression
    return replace_terms(expression, lambda t: values.get(t, t) if isinstance(t, Variable) else t)


def _calls(expressions: Iterable[Expression]) -> Iterable[Call]:
    """The calls in expressions, nested ones included."""
    for expression in expressions:
        if isinstance(expression, Call):
            yield expression
            yield from _calls(expression.arguments)


def substitute(atom: Atom, values: Mapping[Variable, Expression]) -> Atom:
    """The atom with assigned variables replaced by their terms; variables whose value is a call stay."""
    if not values:
        return atom
    return replace(atom, terms=tuple(_term(t, values) for t in atom.terms))


def _term(term: Term, values: Mapping[Variable, Expression]) -> Term:
    value = values.get(term, term) if isinstance(term, Variable) else term
    return term if isinstance(value, Call) else value
