"""Facts on their way in: from values, files, folders and `@import` directives to explicit facts in an engine."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from modulog.engines.backend import Backend, Triples
from modulog.engines.table import Table
from modulog.errors import DataError, EngineError, EngineUnavailable, NotSupported
from modulog.evaluation.facts import Facts
from modulog.evaluation.triple_forms import Forms
from modulog.formats import DataWarning, warn_user
from modulog.formats.fact_file import BAD, Bad, Columns
from modulog.formats.format import DIRECTIVES, TRIPLES, unknown_format
from modulog.language.model import Directive, Predicate, Program
from modulog.language.printer import print_predicate
from modulog.language.program_warnings import near_names
from modulog.language.term_parser import full_name
from modulog.language.triples import TRIPLE, VIEWS_BY_NAME, TripleViews, is_rdf
from modulog.language.triples import VIEWS as ALL_TRIPLES
from modulog.reasoner.pending_facts import Source, Waiting, together
from modulog.reasoner.predicate_names import choose
from modulog.terms.python_values import IRI
from modulog.wording import arguments, plural

_PREFIXED = re.compile(r"([\w.-]*:)[\w.-]+")


def predicate_name(name: str | IRI) -> str:
    """The name of a predicate as programs know it: an IRI stands in angle brackets."""
    return f"<{name.value}>" if isinstance(name, IRI) else name


def check_by_predicate(facts: object) -> None:
    """Raise an error unless these are facts as `Reasoner.update` takes them: rows by predicate, what `read` gave, or None."""
    if facts is not None and not isinstance(facts, Mapping | Given):
        raise DataError(
            f'facts of an update stand by predicate: {{"edge": [("a", "b")]}}, not in a {type(facts).__name__}'
        )


@dataclass(frozen=True, slots=True)
class Arrival:
    """Facts for a predicate, from somewhere; the arity is known only where something fixes it."""

    name: str
    tables: Sequence[Table]
    source: str
    arity: int | None = None
    bad: Sequence[object] = ()  # bad records that were left out
    of_program: bool = False


Counters = dict[str, list[Callable[[], int]]]
"""What tells how many rows there are, by predicate."""


@dataclass(eq=False, slots=True)
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

    def counted(self) -> Reading:
        """The same, with nothing that would have to be asked."""
        return replace(self, counters={"": [partial(int, self.rows)]}, is_wide=False)


@dataclass(frozen=True, slots=True)
class Given:
    """Facts of files that have been read and wait for an update.

    >>> from modulog import Reasoner
    >>> r = Reasoner("p(1) .")
    >>> r.update(add=r.given("p", [(2,)]) + r.given("q", [("x",)])).added
    {'p': 1, 'q': 1}
    """

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


@dataclass(frozen=True, slots=True)
class Graph:
    """Files of triples, what errors call them, and their bad records that were left out."""

    triples: Triples
    source: str
    bad: Sequence[object]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of predicates: the arities that each name has, and the names that facts were given for, even none."""

    arities: dict[str, frozenset[int]]
    supplied: set[str]

    def copy(self) -> Known:
        """The same, to go on from."""
        return Known(dict(self.arities), set(self.supplied))

    def know(self, predicates: Iterable[Predicate]) -> None:
        """Take note of the arities of predicates."""
        for predicate in predicates:
            self.arities[predicate.name] = self.arities.get(predicate.name, frozenset()) | {predicate.arity}

    def check(self, predicates: Iterable[Predicate], source: str) -> None:
        """Take note of the arities of facts, which must be the ones that are known; an IRI may be a class and a property."""
        for predicate in predicates:
            known = self.arities.get(predicate.name)
            both = (
                predicate.name.startswith("<") and known is not None and {predicate.arity, *known} <= {1, 2}
            )
            if known is not None and predicate.arity not in known and not both:
                has = arguments(sorted(known))
                raise DataError(f"{source}: {predicate.name} has {has}, but the rows have {predicate.arity}")
            self.know([predicate])


