"""Conjunctive queries with negation and comparisons, as expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from modulog.engines.protocol import EXPLICIT, Compute, Condition, Project, Read, Value, Work
from modulog.language.model import Atom, Call, Comparison, Literal, Negation, Variable
from modulog.modules.clauses import argument, computations, condition
from modulog.planning.normalise import settle
from modulog.planning.order_joins import Body, order
from modulog.query.readings import Piece, Readings, place, union

Way = tuple[tuple[Read, ...], Mapping[str, int]]
"""The reads of one part of an answer, and the variables that have one value in it."""


def answer(literals: tuple[Literal, ...], readings: Readings) -> Project:
    """The expression whose rows are the answers: one column for each variable, in order of appearance."""
    variables, facts = variables_of(literals), readings.facts
    atoms = tuple(literal for literal in literals if isinstance(literal, Atom))
    negations = tuple(n.atom for n in literals if isinstance(n, Negation))
    settled = settle(atoms, negations, tuple(c for c in literals if isinstance(c, Comparison)))
    values = (settled.values.get(Variable(v), Variable(v)) for v in variables)
    columns = (
        v if isinstance(e, Call) else argument(e, facts) for v, e in zip(variables, values, strict=True)
    )
    args = tuple(c for c in columns if c is not None)
    needed = tuple(dict.fromkeys(a for a in args if isinstance(a, str)))
    computed = computations({v: e for v, e in settled.values.items() if isinstance(e, Call)}, facts)
    conditions = tuple(condition(c, facts) for c in settled.tests)
    positive = _Matches(readings)
    for atom in settled.atoms:
        positive.add(atom)
    positive.gather(all_of_them=False)
    negated = tuple(positive.matching(atom) for atom in settled.negations)
    parts = positive.answers(Body((), negated, conditions, needed, computed=computed), args)
    hidden = any(Variable("_") in atom.terms for atom in settled.atoms)
    return union(parts, args, facts.engine, "set" if hidden and args else "keep")


class _Matches:
    """The positive atoms of a query. Those with facts in several places are joined with the others one after the other.

    So an atom `triple(?s, ?p, ?o)` asks each property only for what the rest of the query leaves. The last of them is not joined here: its places
    become the parts of the answer.
    """

    def __init__(self, readings: Readings) -> None:
        self.readings, self.engine = readings, readings.facts.engine
        self.reads: list[Read] = []
        self.wide: list[list[Piece]] = []
        self.hopeless = False  # whether some atom can have no match

    def add(self, atom: Atom) -> None:
        """One more atom."""
        pieces = self.readings.of(atom)
        if _is_read(pieces):
            self.reads.append(pieces[0].read)
        elif pieces:
            self.wide.append(pieces)
        else:
            self.hopeless = True

    def gather(self, all_of_them: bool) -> None:
        """Join atoms until there is one with facts in several places, or none."""
        while len(self.wide) > (not all_of_them):
            bound = {v for read in self.reads for v in read.variables}
            pieces = max(self.wide, key=lambda pieces: _selective(pieces, bound))
            self.wide.remove(pieces)
            names = dict.fromkeys(v for read in self.reads for v in read.variables)
            names |= dict.fromkeys(v for p in pieces for v in (*p.fixed, *p.read.variables))
            self.reads = [self._joined(pieces, tuple(names))]

    def matching(self, atom: Atom) -> Read:
        """The facts of a negated atom; if they are in several places, those that could matter."""
        pieces = self.readings.of(atom)
        if _is_read(pieces):
            return pieces[0].read
        self.gather(all_of_them=True)
        names = tuple(dict.fromkeys(v for p in pieces for v in (*p.fixed, *p.read.variables)))
        return self._joined(pieces, names)

    def _joined(self, pieces: Sequence[Piece], names: tuple[str, ...]) -> Read:
        """The matches of the reads and some pieces as a relation of their own."""
        relation = self.engine.relation("matches", len(names))
        parts = self._parts(Body((), needed=names), [((*self.reads, p.read), p.fixed) for p in pieces], names)
        self.engine.run([Work(relation, part, EXPLICIT) for part in parts])
        relation.derive()
        relation.merge()
        return Read(relation, names, "all")

    def _parts(self, body: Body, ways: Iterable[Way], args: tuple[str | int, ...]) -> list[Project]:
        """A body that has the reads of some ways, as one expression for each."""
        unit = self.readings.facts.unit
        bound = ((_bound(replace(body, reads=reads), fixed), fixed) for reads, fixed in ways)
        return [place(order(found, unit), fixed, args) for found, fixed in bound]

    def answers(self, body: Body, args: tuple[str | int, ...]) -> list[Project]:
        """What a body without its atoms gives with them: one expression for each place of the last atom."""
        if self.hopeless:
            return []
        if not self.wide:
            return self._parts(body, [(tuple(self.reads), {})], args)
        (pieces,) = self.wide
        if len(self.reads) > 1:  # joined once, not for each of the pieces
            names = tuple(dict.fromkeys(v for read in self.reads for v in read.variables))
            first, *rest = self.reads
            self.reads, joined = rest, [Piece(first, {})]
            self.reads = [self._joined(joined, names)]
        return self._parts(body, [((*self.reads, p.read), p.fixed) for p in pieces], args)


def _is_read(pieces: Sequence[Piece]) -> bool:
    """Whether the facts are in one place, and nothing has to be added to them."""
    return len(pieces) == 1 and not pieces[0].fixed


def _selective(pieces: Sequence[Piece], bound: set[str]) -> int:
    """How many arguments of an atom are known before it is looked up."""
    return sum(isinstance(a, int) or a in bound for a in pieces[0].read.args)


def _bound(body: Body, fixed: Mapping[str, int]) -> Body:
    """A body some of whose variables have a value."""
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
    """The named variables, in order of appearance."""
    return tuple(dict.fromkeys(v.name for literal in literals for v in _variables(literal)))


def _variables(literal: Literal) -> Iterable[Variable]:
    return (literal.atom if isinstance(literal, Negation) else literal).variables()
