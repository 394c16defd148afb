"""What a materialisation has so far, as data that another process can take up: in which files the facts of
each relation and the terms lie.

Facts are in parts already, which are named and from then on left alone until a later state has been frozen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from modulog.engines.freezer import Frozen
from modulog.engines.relation import ModuleId, Relation
from modulog.engines.spark.engine import SparkEngine, spark_relation
from modulog.engines.spark.fact_files import Part
from modulog.engines.spark.relation import SparkRelation
from modulog.engines.spark.sources.model import SparkAside
from modulog.engines.spark.table import SparkTable
from modulog.engines.spark.terms import SparkTerms
from modulog.engines.table import Table
from modulog.spark.errors import translated

KINDS = ("base", "dead", "delta")
Entry = dict[str, Any]
"""A relation: its number in the parts, and for each of KINDS [folder, facts, source] for each part."""


class Checkpointed:
    """A backend of Spark whose state another process can take up: what lies in one folder, which driver and
    executors share.
    """

    engine: SparkEngine
    terms: SparkTerms
    aside: SparkAside

    def __init__(self, folder: str) -> None:
        self._folder = folder.rstrip("/")
        self._lasting: WeakKeyDictionary[SparkRelation, Entry] = WeakKeyDictionary()
        self._tables: WeakKeyDictionary[SparkTable, Entry] = WeakKeyDictionary()
        self._last: frozenset[str] = frozenset()
        self._copies = 0
        self.is_frozen = False  # whether the files are more than this process's own

    def freeze_into(self, folder: Path) -> None:
        """It was made with the folder."""

    def can_freeze(self, relation: Relation) -> bool:
        return True

    def freezing_seconds(self, relations: Sequence[Relation]) -> float:
        return 0.0

    def freeze(self, relations: Sequence[Relation], changing: Sequence[Relation]) -> Frozen | None:
        if self._is_waiting:
            return None
        with translated():
            entries = {r: self._lasting.get(r) or self._entry(r) for r in map(spark_relation, relations)}
        still = set(map(spark_relation, changing))
        self._lasting.update({r: entry for r, entry in entries.items() if r not in still})
        return self._frozen(relations=[entries[spark_relation(relation)] for relation in relations])

    @property
    def _is_waiting(self) -> bool:
        """Whether something is put off."""
        return bool(self.engine.parts.lazy or self.engine.scheduled or self.engine.staged)

    def _frozen(self, **content: list[Any]) -> Frozen:
        """A state: terms and bad records, and relations or tables."""
        state = {"terms": self.terms.state(), "aside": self.aside.parts, **content}
        found = frozenset(_folders(state))
        self._pin(self._last | found)  # until this state has been written somewhere, the last one counts
        self._last = found
        return Frozen(state, found)

    def _pin(self, folders: frozenset[str]) -> None:
        """Let nobody delete what another process may need."""
        self.is_frozen = True
        self.engine.parts.pinned = {f"{self._folder}/{name}" for name in folders}
        self.terms.pinned = {name.split("/")[1] for name in folders if name.startswith("terms-")}

    def _entry(self, relation: SparkRelation) -> Entry:
        """The parts of a relation; those that lie in a store are written first."""
        entry: Entry = {"number": relation.number}
        for kind in KINDS:
            parts = [part for part in getattr(relation, kind) if part.count(relation.number)]
            for part in parts:
                self.engine.parts.anchor(part)
            entry[kind] = [
                [str(part.path).removeprefix(f"{self._folder}/"), part.count(relation.number), part.source]
                for part in parts
            ]
        return entry

    # ---- Tables

    def freeze_tables(self, tables: Sequence[Table]) -> Frozen | None:
        """As `TableFreezer.freeze_tables`: tables of one arity are written together, with one job."""
        if self._is_waiting:
            return None
        groups: dict[int, list[SparkTable]] = {}
        for table in map(_spark_table, tables):
            if table not in self._tables:
                self._tables[table] = {"columns": table.columns, "rows": len(table)}
                if table.columns and len(table):
                    groups.setdefault(len(table.columns), []).append(table)
        for group in groups.values():
            self._copies += 1
            folder = self.engine.parts.folder / f"d-{self._copies:06d}"
            numbered = [t.frame.select(F.lit(n).alias("p"), *t.columns) for n, t in enumerate(group)]
            with translated():
                reduce(DataFrame.union, numbered).write.parquet(folder)
            for n, table in enumerate(group):
                self._tables[table] |= {"folder": folder.removeprefix(f"{self._folder}/"), "number": n}
        return self._frozen(tables=[self._tables[_spark_table(table)] for table in tables])

    def thaw_tables(self, state: Mapping[str, Any]) -> list[Table]:
        found: list[Table] = []
        for entry in state["tables"]:
            table = self._thawed(tuple(entry["columns"]), entry)
            self._tables[table] = entry
            found.append(table)
        return found

    def _thawed(self, columns: tuple[str, ...], entry: Entry) -> SparkTable:
        if "folder" not in entry:  # without columns there is a number of rows only
            rows = 0 if columns else entry["rows"]
            return self.engine.table(columns, np.empty((len(columns), rows), np.int64))
        schema = ", ".join(["p int", *(f"`{name}` long" for name in columns)])
        written = self.engine.spark.read.schema(schema).parquet(f"{self._folder}/{entry['folder']}")
        mine = written.where(F.col("p") == entry["number"]).drop("p")
        return SparkTable(columns, mine, entry["rows"])

    # ---- Taking it up

    def thaw(self, state: Mapping[str, Any]) -> None:
        self._last = frozenset(_folders(state))
        self._pin(self._last)
        self.terms.take_up(state["terms"])
        self.aside.parts = [(name, count) for name, count in state["aside"]]
        numbers = (entry["number"] for entry in state.get("relations", ()))
        self.engine.reserve(1 + max(numbers, default=0))

    def thaw_relations(self, state: Mapping[str, Any], relations: Sequence[Relation]) -> None:
        parts: dict[tuple[str, ModuleId | None], Part] = {}
        for relation, entry in zip(map(spark_relation, relations), state["relations"], strict=True):
            relation.number = entry["number"]
            for kind in KINDS:
                for folder, rows, source in entry[kind]:
                    if (folder, source) not in parts:
                        path = f"{self._folder}/{folder}"
                        parts[folder, source] = self.engine.parts.found(relation.arity, path, source)
                    parts[folder, source].hold(relation.number, rows)
                setattr(relation, kind, [parts[folder, source] for folder, _, source in entry[kind]])


def _folders(state: Mapping[str, Any]) -> Iterator[str]:
    """Every folder that a state needs."""
    terms = state["terms"]
    yield from (f"{terms['folder']}/{part['name']}" for part in terms["parts"])
    yield from (f"bad/{name}" for name, _ in state["aside"])
    for entry in state.get("relations", ()):
        yield from (folder for kind in KINDS for folder, _, _ in entry[kind])
    yield from (entry["folder"] for entry in state.get("tables", ()) if "folder" in entry)


def _spark_table(table: Table) -> SparkTable:
    assert isinstance(table, SparkTable)
    return table
