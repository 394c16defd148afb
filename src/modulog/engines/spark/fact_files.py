"""Parts of the facts on disk: written once, read by many plans, merged when there are many, deleted when
superseded.

A part is a folder of Parquet files. Writing it cuts the lineage of what was computed and gives the number of
facts by relation. A part whose evaluation was put off is a plan until somebody needs its facts or its size.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from modulog.engines.relation import ModuleId
from modulog.engines.spark.table import SparkTable
from modulog.spark.file_systems import folder_of

if TYPE_CHECKING:
    from modulog.engines.spark.relation import SparkRelation

DEAD = 8  # facts that may be left for each one that is dead, before the dead are taken out
MANY = 8  # parts of one relation that are read as they are
WATCHED = 16  # relations whose facts are counted while they are written; beyond, another job counts


@dataclass(eq=False, slots=True)
class Part:
    """Some facts of one arity. `counts` is None while it is only a plan; `guess` stands for every size until
    then.

    `frame` is how Spark reads them, or what makes that when somebody first does.
    """

    arity: int
    frame: DataFrame | Callable[[], DataFrame]
    path: str | None = None
    counts: dict[int, int] | None = None
    guess: int = 1
    relations: set[int] = field(default_factory=set)
    source: ModuleId | None = None

    def count(self, number: int) -> int:
        """How many facts of a relation it holds; a guess above zero while it is only a plan."""
        if self.counts is None:
            return self.guess if number in self.relations else 0
        return self.counts.get(number, 0)

    def hold(self, number: int, rows: int) -> None:
        """Let it hold so many facts of one more relation."""
        assert self.counts is not None
        self.counts[number] = rows
        self.relations.add(number)

    def read(self, numbers: set[int]) -> DataFrame:
        """The facts, of which those of some relations are meant."""
        if not isinstance(self.frame, DataFrame):
            self.frame = self.frame()
        return self.frame


class Parts:
    """All parts of one engine, in a folder that executors share."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self.spark, self.folder = spark, folder_of(spark, folder)
        self.writes = self.actions = 0
        self.lazy: list[Part] = []
        self.tables: dict[str, weakref.ref[SparkTable]] = {}  # results that somebody may still read
        self.shared: list[tuple[weakref.ref[SparkTable], set[str | None]]] = []  # results that lie in parts
        self.pinned: set[str] = set()  # parts that another process may take up

    def schema(self, arity: int) -> str:
        """The columns of a table of facts."""
        return ", ".join(["p int", *(f"c{j} bigint" for j in range(arity))])

    def empty(self, arity: int) -> DataFrame:
        """No facts."""
        return self.spark.createDataFrame([], self.schema(arity))

    def frame(
        self, arity: int, parts: Iterable[Part], numbers: set[int], except_from: ModuleId | None = None
    ) -> DataFrame:
        """The facts of some relations in some parts."""
        chosen = [
            part
            for part in dict.fromkeys(parts)
            if any(part.count(n) for n in numbers) and (except_from is None or part.source != except_from)
        ]
        frames = [part.read(numbers) for part in chosen if part.path is None]
        # Several parts may lie in one folder, which is read once.
        paths = dict.fromkeys(part.path for part in chosen if part.path is not None)
        if paths:
            frames.append(self._read(arity, *paths))
        if not frames:
            return self.empty(arity)
        return reduce(DataFrame.union, frames).filter(F.col("p").isin(sorted(numbers)))

    def _read(self, arity: int, *paths: str) -> DataFrame:
        return self.spark.read.schema(self.schema(arity)).parquet(*paths)

    def found(self, arity: int, path: str, source: ModuleId | None) -> Part:
        """A part that another process wrote; what it holds is to be said."""
        return Part(arity, self._read(arity, path), path, {}, source=source)

    def anchor(self, part: Part) -> None:
        """Write a part that lies in the driver's memory."""
        if part.path is None:
            written = self.write(part.arity, part.read(part.relations), part.relations)
            part.frame, part.path = written.frame, written.path

    def write(self, arity: int, frame: DataFrame, numbers: set[int]) -> Part:
        """Evaluate a plan that gives facts of some relations into a part, and count them meanwhile."""
        path = self.folder / f"{arity}-{self.writes:06d}"
        self.writes, self.actions = self.writes + 1, self.actions + 1
        watched, counts = frame.sortWithinPartitions("p"), Observation()
        if few := len(numbers) <= WATCHED:
            watched = watched.observe(counts, *(F.count_if(F.col("p") == n).alias(str(n)) for n in numbers))
        watched.write.parquet(path)
        written = self._read(arity, path)
        if few:
            seen = counts.get
            found = {n: seen[str(n)] for n in numbers if seen[str(n)]}
        else:
            self.actions += 1
            found = {row["p"]: row["count"] for row in written.groupBy("p").count().collect()}
        return Part(arity, written, path, found, relations=set(numbers))

    def keep(self, columns: tuple[str, ...], frame: DataFrame, weighted: bool) -> SparkTable:
        """Evaluate a plan into a table that stays as long as somebody holds it."""
        path = self.folder / f"t-{self.writes:06d}"
        self.writes, self.actions = self.writes + 1, self.actions + 1
        counts = Observation()
        plain = frame if columns or weighted else frame.select(F.lit(1).alias("_"))
        plain.observe(counts, F.count(F.lit(1)).alias("n")).write.parquet(path)
        written = self.spark.read.schema(plain.schema).parquet(path)
        table = SparkTable(
            columns, written if columns or weighted else written.select(), counts.get["n"] or 0, weighted
        )
        self.tables[path] = weakref.ref(table)
        return table

    def share(
        self, columns: tuple[str, ...], frame: DataFrame, size: int, parts: Iterable[Part]
    ) -> SparkTable:
        """A table that is read from parts, which stay as long as somebody holds it."""
        table = SparkTable(columns, frame, size)
        self.shared.append((weakref.ref(table), {part.path for part in parts}))
        return table

    def put_off(self, arity: int, frame: DataFrame, relations: set[int], guess: int) -> Part:
        """A part that is evaluated when somebody needs it."""
        part = Part(arity, frame, guess=guess, relations=set(relations))
        self.lazy.append(part)
        return part

    def settle(self) -> None:
        """Evaluate everything that was put off; plans of one arity are written together."""
        waiting, self.lazy = self.lazy, []
        for arity in sorted({part.arity for part in waiting}):
            group = [part for part in waiting if part.arity == arity]
            numbers = {n for part in group for n in part.relations}
            frames = [part.read(part.relations) for part in group]
            whole = self.write(arity, reduce(DataFrame.union, frames), numbers)
            assert whole.counts is not None
            for part in group:
                part.frame, part.path = whole.frame, whole.path
                part.counts = {n: c for n, c in whole.counts.items() if n in part.relations}

    def compact(self, relation: SparkRelation) -> None:
        """Put the parts of a relation that has many into one; parts nobody reads any more are deleted."""
        dead = sum(part.count(relation.number) for part in relation.dead)
        if len(relation.base) > MANY or len(relation.dead) > MANY or dead * DEAD > relation.size("before"):
            self.settle()
            relation.base = [self.write(relation.arity, relation.frame("before"), {relation.number})]
            relation.dead = []

    def release(self, relations: Iterable[SparkRelation]) -> None:
        """Delete the parts that none of the relations reads."""
        used = {
            part.path
            for r in relations
            for part in (*r.base, *r.dead, *r.come, *r.gone, *r.delta, *chain(*r._nets.values()))
        }
        self.tables = {path: table for path, table in self.tables.items() if table() is not None}
        self.shared = [(table, paths) for table, paths in self.shared if table() is not None]
        used |= self.tables.keys() | self.pinned | {path for _, paths in self.shared for path in paths}
        for name in self.folder.names():
            if self.folder / name not in used:
                self.folder.delete(name)
