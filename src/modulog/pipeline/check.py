"""All that can be wrong with a pipeline, found before Spark starts: rules, sources, sinks and the store, as a
whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path

from modulog.errors import DataError, ModulogError, PipelineError
from modulog.formats.fact_file import Columns, FactFile
from modulog.formats.files import is_uri
from modulog.formats.format import EXTENSIONS, TRIPLES, unknown_format
from modulog.formats.tables import choose_columns
from modulog.language.function_calls import refuse_functions
from modulog.language.model import Program
from modulog.language.parser import parse_file
from modulog.language.printer import print_predicate
from modulog.language.safety import errors_of
from modulog.language.term_parser import full_name
from modulog.language.triples import VIEWS, TripleViews
from modulog.pipeline.config import (
    AVAILABLE_NOW,
    KEYS,
    PREDICATE,
    SINK_KEYS,
    SOURCE_KEYS,
    Configuration,
    Sink,
    Source,
)
from modulog.pipeline.source_files import is_here, local_files, peek
from modulog.reasoner.persistence import store_path
from modulog.store.draft import check_target
from modulog.store.manifest import MANIFEST
from modulog.wording import arguments, plural

_NOT_LOCAL = 'write engine = "spark"'
"""What to do about something that a local pipeline does not have, besides leaving it out."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A configuration in which nothing is wrong, its program, and the files of each source; None where only
    Spark can tell.
    """

    configuration: Configuration
    program: Program
    files: tuple[list[FactFile] | None, ...]


def check(configuration: Configuration) -> Checked:
    """Look at everything that can be looked at without Spark; an error lists all mistakes, each with its
    place.
    """
    checker = _Checker(configuration)
    checker.check()
    if checker.mistakes:
        raise PipelineError(checker.mistakes)
    return Checked(checker.configuration, checker.program, tuple(checker.files))


def _written_out(configuration: Configuration, program: Program) -> Configuration:
    """The configuration with the prefixes of the program in names of predicates written out."""

    def full(name: str) -> str:
        return full_name(name, program.prefixes, program.base)

    sources = tuple(
        replace(
            source,
            predicate=full(source.predicate) if source.predicate else source.predicate,
            map={full(name): columns for name, columns in source.map.items()} if source.map else source.map,
        )
        for source in configuration.sources
    )
    sinks = tuple(
        replace(sink, predicates=tuple(map(full, sink.predicates))) if sink.predicates else sink
        for sink in configuration.sinks
    )
    return replace(configuration, sources=sources, sinks=sinks)


def mistakes_of(configuration: Configuration) -> list[str]:
    """All mistakes of a configuration, but for those that its `unknown` values make; these are known
    already.
    """
    checker = _Checker(configuration)
    checker.check()
    return checker.mistakes


def merged(programs: Sequence[Program]) -> Program:
    """One program from several."""
    prefixes = dict(pair for program in programs for pair in program.prefixes)
    return Program(
        rules=tuple(rule for program in programs for rule in program.rules),
        facts=tuple(fact for program in programs for fact in program.facts),
        exports=tuple(export for program in programs for export in program.exports),
        outputs=tuple(dict.fromkeys(name for program in programs for name in program.outputs)),
        prefixes=tuple(prefixes.items()),
        text=programs[0].text if len(programs) == 1 else None,
    )


@dataclass(slots=True)
class _Checker:
    configuration: Configuration
    mistakes: list[str] = field(default_factory=list)
    program: Program = field(default_factory=Program)
    files: list[list[FactFile] | None] = field(default_factory=list)
    arities: dict[str, set[int]] = field(default_factory=dict)
    filled: set[str] = field(default_factory=set)  # predicates that sources name
    any_names: bool = False  # triples, or what Spark has to list: any predicate may have facts
    unsure: bool = False  # some rules or sources cannot be read: nobody knows which predicates there are
    unknown: set[tuple[str | int, ...]] = field(default_factory=set)

    def check(self) -> None:
        self.unknown |= self.configuration.unknown
        self._values()
        self._rules()
        self.configuration = _written_out(self.configuration, self.program)
        for number, source in enumerate(self.configuration.sources):
            self._source(number, source)
        self._functions()
        self._store()
        self._engine()
        for number, sink in enumerate(self.configuration.sinks):
            self._sink(number, sink)

    def _wrong(self, message: str, *path: str | int) -> None:
        self.mistakes.append(f"{self.configuration.places.of(*path)}: {message}")

    def _knows(self, kind: str, number: int, *names: str) -> bool:
        """Whether some values of a source or a sink are what they must be."""
        return not any((kind, number, name) in self.unknown for name in names)

    def _values(self) -> None:
        """A file has been checked when it was read; what a program gives may be anything."""
        given = self.configuration
        for name in KEYS.keys() & {f.name for f in fields(given)}:
            value = getattr(given, name)
            if value is None or (name,) in self.unknown:
                continue
            if wrong := KEYS[name].complaint(name, value):
                self._wrong(wrong, name)
                self.unknown.add((name,))
        for kind, items, keys in (("source", given.sources, SOURCE_KEYS), ("sink", given.sinks, SINK_KEYS)):
            for number, item in enumerate(items):
                for name in keys:
                    value = getattr(item, name)
                    if value is None or not self._knows(kind, number, name):
                        continue
                    if wrong := keys[name].complaint(name, value):
                        self._wrong(wrong, kind, number, name)
                        self.unknown.add((kind, number, name))

    # ---- Rules

    def _rules(self) -> None:
        programs, before = list[Program](), len(self.mistakes)
        for rules in self.configuration.rules:
            try:
                if not Path(rules).is_file():
                    self._wrong(f"{rules}: there is no such file", "rules")
                    continue
                program = parse_file(rules, check=False)
                programs.append(replace(program, imports=()))
                self.mistakes += map(str, errors_of(program))
                self._imports(program)
            except ModulogError as error:
                self.mistakes.append(str(error))
        self.unsure = len(programs) < max(1, len(self.configuration.rules))
        if programs:
            self.program = merged(programs)
            if len(self.mistakes) == before:  # else the same mistakes would be told twice
                self.mistakes += map(str, errors_of(self.program))
        for predicate in self.program.predicates():
            self.arities.setdefault(predicate.name, set()).add(predicate.arity)

    def _imports(self, program: Program) -> None:
        """Files that change between runs must be known to the pipeline."""
        for directive in program.imports:
            self.mistakes.append(
                f"{directive.position}: a pipeline knows its files: write a [[source]] instead of @import"
            )

    def _functions(self) -> None:
        """Functions in place of atoms: their names are no predicates that rules or sources fill."""
        certain = not self.unsure and not any(
            files is None and source.predicates is None
            for source, files in zip(self.configuration.sources, self.files, strict=True)
        )
        names = {file.predicate for files in self.files for file in files or ()}
        try:
            refuse_functions(self.program, self.program.text, names | self.filled if certain else None)
        except ModulogError as error:
            self.mistakes.append(str(error))

    # ---- Sources

    def _source(self, number: int, source: Source) -> None:
        is_plain = self._knows("source", number, "header", "columns", "map", "predicate")
        for keys, message in _contradictions(source):
            if self._knows("source", number, *keys):
                self._wrong(message, "source", number, keys[0])
                is_plain = False
        found: list[FactFile] | None = None
        is_found = self._knows("source", number, "path", "table", "format") and _is_place(source)
        if is_found and is_here(source, self.configuration):
            found = self._files(number, source)
        self.files.append(found)
        if is_plain:
            self._predicates(number, source, found or ())
        self.filled.update(source.predicates or ())
        if found is None:
            self.any_names |= source.predicates is None
        if not is_plain or not is_found or found == []:
            self.unsure |= source.predicates is None

    def _files(self, number: int, source: Source) -> list[FactFile]:
        try:
            return local_files(source)
        except DataError as error:
            self._wrong(str(error), "source", number, "path")
            return []

    def _predicates(self, number: int, source: Source, files: Sequence[FactFile]) -> None:
        """Every predicate that a source fills with the columns it gets, as far as that can be seen."""
        for name, columns in (source.map or {}).items():
            self._arity(name, len(columns), "source", number, "map")
        if source.predicate is not None and source.columns is not None:
            self._arity(source.predicate, len(source.columns), "source", number, "columns")
        for file in files:
            if file.format in TRIPLES and source.predicates is None:
                self.any_names = True
                continue
            wanted: Mapping[str, Columns | None] = source.map or {
                source.predicate or file.predicate: source.columns
            }
            for name, chosen in wanted.items():
                self._columns(number, source, file, name, chosen)

    def _columns(
        self, number: int, source: Source, file: FactFile, name: str, chosen: Columns | None
    ) -> None:
        """The columns of one file that are the arguments of one predicate."""
        key = "map" if source.map else "columns" if chosen is not None else "path"
        try:
            seen = peek(file, source.header)
            if seen is None:
                return
            found = choose_columns(seen.names, seen.width, None, chosen, str(file.path))
        except (DataError, OSError) as error:
            self._wrong(str(error), "source", number, key)
            return
        if chosen is None:
            self._arity(name, len(found), "source", number, key, file=str(file.path))

    def _arity(self, name: str, columns: int, *path: str | int, file: str = "") -> None:
        known = self.arities.setdefault(name, {columns})
        if columns in known or (name.startswith("<") and {columns, *known} <= {1, 2}):
            return
        shown = print_predicate(name, dict(self.program.prefixes).items())
        where = f"{file}: " if file else ""
        has, gets = arguments(sorted(known)), plural(columns, "column")
        self._wrong(f"{where}{shown} has {has}, but gets {gets}", *path)

    # ---- What only Spark has

    def _engine(self) -> None:
        """A local pipeline has files of this machine, and no settings of Spark."""
        given = self.configuration
        if given.engine != "local" or ("engine",) in self.unknown:
            return
        if given.spark:
            self._wrong(f"`[spark]` has settings of Spark: {_NOT_LOCAL}, or remove `[spark]`", "spark")
        for name in given.limits:
            self._wrong(f"`{name}` is a limit of the Spark engine: {_NOT_LOCAL}, or remove the key", name)
        for number, source in enumerate(given.sources):
            if source.table is not None:
                self._wrong(
                    f"{source.table}: a table of Spark's catalogue: {_NOT_LOCAL}, or name files in `path`",
                    "source",
                    number,
                    "table",
                )
            elif source.stream and self._knows("source", number, "stream"):
                self._wrong(
                    f'{source.place}: a stream of Spark: {_NOT_LOCAL}, or take new files with `role = "add"` in each run',
                    "source",
                    number,
                    "stream",
                )
            if _is_elsewhere(source.path):
                self._wrong(
                    f"{source.path}: not a file of this machine: {_NOT_LOCAL}, or copy the files here",
                    "source",
                    number,
                    "path",
                )
        for number, sink in enumerate(given.sinks):
            if sink.table is not None:
                self._wrong(
                    f"{sink.table}: a table of Spark's catalogue: {_NOT_LOCAL}, or write files to a `path`",
                    "sink",
                    number,
                    "table",
                )
            elif _is_elsewhere(sink.path):
                self._wrong(
                    f"{sink.path}: not a folder of this machine: {_NOT_LOCAL}, or write to a folder here",
                    "sink",
                    number,
                    "path",
                )

    # ---- Store and sinks

    def _store(self) -> None:
        if ("store",) in self.unknown:
            return
        try:
            check_target(store_path(self.configuration.store))
        except DataError as error:
            self._wrong(str(error), "store")

    def _sink(self, number: int, sink: Sink) -> None:
        if self._knows("sink", number, "path", "table", "format"):
            self._sink_place(number, sink)
        if self._knows("sink", number, "predicates") and not self.unsure:
            self._sink_predicates(number, sink)

    def _sink_place(self, number: int, sink: Sink) -> None:
        is_table = sink.format == "table"
        if is_table != (sink.table is not None) or is_table == (sink.path is not None):
            self._wrong('a sink has a `path`, or with format = "table" the name of a `table`', "sink", number)
            return
        if sum(other.key == sink.key for other in self.configuration.sinks[: number + 1]) > 1:
            self._wrong(f"{sink.place}: another sink writes there", "sink", number)
        if sink.path is not None and not is_uri(sink.path):
            self._sink_path(number, Path(sink.path))
        single = sink.predicates is not None and len(sink.predicates) == 1
        if sink.table is not None and not single and PREDICATE not in sink.table:
            self._wrong(
                f'several predicates need several tables: table = "{sink.table}_{PREDICATE}"',
                "sink",
                number,
                "table",
            )

    def _sink_predicates(self, number: int, sink: Sink) -> None:
        known = self.arities.keys() | self.filled
        for name in sink.predicates or ():
            if name not in known and not self._may_follow(name):
                near = get_close_matches(name, known, n=1, cutoff=0.5)
                hint = f"; did you mean {near[0]}?" if near else ""
                self._wrong(f"there is no predicate {name}{hint}", "sink", number, "predicates")

    def _may_follow(self, name: str) -> bool:
        """Whether triples, loaded or derived, may give a predicate facts that nothing names."""
        if name in {view.name for view in VIEWS}:
            return self.any_names or any(known.startswith("<") for known in self.arities)
        return name.startswith("<") and (self.any_names or bool(TripleViews.of(self.program).made))

    def _sink_path(self, number: int, path: Path) -> None:
        if path.exists() and not path.is_dir():
            self._wrong(f"{path}: not a folder", "sink", number, "path")
        store = None if ("store",) in self.unknown else Path(self.configuration.store).absolute()
        if (path / MANIFEST).exists() or store in (path.absolute(), *path.absolute().parents):
            self._wrong(f"{path}: a store: results are written to another folder", "sink", number, "path")


def _is_elsewhere(path: str | None) -> bool:
    """Whether a path is on another file system than that of this machine."""
    return path is not None and is_uri(path) and not path.startswith("file:")


def _is_place(source: Source) -> bool:
    """Whether it can be said where the facts of a source are."""
    is_known = source.format is None or source.format in EXTENSIONS.values()
    return (source.path is None) != (source.table is None) and is_known


def _contradictions(source: Source) -> Iterator[tuple[tuple[str, ...], str]]:
    """What does not go together in one source: the keys that it depends on, and what is wrong with the first
    of them.
    """
    is_named = source.predicate is not None
    if (source.path is None) == (source.table is None):
        yield ("path", "table"), "a source has either a `path` or a `table`"
    if source.map is not None and (is_named or source.columns is not None):
        yield (
            ("map", "predicate", "columns"),
            "`map` names predicates and columns: leave `predicate` and `columns` out",
        )
    if source.columns is not None and not is_named and source.map is None:
        yield (
            ("columns", "predicate", "map"),
            "`columns` are the arguments of a `predicate`, which is missing",
        )
    if source.table is not None and source.predicates is None:
        yield ("table", "predicate", "map"), "a table needs a `predicate` or a `map`"
    if source.table is not None and source.is_batch:
        yield ("table", "role", "stream"), "a table says what there is: leave `role` and `stream` out"
    if source.format is not None and source.format not in EXTENSIONS.values():
        yield ("format",), unknown_format(source.format, EXTENSIONS.values())
    if source.trigger != AVAILABLE_NOW and not source.stream:
        yield ("trigger", "stream"), "a trigger belongs to a source with `stream = true`"
