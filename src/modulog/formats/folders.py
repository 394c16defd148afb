"""The operations on folders that results of pipelines and files shared between processes need.

`LocalFolder` has them on this machine; the Spark engine has a class for the file systems that Hadoop knows.
"""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from uuid import uuid4

import pyarrow as pa

from modulog.errors import DataError

FILE = "file:"
"""The scheme of this machine's files."""


def file_uri(path: Path) -> str:
    """The URI under which Hadoop knows a path of this machine; it takes it without percent-encoding."""
    return f"file://{path}"


class Folder(ABC):
    """A folder on some file system.

    The names that its methods take are relative to it and may have several parts.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri.rstrip("/")

    def __truediv__(self, name: str) -> str:
        """The path of something in the folder."""
        return f"{self.uri}/{name}"

    @property
    def local(self) -> Path | None:
        """The folder as a path of this machine; None if it lies elsewhere."""
        return None

    def fresh(self, stem: str) -> str:
        """A random name that nothing in the folder has had before."""
        return f"{stem}-{uuid4().hex[:12]}"

    def inside(self, name: str) -> Folder:
        """A folder in this one."""
        found = copy(self)
        found.uri = self / name
        return found

    @abstractmethod
    def make(self) -> None:
        """Make the folder, with its parents, unless it exists."""

    @abstractmethod
    def names(self) -> list[str]:
        """The names of what lies in the folder, in order; none if it does not exist."""

    @abstractmethod
    def delete(self, name: str = "") -> None:
        """Delete a file, or a folder with all that is in it, if it exists; without a name, this folder."""

    @abstractmethod
    def move(self, name: str, place: str) -> None:
        """Rename something in the folder; nothing must have the new name."""

    @abstractmethod
    def bring(self, path: Path, name: str) -> None:
        """Move a file or folder of this machine here, or copy it to another file system.

        Nothing must have its name here.
        """


class LocalFolder(Folder):
    """A folder of this machine."""

    @property
    def local(self) -> Path:
        return self._path("")

    def make(self) -> None:
        self.local.mkdir(parents=True, exist_ok=True)

    def names(self) -> list[str]:
        with suppress(FileNotFoundError):
            return sorted(path.name for path in self.local.iterdir() if not _is_checksum(path.name))
        return []

    def delete(self, name: str = "") -> None:
        path = self._path(name)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def move(self, name: str, place: str) -> None:
        try:
            self._path(name).rename(self._path(place))
        except OSError as error:
            raise DataError(f"{self / place}: cannot be written: {error.strerror or error}") from error

    def bring(self, path: Path, name: str) -> None:
        target = self._path(name)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(path, target)
        except OSError as error:
            raise DataError(f"{self / name}: cannot be written: {error.strerror or error}") from error

    def _path(self, name: str) -> Path:
        """The path of something in the folder."""
        place = f"{self.uri}/{name}" if name else self.uri
        if place.startswith(FILE):  # file:/a, file:///a
            place = "/" + place.removeprefix(FILE).lstrip("/")
        return Path(place).absolute()


def _is_checksum(name: str) -> bool:
    """Whether this is a file of checksums, which Hadoop writes beside each of its files."""
    return name.startswith(".") and name.endswith(".crc")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path in the same folder; at the end the file there gets the name `path`.

    After an error it is deleted, and what was at `path` stays.
    """
    path = Path(path)
    partial = path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")
    try:
        yield partial
        os.replace(partial, path)
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path}: cannot be written: {error}") from error
    finally:
        partial.unlink(missing_ok=True)
