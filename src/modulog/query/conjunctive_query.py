"""Translates conjunctive queries, with negation and comparisons, to expressions of the engine's algebra."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from modulog.algebra.expressions import Compute, Condition, Project, Read, Value
from modulog.engines.engine import Work
from modulog.engines.relation import EXPLICIT
from modulog.joins.order import Body, order
from modulog.language.model import Atom, Call, Comparison, Literal, Negation, Variable
from modulog.modules.clause import argument, computations, condition
from modulog.planning.normalise import substitute_assignments
from modulog.query.predicate_reads import Piece, Readings, place, union

PartReads = tuple[tuple[Read, ...], Mapping[str, int]]
"""The reads whose join is one part of an answer, and the variables with one value in all of its rows."""


def answer(literals: tuple[Literal, ...], readings: Readings) -> Project:
    """The expression whose rows are the answers: one column for each variable, in order of appearance.

    `readings` says from which relations the facts of each atom are read. If it takes several split atoms (see
    `_Matches`), some joins are evaluated here already.
    """
    variables, facts = variables_of(literals), readings.facts
    atoms = tuple(literal for literal in literals if isinstance(literal, Atom))
    negations = tuple(n.atom for n in literals if isinstance(n, Negation))
    simplified = substitute_assignments(
        atoms, negations, tuple(c for c in literals if isinstance(c, Comparison))
    )
    values = (simplified.values.get(Variable(v), Variable(v)) for v in variables)
    columns = (
        v if isinstance(e, Call) else argument(e, facts) for v, e in zip(variables, values, strict=True)
    )
    args = tuple(c for c in columns if c is not None)
    needed = tuple(dict.fromkeys(a for a in args if isinstance(a, str)))
    computed = computations({v: e for v, e in simplified.values.items() if isinstance(e, Call)}, facts)
    conditions = tuple(condition(c, facts) for c in simplified.tests)
    positive = _Matches(readings)
    for atom in simplified.atoms:
        positive.add(atom)
    positive.join_split(all_of_them=False)
    negated = tuple(positive.matching(atom) for atom in simplified.negations)
    parts = positive.answers(Body((), negated, conditions, needed, computed=computed), args)
    has_anonymous = any(Variable("_") in atom.terms for atom in simplified.atoms)
    return union(parts, args, facts.engine, "set" if has_anonymous and args else "keep")


class _Matches:
    """The positive atoms of a query.

    The facts of an atom such as `triple(?s, ?p, ?o)` are in several relations, one for each property; such
    atoms are called *split*. They are joined with the other atoms one after the other, so that each property
    is only searched for what matches the rest of the query. The last one is not joined here: the relations of
    its facts give the parts of the answer, which are united.
    """

    def __init__(self, readings: Readings) -> None:
        self.readings, self.engine = readings, readings.facts.engine
        self.reads: list[Read] = []
        self.split: list[list[Piece]] = []
        self.no_matches = False  # whether some atom has no facts that could match

    def add(self, atom: Atom) -> None:
        """Add an atom of the query."""
        pieces = self.readings.of(atom)
        if _is_read(pieces):
            self.reads.append(pieces[0].read)
        elif pieces:
            self.split.append(pieces)
        else:
            self.no_matches = True

    def join_split(self, all_of_them: bool) -> None:
        """Join split atoms with the others until one of them is left, or none if `all_of_them`."""
        while len(self.split) > (not all_of_them):
            bound = {v for read in self.reads for v in read.variables}
            pieces = max(self.split, key=lambda pieces: _selective(pieces, bound))
            self.split.remove(pieces)
            names = dict.fromkeys(v for read in self.reads for v in read.variables)
            names |= dict.fromkeys(v for p in pieces for v in (*p.fixed, *p.read.variables))
            self.reads = [self._store_matches(pieces, tuple(names))]

    def matching(self, atom: Atom) -> Read:
        """The read of a negated atom.

        If its facts are in several relations, those that match the positive atoms are collected in a new
        relation.
        """
        pieces = self.readings.of(atom)
        if _is_read(pieces):
            return pieces[0].read
        self.join_split(all_of_them=True)
        names = tuple(dict.fromkeys(v for p in pieces for v in (*p.fixed, *p.read.variables)))
        return self._store_matches(pieces, names)

    def _store_matches(self, pieces: Sequence[Piece], names: tuple[str, ...]) -> Read:
        """Join the reads with each of the pieces, and read the union of the results from a new relation."""
        relation = self.engine.relation("matches", len(names))
        parts = self._parts(Body((), needed=names), [((*self.reads, p.read), p.fixed) for p in pieces], names)
        self.engine.run([Work(relation, part, EXPLICIT) for part in parts])
        relation.derive()
        relation.merge()
        return Read(relation, names, "all")

    def _parts(self, body: Body, parts: Iterable[PartReads], args: tuple[str | int, ...]) -> list[Project]:
        """One expression for each element of `parts`: the given body with these reads."""
        unit = self.readings.facts.unit
        bound = ((_bound(replace(body, reads=reads), fixed), fixed) for reads, fixed in parts)
        return [place(order(found, unit), fixed, args) for found, fixed in bound]

    def answers(self, body: Body, args: tuple[str | int, ...]) -> list[Project]:
        """The expressions whose union is the answer; `body` has everything but the positive reads."""
        if self.no_matches:
            return []
        if not self.split:
            return self._parts(body, [(tuple(self.reads), {})], args)
        (pieces,) = self.split
        if len(self.reads) > 1:  # the other atoms are joined once, and not for each of the pieces
            names = tuple(dict.fromkeys(v for read in self.reads for v in read.variables))
            first, *remaining = self.reads
            self.reads, only = remaining, [Piece(first, {})]
            self.reads = [self._store_matches(only, names)]
        return self._parts(body, [((*self.reads, p.read), p.fixed) for p in pieces], args)


def _is_read(pieces: Sequence[Piece]) -> bool:
    """Whether the facts of an atom are those of a single read."""
    return len(pieces) == 1 and not pieces[0].fixed


def _selective(pieces: Sequence[Piece], bound: set[str]) -> int:
    """How many arguments of an atom are constants or bound when it is looked up."""
    return sum(isinstance(a, int) or a in bound for a in pieces[0].read.args)


def _bound(body: Body, fixed: Mapping[str, int]) -> Body:
    """A body in which some variables are replaced by values."""
    if not fixed:
        return body

    def value(v: Value) -> Value:
        if isinstance(v, Compute):
            return Compute(v.function, tuple(map(value, v.arguments)))
        return fixed.get(v, v) if isinstance(v, str) else v

    def read(r: Read) -> Read:
        return Read(
            r.relation, tuple(fixed.get(a, a) if isinstance(a, str) else a for a in r.args), r.version
        )

    computed = ((name, value(function)) for name, function in body.computed)
    return replace(
        body,
        reads=tuple(map(read, body.reads)),
        negated=tuple(map(read, body.negated)),
        conditions=tuple(Condition(c.operator, value(c.left), value(c.right)) for c in body.conditions),
        needed=tuple(v for v in body.needed if v not in fixed),
        computed=tuple((name, f) for name, f in computed if isinstance(f, Compute)),
    )


def variables_of(literals: Iterable[Literal]) -> tuple[str, ...]:
    """The variables of a query except anonymous ones, in order of appearance."""
    return tuple(dict.fromkeys(v.name for literal in literals for v in _variables(literal)))


def _variables(literal: Literal) -> Iterable[Variable]:
    return (literal.atom if isinstance(literal, Negation) else literal).variables()
