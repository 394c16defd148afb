"""Opens a state of a store: the manifest is read at once, other files when they are needed.

A reader locks its state (see `locks`), so its files are not deleted until it is closed or its process ends. A
file's checksum is verified when the file is first read, so the time to open a store does not depend on the
number of facts.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa

from modulog.errors import DataError
from modulog.store.checked_file import checked
from modulog.store.locks import Lock, lock_for_reading
from modulog.store.manifest import FactsFile, Manifest, TermsFile, parse_manifest, read_text

_ATTEMPTS = 1000  # how many new states may be written while one is being opened


class Store:
    """An open state of a store, which stays readable until it is closed, even if newer states are written."""

    def __init__(self, folder: Path, manifest: Manifest, lock: Lock | None) -> None:
        self.folder, self.manifest, self._lock = folder, manifest, lock
        self._verified: set[str] = set()

    def content(self, file: TermsFile | FactsFile) -> pa.Buffer:
        """The bytes of a file, after verifying its checksum."""
        found = checked(self.folder / file.path, file)
        self._verified.add(file.path)
        return found

    def verify(self, files: Iterable[TermsFile | FactsFile]) -> None:
        """Verify the checksums of files that have not been verified yet; a DataError names a damaged one."""
        waiting = [file for file in files if file.path not in self._verified]
        if waiting:
            with ThreadPoolExecutor() as threads:
                list(threads.map(self.content, waiting))

    def close(self) -> None:
        """Release the lock, so that the files of the state may be deleted if a newer one has replaced it."""
        if self._lock is not None:
            self._lock.release()


def open_store(folder: Path) -> Store:
    """Open the current state of a store."""
    for _ in range(_ATTEMPTS):
        text = read_text(folder)
        manifest = parse_manifest(folder, text)
        lock = lock_for_reading(folder, manifest.generation)
        # If a new state was written before the lock was taken, the files of this one may be gone: try again.
        if read_text(folder) == text:
            return Store(folder.absolute(), manifest, lock)
        if lock is not None:
            lock.release()
    raise DataError(f"{folder}: the store is written again and again; try later")
