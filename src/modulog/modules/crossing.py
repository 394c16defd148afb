"""A clause over the tables of its nodes: the same head and filters, one atom for each node of the tree.

It is a clause like any other, so that what a change of its atoms means is said where it is said for all clauses. Only how it is evaluated differs: along
the tree, unless further atoms bind its head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modulog.engines.protocol import (
    AntiJoin,
    Engine,
    Expr,
    Extend,
    ModuleId,
    Project,
    Read,
    Rows,
    Version,
    Where,
)
from modulog.modules.clauses import Evaluation, Prepared
from modulog.modules.cross_node import Active, CrossNode
from modulog.planning.order_joins import Body

CHANGES = ("delta", "gone", "come")


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
    """An evaluation along the tree: which version of its table each node reads. Tables are reduced anew each time."""

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

    def evaluation(
        self,
        versions: Sequence[Version],
        source: ModuleId,
        negated: Sequence[Version] | None = None,
        also: Sequence[Read] = (),
        counting: bool = False,
    ) -> Evaluation:
        """As for any clause; `also` are few facts that the tables are looked up for, in the order that suits."""
        made = Prepared.evaluation(self, versions, source, negated, also, counting)
        if also:
            return made
        return TreeEvaluation(
            made.clause,
            made.relation,
            made.head,
            made.body,
            made.unit,
            made.source,
            engine=self.engine,
            parents=self.parents,
        )
