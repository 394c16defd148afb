"""What a store remembers of the last run of a pipeline, and whether the next run begins with it or anew.

It lies in notes of the store's manifest, committed with the facts that they speak of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from modulog.errors import DataError
from modulog.language.model import Predicate
from modulog.language.printer import print_program
from modulog.pipeline.check import Checked
from modulog.pipeline.run import Mode
from modulog.store.manifest import MANIFEST, Manifest, read_manifest

VERSION = 1
Files = dict[str, str]
"""The checksums of files by path."""


@dataclass(frozen=True, slots=True)
class SourceState:
    """The files of a source as they were read, None for a table, and the predicates that they filled."""

    files: Files | None
    predicates: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class StreamState:
    """How far a stream has come: the folder in which Spark notes it, the name Spark gave it there, and the
    last batch that was applied.
    """

    checkpoint: str
    id: str = ""
    batch: int = -1


@dataclass(frozen=True, slots=True)
class State:
    """Everything by the keys of sources and sinks.

    `applied` has the files of add and delete sources; `touched` the predicates that batches have changed;
    `sinks` the parts that each sink has; `behind` the predicates whose facts sinks do not have yet.
    """

    switches: Mapping[str, str] = field(default_factory=dict)
    sources: dict[str, SourceState] = field(default_factory=dict)
    applied: dict[str, Files] = field(default_factory=dict)
    touched: tuple[Predicate, ...] = ()
    streams: dict[str, StreamState] = field(default_factory=dict)
    sinks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    behind: tuple[str, ...] = ()

    def to_notes(self) -> dict[str, Any]:
        """The notes of a manifest."""
        return {"pipeline": VERSION, **asdict(self)}


@dataclass(frozen=True, slots=True)
class Known:
    """A store as a run finds it. `current` is false if something else has changed the store since the last
    run of a pipeline.
    """

    manifest: Manifest
    state: State
    current: bool


def read_known(store: str) -> Known | None:
    """What is known of the last run; None if there is no store, or if no pipeline has written it."""
    folder = Path(store)
    if not (folder / MANIFEST).exists():
        return None
    manifest = read_manifest(folder)
    if "pipeline" not in manifest.notes:
        return None
    return Known(manifest, _state(store, manifest.notes), manifest.noted == manifest.generation)


def _state(store: str, notes: Mapping[str, Any]) -> State:
    if notes["pipeline"] != VERSION:
        raise DataError(
            f"{store}: another version of Modulog keeps other notes of a run here; run with --full"
        )
    return State(
        notes["switches"],
        {key: SourceState(s["files"], _predicates(s["predicates"])) for key, s in notes["sources"].items()},
        notes["applied"],
        _predicates(notes["touched"]),
        {key: StreamState(**s) for key, s in notes["streams"].items()},
        {key: tuple(names) for key, names in notes["sinks"].items()},
        tuple(notes["behind"]),
    )


def _predicates(items: list[dict[str, Any]]) -> tuple[Predicate, ...]:
    return tuple(Predicate(**item) for item in items)


@dataclass(frozen=True, slots=True)
class Way:
    """The mode of a run and why; the last run, None if all sources are read again; whether all consequences
    are computed from stored facts.
    """

    mode: Mode
    reason: str
    known: Known | None = None
    recomputes: bool = False


def way_of(checked: Checked, full: bool) -> Way:
    """How a run has to be done, from the configuration and what the store remembers."""
    configuration = checked.configuration
    if full:
        return Way("full", "all sources are read again, as was asked for")
    if configuration.mode == "full":
        return Way("full", 'mode = "full": all sources are read')
    known = read_known(configuration.store)
    if known is None:
        return Way("full", "there is no earlier run: all sources are read")
    other = known.manifest.program != print_program(checked.program)
    if other or known.state.switches != configuration.switches:
        return Way(
            "full", "the rules or the switches have changed: all consequences are computed again", known, True
        )
    if not known.current:
        return Way("incremental", "something else has written to the store: all sources are compared", known)
    return Way("incremental", "what has changed since the last run", known)
