"""Find the rows of a CSV file that cannot be facts, and say what is wrong with each.

This is plain Python, row after row. It runs only for files in which the fast reader has met a bad row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from modulog.formats.records import Record, records
from modulog.wording import plural

NOT_UTF8 = "not UTF-8"
"""The reason given for bytes that are not UTF-8."""
OPEN_QUOTE = "a quote opens a field and nothing closes it"
"""The reason given for a row with a quote that is still open at the end of the file."""
MISSING = "a missing value; facts have a value in every place"
"""The reason given for a row of a table (Parquet) with a null."""
BOM = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which some programs write at the start of a file; readers skip it."""


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that cannot be read as a fact: the file and line where it starts, its text, and the reason."""

    file: str
    line: int
    text: str
    reason: str


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
