"""The Spark engine: rounds of rules over parts of facts.

`run` only builds plans, one for each shape of rules; the first `derive` after it removes duplicates and known facts and writes the round's part.
While no recursion waits, rounds are put off: nonrecursive strata that follow one another become one plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from modulog.engines import protocol as p
from modulog.engines.spark import graphs
from modulog.engines.spark.computing import SparkValues
from modulog.engines.spark.counters import SparkCounters
from modulog.engines.spark.driver import Driver
from modulog.engines.spark.errors import translated
from modulog.engines.spark.parts import Parts
from modulog.engines.spark.relation import WEIGHT, SparkRelation, SparkTable
from modulog.engines.spark.rules import Compilation, Member, question, rule
from modulog.engines.spark.terms import SparkTerms
from modulog.errors import NotSupported

LOCAL_LIMIT = 100_000
BROADCAST_LIMIT = 100_000
GROWTH = 2  # how many facts a plan that was put off is guessed to give for each fact it reads


@dataclass(frozen=True, slots=True)
class Staged:
    """Facts of some relations whose terms have no ids yet."""

    arity: int
    keys: DataFrame
    heads: dict[SparkRelation, p.ModuleId]
    cheap: bool


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
        self._numbered = 0
        self.scheduled: list[tuple[int, DataFrame, dict[SparkRelation, p.ModuleId]]] = []
        self.staged: list[Staged] = []
        self.values = SparkValues(spark, terms)
        self.lazily = False

    @property
    def nothing(self) -> DataFrame:
        """A frame without rows."""
        return self.spark.createDataFrame([], "c0 bigint")

    def relation(self, name: str, arity: int, scheme: str = "plain") -> SparkRelation:
        if scheme != "plain":
            raise NotSupported(f"the Spark engine has no storage scheme {scheme!r}")
        return self.restored(name, arity, self.reserve(1))

    def reserve(self, count: int) -> int:
        """The first of so many numbers that no relation has."""
        self._numbered += count
        return self._numbered - count

    def restored(self, name: str, arity: int, number: int) -> SparkRelation:
        """A relation with a number that was reserved for it."""
        self.relations.append(SparkRelation(self, name, arity, number))
        return self.relations[-1]

    def counters(self, name: str, arity: int) -> p.Counters:
        return SparkCounters(self, name, arity)

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
            apart = item.source if spark_relation(item.relation).by_source else None
            groups.setdefault((found.shape, apart), []).append((item, found))
        for group in groups.values():
            frame = self._compile([found for _, found in group]).heads()
            heads = {spark_relation(item.relation): item.source for item, _ in group}
            self.schedule(next(iter(heads)).arity, frame, heads)

    def _compile(self, group: Sequence[Member]) -> Compilation:
        return Compilation(self.spark, group, self.facts, self.values, self.broadcast_limit)

    @property
    def failures(self) -> p.Failures:
        """How often, so far, values could not be compared or had no result; what Spark evaluates twice counts twice."""
        return self.values.failures + self.driver.local.failures

    @property
    def actions(self) -> int:
        """How many jobs were asked for so far: parts written, terms numbered, counts."""
        return self.parts.actions + self.terms.actions

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

    def stage(
        self, arity: int, keys: DataFrame, heads: Mapping[SparkRelation, p.ModuleId], *, cheap: bool = False
    ) -> None:
        """Facts (p, k0, k1, …) that still need ids; those that are cheap to evaluate twice are not written before."""
        self.staged.append(Staged(arity, keys, dict(heads), cheap))

    def _encode_staged(self) -> None:
        """Give ids to all terms that wait, with one growth of the dictionary, and schedule their facts."""
        staged, self.staged = self.staged, []
        arities = sorted({item.arity for item in staged})
        ready: list[list[DataFrame]] = [[s.keys for s in staged if s.arity == a and s.cheap] for a in arities]
        for arity, frames in zip(arities, ready, strict=True):
            if costly := [s.keys for s in staged if s.arity == arity and not s.cheap]:
                frames += self.terms.stage([reduce(DataFrame.union, costly)])
        together = [reduce(DataFrame.union, frames) for frames in ready]
        for arity, frame in zip(arities, self.terms.encode_all(together), strict=True):
            heads = {r: s for item in staged if item.arity == arity for r, s in item.heads.items()}
            self.schedule(arity, frame.select("p", *(f"c{j}" for j in range(arity))), heads)

    def forget_scheduled(self, relation: SparkRelation) -> None:
        """Drop what waits for one relation."""
        kept = []
        for arity, frame, heads in self.scheduled:
            heads.pop(relation, None)
            if heads:
                kept.append((arity, frame.filter(F.col("p") != relation.number), heads))
        self.scheduled = kept

    def derive(self, leaving: bool = False) -> None:
        """Turn what was scheduled, all of it to come or all of it to leave, into the next delta of every relation it speaks of."""
        with translated():
            if self.staged:
                self._encode_staged()
            scheduled, self.scheduled = self.scheduled, []
            for arity in sorted({arity for arity, _, _ in scheduled}):
                frames = [(frame, heads) for a, frame, heads in scheduled if a == arity]
                for group in _by_source(frames):
                    heads = {relation: source for _, of in group for relation, source in of.items()}
                    self._derive(arity, [frame for frame, _ in group], heads, leaving)

    def settle(self) -> None:
        """Evaluate what was put off, and delete what nobody reads any more."""
        with translated():
            self.parts.settle()
            self.parts.release(self.relations)
            if not self.staged and not self.scheduled:
                self.terms.release()

    def _derive(
        self, arity: int, frames: list[DataFrame], heads: dict[SparkRelation, p.ModuleId], leaving: bool
    ) -> None:
        numbers = {relation.number for relation in heads}
        new = reduce(DataFrame.unionByName, frames).distinct()
        there = [relation for relation in heads if relation.size("after")]
        if leaving and not there:
            return
        if there:
            known = reduce(DataFrame.unionByName, [relation.frame("after") for relation in there])
            new = new.join(known, new.columns, "left_semi" if leaving else "left_anti")
        earlier = [relation for relation in heads if relation.delta]
        if earlier:
            before = reduce(DataFrame.unionByName, [relation.frame("delta") for relation in earlier])
            new = new.join(before, new.columns, "left_anti")
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

    # ---- Graphs

    def collect(self, expr: p.Expr) -> SparkTable:
        with translated():
            self.parts.settle()
            found = self._compile([question(expr)]).answers()
            columns = [f"`{name}`" for name in expr.variables] + ([f"`{WEIGHT}`"] if found.weighted else [])
            return self.parts.keep(expr.variables, found.frame.select(*columns), found.weighted)

    def reach(self, seeds: p.Expr, graph: p.Expr) -> Iterator[SparkTable]:
        yield graphs.reach(self, seeds, graph)

    def reach_changes(
        self, sources: p.Table, seeds: p.Expr, graph: p.Expr, known: p.Read
    ) -> Iterator[tuple[SparkTable, SparkTable]]:
        some = p.Rows(sources)
        now = graphs.reach(self, p.SemiJoin(seeds, some, seeds.variables), graph)
        before = self.collect(p.Project(p.SemiJoin(known, some, known.variables), ("s", "t"), "keep"))
        pairs = ["s", "t"]
        lost, won = (
            self.parts.keep(("s", "t"), a.frame.join(b.frame, pairs, "left_anti").select(*pairs), False)
            for a, b in ((before, now), (now, before))
        )
        yield lost, won

    def components(self, edges: p.Expr) -> SparkTable:
        return self.table(("x", "c"), graphs.components(self.collect(edges)))

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


def _by_source(
    frames: list[tuple[DataFrame, dict[SparkRelation, p.ModuleId]]],
) -> Iterator[list[tuple[DataFrame, dict[SparkRelation, p.ModuleId]]]]:
    """What goes into one part: everything, unless a relation keeps its sources apart; what is explicit comes first."""
    if not any(relation.by_source for _, heads in frames for relation in heads):
        yield frames
        return
    for source in sorted({source for _, heads in frames for source in heads.values()}):
        group = []
        for frame, heads in frames:
            mine = {relation: s for relation, s in heads.items() if s == source}
            if mine:
                wanted = [relation.number for relation in mine]
                group.append((frame.filter(F.col("p").isin(wanted)), mine))
        yield group


def spark_relation(relation: p.Relation) -> SparkRelation:
    """A relation of this engine."""
    assert isinstance(relation, SparkRelation)
    return relation
