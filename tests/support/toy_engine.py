"""The smallest engine that can be written after "To add an engine" in docs/architecture.md: Python sets and loops.

It implements what the protocols leave open and takes every default. Nothing in it is quick.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from modulog.algebra import expressions as p
from modulog.algebra.default_joins import as_joins
from modulog.engines.dictionary_backend import DictionaryBackend
from modulog.engines.engine import Engine, Work
from modulog.engines.relation import Counters, Estimate, Memory, ModuleId, Relation, Version
from modulog.engines.schemes import PLAIN, Scheme
from modulog.engines.table import Table
from modulog.engines.values import Failures, Values
from modulog.errors import InternalError
from support.relation_model import Fact, Model

Bag = list[tuple[Fact, int]]
"""Rows with multiplicities."""


@dataclass(frozen=True)
class ToyTable:
    """Rows as tuples, and perhaps a multiplicity for each."""

    columns: tuple[str, ...]
    rows: list[Fact]
    weights: Any = None

    def __len__(self) -> int:
        return len(self.rows)

    def batches(self) -> Iterator[pa.RecordBatch]:
        arrays = [pa.array([row[j] for row in self.rows], pa.int32()) for j in range(len(self.columns))]
        names = list(self.columns)
        if self.weights is not None or not names:
            weights = [1] * len(self) if self.weights is None else self.weights
            arrays.append(pa.array(weights, pa.int64()))
            names.append("#")
        yield pa.RecordBatch.from_arrays(arrays, names=names)


def bag_of(table: Table) -> Bag:
    """The rows of any table."""
    found: Bag = []
    for batch in table.batches():
        columns = [batch.column(name).to_pylist() for name in table.columns]
        rows = list(zip(*columns, strict=True)) if columns else [()] * batch.num_rows
        has_weights = "#" in batch.schema.names
        weights = batch.column("#").to_pylist() if has_weights else [1] * len(rows)
        found += zip(rows, weights, strict=True)
    return found


class ToyRelation(Relation):
    """The definitions of versions, on sets."""

    def __init__(self, engine: ToyEngine, name: str, arity: int) -> None:
        self.engine, self.name, self.arity, self.model = engine, name, arity, Model()
        self.coming = False  # whether a fixpoint is under way, inside an update, whose facts come

    def facts(self, version: Version, except_from: ModuleId | None = None) -> set[Fact]:
        """The facts of a version, without those that a module has derived itself."""
        found = self.model.version(version)
        if except_from is None:
            return found
        return {f for f in found if except_from not in self.model.sources.get(f, ())}

    def memory(self) -> Memory:
        held = 4 * self.arity * self.size("all")
        return Memory(held, held)

    def size(self, version: Version) -> int:
        return len(self.facts(version))

    def estimate(self, version: Version) -> Estimate:
        facts = self.facts(version)
        distinct = (len({fact[j] for fact in facts}) for j in range(self.arity))
        return Estimate(float(len(facts)), tuple(map(float, distinct)))

    def contains(self, rows: Table, version: Version) -> ToyTable:
        facts = self.facts(version)
        return ToyTable(rows.columns, [row for row, _ in bag_of(rows) if row in facts])

    def schedule(self, rows: Table, source: ModuleId) -> None:
        self.model.schedule((row for row, _ in bag_of(rows)), source)

    def derive(self, leaving: bool = False) -> int:
        if leaving and not self.model.updating:
            raise InternalError(f"{self.name}: facts leave inside an update only")
        if self.model.sources:
            raise InternalError(f"{self.name}: delta must be merged before the next one is derived")
        if leaving and self.coming:
            raise InternalError(f"{self.name}: `rest` must end a fixpoint before facts leave")
        self.coming = self.model.updating and not leaving
        return self.model.derive(leaving)

    def merge(self) -> None:
        self.model.merge()

    def spare(self, rows: Table) -> None:
        if not self.model.leaving:
            raise InternalError(f"{self.name}: only facts that are leaving can be spared")
        self.model.spare(row for row, _ in bag_of(rows))

    def rest(self) -> None:
        self.coming = False

    def begin(self) -> None:
        self.coming = False
        if self.model.updating:
            raise InternalError(f"{self.name}: an update is under way")
        self.model.begin()

    def commit(self) -> None:
        if self.model.leaving and self.model.sources:
            raise InternalError(f"{self.name}: delta must be merged before the update ends")
        self.coming = False
        self.model.commit()

    def rollback(self) -> None:
        self.coming = False
        self.model.rollback()


class ToyCounters(Counters):
    """A `collections.Counter`, and the one before the update."""

    def __init__(self, name: str, arity: int) -> None:
        self.name, self.arity, self.now = name, arity, Counter[Fact]()
        self.before: Counter[Fact] | None = None

    def adjust(self, rows: Table, sign: int = 1) -> None:
        for row, weight in bag_of(rows):
            self.now[row] += sign * weight

    def positive(self, rows: Table) -> ToyTable:
        return ToyTable(rows.columns, [row for row, _ in bag_of(rows) if self.now[row] > 0])

    def items(self) -> Iterator[ToyTable]:
        rows = [row for row, number in self.now.items() if number]
        names = tuple(f"c{j}" for j in range(self.arity))
        yield ToyTable(names, rows, [self.now[row] for row in rows])

    def begin(self) -> None:
        if self.before is not None:
            raise InternalError(f"{self.name}: an update is under way")
        self.before = Counter(self.now)

    def commit(self) -> None:
        self.before = None

    def rollback(self) -> None:
        if self.before is not None:
            self.now, self.before = self.before, None

    def memory(self) -> Memory:
        return Memory(12 * len(self.now), 12 * len(self.now))


class ToyEngine(Engine):
    """Evaluates expressions word for word."""

    def __init__(self, values: Values) -> None:
        self.values, self._failures = values, Failures()

    @property
    def failures(self) -> Failures:
        return self._failures

    def relation(self, name: str, arity: int, scheme: Scheme = PLAIN) -> ToyRelation:
        return ToyRelation(self, name, arity)

    def counters(self, name: str, arity: int) -> ToyCounters:
        return ToyCounters(name, arity)

    def table(self, columns: tuple[str, ...], ids: Any) -> ToyTable:
        rows = zip(*np.asarray(ids).tolist(), strict=True) if columns else [()] * ids.shape[1]
        return ToyTable(columns, list(rows))

    def run(self, work: Sequence[Work], lazily: bool = False, limit: int | None = None) -> None:
        done = []
        for piece in work:
            before = self._failures
            done.append(self.collect(piece.expr))
            piece.rows, piece.failures = len(done[-1]), self._failures - before
        for piece, table in zip(work, done, strict=True):
            piece.relation.schedule(table, piece.source)

    def evaluate(self, expr: p.Expr, limit: int | None = None) -> Iterator[ToyTable]:
        bag = self.bag(expr)[:limit]
        yield ToyTable(expr.variables, [row for row, _ in bag], [weight for _, weight in bag])

    def collect(self, expr: p.Expr, limit: int | None = None) -> ToyTable:
        return next(self.evaluate(expr))

    def reach(self, seeds: p.Expr, graph: p.Expr) -> Iterator[ToyTable]:
        following, found = defaultdict(set), set[Fact]()
        for u, v in self.rows(graph, ("u", "v")):
            following[u].add(v)
        wave = set(self.rows(seeds, ("s", "y")))
        while wave:
            found |= wave
            wave = {(s, v) for s, y in wave for v in following[y]} - found
        yield ToyTable(("s", "t"), sorted(found))

    def components(self, edges: p.Expr) -> ToyTable:
        member: dict[int, int] = {}
        for u, v in self.rows(edges, edges.variables):
            old, new = member.setdefault(u, u), member.setdefault(v, v)
            member = {x: new if c == old else c for x, c in member.items()}
        return ToyTable(("x", "c"), sorted(member.items()))

    # ---- Expressions

    def rows(self, expr: p.Expr, names: tuple[str, ...]) -> list[Fact]:
        """The rows of an expression, with the columns in this order."""
        return [row for row, _ in self.bag(p.Project(expr, names, "keep"))]

    def bag(self, e: p.Expr) -> Bag:
        """The rows of an expression with their multiplicities."""
        match e:
            case p.Read():
                facts = e.relation.facts(e.version, e.except_from)  # type: ignore[attr-defined]
                return [(row, 1) for fact in facts if (row := matched(e, fact)) is not None]
            case p.Join():
                return self.joined(e)
            case p.SemiJoin() | p.AntiJoin():
                wanted = isinstance(e, p.SemiJoin)
                left, right = self.keyed(e.left, e.right), {key for key, _ in self.keyed(e.right, e.left)}
                bag = [pair for key, pair in left if (key in right) == wanted]
                return arranged(bag, e.left.variables, e.variables)
            case p.Where():
                return self.filtered(e)
            case p.Extend():
                return self.extended(e)
            case p.Project():
                bag = arranged(self.bag(e.child), e.child.variables, e.args)
                if e.how == "keep":
                    return bag
                sums = Counter[Fact]()
                for row, weight in bag:
                    sums[row] += weight
                return list(sums.items()) if e.how == "sum" else [(row, 1) for row in sums]
            case p.Union():
                return [pair for part in e.parts for pair in self.bag(part)]
            case p.Rows():
                return bag_of(e.table)
            case p.Multiway():
                joins = as_joins(e)
                return self.bag(p.Project(joins, e.variables, "sum" if e.counting else "keep"))

    def keyed(self, expr: p.Expr, other: p.Expr) -> list[tuple[Fact, tuple[Fact, int]]]:
        """The rows of an expression, each with its values of the variables that another one has, too."""
        common = sorted(set(expr.variables) & set(other.variables))
        bag = self.bag(expr)
        return [
            (key, pair) for (key, _), pair in zip(arranged(bag, expr.variables, common), bag, strict=True)
        ]

    def joined(self, e: p.Join) -> Bag:
        right: dict[Fact, Bag] = defaultdict(list)
        for key, pair in self.keyed(e.right, e.left):
            right[key].append(pair)
        both = [(a + b, n * m) for key, (a, n) in self.keyed(e.left, e.right) for b, m in right[key]]
        return arranged(both, (*e.left.variables, *e.right.variables), e.variables)

    def filtered(self, e: p.Where) -> Bag:
        bag, test = self.bag(e.child), e.condition
        columns = columns_of(bag, e.child.variables)
        if test.computes:
            mask, failures = self.values.satisfy(test, columns, len(bag))
        else:
            left, right = (
                columns[side] if isinstance(side, str) else np.full(len(bag), side, np.int32)
                for side in (test.left, test.right)
            )
            if test.operator == "is":
                mask, failures = left == right, Failures()
            else:
                mask, strange = self.values.compare(test.operator, left, right)
                failures = Failures(strange)
        self._failures += failures
        kept = [pair for pair, fine in zip(bag, mask.tolist(), strict=True) if fine]
        return arranged(kept, e.child.variables, e.variables)

    def extended(self, e: p.Extend) -> Bag:
        bag = self.bag(e.child)
        columns = columns_of(bag, e.child.variables)
        if isinstance(e.value, p.Compute):
            ids, fine, failures = self.values.compute(e.value, columns, len(bag))
            self._failures += failures
        else:
            ids = columns[e.value] if isinstance(e.value, str) else np.full(len(bag), e.value, np.int32)
            fine = np.ones(len(bag), np.bool_)
        values = ids.astype(np.int32).tolist()
        return [((*row, v), n) for (row, n), v, ok in zip(bag, values, fine.tolist(), strict=True) if ok]


class ToyBackend(DictionaryBackend):
    """Terms in and out of the toy."""

    def make_engine(self, values: Values) -> ToyEngine:
        return ToyEngine(values)


def make_toy(spark: Any, workers: int | None) -> ToyBackend:
    """What `registry.BACKENDS` calls."""
    return ToyBackend()


def matched(read: p.Read, fact: Fact) -> Fact | None:
    """The values of the variables of a read, if a fact matches it."""
    values: dict[str, int] = {}
    for a, value in zip(read.args, fact, strict=True):
        if a is not None and (values.setdefault(a, value) if isinstance(a, str) else a) != value:
            return None
    return tuple(values[v] for v in read.variables)


def arranged(bag: Bag, names: Sequence[str], args: Iterable[str | int]) -> Bag:
    """Other columns of rows, by name, or constants."""
    places = [names.index(a) if isinstance(a, str) else None for a in args]
    constants = [a if isinstance(a, int) else 0 for a in args]
    pairs = list(zip(places, constants, strict=True))
    return [(tuple(c if j is None else row[j] for j, c in pairs), n) for row, n in bag]


def columns_of(bag: Bag, names: tuple[str, ...]) -> dict[str, Any]:
    """The columns of rows, by name."""
    return {name: np.array([row[j] for row, _ in bag], np.int32) for j, name in enumerate(names)}
