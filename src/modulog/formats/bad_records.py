"""Bad records: rows of CSV files that cannot be facts, told apart from the good ones.

This is plain Python over one row after another: it runs only for files that have a bad row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from modulog.formats.records import Record, records
from modulog.wording import plural

NOT_UTF8 = "not UTF-8"
OPEN_QUOTE = "a quote opens a field and nothing closes it"
MISSING = "a missing value; facts have a value in every place"
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that is no fact: where it stands, its text, and what is wrong with it."""

    file: str
    line: int
    text: str
    reason: str


def split_rows(
    content: bytes, delimiter: bytes, width: int, skip: int, file: str
) -> tuple[bytes, list[BadRecord]]:
    """The good rows of a CSV file, and the bad ones; the first `skip` rows, a header, are neither.

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
    """What is wrong with a row of another width."""
    return f"{plural(found, 'field')} where {width} should be"


def _reason(record: Record, text: bytes, width: int) -> str | None:
    if _is_open(record.fields[-1]):
        return OPEN_QUOTE  # it has taken the rest of the file into its field
    if len(record.fields) != width:
        return wrong_width(len(record.fields), width)
    try:
        text.decode()
    except UnicodeDecodeError:
        return NOT_UTF8
    return None


def _is_open(field: bytes) -> bool:
    """Whether a field begins with a quote that nothing closes; doubled ones stand for a quote inside."""
    return field[:1] == b'"' and b'"' not in field[1:].replace(b'""', b"")
