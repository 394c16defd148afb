"""Parses the arguments of the command line that name facts: PATH, NAME=PATH, NAME=FILE:COLUMN,COLUMN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modulog.errors import DataError

if TYPE_CHECKING:
    from modulog.cli.progress_line import Progress
    from modulog.formats.fact_file import Bad
    from modulog.reasoner.fact_batch import FactBatch
    from modulog.reasoner.reasoner import Reasoner


@dataclass(frozen=True, slots=True)
class Inputs:
    """The arguments of a command that name facts, and the options for reading CSV files."""

    facts: Sequence[str]
    maps: Sequence[str]
    header: bool
    strings: bool
    bad: Bad = "fail"
    delimiter: str | None = None

    def load(self, reasoner: Reasoner, progress: Progress) -> None:
        """Load all facts into a reasoner."""
        for path, options in self._each(progress):
            reasoner.load(path, **options)

    def batch(self, progress: Progress) -> FactBatch:
        """All facts, for an update."""
        from modulog.reasoner.fact_batch import FactBatch, read

        return reduce(add, (read(path, **options) for path, options in self._each(progress)), FactBatch([]))

    def _each(self, progress: Progress) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every path, with the options of `Reasoner.load` for it."""
        common: dict[str, Any] = {"header": self.header, "strings": self.strings, "bad": self.bad}
        common["delimiter"] = self.delimiter
        sources, wide = [named_path(f) for f in self.facts], mappings(self.maps)
        for name, path in sources:
            progress.doing = f"loading {path}"
            yield path, {"predicate": name, **common}
        for path, mapping in wide.items():
            progress.doing = f"loading {path}"
            yield path, {"mapping": mapping, **common}


def named_path(text: str) -> tuple[str | None, str]:
    """The predicate and the path of an argument PATH or NAME=PATH; the predicate is None for PATH.

    >>> named_path("edge=links.csv")
    ('edge', 'links.csv')
    """
    # An IRI may contain equals signs, but ends at its angle bracket.
    name, sign, path = text.partition(">=" if text.startswith("<") else "=")
    if not sign or Path(text).exists():
        return None, text
    return name + sign[:-1], path


def mappings(maps: Sequence[str]) -> Mapping[str, Mapping[str, list[str | int]]]:
    """The options `--map`, grouped by file: for each file its predicates with their columns."""
    found: dict[str, dict[str, list[str | int]]] = {}
    for text in maps:
        name, path = named_path(text)
        file, sign, columns = path.rpartition(":")
        if not name or not sign or not file:
            raise DataError(
                f"--map {text}: write NAME=FILE:COL,COL, such as age=people.csv:id,age or age=people.csv:0,2"
            )
        chosen = [int(c) if c.isdecimal() else c for c in columns.split(",") if c]
        if name in found.setdefault(file, {}):
            raise DataError(f"--map {text}: {name} is filled from {file} already")
        found[file][name] = chosen
    return found
