"""Things that only Spark can read, put where a task can read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modulog.formats.keyed_facts import Keyed
from modulog.reasoner.facts_in import predicate_name
from modulog.task.descriptions import Description, GivenFacts, GivenFiles, GivenTable


class Fetching:
    """Fetches by a place, as `engines.spark.task.place.TaskPlace` describes it."""

    def __init__(self, place: Any) -> None:
        self._place = place

    def facts(self, facts: Any, columns: Any, arity: int | None) -> Keyed:
        """The facts of a data frame."""
        keyed: Keyed = self._place.frame(facts, columns, arity)[0]
        return keyed

    def files(self, path: str, options: Mapping[str, Any]) -> Description:
        """Files, or tables, as a task takes them up."""
        if self._place.is_table(path):
            return self._table(path, options)
        place, called = self._place.fetched(path, options.get("format"))
        if not called:
            return GivenFiles(place, options)
        return GivenFiles(place, {**options, "format": None}, {**called, place: path})

    def _table(self, path: str, options: Mapping[str, Any]) -> GivenTable:
        """The facts of a table, for each predicate that it fills."""
        frame = self._place.table(path)
        name = options["predicate"] or path.split(":", 1)[1].split(".")[-1].strip("`")
        wanted = options["mapping"] or {name: options["columns"]}
        parts, aside = [], []
        for predicate, columns in wanted.items():
            keyed, bad = self._place.frame(frame, columns, None, options["bad"])
            parts.append(GivenFacts(predicate_name(predicate), keyed))
            aside += [bad] if bad else []
        return GivenTable(path, tuple(parts), tuple(aside))
