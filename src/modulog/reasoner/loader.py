"""Reads facts from values, files and the program, and keeps them until a materialisation or an update."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from modulog.engines.backend import Backend
from modulog.engines.table import Table
from modulog.errors import DataError, EngineError, EngineUnavailable, NotSupported
from modulog.evaluation.facts import Facts
from modulog.evaluation.triple_forms import Forms
from modulog.formats import DataWarning, warn_user
from modulog.language.model import Predicate, Program
from modulog.language.printer import print_predicate
from modulog.language.program_warnings import near_names
from modulog.language.triples import TRIPLE, VIEWS_BY_NAME, TripleViews, is_rdf
from modulog.language.triples import VIEWS as ALL_TRIPLES
from modulog.maintenance.change import Name
from modulog.reasoner.fact_batch import FactBatch, FactData, FactFiles, naming, said_arity
from modulog.reasoner.fact_files import Arrival, FileReader, Graph
from modulog.reasoner.known_predicates import KnownPredicates
from modulog.reasoner.pending_facts import Source, Waiting, merged_tables
from modulog.reasoner.predicate_names import choose
from modulog.wording import plural

_PREFIXED = re.compile(r"([\w.-]*:)[\w.-]+")

Counters = dict[str, list[Callable[[], int]]]
"""What tells how many rows there are, by predicate."""


@dataclass(eq=False, slots=True)
class Reading:
    """What was found in a path: bad records that were set aside, and rows, which Spark counts late."""

    path: str
    set_aside: int
    counters: Counters
    is_wide: bool  # every predicate has its facts from the same rows

    @property
    def rows(self) -> int:
        """How many good rows, or triples, there are, with repetitions."""
        found = [sum(counter() for counter in counters) for counters in self.counters.values()]
        return max(found, default=0) if self.is_wide else sum(found)


class Loader:
    """Reads facts, checks their arities, and lets them wait to be explicit facts."""

    def __init__(self, facts: Facts, backend: Backend, program: Program, folder: Path) -> None:
        self.backend, self._program = backend, program
        self._files = FileReader(backend, program, folder)
        self.named = self._files.named
        self.filled: dict[str, str] = {}  # the first file of each predicate
        self.readings: list[Reading] = []
        self._frames: dict[str, str] = {}  # what errors that come late call data frames, by their marks
        predicates = program.predicates()
        self._iris = {p.name for p in predicates if is_rdf(p)}
        self.known, self._known_for_good = (
            KnownPredicates({}, set()),
            KnownPredicates({}, set()),
        )  # the second without what waits
        self.know(predicates)
        self.staged = False  # whether the facts and imports of the program are explicit facts already
        self.forms = Forms(TripleViews.of(program), backend)
        self.waiting = Waiting(facts, self.forms)

    # ---- What is known of predicates

    def know(self, predicates: Iterable[Predicate]) -> None:
        """Note predicates that exist in the program or a store: `discard` does not forget them."""
        self._known_for_good.know(predicates)
        self.known.know(predicates)

    def supply(self, names: Iterable[Name]) -> None:
        """Note names for which there are facts; triples may be facts of every IRI in the program."""
        found = set(map(self.named, names))
        if any(view.name in found for view in ALL_TRIPLES):
            found |= self._iris
        self.known.supplied.update(found)

    def supply_batch(self, batch: FactBatch) -> None:
        """Note the names that a batch gives facts for; files are not read yet."""
        for part in batch.parts:
            self.supply([part.predicate] if isinstance(part, FactData) else self._files.names(part))

    def warn_of_near_names(self, predicates: Iterable[Predicate]) -> None:
        """Warn of predicates in an update that are new and differ from known ones in one letter only."""
        names = {p.name for p in predicates} - self._known_for_good.arities.keys()
        if not names:
            return
        near, prefixes = near_names(self._known_for_good.arities), dict(self._program.prefixes).items()
        for name in sorted(names):
            if meant := near(name):
                shown, other = print_predicate(name, prefixes), print_predicate(meant, prefixes)
                warn_user(
                    f"facts of {shown}: there was no such predicate; did you mean {other}?", DataWarning
                )

    def _warn_of_prefix(self, name: str) -> None:
        """Warn of a name that looks like an IRI with a prefix that the program does not have."""
        if (match := _PREFIXED.fullmatch(name)) is not None:
            message = f"facts of {name}: a name, not an IRI, since the program has no prefix `{match[1]}`"
            warn_user(message, DataWarning)

    @contextmanager
    def restoring_names(self) -> Iterator[None]:
        """After an error inside the block, restore the names and arities that were known before."""
        before = self.known
        self.known = before.copy()
        try:
            yield
        except BaseException:
            self.known = before
            raise

    @contextmanager
    def reading_deletions(self) -> Iterator[None]:
        """Facts read inside the block are to be deleted, so they do not set the arities of predicates."""
        before = self.known.copy()
        yield
        self.known = KnownPredicates(before.arities, self.known.supplied)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """After an error inside the block, forget all that was read in it, bad records included."""
        aside = self.backend.aside
        pieces, filled, readings = len(aside.pieces), dict(self.filled), list(self.readings)
        try:
            with self.restoring_names():
                yield
        except BaseException:
            aside.forget(aside.pieces[pieces:])
            self.filled, self.readings = filled, readings
            raise

    # ---- Facts on their way in

    def add(self, batch: FactBatch) -> list[Predicate]:
        """Let facts wait; all of them or, on an error, none. Returns the predicates that they fill."""
        with self.all_or_nothing():
            sources = self._sources_of(batch, noting=True)
        self.waiting.add(sources)
        return list(merged_tables(sources))

    def tables(self, batch: FactBatch) -> dict[Predicate, list[Table]]:
        """The tables of facts for an update."""
        return merged_tables(self._sources_of(batch))

    def _sources_of(self, batch: FactBatch, noting: bool = False) -> list[Source]:
        sources = []
        for part in batch.parts:
            read = (
                self._read(part, noting) if isinstance(part, FactFiles) else self._sources([self._data(part)])
            )
            sources += read
        return sources

    def _data(self, part: FactData) -> Arrival:
        """Facts from values in memory."""
        name = self.named(part.predicate)
        source, arity = f"facts of {name}", said_arity(part.predicate)
        arity = self.known.expected(name) if arity is None else arity
        with naming(name):
            tables = list(self.backend.read_data(part.values(), arity, part.columns))
        self._frames.update((mark, source) for mark in map(self.backend.mark, tables) if mark is not None)
        return Arrival(name, tables, source, arity)

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
            self._warn_of_prefix(arrival.name)
            sources.append(Source(arrival.name, arrival.source, forms, arrival.bad, arrival.of_program))
        for graph in graphs:
            self.known.check(graph.triples.predicates, "triples")
            tables = {}
            for predicate, table in graph.triples.tables():
                tables.setdefault(predicate, []).append(table)
            sources.append(Source(TRIPLE.name, graph.source, tables, graph.bad))
            self.known.supplied.update(predicate.name for predicate in tables)
        return sources

    def _read(self, files: FactFiles, noting: bool) -> list[Source]:
        """The facts of files; a warning says how many records were set aside.

        With `noting` another one says where a predicate has facts from two files.
        """
        counters: Counters = {}
        records = len(self.backend.aside)
        arrivals, graphs = self._files.read(files, self.known)
        for arrival in arrivals:
            counters.setdefault(arrival.name, []).extend(map(self.backend.counter, arrival.tables))
        for graph in graphs:
            counters.setdefault(TRIPLE.name, []).append(partial(int, graph.triples.rows))
        sources = self._sources(arrivals, graphs)
        self._note(files.path, len(self.backend.aside) - records, counters, bool(files.options["mapping"]))
        for arrival in arrivals if noting else ():
            first = self.filled.setdefault(arrival.name, arrival.source)
            if first != arrival.source:
                warn_user(f"{arrival.source}: more facts of {arrival.name}, beside {first}", DataWarning)
        return sources

    def _note(self, path: str, records: int, counters: Counters, is_wide: bool) -> None:
        """Note what was read from a path, and warn of bad records that were set aside."""
        if records:
            warn_user(f"{path}: {plural(records, 'bad record')} set aside", DataWarning)
        self.readings.append(Reading(path, records, counters, is_wide))

    def note_table(self, path: str, rows: int, folders: Iterable[str]) -> None:
        """Note a table that another process has read: its good rows, and the folders of its bad records."""
        before = len(self.backend.aside)
        for folder in folders:
            self.backend.aside.take(folder)
        self._note(path, len(self.backend.aside) - before, {"": [partial(int, rows)]}, True)

    def call_files(self, called: Mapping[str, str]) -> None:
        """Give files that were read other names: those of which they are copies."""
        self.readings = [replace(r, path=called.get(r.path, r.path)) for r in self.readings]
        self.backend.aside.call_files(called)

    # ---- What belongs to the program

    def stage_program(self) -> None:
        """Let the program's own facts and its imports wait, unless they are there already."""
        if self.staged or any(source.of_program for source in self.waiting.sources):
            return
        own = (
            Arrival(predicate.name, [table], "facts of the program", of_program=True)
            for predicate, table in self.own().items()
        )
        with self.restoring_names():
            imported = [self._files.imported(directive, self.known) for directive in self._program.imports]
            sources = self._sources((*own, *imported))
        self.waiting.add(sources)

    def own(self) -> dict[Predicate, Table]:
        """The facts that the program consists of."""
        by_predicate: dict[Predicate, list[tuple[Any, ...]]] = {}
        for fact in self._program.facts:
            by_predicate.setdefault(fact.predicate, []).append(fact.terms)
        return {p: self.backend.encode(rows, p.arity) for p, rows in by_predicate.items()}

    # ---- The end of waiting: stored or discarded

    def make_explicit(self) -> int:
        """Store all waiting facts in the relations of explicit facts; returns how many facts these have."""
        with self.explaining():
            return self.waiting.make_explicit()

    def forget_waiting(self) -> None:
        """Empty the list of waiting sources, because a materialisation or an update has stored them."""
        self.waiting.clear()
        self.staged, self._known_for_good = True, self.known.copy()

    def discard(self, predicate: Name) -> list[str]:
        """Drop the waiting facts of a predicate; returns the names of their sources."""
        name = self.named(predicate)
        if said_arity(predicate) not in {None, *self.known.arities.get(name, ())}:
            self._none_known(name, said_arity(predicate))
        gone = self.waiting.discard(name)
        if not gone and name not in {*self.known.arities, *VIEWS_BY_NAME}:
            self._none_known(name)
        self.backend.aside.forget([piece for s in gone if s.name == name for piece in s.bad])
        self.filled.pop(name, None)
        for reading in self.readings:
            reading.counters.pop(name, None)
        self.readings = [reading for reading in self.readings if reading.counters]
        self.known = self._known_for_good.copy()
        self.known.know(self.waiting.predicates())
        self.supply(source.name for source in self.waiting.sources)
        return [source.shown for source in gone]

    def _none_known(self, name: str, arity: int | None = None) -> None:
        """Raise the error about a predicate that does not exist."""
        choose([Predicate(n, a) for n, arities in self.known.arities.items() for a in arities], name, arity)

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Let errors inside the block say which source of facts they are about, and what can be done."""
        try:
            yield
        except (DataError, EngineError) as error:
            explained = self._explained(error)
            if explained is error:
                raise
            raise explained.with_traceback(error.__traceback__) from error.__cause__

    def _explained(self, error: DataError | EngineError) -> DataError | EngineError:
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
        """The marks by which an error that comes late says which table of a source it is about."""
        marks = (self.backend.mark(table) for tables in source.tables.values() for table in tables)
        return {mark for mark in marks if mark is not None}
