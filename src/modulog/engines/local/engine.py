"""The local engine: one process, NumPy arrays, Numba kernels."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from modulog.engines import protocol as p
from modulog.engines.local import reaching, reading
from modulog.engines.local.batches import ANY, Arrangement, Batch
from modulog.engines.local.closure_relation import ClosureRelation
from modulog.engines.local.compact import CompactRelation
from modulog.engines.local.counters import LocalCounters
from modulog.engines.local.evaluate import Compiler, Head, Probe
from modulog.engines.local.readers import LayerReader, Reader
from modulog.engines.local.relation import Bounds, PlainRelation
from modulog.engines.local.runs import Run, places
from modulog.engines.local.shared_closure import SharedClosureRelation
from modulog.engines.local.structures import KINDS
from modulog.engines.local.table import LocalTable, VirtualTable, as_ids
from modulog.engines.local.view_relation import ViewRelation
from modulog.errors import NotSupported
from modulog.kernels import joining
from modulog.kernels.compile_time import working_time
from modulog.kernels.types import Columns, Words
from modulog.storage.lists import distinct

PAIRS = 1 << 24  # pairs that one call of the fused join may consider
BUFFER = 1 << 20  # new facts it may return


class LocalEngine:
    """Relations in memory; `values` compares terms. A stratum at a time: what only its rounds need is given up after each."""

    shares_rounds = False
    represents = p.REPRESENTABLE
    actions = 0

    def __init__(self, values: p.Values) -> None:
        self.values = values
        self.compiler = Compiler(values)

    def relation(self, name: str, arity: int, scheme: str = "plain") -> PlainRelation:
        wanted = "auto" if scheme.endswith(" auto") else "always"
        kind = scheme.removesuffix(" auto").removesuffix(" shared")
        if kind == "plain":
            return PlainRelation(name, arity)
        if arity == 2 and kind in KINDS:
            made = SharedClosureRelation if " shared" in scheme else ClosureRelation
            return made(name, kind, wanted)
        if arity == 2 and kind == "view":
            return ViewRelation(name, wanted)
        raise NotSupported(f"the local engine has no storage scheme {scheme!r} for {arity} arguments")

    def counters(self, name: str, arity: int) -> LocalCounters:
        return LocalCounters(name, arity)

    def table(self, columns: tuple[str, ...], ids: Any) -> LocalTable:
        return LocalTable(columns, as_ids(ids, len(columns)))

    @property
    def failures(self) -> p.Failures:
        """How often, so far, values could not be compared or had no result."""
        return self.compiler.failures

    def run(
        self,
        work: Sequence[p.Work],
        lazily: bool = False,
        counted: bool = False,
        limit: int | None = None,
    ) -> None:
        left = sys.maxsize if limit is None else limit
        for item in work:
            if left < 0:
                break
            began, before = working_time(), self.failures
            item.rows = self._run(item, left)
            item.seconds, item.failures = working_time() - began, self.failures - before
            left -= item.rows

    def _run(self, work: p.Work, limit: int) -> int:
        """Evaluate one rule, up to the first batch beyond so many rows; gives how many there were.

        The last join, the projection to the head and the test for new facts are one where they can be.
        """
        relation, expr = work.relation, work.expr
        assert isinstance(relation, PlainRelation) and isinstance(expr, p.Project)
        head = self.compiler.head(expr)
        child, arrange = head.child, head.rows.arrange
        relation.vouched = relation.vouched and work.there
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

    def _offer(self, relation: PlainRelation, words: Words, source: p.ModuleId) -> int:
        if words.shape[1]:
            relation.offer(words, source)
            relation.choose_bitmap()
        return int(words.shape[1])

    def _run_fused(
        self, relation: PlainRelation, node: Probe, arrange: Arrangement, source: p.ModuleId, limit: int
    ) -> int:
        total = 0
        for rows in self._fused(relation, node, arrange, source):
            total += rows
            if total > limit:
                break
        return total

    def _fused(
        self, relation: PlainRelation, node: Probe, arrange: Arrangement, source: p.ModuleId
    ) -> Iterator[int]:
        """Join and offer piece by piece; gives the number of rows of each."""
        reader: Reader | None = None
        buffer = None
        for left in node.left.batches():
            if not left.ids.shape[1]:
                continue
            reader = node.source.reader() if reader is None else reader
            if not isinstance(reader, LayerReader):
                for _, ids in reader.matches(node.lookup, left.ids):
                    yield self._offer(relation, arrange.pack(ids), source)
                continue
            for layer in reader.layers:
                if relation.seen is None or node.lookup.equal or layer.hidden:
                    for _, ids in reading.matches([layer], node.lookup, left.ids):
                        yield self._offer(relation, arrange.pack(ids), source)
                    continue
                buffer = np.empty(BUFFER, np.int64) if buffer is None else buffer
                yield from _join_into_bitmap(
                    relation, node, layer.run, left.ids, arrange.args, source, buffer
                )

    def settle(self) -> None:
        """Nothing is put off here."""

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
            found = expr.relation.count(expr.args, expr.version)
            assert isinstance(found, LocalTable) and found.weights is not None
            return int(found.weights[0])
        node = self.compiler.compile(expr)
        return node.count() if isinstance(node, Probe) else sum(b.ids.shape[1] for b in node.batches())

    def collect(self, expr: p.Expr, limit: int | None = None) -> LocalTable:
        names = expr.variables
        if isinstance(expr, p.Read) and isinstance(expr.relation, PlainRelation) and names == expr.args:
            if expr.version in ("gone", "come", "delta") and expr.except_from is None:
                return LocalTable(names, expr.relation.columns(expr.version))
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

    def snapshot(self, read: p.Read) -> p.Table:
        relation = read.relation
        assert isinstance(relation, PlainRelation)
        if isinstance(relation, CompactRelation) and not relation.listed:
            return VirtualTable(read.variables, relation.pairs(read.version))
        return self.collect(read)

    def reach(self, seeds: p.Expr, graph: p.Expr) -> Iterator[LocalTable]:
        pairs, edges = self._pairs(seeds, ("s", "y")), self._pairs(graph, ("u", "v"))
        if pairs.shape[1]:
            found = reaching.Reach(distinct(pairs[0]), pairs, edges)
            yield from (LocalTable(("s", "t"), ids) for ids in found.pairs())

    def reach_changes(
        self, sources: p.Table, seeds: p.Expr, graph: p.Expr, known: p.Read
    ) -> Iterator[tuple[LocalTable, LocalTable]]:
        assert isinstance(sources, LocalTable)
        some = p.SemiJoin(seeds, p.Rows(sources), seeds.variables)
        pairs, edges = self._pairs(some, ("s", "y")), self._pairs(graph, ("u", "v"))

        def before(chunk: Columns) -> Iterator[Columns]:
            rows = p.Rows(LocalTable(("s",), chunk[np.newaxis]))
            node = self.compiler.in_order(p.Join(rows, known, ("s", "t")), ("s", "t"))
            return (batch.ids for batch in node.batches())

        found = reaching.Reach(distinct(sources.ids[0]), pairs, edges)
        for lost, won in found.changes(before):
            yield LocalTable(("s", "t"), lost), LocalTable(("s", "t"), won)

    def _pairs(self, expr: p.Expr, names: tuple[str, str]) -> Columns:
        return self.collect(p.Project(expr, names, "keep")).ids

    def components(self, edges: p.Expr) -> LocalTable:
        return LocalTable(("x", "c"), reaching.connected(self.collect(edges).ids))

    def gathers(self, rows: int) -> bool:
        """Always: they are here."""
        return True

    def close(self) -> None:
        self.compiler = Compiler(self.values)


def _head_bounds(head: Head, greatest: int) -> Bounds:
    """Bounds of the head's arguments; no id is greater than the greatest."""
    return tuple((low, min(high, greatest)) for low, high in head.rows.bounds())


def _join_into_bitmap(
    relation: PlainRelation,
    node: Probe,
    run: Run,
    ids: np.ndarray,
    args: tuple[str | int, ...],
    source: p.ModuleId,
    buffer: np.ndarray,
) -> Iterator[int]:
    if not len(run):
        return
    seen, lookup = relation.seen, node.lookup
    assert seen is not None
    order, lows, highs = lookup.find(ids, run)
    sources = places(tuple(_origin(node, order.permutation, str(a)) for a in args))
    row = offset = 0
    while row < ids.shape[1]:
        fresh, considered, row, offset = joining.join_into_bitmap(
            ids, lows, highs, order.words, sources, seen.bits, seen.box, buffer, row, offset, PAIRS
        )
        relation.accept(buffer[:fresh].copy()[np.newaxis], source)
        yield considered


def _origin(node: Probe, permutation: tuple[int, ...], variable: str) -> int:
    """Where an argument of the head comes from, as the fused kernel wants it."""
    if variable in node.left.variables:
        return node.left.variables.index(variable)
    return -1 - permutation.index(node.lookup.args.index(variable))
