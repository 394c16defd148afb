"""Nonrecursive support: which facts have a derivation without facts of their own stratum (C_nr).

That is found by a counter of the instances of each clause, or by an existence query with its head bound to
the facts in question. Both refer to what holds after the update, so both updates of C_nr come before
over-deletion, which then deletes fewer facts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from modulog.engines.engine import Engine, Work
from modulog.engines.relation import ModuleId, Relation, Version
from modulog.joins.order import Body, instances
from modulog.modules.clause import Evaluation, Occurrence, Prepared
from modulog.modules.clause_changes import due, lost, won
from modulog.modules.derivation_counts import Counting, countable
from modulog.modules.tree_join import Crossing

TRIES = 32  # facts that a query may look at for each head
REPEATED = 4  # instances for each head that are still counted


class Support:
    """The support that the nonrecursive clauses of a stratum give to the facts of one relation."""

    def __init__(
        self, relation: Relation, clauses: Sequence[Prepared], engine: Engine, source: ModuleId, method: str
    ) -> None:
        self.relation, self.engine = relation, engine
        own = [clause for clause in clauses if clause.relation is relation]
        counted = [clause for clause in own if is_counted(clause, method)]
        asked = [clause for clause in own if clause not in counted]
        self.counting = Counting(relation, counted, engine, source) if counted else None
        self.queries = [_query(clause, source) for clause in asked]
        self.sole = {id(clause.label) for clause in asked if is_sole(clause)}
        self.counted = {-1: _each(lost, counted, source, True), 1: _each(won, counted, source, True)}
        self.asked = {-1: _each(lost, asked, source, False), 1: _each(won, asked, source, False)}
        self.waiting: dict[int, list[Work]] = {-1: [], 1: []}
        self.losing: set[int] = set()  # the labels of the clauses whose instances were lost

    def begin(self) -> None:
        """Begin an update: count what changes below took away and brought."""
        if self.counting is not None:
            self.counting.begin()
            self.waiting = {sign: self.counting.change(due(self.counted[sign]), sign) for sign in (-1, 1)}

    def work(self, sign: int) -> list[Work]:
        """Facts that lost (-1) or won (+1) a nonrecursive derivation."""
        waiting, self.waiting[sign] = self.waiting[sign], []
        work = [*waiting, *(e.work() for e in due(self.asked[sign]))]
        if sign < 0:
            self.losing = {id(w.label) for w in work}
            for w in work:
                w.there = True  # an instance that was lost had held, and so had its head
        return work

    def spare(self, first: bool) -> int:
        """Let the supported facts of the leaving Δ stay (E1); returns how many are left to leave.

        In the `first` round Δ is what `work` gave: heads of one clause that has no second instance for any of
        them need not be asked for.
        """
        if self.counting is not None and self.relation.size("delta"):
            self.relation.spare(self.counting.positive("delta"))
        in_vain = self.losing & self.sole if first and len(self.losing) == 1 else set()
        queries = [query for query in self.queries if id(query.clause) not in in_vain]
        # All are asked before any is spared: where facts are far away, they then leave in one go.
        for rows in [self.engine.ask(query.chosen()) for query in queries if not query.empty()]:
            self.relation.spare(rows)
        return self.relation.size("delta")


def is_sole(clause: Prepared) -> bool:
    """Whether each head has one instance at most, because it has all variables of the body.

    An instance that was lost was then the last one of its head.
    """
    bound = {a for a in clause.head if isinstance(a, str)} - {name for name, _ in clause.computed}
    used = {a for atom in (*clause.atoms, *clause.negations) for a in atom.args if isinstance(a, str)}
    return used <= bound and not any(atom.projected for atom in clause.atoms)


def is_counted(clause: Prepared, method: str) -> bool:
    """Whether a clause has counters of its instances, instead of being asked by a query.

    Under "dredc" every clause that can be counted has; a decomposed one is asked, along the tables of its
    nodes. Under "auto" those have whose query would try many facts for each head, unless most instances have
    the same head: then counting instances costs more than asking for heads.
    """
    if method not in ("auto", "dredc") or isinstance(clause, Crossing) or not countable(clause):
        return False
    if method == "dredc":
        return True
    if not all(atom.relation.listed for atom in clause.atoms):
        return False  # there may be far too many instances to count
    bound = {a for a in clause.head if isinstance(a, str)}
    if min((_tries(atom, bound) for atom in clause.atoms), default=0.0) <= TRIES:
        return False
    everything = Body(tuple(atom.read("after") for atom in clause.atoms))
    return instances(everything, clause.unit) <= REPEATED * clause.relation.size("before")


def _tries(atom: Occurrence, bound: set[str]) -> float:
    """How many facts of an atom a query looks at, with the head's variables bound."""
    estimate = atom.relation.estimate("after")
    rows = estimate.rows
    for arg, values in zip(atom.args, estimate.distinct, strict=True):
        if isinstance(arg, int) or arg in bound:
            rows /= max(values, 1.0)
    return rows


def _each(
    find: Callable[[Prepared, ModuleId, bool], list[Evaluation]],
    clauses: Sequence[Prepared],
    source: ModuleId,
    counting: bool,
) -> list[Evaluation]:
    """What `lost` or `won` finds for each of the clauses."""
    return [found for clause in clauses for found in find(clause, source, counting)]


def _query(clause: Prepared, source: ModuleId) -> Evaluation:
    """Which of the leaving facts the clause still derives."""
    versions: list[Version] = ["after"] * len(clause.atoms)
    absent: list[Version] = ["after"] * len(clause.negations)
    return clause.evaluation(versions, source, absent, [clause.heads("delta")])
