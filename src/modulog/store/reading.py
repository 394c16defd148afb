"""Reading a state of a store: the manifest at once, files when they are asked for.

A reader holds its state (see `locks`): writers leave its files alone until it closes or its process ends. A file is compared with its checksum when
it is first read, so that opening costs nothing that grows with the facts.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa

from modulog.errors import DataError
from modulog.store.files import checked
from modulog.store.locks import Lock, lock_for_reading
from modulog.store.manifest import FactsFile, Manifest, TermsFile, parse_manifest, read_text

_ATTEMPTS = 1000  # states that may come while one is being opened


class Store:
    """An open state; it stays readable, whatever is written meanwhile, until it is closed."""

    def __init__(self, folder: Path, manifest: Manifest, lock: Lock | None) -> None:
        self.folder, self.manifest, self._lock = folder, manifest, lock
        self._verified: set[str] = set()

    def content(self, file: TermsFile | FactsFile) -> pa.Buffer:
        """The bytes of a file, compared with its checksum."""
        found = checked(self.folder / file.path, file)
        self._verified.add(file.path)
        return found

    def verify(self, files: Iterable[TermsFile | FactsFile]) -> None:
        """Compare files with their checksums, each one once; the first that is damaged is named."""
        waiting = [file for file in files if file.path not in self._verified]
        if waiting:
            with ThreadPoolExecutor() as threads:
                list(threads.map(self.content, waiting))

    def close(self) -> None:
        """Let the files of the state go, if a newer one has replaced it."""
        if self._lock is not None:
            self._lock.release()


def open_store(folder: Path) -> Store:
    """The current state of a store."""
    for _ in range(_ATTEMPTS):
        text = read_text(folder)
        manifest = parse_manifest(folder, text)
        lock = lock_for_reading(folder, manifest.generation)
        # Between reading and holding a new state may have come, and the files of this one may be gone.
        if read_text(folder) == text:
            return Store(folder.absolute(), manifest, lock)
        if lock is not None:
            lock.release()
    raise DataError(f"{folder}: the store is written again and again; try later")
