"""Folders on the file system that driver and executors share, through Hadoop's own interface."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

from modulog.engines.backend import FactFile
from modulog.engines.spark.errors import translated
from modulog.errors import DataError
from modulog.formats.files import SPARK_FORMATS, Entry, discover, is_uri

AS_WRITTEN = "__globPaths__"
"""Spark's own name for whether `[`, `*` and the like in paths are patterns."""


def file_uri(path: Path) -> str:
    """A path of this machine as Hadoop takes it: with a scheme, and nothing encoded."""
    return f"file://{path}"


class Folder:
    """A folder named by a URI or a path, with the few operations that the engine needs on it."""

    def __init__(self, spark: SparkSession, uri: str) -> None:
        # PySpark offers Hadoop's file systems by no public name.
        self._jvm: Any = spark._jvm
        self.uri = uri.rstrip("/")
        self._system = self._path("").getFileSystem(spark._jsc.hadoopConfiguration())

    def __truediv__(self, name: str) -> str:
        return f"{self.uri}/{name}"

    @property
    def local(self) -> Path | None:
        """The folder as a path of this machine, if that is where it lies."""
        if self._system.getUri().getScheme() != "file":
            return None
        return Path(self._system.makeQualified(self._path("")).toUri().getPath())

    def fresh(self, stem: str) -> str:
        """A name in the folder that nothing has had before."""
        return f"{stem}-{uuid4().hex[:12]}"

    def names(self) -> list[str]:
        """What lies in the folder, in order; nothing if there is no folder."""
        if not self._system.exists(self._path("")):
            return []
        return sorted(entry.getPath().getName() for entry in self._system.listStatus(self._path("")))

    def delete(self, name: str = "") -> None:
        """Remove a file or a folder with all that is in it, or the folder itself."""
        self._system.delete(self._path(name), True)

    def inside(self, name: str) -> Folder:
        """A folder in this one."""
        found = copy(self)
        found.uri = self / name
        return found

    def move(self, name: str, place: str) -> None:
        """Give something in the folder another name."""
        if not self._system.rename(self._path(name), self._path(place)):
            raise DataError(f"{self / place}: cannot be written")

    def write(self, name: str, text: str) -> None:
        """Write a small file; it is there as a whole or not at all."""
        draft = self._path(f".{name}.draft")
        stream = self._system.create(draft, True)
        stream.write(bytearray(text.encode()))
        stream.close()
        self._system.rename(draft, self._path(name))

    def read(self, name: str) -> str:
        """The text of a small file."""
        stream = self._system.open(self._path(name))
        try:
            content = self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream)
        finally:
            stream.close()
        return bytes(content).decode()

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.uri}/{name}" if name else self.uri)


class HadoopListing:
    """The files of every file system that Spark can read: `file:`, `hdfs:`, `s3a:` and whatever else is set up.

    `sizes` has the bytes of every file that was listed.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm
        self._configuration = spark._jsc.hadoopConfiguration()
        self.sizes: dict[str, int] = {}

    @property
    def is_local(self) -> bool:
        """Whether a path without a scheme is a file of this machine."""
        uri = self._jvm.org.apache.hadoop.fs.FileSystem.getDefaultUri(self._configuration)
        return bool(uri.getScheme() == "file")

    def files(self, path: str, format: str | None = None) -> list[FactFile]:
        """The fact files that a path stands for, on this machine or elsewhere."""
        if self.is_local and not is_uri(path):
            return discover(path, SPARK_FORMATS, format=format)
        with translated():
            return discover(path, SPARK_FORMATS, self, format=format)

    def matches(self, path: str) -> list[Entry]:
        """As `Listing` says."""
        pattern = self._jvm.org.apache.hadoop.fs.Path(path)
        found = pattern.getFileSystem(self._configuration).globStatus(pattern)
        return [self._entry(status) for status in found or ()]

    def inside(self, folder: Path | str) -> list[Entry]:
        """As `Listing` says."""
        path = self._jvm.org.apache.hadoop.fs.Path(str(folder))
        return sorted(
            (self._entry(status) for status in path.getFileSystem(self._configuration).listStatus(path)),
            key=lambda entry: str(entry.path),
        )

    def _entry(self, status: Any) -> Entry:
        path = status.getPath().toString()
        self.sizes[path] = status.getLen()
        return Entry(path, status.isDirectory())
