"""The file systems that Spark can read and write, through Hadoop's own interface: listings, and folders that
driver and executors share.

No Spark is needed to look at a folder of this machine.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from modulog.errors import DataError
from modulog.formats.fact_file import FactFile
from modulog.formats.files import Entry, discover, is_uri
from modulog.formats.folders import FILE, Folder, LocalFolder, file_uri
from modulog.spark.errors import translated
from modulog.spark.session import is_here


def folder_of(spark: SparkSession, uri: str) -> Folder:
    """A folder named by a URI or a path, which is there or not."""
    if uri.startswith(FILE) or (not is_uri(uri) and is_here(spark)):
        return LocalFolder(uri)
    return HadoopFolder(spark, uri)


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

    def bring(self, path: Path, name: str) -> None:
        source = self._jvm.org.apache.hadoop.fs.Path(file_uri(path))
        with translated():
            self._system.copyFromLocalFile(False, True, source, self._path(name))

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.uri}/{name}" if name else self.uri)


AS_WRITTEN = "__globPaths__"
"""Spark's own name for whether `[`, `*` and the like in paths are patterns."""


class HadoopListing:
    """The files of every file system that Spark can read: `file:`, `hdfs:`, `s3a:` and whatever else is set
    up.

    `sizes` has the bytes of every file that was listed.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self.sizes: dict[str, int] = {}

    @property
    def is_local(self) -> bool:
        """Whether a path without a scheme is a file of this machine."""
        return is_here(self._spark)

    def files(self, path: str, format: str | None = None) -> list[FactFile]:
        """The fact files that a path stands for, on this machine or elsewhere."""
        if self.is_local and not is_uri(path):
            return discover(path, format=format)
        with translated():
            return discover(path, listing=self, format=format)

    def matches(self, path: str) -> list[Entry]:
        """As `Listing` says."""
        system, pattern = self._at(path)
        found = system.globStatus(pattern)
        return [self._entry(status) for status in found or ()]

    def inside(self, folder: Path | str) -> list[Entry]:
        """As `Listing` says."""
        system, path = self._at(str(folder))
        return sorted((self._entry(s) for s in system.listStatus(path)), key=lambda entry: str(entry.path))

    def _at(self, path: str) -> tuple[Any, Any]:
        """A path as Hadoop knows it, with its file system."""
        jvm: Any = self._spark._jvm  # PySpark offers Hadoop's file systems by no public name
        place = jvm.org.apache.hadoop.fs.Path(path)
        return place.getFileSystem(self._spark._jsc.hadoopConfiguration()), place

    def _entry(self, status: Any) -> Entry:
        path = status.getPath().toString()
        self.sizes[path] = status.getLen()
        return Entry(path, status.isDirectory())
