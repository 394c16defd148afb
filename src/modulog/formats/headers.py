"""Recognise a header that would be read as a fact, in a CSV file that is said to have none."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from itertools import islice

from modulog.formats import DataWarning
from modulog.formats.records import Record

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
        warnings.warn(
            f"{path}: the first row looks like a header ({shown}) and was read as a fact; "
            "say that the file has a header to leave it out",
            DataWarning,
            stacklevel=2,
        )
