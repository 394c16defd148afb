"""Folders that driver and executors share: on this machine, where no Spark is needed to look at them, or on any file system that Hadoop knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from modulog.engines.spark.errors import translated
from modulog.engines.spark.session import is_here
from modulog.errors import DataError
from modulog.formats.files import is_uri
from modulog.formats.folders import FILE, Folder, LocalFolder, file_uri


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
