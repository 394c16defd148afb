"""Conjunctive queries with negation and comparisons, as expressions."""

from __future__ import annotations

from collections.abc import Iterable

from modulog.engines.protocol import Expr, Project, Read
from modulog.language.model import Atom, Call, Comparison, Literal, Negation, Variable
from modulog.materialisation.facts import Facts
from modulog.modules.clauses import argument, arguments, computations, condition
from modulog.planning.collapse import through
from modulog.planning.normalise import settle
from modulog.planning.order_joins import Body, order


def answer(literals: tuple[Literal, ...], facts: Facts) -> Project:
    """The expression whose rows are the answers: one column for each variable, in order of appearance."""
    variables = variables_of(literals)
    atoms = tuple(literal for literal in literals if isinstance(literal, Atom))
    negations = tuple(n.atom for n in literals if isinstance(n, Negation))
    settled = settle(atoms, negations, tuple(c for c in literals if isinstance(c, Comparison)))
    reads = tuple(_read(atom, facts) for atom in settled.atoms)
    negated = tuple(_read(atom, facts) for atom in settled.negations)
    values = (settled.values.get(Variable(v), Variable(v)) for v in variables)
    columns = (
        v if isinstance(e, Call) else argument(e, facts) for v, e in zip(variables, values, strict=True)
    )
    args = tuple(c for c in columns if c is not None)
    needed = tuple(dict.fromkeys(a for a in args if isinstance(a, str)))
    computed = computations({v: e for v, e in settled.values.items() if isinstance(e, Call)}, facts)
    conditions = tuple(condition(c, facts) for c in settled.tests)
    body = Body(reads, negated, conditions, needed, computed=computed)
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
