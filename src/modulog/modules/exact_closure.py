"""A closure that is all the recursion of its stratum, kept exactly (no over-deletion).

Its external facts X are the explicit and nonrecursively derived ones, a relation of their own. The closure
has a pair for every node that can be reached from a *seed* along a *graph*: for a transitive R both are X;
for `P(x,z) :- P(x,y), E(y,z)` the seeds are X and the graph is E; the left-linear form is the same with all
arguments inverted.

A relation that can represent a closure (those of the local engine) is given seeds, graph and their changes.
For other relations, only sources that change themselves, or from which a changed edge can be reached, can
gain or lose facts: the pairs of these are computed and compared with those from before. If nearly all sources
are affected, all are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from modulog.algebra.expressions import AntiJoin, Expr, Extend, Join, Project, Read, Rows, SemiJoin, Union
from modulog.engines.engine import Work
from modulog.engines.relation import Closing, ModuleId, Relation, Version
from modulog.engines.table import Table
from modulog.modules.clause import Context, arguments
from modulog.modules.module import ExactModule
from modulog.planning.plan import ModulePlan

CHANGED: tuple[Version, ...] = ("gone", "come")
CHANGES: tuple[tuple[Version, bool], ...] = (("gone", True), ("come", False))  # and whether it leaves
WHOLE: tuple[Version, ...] = ("before", "after")
LASTING = 8  # updates over which the cost of an index is spread


class ExactClosure(ExactModule):
    """A transitive, symmetric-transitive, left- or right-linear closure."""

    def __init__(self, number: ModuleId, plan: ModulePlan, context: Context) -> None:
        self.number, self.plan, self.context = number, plan, context
        predicate = plan.clauses[0].head.predicate
        self.relation, self.external = context.relation(predicate), context.external[predicate]
        self.closing = self.relation.closing
        self.turned = plan.kind == "left-linear"
        self.label = plan.clauses[0]

    # ---- The closure as seeds and a graph

    @property
    def pair(self) -> tuple[str, str]:
        """The arguments of a fact as source `s` and target `t`; left-linear closures invert them."""
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
        relation = self.context.relation(self.plan.graph.predicate)
        if (
            relation.scheme.kind in ("closure", "reflexive closure")
            and self.plan.graph.predicate in self.context.external
        ):
            # A path in a closure is a path of its external facts, of which there are far fewer.
            relation = self.context.external[self.plan.graph.predicate]
        return relation, (args[0], args[1])

    def inputs(self) -> Sequence[Relation]:
        """The relation of the edges, which may be that of another closure's external facts."""
        return [] if self.plan.graph is None else [self._graph[0]]

    def graph(self, version: Version) -> Read:
        relation, args = self._graph
        return Read(relation, args, version)

    def seeds(self, version: Version, reflexive: bool = True) -> Expr:
        """Pairs (s, y); with `reflexive`, also (x, x) for the ends at which the closure is reflexive."""
        args = ("y", "s") if self.turned else ("s", "y")
        parts: list[Expr] = [Project(Read(self.external, args, version), ("s", "y"), "keep")]
        for end in sorted(self.plan.reflexive) if reflexive else ():
            node = Read(self.external, ("s", None) if end == 0 else (None, "s"), version)
            parts.append(Project(Extend(node, "y", "s"), ("s", "y"), "set"))
        return parts[0] if len(parts) == 1 else Union(tuple(parts))

    # ---- Materialisation

    def add(self) -> list[Work]:
        """Add (Definition 3): the whole closure in one round, when the external facts are in Δ."""
        if not self.external.size("delta"):
            return []
        engine = self.context.engine
        if self.closing is not None and self.closing.consider(self._given("all"), self._edges("all")):
            return []
        if self.plan.kind == "symmetric":
            return [self._pairs_of(engine.components(Read(self.external, ("x", "y"), "all")))]
        return [self._fact(t) for t in engine.reach(self.seeds("all"), self.graph("all"))]

    def represent_later(self, rows: int) -> bool:
        """Let the relation compute the closure, of `rows` pairs, at its first use; False if it cannot."""
        if self.closing is None or not self.closing.holds(self._external()):
            return False
        # The function must not refer to the relation: that would keep a store open that is no longer used.
        engine, given, edges = (
            self.context.engine,
            self._external_seeds("before"),
            self._graph_edges("before"),
        )
        self.closing.later(
            lambda: (engine.collect(given), None if edges is None else engine.collect(edges)), rows
        )
        return True

    @property
    def _is_linear(self) -> bool:
        """Whether the relation is given edges beside its seeds; not if it is reflexive at both ends."""
        return self.plan.graph is not None or len(self.plan.reflexive) == 1

    def _given(self, version: Version) -> Table:
        return self._table(self._external_seeds(version))

    def _edges(self, version: Version) -> Table | None:
        edges = self._graph_edges(version)
        return None if edges is None else self._table(edges)

    def _external_seeds(self, version: Version) -> Expr:
        """The seeds that the relation is given."""
        if len(self.plan.reflexive) != 1:
            return Project(self.seeds(version, False), ("s", "y"), "keep")
        seeds = self.seeds(version)
        # An end that has gone from one fact may be that of another.
        lasting = AntiJoin(seeds, self.seeds("after"), ("s", "y")) if version == "gone" else seeds
        return Project(lasting, ("s", "y"), "keep")

    def _graph_edges(self, version: Version) -> Expr | None:
        """The edges of a linear closure."""
        return Project(self.graph(version), ("u", "v"), "keep") if self._is_linear else None

    def _pairs_of(self, members: Table) -> Work:
        return Work(self.relation, Project(_together(members), ("s", "t"), "keep"), self.number, self.label)

    def _fact(self, table: Table) -> Work:
        return Work(self.relation, Project(Rows(table), self.pair, "keep"), self.number, self.label)

    # ---- Maintenance

    @property
    def changed(self) -> bool:
        """Whether the external facts or the edges have changed."""
        relations = (self.external, self._graph[0])
        return any(r.has("gone") or r.has("come") for r in relations)

    def estimate(self) -> tuple[float, float]:
        """How many facts `maintain` would read: for sources that the change can affect, and for all."""
        pairs = self.relation.estimate("before")
        sources, targets = (max(n, 1.0) for n in pairs.distinct)
        edges, seeds = (sum(r.size(v) for v in CHANGED) for r in (self._graph[0], self.external))
        if self.plan.kind == "symmetric":
            component, kept = pairs.rows / sources, self.external.size("after")
            members = 2 * edges * component  # of the components at both ends of each changed edge
            return members + kept * min(1.0, members / sources), float(kept + self.external.size("before"))
        # A source leads to a node with this chance, and is touched if it leads to one of the changed edges.
        chance = min(1.0, pairs.rows / (sources * targets))
        touched = min(1.0, 1.0 - (1.0 - chance) ** edges + seeds / sources)
        unsorted = self.relation.unsorted((0 if self.turned else 1,), "before")
        return edges * pairs.rows / targets + touched * pairs.rows + unsorted / LASTING, pairs.rows

    def maintain(self, everything: bool = False) -> None:
        """Change the relation to the closure of what holds after the update; the net change is exact.

        With `everything` all sources are compared, without looking for those that the change can affect.
        """
        if (
            self.closing is not None
            and not self.relation.takes_facts
            and self.closing.holds(self._external())
        ):
            self._maintain_structure(self.closing)
        elif self.plan.kind == "symmetric":
            self._maintain_components(everything)
        else:
            self._maintain_rows(self._sources() if everything else self._affected())

    def _external(self) -> int:
        """How many external facts and edges there are."""
        edges = 0 if self.plan.graph is None else self._graph[0].size("after")
        return self.external.size("after") + edges

    def _maintain_structure(self, closing: Closing) -> None:
        """For a relation that represents the closure: give it what has gone and come of seeds and edges."""
        known = self._edges("before") if not closing.has("before") else None
        if known is not None:
            # While there were no seeds it was not given the edges; giving it the same edges twice does no
            # harm.
            closing.lead(known)
            closing.derive()
            closing.merge()
        for version, leaving in CHANGES:
            if not (self.external.has(version) or self._graph[0].has(version)):
                continue
            closing.schedule(self._given(version), self.number)
            if (edges := self._edges(version)) is not None:
                closing.lead(edges)
            closing.derive(leaving)
            closing.merge()

    def _maintain_rows(self, affected: Table) -> None:
        """For a relation that lists its facts: compute the pairs of affected sources, and compare."""
        engine = self.context.engine
        if not len(affected):
            return
        some = Rows(affected)
        seeds = self.seeds("after")
        now = list(engine.reach(SemiJoin(seeds, some, seeds.variables), self.graph("after")))
        known = SemiJoin(Read(self.relation, self.pair, "before"), some, ("s", "t"))
        if not now:
            self._change(known, leaving=True)
            return
        found = Union(tuple(map(Rows, now)))
        lost = self._table(Project(AntiJoin(known, found, ("s", "t")), ("s", "t"), "keep"))
        won = self._table(Project(AntiJoin(found, known, ("s", "t")), ("s", "t"), "keep"))
        self._change(Rows(lost), leaving=True)
        self._change(Rows(won), leaving=False)

    def _change(self, pairs: Expr, leaving: bool) -> None:
        engine = self.context.engine
        project = Project(pairs, self.pair, "keep")
        engine.run([Work(self.relation, project, self.number, self.label, there=leaving)])
        self.relation.derive(leaving)
        self.relation.merge()

    def _sources(self) -> Table:
        """All sources, of before and after."""
        return self._table(Project(self.seeds("either"), ("s",), "set"))

    def _affected(self) -> Table:
        """The sources that may have gained or lost pairs."""
        parts: list[Expr] = []
        for version in CHANGED:
            parts.append(Project(self.seeds(version), ("s",), "keep"))
            tails = Project(self.graph(version), ("u",), "set")
            known = Read(self.relation, ("u", "s") if self.turned else ("s", "u"), "before")
            parts.append(Project(Join(tails, known, ("s",)), ("s",), "keep"))
        return self._table(Project(Union(tuple(parts)), ("s",), "set"))

    def _table(self, expr: Expr) -> Table:
        return self.context.engine.collect(expr)

    def _maintain_components(self, everything: bool) -> None:
        engine = self.context.engine
        if everything:
            before, after = (engine.components(Read(self.external, ("x", "y"), v)) for v in WHOLE)
        else:
            before, after = self._touched_components()
        for leaving, old, new in ((True, before, after), (False, after, before)):
            self._change(AntiJoin(_together(old), _together(new), ("s", "t")), leaving)

    def _touched_components(self) -> tuple[Table, Table]:
        """The components that had the ends of changed edges, before and after; as members with components."""
        engine = self.context.engine
        ends: tuple[tuple[str | None, str | None], ...] = (("n", None), (None, "n"))
        parts = [Project(Read(self.external, args, v), ("n",), "keep") for v in CHANGED for args in ends]
        touched = self._table(Project(Union(tuple(parts)), ("n",), "set"))
        before = engine.components(Join(Rows(touched), Read(self.relation, ("n", "m"), "before"), ("n", "m")))
        everyone = Union((Project(Rows(before), ("x",), "keep"), Rows(touched, ("x",))))
        members = Rows(self._table(Project(everyone, ("x",), "set")))
        after = engine.components(Join(members, Read(self.external, ("x", "y"), "after"), ("x", "y")))
        return before, after


def _together(members: Table) -> Expr:
    """All pairs of members (x, c) of one component."""
    return Join(Rows(members, ("s", "c")), Rows(members, ("t", "c")), ("s", "t"))
