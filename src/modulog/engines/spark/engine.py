"""The SQL engine: rounds of rules over parts of facts, evaluated by all executors of Spark.

`run` only builds plans, one for each shape of rules; the first `derive` after it removes duplicates and known
facts and writes the round's part. While no recursion waits, rounds are put off: nonrecursive strata that
follow one another become one plan. Closures, unions and inverses are listed like everything else. The driver
has sizes of what there is, no facts.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from modulog.algebra import expressions as p
from modulog.engines.engine import Work
from modulog.engines.relation import Counters, ModuleId, Relation
from modulog.engines.schemes import PLAIN, Scheme
from modulog.engines.spark import graphs
from modulog.engines.spark.compile_rules import Compilation, Member, question, rule
from modulog.engines.spark.compute import SparkValues
from modulog.engines.spark.fact_files import Parts
from modulog.engines.spark.relation import SparkRelation
from modulog.engines.spark.table import WEIGHT, SparkCounters, SparkTable, Waiting, encode, frame_of
from modulog.engines.spark.terms import SparkTerms
from modulog.engines.table import Table
from modulog.engines.values import Failures
from modulog.errors import NotSupported
from modulog.spark.errors import translated

MUCH = 1_000_000  # known facts that are worth a job not to shuffle
EBB = 20  # times the facts of the last round


@dataclass(frozen=True, slots=True)
class Scheduled:
    """Facts (p, c0, c1, …) for the next `derive`; `distinct` if none of them is there twice."""

    arity: int
    frame: DataFrame
    heads: dict[SparkRelation, ModuleId]
    distinct: bool = False


def without(relation: SparkRelation, scheduled: Sequence[Scheduled]) -> list[Scheduled]:
    """What is left when the facts of one relation are dropped."""
    kept = []
    for found in scheduled:
        if relation in found.heads:
            heads = {r: source for r, source in found.heads.items() if r is not relation}
            found = replace(found, frame=found.frame.filter(F.col("p") != relation.number), heads=heads)
        if found.heads:
            kept.append(found)
    return kept


def by_source(scheduled: list[Scheduled]) -> Iterator[list[Scheduled]]:
    """What goes into one part: everything, unless a relation keeps its sources apart; explicit first."""
    if not any(relation.by_source for found in scheduled for relation in found.heads):
        yield scheduled
        return
    for source in sorted({source for found in scheduled for source in found.heads.values()}):
        group = []
        for found in scheduled:
            mine = {relation: s for relation, s in found.heads.items() if s == source}
            if mine:
                wanted = [relation.number for relation in mine]
                frame = found.frame.filter(F.col("p").isin(wanted))
                group.append(replace(found, frame=frame, heads=mine))
        yield group


def is_ebbing(relations: Sequence[SparkRelation]) -> bool:
    """Whether much is known and the last round brought little of it: then the next will hardly bring more."""
    last = [(r, (r.come if r.updating else r.base)[-1:]) for r in relations]
    recent = sum(part.count(r.number) for r, parts in last for part in parts)
    return sum(r.size("after") for r in relations) > max(MUCH, EBB * recent)


BROADCAST_LIMIT = 100_000
WRITTEN = 32  # parts and tables that are written before superseded ones are looked for
GROWTH = 2  # how many facts a plan that was put off is guessed to give for each fact it reads
DESCRIPTION = "spark.job.description"


class SparkEngine:
    """Relations as Parquet parts in a folder that executors share."""

    shares_rounds = True
    represents: frozenset[str] = frozenset()

    def __init__(
        self, spark: SparkSession, terms: SparkTerms, folder: str, *, broadcast_limit: int = BROADCAST_LIMIT
    ) -> None:
        self.spark, self.terms, self.broadcast_limit = spark, terms, broadcast_limit
        self.parts, self.values = Parts(spark, folder), SparkValues(spark, terms)
        self.relations: weakref.WeakSet[SparkRelation] = weakref.WeakSet()
        self._tidied = 0
        self._numbered = 0
        self.scheduled: list[Scheduled] = []
        self.staged: list[Waiting] = []
        self.lazily = False

    def relation(self, name: str, arity: int, scheme: Scheme = PLAIN) -> SparkRelation:
        if scheme != PLAIN:
            raise NotSupported(f"the Spark engine has no storage {scheme}")
        return self.restored(name, arity, self.reserve(1))

    def reserve(self, count: int) -> int:
        """The first of so many numbers that no relation has."""
        self._numbered += count
        return self._numbered - count

    def restored(self, name: str, arity: int, number: int) -> SparkRelation:
        """A relation with a number that was reserved for it."""
        made = SparkRelation(self, name, arity, number)
        self.relations.add(made)
        return made

    def counters(self, name: str, arity: int) -> Counters:
        return SparkCounters(self, name, arity)

    def table(self, columns: tuple[str, ...], ids: Any) -> SparkTable:
        array = np.asarray(ids)
        array = array if array.ndim == 2 else array.reshape(len(columns), -1)
        rows = int(array.shape[1])
        named = {name: column.astype(np.int64) for name, column in zip(columns, array, strict=True)}
        return SparkTable(columns, frame_of(self.spark, named, rows), rows)

    @contextmanager
    def described(self, what: str) -> Iterator[None]:
        """Let jobs be shown by Spark under a description; afterwards they have the one that they had."""
        context = self.spark.sparkContext
        with translated():
            before = context.getLocalProperty(DESCRIPTION)
            context.setLocalProperty(DESCRIPTION, what)
        try:
            yield
        finally:
            with suppress(Exception):  # if Java has ended, an error that says so is under way
                context.setLocalProperty(DESCRIPTION, before)  # type: ignore[arg-type]  # None takes it away

    # ---- Rounds

    def run(self, work: Sequence[Work], lazily: bool = False, limit: int | None = None) -> None:
        self.lazily = lazily
        if not lazily:
            self.parts.settle()
        groups: dict[tuple[Any, ...], list[tuple[Work, Member]]] = {}
        for item in work:
            assert isinstance(item.expr, p.Project)
            found = rule(item.expr, spark_relation(item.relation))
            apart = item.source if spark_relation(item.relation).by_source else None
            groups.setdefault((found.shape, apart), []).append((item, found))
        for group in groups.values():
            heads = {spark_relation(item.relation): item.source for item, _ in group}
            arity = next(iter(heads)).arity
            self.schedule(arity, self._compile([found for _, found in group]).heads(), heads)

    def _compile(self, group: Sequence[Member]) -> Compilation:
        return Compilation(self.spark, group, self.facts, self.values, self.broadcast_limit)

    @property
    def failures(self) -> Failures:
        """How often, so far, values could not be compared or had no result; work done twice counts twice."""
        return self.values.failures

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

    def schedule(self, arity: int, frame: DataFrame, heads: Mapping[SparkRelation, ModuleId]) -> None:
        """Facts (p, c0, c1, …) for the next `derive`."""
        self.scheduled.append(Scheduled(arity, frame, dict(heads)))

    def stage(self, waiting: Waiting) -> None:
        """Facts for the next `derive` that still need ids."""
        self.staged.append(waiting)

    def _encode_staged(self) -> None:
        """Give ids to all terms that wait, with one growth of the dictionary, and schedule their facts."""
        staged, self.staged = self.staged, []
        for arity, frame, heads in encode(self.terms, staged):
            self.scheduled.append(Scheduled(arity, frame, heads, distinct=True))

    def forget_scheduled(self, relation: SparkRelation) -> None:
        """Drop what waits for one relation."""
        self.scheduled = without(relation, self.scheduled)
        rest = [item.without(relation) for item in self.staged]
        self.staged = [item for item in rest if item.wanted]

    def derive(self, leaving: bool = False) -> None:
        """Turn all that was scheduled, to come or to leave, into the next delta of every relation."""
        with translated():
            if self.staged:
                self._encode_staged()
            scheduled, self.scheduled = self.scheduled, []
            for arity in sorted({found.arity for found in scheduled}):
                for group in by_source([found for found in scheduled if found.arity == arity]):
                    self._derive(arity, group, leaving)

    def settle(self) -> None:
        """Evaluate what was put off, and delete what nobody reads any more."""
        with translated():
            self.parts.settle()
            self.parts.release(self.relations)
            self.terms.release()

    def tidy(self) -> None:
        """Between updates, now and then: delete what nobody reads any more."""
        waits = self.staged or self.scheduled or self.parts.lazy
        if not waits and self.parts.writes - self._tidied >= WRITTEN:
            self._tidied = self.parts.writes
            with translated():
                self.parts.release(self.relations)
                self.terms.release()

    def _derive(self, arity: int, group: Sequence[Scheduled], leaving: bool) -> None:
        heads = {relation: source for found in group for relation, source in found.heads.items()}
        new = reduce(DataFrame.unionByName, [found.frame for found in group])
        if len(group) > 1 or not group[0].distinct:
            new = new.distinct()
        there = [relation for relation in heads if relation.size("after")]
        if leaving and not there:
            return
        if there:
            known = reduce(DataFrame.unionByName, [relation.frame("after") for relation in there])
            if not self.lazily and is_ebbing(there):
                found = self.parts.keep(tuple(new.columns), new, False)
                new, known = found.frame, self._near(found, known)
            new = new.join(known, new.columns, "left_semi" if leaving else "left_anti")
        earlier = [relation for relation in heads if relation.delta]
        if earlier:
            before = reduce(DataFrame.unionByName, [relation.frame("delta") for relation in earlier])
            new = new.join(before, new.columns, "left_anti")
        numbers = {relation.number for relation in heads}
        if self.lazily:
            part = self.parts.put_off(arity, new, numbers, self._guess())
        else:
            part = self.parts.write(arity, new, numbers)
        sources = set(heads.values())
        part.source = sources.pop() if len(sources) == 1 else None
        for relation in heads:
            if part.count(relation.number):
                relation.delta.append(part)

    def _near(self, found: SparkTable, known: DataFrame) -> DataFrame:
        """Of all that is known what equals one of a few candidates: it is read, but not shuffled."""
        if len(found) > self.broadcast_limit:
            return known
        return known.join(F.broadcast(found.frame), list(found.columns), "left_semi")

    def _guess(self) -> int:
        """How many facts a plan may give: a few times what is there."""
        known = (part.counts for r in self.relations for part in r.base if part.counts)
        return max(1, GROWTH * sum(sum(c.values()) for c in known) // max(1, len(self.relations)))

    # ---- Graphs

    def collect(self, expr: p.Expr, limit: int | None = None) -> SparkTable:
        with translated():
            found = self._answers(expr)
            return self.parts.keep(expr.variables, found.frame, found.weighted)

    def ask(self, expr: p.Expr) -> SparkTable:
        with translated():
            return self._answers(expr)

    def _answers(self, expr: p.Expr) -> SparkTable:
        """The plan of an expression as a table that is not evaluated."""
        self.parts.settle()
        found = self._compile([question(expr)]).answers()
        columns = [f"`{name}`" for name in expr.variables] + ([f"`{WEIGHT}`"] if found.weighted else [])
        return SparkTable(expr.variables, found.frame.select(*columns), None, found.weighted)

    def snapshot(self, read: p.Read) -> Table:
        plain = read.except_from is None and len(read.variables) == len(read.args)
        relation = spark_relation(read.relation)
        if not plain or not relation.is_plain(read.version):
            return self.collect(read)
        columns = [F.col(f"c{j}").alias(name) for j, name in enumerate(read.variables)]
        frame = relation.frame(read.version).select(*columns)
        parts = relation.parts(read.version)
        return self.parts.share(read.variables, frame, relation.size(read.version), parts)

    def reach(self, seeds: p.Expr, graph: p.Expr) -> Iterator[SparkTable]:
        yield graphs.reach(self, seeds, graph)

    def components(self, edges: p.Expr) -> SparkTable:
        return graphs.components(self, self.collect(edges))

    def gathers(self, rows: int) -> bool:
        return rows <= self.broadcast_limit

    # ---- Queries

    def evaluate(self, expr: p.Expr, limit: int | None = None) -> Iterator[SparkTable]:
        self.settle()
        found = self._answers(expr)
        if limit is not None:
            found.frame = found.frame.limit(limit)
        yield found

    def count(self, expr: p.Expr) -> int:
        if isinstance(expr, p.Read) and len(expr.variables) == len(expr.args) and expr.except_from is None:
            return expr.relation.size(expr.version)
        self.settle()
        found = self._answers(expr)
        if found.weighted:
            return int(found.frame.agg(F.sum(f"`{WEIGHT}`")).collect()[0][0] or 0)
        return int(found.frame.count())

    def close(self) -> None:
        self.parts.folder.delete()


def spark_relation(relation: Relation) -> SparkRelation:
    """A relation of this engine."""
    assert isinstance(relation, SparkRelation)
    return relation
