"""The rows of CSV, one by one, in plain Python.

They are needed where the fast reader does not say enough: for the first rows of a file, which may be a
header, for the message about a row that it has refused, and to set such rows aside.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from modulog.errors import DataError
from modulog.formats import DataWarning, warn_user
from modulog.formats.bad_records import BadRecord
from modulog.formats.text_files import NOT_UTF8, count_lines
from modulog.wording import plural

OPEN_QUOTE = "a quote opens a field and nothing closes it"
"""The reason given for a row with a quote that is still open at the end of the file."""

_NUMBER = re.compile(rb"-?(0|[1-9][0-9]*)(\.[0-9]+)?")

_WORD = re.compile(rb'"?[A-Za-z_][\w .-]*"?')

_USUAL = frozenset(
    b"id key name label type value weight date from to source target src dst start end node node1 node2 "
    b"parent child subject predicate object x y".split()
)
"""Names that columns often have."""

_ROWS = 20
"""The most rows below the first that are looked at."""

_FEWEST = 2
"""The fewest rows below the first that say anything: a small file may well mix words and numbers."""


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


def check_delimiter(delimiter: str) -> None:
    """Raise a DataError unless a text can separate fields.

    >>> check_delimiter(";;")
    Traceback (most recent call last):
    modulog.errors.DataError: ';;' cannot separate fields: it must be one ASCII character, and no quote
    """
    if (
        not isinstance(delimiter, str)
        or len(delimiter) != 1
        or (not " " <= delimiter <= "~" and delimiter != "\t")
        or delimiter == '"'
    ):
        raise DataError(f"{delimiter!r} cannot separate fields: it must be one ASCII character, and no quote")


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
                lines += count_lines(block[field:at])
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


# ---- Bad rows


def split_rows(
    content: bytes, delimiter: bytes, width: int, skip: int, file: str
) -> tuple[bytes, list[BadRecord]]:
    """Split the content of a CSV file into its good rows, as bytes, and a list of its bad rows.

    A row is bad if it has not `width` fields, is not UTF-8, or has a quote that nothing closes. Blank rows
    and the first `skip` rows (the header) are in neither result; `file` is the name that bad records give.

    >>> good, bad = split_rows(b"a,b\\nc\\n", b",", 2, 0, "edge.csv")
    >>> good, bad[0].line, bad[0].reason
    (b'a,b\\n', 2, '1 field where 2 should be')
    """
    good, bad = [], []
    found: Iterable[Record] = (record for record in records(content, delimiter) if not record.blank)
    for record in islice(found, skip, None):
        text = content[record.start : record.end]
        if reason := _reason(record, text, width):
            bad.append(BadRecord(file, record.line + 1, text.decode(errors="replace").rstrip("\r\n"), reason))
        else:
            good.append(text)
    return b"".join(good), bad


def wrong_width(found: int, width: int) -> str:
    """The reason that is given for a row with `found` fields in a file whose rows have `width`."""
    return f"{plural(found, 'field')} where {width} should be"


def _reason(record: Record, text: bytes, width: int) -> str | None:
    """Why a row is bad; None if it is good."""
    if _is_open(record.fields[-1]):
        return OPEN_QUOTE  # its field goes on to the end of the file
    if len(record.fields) != width:
        return wrong_width(len(record.fields), width)
    try:
        text.decode()
    except UnicodeDecodeError:
        return NOT_UTF8
    return None


def _is_open(field: bytes) -> bool:
    """Whether a field starts with a quote that nothing closes. A doubled quote is a quote in the text."""
    return field[:1] == b'"' and b'"' not in field[1:].replace(b'""', b"")


# ---- Headers


def check_first_rows(path: str | os.PathLike[str], first: Record, others: Iterator[Record]) -> None:
    """Warn if the first row reads like names of columns.

    It does if all of its fields are different words, and either a word stands above a column of numbers, or
    all are usual names of columns, and none occurs in its column.
    """
    rows = [r.fields for r in islice(others, _ROWS) if len(r.fields) == len(first.fields)]
    if len(rows) < _FEWEST or len(set(first.fields)) < len(first.fields):
        return
    if not all(_WORD.fullmatch(f) for f in first.fields):
        return
    columns = list(zip(*rows, strict=True))
    above_numbers = any(all(_NUMBER.fullmatch(f) for f in column) for column in columns)
    words = [f.strip(b'"').lower() for f in first.fields]
    usual = len(words) > 1 and all(
        w in _USUAL and f not in column for w, f, column in zip(words, first.fields, columns, strict=True)
    )
    if above_numbers or usual:
        shown = b", ".join(first.fields).decode(errors="replace")
        warn_user(
            f"{path}: the first row looks like a header ({shown}) and was read as a fact; "
            "say that the file has a header to leave it out",
            DataWarning,
        )
