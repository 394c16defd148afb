"""A closure that is all the recursion of its stratum, kept exactly (no over-deletion).

Its external facts X are the explicit and nonrecursively derived ones, a relation of their own. The closure is what *seeds* lead to along
a *graph*: for a transitive R both are X; for `P(x,z) :- P(x,y), E(y,z)` the seeds are X and the graph is E; the left-linear form is the
same with everything turned round. When seeds or graph change, only sources that change themselves or that led to a changed edge can gain or
lose facts: what these lead to now is compared with what they led to before.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from modulog.engines.protocol import (
    Expr,
    Extend,
    Join,
    ModuleId,
    Project,
    Read,
    Relation,
    Rows,
    Table,
    Union,
    Version,
    Work,
)
from modulog.language.model import Predicate
from modulog.modules.clauses import Context, Evaluation, arguments
from modulog.modules.partition import components_of, moved_pairs
from modulog.planning.plan import ModulePlan


class ExactClosure:
    """A transitive, symmetric-transitive, left- or right-linear closure."""

    def __init__(self, number: ModuleId, plan: ModulePlan, predicate: Predicate, context: Context) -> None:
        self.number, self.plan, self.context = number, plan, context
        self.relation, self.external = context.relation(predicate), context.external[predicate]
        self.turned = plan.kind == "left-linear"
        self.label = plan.clauses[0]

    # ---- The closure as seeds and a graph

    @property
    def pair(self) -> tuple[str, str]:
        """The arguments of a fact: source and target, as the closure runs."""
        return ("t", "s") if self.turned else ("s", "t")

    @cached_property
    def _graph(self) -> tuple[Relation, tuple[str, str]]:
        """The relation of the edges, with its arguments: from u to v."""
        if self.plan.graph is None:
            return self.external, ("u", "v")
        clause = self.plan.clauses[0]
        ends = set(clause.head.terms)
        # The variable that the head does not have is where the recursive atom ends: an edge leads from there.
        args = tuple("v" if term in ends else "u" for term in self.plan.graph.terms)
        assert len(args) == len(arguments(self.plan.graph, self.context)) == 2
        return self.context.relation(self.plan.graph.predicate), (args[0], args[1])

    def graph(self, version: Version) -> Read:
        relation, args = self._graph
        return Read(relation, args, version)

    def seeds(self, version: Version) -> Expr:
        """Pairs (s, y); where the closure is reflexive, also (x, x) for the ends of external facts."""
        args = ("y", "s") if self.turned else ("s", "y")
        parts: list[Expr] = [Project(Read(self.external, args, version), ("s", "y"), "keep")]
        for end in sorted(self.plan.reflexive):
            node = Read(self.external, ("s", None) if end == 0 else (None, "s"), version)
            parts.append(Project(Extend(node, "y", "s"), ("s", "y"), "set"))
        return parts[0] if len(parts) == 1 else Union(tuple(parts))

    # ---- Materialisation

    def add(self) -> list[Work]:
        """Add (Definition 3): everything at once, when the external facts have come."""
        if not self.external.size("delta"):
            return []
        engine = self.context.engine
        if self.plan.kind == "symmetric":
            return [self._pairs_of(components_of(engine, Read(self.external, ("x", "y"), "all")))]
        return [self._fact(t) for t in engine.reach(self.seeds("all"), self.graph("all"))]

    def _pairs_of(self, members: Table) -> Work:
        """All pairs of members (x, c) of one component."""
        both = Join(Rows(members), Rows(members, ("y", "c")), ("x", "y"))
        return Work(self.relation, Project(both, ("x", "y"), "keep"), self.number, self.label)

    def _fact(self, table: Table) -> Work:
        return Work(self.relation, Project(Rows(table), self.pair, "keep"), self.number, self.label)

    # ---- Maintenance

    @property
    def changed(self) -> bool:
        """Whether anything that the closure is made of has changed."""
        relations = (self.external, self._graph[0])
        return any(r.size("gone") or r.size("come") for r in relations)

    def maintain(self) -> None:
        """Bring the relation to the closure of what holds after; the net change is exact."""
        if self.plan.kind == "symmetric":
            self._maintain_components()
        else:
            self._maintain_rows()

    def _maintain_rows(self) -> None:
        engine, affected = self.context.engine, self._affected()
        if not len(affected):
            return
        known = Read(self.relation, self.pair, "before")
        lost, won = [], []
        for gone, come in engine.reach_changes(affected, self.seeds("after"), self.graph("after"), known):
            lost += [gone] if len(gone) else []
            won += [come] if len(come) else []
        for tables, leaving in ((lost, True), (won, False)):
            if tables:
                self._change(Union(tuple(map(Rows, tables))), leaving)

    def _change(self, pairs: Expr, leaving: bool) -> None:
        engine = self.context.engine
        engine.run([Work(self.relation, Project(pairs, self.pair, "keep"), self.number, self.label)])
        self.relation.derive(leaving)
        self.relation.merge()

    def _affected(self) -> Table:
        """The sources that may lead to more or less than before."""
        parts: list[Expr] = []
        versions: tuple[Version, ...] = ("gone", "come")
        for version in versions:
            parts.append(Project(self.seeds(version), ("s",), "keep"))
            tails = Project(self.graph(version), ("u",), "set")
            known = Read(self.relation, ("u", "s") if self.turned else ("s", "u"), "before")
            parts.append(Project(Join(tails, known, ("s",)), ("s",), "keep"))
        return self._table(Project(Union(tuple(parts)), ("s",), "set"))

    def _table(self, expr: Expr) -> Table:
        return self.context.engine.collect(expr)

    def _maintain_components(self) -> None:
        engine = self.context.engine
        ends: tuple[tuple[str | None, str | None], ...] = (("n", None), (None, "n"))
        versions: tuple[Version, ...] = ("gone", "come")
        parts = [
            Project(Read(self.external, args, version), ("n",), "keep")
            for version in versions
            for args in ends
        ]
        touched = self._table(Project(Union(tuple(parts)), ("n",), "set"))
        # Members of the old components around the changed edges, and how the external facts connect them now.
        before = components_of(
            engine, Join(Rows(touched), Read(self.relation, ("n", "m"), "before"), ("n", "m"))
        )
        everyone = Union((Project(Rows(before), ("x",), "keep"), Rows(touched, ("x",))))
        members = Rows(self._table(Project(everyone, ("x",), "set")))
        after = components_of(engine, Join(members, Read(self.external, ("x", "y"), "after"), ("x", "y")))
        for leaving, old, new in ((True, before, after), (False, after, before)):
            groups, pairs = moved_pairs(engine, old, new)
            if len(pairs):
                first = Join(Rows(groups, ("s", "g")), Rows(pairs), ("s", "h"))
                self._change(Join(first, Rows(groups, ("t", "h")), ("s", "t")), leaving)

    # ---- The rest of the contract

    def delete(self) -> list[Work]:
        """Nothing is over-deleted: see `maintain`."""
        return []

    def rederive(self) -> list[Work]:
        """Nothing was over-deleted."""
        return []

    def diff(self, sign: int) -> list[Work]:
        """Changes of the graph are `maintain`'s."""
        return []

    def begin(self) -> None:
        """Nothing is kept beside the external facts."""

    def end(self) -> None:
        """Nothing is open."""

    def relations(self) -> Sequence[Relation]:
        return []

    def restore(self, relations: Sequence[Relation]) -> None:
        """Nothing is kept beside the external facts."""

    def evaluations(self) -> Sequence[Evaluation]:
        return []
