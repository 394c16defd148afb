"""Pass 1: one head a rule, no assignments, nothing said twice.

`?x = t` assigns when nothing else binds ?x: the variable is replaced by t everywhere. A rule whose head is among its body atoms says
nothing and is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from modulog.language.model import Atom, Comparison, Rule, Term, Variable
from modulog.planning.plan import Clause


def normalise(rules: tuple[Rule, ...]) -> tuple[Clause, ...]:
    """The clauses of the rules, in order."""
    return tuple(clause for rule in rules for clause in _clauses(rule))


def _clauses(rule: Rule) -> list[Clause]:
    values, comparisons = assignments(rule.atoms, rule.comparisons)
    atoms = tuple(dict.fromkeys(substitute(a, values) for a in rule.atoms))
    negations = tuple(dict.fromkeys(substitute(a, values) for a in rule.negations))
    heads = dict.fromkeys(substitute(a, values) for a in rule.heads)
    return [Clause(head, atoms, negations, comparisons, rule) for head in heads if head not in atoms]


def assignments(
    atoms: tuple[Atom, ...], comparisons: tuple[Comparison, ...]
) -> tuple[dict[Variable, Term], tuple[Comparison, ...]]:
    """The values of variables that only an equation binds, and the comparisons that remain."""
    bound = {v for atom in atoms for v in atom.variables()}
    values: dict[Variable, Term] = {}
    waiting, progress = list(dict.fromkeys(comparisons)), True
    while progress:
        progress = False
        for comparison in waiting:
            pair = _assigned(comparison, bound)
            if pair is not None:
                variable, value = pair
                values[variable] = values.get(value, value) if isinstance(value, Variable) else value
                bound.add(variable)
                waiting.remove(comparison)
                progress = True
                break
    rest = (replace(c, left=_value(c.left, values), right=_value(c.right, values)) for c in waiting)
    return values, tuple(dict.fromkeys(rest))


def _assigned(comparison: Comparison, bound: set[Variable]) -> tuple[Variable, Term] | None:
    if comparison.operator != "=":
        return None
    for variable, value in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
        free = isinstance(variable, Variable) and variable not in bound
        if free and (not isinstance(value, Variable) or value in bound):
            assert isinstance(variable, Variable)
            return variable, value
    return None


def _value(term: Term, values: Mapping[Variable, Term]) -> Term:
    return values.get(term, term) if isinstance(term, Variable) else term


def substitute(atom: Atom, values: Mapping[Variable, Term]) -> Atom:
    """The atom with variables replaced by their values."""
    if not values:
        return atom
    return replace(atom, terms=tuple(_value(t, values) for t in atom.terms))
