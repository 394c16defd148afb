"""Single files of a store: written with a checksum, read after it has been compared, flushed to disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa

from modulog.errors import DataError
from modulog.store.manifest import FactsFile, TermsFile


class CheckedFile:
    """A new file that knows its length and its checksum, which is that of the bytes handed in, not of what came to lie on the disk."""

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
        """Write all of the data."""
        rest = memoryview(data).cast("B")
        self._sum = crc32(rest, self._sum)
        self.bytes += len(rest)
        while len(rest):
            rest = rest[self._file.write(rest) :]
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """No more will come; `synchronise` waits until it is on disk."""
        self._file.close()

    def __enter__(self) -> CheckedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def checked(path: Path, file: TermsFile | FactsFile) -> pa.Buffer:
    """The content of a file, mapped into memory; an error names a file that is not what was written."""
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
    """The checksum of bytes, as manifests write it."""
    return f"{crc32(content):08x}"


def synchronise(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, content: bytes) -> None:
    """Write a small file: at every moment the old one is there, or the new one, and once this is over the new one is on disk."""
    draft = path.with_name(f".{path.name}.draft")
    draft.unlink(missing_ok=True)
    with CheckedFile(draft) as file:
        file.write(content)
    synchronise(draft)
    os.replace(draft, path)
    synchronise(path.parent)
