"""A file of facts that has been found, and what a reader is told besides.

This module imports nothing of Modulog, because everything that reads facts uses it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Columns = Sequence[int | str]
"""Columns of a wide table, by name or by position from 0."""

Paths = Sequence[str | os.PathLike[str]]
"""One or several files that are read as one."""

Bad = Literal["fail", "set-aside"]
"""What is done about bad records."""

BAD: tuple[Bad, ...] = ("fail", "set-aside")


@dataclass(frozen=True, slots=True)
class FactFile:
    """A file with the facts of one predicate, or with triples; `format` says how it is read. A file elsewhere
    has a URI.

    `arity` is that of the predicate where the name of the file says it.
    """

    path: Path | str
    predicate: str
    format: str
    gzip: bool = False
    arity: int | None = None
