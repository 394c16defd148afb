"""Small strata on the driver: while all facts that rules read fit under `local_limit`, the local engine evaluates them, in updates too.

Facts that are on Spark are fetched once, those of all relations that are needed in one job. When a relation outgrows the limit, or a rule reads
one that does not fit, Spark goes on from there. An update of a store with up to `update_limit` facts takes place here as a whole: the driver reads the files of
the store itself, those of the relations that the change reaches.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from pyspark.sql import DataFrame

from modulog.engines import protocol as p
from modulog.engines.defaults import as_joins
from modulog.engines.local.engine import LocalEngine
from modulog.engines.local.relation import PlainRelation
from modulog.engines.local.table import LocalTable
from modulog.engines.spark.functions import F
from modulog.engines.spark.mirrored import MirroredRelation
from modulog.engines.spark.mirrored_terms import MirroredTerms
from modulog.engines.spark.needs import Needs, expected_rows, most_rows
from modulog.engines.spark.parts import Part
from modulog.engines.spark.table import DriverTable, KeyTable, SparkTable

if TYPE_CHECKING:
    from modulog.engines.spark.engine import SparkEngine

T = TypeVar("T")
MOST_TERMS = 2**31 - 1
RESULTS = 20  # rows that rules may give here, as a multiple of the limit
MIRRORED = 10  # facts that all mirrors together may hold, as a multiple of the limit
REMEMBERED = 1000  # expressions that are kept as they are evaluated here


class Driver:
    """Decides for each run of rules and each question where it takes place, and keeps the mirrors."""

    def __init__(self, engine: SparkEngine, local_limit: int, update_limit: int) -> None:
        self.engine, self.local_limit, self.update_limit = engine, local_limit, update_limit
        self.limit = local_limit  # the one that holds now
        self.updating = False
        self.terms = MirroredTerms(engine.terms)
        self.local = LocalEngine(self.terms)
        self.mirrored: weakref.WeakSet[MirroredRelation] = weakref.WeakSet()
        self.translated: dict[int, tuple[p.Expr, p.Expr]] = {}

    @property
    def usable(self) -> bool:
        """Whether anything is evaluated here: ids must fit into 32 bits."""
        return bool(self.local_limit) and len(self.engine.terms) <= MOST_TERMS

    def begin(self) -> None:
        """An update begins, or reaches one more relation: may all of it take place here?"""
        if self.updating or not self.usable:
            return
        self.updating = True
        stored = distant = 0
        for relation in self.engine.relations:
            first = relation.base[0] if relation.mirror is None and relation.base else None
            own = (
                0 if first is None or first.opened(relation.number) is None else first.count(relation.number)
            )
            stored, distant = (
                stored + relation.held,
                distant + (relation.held - own) * (relation.mirror is None),
            )
        if stored <= self.update_limit and distant <= MIRRORED * self.local_limit:
            self.limit = max(self.local_limit, self.update_limit)

    def end(self) -> None:
        """The update is over."""
        self.limit, self.updating = self.local_limit, False

    def takes(self, exprs: Iterable[p.Expr], heads: Collection[MirroredRelation] = ()) -> bool:
        """Whether all that expressions read and may give is small enough; then it is here."""
        if not self.usable:
            return False
        wanted = list(exprs)
        needs = Needs(wanted)
        if needs.values and not self.terms.ready:
            return False
        relations = needs.relations.union(heads)
        if not all(r.movable for r in relations) or any(table.size is None for table in needs.tables):
            return False
        if sum(r.held for r in relations) + sum(map(len, needs.tables)) > self.limit:
            return False
        # Of facts that are listed there are few; of those that are represented what is read on the way counts too.
        expected = expected_rows if all(r.listed for r in relations) else most_rows
        if sum(map(expected, wanted)) > RESULTS * self.limit:
            return False
        self._fetch(relations)
        self._make_room(relations)
        return True

    # ---- Evaluating

    def run(self, work: Sequence[p.Work]) -> None:
        """Evaluate the rules over mirrors."""
        for item in work:
            mirrored = p.Work(
                self.mirror_of(mirrored_relation(item.relation)), self._translate(item.expr), item.source
            )
            self.local.run([mirrored])
            item.rows, item.seconds, item.failures = mirrored.rows, mirrored.seconds, mirrored.failures

    def collect(self, expr: p.Expr) -> DriverTable:
        """All rows of an expression."""
        return self.table(self.local.collect(self._translate(expr)))

    def evaluate(self, expr: p.Expr, limit: int | None) -> DriverTable:
        """The first so many rows of an expression."""
        found = list(self.local.evaluate(self._translate(expr), limit))
        columns = found[0].columns if found else expr.variables
        ids = np.concatenate([np.empty((len(columns), 0), np.int32), *(table.ids for table in found)], axis=1)
        weights = [table.weights for table in found if table.weights is not None]
        return self.table(LocalTable(columns, ids, np.concatenate(weights) if weights else None))

    def count(self, expr: p.Expr) -> int:
        """How many rows an expression has."""
        return self.local.count(self._translate(expr))

    def reach(self, seeds: p.Expr, graph: p.Expr) -> list[DriverTable] | None:
        """As the engine's; None if there are too many pairs."""
        found = self.local.reach(self._translate(seeds), self._translate(graph))
        tables = self._bounded((table, len(table)) for table in found)
        return None if tables is None else list(map(self.table, tables))

    def reach_changes(
        self, sources: LocalTable, seeds: p.Expr, graph: p.Expr, known: p.Read
    ) -> list[tuple[DriverTable, DriverTable]] | None:
        """As the engine's; None if there are too many pairs."""
        before = self._translate(known)
        assert isinstance(before, p.Read)
        changes = self.local.reach_changes(sources, self._translate(seeds), self._translate(graph), before)
        pairs = self._bounded((pair, sum(map(len, pair))) for pair in changes)
        return None if pairs is None else [(self.table(lost), self.table(won)) for lost, won in pairs]

    def components(self, edges: p.Expr) -> DriverTable:
        """As the engine's."""
        return self.table(self.local.components(self._translate(edges)))

    def _bounded(self, pieces: Iterator[tuple[T, int]]) -> list[T] | None:
        found, rows = [], 0
        for piece, size in pieces:
            found.append(piece)
            rows += size
            if rows > self.limit:
                return None
        return found

    def table(self, rows: LocalTable) -> DriverTable:
        """Rows of the local engine for everybody."""
        return DriverTable(self.engine.spark, rows)

    # ---- Facts that come here

    def mirror_of(self, relation: MirroredRelation) -> PlainRelation:
        """The relation on the driver; facts on Spark are fetched once."""
        self._fetch([relation])
        assert relation.mirror is not None
        return relation.mirror

    def here(self, rows: p.Table) -> LocalTable | None:
        """The rows of a table, if they are here or few."""
        assert isinstance(rows, SparkTable)
        few = rows.size is not None and rows.size <= self.limit
        return rows.rows() if self.usable and few else None

    def rows_for(self, relation: MirroredRelation, rows: p.Table) -> LocalTable | None:
        """Rows to be scheduled in a mirror; None where Spark must do it: they are there, or the relation would not fit."""
        if not self.usable or not relation.movable or relation.held + self._size(rows) > self.limit:
            return None
        if isinstance(rows, KeyTable):
            if rows.arrays is None or not self.terms.ready:
                return None
            return LocalTable(rows.columns, self.terms.encode(rows.arrays, len(rows)))
        return rows.rows() if isinstance(rows, DriverTable) else None

    def _size(self, rows: p.Table) -> int:
        here = rows.arrays is not None if isinstance(rows, KeyTable) else isinstance(rows, DriverTable)
        return len(rows) if here else self.limit + 1

    def _fetch(self, relations: Iterable[MirroredRelation]) -> None:
        """Give mirrors to relations that have none: one job for all of them."""
        wanted = [relation for relation in relations if relation.mirror is None]
        if not wanted:
            return
        found = self._facts(wanted)
        for relation in wanted:
            relation.adopt(*(found(relation, kind) for kind in range(4)))
            self.mirrored.add(relation)

    def _facts(self, relations: Sequence[MirroredRelation]) -> _Fetched:
        """The facts of relations on Spark that the driver does not read by itself, and in an update D and A."""
        frames = list(self._frames(relations))
        if not frames:
            return _Fetched(None)
        width = max(r.arity for r in relations)
        nothing = F.lit(None).cast("long")
        whole = [
            frame.select(
                F.lit(kind),
                "p",
                *(F.col(c) if c in frame.columns else nothing for c in (f"c{j}" for j in range(width))),
            )
            for kind, frame in frames
        ]
        self.engine.parts.actions += 1
        return _Fetched(reduce(DataFrame.union, whole))

    def _frames(self, relations: Sequence[MirroredRelation]) -> Iterator[tuple[int, DataFrame]]:
        parts = self.engine.parts
        for arity in {r.arity for r in relations}:
            group = [r for r in relations if r.arity == arity]
            opened = [r for r in group if r.opened is not None]
            plain = [r for r in group if not r.dead and r not in opened]
            lists: list[tuple[int, list[MirroredRelation], Iterable[Part]]] = [
                (0, plain, chain.from_iterable(r.base for r in plain)),
                (0, opened, chain.from_iterable(r.base[1:] for r in opened)),
                (1, opened, chain.from_iterable(r.dead for r in opened)),
                (2, group, chain.from_iterable(r.gone for r in group)),
                (3, group, chain.from_iterable(r.come for r in group)),
            ]
            for kind, owners, some in lists:
                if chosen := list(some):
                    yield kind, parts.frame(arity, chosen, {r.number for r in owners})
            yield from ((0, r.frame("before")) for r in group if r.dead and r not in opened)

    def _make_room(self, needed: Collection[MirroredRelation]) -> None:
        """All mirrors together stay within bounds; those that nobody needs now go first."""
        most = max(MIRRORED * self.local_limit, self.update_limit)
        room = most - sum(r.held for r in self.mirrored if r.mirror is not None)
        for relation in list(self.mirrored):
            if room >= 0:
                return
            if relation not in needed and not relation.updating and not relation.size("delta"):
                room += relation.held
                relation.evict()
                self.mirrored.discard(relation)

    # ---- Expressions over mirrors

    def _translate(self, expr: p.Expr) -> p.Expr:
        """The same expression over mirrors, remembered as long as the expression lives and the mirrors are the same."""
        known = self.translated.get(id(expr))
        if known is None:
            if len(self.translated) >= REMEMBERED:
                self.forget()
            known = self.translated[id(expr)] = (expr, self._mirrored(expr))
        return known[1]

    def _mirrored(self, expr: p.Expr) -> p.Expr:
        match expr:
            case p.Read():
                mirror = self.mirror_of(mirrored_relation(expr.relation))
                return p.Read(mirror, expr.args, expr.version, expr.except_from)
            case p.Join() | p.SemiJoin() | p.AntiJoin():
                return type(expr)(self._mirrored(expr.left), self._mirrored(expr.right), expr.variables)
            case p.Where() | p.Extend():
                return replace(expr, child=self._mirrored(expr.child))
            case p.Project():
                return p.Project(self._mirrored(expr.child), expr.args, expr.how)
            case p.Union():
                return p.Union(tuple(map(self._mirrored, expr.parts)))
            case p.Rows():
                assert isinstance(expr.table, SparkTable)
                return p.Rows(expr.table.rows(), expr.names)
            case p.Multiway():
                return self._mirrored(as_joins(expr))

    def forget(self) -> None:
        """Mirrors have changed, or the expressions will not come again."""
        self.translated = {}


class _Fetched:
    """Facts (kind, p, c0, c1, …) on the driver, asked for by relation."""

    def __init__(self, frame: DataFrame | None) -> None:
        self._columns = None
        if frame is not None:
            table = frame.toArrow()
            self._kinds, self._numbers = (table.column(j).to_numpy() for j in (0, 1))
            self._columns = table.columns[2:]

    def __call__(self, relation: MirroredRelation, kind: int) -> LocalTable:
        if self._columns is None:
            return LocalTable(relation.names, np.empty((relation.arity, 0), np.int32))
        rows = np.flatnonzero((self._kinds == kind) & (self._numbers == relation.number))
        ids = np.empty((relation.arity, len(rows)), np.int32)
        for j in range(relation.arity):
            ids[j] = self._columns[j].take(rows).to_numpy()
        return LocalTable(relation.names, ids)


def mirrored_relation(relation: p.Relation) -> MirroredRelation:
    """A relation of this engine."""
    assert isinstance(relation, MirroredRelation)
    return relation
