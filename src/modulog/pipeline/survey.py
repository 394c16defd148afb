"""What a run has to do, found before any source is read: the sources as they are, beside what the last run
knew.

Nothing is read but checksums of files, and those of this machine need no Spark: `--dry-run` looks here, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modulog.formats.fact_file import FactFile
from modulog.language.model import Predicate, Program
from modulog.language.parser import parse_program
from modulog.pipeline.check import Checked
from modulog.pipeline.config import Configuration, Source
from modulog.pipeline.run_state import Files, Known, State, Way
from modulog.pipeline.source_files import AT_ONCE, checksum

if TYPE_CHECKING:
    from modulog.pipeline.host import LocalHost


@dataclass(frozen=True, slots=True)
class Survey:
    """The sources as they are.

    `sums` has the checksums of the files of each source by its key, None for a table, which has none.
    `changed` are the sources that may hold other facts than they did, `concerned` the predicates that they
    filled then, or whose facts in the rules are others. `batches` are the files of add and delete sources
    that have not been applied.
    """

    sums: Mapping[str, Files | None]
    changed: Sequence[Source]
    concerned: frozenset[Predicate]
    batches: Sequence[tuple[Source, list[FactFile]]]


def survey(
    configuration: Configuration,
    program: Program,
    known: Known | None,
    files: Mapping[str, list[FactFile] | None],
    sums: Mapping[str, Files | None],
) -> Survey:
    """Compare the files of sources, and their checksums, with the last run."""
    state = known.state if known else State()
    plain = [source for source in configuration.sources if not source.is_batch]
    untrusted = known is None or not known.current
    changed = [s for s in plain if untrusted or is_changed(s, state, sums[s.key])]
    gone = state.sources.keys() - {source.key for source in plain}
    filled = [state.sources[key] for key in (*gone, *(s.key for s in changed)) if key in state.sources]
    concerned = {p for source in filled for p in source.predicates}
    return Survey(
        sums,
        changed,
        frozenset(concerned | (_other_facts(known, program) if known else set())),
        [
            (s, _waiting(s, state, files[s.key] or [], sums[s.key] or {}))
            for s in configuration.sources
            if s.role
        ],
    )


def is_changed(source: Source, state: State, sums: Files | None) -> bool:
    """Whether a source is not what it was; of a table nobody knows."""
    before = state.sources.get(source.key)
    return before is None or sums is None or before.files != sums


def _waiting(source: Source, state: State, files: Sequence[FactFile], sums: Files) -> list[FactFile]:
    """The files of a source of batches that were not applied: under another name, or with other content, a
    file is another batch.
    """
    applied = state.applied.get(source.key, {})
    return [file for file in files if applied.get(str(file.path)) != sums[str(file.path)]]


def _other_facts(known: Known, program: Program) -> set[Predicate]:
    """The predicates whose facts in the rules are others than they were."""
    before = parse_program(known.manifest.program, check=False)
    return {fact.predicate for fact in set(before.facts) ^ set(program.facts)}


@dataclass(frozen=True, slots=True)
class Work:
    """A pipeline in which nothing is wrong, how it has to be run, and what its sources hold now."""

    checked: Checked
    way: Way
    found: Survey

    def to_read(self) -> list[Source]:
        """The sources that are read as wholes, or may be: all of a full run, otherwise those that have
        changed and those that fill the same predicates.
        """
        plain = [source for source in self.checked.configuration.sources if not source.is_batch]
        known, found = self.way.known, self.found
        if known is None:
            return plain
        if not found.changed and not found.concerned:
            return []
        names = {predicate.name for predicate in found.concerned}
        for source in found.changed:
            if source.predicates is None:  # its files tell
                return plain
            names |= set(source.predicates)
        changed = {source.key for source in found.changed}
        states = known.state.sources
        return [
            s for s in plain if s.key in changed or any(p.name in names for p in states[s.key].predicates)
        ]


Ahead = Mapping[str, Future[str]]
"""Checksums by path that are being computed."""


@contextmanager
def checksums_ahead(checked: Checked) -> Iterator[Ahead]:
    """Compute the checksums of the files that lie here, while Spark starts."""
    paths = {
        str(file.path)
        for source, files in zip(checked.configuration.sources, checked.files, strict=True)
        for file in files or ()
        if not source.stream
    }
    threads = ThreadPoolExecutor(AT_ONCE)
    try:
        yield {path: threads.submit(checksum, path) for path in sorted(paths)}
    finally:
        threads.shutdown(cancel_futures=True)


def survey_on(host: LocalHost, checked: Checked, way: Way, ahead: Ahead) -> Survey:
    """The sources as they are, before one of them is read: what changes later is seen by the next run."""
    files: dict[str, list[FactFile] | None] = {}
    sums: dict[str, Files | None] = {}
    for source, here in zip(checked.configuration.sources, checked.files, strict=True):
        found = None if source.table or source.stream else here
        if source.path is not None and here is None and not source.stream:
            found = host.files(source)
        files[source.key] = found
        if found is not None and all(str(file.path) in ahead for file in found):
            sums[source.key] = {str(file.path): ahead[str(file.path)].result() for file in found}
        else:
            sums[source.key] = None if found is None else host.checksums(found)
    return survey(checked.configuration, checked.program, way.known, files, sums)
