"""Relations that may live on the driver: a small one has a *mirror* there, a plain relation of the local engine.

A mirror has the present state in every version. What happens to the relation happens to its mirror alone, which is then *ahead* of the parts;
they follow when Spark reads. In an update the parts of what held before it stay, and only the change follows. A relation that Spark derives facts for
gives its mirror up.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import DataFrame

from modulog.engines.local.levels import Layer
from modulog.engines.local.reading import matching
from modulog.engines.local.relation import PlainRelation
from modulog.engines.local.table import LocalTable
from modulog.engines.protocol import Estimate, ModuleId, Table, Version
from modulog.engines.spark.parts import Part
from modulog.engines.spark.relation import SparkRelation
from modulog.engines.spark.table import DriverTable, frame_of
from modulog.kernels import packing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modulog.engines.spark.engine import SparkEngine


class MirroredRelation(SparkRelation):
    """A relation on Spark, on the driver, or in both places."""

    def __init__(self, engine: SparkEngine, name: str, arity: int, number: int) -> None:
        super().__init__(engine, name, arity, number)
        self.mirror: PlainRelation | None = None
        self.ahead = False  # the mirror knows more than the parts, which are gone
        self.based = (
            False  # the parts of what holds outside updates are not the mirror's own, and say the same
        )
        self.published = False  # the parts were made from the mirror, and lie in the driver's memory too

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of its facts."""
        return tuple(f"c{j}" for j in range(self.arity))

    # ---- Moving

    @property
    def movable(self) -> bool:
        """Whether the driver can take it: it is there, or between two fixpoints, with nothing put off."""
        parts = (*self.base, *self.dead, *self.come, *self.gone)
        waits = self.delta or self.spared or any(part.counts is None for part in parts)
        return self.mirror is not None or not waits

    @property
    def held(self) -> int:
        """How many facts the driver would have to hold; no job."""
        if self.mirror is not None:
            return max(self.mirror.size("before"), self.mirror.size("all"))
        return self._count([*self.base, *self.come, *self.delta])

    @property
    def opened(self) -> PlainRelation | None:
        """What the first part holds, as the driver reads it from files by itself; None if it does not lie in a store."""
        return self.base[0].opened(self.number) if self.base else None

    def adopt(self, more: LocalTable, dead: LocalTable, gone: LocalTable, come: LocalTable) -> None:
        """Have a mirror from now on: with what the driver has `opened`, the facts that Spark had, and in an update what it changed."""
        mirror = self.opened or PlainRelation(self.name, self.arity)
        if len(dead):
            mirror.begin()
            mirror.retract(dead)
            mirror.commit()
        _take_in(mirror, more)
        if self.updating:
            mirror.begin()
            mirror.retract(gone)
            _take_in(mirror, come)
        self.mirror, self.based = mirror, True

    def take_up(self, old: LocalTable, delta: Iterable[tuple[LocalTable, ModuleId]]) -> None:
        """Have a mirror in the middle of a fixpoint: I, and Δ by source."""
        self.mirror = PlainRelation(self.name, self.arity)
        _take_in(self.mirror, old)
        for rows, source in delta:
            self.mirror.schedule(rows, source)
        self.mirror.derive()
        self._go_ahead()

    def to_spark(self) -> None:
        """Give the mirror up; what was scheduled there is scheduled on Spark."""
        if self.mirror is None:
            return
        self._publish()
        for source, words in self.mirror.scheduled:
            ids = packing.unpack(words, self.mirror.natural, 0, words.shape[1])
            table = DriverTable(self.engine.spark, LocalTable(self.names, ids))
            self.engine.schedule(self.arity, table.frame.select(*self._columns(table)), {self: source})
        self.mirror, self.based = None, False
        self.engine.driver.forget()

    def evict(self) -> None:
        """Make room on the driver: facts that lie there only are written."""
        self.to_spark()
        if self.published and self.base:
            self.base = [self.engine.parts.write(self.arity, self.frame("before"), {self.number})]
        self.published = False

    def _publish(self) -> None:
        """Let the parts be what the mirror is, as frames that need no job."""
        if self.mirror is None or not self.ahead:
            return
        scan, versions = self.mirror.scan, self.mirror.versions
        if not self.based:
            self.base, self.dead = self._part(scan(self.names, "before")), []
        self.gone = self._part(scan(self.names, "gone"))
        self.come = self._part(scan(self.names, "come"))
        self.delta = [
            part
            for source, run in versions.delta
            for part in self._part(matching([Layer(run)], self.names), source)
        ]
        self.leaving, self._nets, self.ahead, self.published = versions.leaving, {}, False, not self.based

    def _part(self, tables: Iterable[LocalTable], source: ModuleId | None = None) -> list[Part]:
        found = list(tables)
        rows = sum(map(len, found))
        if not rows:
            return []
        columns = {"p": np.full(rows, self.number, np.int32)}
        for name in self.names:
            pieces = [table.ids[table.columns.index(name)] for table in found]
            columns[name] = np.concatenate(pieces).astype(np.int64)
        frame, counts = partial(frame_of, self.engine.spark, columns, rows), {self.number: rows}
        return [Part(self.arity, frame, None, counts, relations={self.number}, source=source)]

    def _go_ahead(self) -> None:
        """The mirror has changed: nobody needs the parts any more, but in an update those of what held before it."""
        self.ahead, self.published, self.leaving = True, False, False
        self.delta, self.come, self.gone, self._nets = [], [], [], {}
        if not (self.based and self.updating):
            self.base, self.dead, self.based = [], [], False

    # ---- Reading

    def parts(self, version: Version) -> list[Part]:
        self._publish()
        return super().parts(version)

    def is_plain(self, version: Version) -> bool:
        self._publish()
        return super().is_plain(version)

    def frame(self, version: Version, except_from: ModuleId | None = None) -> DataFrame:
        self._publish()
        return super().frame(version, except_from)

    def size(self, version: Version) -> int:
        return super().size(version) if self.mirror is None else self.mirror.size(version)

    def estimate(self, version: Version) -> Estimate:
        return super().estimate(version) if self.mirror is None else self.mirror.estimate(version)

    # ---- Changing

    def schedule(self, rows: Table, source: ModuleId) -> None:
        found = self.engine.driver.rows_for(self, rows)
        if found is None:
            super().schedule(rows, source)
        else:
            self.engine.driver.mirror_of(self).schedule(found, source)

    def derive(self, leaving: bool = False) -> int:
        self.engine.derive(leaving)
        if self.mirror is None:
            return super().derive(leaving)
        found = self.mirror.derive(leaving)
        if found:
            self._go_ahead()
        return found

    def merge(self) -> None:
        if self.mirror is None:
            super().merge()
        elif self.mirror.size("delta"):
            self.mirror.merge()
            self._go_ahead()

    def spare(self, rows: Table) -> None:
        found = self._here(rows)
        if self.mirror is None or found is None:
            super().spare(rows)
        else:
            self.mirror.spare(found)
            self._go_ahead()

    def retract(self, rows: Table) -> None:
        found = self._here(rows)
        if self.mirror is None or found is None:
            super().retract(rows)
        else:
            self.mirror.retract(found)
            self._go_ahead()

    def _here(self, rows: Table) -> LocalTable | None:
        """The rows on the driver, if the mirror can use them; otherwise it is given up."""
        found = None if self.mirror is None else self.engine.driver.here(rows)
        if found is None:
            self.to_spark()
        return found

    def rest(self) -> None:
        if self.mirror is None:
            super().rest()
        else:
            self.mirror.rest()

    # ---- Updates

    def begin(self) -> None:
        self.engine.lazily = False  # an update wants to know what it changes
        self.engine.driver.begin()
        super().begin()
        if self.mirror is not None:
            self.mirror.begin()

    def commit(self) -> None:
        if self.mirror is None:
            super().commit()
        else:
            self._commit(self.mirror)
        self.engine.tidy()

    def _commit(self, mirror: PlainRelation) -> None:
        changed = mirror.size("gone") or mirror.size("come")
        if mirror.size("after") <= self.engine.driver.local_limit:
            self.based = (
                False  # what is small anyway is better read from here than from parts and their changes
            )
        if changed and self.based:
            for version in ("gone", "come"):
                self._nets[version] = self._part(mirror.scan(self.names, version))
            self.gone, self.come, self.ahead = self._nets["gone"], self._nets["come"], False
            super().commit()
        mirror.commit()
        self._forget()
        if changed and not self.based:
            self._go_ahead()

    def _forget(self) -> None:
        super()._forget()
        self.engine.driver.end()

    def rollback(self) -> None:
        super().rollback()
        if self.mirror is not None:
            self.mirror.rollback()
            self.ahead = self.ahead and not self.based


def _take_in(mirror: PlainRelation, rows: LocalTable) -> None:
    mirror.schedule(rows, FETCHED)
    mirror.derive()
    mirror.merge()
    mirror.rest()


FETCHED: ModuleId = -1
"""The source of facts that came from Spark: nobody asks for it, they are merged at once."""
