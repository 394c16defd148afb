"""Conjunctive queries with negation and comparisons, as expressions."""

from __future__ import annotations

from collections.abc import Iterable

from modulog.engines.protocol import Expr, Project, Read
from modulog.language.model import Atom, Comparison, Literal, Negation, Variable
from modulog.materialisation.facts import Facts
from modulog.modules.clauses import argument, arguments, condition
from modulog.planning.collapse import through
from modulog.planning.normalise import assignments, substitute
from modulog.planning.order_joins import Body, order


def answer(literals: tuple[Literal, ...], facts: Facts) -> Project:
    """The expression whose rows are the answers: one column for each variable, in order of appearance."""
    variables = variables_of(literals)
    atoms = tuple(literal for literal in literals if isinstance(literal, Atom))
    values, comparisons = assignments(atoms, tuple(c for c in literals if isinstance(c, Comparison)))
    reads = tuple(_read(substitute(atom, values), facts) for atom in atoms)
    negated = tuple(_read(substitute(n.atom, values), facts) for n in literals if isinstance(n, Negation))
    columns = tuple(argument(values.get(Variable(v), Variable(v)), facts) for v in variables)
    args = tuple(c for c in columns if c is not None)
    needed = tuple(dict.fromkeys(a for a in args if isinstance(a, str)))
    body = Body(reads, negated, tuple(condition(c, facts) for c in comparisons), needed)
    expr: Expr = order(body, facts.unit)
    hidden = any(None in read.args for read in reads)
    return Project(expr, args, "set" if hidden and args else "keep")


def variables_of(literals: Iterable[Literal]) -> tuple[str, ...]:
    """The named variables, in order of appearance."""
    return tuple(dict.fromkeys(v.name for literal in literals for v in _variables(literal)))


def _variables(literal: Literal) -> Iterable[Variable]:
    return (literal.atom if isinstance(literal, Negation) else literal).variables()


def _read(atom: Atom, facts: Facts) -> Read:
    atom = through(atom, facts.plan.links)
    return Read(facts.relation(atom.predicate), arguments(atom, facts), "all")
