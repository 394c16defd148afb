"""The columns of a file of this machine, from its first records: enough to see that a name or a number of columns is wrong."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from itertools import islice
from typing import IO, cast

import pyarrow as pa
import pyarrow.parquet as pq

from modulog.engines.backend import FactFile
from modulog.errors import DataError
from modulog.formats.format import FORMATS
from modulog.formats.parquet import HOLDS
from modulog.formats.records import records

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
