"""The files of sources and their checksums: of this machine before Spark starts, of other file systems through Spark."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from hashlib import file_digest
from pathlib import Path
from typing import Any

from modulog.engines.backend import FactFile
from modulog.engines.registry import files_on_spark
from modulog.errors import DataError
from modulog.formats.files import SPARK_FORMATS, LocalListing, discover, is_uri
from modulog.pipeline.configuration import Configuration, Source
from modulog.pipeline.state import Files

_AT_ONCE = 4  # files whose checksums are computed at a time


def is_here(source: Source, configuration: Configuration) -> bool:
    """Whether the files of a source can be looked at without Spark: they lie on this machine."""
    if source.path is None:
        return False
    if is_uri(source.path):
        return source.path.startswith("file:")
    return configuration.spark.get("spark.hadoop.fs.defaultFS", "file:").startswith("file:")


def local_files(source: Source) -> list[FactFile]:
    """The files of a source on this machine; a batch may have none yet."""
    if source.is_batch and not LocalListing().matches(source.place):
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a folder holds besides facts is told when it is read
        return discover(source.place, SPARK_FORMATS, format=source.format)


def remote_files(spark: Any, source: Source) -> list[FactFile]:
    """The same on any file system that Spark knows."""
    try:
        return files_on_spark(spark, source.place, source.format)
    except DataError:
        if source.is_batch:
            return []
        raise


def size_of(files: Iterable[FactFile]) -> int:
    """The bytes of files of this machine."""
    return sum(Path(file.path).stat().st_size for file in files)


def checksums(files: Iterable[FactFile], spark: Any = None) -> Files:
    """The SHA-256 of each file by path; files of other file systems are read by Spark's driver."""
    paths = [str(file.path) for file in files]
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        found = threads.map(lambda path: _checksum(path, spark), paths)
        return dict(zip(paths, found, strict=True))


def _checksum(path: str, spark: Any) -> str:
    if is_uri(path):
        return _remote_checksum(path, spark)
    try:
        with open(path, "rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


def _remote_checksum(path: str, spark: Any) -> str:
    jvm = spark._jvm
    place = jvm.org.apache.hadoop.fs.Path(path)
    stream = place.getFileSystem(spark._jsc.hadoopConfiguration()).open(place)
    try:
        return str(jvm.org.apache.commons.codec.digest.DigestUtils.sha256Hex(stream))
    finally:
        stream.close()
