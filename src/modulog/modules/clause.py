"""A clause in the two forms that evaluation needs.

`Prepared` is a clause in which predicates have become relations and constants ids. `Evaluation` is one way to
evaluate it: each atom reads a version of its relation, and the expression has the join order chosen last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from modulog.algebra.describe import describe
from modulog.algebra.expressions import Argument, Compute, Condition, Project, Read, Value
from modulog.engines.engine import Engine, Work
from modulog.engines.relation import ModuleId, Relation, Version
from modulog.engines.table import Table
from modulog.joins.order import CHANGES, Body, Ordering
from modulog.language.model import Atom, Call, Comparison, Expression, Predicate, Term, Variable
from modulog.planning.plan import Clause
from modulog.terms.constant import Constant

GROWN = 8.0  # an order is chosen anew when a relation has grown or shrunk by this factor
MANY = 1000  # and has, or had, more facts than this


class Context(Protocol):
    """Where a clause finds relations and the ids of constants."""

    unit: Table
    engine: Engine
    external: dict[Predicate, Relation]

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


def value(expression: Expression, context: Context) -> Value:
    """An expression as an engine reads it."""
    if isinstance(expression, Call):
        return Compute(expression.function, tuple(value(a, context) for a in expression.arguments))
    found = argument(expression, context)
    assert found is not None
    return found


def condition(comparison: Comparison, context: Context) -> Condition:
    """A comparison as an engine reads it."""
    return Condition(comparison.operator, value(comparison.left, context), value(comparison.right, context))


def computations(
    computed: Mapping[Variable, Expression], context: Context
) -> tuple[tuple[str, Compute], ...]:
    """Computed variables as an engine reads them."""
    found = ((v.name, value(e, context)) for v, e in computed.items())
    return tuple((name, function) for name, function in found if isinstance(function, Compute))


@dataclass(slots=True)
class Evaluation:
    """One way to evaluate a clause: the version that each body atom reads, and the join order chosen last.

    `clause` names the clause in statistics, `relation` is that of its head, `source` the module that asks.
    """

    clause: object
    relation: Relation
    head: tuple[str | int, ...]
    body: Body
    unit: Table
    source: ModuleId
    expr: Project | None = None
    change: Read | None = field(init=False)  # the atom that reads a change, if one does
    sizes: list[int] = field(default_factory=list)
    cost: float = 0.0  # estimated for the expression, without sorting facts first

    def __post_init__(self) -> None:
        self.change = next((read for read in self.body.reads if read.version in CHANGES), None)

    def chosen(self) -> Project:
        """The expression in the order that suits the present sizes; its rows are heads, perhaps repeated."""
        sizes = [read.relation.guess(read.version) for read in self.body.reads]
        if self.expr is None or (sizes != self.sizes and any(map(_changed, sizes, self.sizes))):
            found = Ordering(self.body, self.unit).best()
            self.expr = Project(found.expr, self.head, "sum" if self.body.counting else "keep")
            self.sizes, self.cost = sizes, found.cost - found.sorting
        return self.expr

    def estimate(self) -> float:
        """What the expression is estimated to cost."""
        self.chosen()
        return self.cost

    def work(self) -> Work:
        """The clause as work for the engine."""
        return Work(self.relation, self.chosen(), self.source, self.clause)

    def empty(self) -> bool:
        """Whether some positive atom has nothing to read, so that nothing can follow."""
        for read in self.body.reads:
            if not read.relation.has(read.version):
                return True
        return False

    def show(self, name: Callable[[int], str]) -> str:
        """The order last used, on one line; empty if the clause has never been evaluated."""
        return "" if self.expr is None else describe(self.expr, name)


def _changed(now: float, then: float) -> bool:
    return max(now, then) > MANY and not then / GROWN <= now <= then * GROWN


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An atom of a body: the relation that it reads, and its arguments.

    `own` says that the stratum itself derives the relation's facts.
    """

    relation: Relation
    args: tuple[Argument, ...]
    own: bool = False

    def read(self, version: Version) -> Read:
        return Read(self.relation, self.args, version)

    @property
    def projected(self) -> bool:
        """Whether some argument is anonymous, so that a row may stand for several facts."""
        return None in self.args


@dataclass(frozen=True, slots=True)
class Prepared:
    """A clause over relations and ids, which can be evaluated over any versions of them.

    `relation` is that of the head; `label` names the clause in statistics.
    """

    label: object
    relation: Relation
    head: tuple[str | int, ...]
    atoms: tuple[Occurrence, ...]
    negations: tuple[Occurrence, ...]
    conditions: tuple[Condition, ...]
    computed: tuple[tuple[str, Compute], ...]
    unit: Table

    def heads(self, version: Version) -> Read:
        """Reads the facts of the head's relation that match the head; computed arguments match any term."""
        names = {name for name, _ in self.computed}
        return Read(self.relation, tuple(None if a in names else a for a in self.head), version)

    def evaluation(
        self,
        versions: Sequence[Version],
        source: ModuleId,
        negated: Sequence[Version] | None = None,
        also: Sequence[Read] = (),
        counting: bool = False,
    ) -> Evaluation:
        """The clause over chosen versions: body atom i reads versions[i], negated atom k negated[k].

        `also` are further atoms; with `counting`, rows keep multiplicities.
        """
        reads = (*also, *(a.read(v) for a, v in zip(self.atoms, versions, strict=True)))
        negated = ["all"] * len(self.negations) if negated is None else negated
        absent = tuple(a.read(v) for a, v in zip(self.negations, negated, strict=True))
        needed = tuple(dict.fromkeys(a for a in self.head if isinstance(a, str)))
        # What follows a change is evaluated again and again: an index made for it serves the next one too.
        once = not also and not set(CHANGES) & set(versions)
        body = Body(reads, absent, self.conditions, needed, once, self.computed, counting)
        return self.make_evaluation(body, source, is_lookup=bool(also))

    def make_evaluation(self, body: Body, source: ModuleId, *, is_lookup: bool) -> Evaluation:
        """An evaluation of a body; `is_lookup` says that it begins with facts that are looked up."""
        return Evaluation(self.label, self.relation, self.head, body, self.unit, source)

    def whole(
        self, version: Version, source: ModuleId, counting: bool = False, own: Version | None = None
    ) -> Evaluation:
        """Every atom reads the same version; those of the stratum itself, if it is given, `own`."""
        positive = [own if own is not None and atom.own else version for atom in self.atoms]
        return self.evaluation(positive, source, [version] * len(self.negations), counting=counting)


def prepare(clause: Clause, context: Context, own: Sequence[Predicate] = ()) -> Prepared:
    """The clause over the relations of a context; `own` are the predicates of the clause's stratum."""
    return Prepared(
        clause,
        context.relation(clause.head.predicate),
        tuple(a for a in arguments(clause.head, context) if a is not None),
        tuple(
            Occurrence(context.relation(a.predicate), arguments(a, context), a.predicate in own)
            for a in clause.atoms
        ),
        tuple(Occurrence(context.relation(a.predicate), arguments(a, context)) for a in clause.negations),
        tuple(condition(c, context) for c in clause.comparisons if c.left not in clause.computed),
        computations(clause.computed, context),
        context.unit,
    )
