"""Small strata on the driver: while all facts that rules read fit under `local_limit`, the local engine evaluates them.

A relation that lives here has a *mirror*, a plain relation of the local engine. Facts of other relations are fetched once. When a relation outgrows the
limit, or a rule reads one that does not fit, the mirrors become parts, old and delta each for itself, and Spark goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from modulog.engines import protocol as p
from modulog.engines.local.engine import LocalEngine
from modulog.engines.local.relation import PlainRelation
from modulog.engines.spark.mirrored_terms import MirroredTerms
from modulog.engines.spark.parts import Part
from modulog.engines.spark.relation import SparkRelation

if TYPE_CHECKING:
    from modulog.engines.spark.engine import SparkEngine

MOST_TERMS = 2**31 - 1
FETCHED: p.ModuleId = -1
FIXPOINT = ("old", "delta", "all", "after")  # versions that mean the same on a mirror, outside updates


class Driver:
    """Decides for each run of rules where it takes place, and keeps the mirrors."""

    def __init__(self, engine: SparkEngine, local_limit: int) -> None:
        self.engine, self.local_limit = engine, local_limit
        self.terms = MirroredTerms(engine.terms)
        self.local = LocalEngine(self.terms)
        self.translated: dict[int, tuple[p.Expr, p.Project]] = {}

    def takes(self, work: Sequence[p.Work]) -> bool:
        """Whether all that the rules read and write is small enough, and here already or yet to be fetched."""
        if not self.local_limit or not work or len(self.engine.terms) > MOST_TERMS:
            return False
        relations: set[SparkRelation] = set()
        for item in work:
            found = _relations(item.expr, self.terms.ready)
            if found is None:
                return False
            relations |= found
        heads = {_spark(item.relation) for item in work}
        if any(not head.local and head.size("all") for head in heads):
            return False
        elsewhere = [r for r in relations if not r.local]
        # What is fetched comes as a whole: a relation in the middle of a fixpoint on Spark stays there.
        if any(r.updating or r.delta or any(part.counts is None for part in r.base) for r in elsewhere):
            return False
        return sum(r.size("all") for r in relations | heads) <= self.local_limit

    def run(self, work: Sequence[p.Work]) -> None:
        """Evaluate the rules over mirrors."""
        for item in work:
            _spark(item.relation).local = True
        for item in work:
            mirrored = p.Work(self.mirror(_spark(item.relation)), self._translate(item.expr), item.source)
            self.local.run([mirrored])
            item.rows, item.seconds = mirrored.rows, mirrored.seconds

    def mirror(self, relation: SparkRelation) -> PlainRelation:
        """The relation on the driver; facts on Spark are fetched once."""
        if relation.mirror is None:
            relation.mirror = PlainRelation(relation.name, relation.arity)
            if not relation.local:
                frame = relation.frame("all").select(*(f"c{j}" for j in range(relation.arity)))
                ids = _ids(frame.toArrow(), relation.arity, relation.size("all"))
                relation.mirror.schedule(
                    self.local.table(tuple(f"c{j}" for j in range(relation.arity)), ids), FETCHED
                )
                relation.mirror.derive()
                relation.mirror.merge()
        return relation.mirror

    def publish(self, relation: SparkRelation) -> None:
        """The facts of a mirror as parts; the relation lives on Spark from now on, a finished mirror may still be read."""
        relation.local = False
        if relation.mirror is None:
            return
        relation.base = self._part(relation, "old")
        relation.delta = self._part(relation, "delta")
        if relation.delta:
            relation.mirror = None

    def _part(self, relation: SparkRelation, version: p.Version) -> list[Part]:
        assert relation.mirror is not None
        tables = list(relation.mirror.scan(tuple(f"c{j}" for j in range(relation.arity)), version))
        rows = sum(map(len, tables))
        if not rows:
            return []
        columns = {"p": pa.array(np.full(rows, relation.number, np.int32))}
        for j in range(relation.arity):
            columns[f"c{j}"] = pa.array(
                np.concatenate([t.ids[t.columns.index(f"c{j}")] for t in tables]).astype(np.int64)
            )
        frame = self.engine.spark.createDataFrame(pa.table(columns))
        return [Part(relation.arity, frame, None, {relation.number: rows}, relations={relation.number})]

    def _translate(self, expr: p.Expr) -> p.Project:
        """The same expression over mirrors, remembered as long as the expression lives."""
        known = self.translated.get(id(expr))
        if known is None:
            mirrored = self._mirrored(expr)
            assert isinstance(mirrored, p.Project)
            known = self.translated[id(expr)] = (expr, mirrored)
        return known[1]

    def _mirrored(self, expr: p.Expr) -> p.Expr:
        match expr:
            case p.Read():
                return p.Read(self.mirror(_spark(expr.relation)), expr.args, expr.version, expr.except_from)
            case p.Join() | p.SemiJoin() | p.AntiJoin():
                return type(expr)(self._mirrored(expr.left), self._mirrored(expr.right), expr.variables)
            case p.Where() | p.Extend():
                return replace(expr, child=self._mirrored(expr.child))
            case p.Project():
                return p.Project(self._mirrored(expr.child), expr.args, expr.how)
            case p.Union():
                return p.Union(tuple(map(self._mirrored, expr.parts)))
            case p.Rows():
                return p.Rows(self.local.table((), np.empty((0, len(expr.table)), np.int32)))

    def forget(self) -> None:
        """The stratum is done: its expressions will not come again."""
        self.translated = {}


def _ids(table: pa.Table, arity: int, rows: int) -> np.ndarray:
    if not arity:
        return np.empty((0, rows), np.int32)
    return np.stack([column.to_numpy() for column in table.columns]).astype(np.int32)


def _relations(expr: p.Expr, values: bool) -> set[SparkRelation] | None:
    """The relations that an expression reads; None if it needs rows that are on Spark, or values that are not here."""
    match expr:
        case p.Read():
            relation = _spark(expr.relation)
            return {relation} if expr.version in FIXPOINT and not relation.updating else None
        case p.Where() if expr.condition.operator != "is" and not values:
            return None
        case p.Extend(value=p.Compute()) if not values:
            return None
        case p.Rows() if expr.variables:
            return None
        case p.Rows():
            return set()
    parts = [getattr(expr, name) for name in ("left", "right", "child") if hasattr(expr, name)]
    found: set[SparkRelation] = set()
    for part in (*parts, *getattr(expr, "parts", ())):
        inner = _relations(part, values)
        if inner is None:
            return None
        found |= inner
    return found


def _spark(relation: p.Relation) -> SparkRelation:
    assert isinstance(relation, SparkRelation)
    return relation
