"""Expressions compiled to pipelines of bounded batches.

Each node knows the columns it gives, pulls batches from its child and works on a whole batch in a few kernel
calls. A join whose right side is a read looks its facts up in an index; any other right side is evaluated
first and indexed for the occasion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from modulog.algebra import expressions as p
from modulog.engines.local import layer_lookup
from modulog.engines.local.batches import (
    ANY,
    Ahead,
    Arrangement,
    Batch,
    Concatenate,
    Distinct,
    Given,
    Node,
    Sum,
)
from modulog.engines.local.body_relation import body_of
from modulog.engines.local.fact_levels import Layer
from modulog.engines.local.join_stages import Rearrange, Stage
from modulog.engines.local.multiway_join import MultiwayJoin, variable_order
from modulog.engines.local.readers import LayerReader, Reader
from modulog.engines.local.relation import Bounds
from modulog.engines.local.runs import Run, places
from modulog.engines.local.table import LocalTable, VirtualTable
from modulog.engines.values import Failures, Values
from modulog.kernels import packing
from modulog.kernels.types import Integers, Mask


class Source:
    """What the right side of a join is read from: a relation's layers, or the rows of another expression."""

    def __init__(self, expr: p.Expr, compiler: Compiler) -> None:
        self.read = expr if isinstance(expr, p.Read) else None
        self.node = None if isinstance(expr, p.Read) else compiler.compile(expr)
        self.args: tuple[p.Argument, ...] = expr.args if isinstance(expr, p.Read) else expr.variables
        if self.node is not None:
            self.args = self.node.variables

    def reader(self) -> Reader:
        """The facts to look up; of another expression, its rows without their multiplicities."""
        if self.read is not None:
            return body_of(self.read.relation).reader(self.read.version, self.read.except_from)
        return LayerReader([Layer(self.rows()[0])])

    def rows(self) -> tuple[Run, Integers | None]:
        """The rows of another expression as a run, and their multiplicities."""
        assert self.node is not None
        batches, arity = list(self.node.batches()), len(self.args)
        words = [packing.pack(batch.ids, places(tuple(range(arity)))) for batch in batches]
        joined = np.concatenate(words, axis=1) if words else Run.empty(arity).words()
        weights = [batch.weights for batch in batches if batch.weights is not None]
        return Run.of(arity, joined, False), np.concatenate(weights) if weights else None

    @property
    def divisible(self) -> bool:
        """Whether several threads may look facts up at the same time: those that are represented are listed
        in caches.
        """
        return self.read is None or self.read.relation.listed

    def bounds(self) -> Bounds:
        """Bounds of the arguments."""
        if self.node is not None:
            return self.node.bounds()
        assert self.read is not None
        return body_of(self.read.relation).span() or (ANY,) * len(self.args)


class Scan(Ahead):
    """A read with nothing on its left."""

    def __init__(self, read: p.Read, compiler: Compiler) -> None:
        self.source = Source(read, compiler)
        self.read, self.counting = read, compiler.counting
        self.lookup = layer_lookup.Lookup((), read.args, read.variables)
        self.variables = self.lookup.variables

    def batches(self) -> Iterator[Batch]:
        reader = body_of(self.read.relation).reader(
            self.read.version, self.read.except_from, bool(self.lookup.bound)
        )
        if self.counting:
            yield from (Batch(ids, weights) for ids, weights in reader.tallied(self.lookup))
        else:
            yield from map(Batch, reader.distinct(self.lookup))

    def bounds(self) -> Bounds:
        return _meet(self.lookup, (), self.source.bounds())


class Probe(Stage):
    """A join: each row on the left with every fact that matches it."""

    def __init__(self, expr: p.Join, compiler: Compiler) -> None:
        self.left = compiler.compile(expr.left)
        self.source = Source(expr.right, compiler)
        self.lookup = layer_lookup.Lookup(self.left.variables, self.source.args, expr.variables)
        self.variables = self.lookup.variables

    @property
    def divisible(self) -> bool:
        return self.source.divisible

    def reader(self) -> Reader:
        return self.source.reader()

    def extend(self, batch: Batch, reader: Callable[[], Reader]) -> Iterator[Batch]:
        if batch.rows:
            for rows, ids in reader().matches(self.lookup, batch.ids):
                yield Batch(ids, None if batch.weights is None else batch.weights[rows])

    def count(self) -> int:
        """How many rows there are; those that are represented are not listed for it."""
        reader, total = self.source.reader(), 0
        for batch in self.left.batches():
            if batch.ids.shape[1]:
                total += reader.number(self.lookup, batch.ids)
        return total

    def bounds(self) -> Bounds:
        return _meet(self.lookup, self.left.bounds(), self.source.bounds())


