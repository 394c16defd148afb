"""What a materialisation has so far, as data that another process can take up: in which files the facts of each relation and the terms lie.

Most facts are in parts already, which are named and from then on left alone until a later state has been frozen. Of relations that only the driver knows,
a copy is written, by the driver: they are small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from modulog.engines.backend import Frozen
from modulog.engines.local.levels import Layer
from modulog.engines.local.reading import matching
from modulog.engines.local.table import LocalTable
from modulog.engines.protocol import ModuleId, Relation, Table
from modulog.engines.spark.aside import SparkAside
from modulog.engines.spark.engine import SparkEngine, spark_relation
from modulog.engines.spark.functions import F
from modulog.engines.spark.mirrored import MirroredRelation
from modulog.engines.spark.parts import Part
from modulog.engines.spark.table import DriverTable, SparkTable
from modulog.engines.spark.terms import SparkTerms

KINDS = ("base", "dead", "delta")
LOCAL = "file://"
Entry = dict[str, Any]
"""A relation: its number in the parts, whether the driver has it, and for each of KINDS [folder, facts, source] for each part."""


class Freezer:
    """Freezes what lies in one folder, which driver and executors share."""

    def __init__(self, engine: SparkEngine, terms: SparkTerms, aside: SparkAside, folder: str) -> None:
        self._engine, self._terms, self._aside, self._folder = engine, terms, aside, folder.rstrip("/")
        self._lasting: WeakKeyDictionary[MirroredRelation, Entry] = WeakKeyDictionary()
        self._tables: WeakKeyDictionary[SparkTable, Entry] = WeakKeyDictionary()
        self._last: frozenset[str] = frozenset()
        self._copies = 0
        self.used = False  # whether the files are more than this process's own

    def freeze(self, relations: Sequence[Relation], changing: Sequence[Relation]) -> Frozen | None:
        """As `Freezing.freeze`."""
        if self._is_waiting:
            return None
        entries: dict[MirroredRelation, Entry] = {}
        here = []
        for relation in map(spark_relation, relations):
            if relation in self._lasting:
                entries[relation] = self._lasting[relation]
            elif relation.mirror is not None and (relation.ahead or relation.published):
                here.append(relation)
            else:
                entries[relation] = self._on_spark(relation)
        entries |= self._copied(here)
        still = set(map(spark_relation, changing))
        self._lasting.update({r: entry for r, entry in entries.items() if r not in still})
        return self._frozen(relations=[entries[spark_relation(relation)] for relation in relations])

    @property
    def _is_waiting(self) -> bool:
        """Whether something is put off."""
        return bool(self._engine.parts.lazy or self._engine.scheduled or self._engine.staged)

    def _frozen(self, **content: list[Any]) -> Frozen:
        """A state: terms and bad records, and relations or tables."""
        self.used = True
        state = {"terms": self._terms.state(), "aside": self._aside.parts, **content}
        found = frozenset(_folders(state))
        self._pin(self._last | found)  # until this state has been written somewhere, the last one counts
        self._last = found
        return Frozen(state, found)

    def _pin(self, folders: frozenset[str]) -> None:
        """Let nobody delete what another process may need."""
        self._engine.parts.pinned = {f"{self._folder}/{name}" for name in folders}
        self._terms.pinned = {name.split("/")[1] for name in folders if name.startswith("terms/")}

    def _on_spark(self, relation: MirroredRelation) -> Entry:
        """The parts of a relation; those that lie in the driver's memory are written first."""
        entry: Entry = {"number": relation.number, "here": False}
        for kind in KINDS:
            parts = [part for part in getattr(relation, kind) if part.count(relation.number)]
            for part in parts:
                self._engine.parts.anchor(part)
            entry[kind] = [
                [str(part.path).removeprefix(f"{self._folder}/"), part.count(relation.number), part.source]
                for part in parts
            ]
        return entry

    def _copied(self, relations: Sequence[MirroredRelation]) -> dict[MirroredRelation, Entry]:
        """Relations of the driver; facts of one arity, and in Δ of one source, lie in one file."""
        entries: dict[MirroredRelation, Entry] = {
            r: {"number": r.number, "here": True, **{kind: [] for kind in KINDS}} for r in relations
        }
        groups: dict[tuple[int, str, ModuleId | None], list[tuple[MirroredRelation, LocalTable]]] = {}
        for relation in relations:
            for kind, source, table in _stretches(relation):
                groups.setdefault((relation.arity, kind, source), []).append((relation, table))
        for (arity, kind, source), tables in groups.items():
            folder = self._write(arity, [(relation.number, table) for relation, table in tables])
            for relation in dict.fromkeys(relation for relation, _ in tables):
                rows = sum(len(table) for r, table in tables if r is relation)
                entries[relation][kind].append([folder, rows, source])
        return entries

    def _write(self, arity: int, tables: Sequence[tuple[int, LocalTable]]) -> str:
        """Facts (p, c0, c1, …) of the driver in a folder of their own."""
        numbers = np.concatenate([np.full(len(table), number, np.int32) for number, table in tables])
        columns = {"p": numbers}
        for j in range(arity):
            pieces = [table.ids[table.columns.index(f"c{j}")] for _, table in tables]
            columns[f"c{j}"] = np.concatenate(pieces).astype(np.int64)
        folder = self._fresh()
        path = Path(folder.removeprefix(LOCAL))
        path.mkdir(parents=True)
        pq.write_table(pa.table(columns), path / "facts.parquet")
        return folder.removeprefix(f"{self._folder}/")

    def _fresh(self) -> str:
        self._copies += 1
        return self._engine.parts.folder / f"d-{self._copies:06d}"

    # ---- Tables

    def freeze_tables(self, tables: Sequence[Table]) -> Frozen | None:
        """As `Freezing.freeze_tables`."""
        if self._is_waiting:
            return None
        groups: dict[tuple[int, bool], list[SparkTable]] = {}
        for table in map(_spark_table, tables):
            if table not in self._tables:
                here = isinstance(table, DriverTable)
                self._tables[table] = {"columns": table.columns, "rows": len(table), "here": here}
                if table.columns and len(table):
                    groups.setdefault((len(table.columns), here), []).append(table)
        for (arity, here), group in groups.items():
            if here:
                folder = self._write(arity, [(n, table.rows()) for n, table in enumerate(group)])
            else:
                folder = self._write_together(group)
            for n, table in enumerate(group):
                self._tables[table] |= {"folder": folder, "number": n}
        return self._frozen(tables=[self._tables[_spark_table(table)] for table in tables])

    def _write_together(self, tables: Sequence[SparkTable]) -> str:
        """Let executors write tables of one arity, with one job."""
        numbered = [table.frame.select(F.lit(n).alias("p"), *table.columns) for n, table in enumerate(tables)]
        folder = self._fresh()
        reduce(DataFrame.union, numbered).write.parquet(folder)
        return folder.removeprefix(f"{self._folder}/")

    def thaw_tables(self, state: Mapping[str, Any]) -> list[Table]:
        """As `Freezing.thaw_tables`."""
        found: list[Table] = []
        for entry in state["tables"]:
            table = self._thawed(tuple(entry["columns"]), entry)
            self._tables[table] = entry
            found.append(table)
        return found

    def _thawed(self, columns: tuple[str, ...], entry: Entry) -> SparkTable:
        engine, arity = self._engine, len(columns)
        if "folder" not in entry:  # without columns there is a number of rows only
            return engine.table(columns, np.empty((arity, 0 if columns else entry["rows"]), np.int32))
        if entry["here"]:
            return engine.table(columns, self._read(columns, entry["folder"], entry["number"]).ids)
        mine = engine.parts.found(arity, f"{self._folder}/{entry['folder']}", None).read(set())
        return SparkTable(columns, mine.where(F.col("p") == entry["number"]).select(*columns), entry["rows"])

    # ---- Taking it up

    def thaw(self, state: Mapping[str, Any]) -> None:
        """As `Freezing.thaw`."""
        self.used = True
        self._last = frozenset(_folders(state))
        self._pin(self._last)
        self._terms.take_up(state["terms"])
        self._aside.parts = [(name, count) for name, count in state["aside"]]
        numbers = (entry["number"] for entry in state.get("relations", ()))
        self._engine.reserve(1 + max(numbers, default=0))

    def thaw_relations(self, state: Mapping[str, Any], relations: Sequence[Relation]) -> None:
        """As `Freezing.thaw_relations`."""
        pairs = list(zip(map(spark_relation, relations), state["relations"], strict=True))
        parts: dict[tuple[str, ModuleId | None], Part] = {}
        for relation, entry in pairs:
            relation.number = entry["number"]
            if entry["here"] and self._engine.driver.usable:
                self._take_in(relation, entry)
                continue
            for kind in KINDS:
                for folder, rows, source in entry[kind]:
                    if (folder, source) not in parts:
                        path = f"{self._folder}/{folder}"
                        parts[folder, source] = self._engine.parts.found(relation.arity, path, source)
                    parts[folder, source].hold(relation.number, rows)
                setattr(relation, kind, [parts[folder, source] for folder, _, source in entry[kind]])

    def _take_in(self, relation: MirroredRelation, entry: Entry) -> None:
        """Let the driver have a relation again."""
        read = {
            kind: [
                (self._read(relation.names, folder, relation.number), source)
                for folder, _, source in entry[kind]
            ]
            for kind in ("base", "delta")
        }
        nothing = LocalTable(relation.names, np.empty((relation.arity, 0), np.int32))
        relation.take_up(read["base"][0][0] if read["base"] else nothing, read["delta"])
        self._engine.driver.mirrored.add(relation)

    def _read(self, names: tuple[str, ...], folder: str, number: int) -> LocalTable:
        """What the driver has written under a number."""
        path = Path(self._folder.removeprefix(LOCAL), folder, "facts.parquet")
        table = pq.read_table(path, filters=[("p", "=", number)])
        ids = np.empty((len(names), len(table)), np.int32)
        for j, name in enumerate(names):
            ids[j] = table.column(name).to_numpy()
        return LocalTable(names, ids)


def _stretches(relation: MirroredRelation) -> Iterator[tuple[str, ModuleId | None, LocalTable]]:
    """The facts of a relation that the driver has: those of I, and of Δ by source."""
    assert relation.mirror is not None
    tables: Iterable[LocalTable] = relation.mirror.scan(relation.names, "old")
    yield from (("base", None, table) for table in tables if len(table))
    for source, run in relation.mirror.versions.delta:
        yield from (("delta", source, table) for table in matching([Layer(run)], relation.names))


def _folders(state: Mapping[str, Any]) -> Iterator[str]:
    """Every folder that a state needs."""
    yield from (f"terms/{part['name']}" for part in state["terms"]["parts"])
    yield from (f"bad/{name}" for name, _ in state["aside"])
    for entry in state.get("relations", ()):
        yield from (folder for kind in KINDS for folder, _, _ in entry[kind])
    yield from (entry["folder"] for entry in state.get("tables", ()) if "folder" in entry)


def _spark_table(table: Table) -> SparkTable:
    assert isinstance(table, SparkTable)
    return table
