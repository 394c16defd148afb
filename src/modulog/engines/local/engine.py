"""The local engine: one process, NumPy arrays, Numba kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from modulog.engines import protocol as p
from modulog.engines.local import reading
from modulog.engines.local.batches import Arrangement, Batch, Node
from modulog.engines.local.evaluate import Compiler, Probe
from modulog.engines.local.relation import Bounds, PlainRelation
from modulog.engines.local.runs import Run, places
from modulog.engines.local.table import LocalTable, as_ids
from modulog.errors import NotSupported
from modulog.kernels import joining, packing
from modulog.kernels.types import Columns

PAIRS = 1 << 24  # pairs that one call of the fused join may consider
BUFFER = 1 << 20  # new facts it may return


class LocalEngine:
    """Relations in memory; `values` compares terms. A stratum at a time: what only its rounds need is given up after each."""

    shares_rounds = False

    def __init__(self, values: p.Values) -> None:
        self.values = values
        self.compiler = Compiler(values)

    def relation(self, name: str, arity: int, scheme: str = "plain") -> PlainRelation:
        if scheme != "plain":
            raise NotSupported(f"the local engine has no storage scheme {scheme!r}")
        return PlainRelation(name, arity)

    def table(self, columns: tuple[str, ...], ids: Any) -> LocalTable:
        return LocalTable(columns, as_ids(ids, len(columns)))

    @property
    def incomparable(self) -> int:
        """How many comparisons so far had values that cannot be compared."""
        return self.compiler.incomparable

    def run(self, work: Sequence[p.Work], lazily: bool = False) -> None:
        for item in work:
            began = perf_counter()
            item.rows = self._run(item)
            item.seconds = perf_counter() - began

    def _run(self, work: p.Work) -> int:
        """Evaluate one rule; the last join, the projection to the head and the test for new facts are one where they can be."""
        relation, expr = work.relation, work.expr
        assert isinstance(relation, PlainRelation) and isinstance(expr, p.Project)
        if expr.compiled is None:
            object.__setattr__(expr, "compiled", self.compiler.compile(expr.child))
        child: Node = expr.compiled
        bounds = _head_bounds(child, expr.args, len(self.values))
        if any(low > high for low, high in bounds):
            return 0
        relation.widen(bounds)
        if isinstance(child, Probe) and relation.arity == 2 and all(isinstance(a, str) for a in expr.args):
            return self._run_fused(relation, child, expr.args, work.source)
        arrange = Arrangement(child.variables, expr.args)
        return sum(self._offer(relation, arrange(batch.ids), work.source) for batch in child.batches())

    def _offer(self, relation: PlainRelation, ids: Columns, source: p.ModuleId) -> int:
        if ids.shape[1]:
            relation.offer(packing.pack(ids, places(tuple(range(relation.arity)))), source)
            relation.choose_bitmap()
        return int(ids.shape[1])

    def _run_fused(
        self, relation: PlainRelation, node: Probe, args: tuple[str | int, ...], source: p.ModuleId
    ) -> int:
        runs: list[Run] | None = None
        total, buffer = 0, None
        arrange = Arrangement(node.variables, args)
        for left in node.left.batches():
            if not left.ids.shape[1]:
                continue
            runs = node.source.runs() if runs is None else runs
            if relation.seen is None or node.lookup.equal or any(run.weighted for run in runs):
                for _, ids in reading.matches(runs, node.lookup, left.ids):
                    total += self._offer(relation, arrange(ids), source)
                continue
            buffer = np.empty(BUFFER, np.int64) if buffer is None else buffer
            for run in runs:
                total += _join_into_bitmap(relation, node, run, left.ids, args, source, buffer)
        return total

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
        if isinstance(expr, p.Read) and len(expr.variables) == len(expr.args) and expr.except_from is None:
            return expr.relation.size(expr.version)
        return sum(batch.ids.shape[1] for batch in self.compiler.compile(expr).batches())

    def close(self) -> None:
        self.compiler = Compiler(self.values)


def _head_bounds(node: Node, args: tuple[str | int, ...], terms: int) -> Bounds:
    """Bounds of the head's arguments; no id reaches the number of terms."""
    child = dict(zip(node.variables, node.bounds(), strict=True))
    return tuple((a, a) if isinstance(a, int) else (child[a][0], min(child[a][1], terms - 1)) for a in args)


def _join_into_bitmap(
    relation: PlainRelation,
    node: Probe,
    run: Run,
    ids: np.ndarray,
    args: tuple[str | int, ...],
    source: p.ModuleId,
    buffer: np.ndarray,
) -> int:
    if not len(run):
        return 0
    seen, lookup = relation.seen, node.lookup
    assert seen is not None
    order, lows, highs = lookup.find(ids, run)
    sources = places(tuple(_origin(node, order.permutation, str(a)) for a in args))
    row = offset = pairs = 0
    while row < ids.shape[1]:
        fresh, considered, row, offset = joining.join_into_bitmap(
            ids, lows, highs, order.words, sources, seen.bits, seen.box, buffer, row, offset, PAIRS
        )
        relation.accept(buffer[:fresh].copy()[np.newaxis], source)
        pairs += considered
    return pairs


def _origin(node: Probe, permutation: tuple[int, ...], variable: str) -> int:
    """Where an argument of the head comes from, as the fused kernel wants it."""
    if variable in node.left.variables:
        return node.left.variables.index(variable)
    return -1 - permutation.index(node.lookup.args.index(variable))