class Loader:
    """Lets facts wait to be explicit; knows which arity every name has."""

    def __init__(self, facts: Facts, backend: Backend, program: Program, folder: Path) -> None:
        self.backend, self._program, self._folder = backend, program, folder
        self.files: dict[str, str] = {}
        self.readings: list[Reading] = []
        self._frames: dict[str, str] = {}  # what errors that come late call data frames, by their marks
        self._scope = program.prefixes, program.base
        named = program.predicates()
        self._iris = {p.name for p in named if is_rdf(p)}
        self.known, self._lasting = Known({}, set()), Known({}, set())
        self.know(named)
        self.staged = False  # whether what belongs to the program was taken in
        views = TripleViews.of(program)
        self.forms = Forms(views, backend)
        self.waiting = Waiting(facts, self.forms)
        wanted = views.present | (named & {Predicate("quad", 4)})
        self.views = {name for name, view in VIEWS_BY_NAME.items() if view in wanted}

    def named(self, name: str | IRI) -> str:
        """The name of a predicate as programs know it; a prefix is one of the program."""
        return full_name(predicate_name(name), *self._scope)

    # ---- What is known

    def know(self, predicates: Iterable[Predicate]) -> None:
        """Take note of predicates that are there, whatever waits."""
        self._lasting.know(predicates)
        self.known.know(predicates)

    def supply(self, names: Iterable[str | IRI]) -> None:
        """Take note of names that somebody gives facts for; triples may be facts of whatever the program names by an IRI."""
        found = set(map(self.named, names))
        if any(view.name in found for view in ALL_TRIPLES):
            found |= self._iris
        self.known.supplied.update(found)

    def doubt(self, predicates: Iterable[Predicate]) -> None:
        """Warn of facts of an update whose predicate nobody knows, but for a letter."""
        names = {p.name for p in predicates} - self._lasting.arities.keys()
        if not names:
            return
        near, prefixes = near_names(self._lasting.arities), dict(self._scope[0]).items()
        for name in sorted(names):
            if meant := near(name):
                shown, other = print_predicate(name, prefixes), print_predicate(meant, prefixes)
                warn_user(
                    f"facts of {shown}: there was no such predicate; did you mean {other}?", DataWarning
                )

    def _doubt_prefix(self, name: str) -> None:
        """Warn of a name that looks like an IRI with a prefix that the program does not have."""
        if (match := _PREFIXED.fullmatch(name)) is not None:
            message = f"facts of {name}: a name, not an IRI, since the program has no prefix `{match[1]}`"
            warn_user(message, DataWarning)

    @property
    def supplied(self) -> set[str]:
        """The names that somebody has given facts for, even none."""
        return self.known.supplied

    def expected(self, name: str) -> int | None:
        """The arity that facts of a name must have, if it is known and there is only one."""
        known = self.known.arities.get(name, frozenset())
        return next(iter(known)) if len(known) == 1 and not name.startswith("<") else None

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Nothing is known of predicates afterwards, if there is an error, that was not known before."""
        before = self.known
        self.known = before.copy()
        try:
            yield
        except BaseException:
            self.known = before
            raise

    # ---- Facts on their way in

    def arrival(self, predicate: str | IRI, facts: object, columns: Columns | None = None) -> Arrival:
        """Facts from values in memory."""
        name = self.named(predicate)
        arity, source = self.expected(name), f"facts of {name}"
        try:
            tables = list(self.backend.read_data(facts, arity, columns))
        except DataError as error:
            raise DataError(f"{source}: {str(error).removeprefix('facts: ')}") from error
        self._frames.update((mark, source) for mark in map(self.backend.mark, tables) if mark is not None)
        return Arrival(name, tables, source, arity)

    def add(self, *arrivals: Arrival) -> None:
        """Let facts wait; all of them or, on an error, none."""
        with self.trying():
            sources = self._sources(arrivals)
        self.waiting.add(sources)

    def given(
        self, facts: Mapping[str | IRI, object] | Given, leaving: bool = False
    ) -> dict[Predicate, list[Table]]:
        """The tables of facts to add, or to delete: then a predicate that nobody knows stays unknown."""
        if isinstance(facts, Given):
            return facts.of(self)
        before = self.known.copy()
        found = self.checked(*(self.arrival(predicate, data) for predicate, data in facts.items()))
        self.known = before if leaving else self.known
        return found

    def checked(self, *arrivals: Arrival, graphs: Iterable[Graph] = ()) -> dict[Predicate, list[Table]]:
        """The tables of each predicate, every arity being what is expected; a file without rows makes its predicate known."""
        return together(self._sources(arrivals, graphs))

    def _sources(self, arrivals: Iterable[Arrival], graphs: Iterable[Graph] = ()) -> list[Source]:
        """Facts under all their names, every arity being what is expected."""
        sources = []
        for arrival in arrivals:
            tables: dict[Predicate, list[Table]] = {}
            if arrival.arity is not None and not arrival.tables:
                tables[Predicate(arrival.name, arrival.arity)] = []
            for table in arrival.tables:
                tables.setdefault(Predicate(arrival.name, len(table.columns)), []).append(table)
            self.known.check(tables, arrival.source)
            forms = self.forms.of(tables)
            self.known.know(forms)
            self.supply([arrival.name])
            self._doubt_prefix(arrival.name)
            sources.append(Source(arrival.name, arrival.source, forms, arrival.bad, arrival.of_program))
        for graph in graphs:
            self.known.check(graph.triples.predicates, "triples")
            tables = {}
            for predicate, table in graph.triples.tables():
                tables.setdefault(predicate, []).append(table)
            sources.append(Source(TRIPLE.name, graph.source, tables, graph.bad))
            self.known.supplied.update(predicate.name for predicate in tables)
        return sources

    def load(self, path: str | os.PathLike[str], **options: Any) -> list[Predicate]:
        """Let what a path stands for wait; the options are those of `found`."""
        sources = self._read(path, options, noting=True)
        self.waiting.add(sources)
        return list(together(sources))

    def read(self, path: str | os.PathLike[str], **options: Any) -> Given:
        """What a path stands for, to be given to an update; the options are those of `found`."""
        return Given(self, together(self._read(path, options)))

    def _read(
        self, path: str | os.PathLike[str], options: Mapping[str, Any], noting: bool = False
    ) -> list[Source]:
        """What a path stands for. What was found is kept, and it is said how many records were set aside; what fails leaves no trace.

        With `noting` it is also said where a predicate has facts from two files.
        """
        aside, counters = self.backend.aside, Counters()
        pieces, records, files = len(aside.pieces), len(aside), dict(self.files)
        try:
            with self.trying():
                arrivals, graphs = self.found(path, **options)
                for arrival in arrivals:
                    counters.setdefault(arrival.name, []).extend(map(self.backend.counter, arrival.tables))
                for graph in graphs:
                    counters.setdefault(TRIPLE.name, []).append(partial(int, graph.triples.rows))
                sources = self._sources(arrivals, graphs)
                records = len(aside) - records
                if records:
                    warn_user(f"{os.fspath(path)}: {plural(records, 'bad record')} set aside", DataWarning)
                for arrival in arrivals if noting else ():
                    first = self.files.setdefault(arrival.name, arrival.source)
                    if first != arrival.source:
                        warn_user(
                            f"{arrival.source}: more facts of {arrival.name}, beside {first}", DataWarning
                        )
        except BaseException:
            aside.forget(aside.pieces[pieces:])
            self.files = files
            raise
        self.readings.append(Reading(os.fspath(path), records, counters, bool(options.get("mapping"))))
        return sources

    def note_table(self, path: str, rows: int, folders: Sequence[str]) -> None:
        """Take note of a table that another process has read: its good rows, and the folders of its bad records."""
        before = len(self.backend.aside)
        for folder in folders:
            self.backend.aside.take(folder)
        records = len(self.backend.aside) - before
        if records:
            warn_user(f"{path}: {plural(records, 'bad record')} set aside", DataWarning)
        self.readings.append(Reading(path, records, {"": [partial(int, rows)]}, True))

    def call_files(self, called: Mapping[str, str]) -> None:
        """Give files that were read other names: those of which they are copies."""
        self.readings = [replace(r, path=called.get(r.path, r.path)) for r in self.readings]
        self.backend.aside.call_files(called)

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
    ) -> tuple[list[Arrival], list[Graph]]:
        """What a path stands for; files of one predicate and one format are read together.

        `mapping` fills several predicates from columns of one wide file.
        """
        if bad not in BAD:
            raise DataError(f'bad records are not treated by "{bad}"; choose one of: {", ".join(BAD)}')
        groups: dict[tuple[str, str, int | None], list[Path | str]] = {}
        for file in self.backend.files(path, format):
            if os.path.isfile(file.path) and not os.path.getsize(file.path):
                warn_user(f"{file.path}: the file is empty", DataWarning)
            whole = file.format in TRIPLES and not predicate and not mapping
            name = "" if whole or mapping else predicate or file.predicate
            arity = None if predicate or mapping else file.arity
            groups.setdefault((name, file.format, arity), []).append(file.path)
        arrivals, graphs, aside = [], [], self.backend.aside
        for (given, kind, said), paths in groups.items():
            if kind in TRIPLES and not predicate and not mapping:
                before = len(aside.pieces)
                triples = self.backend.read_rdf(paths, kind, self.views, bad)
                graphs.append(Graph(triples, _shown(paths), aside.pieces[before:]))
                continue
            if kind in TRIPLES and columns is None and self.expected(given) not in (None, 3, 4):
                raise DataError(
                    f"{_shown(paths)}: triples have three arguments, but {given} has {self.expected(given)}; "
                    "without a predicate the file fills those of its triples"
                )
            wanted: Mapping[str, Columns | None] = mapping or {given: columns}
            for name, chosen in ((self.named(name), chosen) for name, chosen in wanted.items()):
                arity = self.expected(name) if said is None else said
                before = len(aside.pieces)
                tables = list(
                    self.backend.read_files(
                        paths, kind, arity, header=header, strings=strings, columns=chosen, bad=bad
                    )
                )
                arrivals.append(Arrival(name, tables, _shown(paths), arity, aside.pieces[before:]))
        return arrivals, graphs

    # ---- What belongs to the program

    def stage_program(self) -> None:
        """Let the program's own facts and its imports wait, unless they are there already."""
        if self.staged or any(source.of_program for source in self.waiting.sources):
            return
        own = (
            Arrival(predicate.name, [table], "facts of the program", of_program=True)
            for predicate, table in self.own().items()
        )
        self.add(*own, *map(self._imported, self._program.imports))

    def own(self) -> dict[Predicate, Table]:
        """The facts that the program consists of."""
        by_predicate: dict[Predicate, list[tuple[Any, ...]]] = {}
        for fact in self._program.facts:
            by_predicate.setdefault(fact.predicate, []).append(fact.terms)
        return {p: self.backend.encode(rows, p.arity) for p, rows in by_predicate.items()}

    def _imported(self, directive: Directive) -> Arrival:
        """What an `@import` names, relative to the folder of the program."""
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
        kind = DIRECTIVES[directive.format] or self.backend.files(path)[0].format
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
        return Arrival(directive.predicate, list(tables), str(path), arity, of_program=True)

    # ---- Taken in, or taken back

    def settle(self) -> int:
        """Make explicit facts of all that waits, for a first materialisation; answers how many explicit facts there are."""
        with self.telling():
            return self.waiting.settle()

    def taken(self) -> None:
        """A materialisation has taken in all that waited."""
        self.waiting.taken()
        self.staged, self._lasting = True, self.known.copy()

    def discard(self, predicate: str | IRI) -> list[str]:
        """Take back what waits for a predicate; answers where it came from."""
        name = self.named(predicate)
        gone = self.waiting.discard(name)
        if not gone and name not in {*self.known.arities, *VIEWS_BY_NAME}:
            choose([Predicate(n, a) for n, arities in self.known.arities.items() for a in arities], name)
        self.backend.aside.forget([piece for s in gone if s.name == name for piece in s.bad])
        self.files.pop(name, None)
        for reading in self.readings:
            reading.counters.pop(name, None)
        self.readings = [reading for reading in self.readings if reading.counters]
        self.known = self._lasting.copy()
        self.known.know(self.waiting.predicates())
        self.supply(source.name for source in self.waiting.sources)
        return [source.shown for source in gone]

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Let errors that come late, about facts that wait or are in an update, say whose facts these are and what to do."""
        try:
            yield
        except (DataError, EngineError) as error:
            told = self._told(error)
            if told is error:
                raise
            raise told.with_traceback(error.__traceback__) from error.__cause__

    def _told(self, error: DataError | EngineError) -> DataError | EngineError:
        mark = error.mark if isinstance(error, DataError) else None
        text = str(error)
        if mark in self._frames:
            text = f"{self._frames[mark]}: {text}"
        late = {s: self._marks(s) for s in self.waiting.sources if not s.of_program and self._marks(s)}
        blamed = [s for s, marks in late.items() if mark in marks or s.shown in text]
        names = dict.fromkeys(s.name for s in blamed or (late if mark is None else ()))
        if isinstance(error, EngineUnavailable | NotSupported):
            names = {}
        advice = ", ".join(f'discard("{name}")' for name in names)
        if advice:
            text += (
                f"\n{(advice := f'hint: nothing else is lost; take back what was given here with {advice}')}"
            )
        if text == str(error):
            return error
        made = type(error)(text)
        made.advice = advice
        return made

    def _marks(self, source: Source) -> set[str]:
        """What errors bear that come when a source is read."""
        marks = (self.backend.mark(table) for tables in source.tables.values() for table in tables)
        return {mark for mark in marks if mark is not None}


def _shown(paths: Sequence[Path | str]) -> str:
    """Files as an error names them."""
    return str(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
