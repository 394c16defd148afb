"""What an update changed: net additions and deletions by predicate."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from modulog.algebra.expressions import Condition, Expr, Extend, Project, Rows, Where
from modulog.engines.backend import NO_FRAMES, Backend, Signed
from modulog.engines.table import Table, columns_of
from modulog.errors import NotSupported
from modulog.language.model import Atom, Predicate
from modulog.language.triples import (
    TRIPLE,
    TYPE,
    TYPE_TERM,
    VIEWS,
    TripleViews,
    is_class,
    is_property,
    is_rdf,
    name_of,
)
from modulog.maintenance.update import NetChange
from modulog.query.predicate_reads import Readings
from modulog.terms.constant import Constant
from modulog.terms.python_values import IRI

Name = str | IRI | Predicate


class Change:
    """The net change of an update: what has come and what has gone, explicit or derived, by predicate.

    It is counted when it is asked for: where facts are represented there may be a great many. Of the facts to
    delete, `ignored` were not there, and `still_derived` are there still, because rules derive them: only
    explicit facts can be deleted.

    >>> from modulog import Reasoner
    >>> r = Reasoner("p(?x) :- e(?x, ?y) . e(a, b) . e(a, c) . e(b, c) .")
    >>> change = r.update(delete={"e": [("a", "b"), ("b", "c")]})
    >>> change.deleted, change.rows("p", deleted=True)
    ({'e': 2, 'p': 1}, [('b',)])
    >>> r.update(delete={"p": [("a",), ("z",)]})
    Change(added={}, deleted={}, ignored=1, still_derived=1)

    """

    def __init__(
        self,
        net: NetChange,
        count: Callable[[Mapping[Predicate, Table]], dict[str, int]],
        read: Callable[[Name, bool], Iterator[tuple[Any, ...]]],
        signed: Callable[[], list[Signed]],
        backend: Backend,
    ) -> None:
        self.ignored = net.ignored
        self.still_derived = net.still_derived
        self.statistics = net.statistics
        self._net, self._count, self._read = net, count, read
        self._signed, self._backend = signed, backend

    @cached_property
    def added(self) -> dict[str, int]:
        """How many facts have come, by predicate."""
        return self._count(self._net.come)

    @cached_property
    def deleted(self) -> dict[str, int]:
        """How many facts have gone, by predicate."""
        return self._count(self._net.gone)

    def rows(self, predicate: str | IRI | Predicate, *, deleted: bool = False) -> list[tuple[Any, ...]]:
        """The facts of a predicate that were added, or deleted, until the next update."""
        return list(self._read(predicate, deleted))

    def predicates(self) -> set[Predicate]:
        """The predicates of which a fact has come or gone."""
        return {Predicate(part.predicate, len(part.columns)) for part in self._signed() if len(part.table)}

    def to_spark(self) -> Any:
        """On Spark, the change as a data frame, to be read until the next update.

        The columns are predicate, sign (1 has come, -1 has gone) and terms, in Turtle form.
        """
        frames = self._backend.frames
        if frames is None:
            raise NotSupported(NO_FRAMES)
        return frames.signed_dataframe(self._signed())

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write the change as Parquet into a new folder of this machine; possible until the next update.

        The columns are predicate, sign (1 has come, -1 has gone) and terms, in Turtle form.
        """
        self._backend.write_signed(self._signed(), Path(folder))

    def __reduce__(self) -> Never:
        """Refuse to be pickled: the facts are those of the reasoner, or in a file of its task."""
        raise TypeError("a change is not pickled: `write` it, or take its `rows`, `added` and `deleted`")

    def __bool__(self) -> bool:
        return bool(self._net.come or self._net.gone)

    def __repr__(self) -> str:
        counts = f"ignored={self.ignored}, still_derived={self.still_derived}"
        return f"Change(added={_first(self.added)}, deleted={_first(self.deleted)}, {counts})"

    if not TYPE_CHECKING:  # with this method, type checkers would take any attribute for one of a change

        def __getattr__(self, name):
            """Say what a method of earlier versions is called now."""
            instead = ": write `to_spark()`" if name == "dataframe" else ""
            raise AttributeError(f"a Change has no `{name}`{instead}", name=name, obj=self)


