"""Closures on Spark that are represented: the schemes "closure", "components" and linear ones.

The external facts come to the driver, where the local engine's relation keeps the structure that represents what follows from them: its memory follows nodes
and edges. So every version is there without a job, with its exact size, and so is the net change of an update. What rules and queries read is listed by
executors, from the broadcast structure. A closure of more external facts than `broadcast_limit` is listed, as is one that is not worth it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import DataFrame

from modulog.engines.local.closure_relation import FEW, ClosureRelation, Given, listed_few
from modulog.engines.local.readers import PairsReader
from modulog.engines.local.reading import Lookup
from modulog.engines.local.table import LocalTable
from modulog.engines.protocol import Argument, Memory, ModuleId, Read, Relation, Table, Version
from modulog.engines.spark.expanding import GREATEST, PairsTable
from modulog.engines.spark.functions import F
from modulog.engines.spark.mirrored import MirroredRelation
from modulog.engines.spark.relation import BYTES_PER_ID
from modulog.engines.spark.table import DriverTable, SparkTable
from modulog.errors import InternalError, NotSupported
from modulog.storage.pairs import Pairs

if TYPE_CHECKING:
    from modulog.engines.spark.engine import SparkEngine


class SparkClosure(MirroredRelation):
    """A closure of one of the kinds: represented by a relation on the driver, or listed."""

    def __init__(self, engine: SparkEngine, name: str, number: int, kind: str, wanted: str) -> None:
        super().__init__(engine, name, 2, number)
        self.kind, self.wanted, self.told = kind, wanted, ""
        self.closure: ClosureRelation | None = None
        self._outgrown: ClosureRelation | None = None  # before the update that lists the facts
        if wanted == "always":
            self._represent(ClosureRelation(name, kind, wanted))

    # ---- Being compact

    @property
    def listed(self) -> bool:
        """Whether nothing represents the facts."""
        return self.closure is None

    @property
    def scheme(self) -> str:
        return "plain" if self.closure is None else self.kind

    @property
    def storage(self) -> str:
        if self.closure is None:
            return listed_few(self.size("all")) if self.told == FEW else self.told
        return f"{self.closure.storage}; on the driver, listed by executors where it is read"

    def _represent(self, closure: ClosureRelation | None) -> None:
        """Be represented from now on, or listed; what there was is forgotten."""
        self.closure = self.mirror = closure
        self._go_ahead()
        self.ahead = False
        self.engine.driver.forget()

    def consider(self, seeds: Table, edges: Table | None) -> bool:
        """Take everything external into a structure on the driver, if it may come there and is smaller than a list by far."""
        if self.closure is None and self.updating:
            return False  # what is listed stays so until all is computed again
        if not self.holds(len(seeds) + (0 if edges is None else len(edges))):
            return False
        closure = self.closure or ClosureRelation(self.name, self.kind, self.wanted)
        worth = closure.consider(self._fetched(seeds), None if edges is None else self._fetched(edges))
        self.told = closure.told
        if worth and self.closure is None:
            self._represent(closure)
        return worth

    def holds(self, external: int) -> bool:
        """Whether so many external facts may come to the driver; if they may not, the facts are listed from now on."""
        limit = self.engine.broadcast_limit
        if external <= limit and self._fits:
            return True
        self.told = f"listed: {external:,} external facts, and `broadcast_limit` is {limit:,}"
        if self.closure is not None and self.updating:
            before = self.engine.parts.write(2, self.frame("before"), {self.number})
            self._outgrown = self.closure
            self._represent(None)
            self.base = [before]
        elif self.closure is not None:
            self._represent(None)
        return False

    def later(self, given: Given, rows: int) -> None:
        """Make the structure at the first question."""

        def fetched() -> tuple[Table, Table | None]:
            seeds, edges = given()
            return self._fetched(seeds), None if edges is None else self._fetched(edges)

        closure = self.closure or ClosureRelation(self.name, self.kind, self.wanted)
        closure.later(fetched, rows)
        self._represent(closure)

    def become(self, other: Relation) -> None:
        """Only where other rules feed the closure, which then is listed."""
        raise InternalError(f"{self.name}: a closure that is alone follows from its external facts")

    @property
    def _fits(self) -> bool:
        return len(self.engine.terms) <= GREATEST

    def _fetched(self, rows: Table) -> LocalTable:
        """Rows on the driver."""
        assert isinstance(rows, SparkTable)
        if not self._fits:
            raise NotSupported(
                f'{self.name}: ids beyond 2³¹ cannot be represented; `storage="plain"` lists the closure'
            )
        return rows.rows()

    # ---- Moving: what is represented stays on the driver

    @property
    def movable(self) -> bool:
        return self.closure is not None or super().movable

    @property
    def held(self) -> int:
        return super().held if self.closure is None else 0

    def to_spark(self) -> None:
        if self.closure is None:
            super().to_spark()

    def _publish(self) -> None:
        if self.closure is None:
            super()._publish()

    # ---- Reading

    def represented(self, version: Version) -> Pairs | None:
        """The pairs of a version; None if they are listed."""
        return None if self.closure is None else self.closure.represented(version)

    def is_plain(self, version: Version) -> bool:
        return self.closure is None and super().is_plain(version)

    def frame(self, version: Version, except_from: ModuleId | None = None) -> DataFrame:
        pairs = self.represented(version)
        if pairs is None:
            return super().frame(version, except_from)
        number = F.lit(self.number).cast("int").alias("p")
        return self.engine.broadcasts.listed(pairs).select(
            number, F.col("s").alias("c0"), F.col("t").alias("c1")
        )

    def few(self, read: Read) -> LocalTable | None:
        """What a read gives where that is bounded by the number of nodes: perhaps once, with its multiplicity. None if it may be more."""
        pairs = self.represented(read.version)
        if pairs is None or len(read.variables) == 2:
            return None
        pieces, weights = [], []
        for ids, numbers in PairsReader(pairs).tallied(Lookup((), read.args, read.variables)):
            pieces.append(ids)
            weights.append(np.ones(ids.shape[1], np.int64) if numbers is None else numbers)
        none = np.empty((len(read.variables), 0), np.int32), np.empty(0, np.int64)
        return LocalTable(
            read.variables,
            np.concatenate([none[0], *pieces], axis=1),
            np.concatenate([none[1], *weights]),
        )

    def snapshot(self, columns: tuple[str, ...], version: Version) -> SparkTable | None:
        """The pairs of a version to be kept, not listed yet; None if they are listed."""
        pairs = self.represented(version)
        return None if pairs is None else PairsTable(columns, pairs, self.engine.broadcasts)

    def scan(self, args: tuple[Argument, ...], version: Version) -> Iterator[SparkTable]:
        read = Read(self, args, version)
        found = None if self.closure is None else self.few(read)
        if found is None:
            yield from super().scan(args, version)
        elif found.weights is not None:
            ids = np.repeat(found.ids, found.weights, axis=1)
            yield DriverTable(self.engine.spark, LocalTable(found.columns, ids))

    def contains(self, rows: Table, version: Version) -> SparkTable:
        pairs = self.represented(version)
        if pairs is None:
            return super().contains(rows, version)
        assert isinstance(rows, SparkTable) and self.closure is not None
        here = self.engine.driver.here(rows)
        if here is not None:
            return DriverTable(self.engine.spark, self.closure.contains(here, version))
        found = self.engine.broadcasts.looked_up(pairs, rows.frame, rows.columns, (), "those with")
        return SparkTable(rows.columns, found)

    def count(self, args: tuple[Argument, ...], version: Version, by: int | None = None) -> SparkTable:
        if self.closure is None:
            return super().count(args, version, by)
        return DriverTable(self.engine.spark, self.closure.count(args, version, by))

    def distinct(self, column: int, version: Version) -> SparkTable:
        if self.closure is None:
            return super().distinct(column, version)
        return DriverTable(self.engine.spark, self.closure.distinct(column, version))

    def has(self, version: Version) -> bool:
        return super().has(version) if self.closure is None else self.closure.has(version)

    def guess(self, version: Version) -> int:
        return super().guess(version) if self.closure is None else self.closure.guess(version)

    def memory(self) -> Memory:
        """The driver's bytes; listed, every executor's together."""
        if self.closure is None:
            return super().memory()
        plain = self.size("all") * (self.arity + 1) * BYTES_PER_ID
        return Memory(self.closure.memory().bytes, plain)

    # ---- Changing

    def schedule(self, rows: Table, source: ModuleId) -> None:
        if self.closure is None:
            super().schedule(rows, source)
        else:
            self.closure.schedule(self._fetched(rows), source)

    def lead(self, edges: Table) -> None:
        """Edges for the next `derive`."""
        assert self.closure is not None
        self.closure.lead(self._fetched(edges))

    def merge(self) -> None:
        if self.closure is None:
            super().merge()
        else:
            self.closure.merge()

    def spare(self, rows: Table) -> None:
        if self.closure is None:
            super().spare(rows)
        else:
            self.closure.spare(self._fetched(rows))

    def retract(self, rows: Table) -> None:
        if self.closure is None:
            super().retract(rows)
        else:
            self.closure.retract(self._fetched(rows))

    def commit(self) -> None:
        self._outgrown = None
        if self.closure is None:
            super().commit()
        else:
            self.closure.commit()
            self._forget()
            self.engine.tidy()

    def rollback(self) -> None:
        super().rollback()
        if self._outgrown is not None:
            self._outgrown.rollback()
            self._represent(self._outgrown)
            self._outgrown = None
