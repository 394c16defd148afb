"""Writes and reads single files of a store, with checksums, and flushes them to disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa

from modulog.errors import DataError
from modulog.store.manifest import FactsFile, TermsFile


class CheckedFile:
    """A new file that computes its length and checksum while it is written.

    The checksum is that of the data passed to `write`, so that a later check also finds what the disk
    changed.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("xb", buffering=0)
        self._sum = self.bytes = 0

    @property
    def checksum(self) -> str:
        return f"{self._sum:08x}"

    @property
    def closed(self) -> bool:
        return self._file.closed

    def write(self, data: Any) -> int:
        """Write all of the data; returns its length."""
        remaining = memoryview(data).cast("B")
        self._sum = crc32(remaining, self._sum)
        self.bytes += len(remaining)
        while len(remaining):
            remaining = remaining[self._file.write(remaining) :]
        return len(data)

    def flush(self) -> None:
        """Do nothing: the file is not buffered."""

    def close(self) -> None:
        """Close the file; `synchronise` then waits until it is on disk."""
        self._file.close()

    def __enter__(self) -> CheckedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def checked(path: Path, file: TermsFile | FactsFile) -> pa.Buffer:
    """The content of a file, mapped into memory; a DataError if its size or checksum is wrong."""
    try:
        size = path.stat().st_size
        if size != file.bytes:
            raise DataError(f"{path}: damaged: it has {size:,} bytes, not {file.bytes:,}")
        with pa.memory_map(str(path)) as source:
            content = source.read_buffer()
    except OSError as error:
        raise DataError(f"{path}: damaged store: {error.strerror or error}") from error
    if checksum(content) != file.checksum:
        raise DataError(f"{path}: damaged: its checksum is wrong")
    return content


def checksum(content: Any) -> str:
    """The checksum of bytes, in the form that manifests have."""
    return f"{crc32(content):08x}"


def synchronise(path: Path) -> None:
    """Wait until the content of a file, or the entries of a folder, are on disk (fsync)."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, content: bytes) -> None:
    """Replace a small file atomically; when this returns, the new content is on disk."""
    draft = path.with_name(f".{path.name}.draft")
    draft.unlink(missing_ok=True)
    with CheckedFile(draft) as file:
        file.write(content)
    synchronise(draft)
    os.replace(draft, path)
    synchronise(path.parent)
