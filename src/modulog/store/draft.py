"""Writes a new state of a store beside the old one, which is current until a rename replaces the manifest.

If an error, a full disk or the end of the process comes before the rename, the store has the old state; if it
comes after the rename, the new one.
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
from modulog.store.checked_file import CheckedFile, checksum, synchronise
from modulog.store.locks import LOCK, READERS, RUN_LOCK, lock_for_writing, read_states, reader_file
from modulog.store.manifest import FILE_PATH, MANIFEST, Manifest, parse_manifest, read_text

TERMS, FACTS, STAGING = "terms", "facts", ".writing"
_DRAFT = f".{MANIFEST}.draft"
_THREADS = 16  # how many files are flushed to disk, or deleted, at the same time
PIPELINE = "checkpoint", "runs", "changes", "bad", "streams", "tasks"
CHECKPOINT, RUNS, CHANGES, BAD, STREAMS, TASKS = PIPELINE
"""Folders that pipelines have in a store: the checkpoint of an interrupted run, logs and reports of runs, net
changes of updates, bad records that were set aside, checkpoints of streams, and what tasks of Spark work on.
"""

_STORE_NAMES = {MANIFEST, LOCK, RUN_LOCK, READERS, TERMS, FACTS, STAGING, _DRAFT, *PIPELINE}


def check_target(folder: Path) -> Manifest | None:
    """The current state of a store, None for a new one; a DataError if the folder is something else."""
    try:
        if not folder.exists():
            return None
        if not folder.is_dir():
            raise DataError(f"{folder}: not a store, which is a folder")
        names = {entry.name for entry in folder.iterdir()}
    except OSError as error:
        raise DataError(f"{folder}: cannot be read: {error.strerror}") from error
    if MANIFEST in names:
        return parse_manifest(folder, read_text(folder))
    # A writer or a run that was killed before the first manifest leaves a lock file and other files of a
    # store.
    if names and not (names & {LOCK, RUN_LOCK} and names <= _STORE_NAMES):
        raise DataError(f"{folder}: not a store, and not empty: nothing was written")
    return None


class Draft:
    """A state that is being written: it names the new files, and `commit` makes it the current state."""

    def __init__(self, folder: Path, before: Manifest | None) -> None:
        self.folder, self.before = folder, before
        self.generation = 1 if before is None else before.generation + 1
        self._files: list[Path] = []
        self._directories = {folder}

    def new_terms(self) -> str:
        """The path in the store for a new file of terms."""
        return self._new(TERMS)

    def new_facts(self, arity: int, number: int) -> str:
        """The path in the store for a new file of facts of a relation."""
        return self._new(FACTS, str(arity), f"p={number}")

    def _new(self, *parents: str) -> str:
        path = "/".join((*parents, f"{self.generation:06d}-{len(self._files)}.parquet"))
        self.place(path)
        return path

    def place(self, path: str) -> Path:
        """The full path for a new file of this state, whose parent folders are created."""
        self._files.append(self.folder / path)
        parent = (self.folder / path).parent
        parent.mkdir(parents=True, exist_ok=True)
        while parent not in self._directories:
            self._directories.add(parent)
            parent = parent.parent
        return self.folder / path

    def create(self, path: str) -> CheckedFile:
        """Create a file of this state."""
        return CheckedFile(self.folder / path)

    @property
    def staging(self) -> Path:
        """A folder for files that Spark writes and `adopt` moves; it is deleted in the end."""
        return self.folder / STAGING

    def adopt(self, source: Path, path: str) -> tuple[int, str]:
        """Move a finished file to its path in the store; returns its size in bytes and its checksum."""
        target = self.folder / path
        os.replace(source, target)
        with pa.memory_map(str(target)) as file:
            content = file.read_buffer()
        return content.size, checksum(content)

    def commit(self, manifest: Manifest) -> None:
        """Flush all files to disk, then make this state the current one by replacing the manifest."""
        held = reader_file(self.folder, self.generation)
        held.parent.mkdir(exist_ok=True)
        held.touch()
        draft = self.folder / _DRAFT
        with CheckedFile(draft) as file:
            file.write(replace(manifest, generation=self.generation).to_json().encode())
        # At the same time, since file systems write many small files to disk together.
        with ThreadPoolExecutor(_THREADS) as threads:
            list(threads.map(synchronise, [*self._files, *self._directories, held.parent, draft]))
        os.replace(draft, self.folder / MANIFEST)
        synchronise(self.folder)
        with suppress(OSError):  # we may not have the right to open the parent folder
            synchronise(self.folder.absolute().parent)


@contextmanager
def writing(folder: Path) -> Iterator[Draft]:
    """Lock a store, or an empty or new folder, to write a state; without `commit`, nothing changes."""
    check_target(folder)
    missing = [p for p in (folder, *folder.parents) if not p.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = lock_for_writing(folder)
    except OSError as error:
        _remove_empty(missing)
        raise DataError(f"{folder}: the store cannot be written: {error.strerror}") from error
    try:
        found = check_target(folder)  # again, since another process may have written before we had the lock
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
    """Delete what is not needed after writing; if nothing was ever committed, everything that was written."""
    if (folder / MANIFEST).exists():
        _clean(folder, parse_manifest(folder, read_text(folder)))
        return
    _clean(folder, None)
    for name in (TERMS, FACTS, READERS):
        rmtree(folder / name, ignore_errors=True)
    (folder / LOCK).unlink()


def _clean(folder: Path, current: Manifest | None) -> None:
    """Delete what interrupted writers left, and files that no state in use needs."""
    rmtree(folder / STAGING, ignore_errors=True)
    (folder / _DRAFT).unlink(missing_ok=True)
    if current is not None:
        reader_file(folder, current.generation + 1).unlink(missing_ok=True)
    needed = {file.path for file in current.files()} if current is not None else set()
    # The readers of a state need no files from later states.
    read = read_states(folder, before=current.generation) if current is not None else set()
    newest = max(read, default=0)
    superfluous = []
    for path in [*folder.glob(f"{TERMS}/*.parquet"), *folder.glob(f"{FACTS}/*/*/*.parquet")]:
        name = path.relative_to(folder).as_posix()
        made = FILE_PATH.fullmatch(name)
        if made is not None and name not in needed and int(made[1]) > newest:
            superfluous.append(path)
    with ThreadPoolExecutor(_THREADS) as threads:
        list(threads.map(os.unlink, superfluous))
    _remove_empty([*folder.glob(f"{FACTS}/*/p=*"), *folder.glob(f"{FACTS}/*")])


def _remove_empty(folders: Sequence[Path]) -> None:
    """Delete those of the folders that are empty, in this order."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()
