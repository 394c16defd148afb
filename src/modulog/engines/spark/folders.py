"""Folders that driver and executors share: on this machine, where no Spark is needed to look at them, or on any file system that Hadoop knows."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

from modulog.engines.spark.session import is_here
from modulog.errors import DataError
from modulog.formats.files import is_uri

_SCHEME = "file:"


def file_uri(path: Path) -> str:
    """A path of this machine as Hadoop takes it: with a scheme, and nothing encoded."""
    return f"file://{path}"


def folder_of(spark: SparkSession, uri: str) -> Folder:
    """A folder named by a URI or a path, which is there or not."""
    if uri.startswith(_SCHEME) or (not is_uri(uri) and is_here(spark)):
        return LocalFolder(uri)
    return HadoopFolder(spark, uri)


class Folder(ABC):
    """A folder with the few operations that are needed on it. Names may have several parts."""

    def __init__(self, uri: str) -> None:
        self.uri = uri.rstrip("/")

    def __truediv__(self, name: str) -> str:
        return f"{self.uri}/{name}"

    @property
    def local(self) -> Path | None:
        """The folder as a path of this machine, if that is where it lies."""
        return None

    def fresh(self, stem: str) -> str:
        """A name in the folder that nothing has had before."""
        return f"{stem}-{uuid4().hex[:12]}"

    def inside(self, name: str) -> Folder:
        """A folder in this one."""
        found = copy(self)
        found.uri = self / name
        return found

    @abstractmethod
    def make(self) -> None:
        """Let the folder be there."""

    @abstractmethod
    def names(self) -> list[str]:
        """What lies in the folder, in order; nothing if there is no folder."""

    @abstractmethod
    def delete(self, name: str = "") -> None:
        """Remove a file or a folder with all that is in it, or the folder itself."""

    @abstractmethod
    def move(self, name: str, place: str) -> None:
        """Give something in the folder another name, which nothing has."""

    @abstractmethod
    def write(self, name: str, text: str) -> None:
        """Write a small file; it is there as a whole or not at all."""

    @abstractmethod
    def read(self, name: str) -> str:
        """The text of a small file."""


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

    def write(self, name: str, text: str) -> None:
        self.make()
        draft = self._path(f".{name}.draft")
        draft.write_text(text, encoding="utf-8")
        draft.replace(self._path(name))

    def read(self, name: str) -> str:
        return self._path(name).read_text(encoding="utf-8")

    def _path(self, name: str) -> Path:
        place = f"{self.uri}/{name}" if name else self.uri
        if place.startswith(_SCHEME):  # with an authority that is empty, or without
            place = "/" + place.removeprefix(_SCHEME).lstrip("/")
        return Path(place).absolute()


def _is_checksum(name: str) -> bool:
    """Whether Hadoop put a file there beside another."""
    return name.startswith(".") and name.endswith(".crc")


class HadoopFolder(Folder):
    """A folder on another file system, through Hadoop's own interface."""

    def __init__(self, spark: SparkSession, uri: str) -> None:
        super().__init__(uri)
        # PySpark offers Hadoop's file systems by no public name.
        self._jvm: Any = spark._jvm
        self._system = self._path("").getFileSystem(spark._jsc.hadoopConfiguration())

    def make(self) -> None:
        self._system.mkdirs(self._path(""))

    def names(self) -> list[str]:
        if not self._system.exists(self._path("")):
            return []
        return sorted(entry.getPath().getName() for entry in self._system.listStatus(self._path("")))

    def delete(self, name: str = "") -> None:
        self._system.delete(self._path(name), True)

    def move(self, name: str, place: str) -> None:
        if not self._system.rename(self._path(name), self._path(place)):
            raise DataError(f"{self / place}: cannot be written")

    def write(self, name: str, text: str) -> None:
        draft = self._path(f".{name}.draft")
        stream = self._system.create(draft, True)
        stream.write(bytearray(text.encode()))
        stream.close()
        self._system.rename(draft, self._path(name))

    def read(self, name: str) -> str:
        stream = self._system.open(self._path(name))
        try:
            content = self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream)
        finally:
            stream.close()
        return bytes(content).decode()

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.uri}/{name}" if name else self.uri)
