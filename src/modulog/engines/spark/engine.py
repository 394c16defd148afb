"""The Spark engine: rounds of rules over parts of facts.

`run` only builds plans, one for each shape of rules; the first `derive` after it removes duplicates and known facts and writes the round's part.
While no recursion waits, rounds are put off: nonrecursive strata that follow one another become one plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from modulog.engines import protocol as p
from modulog.engines.spark.driver import Driver
from modulog.engines.spark.errors import translated
from modulog.engines.spark.parts import Parts
from modulog.engines.spark.relation import SparkRelation, SparkTable
from modulog.engines.spark.rules import Compilation, Member, question, rule
from modulog.engines.spark.terms import SparkTerms
from modulog.errors import NotSupported

LOCAL_LIMIT = 100_000
BROADCAST_LIMIT = 100_000
GROWTH = 2  # how many facts a plan that was put off is guessed to give for each fact it reads


class SparkEngine:
    """Relations as Parquet parts in a folder that executors share."""

    shares_rounds = True

    def __init__(
        self,
        spark: SparkSession,
        terms: SparkTerms,
        folder: str,
        *,
        local_limit: int = LOCAL_LIMIT,
        broadcast_limit: int = BROADCAST_LIMIT,
    ) -> None:
        self.spark, self.terms, self.broadcast_limit = spark, terms, broadcast_limit
        self.parts = Parts(spark, folder)
        self.driver = Driver(self, local_limit)
        self.relations: list[SparkRelation] = []
        self.scheduled: list[tuple[int, DataFrame, dict[SparkRelation, p.ModuleId]]] = []
        self.staged: list[tuple[int, DataFrame, dict[SparkRelation, p.ModuleId]]] = []
        self._incomparable = spark.sparkContext.accumulator(0)
        self.lazily = False

    @property
    def nothing(self) -> DataFrame:
        """A frame without rows."""
        return self.spark.createDataFrame([], "c0 bigint")

    def relation(self, name: str, arity: int, scheme: str = "plain") -> SparkRelation:
        if scheme != "plain":
            raise NotSupported(f"the Spark engine has no storage scheme {scheme!r}")
        self.relations.append(SparkRelation(self, name, arity, len(self.relations)))
        return self.relations[-1]

    def table(self, columns: tuple[str, ...], ids: Any) -> SparkTable:
        array = np.asarray(ids)
        if not columns:
            return SparkTable((), self.spark.range(array.shape[1]).select(), int(array.shape[1]))
        rows = [tuple(map(int, row)) for row in array.reshape(len(columns), -1).T]
        schema = ", ".join(f"`{name}` bigint" for name in columns)
        return SparkTable(columns, self.spark.createDataFrame(rows, schema), len(rows))

    # ---- Rounds

    def run(self, work: Sequence[p.Work], lazily: bool = False) -> None:
        if self.driver.takes(work):
            self.driver.run(work)
            return
        self.driver.forget()
        for relation in self.relations:
            if relation.local:
                self.driver.publish(relation)
        self.lazily = lazily
        if not lazily:
            self.parts.settle()
        groups: dict[tuple[Any, ...], list[tuple[p.Work, Member]]] = {}
        for item in work:
            assert isinstance(item.expr, p.Project)
            found = rule(item.expr, spark_relation(item.relation))
            groups.setdefault(found.shape, []).append((item, found))
        for group in groups.values():
            frame = self._compile([found for _, found in group]).heads()
            heads = {spark_relation(item.relation): item.source for item, _ in group}
            self.schedule(next(iter(heads)).arity, frame, heads)

    def _compile(self, group: Sequence[Member]) -> Compilation:
        return Compilation(self.spark, group, self.facts, self._compare, self.broadcast_limit)

    def _compare(self, frame: DataFrame, operator: str, left: str | int, right: str | int) -> DataFrame:
        return self.terms.compare(frame, operator, left, right, self._incomparable)

    @property
    def incomparable(self) -> int:
        """How many comparisons so far had values that cannot be compared; what Spark evaluates twice counts twice."""
        return int(self._incomparable.value)

    def facts(self, reads: Sequence[p.Read]) -> DataFrame:
        """The facts that reads of one version need."""
        version, except_from = reads[0].version, reads[0].except_from
        relations = list(dict.fromkeys(spark_relation(read.relation) for read in reads))
        plain = [r for r in relations if r.is_plain(version)]
        frames = [r.frame(version) for r in relations if not r.is_plain(version)]
        if plain:
            parts = chain.from_iterable(r.parts(version) for r in plain)
            frames.append(self.parts.frame(plain[0].arity, parts, {r.number for r in plain}, except_from))
        return reduce(DataFrame.unionByName, frames)

    def schedule(self, arity: int, frame: DataFrame, heads: Mapping[SparkRelation, p.ModuleId]) -> None:
        """Facts (p, c0, c1, …) for the next `derive`."""
        self.scheduled.append((arity, frame, dict(heads)))

    def stage(self, arity: int, keys: DataFrame, heads: Mapping[SparkRelation, p.ModuleId]) -> None:
        """Facts (p, k0, k1, …) that still need ids."""
        self.staged.append((arity, keys, dict(heads)))

    def _encode_staged(self) -> None:
        """Give ids to all terms that wait, with one growth of the dictionary, and schedule their facts."""
        staged, self.staged = self.staged, []
        arities = sorted({arity for arity, _, _ in staged})
        together = [reduce(DataFrame.union, [f for a, f, _ in staged if a == arity]) for arity in arities]
        for arity, frame in zip(arities, self.terms.encode_all(self.terms.stage(together)), strict=True):
            heads = {r: s for a, _, of in staged if a == arity for r, s in of.items()}
            self.schedule(arity, frame.select("p", *(f"c{j}" for j in range(arity))), heads)

    def forget_scheduled(self, relation: SparkRelation) -> None:
        """Drop what waits for one relation."""
        kept = []
        for arity, frame, heads in self.scheduled:
            heads.pop(relation, None)
            if heads:
                kept.append((arity, frame.filter(F.col("p") != relation.number), heads))
        self.scheduled = kept

    def derive(self) -> None:
        """Turn what was scheduled into the next delta of every relation it speaks of."""
        with translated():
            if self.staged:
                self._encode_staged()
            scheduled, self.scheduled = self.scheduled, []
            for arity in sorted({arity for arity, _, _ in scheduled}):
                frames = [(frame, heads) for a, frame, heads in scheduled if a == arity]
                heads = {relation: source for _, of in frames for relation, source in of.items()}
                self._derive(arity, [frame for frame, _ in frames], heads)

    def settle(self) -> None:
        """Evaluate what was put off, and delete what nobody reads any more."""
        with translated():
            self.parts.settle()
            self.parts.release(self.relations)

    def _derive(self, arity: int, frames: list[DataFrame], heads: dict[SparkRelation, p.ModuleId]) -> None:
        numbers = {relation.number for relation in heads}
        new = reduce(DataFrame.unionByName, frames).distinct()
        there = [relation for relation in heads if relation.size("all")]
        if there:
            known = reduce(DataFrame.unionByName, [relation.frame("all") for relation in there])
            new = new.join(known, new.columns, "left_anti")
        if self.lazily:
            part = self.parts.put_off(arity, new, numbers, self._guess())
        else:
            part = self.parts.write(arity, new, numbers)
        sources = set(heads.values())
        part.source = sources.pop() if len(sources) == 1 else None
        for relation in heads:
            if part.count(relation.number):
                relation.delta.append(part)

    def _guess(self) -> int:
        """How many facts a plan may give: a few times what is there."""
        known = (part.counts for r in self.relations for part in r.base if part.counts)
        return max(1, GROWTH * sum(sum(c.values()) for c in known) // max(1, len(self.relations)))

    # ---- Queries

    def evaluate(self, expr: p.Expr, limit: int | None = None) -> Iterator[SparkTable]:
        self.settle()
        found = self._compile([question(expr)]).answers()
        frame = found.frame if limit is None else found.frame.limit(limit)
        yield SparkTable(found.variables, frame, None, found.weighted)

    def count(self, expr: p.Expr) -> int:
        if isinstance(expr, p.Read) and len(expr.variables) == len(expr.args) and expr.except_from is None:
            return expr.relation.size(expr.version)
        return sum(map(len, self.evaluate(expr)))

    def close(self) -> None:
        self.parts.folder.delete()


def spark_relation(relation: p.Relation) -> SparkRelation:
    """A relation of this engine."""
    assert isinstance(relation, SparkRelation)
    return relation
