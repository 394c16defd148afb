"""Facts on their way in: from values, files, folders and `@import` directives to explicit facts in an engine."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from modulog.engines.backend import BAD, TRIPLES, VIEWS, Backend, Bad, Columns, Triples
from modulog.engines.protocol import EXPLICIT, Table
from modulog.errors import DataError
from modulog.formats import DataWarning
from modulog.language.model import Directive, Predicate, Program
from modulog.language.reading import full_name
from modulog.language.triples import VIEWS as ALL_TRIPLES
from modulog.language.triples import TripleViews, is_rdf
from modulog.materialisation.facts import Facts
from modulog.materialisation.forms import Forms
from modulog.terms.python import IRI
from modulog.wording import arguments, plural

FORMATS = {
    "csv": "csv",
    "tsv": "tsv",
    "dsv": "dsv",
    "parquet": "parquet",
    "ntriples": "nt",
    "nquads": "nq",
    "turtle": "ttl",
    "trig": "trig",
    "rdfxml": "rdf",
}
"""The formats of `@import`, and what they are read as; `rdf` goes by the extension of the file."""


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


Counters = dict[str, list[Callable[[], int]]]
"""What tells how many rows there are, by predicate."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What `load` or `read` has found in a path: bad records that were set aside, and rows, which are known once they are facts."""

    path: str
    set_aside: int
    counters: Counters
    is_wide: bool  # every predicate has its facts from the same rows

    @property
    def rows(self) -> int:
        """How many good rows, or triples, there are, with repetitions."""
        found = [sum(counter() for counter in counters) for counters in self.counters.values()]
        return max(found, default=0) if self.is_wide else sum(found)


@dataclass(frozen=True, slots=True)
class Given:
    """Facts of files that have been read and wait for an update."""

    loader: Loader
    tables: Mapping[Predicate, list[Table]]

    def __add__(self, other: Given) -> Given:
        both = {p: [*self.tables.get(p, ()), *other.tables.get(p, ())] for p in (*self.tables, *other.tables)}
        return Given(self.loader, both)

    def of(self, loader: Loader) -> dict[Predicate, list[Table]]:
        """The tables of each predicate, for the reasoner that read them."""
        if loader is not self.loader:
            raise DataError("facts that one reasoner has read cannot be given to another")
        return dict(self.tables)


