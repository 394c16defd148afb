"""States of a reasoner as stores in folders of their own, and how one of them becomes the state of a user's
store.

A task never writes into a store that anybody reads: it writes a whole store into a folder of its attempt.
Files that it does not change are linked, so that this costs what the change costs. The driver takes the
folder that the winning attempt names for the state; another attempt, even if it is not quite dead, writes
elsewhere.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from modulog.errors import DataError
from modulog.store.draft import Draft, writing
from modulog.store.manifest import (
    MANIFEST,
    FactsFile,
    Manifest,
    StoredRelation,
    TermsFile,
    read_manifest,
    state_of,
)

File = TypeVar("File", TermsFile, FactsFile)


@dataclass(frozen=True, slots=True)
class State:
    """A store in which a reasoner has all it knows."""

    folder: str
    generation: int


def link_state(state: State, folder: Path) -> None:
    """Make a folder a store in the same state, without copying where the file system can link."""
    manifest = read_manifest(Path(state.folder))
    folder.mkdir(parents=True, exist_ok=True)
    for file in manifest.files():
        link_file(Path(state.folder, file.path), folder / file.path)
    shutil.copyfile(Path(state.folder, MANIFEST), folder / MANIFEST)


def link_file(source: Path, target: Path) -> None:
    """Let a file have a second name, or a copy where it cannot."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


@dataclass(frozen=True, slots=True)
class Home:
    """The store of a user that a state belongs to: what its manifest said when it was read or written, under
    which names it has files of the state, and how far the numbers of states in these names are ahead of those
    here.
    """

    folder: Path
    manifest: Manifest
    names: Mapping[str, str]
    ahead: int = 0


def home_of(folder: Path, manifest: Manifest) -> Home:
    """A store that is opened: the state is the store itself."""
    return Home(folder, manifest, {file.path: file.path for file in manifest.files()})


def publish(state: State, folder: Path, home: Home | None, notes: Mapping[str, Any] | None) -> Home:
    """Make a state that of a store, by one rename of its manifest; into its home, only files that it lacks.
    Answers the new home.
    """
    manifest = read_manifest(Path(state.folder))
    with writing(folder) as draft:
        before = draft.before
        returning = home if home and before and folder.resolve() == home.folder.resolve() else None
        if returning is not None and before != returning.manifest:
            raise DataError(
                f"{folder}: the store has been written since this state was opened; open it again, or save to another folder"
            )
        known = returning.manifest if returning is not None else None
        ahead = returning.ahead if returning is not None else before.generation if before else 0
        placed = _Placed(state, draft, returning.names if returning is not None else {}, ahead)
        made = replace(
            manifest,
            terms=tuple(map(placed.of, manifest.terms)),
            relations=tuple(map(placed.relation, manifest.relations)),
            notes=notes if notes is not None else known.notes if known else {},
        )
        if known is not None and replace(made, generation=known.generation, noted=known.noted) == known:
            return returning or home_of(folder, made)
        draft.generation = max(draft.generation, manifest.generation + ahead)
        noted = draft.generation if notes is not None else known.noted if known else 0
        made = replace(made, generation=draft.generation, noted=noted)
        draft.commit(made)
    return Home(folder, made, placed.names, ahead)


class _Placed:
    """Files of a state under the names that they have, or get, in a store: names keep the order of the states
    that have made the files.
    """

    def __init__(self, state: State, draft: Draft, known: Mapping[str, str], ahead: int) -> None:
        self.state, self.draft, self.known, self.ahead = state, draft, known, ahead
        self.names: dict[str, str] = {}

    def of(self, file: File) -> File:
        """The entry of a file in the new manifest; the file is linked there if it is not there yet."""
        name = self.known.get(file.path)
        if name is None:
            made = state_of(file)
            name = file.path.replace(f"/{made:06d}-", f"/{made + self.ahead:06d}-")
            link_file(Path(self.state.folder, file.path), self.draft.place(name))
        self.names[file.path] = name
        return replace(file, path=name)

    def relation(self, entry: StoredRelation) -> StoredRelation:
        """The entry of a relation in the new manifest."""
        return replace(entry, files=tuple(map(self.of, entry.files)))


def forget(folder: str | os.PathLike[str]) -> None:
    """Remove what nobody needs any more, as far as it can be removed."""
    with suppress(OSError):
        shutil.rmtree(folder)
