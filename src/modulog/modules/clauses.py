"""A clause made ready for an engine: its reads, its head, and the expression last chosen for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from modulog.engines.protocol import (
    Argument,
    Condition,
    ModuleId,
    Project,
    Read,
    Relation,
    Table,
    Version,
    Work,
)
from modulog.language.model import Atom, Comparison, Predicate, Term, Variable
from modulog.planning.order_joins import Body, describe, order
from modulog.planning.plan import Clause
from modulog.terms.model import Constant

CHANGED = 8.0  # an order is chosen anew when a relation has grown or shrunk by this factor
SETTLED = 1000  # and has, or had, more facts than this


class Context(Protocol):
    """Where a clause finds relations and the ids of constants."""

    unit: Table

    def relation(self, predicate: Predicate) -> Relation:
        """The relation that holds a predicate's facts."""

    def identify(self, constant: Constant) -> int:
        """The id of a constant, new if need be."""


def arguments(atom: Atom, context: Context) -> tuple[Argument, ...]:
    """The terms of an atom as an engine reads them."""
    return tuple(argument(t, context) for t in atom.terms)


def argument(term: Term, context: Context) -> Argument:
    """A variable's name, a constant's id, or None for an anonymous variable."""
    if isinstance(term, Variable):
        return None if term.anonymous else term.name
    return context.identify(term)


def condition(comparison: Comparison, context: Context) -> Condition:
    """A comparison as an engine reads it."""
    left, right = argument(comparison.left, context), argument(comparison.right, context)
    assert left is not None and right is not None
    return Condition(comparison.operator, left, right)


@dataclass(slots=True)
class Evaluation:
    """One way to evaluate a clause: which version each body atom reads."""

    clause: Clause
    relation: Relation
    head: tuple[str | int, ...]
    body: Body
    unit: Table
    source: ModuleId
    expr: Project | None = None
    sizes: list[float] = field(default_factory=list)

    def work(self) -> Work:
        """The clause as work for the engine, in the order that suits the present sizes."""
        sizes = [read.relation.size(read.version) for read in self.body.reads]
        if self.expr is None or any(_changed(a, b) for a, b in zip(sizes, self.sizes, strict=True)):
            self.expr = Project(order(self.body, self.unit), self.head, "keep")
            self.sizes = list(sizes)
        return Work(self.relation, self.expr, self.source, self.clause)

    def empty(self) -> bool:
        """Whether some positive atom has nothing to read, so that nothing can follow."""
        return any(read.relation.size(read.version) == 0 for read in self.body.reads)

    def show(self, name: Callable[[int], str]) -> str:
        """The order last used, on one line; empty if the clause was never touched."""
        return "" if self.expr is None else describe(self.expr, name)


def _changed(now: float, then: float) -> bool:
    return max(now, then) > SETTLED and not then / CHANGED <= now <= then * CHANGED


def evaluation(clause: Clause, versions: Sequence[Version], context: Context, source: ModuleId) -> Evaluation:
    """Make a clause ready, body atom i reading versions[i]; negated atoms belong to finished strata and read all."""
    reads = tuple(
        Read(context.relation(atom.predicate), arguments(atom, context), version)
        for atom, version in zip(clause.atoms, versions, strict=True)
    )
    negated = tuple(
        Read(context.relation(a.predicate), arguments(a, context), "all") for a in clause.negations
    )
    conditions = tuple(condition(c, context) for c in clause.comparisons)
    head = tuple(a for a in arguments(clause.head, context) if a is not None)
    needed = tuple(dict.fromkeys(a for a in head if isinstance(a, str)))
    body = Body(reads, negated, conditions, needed, once="delta" not in versions)
    return Evaluation(clause, context.relation(clause.head.predicate), head, body, context.unit, source)