class WeightedProbe:
    """A join with rows that have multiplicities of their own: they are numbered, and the number leads to the
    multiplicity.
    """

    NUMBER = "#row"

    def __init__(self, expr: p.Join, compiler: Compiler) -> None:
        self.left = compiler.compile(expr.left)
        self.source = Source(expr.right, compiler)
        args = (*self.source.args, self.NUMBER)
        self.lookup = layer_lookup.Lookup(self.left.variables, args, (*expr.variables, self.NUMBER))
        self.variables = tuple(v for v in self.lookup.variables if v != self.NUMBER)
        self.arrange = Arrangement(self.lookup.variables, self.variables)

    def batches(self) -> Iterator[Batch]:
        run, weights = self.source.rows()
        numbers = np.arange(len(run), dtype=np.int32)[np.newaxis]
        numbered = np.ascontiguousarray(np.concatenate([run.columns(), numbers]))
        words = packing.pack(numbered, places(tuple(range(run.arity + 1))))
        layers = [Layer(Run.of(run.arity + 1, words, False))]
        for batch in self.left.batches():
            for rows, ids in layer_lookup.matches(layers, self.lookup, batch.ids):
                mine = np.ones(len(rows), np.int64) if batch.weights is None else batch.weights[rows]
                number = ids[self.lookup.variables.index(self.NUMBER)]
                yield Batch(self.arrange(ids), mine if weights is None else mine * weights[number])

    def bounds(self) -> Bounds:
        found = dict(zip(self.left.variables, self.left.bounds(), strict=True))
        found |= dict(zip(map(str, self.source.args), self.source.bounds(), strict=True))
        return tuple(found[v] for v in self.variables)


class Filter(Stage):
    """A semi-join or an anti-join: the rows on the left for which some fact matches, or none."""

    def __init__(self, expr: p.SemiJoin | p.AntiJoin, compiler: Compiler) -> None:
        self.left = compiler.compile(expr.left)
        self.source = Source(expr.right, compiler)
        self.wanted = isinstance(expr, p.SemiJoin)
        self.lookup = layer_lookup.Lookup(self.left.variables, self.source.args, ())
        self.variables = expr.variables
        self.keep = places(tuple(self.left.variables.index(v) for v in expr.variables))

    @property
    def divisible(self) -> bool:
        return self.source.divisible

    def reader(self) -> Reader:
        return self.source.reader()

    def extend(self, batch: Batch, reader: Callable[[], Reader]) -> Iterator[Batch]:
        if batch.rows:
            mask = reader().exists(self.lookup, batch.ids)
            yield _masked(batch, self.keep, mask if self.wanted else ~mask)

    def bounds(self) -> Bounds:
        left = self.left.bounds()
        return tuple(left[j] for j in self.keep)


class Satisfy:
    """The rows that satisfy a condition on values; incomparable values do not, and are counted."""

    def __init__(self, expr: p.Where, compiler: Compiler) -> None:
        self.child, self.compiler = compiler.compile(expr.child), compiler
        self.condition, self.variables = expr.condition, expr.variables
        self.keep = places(tuple(self.child.variables.index(v) for v in expr.variables))

    def batches(self) -> Iterator[Batch]:
        left, right = self.condition.left, self.condition.right
        assert not isinstance(left, p.Compute) and not isinstance(right, p.Compute)
        for batch in self.child.batches():
            n = batch.ids.shape[1]
            a, b = (
                np.full(n, v, np.int32) if isinstance(v, int) else batch.ids[self.child.variables.index(v)]
                for v in (left, right)
            )
            if self.condition.operator == "is":
                mask = a == b
            else:
                mask, incomparable = self.compiler.values.compare(self.condition.operator, a, b)
                self.compiler.failures += Failures(incomparable)
            yield _masked(batch, self.keep, mask)

    def bounds(self) -> Bounds:
        child = self.child.bounds()
        return tuple(child[j] for j in self.keep)


class SatisfyComputed(Satisfy):
    """The rows that satisfy a condition with functions; nothing that is computed gets an id."""

    def batches(self) -> Iterator[Batch]:
        for batch in self.child.batches():
            columns = dict(zip(self.child.variables, batch.ids, strict=True))
            mask, failures = self.compiler.values.satisfy(self.condition, columns, batch.ids.shape[1])
            self.compiler.failures += failures
            yield _masked(batch, self.keep, mask)


class Calculate:
    """The rows with one more column, which a function computes; rows for which it has no value are lost and
    counted.
    """

    def __init__(self, expr: p.Extend, compiler: Compiler) -> None:
        assert isinstance(expr.value, p.Compute)
        self.child, self.compiler, self.function = compiler.compile(expr.child), compiler, expr.value
        self.variables = (*self.child.variables, expr.variable)

    def batches(self) -> Iterator[Batch]:
        for batch in self.child.batches():
            columns = dict(zip(self.child.variables, batch.ids, strict=True))
            ids, fine, failures = self.compiler.values.compute(self.function, columns, batch.ids.shape[1])
            self.compiler.failures += failures
            rows = np.concatenate([batch.ids, ids.astype(np.int32)[np.newaxis]])
            weights = batch.weights
            if not fine.all():
                rows, weights = rows[:, fine], None if weights is None else weights[fine]
            yield Batch(np.ascontiguousarray(rows), weights)

    def bounds(self) -> Bounds:
        return (*self.child.bounds(), ANY)


