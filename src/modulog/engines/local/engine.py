"""The local engine: one process, NumPy arrays, Numba kernels."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from modulog.algebra import expressions as p
from modulog.closures.components import connected
from modulog.closures.linear_closure import reached
from modulog.engines.engine import Work
from modulog.engines.local import layer_lookup
from modulog.engines.local.batches import ANY, Arrangement, Batch
from modulog.engines.local.body_relation import Body, LocalRelation, body_of
from modulog.engines.local.closure_relation import ClosureRelation
from modulog.engines.local.counters import LocalCounters
from modulog.engines.local.evaluate import Compiler, Head, Probe
from modulog.engines.local.fused import FusedJoin, gathered
from modulog.engines.local.pairs_relation import PairsRelation
from modulog.engines.local.readers import LayerReader, Reader
from modulog.engines.local.relation import Bounds, PlainRelation
from modulog.engines.local.shared_closure import SharedClosureRelation
from modulog.engines.local.table import LocalTable, VirtualTable, as_ids
from modulog.engines.local.view_body import ViewRelation
from modulog.engines.relation import ModuleId
from modulog.engines.schemes import PLAIN, REPRESENTABLE, Scheme
from modulog.engines.table import Table
from modulog.engines.values import Failures, Values
from modulog.errors import NotSupported
from modulog.kernels.compile_time import working_time
from modulog.kernels.threads import ALONE, Threads, divided, divided_steps
from modulog.kernels.types import Columns, Words


class LocalEngine:
    """Relations in memory; `values` compares terms. A stratum at a time: what only its rounds need is given
    up after each.
    """

    shares_rounds = False
    represents = REPRESENTABLE
    actions = 0

    def __init__(self, values: Values, threads: Threads = ALONE) -> None:
        self.values, self.threads = values, threads
        self.compiler = Compiler(values)

    def described(self, what: str) -> AbstractContextManager[None]:
        # Nobody watches this engine, but its threads are the current ones meanwhile, once for all that
        # happens inside.
        return self.threads.current()

    def relation(self, name: str, arity: int, scheme: Scheme = PLAIN) -> LocalRelation:
        if scheme == PLAIN:
            return PlainRelation(name, arity, self.threads)
        if arity != 2:
            raise NotSupported(f"the local engine keeps no {scheme.kind} of {arity} arguments")
        if scheme.kind == "view":
            return ViewRelation(name, scheme, self.threads)
        if scheme.shared:
            return SharedClosureRelation(name, scheme, self.threads)
        return ClosureRelation(name, scheme, self.threads)

    def counters(self, name: str, arity: int) -> LocalCounters:
        return LocalCounters(name, arity)

    def table(self, columns: tuple[str, ...], ids: Any) -> LocalTable:
        return LocalTable(columns, as_ids(ids, len(columns)))

    @property
    def failures(self) -> Failures:
        """How often, so far, values could not be compared or had no result."""
        return self.compiler.failures

    @divided
    def run(
        self,
        work: Sequence[Work],
        lazily: bool = False,
        limit: int | None = None,
    ) -> None:
        left = sys.maxsize if limit is None else limit
        for item in work:
            if left < 0:
                break
            began, before = working_time(), self.compiler.failures
            item.rows = self._run(item, left)
            item.seconds, item.failures = working_time() - began, self.compiler.failures - before
            left -= item.rows

    def _run(self, work: Work, limit: int) -> int:
        """Evaluate one rule, up to the first batch beyond so many rows; gives how many there were.

        The last join, the projection to the head and the test for new facts are one where they can be.
        """
        relation, expr = body_of(work.relation), work.expr
        assert isinstance(expr, p.Project)
        head = self.compiler.head(expr)
        child, arrange = head.child, head.rows.arrange
        if isinstance(relation, PlainRelation):
            relation.vouched &= work.there
            if relation.bounds_wanted:
                bounds = _head_bounds(head, ANY[1] if head.creates else len(self.values) - 1)
                if any(low > high for low, high in bounds):
                    return 0
                relation.widen(bounds)
        if isinstance(child, Probe) and relation.arity == 2 and all(isinstance(a, str) for a in expr.args):
            return self._run_fused(relation, child, arrange, work.source, limit)
        total = 0
        for batch in child.batches():
            total += self._offer(relation, arrange.pack(batch.ids), work.source)
            if total > limit:
                break
        return total

    def _offer(self, relation: Body, words: Words, source: ModuleId) -> int:
        if words.shape[1]:
            relation.offer(words, source)
            if isinstance(relation, PlainRelation):
                relation.choose_bitmap()
        return int(words.shape[1])

    def _run_fused(
        self, relation: Body, node: Probe, arrange: Arrangement, source: ModuleId, limit: int
    ) -> int:
        total = 0
        for rows in self._fused(relation, node, arrange, source):
            total += rows
            if total > limit:
                break
        return total

    def _fused(self, relation: Body, node: Probe, arrange: Arrangement, source: ModuleId) -> Iterator[int]:
        """Join and offer piece by piece; gives the number of rows of each."""
        reader: Reader | None = None
        fused: FusedJoin | None = None
        if isinstance(relation, PlainRelation) and relation.bounds_wanted:  # else it uses no bitmap
            fused = FusedJoin(relation, node, arrange.args, source)
        for left in gathered(node.left.batches()):
            reader = node.source.reader() if reader is None else reader
            if fused is None or not isinstance(reader, LayerReader):
                for _, ids in reader.matches(node.lookup, left):
                    yield self._offer(relation, arrange.pack(ids), source)
                continue
            for layer in reader.layers:
                if not fused.takes(layer):
                    for _, ids in layer_lookup.matches([layer], node.lookup, left):
                        yield self._offer(relation, arrange.pack(ids), source)
                    continue
                yield from fused.run(layer.run, left)

    def settle(self) -> None:
        """Nothing is put off here."""

    @divided_steps
    def evaluate(self, expr: p.Expr, limit: int | None = None) -> Iterator[LocalTable]:
        node, given = self.compiler.compile(expr), 0
        for batch in node.batches():
            rows = batch.ids.shape[1]
            if limit is not None and given + rows > limit:
                rest = limit - given
                weights = None if batch.weights is None else batch.weights[:rest]
                batch = Batch(np.ascontiguousarray(batch.ids[:, :rest]), weights)
            given += batch.ids.shape[1]
            if batch.ids.shape[1]:
                yield LocalTable(node.variables, batch.ids, batch.weights)
            if limit is not None and given >= limit:
                return

    @divided
    def count(self, expr: p.Expr) -> int:
        if isinstance(expr, p.Project) and expr.how == "keep":
            return self.count(expr.child)
        if isinstance(expr, p.Union):
            return sum(map(self.count, expr.parts))
        if isinstance(expr, p.Extend) and not isinstance(expr.value, p.Compute):
            return self.count(expr.child)
        if isinstance(expr, p.Read) and None not in expr.args and expr.except_from is None:
            if len(expr.variables) == len(expr.args):
                return expr.relation.size(expr.version)
            return body_of(expr.relation).count(expr.args, expr.version)
        node = self.compiler.compile(expr)
        return node.count() if isinstance(node, Probe) else sum(b.ids.shape[1] for b in node.batches())

    @divided
    def collect(self, expr: p.Expr, limit: int | None = None) -> LocalTable:
        names = expr.variables
        if isinstance(expr, p.Read) and expr.version in ("gone", "come", "delta"):
            body = body_of(expr.relation)
            if isinstance(body, PlainRelation) and names == expr.args and expr.except_from is None:
                return LocalTable(names, body.columns(expr.version))
        batches, left = [], sys.maxsize if limit is None else limit
        for batch in self.compiler.in_order(expr, names).batches():
            batches.append(batch)
            left -= batch.ids.shape[1]
            if left < 0:
                break
        if not batches:
            return LocalTable(names, np.empty((len(names), 0), np.int32))
        weights = [b.weights for b in batches if b.weights is not None]
        return LocalTable(
            names,
            np.concatenate([batch.ids for batch in batches], axis=1),
            np.concatenate(weights) if len(weights) == len(batches) else None,
        )

    def ask(self, expr: p.Expr) -> LocalTable:
        return self.collect(expr)

    def snapshot(self, read: p.Read) -> Table:
        body = body_of(read.relation)
        if isinstance(body, PairsRelation):
            return VirtualTable(read.variables, body.pairs(read.version))
        return self.collect(read)

    @divided_steps
    def reach(self, seeds: p.Expr, graph: p.Expr) -> Iterator[LocalTable]:
        pairs, edges = self._pairs(seeds, ("s", "y")), self._pairs(graph, ("u", "v"))
        yield from (LocalTable(("s", "t"), ids) for ids in reached(pairs, edges))

    def _pairs(self, expr: p.Expr, names: tuple[str, str]) -> Columns:
        return self.collect(p.Project(expr, names, "keep")).ids

    @divided
    def components(self, edges: p.Expr) -> LocalTable:
        return LocalTable(("x", "c"), connected(self.collect(edges).ids))

    def gathers(self, rows: int) -> bool:
        """Always: they are here."""
        return True

    def close(self) -> None:
        self.compiler = Compiler(self.values)
        self.threads.close()


def _head_bounds(head: Head, greatest: int) -> Bounds:
    """Bounds of the head's arguments; no id is greater than the greatest."""
    return tuple((low, min(high, greatest)) for low, high in head.rows.bounds())
