"""Reads the files of facts that users name, and those that `@import` directives of a program name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from modulog.engines.backend import Backend, Triples
from modulog.engines.table import Table
from modulog.errors import DataError
from modulog.formats import DataWarning, warn_user
from modulog.formats.fact_file import Columns
from modulog.formats.format import DIRECTIVES, TRIPLES, unknown_format
from modulog.language.model import Directive, Predicate, Program
from modulog.language.term_parser import full_name
from modulog.language.triples import TRIPLE, VIEWS_BY_NAME, TripleViews
from modulog.maintenance.change import Name
from modulog.reasoner.fact_batch import FactFiles, predicate_name, said_arity
from modulog.reasoner.known_predicates import KnownPredicates


@dataclass(frozen=True, slots=True)
class Arrival:
    """Facts for a predicate, from somewhere; the arity is known only where something fixes it."""

    name: str
    tables: Sequence[Table]
    source: str
    arity: int | None = None
    bad: Sequence[object] = ()  # bad records that were left out
    of_program: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """Files of triples, what errors call them, and their bad records that were left out."""

    triples: Triples
    source: str
    bad: Sequence[object]


class FileReader:
    """Reads files of facts for the predicates of a program, whose imports are relative to a folder."""

    def __init__(self, backend: Backend, program: Program, folder: Path) -> None:
        self._backend, self._folder = backend, folder
        self._scope = program.prefixes, program.base
        wanted = TripleViews.of(program).present | (program.predicates() & {Predicate("quad", 4)})
        self._views = {name for name, view in VIEWS_BY_NAME.items() if view in wanted}

    def named(self, name: Name) -> str:
        """The full name of a predicate; a prefix is one of the program."""
        return full_name(predicate_name(name), *self._scope)

    def names(self, files: FactFiles) -> set[str]:
        """The names of the predicates that files fill, before they are read; `triple` for triples."""
        options = files.options
        named = options["mapping"] or ([options["predicate"]] if options["predicate"] else ())
        if named:
            return set(map(self.named, named))
        found = self._backend.files(files.path, options["format"])
        return {TRIPLE.name if f.format in TRIPLES else self.named(f.predicate) for f in found}

    def read(self, files: FactFiles, known: KnownPredicates) -> tuple[list[Arrival], list[Graph]]:
        """The facts of files; those of one predicate and one format are read together."""
        options = files.options
        mapping, bad = options["mapping"], options["bad"]
        predicate = None if options["predicate"] is None else self.named(options["predicate"])
        groups: dict[tuple[str, str, int | None], list[Path | str]] = {}
        for file in self._backend.files(files.path, options["format"]):
            if os.path.isfile(file.path) and not os.path.getsize(file.path):
                warn_user(f"{file.path}: the file is empty", DataWarning)
            whole = file.format in TRIPLES and not predicate and not mapping
            name = "" if whole or mapping else predicate or file.predicate
            arity = None if predicate or mapping else file.arity
            groups.setdefault((name, file.format, arity), []).append(file.path)
        arrivals, graphs, aside = [], [], self._backend.aside
        for (given, kind, said), paths in groups.items():
            if kind in TRIPLES and not predicate and not mapping:
                before = len(aside.pieces)
                triples = self._backend.read_rdf(paths, kind, self._views, bad)
                graphs.append(Graph(triples, _shown(paths), aside.pieces[before:]))
                continue
            due = known.expected(given)
            if kind in TRIPLES and options["columns"] is None and due not in (None, 3, 4):
                raise DataError(
                    f"{_shown(paths)}: triples have three arguments, but {given} has {due}; "
                    "without a predicate the file fills those of its triples"
                )
            wanted: dict[Name, Columns | None] = {options["predicate"] or given: options["columns"]}
            wanted = {**mapping} if mapping else wanted
            for meant, chosen in wanted.items():
                name, arity = self.named(meant), said if said_arity(meant) is None else said_arity(meant)
                arity = known.expected(name) if arity is None else arity
                before = len(aside.pieces)
                tables = self._backend.read_files(
                    paths,
                    kind,
                    arity,
                    header=options["header"],
                    strings=options["strings"],
                    columns=chosen,
                    delimiter=options.get("delimiter"),
                    bad=bad,
                )
                arrivals.append(Arrival(name, list(tables), _shown(paths), arity, aside.pieces[before:]))
        return arrivals, graphs

    def imported(self, directive: Directive, known: KnownPredicates) -> Arrival:
        """The facts of the file that an `@import` names."""
        options = dict(directive.options)
        resource = options.get("resource")
        where = f"{directive.position}: " if directive.position else ""
        if not isinstance(resource, str):
            raise DataError(f'{where}@import needs a file: {directive.format}{{resource = "facts.csv"}}')
        path = self._folder / resource
        if not path.is_file():
            raise DataError(f"{where}{path}: there is no such file")
        if directive.format not in DIRECTIVES:
            raise DataError(f"{where}{unknown_format(directive.format, DIRECTIVES)}")
        kind = DIRECTIVES[directive.format] or self._backend.files(path)[0].format
        form, keep = options.get("format"), None
        arity = known.expected(directive.predicate)
        if isinstance(form, tuple):
            keep = [j for j, kind in enumerate(form) if kind != "skip"]
            arity = len(keep) if arity is None else arity
            keep = None if len(keep) == len(form) else keep
        delimiter = options.get("delimiter")
        tables = self._backend.read_files(
            [path],
            kind,
            arity,
            header=bool(options.get("ignore_headers", False)),
            columns=keep,
            delimiter=str(delimiter) if delimiter is not None else None,
        )
        return Arrival(directive.predicate, list(tables), str(path), arity, of_program=True)


def _shown(paths: Sequence[Path | str]) -> str:
    """Files as an error names them."""
    return str(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
