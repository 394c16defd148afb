"""Results to where they are wanted: each predicate written aside, and moved to its place when it is whole.

A folder has a part for each predicate, as `Reasoner.export` names it; tables are one for each predicate. Only
parts of predicates that have changed are written. Whoever is killed between two moves leaves the rest to the
next run, which knows what sinks do not have yet, and removes what was not whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from modulog.formats import rdf_output
from modulog.formats.export import part_names
from modulog.formats.files import BAD_RECORDS
from modulog.formats.folders import Folder
from modulog.formats.format import SINKS, WRITTEN_TRIPLES, WriteFormat
from modulog.language.model import Predicate
from modulog.language.triples import VIEWS
from modulog.pipeline.config import PREDICATE, Sink
from modulog.reasoner import for_pipelines
from modulog.reasoner.predicate_names import view_names

if TYPE_CHECKING:
    from modulog.pipeline.host import LocalHost
    from modulog.reasoner.reasoner import Reasoner

ASIDE = "modulog-writing"
_AT_ONCE = 4  # parts that are copied at a time


def write_folder(
    reasoner: Reasoner,
    folder: Folder,
    format: WriteFormat,
    predicates: Sequence[Predicate],
    stale: Sequence[str],
) -> dict[str, int]:
    """Let a reasoner write the parts of predicates into a folder; answers their rows."""
    with _aside(folder) as aside:
        written = reasoner.export(folder / aside, format=format, predicates=predicates) if predicates else {}
        written.pop(BAD_RECORDS, None)
        move_parts(folder, aside, written, stale)
    return {folder / name: rows for name, rows in written.items()}


def bring_parts(source: Path, folder: Folder, names: Sequence[str], stale: Sequence[str]) -> None:
    """The same with parts that lie in a folder of this machine: they are moved, or copied to another file
    system.
    """
    with _aside(folder) as aside:
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            list(threads.map(lambda name: folder.bring(source / name, f"{aside}/{name}"), names))
        move_parts(folder, aside, names, stale)


def move_parts(folder: Folder, aside: str, names: Iterable[str], stale: Iterable[str]) -> None:
    """Let each part take the place of the old one, and remove those that nobody wants any more."""
    old = folder.names()
    for name in names:
        if name in old:
            folder.move(name, f"{aside}/old-{name}")
        folder.move(f"{aside}/{name}", name)
    for name in stale:
        folder.delete(name)


@contextmanager
def _aside(folder: Folder) -> Iterator[str]:
    """A name in a folder for what is not whole yet; it is gone in the end, and so are those of runs that were
    killed.
    """
    folder.make()
    for name in folder.names():
        if name.startswith(f".{ASIDE}"):
            folder.delete(name)
    name = folder.fresh(f".{ASIDE}")
    try:
        yield name
    finally:
        folder.delete(name)


def write_sink(
    reasoner: Reasoner, host: LocalHost, sink: Sink, known: Sequence[str] | None, changed: Collection[str]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Write the predicates of a sink that changed, all if nothing of it is known; answers the rows of what
    was written, and all its parts.
    """
    parts = _parts(sink, predicates_of(sink, reasoner))
    wanted = {
        p: name for p, name in parts.items() if known is None or p.name in changed or (changed and p in VIEWS)
    }
    stale = [name for name in known or () if name not in parts.values()]
    written = host.write_sink(reasoner, sink, wanted, stale) if wanted or stale else {}
    return written, tuple(parts.values())


def predicates_of(sink: Sink, reasoner: Reasoner) -> list[Predicate]:
    """The predicates that a sink takes: those it names, those that the program gives out, or all."""
    program = reasoner.program
    named = sink.predicates or (*program.outputs, *(directive.predicate for directive in program.exports))
    return for_pipelines.named(reasoner, named) if named else reasoner.predicates()


def _parts(sink: Sink, predicates: Sequence[Predicate]) -> dict[Predicate, str]:
    """The name of the part of each predicate, as far as the format can say it."""
    if sink.table is not None:
        names = (sink.table.replace(PREDICATE, name) for name in view_names(predicates))
        return dict(zip(predicates, names, strict=True))
    format = SINKS[sink.format]
    if format in WRITTEN_TRIPLES:
        predicates = [p for p in predicates if rdf_output.is_triples(p)]
    return part_names(predicates, format)