class Loader:
    """Adds explicit facts; knows which arity every name has."""

    def __init__(self, facts: Facts, backend: Backend, program: Program) -> None:
        self.facts, self.backend = facts, backend
        self.arities: dict[str, set[int]] = {}
        self.files: dict[str, str] = {}
        self.readings: list[Reading] = []
        self.supplied: set[str] = set()  # what somebody has given facts for, even none
        self._scope = program.prefixes, program.base
        named = program.predicates()
        self._iris = {p.name for p in named if is_rdf(p)}
        self.know(named)
        views = TripleViews.of(program)
        self.forms = Forms(views, backend)
        wanted = views.present | (named & {Predicate("quad", 4)})
        self.views = {name for name, view in VIEWS.items() if view in wanted}

    def named(self, name: str | IRI) -> str:
        """The name of a predicate as programs know it; a prefix is one of the program."""
        return full_name(predicate_name(name), *self._scope)

    def know(self, predicates: Iterable[Predicate]) -> None:
        """Take note of the arities of predicates."""
        for predicate in predicates:
            self.arities.setdefault(predicate.name, set()).add(predicate.arity)

    def supply(self, names: Iterable[str | IRI]) -> None:
        """Take note of names that somebody gives facts for; triples may be facts of whatever the program names by an IRI."""
        found = set(map(self.named, names))
        self.supplied |= found
        if any(view.name in found for view in ALL_TRIPLES):
            self.supplied |= self._iris

    def add(self, *arrivals: Arrival, triples: Iterable[Triples] = ()) -> list[Predicate]:
        """Stage explicit facts; all of them or, on an error, none. Answers the predicates."""
        triples = list(triples)
        found = self.checked(*arrivals, triples=triples)
        for predicate, tables in found.items():
            relation = self.facts.given(predicate)
            for table in tables:
                relation.schedule(table, EXPLICIT)
        for file in triples:
            file.schedule(self.facts.given)
        return list(
            dict.fromkeys([*found, *(predicate for file in triples for predicate in file.predicates)])
        )

    def given(
        self, facts: Mapping[str | IRI, object] | Given, leaving: bool = False
    ) -> dict[Predicate, list[Table]]:
        """The tables of facts to add, or to delete: then a predicate that nobody knows stays unknown."""
        if isinstance(facts, Given):
            return facts.of(self)
        arities = dict(self.arities)
        arrivals = []
        for predicate, data in facts.items():
            name = self.named(predicate)
            arity = self.expected(name)
            tables = self.backend.read_data(data, arity, None)
            arrivals.append(Arrival(name, tables, f"facts of {name}", arity))
        found = self.checked(*arrivals)
        self.arities = arities if leaving else self.arities
        return found

    def checked(self, *arrivals: Arrival, triples: Iterable[Triples] = ()) -> dict[Predicate, list[Table]]:
        """The tables of each predicate, every arity being what is expected; a file without rows makes its predicate known."""
        triples = list(triples)
        self.supply(arrival.name for arrival in arrivals)
        self.supplied.update(predicate.name for file in triples for predicate in file.predicates)
        waiting = [(arrival, list(arrival.tables)) for arrival in arrivals]
        arities = dict(self.arities)
        try:
            for arrival, tables in waiting:
                for arity in {len(table.columns) for table in tables}:
                    self._check_arity(arrival.name, arity, arrival.source)
            for file in triples:
                for predicate in file.predicates:
                    self._check_arity(predicate.name, predicate.arity, "triples")
        except DataError:
            self.arities = arities
            raise
        found: dict[Predicate, list[Table]] = {}
        for arrival, tables in waiting:
            if arrival.arity is not None and not tables:
                found.setdefault(Predicate(arrival.name, arrival.arity), [])
            for table in tables:
                found.setdefault(Predicate(arrival.name, len(table.columns)), []).append(table)
        found = self.forms.of(found)
        self.know(found)
        return found

    def _check_arity(self, name: str, arity: int, source: str) -> None:
        known = self.arities.get(name, {arity})
        both = name.startswith("<") and {arity, *known} <= {1, 2}
        if arity not in known and not both:
            raise DataError(f"{source}: {name} has {arguments(sorted(known))}, but the rows have {arity}")
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
        bad: Bad = "fail",
        format: str | None = None,
    ) -> list[Predicate]:
        """Load what a path stands for; `mapping` fills several predicates from columns of one wide file."""
        with self._noting(path, bool(mapping)) as counters:
            arrivals, triples = self.found(
                path,
                predicate=predicate,
                header=header,
                strings=strings,
                columns=columns,
                mapping=mapping,
                bad=bad,
                format=format,
            )
            self._count(arrivals, triples, counters)
            filled = self.add(*arrivals, triples=triples)
        for arrival in arrivals:
            self._note(arrival.name, arrival.source)
        return filled

    def read(self, path: str | os.PathLike[str], **options: Any) -> Given:
        """What a path stands for, as tables that are not staged; the options are those of `load`."""
        with self._noting(path, bool(options.get("mapping"))) as counters:
            arrivals, triples = self.found(path, **options)
            self._count(arrivals, triples, counters)
            tables = self.checked(*arrivals, triples=triples)
            for file in triples:
                for predicate, table in file.tables():
                    tables.setdefault(predicate, []).append(table)
        return Given(self, tables)

    def _count(self, arrivals: Iterable[Arrival], triples: Iterable[Triples], counters: Counters) -> None:
        """Let the counters tell the rows of all that was found, once they are known."""
        for arrival in arrivals:
            counters.setdefault(arrival.name, []).extend(map(self.backend.counter, arrival.tables))
        for file in triples:
            counters.setdefault("", []).append(partial(int, file.rows))

    @contextmanager
    def _noting(self, path: str | os.PathLike[str], is_wide: bool) -> Iterator[Counters]:
        """Keep what was found, and say how many records were set aside; what failed has set nothing aside."""
        before, counters = len(self.backend.aside), Counters()
        try:
            yield counters
        except BaseException:
            self.backend.aside.forget(before)
            raise
        aside = len(self.backend.aside) - before
        self.readings.append(Reading(os.fspath(path), aside, counters, is_wide))
        if aside:
            records = plural(aside, "bad record")
            warnings.warn(f"{os.fspath(path)}: {records} set aside", DataWarning, stacklevel=5)

    def found(
        self,
        path: str | os.PathLike[str],
        *,
        predicate: str | None = None,
        header: bool = False,
        strings: bool = False,
        columns: Columns | None = None,
        mapping: Mapping[str, Columns] | None = None,
        bad: Bad = "fail",
        format: str | None = None,
    ) -> tuple[list[Arrival], list[Triples]]:
        """What a path stands for, not added yet; files of one predicate and one format are read together."""
        if bad not in BAD:
            raise DataError(f'bad records are not treated by "{bad}"; choose one of: {", ".join(BAD)}')
        groups: dict[tuple[str, str, int | None], list[Path | str]] = {}
        for file in self.backend.files(path, format):
            if os.path.isfile(file.path) and not os.path.getsize(file.path):
                warnings.warn(f"{file.path}: the file is empty", DataWarning, stacklevel=4)
            whole = file.format in TRIPLES and not predicate and not mapping
            name = "" if whole or mapping else predicate or file.predicate
            arity = None if predicate or mapping else file.arity
            groups.setdefault((name, file.format, arity), []).append(file.path)
        arrivals, triples = [], []
        for (given, kind, said), paths in groups.items():
            if kind in TRIPLES and not predicate and not mapping:
                triples.append(self.backend.read_rdf(paths, kind, self.views, bad))
                continue
            wanted: Mapping[str, Columns | None] = mapping or {given: columns}
            for name, chosen in ((self.named(name), chosen) for name, chosen in wanted.items()):
                arity = self.expected(name) if said is None else said
                tables = self.backend.read_files(
                    paths, kind, arity, header=header, strings=strings, columns=chosen, bad=bad
                )
                arrivals.append(Arrival(name, list(tables), _shown(paths), arity))
        return arrivals, triples

    def _note(self, name: str, path: str) -> None:
        """Say where a predicate has its facts from, if it has them from two files."""
        first = self.files.setdefault(name, path)
        if first != path:
            warnings.warn(f"{path}: more facts of {name}, beside {first}", DataWarning, stacklevel=4)

    def imported(self, directive: Directive, folder: Path) -> Arrival:
        """What an `@import` names, relative to the folder of the program."""
        options = dict(directive.options)
        resource = options.get("resource")
        where = f"{directive.position}: " if directive.position else ""
        if not isinstance(resource, str):
            raise DataError(f'{where}@import needs a file: {directive.format}{{resource = "facts.csv"}}')
        path = folder / resource
        if not path.is_file():
            raise DataError(f"{where}{path}: there is no such file")
        kind = (
            self.backend.files(path)[0].format if directive.format == "rdf" else FORMATS.get(directive.format)
        )
        if kind is None:
            known = ", ".join((*FORMATS, "rdf"))
            raise DataError(f"{where}there is no format {directive.format}; choose one of: {known}")
        form, keep = options.get("format"), None
        arity = self.expected(directive.predicate)
        if isinstance(form, tuple):
            keep = [j for j, kind in enumerate(form) if kind != "skip"]
            arity = len(keep) if arity is None else arity
            keep = None if len(keep) == len(form) else keep
        delimiter = options.get("delimiter")
        tables = self.backend.read_files(
            [path],
            kind,
            arity,
            header=bool(options.get("ignore_headers", False)),
            columns=keep,
            delimiter=str(delimiter) if delimiter is not None else None,
        )
        return Arrival(directive.predicate, tables, str(path), arity)


def _shown(paths: Sequence[Path | str]) -> str:
    """Files as an error names them."""
    return str(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
