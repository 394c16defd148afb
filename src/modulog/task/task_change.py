"""The net change of an update that a task has made: counts that it has answered, and facts in a file that it has written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from modulog.evaluation.statistics import UpdateStatistics
from modulog.language.model import Predicate
from modulog.language.triples import VIEWS, TripleViews, is_rdf
from modulog.maintenance.change import Change, Name, seen_rows
from modulog.terms.arrow import encode_arrow
from modulog.terms.dictionary import Dictionary
from modulog.terms.python_values import IRI, value

FOLDER = "change"

Choosing = Callable[[set[Predicate], Name], Predicate]
"""Finds the predicate that somebody names among some."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What a task says of an update; `known` are the predicates that one may ask for."""

    added: Mapping[str, int]
    deleted: Mapping[str, int]
    ignored: int
    still_derived: int
    statistics: UpdateStatistics
    known: tuple[Predicate, ...]


def write_change(change: Change, folder: Path, known: Iterable[Predicate]) -> Counts:
    """Write the facts of a change into a folder of an attempt; answers the rest. `known` are the predicates that there are."""
    change.write(folder / FOLDER)
    counts = change.added, change.deleted, change.ignored, change.still_derived
    return Counts(*counts, change.statistics, tuple({*known, *change.predicates()}))


class TaskChange(Change):
    """A change of which the facts lie in a file until the next update."""

    def __init__(
        self, counts: Counts, folder: Path, views: TripleViews, choose: Choosing, frame: Callable[[Path], Any]
    ) -> None:
        self.ignored, self.still_derived = counts.ignored, counts.still_derived
        self.statistics = counts.statistics
        self.__dict__ |= {"added": dict(counts.added), "deleted": dict(counts.deleted)}
        self._known, self._folder, self._views = set(counts.known), folder / FOLDER, views
        self._choose, self._frame = choose, frame

    def rows(self, predicate: str | IRI | Predicate, *, deleted: bool = False) -> list[tuple[Any, ...]]:
        """The facts of a predicate that were added, or deleted, until the next update."""
        views = VIEWS if any(map(is_rdf, self._known)) else ()
        chosen = self._choose(self._known.union(views), predicate)
        if chosen not in VIEWS or chosen in self._views.read:
            return list(self._rows(chosen, deleted))
        parts = ((p, self._rows(p, deleted)) for p in sorted(self._known))
        return list(seen_rows(chosen, parts, self._views))

    def _rows(self, predicate: Predicate, deleted: bool) -> Iterator[tuple[Any, ...]]:
        """The changed facts of one predicate."""
        found = pq.read_table(
            self._folder, filters=[("predicate", "=", predicate.name), ("sign", "=", -1 if deleted else 1)]
        )
        for chunk in found.column("terms").chunks:
            rows = chunk.filter(pc.equal(pc.list_value_length(chunk), predicate.arity))
            if not predicate.arity:
                yield from [()] * len(rows)
                continue
            dictionary = Dictionary()
            ids = encode_arrow(dictionary, rows.flatten(), turtle=True).reshape(-1, predicate.arity)
            values = [value(constant) for constant in dictionary.decode(np.arange(len(dictionary)))]
            yield from (tuple(values[i] for i in row) for row in ids.tolist())

    def dataframe(self) -> Any:
        """The whole change until the next update: predicate, sign (1 has come, -1 has gone) and terms, in Turtle form."""
        return self._frame(self._folder)

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write what `dataframe` has as Parquet into a new folder of this machine."""
        shutil.copytree(self._folder, folder)

    def __bool__(self) -> bool:
        return bool(self.added or self.deleted)
