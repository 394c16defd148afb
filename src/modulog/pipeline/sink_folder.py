"""Parts of a sink that is a folder: each is whole before it takes its place, and what was killed in between is gone with the next run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from modulog.formats.files import BAD_RECORDS
from modulog.formats.folders import Folder

if TYPE_CHECKING:
    from modulog.language.model import Predicate
    from modulog.reasoner.reasoner import Reasoner

ASIDE = "modulog-writing"
_AT_ONCE = 4  # parts that are copied at a time


def write_folder(
    reasoner: Reasoner, folder: Folder, format: str, predicates: Sequence[Predicate], stale: Sequence[str]
) -> dict[str, int]:
    """Let a reasoner write the parts of predicates into a folder; answers their rows."""
    with _aside(folder) as aside:
        written = reasoner.export(folder / aside, format=format, predicates=predicates) if predicates else {}
        written.pop(BAD_RECORDS, None)
        move_parts(folder, aside, written, stale)
    return {folder / name: rows for name, rows in written.items()}


def bring_parts(source: Path, folder: Folder, names: Sequence[str], stale: Sequence[str]) -> None:
    """The same with parts that lie in a folder of this machine: they are moved, or copied to another file system."""
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
    """A name in a folder for what is not whole yet; it is gone in the end, and so are those of runs that were killed."""
    folder.make()
    for name in folder.names():
        if name.startswith(f".{ASIDE}"):
            folder.delete(name)
    name = folder.fresh(f".{ASIDE}")
    try:
        yield name
    finally:
        folder.delete(name)
