"""Facts as a command line names them: PATH, NAME=PATH, NAME=FILE:COLUMN,COLUMN."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from modulog.errors import DataError

if TYPE_CHECKING:
    from modulog.progress import Progress
    from modulog.session import Reasoner


@dataclass(frozen=True, slots=True)
class Inputs:
    """The facts that a verb was given, and how to read CSV files."""

    facts: Sequence[str]
    maps: Sequence[str]
    header: bool
    strings: bool

    def load(self, reasoner: Reasoner, progress: Progress) -> None:
        """Load them all."""
        sources, wide = [named_path(f) for f in self.facts], mappings(self.maps)
        for name, path in sources:
            progress.doing = f"loading {path}"
            reasoner.load(path, predicate=name, header=self.header, strings=self.strings)
        for path, mapping in wide.items():
            progress.doing = f"loading {path}"
            reasoner.load(path, mapping=mapping, header=self.header, strings=self.strings)


def named_path(text: str) -> tuple[str | None, Path]:
    """A fact file as the user gave it: PATH or NAME=PATH.

    >>> named_path("edge=links.csv")
    ('edge', PosixPath('links.csv'))
    """
    # An IRI may contain equals signs, but ends at its angle bracket.
    name, sign, path = text.partition(">=" if text.startswith("<") else "=")
    if not sign or Path(text).exists():
        return None, Path(text)
    return name + sign[:-1], Path(path)


def mappings(maps: Sequence[str]) -> Mapping[Path, Mapping[str, list[str | int]]]:
    """The options --map by file."""
    found: dict[Path, dict[str, list[str | int]]] = {}
    for text in maps:
        name, path = named_path(text)
        file, sign, columns = str(path).rpartition(":")
        if not name or not sign or not file:
            raise DataError(
                f"--map {text}: write NAME=FILE:COL,COL, such as age=people.csv:id,age or age=people.csv:0,2"
            )
        chosen = [int(c) if c.isdecimal() else c for c in columns.split(",") if c]
        if name in found.setdefault(Path(file), {}):
            raise DataError(f"--map {text}: {name} is filled from {file} already")
        found[Path(file)][name] = chosen
    return found
