"""Where the facts of a predicate are read: in its relation, through a view of it, or from several relations at once.

Most predicates have one relation. A property or class that rules derive as `triple` or `rdf:type`, and never name, is read from there; all
triples and all classes, where no rule asks for them, are read from the relations of all properties and classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from modulog.engines.backend import Backend
from modulog.engines.protocol import Argument, Engine, Expr, Extend, Project, Read, Rows, Union
from modulog.language.model import Atom, Predicate, Program, Variable
from modulog.language.triples import TRIPLE, TYPE, VIEWS, TripleViews, class_pattern, is_rdf
from modulog.materialisation.facts import Facts
from modulog.planning.collapse import through
from modulog.terms.model import Constant
from modulog.terms.python import IRI, constant

Looking = Callable[[Atom], Expr]
"""How the facts that match an atom are read: its named variables are the columns."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some facts that match an atom: a read, and the variables of the atom that have one value in all of them."""

    read: Read
    fixed: Mapping[str, int]


class Readings:
    """How the predicates of a program are read from its facts."""

    def __init__(self, program: Program, facts: Facts, backend: Backend) -> None:
        self.facts, self._backend = facts, backend
        self.views = TripleViews.of(program)
        self._made: list[Predicate] | None = None

    def forget(self) -> None:
        """The derived facts have changed."""
        self._made = None

    # ---- Which predicates there are

    def base(self) -> set[Predicate]:
        """The predicates that rules name, and those with explicit facts."""
        return {*self.views.named, *self.facts.explicit}

    def known(self) -> set[Predicate]:
        """Every predicate: also properties and classes that exist only because rules derive `triple` or `rdf:type`."""
        if self._made is None:
            self._made = self.made(self._scan)
        return {*self.base(), *self._made}

    def candidates(self, name: str) -> list[Predicate]:
        """The predicates of a name; in a program of RDF also `triple` and `rdf:type`, whether or not anybody has named them."""
        found = {p for p in self.base() if p.name == name}
        if name in {view.name for view in VIEWS} and any(map(is_rdf, self.known())):
            found |= {view for view in VIEWS if view.name == name}
        for predicate in (Predicate(name, 1), Predicate(name, 2)) if name.startswith("<") else ():
            if predicate not in found and not self.is_plain(predicate) and predicate not in VIEWS:
                test = Project(self._read(self.views.home(predicate)[1], {}), (), "keep")
                if any(len(table) for table in self.facts.engine.evaluate(test, 1)):
                    found.add(predicate)
        return sorted(found)

    def made(self, look: Looking) -> list[Predicate]:
        """The properties and classes that no rule names, of the derived triples that a look at `triple` and `rdf:type` gives."""
        found = []
        if TRIPLE in self.views.made:
            found += [Predicate(f"<{t.value}>", 2) for t in self._names(look, TRIPLE) if isinstance(t, IRI)]
        if self.views.classes_in:
            found += [Predicate(f"<{t.value}>", 1) for t in self._names(look, TYPE) if isinstance(t, IRI)]
        return sorted({p for p in found if p not in self.views.named and p not in VIEWS})

    def _names(self, look: Looking, view: Predicate) -> Iterator[object]:
        """The properties of all triples, or the classes of all types, in what rules derive."""
        variable, rest = Variable("n"), Variable("_")
        atom = Atom(TRIPLE, (rest, variable, rest))
        if view == TYPE and self.views.classes_in:
            atom = class_pattern(self.views.classes_in, variable)
            atom = Atom(atom.predicate, (rest, *atom.terms[1:]))
        table = self.facts.engine.collect(Project(look(atom), ("n",), "set"))
        return (term for (term,) in self._backend.rows([table], ("n",)))

    def _scan(self, atom: Atom) -> Expr:
        return self._read(atom, {})

    def _odd(self, view: Predicate) -> list[Constant]:
        """The properties, or classes, in a view that are no IRIs."""
        return [constant(term) for term in self._names(self._scan, view) if not isinstance(term, IRI)]

    # ---- How one is read

    def pieces(self, predicate: Predicate, args: tuple[Argument, ...]) -> list[Piece]:
        """Where the facts that match some arguments are, each fact in one of the places."""
        if predicate not in VIEWS or predicate in self.views.read:
            pairs = [self.views.home(predicate)]
        else:
            pairs = list(self.views.pieces(predicate, sorted(self.known()), self._odd))
        found = (self._piece(head, body, args) for head, body in pairs)
        return [piece for piece in found if piece is not None]

    def of(self, atom: Atom) -> list[Piece]:
        """The same for an atom."""
        return self.pieces(atom.predicate, tuple(map(self._argument, atom.terms)))

    def _argument(self, term: object) -> Argument:
        if isinstance(term, Variable):
            return None if term.anonymous else term.name
        assert isinstance(term, Constant)
        return self.facts.identify(term)

    def _piece(self, head: Atom, body: Atom, args: tuple[Argument, ...]) -> Piece | None:
        """The facts of a body that match the arguments of its head; None if there can be none."""
        fixed: dict[str, int] = {}
        values: dict[str, Argument] = {}
        for term, argument in zip(head.terms, args, strict=True):
            if isinstance(term, Variable):
                values[term.name] = argument
                continue
            number = self.facts.identify(term)
            if isinstance(argument, str):
                argument = fixed.setdefault(argument, number)
            if argument not in (None, number):
                return None
        values = {name: fixed.get(a, a) if isinstance(a, str) else a for name, a in values.items()}
        return Piece(self._read(body, values), fixed)

    def _read(self, body: Atom, values: Mapping[str, Argument]) -> Read:
        """The read of an atom, some of whose variables stand for arguments."""
        atom = through(body, self.facts.plan.links)
        args = tuple(
            values[t.name] if isinstance(t, Variable) and t.name in values else self._argument(t)
            for t in atom.terms
        )
        return Read(self.facts.relation(atom.predicate), args, "all")

    def all_of(self, predicate: Predicate) -> Project:
        """All facts of a predicate, with the columns c0, c1, …"""
        columns = columns_of(predicate)
        parts = [place(piece.read, piece.fixed, columns) for piece in self.pieces(predicate, columns)]
        return union(parts, columns, self.facts.engine)

    def contains(self, predicate: Predicate, row: tuple[int, ...]) -> bool:
        """Whether a fact, given by ids, holds."""
        tests = (Project(piece.read, (), "keep") for piece in self.pieces(predicate, row))
        return any(len(table) for test in tests for table in self.facts.engine.evaluate(test, 1))

    def size(self, predicate: Predicate) -> int:
        """How many facts of a predicate hold."""
        if self.is_plain(predicate):
            return self.facts.size(predicate)
        return self.facts.engine.count(self.all_of(predicate))

    def total(self) -> int:
        """How many facts there are; those that only the views over all triples show are counted once."""
        return sum(self.facts.size(p) if p in VIEWS else self.size(p) for p in self.known())

    def is_plain(self, predicate: Predicate) -> bool:
        """Whether a relation has just the facts of a predicate."""
        head, body = self.views.home(predicate)
        return head == body and (predicate not in VIEWS or predicate in self.views.read)


def columns_of(predicate: Predicate) -> tuple[str, ...]:
    """The names of the columns of a predicate's facts."""
    return tuple(f"c{j}" for j in range(predicate.arity))


def place(expr: Expr, fixed: Mapping[str, int], args: tuple[str | int, ...]) -> Project:
    """The arguments of each row, some of them variables that have one value."""
    for variable in fixed:
        if variable in args:
            expr = Extend(expr, variable, fixed[variable])
    return Project(expr, args, "keep")


def union(
    parts: list[Project], args: tuple[str | int, ...], engine: Engine, how: Literal["set", "keep"] = "keep"
) -> Project:
    """All rows of some projections to the same arguments."""
    if not parts:
        names = tuple(dict.fromkeys(a for a in args if isinstance(a, str)))
        return Project(Rows(engine.table(names, np.empty((len(names), 0), np.int32))), args, how)
    if len(parts) == 1:
        return Project(parts[0].child, args, how)
    return Project(Union(tuple(parts)), parts[0].variables, how)
