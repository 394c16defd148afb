"""Tables of the Spark engine: data frames of ids, numbers of facts, and facts whose terms have no ids yet.

Facts that wait for ids are read and written once as blocks, then encoded with one growth of the dictionary.
Numbers of facts, how many derivations each has, are tables of changes that are summed when they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark import Accumulator
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from modulog.engines.relation import Memory, ModuleId
from modulog.engines.spark.assign_ids import ENCODED, SOURCE_BITS, Distinct, Translate
from modulog.engines.spark.key_blocks import SCHEMA, Chunks, Reader, TableBlocks
from modulog.engines.spark.terms import SparkTerms
from modulog.engines.table import Table, columns_of
from modulog.errors import InternalError

if TYPE_CHECKING:
    from modulog.engines.spark.engine import SparkEngine
    from modulog.engines.spark.relation import SparkRelation

Heads = dict["SparkRelation", ModuleId]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Staged:
    """Blocks on disk, while somebody holds this: arities and names that have facts, and bytes of keys."""

    frame: DataFrame
    names: tuple[tuple[int, str], ...]
    text: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """Facts of one arity, in blocks that are a plan or on disk, and which relations want which names."""

    arity: int
    blocks: DataFrame | Staged
    wanted: Mapping[str, SparkRelation]
    source: ModuleId

    def without(self, relation: SparkRelation) -> Waiting:
        """The same for all relations but one."""
        kept = {name: r for name, r in self.wanted.items() if r is not relation}
        return Waiting(self.arity, self.blocks, kept, self.source)


def stage(terms: SparkTerms, blocks: DataFrame) -> Staged:
    """Evaluate blocks, with one job; `terms.release` deletes them once nobody holds them."""
    found = Observation()
    named = F.when(F.col("name").isNotNull(), F.struct("arity", "name"))
    watched = blocks.observe(
        found, F.collect_set(named).alias("names"), F.sum(F.octet_length("data")).alias("text")
    )
    frame = terms.stage([watched])[0]
    seen = found.get
    names = tuple(sorted((row["arity"], row["name"]) for row in seen["names"]))
    staged = Staged(frame, names, seen["text"] or 0)
    terms.hold(staged)
    return staged


def encode(terms: SparkTerms, waiting: Sequence[Waiting]) -> Iterator[tuple[int, DataFrame, Heads]]:
    """Facts (p, c0, c1, …) by arity, each once, and the relations they belong to."""
    plans = [item.blocks for item in waiting if isinstance(item.blocks, DataFrame)]
    ready = dict.fromkeys(item.blocks for item in waiting if isinstance(item.blocks, Staged))
    last = [stage(terms, reduce(DataFrame.union, plans))] if plans else []
    sources = [*ready, *last]
    numbered = [
        s.frame.withColumn("chunk", F.col("chunk") + F.lit(i << SOURCE_BITS)) for i, s in enumerate(sources)
    ]
    whole = reduce(DataFrame.union, numbered)
    places, offsets = terms.number(whole.where("bucket is not null"), sum(s.text for s in sources))
    for arity in sorted({item.arity for item in waiting}):
        mine = [item for item in waiting if item.arity == arity]
        relations: dict[tuple[int, str], tuple[int, ...]] = {}
        for item in mine:
            source = sources.index(item.blocks) if isinstance(item.blocks, Staged) else len(sources) - 1
            for name, relation in item.wanted.items():
                relations[source, name] = (*relations.get((source, name), ()), relation.number)
        facts = whole.where(F.col("arity") == arity).select(
            "chunk", "name", "numbers", F.lit(None).cast("binary").alias("slots")
        )
        both = facts.union(places.select("chunk", F.lit(None).cast("string"), "numbers", "slots"))
        run = Translate(arity, offsets, relations)
        columns = ", ".join(["p int", *(f"c{j} long" for j in range(arity))])
        encoded = both.repartition("chunk").mapInArrow(run, ENCODED)
        heads = {relation: item.source for item in mine for relation in item.wanted.values()}
        yield arity, encoded.repartition("bucket").mapInArrow(Distinct(arity), columns), heads


WEIGHT = "#"
"""The column with the multiplicity of a row."""


class SparkTable:
    """A data frame of ids; its size is found at the first question and remembered."""

    def __init__(
        self,
        columns: tuple[str, ...],
        frame: DataFrame,
        size: int | None = None,
        weighted: bool = False,
    ) -> None:
        self.columns, self.frame, self.size, self.weighted = columns, frame, size, weighted

    def __len__(self) -> int:
        if self.size is None:
            self.size = int(self.frame.count())
        return self.size

    def batches(self) -> Iterator[pa.RecordBatch]:
        bare = not self.columns and not self.weighted
        rows = self.frame.select(F.lit(1).cast("long").alias(WEIGHT)) if bare else self.frame
        yield from rows.toArrow().to_batches()


def frame_of(spark: SparkSession, columns: dict[str, np.ndarray], rows: int) -> DataFrame:
    """Arrays of the driver as a frame; from Arrow it is a part of the plan and needs no job."""
    if not columns:
        return spark.range(rows).select()
    return spark.createDataFrame(pa.table({name: pa.array(values) for name, values in columns.items()}))


class RowCounter:
    """How many rows executors have read for a table, once they have; it does not keep the table."""

    def __init__(self, rows: int = 0) -> None:
        self._rows = rows
        self._found: Accumulator[int] | None = None

    def counting(self, frame: DataFrame) -> Accumulator[int]:
        """What executors add to when they read the frame; only its last reading counts."""
        self._found = frame.sparkSession.sparkContext.accumulator(0)
        return self._found

    def __call__(self) -> int:
        return self._rows if self._found is None else int(self._found.value)


class KeyTable:
    """Facts whose terms have no ids yet: a frame of their keys, or of what `read` turns into keys.

    They get their ids together with all others that wait when a relation takes them in. `rows` says how many
    there are, where that is known.
    """

    def __init__(
        self, arity: int, frame: DataFrame, *, read: Reader | None = None, rows: int | None = None
    ) -> None:
        self.columns, self.frame = columns_of(arity), frame
        self._read, self._rows, self._is_counted = read, rows, rows is not None
        self.counter = RowCounter(rows or 0)

    @classmethod
    def of(cls, spark: SparkSession, keys: list[pa.Array], rows: int) -> KeyTable:
        """Keys of the driver, by column: they are a part of the plan."""
        named = {f"k{j}": column for j, column in enumerate(keys)}
        frame = spark.createDataFrame(pa.table(named)) if named else spark.range(rows).select()
        return cls(len(keys), frame, rows=rows)

    @property
    def mark(self) -> str | None:
        """The token that an error about a record of the source bears."""
        return getattr(self._read, "token", None)

    def wait(self, relation: SparkRelation, source: ModuleId) -> Waiting:
        """The facts as those of a relation."""
        name = str(relation.number)
        counter = None if self._is_counted else self.counter.counting(self.frame)
        blocks = self.frame.mapInArrow(Chunks(TableBlocks(name), self._read, counter), SCHEMA)
        return Waiting(relation.arity, blocks, {name: relation}, source)

    def __len__(self) -> int:
        if self._rows is None:
            self._rows = self._counted()
        return self._rows

    def _counted(self) -> int:
        if not self.columns:
            return int(self.frame.count())
        blocks = self.frame.mapInArrow(Chunks(TableBlocks(""), self._read), SCHEMA)
        return _size(blocks.where("name is not null"))

    def batches(self) -> Iterator[Any]:
        raise InternalError("facts without ids cannot be read")


class StagedTable(KeyTable):
    """Facts of one name and arity among blocks that are on disk."""

    def __init__(self, staged: Staged, arity: int, name: str) -> None:
        super().__init__(arity, staged.frame)
        self._staged, self._name = staged, name

    def wait(self, relation: SparkRelation, source: ModuleId) -> Waiting:
        """The facts as those of a relation."""
        return Waiting(relation.arity, self._staged, {self._name: relation}, source)

    def _counted(self) -> int:
        mine = (F.col("name") == self._name) & (F.col("arity") == len(self.columns))
        return _size(self._staged.frame.where(mine))


def _size(blocks: DataFrame) -> int:
    return int(blocks.agg(F.sum("size")).collect()[0][0] or 0)


MANY = 8  # tables of changes that are summed as they are
BYTES = 8


class SparkCounters:
    """A number for each fact, as tables (c0, c1, …, #) of what was added; `since` has an update's."""

    def __init__(self, engine: SparkEngine, name: str, arity: int) -> None:
        self.engine, self.name, self.arity = engine, name, arity
        self.columns = columns_of(arity)
        self.base: list[SparkTable] = []
        self.since: list[SparkTable] | None = None

    def adjust(self, rows: Table, sign: int = 1) -> None:
        assert isinstance(rows, SparkTable)
        weight = F.col(f"`{WEIGHT}`") if rows.weighted else F.lit(1)
        frame = rows.frame.select(*self._named(rows), (weight * sign).cast("long").alias(WEIGHT))
        stack = self.base if self.since is None else self.since
        stack.append(self.engine.parts.keep(self.columns, frame, True))
        if len(stack) > MANY:
            stack[:] = [self.engine.parts.keep(self.columns, self._sums(stack), True)]

    def _named(self, rows: SparkTable) -> list[Any]:
        return [F.col(f"`{name}`").alias(c) for name, c in zip(rows.columns, self.columns, strict=True)]

    def _sums(self, tables: list[SparkTable]) -> DataFrame:
        """The number of each fact that some tables speak of."""
        changes = reduce(DataFrame.unionByName, [table.frame for table in tables])
        return changes.groupBy(*self.columns).agg(F.sum(f"`{WEIGHT}`").alias(WEIGHT))

    def _all(self) -> DataFrame | None:
        tables = [*self.base, *(self.since or ())]
        return self._sums(tables) if tables else None

    def _numbered(self, rows: SparkTable) -> DataFrame:
        """The rows under the names c0, c1, …, each with its number."""
        asked, sums = rows.frame.select(*self._named(rows)), self._all()
        if sums is None:
            return asked.withColumn(WEIGHT, F.lit(0).cast("long"))
        if not self.columns:
            return asked.crossJoin(sums)
        return asked.join(sums, list(self.columns), "left").fillna(0, [WEIGHT])

    def positive(self, rows: Table) -> SparkTable:
        assert isinstance(rows, SparkTable)
        kept = self._numbered(rows).filter(F.col(f"`{WEIGHT}`") > 0)
        named = [F.col(c).alias(name) for name, c in zip(rows.columns, self.columns, strict=True)]
        return self.engine.parts.keep(rows.columns, kept.select(*named), False)

    def items(self) -> Iterator[SparkTable]:
        sums = self._all()
        if sums is not None:
            yield SparkTable(self.columns, sums.filter(F.col(f"`{WEIGHT}`") != 0), None, True)

    def begin(self) -> None:
        if self.since is not None:
            raise InternalError(f"{self.name}: an update is under way")
        self.since = []

    def commit(self) -> None:
        self.base += self.since or []
        self.since = None

    def rollback(self) -> None:
        self.since = None

    def memory(self) -> Memory:
        held = sum(map(len, self.base)) * (self.arity + 1) * BYTES
        return Memory(held, held)
