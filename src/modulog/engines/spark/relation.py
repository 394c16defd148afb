"""Relations on Spark: which parts of the facts belong to a predicate, in every version.

Facts of one arity live in *parts*, tables (p, c0, c1, …) in which p is the number of a relation; each round writes one part, for all relations
at once. A relation knows which parts hold facts of its `old` and of its `delta`, and how many: sizes never cost a job.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from modulog.engines.local.relation import PlainRelation
from modulog.engines.protocol import Argument, Estimate, Memory, ModuleId, Read, Table, Version
from modulog.errors import InternalError

if TYPE_CHECKING:
    from modulog.engines.spark.engine import SparkEngine
    from modulog.engines.spark.parts import Part

BYTES_PER_ID = 8
WEIGHT = "#"


class SparkTable:
    """A data frame of ids; its size is found at the first question and remembered."""

    def __init__(
        self, columns: tuple[str, ...], frame: DataFrame, size: int | None = None, weighted: bool = False
    ) -> None:
        self.columns, self.frame, self.weighted, self._size = columns, frame, weighted, size

    def __len__(self) -> int:
        if self._size is None:
            self._size = int(self.frame.count())
        return self._size

    def batches(self) -> Iterator[Any]:
        import pyarrow as pa

        frame = (
            self.frame
            if self.columns or self.weighted
            else self.frame.select(F.lit(1).cast("long").alias(WEIGHT))
        )
        yield from pa.Table.to_batches(frame.toArrow())


class KeyTable:
    """Facts that have no ids yet: a frame of keys k0, k1, …, encoded together with all others when somebody reads."""

    def __init__(self, arity: int, keys: DataFrame) -> None:
        self.columns, self.keys = tuple(f"c{j}" for j in range(arity)), keys

    def __len__(self) -> int:
        return int(self.keys.count())

    def batches(self) -> Iterator[Any]:
        raise InternalError("facts without ids cannot be read")


class SparkRelation:
    """One predicate, as rows of the parts."""

    def __init__(self, engine: SparkEngine, name: str, arity: int, number: int) -> None:
        self.engine, self.name, self.arity, self.number = engine, name, arity, number
        self.base: list[Part] = []
        self.delta: list[Part] = []
        self.come: list[Part] = []
        self.gone: DataFrame | None = None
        self.weights: DataFrame | None = None
        self.updating = False
        self.mirror: PlainRelation | None = None  # the facts on the driver
        self.local = False  # the mirror decides, there are no parts

    # ---- Reading

    def parts(self, version: Version) -> list[Part]:
        """The parts that make up a version, where parts alone do."""
        if self.local:
            self.engine.driver.publish(self)
        match version:
            case "delta":
                return self.delta
            case "before":
                return self.base
            case "all":
                return [*self.base, *self.come, *self.delta]
            case "old" | "either" | "after" | "kept":
                return [*self.base, *self.come]
            case _:
                raise InternalError(f"{self.name}: {version} is not made of parts")

    def is_plain(self, version: Version) -> bool:
        """Whether a version is exactly the facts of its parts."""
        if self.weights is not None:
            return False
        if not self.updating:
            return version not in ("gone", "come")
        return version in ("delta", "before") or (
            self.gone is None and version in ("old", "all", "after", "kept")
        )

    def frame(self, version: Version, except_from: ModuleId | None = None) -> DataFrame:
        """The facts of a version as (p, c0, c1, …)."""
        if self.is_plain(version):
            return self.engine.parts.frame(self.arity, self.parts(version), {self.number}, except_from)
        return self._composed(version)

    def _composed(self, version: Version) -> DataFrame:
        """Versions that subtract: the definitions of the protocol, word by word."""
        read = self.engine.parts.frame
        base, come = self._present(), read(self.arity, self.come, {self.number})
        gone = self.gone if self.gone is not None else base.limit(0)
        match version:
            case "old" | "after":
                return _union(_minus(base, gone), come)
            case "all":
                return _union(_union(_minus(base, gone), come), read(self.arity, self.delta, {self.number}))
            case "kept":
                return _minus(base, _minus(gone, come))
            case "gone":
                return _minus(gone, come)
            case "come":
                return _minus(come, gone)
            case "either":
                return _union(base, come)
            case "before":
                return base
            case "delta":
                return read(self.arity, self.delta, {self.number})

    def _present(self) -> DataFrame:
        """The facts of the base: those whose weights sum above zero."""
        plain = self.engine.parts.frame(self.arity, self.base, {self.number})
        if self.weights is None:
            return plain
        keys = plain.columns
        weighted = plain.withColumn(WEIGHT, F.lit(1).cast("long")).unionByName(self.weights)
        return (
            weighted.groupBy(*keys).agg(F.sum(WEIGHT).alias(WEIGHT)).filter(F.col(WEIGHT) > 0).select(*keys)
        )

    def size(self, version: Version) -> int:
        if self.local:
            return self.mirror.size(version) if self.mirror is not None else 0
        if self.is_plain(version):
            return sum(part.count(self.number) for part in self.parts(version))
        return self.frame(version).count()

    def scan(self, args: tuple[Argument, ...], version: Version) -> Iterator[SparkTable]:
        yield from self.engine.evaluate(Read(self, args, version))

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

    def count(self, args: tuple[Argument, ...], version: Version, by: int | None = None) -> SparkTable:
        free = tuple(f"#{j}" if j == by else f"_{j}" if a is None else a for j, a in enumerate(args))
        table = next(self.scan(free, version), None)
        frame = self.engine.nothing if table is None else table.frame
        if by is None:
            return SparkTable((), frame.groupBy().agg(F.count(F.lit(1)).alias(WEIGHT)), 1, True)
        column = f"#{by}"
        return SparkTable(
            (column,), frame.groupBy(F.col(f"`{column}`")).agg(F.count(F.lit(1)).alias(WEIGHT)), None, True
        )

    def distinct(self, column: int, version: Version) -> SparkTable:
        frame = self.frame(version).select(F.col(f"c{column}").alias(f"#{column}")).distinct()
        return SparkTable((f"#{column}",), frame)

    def estimate(self, version: Version) -> Estimate:
        if self.local and self.mirror is not None:
            return self.mirror.estimate(version)
        rows = (
            float(sum(p.count(self.number) for p in self.parts(version)))
            if self.is_plain(version)
            else 1000.0
        )
        return Estimate(rows, (rows**0.8,) * self.arity)

    def unsorted(self, bound: tuple[int, ...], version: Version) -> int:
        return 0

    # ---- The three beats of a round

    def schedule(self, rows: Table, source: ModuleId) -> None:
        number = F.lit(self.number).cast("int").alias("p")
        if isinstance(rows, KeyTable):
            self.engine.stage(
                self.arity, rows.keys.select(number, *(f"k{j}" for j in range(self.arity))), {self: source}
            )
            return
        assert isinstance(rows, SparkTable)
        columns = [F.col(f"`{name}`").cast("long").alias(f"c{j}") for j, name in enumerate(rows.columns)]
        self.engine.schedule(self.arity, rows.frame.select(number, *columns), {self: source})

    def derive(self) -> int:
        self.engine.derive()
        if self.local and self.mirror is not None:
            return self.mirror.derive()
        self.mirror = None if self.delta else self.mirror
        return sum(part.count(self.number) for part in self.delta)

    def merge(self) -> None:
        if self.local and self.mirror is not None:
            self.mirror.merge()
            return
        (self.come if self.updating else self.base).extend(self.delta)
        self.delta = []

    def rest(self) -> None:
        if self.local:
            self.engine.driver.publish(self)
        elif not self.updating:
            self.engine.parts.compact(self)

    # ---- Weights and updates

    def adjust(self, rows: Table) -> None:
        assert isinstance(rows, SparkTable)
        if self.updating:
            raise InternalError(f"{self.name}: weights change outside updates only")
        columns = [F.col(f"`{name}`").cast("long").alias(f"c{j}") for j, name in enumerate(rows.columns)]
        weight = F.col(WEIGHT) if rows.weighted else F.lit(1).cast("long")
        frame = rows.frame.select(F.lit(self.number).cast("int").alias("p"), *columns, weight.alias(WEIGHT))
        self.weights = frame if self.weights is None else self.weights.unionByName(frame)

    def retract(self, rows: Table) -> None:
        if not self.updating:
            raise InternalError(f"{self.name}: retract outside an update")
        assert isinstance(rows, SparkTable)
        columns = [F.col(f"`{name}`").cast("long").alias(f"c{j}") for j, name in enumerate(rows.columns)]
        asked = rows.frame.select(F.lit(self.number).cast("int").alias("p"), *columns).distinct()
        if self.come:
            # What came in this update has not been there before: it only leaves A again.
            came = self.engine.parts.frame(self.arity, self.come, {self.number})
            self.come = [self.engine.parts.write(self.arity, _minus(came, asked), {self.number})]
        base = self._present()
        lost = asked.join(base, base.columns, "left_semi")
        self.gone = lost if self.gone is None else _union(self.gone, lost)

    def begin(self) -> None:
        self.updating, self.gone, self.come = True, None, []

    def commit(self) -> None:
        if self.gone is not None:
            after = self._composed("after")
            self.base, self.weights = [self.engine.parts.write(self.arity, after, {self.number})], None
        else:
            self.base = [*self.base, *self.come]
        self.updating, self.gone, self.come = False, None, []

    def rollback(self) -> None:
        self.updating, self.gone, self.come, self.delta = False, None, [], []
        self.engine.forget_scheduled(self)

    def memory(self) -> Memory:
        held = sum(part.count(self.number) for part in self.parts("all")) * (self.arity + 1) * BYTES_PER_ID
        return Memory(held, held)


def _union(a: DataFrame, b: DataFrame) -> DataFrame:
    return a.unionByName(b).distinct()


def _minus(a: DataFrame, b: DataFrame) -> DataFrame:
    return a.join(b, a.columns, "left_anti")
