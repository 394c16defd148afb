"""Finds the relations from which the facts of a predicate are read.

Most predicates have one relation of their own. A property or class that rules derive only by `triple` or
`rdf:type`, without naming it, is read from these. If no rule reads `triple` or `rdf:type`, they have no
complete relation: a query reads them from the relations of all properties and classes (see
`language.triples`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from modulog.algebra.expressions import Argument, Expr, Extend, Project, Read, Rows, Union
from modulog.engines.backend import Backend
from modulog.engines.engine import Engine
from modulog.engines.table import columns_of
from modulog.evaluation.facts import Facts
from modulog.language.model import Atom, Predicate, Program, Variable
from modulog.language.triples import TRIPLE, TYPE, VIEWS, TripleViews, class_pattern, is_rdf
from modulog.planning.merge_equivalent import through
from modulog.terms.constant import Constant
from modulog.terms.python_values import IRI, constant

AtomReader = Callable[[Atom], Expr]
"""A function that returns the expression for the facts that match an atom, with its variables as columns."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some of the facts that match an atom: a read, and the variables with one value in all of them."""

    read: Read
    fixed: Mapping[str, int]


class Readings:
    """Reads for the predicates of a program, from the relations that store its facts."""

    def __init__(self, program: Program, facts: Facts, backend: Backend) -> None:
        self.facts, self._backend = facts, backend
        self.views = TripleViews.of(program)
        self._made: list[Predicate] | None = None

    def forget(self) -> None:
        """Clear the cache of predicates found in derived triples; call it when derived facts change."""
        self._made = None

    # ---- Which predicates there are

    def base(self) -> set[Predicate]:
        """The predicates that the program names, and those with explicit facts."""
        return {*self.views.named, *self.facts.explicit}

    def known(self) -> set[Predicate]:
        """All predicates, also properties and classes that occur only in derived triples."""
        if self._made is None:
            self._made = self.made(self._scan)
        return {*self.base(), *self._made}

    def candidates(self, name: str) -> list[Predicate]:
        """The predicates with a name; `triple` and `rdf:type` exist if there are properties or classes."""
        found = {p for p in self.base() if p.name == name}
        if name in {view.name for view in VIEWS} and any(map(is_rdf, self.known())):
            found |= {view for view in VIEWS if view.name == name}
        for predicate in (Predicate(name, 1), Predicate(name, 2)) if name.startswith("<") else ():
            if predicate not in found and not self.is_plain(predicate) and predicate not in VIEWS:
                test = Project(self._read(self.views.home(predicate)[1], {}), (), "keep")
                if any(len(table) for table in self.facts.engine.evaluate(test, 1)):
                    found.add(predicate)
        return sorted(found)

    def made(self, look: AtomReader) -> list[Predicate]:
        """The properties and classes that occur only in derived `triple` and `rdf:type` facts.

        `look` says how these facts are read: all of them, or only those of a change.
        """
        found = []
        if TRIPLE in self.views.made:
            found += [Predicate(f"<{t.value}>", 2) for t in self._names(look, TRIPLE) if isinstance(t, IRI)]
        if self.views.classes_in:
            found += [Predicate(f"<{t.value}>", 1) for t in self._names(look, TYPE) if isinstance(t, IRI)]
        return sorted({p for p in found if p not in self.views.named and p not in VIEWS})

    def _names(self, look: AtomReader, view: Predicate) -> Iterator[object]:
        """The distinct properties, or classes if `view` is `rdf:type`, in the derived facts of a view."""
        variable, anything = Variable("n"), Variable("_")
        atom = Atom(TRIPLE, (anything, variable, anything))
        if view == TYPE and self.views.classes_in:
            atom = class_pattern(self.views.classes_in, variable)
            atom = Atom(atom.predicate, (anything, *atom.terms[1:]))
        table = self.facts.engine.collect(Project(look(atom), ("n",), "set"))
        return (term for (term,) in self._backend.rows([table], ("n",)))

    def _scan(self, atom: Atom) -> Expr:
        return self._read(atom, {})

    def _not_iris(self, view: Predicate) -> list[Constant]:
        """The properties, or classes, in a view that are not IRIs, so that they are no predicates."""
        return [constant(term) for term in self._names(self._scan, view) if not isinstance(term, IRI)]

    # ---- How a predicate is read

    def pieces(self, predicate: Predicate, args: tuple[Argument, ...]) -> list[Piece]:
        """The reads of the facts that match some arguments; each fact is in one of them."""
        if predicate not in VIEWS or predicate in self.views.read:
            pairs = [self.views.home(predicate)]
        else:
            pairs = list(self.views.pieces(predicate, sorted(self.known()), self._not_iris))
        found = (self._piece(head, body, args) for head, body in pairs)
        return [piece for piece in found if piece is not None]

    def of(self, atom: Atom) -> list[Piece]:
        """The reads of the facts that match an atom."""
        return self.pieces(atom.predicate, tuple(map(self._argument, atom.terms)))

    def _argument(self, term: object) -> Argument:
        if isinstance(term, Variable):
            return None if term.anonymous else term.name
        assert isinstance(term, Constant)
        return self.facts.identify(term)

    def _piece(self, head: Atom, body: Atom, args: tuple[Argument, ...]) -> Piece | None:
        """The read of a body for certain arguments of its head; None if no fact can match."""
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
        """The read of an atom, with its variables replaced by `values`."""
        atom = through(body, self.facts.plan.links)
        args = tuple(
            values[t.name] if isinstance(t, Variable) and t.name in values else self._argument(t)
            for t in atom.terms
        )
        return Read(self.facts.relation(atom.predicate), args, "all")

    def all_of(self, predicate: Predicate) -> Project:
        """The expression for all facts of a predicate, with the columns c0, c1, …"""
        columns = columns_of(predicate.arity)
        parts = [place(piece.read, piece.fixed, columns) for piece in self.pieces(predicate, columns)]
        return union(parts, columns, self.facts.engine)

    def contains(self, predicate: Predicate, row: tuple[int, ...]) -> bool:
        """Whether a fact, given by the ids of its terms, holds."""
        tests = (Project(piece.read, (), "keep") for piece in self.pieces(predicate, row))
        return any(len(table) for test in tests for table in self.facts.engine.evaluate(test, 1))

    def size(self, predicate: Predicate) -> int:
        """The number of facts of a predicate."""
        if self.is_plain(predicate):
            return self.facts.size(predicate)
        return self.facts.engine.count(self.all_of(predicate))

    def total(self) -> int:
        """The number of all facts; of `triple` and `rdf:type` only those that their own relations store."""
        return sum(self.facts.size(p) if p in VIEWS else self.size(p) for p in self.known())

    def is_plain(self, predicate: Predicate) -> bool:
        """Whether one relation has exactly the facts of a predicate."""
        head, body = self.views.home(predicate)
        return head == body and (predicate not in VIEWS or predicate in self.views.read)


def place(expr: Expr, fixed: Mapping[str, int], args: tuple[str | int, ...]) -> Project:
    """Project an expression to the given arguments; the variables in `fixed` get their value as a column."""
    for variable in fixed:
        if variable in args:
            expr = Extend(expr, variable, fixed[variable])
    return Project(expr, args, "keep")


def union(
    parts: list[Project], args: tuple[str | int, ...], engine: Engine, how: Literal["set", "keep"] = "keep"
) -> Project:
    """The union of some projections to the same arguments; an empty table if there are none."""
    if not parts:
        names = tuple(dict.fromkeys(a for a in args if isinstance(a, str)))
        return Project(Rows(engine.table(names, np.empty((len(names), 0), np.int32))), args, how)
    if len(parts) == 1:
        return Project(parts[0].child, args, how)
    return Project(Union(tuple(parts)), parts[0].variables, how)
