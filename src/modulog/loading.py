"""Facts on their way in: from values, files, folders and `@import` directives to explicit facts in an engine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from modulog.engines.backend import TRIPLES, Backend, Columns
from modulog.engines.protocol import EXPLICIT, Relation, Table
from modulog.errors import DataError
from modulog.formats.files import discover
from modulog.language.model import Directive, Predicate, Program
from modulog.materialisation.facts import Facts
from modulog.terms.python import IRI

FORMATS = ("csv", "tsv", "dsv", "parquet")


def predicate_name(name: str | IRI) -> str:
    """The name of a predicate as programs know it: an IRI stands in angle brackets."""
    return f"<{name.value}>" if isinstance(name, IRI) else name


@dataclass(frozen=True, slots=True)
class Arrival:
    """Facts for a predicate, from somewhere; the arity is known only where something fixes it."""

    name: str
    tables: Iterable[Table]
    source: str
    arity: int | None = None


class Loader:
    """Adds explicit facts; knows which arity every name has."""

    def __init__(self, facts: Facts, backend: Backend, program: Program) -> None:
        self.facts, self.backend = facts, backend
        self.arities: dict[str, set[int]] = {}
        for predicate in program.predicates():
            self.arities.setdefault(predicate.name, set()).add(predicate.arity)

    def add(self, *arrivals: Arrival) -> None:
        """Add explicit facts; all of them or, on an error, none."""
        waiting = [(arrival, list(arrival.tables)) for arrival in arrivals]
        arities = dict(self.arities)
        try:
            for arrival, tables in waiting:
                for arity in {len(table.columns) for table in tables}:
                    self._check_arity(arrival.name, arity, arrival.source)
        except DataError:
            self.arities = arities
            raise
        for arrival, tables in waiting:
            if arrival.arity is not None and not tables:
                self.facts.given(
                    Predicate(arrival.name, arrival.arity)
                )  # a file without rows: known, and empty
            for table in tables:
                self.facts.given(Predicate(arrival.name, len(table.columns))).schedule(table, EXPLICIT)

    def _given(self, predicate: Predicate) -> Relation:
        """The relation of a predicate that a file of triples speaks of."""
        self._check_arity(predicate.name, predicate.arity, "triples")
        return self.facts.given(predicate)

    def _check_arity(self, name: str, arity: int, source: str) -> None:
        known = self.arities.get(name, {arity})
        both = name.startswith("<") and {arity, *known} <= {1, 2}
        if arity not in known and not both:
            expected = " or ".join(map(str, sorted(known)))
            raise DataError(f"{source}: {name} has {expected} arguments, but the rows have {arity}")
        self.arities[name] = known | {arity}

    def expected(self, name: str) -> int | None:
        """The arity that facts of a name must have, if it is known and there is only one."""
        known = self.arities.get(name, set())
        return next(iter(known)) if len(known) == 1 and not name.startswith("<") else None

    def load(
        self,
        path: str | os.PathLike[str],
        *,
        predicate: str | None = None,
        header: bool = False,
        strings: bool = False,
        columns: Columns | None = None,
        mapping: Mapping[str, Columns] | None = None,
    ) -> None:
        """Load a file or a folder; `mapping` fills several predicates from columns of one wide file."""
        arrivals = []
        for file in discover(path, self.backend.formats):
            if file.format in TRIPLES:
                self.backend.load_rdf(str(file.path), file.format, self._given, "triple" in self.arities)
                continue
            wanted: Mapping[str, Columns | None] = mapping or {predicate or file.predicate: columns}
            for name, chosen in wanted.items():
                arity = self.expected(name)
                tables = self.backend.read_file(
                    file.path, file.format, arity, header=header, strings=strings, columns=chosen
                )
                arrivals.append(Arrival(name, tables, str(file.path), arity))
        self.add(*arrivals)

    def imported(self, directive: Directive, folder: Path) -> Arrival:
        """What an `@import` names, relative to the folder of the program."""
        options = dict(directive.options)
        resource = options.get("resource")
        where = f"{directive.position}: " if directive.position else ""
        if not isinstance(resource, str):
            raise DataError(f'{where}@import needs a file: {directive.format}{{resource = "facts.csv"}}')
        if directive.format not in FORMATS:
            raise DataError(f"{where}facts in the format {directive.format} are not supported yet")
        path = folder / resource
        if not path.is_file():
            raise DataError(f"{where}{path}: there is no such file")
        form, keep = options.get("format"), None
        arity = self.expected(directive.predicate)
        if isinstance(form, tuple):
            keep = [j for j, kind in enumerate(form) if kind != "skip"]
            arity = len(keep) if arity is None else arity
            keep = None if len(keep) == len(form) else keep
        delimiter = options.get("delimiter")
        tables = self.backend.read_file(
            path,
            directive.format,
            arity,
            header=bool(options.get("ignore_headers", False)),
            columns=keep,
            delimiter=str(delimiter) if delimiter is not None else None,
        )
        return Arrival(directive.predicate, tables, str(path), arity)
