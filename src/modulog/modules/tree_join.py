"""CrossNodeEvaluation (Algorithm 4 of the hypertree paper): reduce a tree's tables, then join them bottom up.

The full reducer goes through the tree up to three times. Where the node that changed has few rows, it begins
there: all other tables are looked up from it, so that a small change never reads a large table. Then from the
leaves to the root and back, after which every row takes part in some result. The join projects a child to
what its parent or the head needs before it is joined; a child that has no further variables is not joined at
all, because the reducer has applied it as a filter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from modulog.algebra.expressions import AntiJoin, Expr, Extend, Join, Project, Read, Rows, SemiJoin, Where
from modulog.engines.engine import Engine
from modulog.engines.relation import ModuleId
from modulog.joins.order import CHANGES, Body
from modulog.modules.clause import Evaluation, Prepared

SMALLER = 3  # how many times smaller than the largest table the delta node's must be for the first pass
LOOKUP = 4  # how many times smaller a table must be than one with an index, to be looked up there row by row


@dataclass(frozen=True, slots=True)
class Active:
    """inst_p^ac: the rows of a node that take part, and how many they are."""

    expr: Expr
    size: int

    @property
    def variables(self) -> tuple[str, ...]:
        return self.expr.variables


class CrossNode:
    """One evaluation of a tree.

    `parents` gives for each node the number of its parent; -1 is that of the root, which is the first node.
    """

    def __init__(
        self, engine: Engine, active: Sequence[Active], parents: Sequence[int], needed: frozenset[str]
    ) -> None:
        self.engine, self.active, self.parents, self.needed = engine, list(active), parents, needed
        self.near: list[list[int]] = [[] for _ in active]
        for child, parent in enumerate(parents):
            if parent >= 0:
                self.near[parent].append(child)
                self.near[child].append(parent)

    def rows(self, delta: int | None) -> Expr | None:
        """The matches of all nodes over the needed variables, perhaps repeated; None if there are none.

        `delta` is the number of the node that changed.
        """
        if not self._reduce(delta):
            return None
        return self._join(0)

    # ---- The full reducer

    def _reduce(self, delta: int | None) -> bool:
        """Leave only rows that take part in a result; False if there are none."""
        sizes = [active.size for active in self.active]
        if delta is not None and SMALLER * sizes[delta] <= max(sizes):
            self._top_down(delta)
        if not all(active.size for active in self.active):
            return False
        self._bottom_up()
        if not self.active[0].size:
            return False
        self._top_down(0)
        return True

    def _edges(self, start: int, origin: int = -1) -> Iterator[tuple[int, int]]:
        """The edges of the tree, directed away from a node."""
        for p in self.near[start]:
            if p != origin:
                yield start, p
                yield from self._edges(p, start)

    def _top_down(self, start: int) -> None:
        for p, q in self._edges(start):
            self._semijoin(q, [p])

    def _bottom_up(self) -> None:
        for p in range(len(self.active) - 1, -1, -1):
            self._semijoin(p, [q for q in self.near[p] if q > p])

    def _semijoin(self, left: int, others: Sequence[int]) -> None:
        """Keep the rows of one node that agree with some row of each of the others."""
        active = self.active[left]
        if not active.size or not others:
            return
        expr, reads = active.expr, isinstance(active.expr, Read)
        for right in (self.active[q] for q in others):
            shared = tuple(v for v in active.variables if v in right.variables)
            if not right.size:
                self.active[left] = Active(active.expr, 0)
                return
            if shared and reads and LOOKUP * right.size < active.size:
                expr, reads = Join(Project(right.expr, shared, "set"), expr, active.variables), False
            elif shared:
                expr, reads = SemiJoin(expr, right.expr, active.variables), False
        if expr is not active.expr:
            table = self.engine.collect(expr)
            # A table that lost nothing is better read where it is: there are its indexes.
            if len(table) < active.size:
                self.active[left] = Active(Rows(table), len(table))

    # ---- The cross-node join

    def _join(self, p: int) -> Expr:
        """The join of the subtree of p, over what the parent or the head needs of it, and perhaps more."""
        expr, mine = self.active[p].expr, self.active[p].variables
        above = self.active[self.parents[p]].variables if self.parents[p] >= 0 else ()
        bringing = [right for q in self.near[p] if q > p and (right := self._below(q, mine)) is not None]
        for k, right in enumerate(bringing):
            later = self.needed.union(above, *(other.variables for other in bringing[k + 1 :]))
            names = dict.fromkeys((*expr.variables, *right.variables))
            keep = tuple(v for v in names if v in later)
            expr = Join(expr, right, keep)
            if len(keep) < len(names) and (p or k < len(bringing) - 1):
                expr = Project(expr, keep, "set")
        return expr

    def _below(self, q: int, above: tuple[str, ...]) -> Expr | None:
        """The join below an edge, projected to what is needed; None if the parent has all of that."""
        expr = self._join(q)
        wanted = tuple(v for v in expr.variables if v in above or v in self.needed)
        if set(wanted) <= set(above):
            return None
        return expr if len(wanted) == len(expr.variables) else Project(expr, wanted, "set")


# ---- A clause over the tables of the nodes


def heads(
    engine: Engine,
    active: Sequence[Active],
    parents: Sequence[int],
    body: Body,
    head: tuple[str | int, ...],
    delta: int | None = None,
) -> Project:
    """The heads that the active rows of all nodes give, perhaps with repetitions."""
    needed = frozenset(body.needed).union(
        *(c.variables for c in body.conditions),
        *(r.variables for r in body.negated),
        *(function.variables for _, function in body.computed),
    ) - {name for name, _ in body.computed}
    rows = CrossNode(engine, active, parents, needed).rows(delta)
    if rows is not None:
        return Project(_filtered(rows, body), head, "keep")
    names = tuple(dict.fromkeys(a for a in head if isinstance(a, str)))
    return Project(Rows(engine.table(names, np.empty((len(names), 0), np.int32))), head, "keep")


def _filtered(rows: Expr, body: Body) -> Expr:
    """Conditions, negated atoms and computed values that had to wait for the join of all nodes."""
    created = {name for name, _ in body.computed}
    for condition in body.conditions:
        rows = Where(rows, condition, rows.variables)
    waiting = [read for read in body.negated if created.intersection(read.variables)]
    for read in body.negated:
        if read not in waiting:
            rows = AntiJoin(rows, read, rows.variables)
    for name, function in body.computed:
        rows = Extend(rows, name, function)
    for read in waiting:
        rows = AntiJoin(rows, read, rows.variables)
    return rows


@dataclass(slots=True, kw_only=True)
class TreeEvaluation(Evaluation):
    """An evaluation along the tree: which version of its table each node reads.

    Tables are reduced anew each time.
    """

    engine: Engine
    parents: tuple[int, ...]

    def chosen(self) -> Project:
        reads = self.body.reads
        active = [Active(read, read.relation.size(read.version)) for read in reads]
        delta = next((i for i, read in enumerate(reads) if read.version in CHANGES), None)
        return heads(self.engine, active, self.parents, self.body, self.head, delta)


@dataclass(frozen=True, slots=True)
class Crossing(Prepared):
    """The clause whose atoms are tables; `parents` is the tree, as in `CrossNode`."""

    engine: Engine
    parents: tuple[int, ...]

    def make_evaluation(self, body: Body, source: ModuleId, *, is_lookup: bool) -> Evaluation:
        """An evaluation along the tree; for few facts that are looked up, a plain join with the tables."""
        if is_lookup:
            return Prepared.make_evaluation(self, body, source, is_lookup=True)
        return TreeEvaluation(
            self.label,
            self.relation,
            self.head,
            body,
            self.unit,
            source,
            engine=self.engine,
            parents=self.parents,
        )
