"""What has changed, as facts to delete and to add: sources compared with the stored explicit facts, and
batches that were given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, cast

from modulog.errors import DataError
from modulog.formats.fact_file import FactFile
from modulog.formats.format import TRIPLES
from modulog.language.model import Predicate
from modulog.pipeline.check import Checked
from modulog.pipeline.config import Configuration, Role, Source
from modulog.pipeline.run_state import Files, SourceState, State, StreamState
from modulog.pipeline.survey import Survey
from modulog.reasoner import for_pipelines
from modulog.reasoner.fact_batch import ReadOptions, read

if TYPE_CHECKING:
    from modulog.formats.format import ReadFormat
    from modulog.reasoner.for_pipelines import Given
    from modulog.reasoner.reasoner import Reasoner


@dataclass(frozen=True, slots=True)
class Step:
    """One update: facts to delete, facts to add, and the state of the pipeline after it."""

    delete: Given | None
    add: Given | None
    state: State

    @property
    def is_empty(self) -> bool:
        """Whether no fact is given."""
        return not any(given and any(given.tables.values()) for given in (self.delete, self.add))


def compare(
    reasoner: Reasoner,
    found: Survey,
    configuration: Configuration,
    state: State,
    read_source: Callable[[Source], Given],
) -> Step:
    """What must go and come so that the facts of predicates whose sources changed are those of all their
    sources.
    """
    read = {source.key: read_source(source) for source in found.changed}
    concerned = found.concerned.union(*(given.tables for given in read.values()))
    _refuse_loss(concerned, found.changed, state)
    plain = [source for source in configuration.sources if not source.is_batch]
    known = {source.key: state.sources[source.key] for source in plain if source.key not in read}
    for source in plain:
        if source.key in known and concerned.intersection(known[source.key].predicates):
            read[source.key] = read_source(source)
    for source in found.changed:
        known[source.key] = SourceState(found.sums[source.key], tuple(read[source.key].tables))
    gone, come = for_pipelines.difference(reasoner, concerned, _all(read.values()))
    return Step(gone, come, replace(state, sources=known))


def _refuse_loss(concerned: Iterable[Predicate], changed: Sequence[Source], state: State) -> None:
    """What batches did to a predicate cannot be told from what its sources say."""
    both = sorted(set(concerned).intersection(state.touched))
    if both:
        where = ", ".join(source.place for source in changed) or "the facts of the rules"
        raise DataError(
            f"{where}: changed since the last run, but {both[0].name} has also been changed by add or delete sources or by a stream, "
            "and comparing would undo that; run with --full to start again from all sources"
        )


def coming(checked: Checked, has_streams: bool) -> set[str]:
    """The names of predicates that batches and streams may fill later, as far as that is known; otherwise all
    of the program.
    """
    sources = zip(checked.configuration.sources, checked.files, strict=True)
    batches = [
        source.predicates or [file.predicate for file in files or ()]
        for source, files in sources
        if source.is_batch
    ]
    if has_streams or not all(batches):
        return {predicate.name for predicate in checked.program.predicates()}
    return {name for names in batches for name in names}


def take_batches(
    found: Survey, state: State, read_batch: Callable[[Source, list[FactFile]], list[Given]]
) -> Step:
    """The files of add and delete sources that wait."""
    by_role: dict[str, list[Given]] = {"add": [], "delete": []}
    for source, files in found.batches:
        given = read_batch(source, files)
        sums = found.sums[source.key] or {}
        applied = {str(file.path): sums[str(file.path)] for file in files}
        state = applied_to(state, source.key, applied, given)
        by_role[source.role or "add"] += given
    return Step(_all(by_role["delete"]), _all(by_role["add"]), state)


def read_files(reasoner: Reasoner, source: Source, files: Iterable[FactFile]) -> list[Given]:
    """The facts of some files of a source, as they would be read with all others."""
    return [for_pipelines.given(reasoner, read(file.path, **file_options(source, file))) for file in files]


def file_options(source: Source, file: FactFile) -> ReadOptions:
    """How one file of a source is read."""
    options = source.options()
    options["format"] = cast("ReadFormat", file.format)
    if source.predicates is None and file.format not in TRIPLES:
        options["predicate"] = file.predicate
    return options


def applied_to(state: State, key: str, files: Files, given: Iterable[Given]) -> State:
    """The state once files of a source of batches were applied."""
    applied = {**state.applied, key: {**state.applied.get(key, {}), **files}}
    return replace(touched_by(state, given), applied=applied)


def touched_by(state: State, given: Iterable[Given]) -> State:
    """The state once batches have changed predicates."""
    predicates = (predicate for part in given for predicate in part.tables)
    return replace(state, touched=tuple(dict.fromkeys((*state.touched, *predicates))))


def stream_batch(given: Iterable[Given], role: Role, key: str, state: State, after: StreamState) -> Step:
    """The step of a batch of a stream, which only adds, or only deletes; `after` is how far the stream has
    come with it.
    """
    read = list(given)
    state = replace(touched_by(state, read), streams={**state.streams, key: after})
    whole = _all(read)
    return Step(whole, None, state) if role == "delete" else Step(None, whole, state)


def _all(given: Iterable[Given]) -> Given | None:
    found = list(given)
    return reduce(add, found) if found else None
