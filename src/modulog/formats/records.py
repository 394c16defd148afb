"""The rows of CSV, one by one, in plain Python.

They are needed for the first rows of a file, and for the message about a row that the fast reader has
refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from modulog.errors import DataError


@dataclass(frozen=True, slots=True)
class Record:
    """One row: where it starts and ends in its block, how many lines are before it there, and its fields.

    The fields are bytes, with their quotes.
    """

    start: int
    end: int
    line: int
    fields: tuple[bytes, ...]

    @property
    def blank(self) -> bool:
        """Whether the row is an empty line."""
        return self.fields == (b"",)


def records(block: bytes, delimiter: bytes) -> Iterator[Record]:
    """The rows of a block, empty lines included. A row may have several lines, if a field in quotes has."""
    field_end = re.compile(b"[" + re.escape(delimiter) + b"\n\r]")
    start = line = 0
    while start < len(block):
        fields = []
        at = field = start
        lines = 0
        while True:
            if block[at : at + 1] == b'"' and at == field:
                at = _after_quotes(block, at + 1)
                lines += _count_lines(block[field:at])
            end = field_end.search(block, at)
            at = end.start() if end else len(block)
            fields.append(block[field:at])
            if block[at : at + 1] != delimiter:
                break
            at = field = at + 1
        at += 2 if block[at : at + 2] == b"\r\n" else 1
        yield Record(start, min(at, len(block)), line, tuple(fields))
        line += lines + 1
        start = at


def _after_quotes(block: bytes, at: int) -> int:
    """The place behind the quote that closes a field whose text starts at `at`; the end if none does."""
    while True:
        at = block.find(b'"', at)
        if at < 0:
            return len(block)
        if block[at + 1 : at + 2] != b'"':
            return at + 1
        at += 2


def _count_lines(data: bytes) -> int:
    """The number of line breaks: LF, CR, or CR and LF together."""
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def open_stream(path: str | os.PathLike[str]) -> pa.NativeFile:
    """The bytes of a file, uncompressed if its name ends in .gz."""
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path}: there is no such file")
    try:
        return pa.input_stream(str(path), compression="gzip" if path.suffix.lower() == ".gz" else None)
    except OSError as error:
        raise DataError(f"{path}: cannot be opened: {error}") from error


def count_lines_before(path: str | os.PathLike[str], offset: int) -> int:
    """The number of line breaks before an offset of the uncompressed file."""
    lines, last = 0, b""
    with open_stream(path) as stream:
        while offset > 0:
            data = stream.read(min(offset, 1 << 20))
            if not data:
                break
            offset -= len(data)
            lines += _count_lines(data) - (last == b"\r" and data[:1] == b"\n")
            last = data[-1:]
    return lines
