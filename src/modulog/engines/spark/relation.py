"""Relations on Spark: which parts of the facts belong to a predicate, in every version.

Facts of one arity live in *parts*, tables (p, c0, c1, …) in which p is the number of a relation; each round
writes one part, for all relations at once. A relation knows which parts hold facts of its `old` and of its
`delta`, and how many: sizes never cost a job.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from modulog.engines.relation import Estimate, Memory, ModuleId, Version
from modulog.engines.schemes import PLAIN
from modulog.engines.spark.table import KeyTable, SparkTable
from modulog.engines.table import Table
from modulog.errors import InternalError

if TYPE_CHECKING:
    from modulog.engines.spark.engine import SparkEngine
    from modulog.engines.spark.fact_files import Part

BYTES_PER_ID = 8
GUESSED = 0.8  # different values, as a power of the number of facts


class SparkRelation:
    """One predicate, as rows of the parts.

    What holds outside updates is `base` without `dead`. Since `begin`, D is in `gone` and A in `come`. With
    `by_source`, parts of Δ are kept apart by the module that gave them.
    """

    listed = takes_facts = True
    scheme, storage = PLAIN, ""
    closing = viewing = None  # facts are only listed

    def __init__(self, engine: SparkEngine, name: str, arity: int, number: int) -> None:
        self.engine, self.name, self.arity, self.number = engine, name, arity, number
        self.base: list[Part] = []
        self.dead: list[Part] = []
        self.delta: list[Part] = []
        self.come: list[Part] = []
        self.gone: list[Part] = []
        self.spared: list[DataFrame] = []
        self.updating = self.leaving = self.by_source = self.intersects = False
        self._nets: dict[str, list[Part]] = {}

    # ---- Reading

    def parts(self, version: Version) -> list[Part]:
        """The parts that make up a version, where parts alone do."""
        match version:
            case "delta":
                return self.delta
            case "before" | "kept":
                return self.base
            case "gone" | "come":
                return self._net(version)
            case "either":
                return [*self.base, *self._net("come")]
            case "all" if not self.leaving:
                return [*self.base, *self.come, *self.delta]
            case _:
                return [*self.base, *self.come]

    def is_plain(self, version: Version) -> bool:
        """Whether a version is exactly the facts of its parts."""
        if version in ("delta", "gone", "come"):
            return True
        if self.dead or (version == "old" and self.leaving):
            return False
        return not self.gone or version in ("before", "either")

    def _net(self, version: Version) -> list[Part]:
        """D \\ A or A \\ D, written once for all who ask."""
        mine, others = (self.gone, self.come) if version == "gone" else (self.come, self.gone)
        if not mine or not others:
            return mine
        if version not in self._nets:
            self._write_nets(version)
        return self._nets[version]

    def _write_nets(self, version: Version) -> None:
        """The same for all relations of the arity that will be asked, too: one job for all."""
        waiting = [
            r
            for r in self.engine.relations
            if r.arity == self.arity and r.gone and r.come and version not in r._nets
        ]
        pairs = [(r, (r.gone, r.come) if version == "gone" else (r.come, r.gone)) for r in waiting]
        rest = [_minus(r._read(mine), r._read(others)) for r, (mine, others) in pairs]
        whole = reduce(DataFrame.unionByName, rest)
        part = self.engine.parts.write(self.arity, whole, {r.number for r in waiting})
        for relation in waiting:
            relation._nets[version] = [part]

    def _read(self, parts: list[Part]) -> DataFrame:
        return self.engine.parts.frame(self.arity, parts, {self.number})

    def frame(self, version: Version, except_from: ModuleId | None = None) -> DataFrame:
        """The facts of a version as (p, c0, c1, …)."""
        if self.is_plain(version):
            return self.engine.parts.frame(self.arity, self.parts(version), {self.number}, except_from)
        before = self._read(self.base)
        if self.dead:
            before = _minus(before, self._read(self.dead))
        if version in ("before", "either"):
            return before.unionByName(self._read(self._net("come"))) if version == "either" else before
        if version == "kept":
            return _minus(before, self._read(self._net("gone"))) if self.gone else before
        after = _minus(before, self._read(self.gone)) if self.gone else before
        after = after.unionByName(self._read(self.come)) if self.come else after
        if version == "old" and self.leaving:
            return _minus(after, self._read(self.delta))
        if version == "all" and not self.leaving and self.delta:
            return after.unionByName(
                self.engine.parts.frame(self.arity, self.delta, {self.number}, except_from)
            )
        return after

    def has(self, version: Version) -> bool:
        return self.size(version) > 0

    def guess(self, version: Version) -> int:
        return self.size(version)

    def size(self, version: Version) -> int:
        self._spare_now()
        before = self._count(self.base) - self._count(self.dead)
        match version:
            case "delta" | "gone" | "come":
                return self._count(self.parts(version))
            case "before":
                return before
            case "kept":
                return before - self._count(self._net("gone"))
            case "either":
                return before + self._count(self._net("come"))
        after = before - self._count(self.gone) + self._count(self.come)
        if version == ("old" if self.leaving else "all"):
            return after + (-1 if self.leaving else 1) * self._count(self.delta)
        return after

    def _count(self, parts: list[Part]) -> int:
        return sum(part.count(self.number) for part in parts)

    def contains(self, rows: Table, version: Version) -> SparkTable:
        assert isinstance(rows, SparkTable)
        facts = self.frame(version)
        asked = [F.col(f"`{name}`").alias(f"_{j}") for j, name in enumerate(rows.columns)]
        pairs = [F.col(f"_{j}") == F.col(f"c{j}") for j in range(self.arity)]
        condition = reduce(lambda a, b: a & b, pairs) if pairs else F.lit(True)
        found = rows.frame.select(*asked).join(facts, condition, "left_semi")
        return SparkTable(
            rows.columns, found.select(*(F.col(f"_{j}").alias(n) for j, n in enumerate(rows.columns)))
        )

    def estimate(self, version: Version) -> Estimate:
        rows = float(self.size(version))
        return Estimate(rows, (rows**GUESSED,) * self.arity)

    def unsorted(self, bound: tuple[int, ...], version: Version) -> int:
        return 0

    # ---- The three beats of a round

    def schedule(self, rows: Table, source: ModuleId) -> None:
        if isinstance(rows, KeyTable) and self.arity:
            self.engine.stage(rows.wait(self, source))
            return
        if isinstance(rows, KeyTable):
            rows = SparkTable((), rows.frame)
        assert isinstance(rows, SparkTable)
        self.engine.schedule(self.arity, rows.frame.select(*self._columns(rows)), {self: source})

    def derive(self, leaving: bool = False) -> int:
        if leaving and not self.updating:
            raise InternalError(f"{self.name}: facts leave inside an update only")
        self.engine.derive(leaving)
        self.leaving = leaving and bool(self.delta)
        return self._count(self.delta)

    def merge(self) -> None:
        self._spare_now()
        if self.leaving:
            self._leave(self.delta)
        elif self.delta:
            (self.come if self.updating else self.base).extend(self.delta)
        self._nets = {} if self.delta else self._nets
        self.delta, self.leaving = [], False

    def _leave(self, parts: list[Part]) -> None:
        """Facts of `after`: those of A leave A, the others join D."""
        if self.come:
            asked, came = self._read(parts), self._read(self.come)
            stay = self.engine.parts.write(self.arity, _minus(came, asked), {self.number})
            if stay.count(self.number) < self._count(self.come):
                parts = [self.engine.parts.write(self.arity, _minus(asked, came), {self.number})]
                self.come = [stay] if stay.count(self.number) else []
        self.gone = [*self.gone, *(part for part in parts if part.count(self.number))]

    def spare(self, rows: Table) -> None:
        assert isinstance(rows, SparkTable)
        if self.leaving:
            self.spared.append(rows.frame.select(*self._columns(rows)))

    def _spare_now(self) -> None:
        """Take all that is spared out of the leaving Δ, in one job."""
        if self.spared:
            spared, self.spared = self.spared, []
            rest = _minus(self._read(self.delta), reduce(DataFrame.unionByName, spared))
            part = self.engine.parts.write(self.arity, rest, {self.number})
            self.delta = [part] if part.count(self.number) else []
            self.leaving = bool(self.delta)

    def _columns(self, rows: SparkTable) -> list[Any]:
        columns = [F.col(f"`{name}`").cast("long").alias(f"c{j}") for j, name in enumerate(rows.columns)]
        return [F.lit(self.number).cast("int").alias("p"), *columns]

    def rest(self) -> None:
        if not self.updating:
            self.engine.parts.compact(self)

    # ---- Updates

    def begin(self) -> None:
        self.engine.lazily = False  # an update wants to know what it changes
        self.updating, self.gone, self.come, self._nets = True, [], [], {}

    def commit(self) -> None:
        come, gone = self._net("come"), self._net("gone")
        if self.dead and come:
            # A fact that comes back is not dead any more: it has been in the base all the time.
            came, dead = self._read(come), self._read(self.dead)
            write = self.engine.parts.write
            come = [write(self.arity, _minus(came, dead), {self.number})]
            self.dead = [write(self.arity, _minus(dead, came), {self.number})]
        self.base = [part for part in (*self.base, *come) if part.count(self.number)]
        self.dead = [part for part in (*self.dead, *gone) if part.count(self.number)]
        self._forget()
        self.engine.parts.compact(self)
        self.engine.tidy()

    def rollback(self) -> None:
        self.delta, self.leaving, self.spared = [], False, []
        self.engine.forget_scheduled(self)
        self._forget()

    def _forget(self) -> None:
        self.updating, self.gone, self.come, self._nets = False, [], [], {}

    def memory(self) -> Memory:
        held = self.size("all") * (self.arity + 1) * BYTES_PER_ID
        return Memory(held, held)


def _minus(a: DataFrame, b: DataFrame) -> DataFrame:
    return a.join(b, a.columns, "left_anti")
