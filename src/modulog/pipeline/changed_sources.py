"""What the sources hold now, beside what the last run knew: changed files by their checksums, and batches that wait.

Nothing is read but the files themselves, and those of this machine need no Spark: `--dry-run` looks here, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from modulog.engines.backend import FactFile
from modulog.language.model import Predicate, Program
from modulog.language.parser import parse_program
from modulog.pipeline.config import Configuration, Source
from modulog.pipeline.run_state import Files, Known, State


@dataclass(frozen=True, slots=True)
class Survey:
    """The sources as they are.

    `sums` has the checksums of the files of each source by its key, None for a table, which has none. `changed` are the sources that may hold other facts than they did, `concerned`
    the predicates that they filled then, or whose facts in the rules are others. `batches` are the files of add and delete sources that have not been applied.
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
    """The files of a source of batches that were not applied: under another name, or with other content, a file is another batch."""
    applied = state.applied.get(source.key, {})
    return [file for file in files if applied.get(str(file.path)) != sums[str(file.path)]]


def _other_facts(known: Known, program: Program) -> set[Predicate]:
    """The predicates whose facts in the rules are others than they were."""
    before = parse_program(known.manifest.program, check=False)
    return {fact.predicate for fact in set(before.facts) ^ set(program.facts)}
