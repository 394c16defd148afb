"""The files of sources that lie on this machine, and their checksums; those of other file systems are the business of a host."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from hashlib import file_digest
from pathlib import Path

from modulog.engines.backend import FactFile
from modulog.errors import DataError
from modulog.formats.files import LocalListing, discover, is_uri
from modulog.pipeline.config import Configuration, Source

AT_ONCE = 4
"""Files whose checksums are computed at a time."""


def is_here(source: Source, configuration: Configuration) -> bool:
    """Whether the files of a source can be looked at without Spark: they lie on this machine."""
    if source.path is None:
        return False
    if is_uri(source.path):
        return source.path.startswith("file:")
    return configuration.engine == "local" or _is_default(configuration.spark)


def _is_default(settings: Mapping[str, str]) -> bool:
    """Whether Spark takes a path without a scheme for one of this machine."""
    return settings.get("spark.hadoop.fs.defaultFS", "file:").startswith("file:")


def local_files(source: Source) -> list[FactFile]:
    """The files of a source on this machine; a batch may have none yet."""
    if source.is_batch and not LocalListing().matches(source.place):
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a folder holds besides facts is told when it is read
        return discover(source.place, format=source.format)


def size_of(files: Iterable[FactFile]) -> int:
    """The bytes of files of this machine."""
    return sum(Path(file.path).stat().st_size for file in files)


def checksum(path: str) -> str:
    """The SHA-256 of a file of this machine."""
    try:
        with open(path, "rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