def _first(counts: Mapping[str, int]) -> str:
    """Some of the numbers by predicate."""
    shown = ", ".join(f"{name!r}: {number}" for name, number in list(counts.items())[:4])
    return f"{{{shown}{', …' if len(counts) > 4 else ''}}}"


def change_of(
    net: NetChange,
    readings: Readings,
    choose: Callable[[Iterable[Predicate], Name], Predicate],
    backend: Backend,
) -> Change:
    """The net change in the user's predicates, which may be views of others.

    `choose` finds the predicate of a name.
    """

    def counts(tables: Mapping[Predicate, Table]) -> dict[str, int]:
        found: dict[str, int] = {}
        for predicate, table, _ in _by_predicate(tables, readings):
            found[predicate.name] = found.get(predicate.name, 0) + len(table)
        return found

    def rows(name: Name, deleted: bool) -> Iterator[tuple[Any, ...]]:
        tables = net.gone if deleted else net.come
        found = list(_by_predicate(tables, readings))
        others = [p for p, _, _ in _by_predicate(net.come if deleted else net.gone, readings)]
        known = {*readings.known(), *others, *(p for p, _, _ in found)}
        predicate = choose(known.union(VIEWS) if any(map(is_rdf, known)) else known, name)
        if predicate in VIEWS and not readings.is_plain(predicate):
            parts = ((p, backend.rows([table], names)) for p, table, names in found)
            return seen_rows(predicate, parts, readings.views)
        return (row for p, table, names in found if p == predicate for row in backend.rows([table], names))

    def signed() -> list[Signed]:
        return [
            Signed(predicate.name, sign, table, names)
            for sign, tables in ((1, net.come), (-1, net.gone))
            for predicate, table, names in _by_predicate(tables, readings)
        ]

    return Change(net, counts, rows, signed, backend)


Part = tuple[Predicate, Table, list[str]]
"""What has changed of a predicate: a table, and the columns that are its arguments."""


def _by_predicate(tables: Mapping[Predicate, Table], readings: Readings) -> Iterator[Part]:
    """The change of every predicate that has changed."""
    for predicate in sorted(readings.base()):
        link = readings.facts.link(predicate)
        if link.representative in tables and (readings.is_plain(predicate) or predicate in VIEWS):
            yield predicate, tables[link.representative], [f"c{place}" for place in link.places]
    engine = readings.facts.engine

    def look(atom: Atom) -> Expr:
        """The changed facts that match an atom of a view."""
        link = readings.facts.link(atom.predicate)
        names = columns_of(len(atom.terms))
        empty = engine.table(names, np.empty((len(names), 0), np.int32))
        expr: Expr = Rows(tables.get(link.representative, empty))
        wanted = {}
        for place, term in zip(link.places, atom.terms, strict=True):
            if isinstance(term, Constant):
                number = readings.facts.identify(term)
                expr = Where(expr, Condition("is", f"c{place}", number), names)
            elif not term.anonymous:
                wanted[term.name] = f"c{place}"
        for variable, name in wanted.items():
            expr = Extend(expr, variable, name)
        return Project(expr, tuple(wanted), "keep")

    for predicate in readings.made(look):
        body = readings.views.home(predicate)[1]
        found = engine.collect(look(body))
        yield predicate, found, list(found.columns)


def seen_rows(
    view: Predicate, parts: Iterable[tuple[Predicate, Iterable[tuple[Any, ...]]]], views: TripleViews
) -> Iterator[tuple[Any, ...]]:
    """The changed rows of `triple` or `rdf:type`, made from the changed rows of each predicate in `parts`."""
    kind = IRI(TYPE_TERM.text)
    for predicate, rows in parts:
        name = IRI(name_of(predicate).text) if is_rdf(predicate) else None
        for row in rows:
            if is_class(predicate) and TYPE not in views.read:
                yield (row[0], name) if view == TYPE else (row[0], kind, name)
            elif predicate == TYPE and (TYPE in views.read or not views.classes_in):
                yield row if view == TYPE else (row[0], kind, row[1])
            elif view == TRIPLE and is_property(predicate) and predicate != TYPE:
                yield row[0], name, row[1]
            elif view == TRIPLE == predicate and TRIPLE not in views.made:
                yield row
