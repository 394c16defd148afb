"""Explicit facts under all their names: as facts of a property or class, and as triples.

A user may add the same fact as p(s, o) or as triple(s, p, o), and delete it under the other name. So what is
added or deleted is added or deleted under all its names at once. The engines read files of triples that way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from modulog.algebra.expressions import AntiJoin, Argument, Expr, Project, Read, Rows
from modulog.engines.backend import Backend
from modulog.engines.relation import EXPLICIT, Relation
from modulog.engines.table import Table
from modulog.evaluation.facts import Tables, merge_scheduled
from modulog.language.model import Predicate
from modulog.language.triples import (
    TRIPLE,
    TYPE,
    TYPE_TERM,
    VIEWS,
    VIEWS_BY_NAME,
    TripleViews,
    is_class,
    is_property,
    is_rdf,
    name_of,
)
from modulog.terms.constant import Constant, Kind
from modulog.terms.python_values import IRI, constant


class Forms:
    """The names under which explicit facts are kept for a program."""

    def __init__(self, views: TripleViews, backend: Backend) -> None:
        self._present, self._backend, self._engine = views.present, backend, backend.engine

    def of(self, given: Tables) -> Tables:
        """Facts by predicate, under all names that they have.

        Nothing is named `triple` or `rdf:type` unless a rule needs that, or it has no other name.
        """
        found: Tables = {}
        for predicate, tables in given.items():
            if not tables or not self._concerns(predicate):
                found.setdefault(predicate, []).extend(tables)
                continue
            for form, table in self._forms(predicate, self._distinct(predicate, tables)):
                found.setdefault(form, []).append(table)
        return found

    def without(self, given: Mapping[Predicate, Sequence[Table]], name: str) -> Tables:
        """Triples under all their names, without the facts of one property or class."""
        number = self._backend.identify(Constant(Kind.IRI, name.strip("<>")))
        kind = self._backend.identify(TYPE_TERM)
        all_types = name == TYPE.name
        rest = {p: list(t) for p, t in given.items() if p.name != name and not (all_types and is_class(p))}
        for view in rest.keys() & set(VIEWS_BY_NAME.values()):
            columns = ("s", "o") if view == TYPE else ("s", "p", "o", "g")[: view.arity]
            facts: Expr = Read(self._distinct(view, rest[view]), columns)
            if view != TYPE:
                facts = self._unlike(facts, ("p",), [[number]])
            facts = self._unlike(
                facts, *((("o",), [[number]]) if view == TYPE else (("p", "o"), [[kind], [number]]))
            )
            rest[view] = [self._table(facts, columns)]
        return rest

    def _unlike(self, facts: Expr, columns: tuple[str, ...], ids: list[list[int]]) -> Expr:
        """The facts that do not have some ids in some columns."""
        return AntiJoin(facts, Rows(self._engine.table(columns, np.array(ids, np.int32))), facts.variables)

    def _concerns(self, predicate: Predicate) -> bool:
        """Whether facts of a predicate may have other names."""
        return predicate in VIEWS or (bool(self._present) and is_rdf(predicate))

    def _distinct(self, predicate: Predicate, tables: list[Table]) -> Relation:
        """The facts of some tables, each once, with ids."""
        relation = self._engine.relation(f"{predicate.name} given", predicate.arity)
        for table in tables:
            relation.schedule(table, EXPLICIT)
        merge_scheduled([relation])
        return relation

    def _forms(self, predicate: Predicate, facts: Relation) -> Iterator[tuple[Predicate, Table]]:
        if predicate == TRIPLE:
            yield from self._triples(facts)
        elif predicate == TYPE:
            yield from self._types(Read(facts, ("s", "o")))
        else:
            args = ("s", "o") if is_property(predicate) else ("s",)
            yield predicate, self._table(Read(facts, args), args)
            yield from self._seen(predicate, Read(facts, args))

    def _seen(self, predicate: Predicate, facts: Read) -> Iterator[tuple[Predicate, Table]]:
        """Facts of a property or a class as the views see them."""
        name, kind = self._backend.identify(name_of(predicate)), self._backend.identify(TYPE_TERM)
        if is_class(predicate) and TYPE in self._present:
            yield TYPE, self._table(facts, ("s", name))
        if TRIPLE in self._present:
            yield (
                TRIPLE,
                self._table(facts, ("s", name, "o") if is_property(predicate) else ("s", kind, name)),
            )

    def _triples(self, facts: Relation) -> Iterator[tuple[Predicate, Table]]:
        """Triples as facts of their properties; the rest, or all that rules need as triples, as they are."""
        whole = Read(facts, ("s", "n", "o"))
        properties, others = self._names(Read(facts, (None, "n", None)))
        for number, term in properties:
            read = Read(facts, ("s", number, "o"))
            if term == TYPE_TERM:
                yield from self._types(read)
            else:
                yield Predicate(f"<{term.text}>", 2), self._table(read, ("s", "o"))
        if TRIPLE in self._present or others:
            yield TRIPLE, self._rest(whole, TRIPLE, properties)

    def _types(self, facts: Read) -> Iterator[tuple[Predicate, Table]]:
        """Types as facts of their classes; the rest, or all that rules need as types, as they are."""
        classes, others = self._names(self._renamed(facts, None, "n"))
        whole = self._renamed(facts, "s", "n")
        if TRIPLE in self._present:
            yield TRIPLE, self._table(whole, ("s", self._backend.identify(TYPE_TERM), "n"))
        for number, term in classes:
            yield Predicate(f"<{term.text}>", 1), self._table(self._renamed(facts, "s", number), ("s",))
        if TYPE in self._present or others:
            yield TYPE, self._rest(whole, TYPE, classes)

    def _renamed(self, facts: Read, subject: Argument, object_: Argument) -> Read:
        """Facts of `rdf:type`, read with another subject and object."""
        return Read(facts.relation, (subject, *facts.args[1:-1], object_))

    def _names(self, facts: Read) -> tuple[list[tuple[int, Constant]], bool]:
        """The IRIs that `n` can be, with their ids, and whether it can be another term."""
        table = self._engine.collect(Project(facts, ("n",), "set"))
        terms = [constant(term) for (term,) in self._backend.rows([table], ("n",)) if isinstance(term, IRI)]
        return list(zip(self._backend.find(terms), terms, strict=True)), len(terms) < len(table)

    def _rest(self, facts: Read, view: Predicate, named: list[tuple[int, Constant]]) -> Table:
        """What a view keeps: all facts if rules read all of them, else those without an IRI as `n`."""
        if view in self._present or not named:
            return self._table(facts, facts.variables)
        ids = self._engine.table(("n",), np.array([[number for number, _ in named]], np.int32))
        return self._table(AntiJoin(facts, Rows(ids), facts.variables), facts.variables)

    def _table(self, facts: Expr, wanted: tuple[str | int, ...]) -> Table:
        return self._engine.collect(Project(facts, wanted, "keep"))