def creates(node: p.Expr) -> bool:
    """Whether an expression may make new terms."""
    if isinstance(node, p.Extend) and isinstance(node.value, p.Compute):
        return True
    return any(map(creates, node.children))


def _counts(expr: p.Expr) -> bool:
    """Whether the rows of an expression have multiplicities."""
    if isinstance(expr, p.Multiway):
        return expr.counting
    if isinstance(expr, p.Project):
        return expr.how == "sum" or (expr.how == "keep" and _counts(expr.child))
    if isinstance(expr, p.Rows):
        return isinstance(expr.table, LocalTable) and expr.table.weights is not None
    parts = (expr.left,) if isinstance(expr, p.SemiJoin | p.AntiJoin) else expr.children
    return any(map(_counts, parts))


def _masked(batch: Batch, keep: Integers, mask: Mask) -> Batch:
    ids = packing.select(batch.ids, keep, mask) if len(keep) else np.empty((0, int(mask.sum())), np.int32)
    return Batch(ids, None if batch.weights is None else batch.weights[mask])


def _meet(lookup: layer_lookup.Lookup, left: Bounds, right: Bounds) -> Bounds:
    """Bounds of what a look-up gives: a shared variable lies within both sides."""
    found: dict[str, tuple[int, int]] = dict(zip(lookup.left, left, strict=True))
    for a, (low, high) in zip(lookup.args, right, strict=True):
        if isinstance(a, str):
            known = found.get(a, ANY)
            found[a] = (max(low, known[0]), min(high, known[1]))
    return tuple(found[v] for v in lookup.variables)


class Head(NamedTuple):
    """A compiled projection: what is projected, its rows as heads, these as `how` asks for them, and whether
    new terms may be made.
    """

    child: Node
    rows: Rearrange
    node: Node
    creates: bool


class Compiler:
    """Turns expressions into nodes; counts rows that are lost because values cannot be compared or
    computed.
    """

    def __init__(self, values: Values) -> None:
        self.values, self.failures = values, Failures()
        self.counting = False  # whether multiplicities of what is being compiled matter

    def compile(self, expr: p.Expr) -> Node:
        """The node of an expression."""
        match expr:
            case p.Read():
                return Scan(expr, self)
            case p.Join():
                return WeightedProbe(expr, self) if _counts(expr.right) else Probe(expr, self)
            case p.SemiJoin() | p.AntiJoin():
                return Filter(expr, self)
            case p.Where():
                return SatisfyComputed(expr, self) if expr.condition.computes else Satisfy(expr, self)
            case p.Extend(value=p.Compute()):
                return Calculate(expr, self)
            case p.Extend():
                child = self.compile(expr.child)
                assert not isinstance(expr.value, p.Compute)
                return Rearrange(child, (*child.variables, expr.value), (*child.variables, expr.variable))
            case p.Project():
                return self.head(expr).node
            case p.Union():
                first = expr.parts[0].variables
                return Concatenate(tuple(self.in_order(part, first) for part in expr.parts))
            case p.Rows():
                table = expr.table.listed() if isinstance(expr.table, VirtualTable) else expr.table
                assert isinstance(table, LocalTable)
                return Given(table, expr.variables)
            case p.Multiway():
                chosen = variable_order(expr.reads, expr.variables)
                if expr.order:
                    chosen = expr.order, max((expr.order.index(v) + 1 for v in expr.variables), default=0)
                return MultiwayJoin(expr.reads, *chosen, expr.counting)

    def head(self, expr: p.Project) -> Head:
        """The nodes of a projection, made once."""
        if expr.compiled is None:
            child = self._child(expr)
            rows = Rearrange(child, expr.args, expr.variables)
            finish: dict[str, Callable[[Node], Node]] = {"set": Distinct, "sum": Sum, "keep": lambda n: n}
            object.__setattr__(expr, "compiled", Head(child, rows, finish[expr.how](rows), creates(expr)))
        found: Head = expr.compiled
        return found

    def _child(self, expr: p.Project) -> Node:
        """What is projected; under a set nobody counts, under a sum everything is."""
        outer = self.counting
        self.counting = expr.how == "sum" or (expr.how == "keep" and outer)
        try:
            return self.compile(expr.child)
        finally:
            self.counting = outer

    def in_order(self, expr: p.Expr, variables: tuple[str, ...]) -> Node:
        """The node of an expression with its columns in the given order."""
        node = self.compile(expr)
        return node if node.variables == variables else Rearrange(node, variables, variables)
