"""Writing a new state of a store: beside the old one, which stays until a rename replaces the manifest.

Whatever happens before the rename, an error, a full disk, the end of the process, leaves the old state; whatever happens after it, the new one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

import pyarrow as pa

from modulog.errors import DataError
from modulog.store.files import CheckedFile, checksum, synchronise
from modulog.store.locks import LOCK, READERS, RUN_LOCK, lock_for_writing, read_states, reader_file
from modulog.store.manifest import FILE_PATH, MANIFEST, Manifest, parse_manifest, read_text

TERMS, FACTS, STAGING = "terms", "facts", ".writing"
_DRAFT = f".{MANIFEST}.draft"
_SYNCHRONISED = 16  # files at a time
CHECKPOINT, RUNS, CHANGES, BAD, STREAMS = PIPELINE = "checkpoint", "runs", "changes", "bad", "streams"
"""Folders of pipelines: what a run that was stopped has left, logs and reports, net changes of updates, records that were set aside, how far streams have come."""

_OURS = {MANIFEST, LOCK, RUN_LOCK, READERS, TERMS, FACTS, STAGING, _DRAFT, *PIPELINE}


def check_target(folder: Path) -> Manifest | None:
    """The state that would be replaced, None for a store yet to be made; an error if the folder is something else."""
    if not folder.exists():
        return None
    if not folder.is_dir():
        raise DataError(f"{folder}: not a store, which is a folder")
    try:
        names = {entry.name for entry in folder.iterdir()}
    except OSError as error:
        raise DataError(f"{folder}: cannot be read: {error.strerror}") from error
    if MANIFEST in names:
        return parse_manifest(folder, read_text(folder))
    # A writer that was killed before its first manifest leaves its lock, and nothing that is not ours; so does a run.
    if names and not (names & {LOCK, RUN_LOCK} and names <= _OURS):
        raise DataError(f"{folder}: not a store, and not empty: nothing was written")
    return None


class Draft:
    """A state that is being written: gives names to files, and becomes the current state by `commit`."""

    def __init__(self, folder: Path, before: Manifest | None) -> None:
        self.folder, self.before = folder, before
        self.generation = 1 if before is None else before.generation + 1
        self._files: list[Path] = []
        self._directories = {folder}

    def new_terms(self) -> str:
        """The path in the store of a file of terms that is to be written."""
        return self._new(TERMS)

    def new_facts(self, arity: int, number: int) -> str:
        """The path in the store of a file of facts of a relation."""
        return self._new(FACTS, str(arity), f"p={number}")

    def _new(self, *parents: str) -> str:
        path = "/".join((*parents, f"{self.generation:06d}-{len(self._files)}.parquet"))
        self._files.append(self.folder / path)
        parent = (self.folder / path).parent
        parent.mkdir(parents=True, exist_ok=True)
        while parent not in self._directories:
            self._directories.add(parent)
            parent = parent.parent
        return path

    def create(self, path: str) -> CheckedFile:
        """A file of this state, to be written."""
        return CheckedFile(self.folder / path)

    @property
    def staging(self) -> Path:
        """A folder for files that are made elsewhere and adopted; it is gone when the state is complete."""
        return self.folder / STAGING

    def adopt(self, source: Path, path: str) -> tuple[int, str]:
        """Move a finished file to its place; answers its bytes and its checksum."""
        target = self.folder / path
        os.replace(source, target)
        with pa.memory_map(str(target)) as file:
            content = file.read_buffer()
        return content.size, checksum(content)

    def commit(self, manifest: Manifest) -> None:
        """Make the state the current one, once all its files are on disk."""
        held = reader_file(self.folder, self.generation)
        held.parent.mkdir(exist_ok=True)
        held.touch()
        draft = self.folder / _DRAFT
        with CheckedFile(draft) as file:
            file.write(replace(manifest, generation=self.generation).to_json().encode())
        # All at once: file systems put many small writes on disk together.
        with ThreadPoolExecutor(_SYNCHRONISED) as threads:
            list(threads.map(synchronise, [*self._files, *self._directories, held.parent, draft]))
        os.replace(draft, self.folder / MANIFEST)
        synchronise(self.folder)
        with suppress(OSError):  # a folder above may be one that we cannot open
            synchronise(self.folder.absolute().parent)


@contextmanager
def writing(folder: Path) -> Iterator[Draft]:
    """Write a state into a folder that is a store, is empty, or is not there yet; without `commit`, nothing has changed."""
    check_target(folder)
    missing = [p for p in (folder, *folder.parents) if not p.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = lock_for_writing(folder)
    except OSError as error:
        _remove_empty(missing)
        raise DataError(f"{folder}: the store cannot be written: {error.strerror}") from error
    try:
        found = check_target(folder)  # again: another may have written it before the lock was ours
        _clean(folder, found)
        yield Draft(folder, found)
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"{folder}: the store cannot be written: {reason}; it is as it was") from error
    finally:
        with suppress(OSError):
            _finish(folder)
        lock.release()
        _remove_empty(missing)


def _finish(folder: Path) -> None:
    """Leave the current state, if there is one, and nothing else that nobody needs."""
    if (folder / MANIFEST).exists():
        _clean(folder, parse_manifest(folder, read_text(folder)))
        return
    _clean(folder, None)
    for name in (TERMS, FACTS, READERS):
        rmtree(folder / name, ignore_errors=True)
    (folder / LOCK).unlink()


def _clean(folder: Path, current: Manifest | None) -> None:
    """Remove what writers left unfinished, and what neither the current state nor a reader of an older one needs."""
    rmtree(folder / STAGING, ignore_errors=True)
    (folder / _DRAFT).unlink(missing_ok=True)
    if current is not None:
        reader_file(folder, current.generation + 1).unlink(missing_ok=True)
    needed = {file.path for file in current.files()} if current is not None else set()
    # A reader of a state needs no file that is younger than it.
    read = read_states(folder, before=current.generation) if current is not None else set()
    newest = max(read, default=0)
    superfluous = []
    for path in [*folder.glob(f"{TERMS}/*.parquet"), *folder.glob(f"{FACTS}/*/*/*.parquet")]:
        name = path.relative_to(folder).as_posix()
        made = FILE_PATH.fullmatch(name)
        if made is not None and name not in needed and int(made[1]) > newest:
            superfluous.append(path)
    with ThreadPoolExecutor(_SYNCHRONISED) as threads:
        list(threads.map(os.unlink, superfluous))
    _remove_empty([*folder.glob(f"{FACTS}/*/p=*"), *folder.glob(f"{FACTS}/*")])


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove those of the folders that are empty, in this order."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()
