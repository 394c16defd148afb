"""The files of sources that lie on this machine: their checksums, and their columns, from the first records.

Files of other file systems are the business of a host.
"""

from __future__ import annotations

import gzip
import json
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import file_digest
from itertools import islice
from pathlib import Path
from typing import IO, cast

import pyarrow as pa
import pyarrow.parquet as pq

from modulog.errors import DataError
from modulog.formats.csv_rows import records
from modulog.formats.fact_file import FactFile
from modulog.formats.files import LocalListing, discover, is_uri
from modulog.formats.format import FORMATS
from modulog.formats.parquet import HOLDS
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


_LINES = 20
_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Seen:
    """How many columns there are, and their names if they have any."""

    width: int
    names: list[str] | None = None


def peek(file: FactFile, header: bool) -> Seen | None:
    """What can be seen of a file; None if it is empty or says nothing."""
    format = FORMATS[file.format]
    if format.triples:
        places = ["s", "p", "o", "g"]
        return Seen(4, places) if format.graphs else Seen(3, places[:3])
    if file.format == "parquet":
        return _peek_parquet(file)
    with _opened(file) as stream:
        if file.format == "jsonl":
            return _peek_json(stream)
        delimiter = (format.delimiter or ",").encode()
        row = next((r for r in records(_start(stream), delimiter) if not r.blank), None)
    if row is None:
        return None
    names = [field.decode(errors="replace").strip('"') for field in row.fields]
    return Seen(len(names), names if header else None)


def _peek_parquet(file: FactFile) -> Seen | None:
    try:
        names = pq.read_schema(file.path).names
    except pa.ArrowException as error:
        raise DataError(f"{file.path}: not a Parquet file: {error}") from error
    return None if names in ([], [HOLDS]) else Seen(len(names), names)


def _peek_json(stream: IO[bytes]) -> Seen | None:
    """The members of the first objects; a later one may have more."""
    names: dict[str, None] = {}
    for line in islice(stream, _LINES):
        try:
            found = json.loads(line)
        except ValueError:
            continue  # a bad record, for the reader to tell of
        if isinstance(found, list):
            return Seen(len(found))
        if isinstance(found, dict):
            names |= dict.fromkeys(found)
    return Seen(len(names), list(names)) if names else None


def _opened(file: FactFile) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(file.path)) if file.gzip else open(file.path, "rb")


def _start(stream: IO[bytes]) -> bytes:
    """The first complete lines."""
    start = stream.read(_BYTES).removeprefix(b"\xef\xbb\xbf")
    return start if len(start) < _BYTES else start[: start.rfind(b"\n") + 1] or start
