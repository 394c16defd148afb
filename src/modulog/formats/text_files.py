"""The bytes of a text file: opened, uncompressed, and cut into blocks of whole lines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from modulog.errors import DataError
from modulog.kernels import ntriples
from modulog.terms.dictionary import Bytes, Offsets, frozen

BLOCK = 1 << 22
"""Bytes that are read at once."""

LONGEST_LINE = 1 << 28
"""The most bytes of a line, which must fit into memory as a whole; a longer one is an error."""

_GZIP = b"\x1f\x8b"
"""How what gzip has compressed begins."""

BOM = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which some programs write at the start of a file; readers skip it."""

NOT_UTF8 = "not UTF-8"
"""The reason given for bytes that are not UTF-8."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a file, and their offset in it."""

    data: bytes
    offset: int


def open_stream(path: str | os.PathLike[str]) -> pa.NativeFile:
    """The bytes of a file, uncompressed if its name ends in .gz."""
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path}: there is no such file")
    named_gz = path.suffix.lower() == ".gz"
    try:
        with open(path, "rb") as file:
            is_gzip, is_empty = (start := file.read(2)) == _GZIP, not start
        if is_gzip != named_gz and not is_empty:
            raise DataError(
                f"{path}: not compressed by gzip, but its name ends in .gz"
                if named_gz
                else f"{path}: compressed by gzip, but its name does not end in .gz"
            )
        return pa.input_stream(str(path), compression="gzip" if named_gz else None)
    except OSError as error:
        raise DataError(f"{path}: cannot be opened: {error.strerror or error}") from error


def count_lines_before(path: str | os.PathLike[str], offset: int) -> int:
    """The number of line breaks before an offset of the uncompressed file."""
    lines, last = 0, b""
    with open_stream(path) as stream:
        while offset > 0:
            data = stream.read(min(offset, 1 << 20))
            if not data:
                break
            offset -= len(data)
            lines += count_lines(data) - (last == b"\r" and data[:1] == b"\n")
            last = data[-1:]
    return lines


def count_lines(data: bytes) -> int:
    """The number of line breaks: LF, CR, or CR and LF together."""
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def line_blocks(path: str | os.PathLike[str], size: int = BLOCK) -> Iterator[Block]:
    """The blocks of a file, of about `size` bytes, uncompressed if its name ends in .gz.

    A byte order mark at the start is left out.
    """
    with open_stream(path) as stream:
        rest, offset = _read(stream, path, len(BOM)), 0
        if rest == BOM:
            rest, offset = b"", len(BOM)
        while True:
            data = _read(stream, path, size)
            end = data.rfind(b"\n") + 1
            if not end and data:
                rest += data
                if len(rest) > LONGEST_LINE:
                    line = count_lines_before(path, offset) + 1
                    raise DataError(f"{path}:{line}: a line of more than {LONGEST_LINE:,} bytes")
                continue
            whole = rest + data[:end]
            if whole:
                yield Block(whole, offset)
            if not data:
                return
            rest, offset = data[end:], offset + len(whole)


def _read(stream: IO[bytes], path: str | os.PathLike[str], size: int) -> bytes:
    """Read up to `size` bytes; a damaged file is a DataError."""
    try:
        return stream.read(size)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error}") from error


def line_offsets(data: Bytes) -> Offsets:
    """The offsets at which the lines of a block start, and the one at which the last line ends.

    >>> line_offsets(np.frombuffer(b"a\\nbc", np.uint8)).tolist()
    [0, 2, 4]
    """
    room = np.count_nonzero(data == 10) + np.count_nonzero(data == 13) + 2
    offsets = np.empty(room, np.int64)
    return offsets[: ntriples.find_lines(frozen(data), offsets) + 1]


def line_array(data: bytes, offsets: Offsets) -> pa.Array:
    """The lines of a block as an Arrow array of strings that shares its bytes; they may not be UTF-8."""
    places = pa.py_buffer(offsets.astype(np.int32))
    return pa.StringArray.from_buffers(len(offsets) - 1, places, pa.py_buffer(data))


def line_text(data: bytes, offsets: Offsets, row: int) -> str:
    """One line of a block as text, without its line break."""
    return data[offsets[row] : offsets[row + 1]].decode(errors="replace").rstrip("\r\n")


def check_utf8(lines: pa.Array) -> npt.NDArray[np.bool_]:
    """Which lines of an array of strings are UTF-8."""
    good = np.ones(len(lines), np.bool_)
    try:
        lines.validate(full=True)
    except pa.ArrowInvalid:
        for row, line in enumerate(lines.cast(pa.binary()).to_pylist()):
            try:
                line.decode()
            except UnicodeDecodeError:
                good[row] = False
    return good
