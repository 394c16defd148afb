"""The transitive module beside other recursive clauses: Algorithms 4 to 6 of the modular paper, corrected.

`R(x,y), R(y,z) → R(x,z)` is evaluated as `X(x,y), R(y,z) → R(x,z)`: X_R holds the external facts, those that
something else derived, and every fact of R is a chain of them. docs/errata.md tells where the printed
algorithms fail; E4 to E7 are the marks used there.
"""

from __future__ import annotations

from collections.abc import Sequence

from modulog.algebra.expressions import AntiJoin, Expr, Join, Project, Read, SemiJoin, Union
from modulog.engines.engine import Work
from modulog.engines.relation import ModuleId, Relation, Version
from modulog.modules.clause import Context
from modulog.modules.module import Module
from modulog.planning.plan import ModulePlan


class SharedClosure(Module):
    """A transitive predicate, perhaps symmetric, of a stratum with other recursion."""

    def __init__(self, number: ModuleId, plan: ModulePlan, context: Context) -> None:
        self.number, self.engine = number, context.engine
        self.label = plan.clauses[0]
        self.relation = context.relation(self.label.head.predicate)
        self.relation.by_source = True  # Δ \\ Δ_i is read

    def _delta(self) -> Read:
        """Δ \\ Δ_i: what others added, or deleted, in the last round."""
        return Read(self.relation, ("x", "y"), "delta", except_from=self.number)

    @property
    def _is_idle(self) -> bool:
        """Whether there is nothing to do in a round: Δ is empty, or the relation represents the closure."""
        return not self.relation.listed or not self.relation.size("delta")


class TransitiveModule(SharedClosure):
    """One transitive predicate of a stratum with other recursion."""

    def __init__(self, number: ModuleId, plan: ModulePlan, context: Context) -> None:
        super().__init__(number, plan, context)
        self.external = self.engine.relation(f"{self.relation.name}°", 2)  # X_R
        self.seen = self.engine.relation(f"{self.relation.name} seen", 2)  # S, of one update

    def _work(self, target: Relation, pairs: Expr) -> Work:
        return Work(target, Project(pairs, ("x", "z"), "keep"), self.number, self.label)

    def _closed(self, target: Relation, first: Sequence[Expr], step: Expr) -> None:
        """target := what `first` gives, and what `step` gives from the target's Δ, again and again."""
        self.engine.run([self._work(target, pairs) for pairs in first])
        while target.derive():
            self.engine.run([self._work(target, step)])
            target.merge()

    # ---- Algorithm 4

    def add(self) -> list[Work]:
        """Add (Definition 3): chains that begin with an external fact and use a new one."""
        if self._is_idle:
            return []
        self.engine.run(
            [Work(self.external, Project(self._delta(), ("x", "y"), "keep"), self.number, self.label)]
        )
        if not self.external.derive():
            return []
        fresh = self.engine.relation(f"{self.relation.name} new", 2)
        new = Read(self.external, ("x", "y"), "delta")
        first = [
            Join(new, Read(self.relation, ("y", "z"), "all"), ("x", "z")),
            Join(
                Read(self.relation, ("y", "z"), "delta", self.number),
                Read(self.external, ("x", "y"), "old"),
                ("x", "z"),
            ),
        ]

        def absent(pair: tuple[str, str], version: Version) -> Expr:
            """E4: what is there already is not new.

            It is left out of what was found, where no pair is there twice.
            """
            return AntiJoin(Read(fresh, pair, version), Read(self.relation, pair, "all"), pair)

        step = Join(absent(("y", "z"), "delta"), Read(self.external, ("x", "y"), "all"), ("x", "z"))
        self._closed(fresh, first, step)
        self.external.merge()
        return [self._work(self.relation, absent(("x", "z"), "all"))] if fresh.size("all") else []

    # ---- Algorithm 5

    def begin(self) -> None:
        """An update begins: nothing has been seen."""
        self.seen = self.engine.relation(f"{self.relation.name} seen", 2)

    def delete(self) -> list[Work]:
        """Del (Definition 6): what a chain with a deleted fact led to; the loop keeps what has support."""
        if self._is_idle:
            return []
        there = Read(self.relation, ("x", "z"), "all")

        def present(pairs: Expr) -> Expr:
            return SemiJoin(pairs, there, ("x", "z"))

        deleted = self._delta()
        edges = Union(
            (Read(self.external, ("x", "y"), "all"), deleted)
        )  # E5: deleted facts join with each other
        first = [
            Read(self.relation, ("x", "z"), "delta", self.number),
            present(Join(deleted, Read(self.relation, ("y", "z"), "all"), ("x", "z"))),
        ]
        self._closed(self.seen, first, present(Join(edges, Read(self.seen, ("y", "z"), "delta"), ("x", "z"))))
        return [self._work(self.relation, Read(self.seen, ("x", "z"), "all"))]

    # ---- Algorithm 6

    def rederive(self) -> list[Work]:
        """Red (Definition 7): over-deleted facts that a chain of external facts still leads to."""
        self._adjust_external()
        doomed = Read(self.relation, ("x", "z"), "gone")
        if not self.relation.size("gone"):
            return []
        found = self.engine.relation(f"{self.relation.name} again", 2)
        edges = Read(self.external, ("x", "y"), "all")
        pairs = ("x", "z")
        stayed = Read(self.relation, ("y", "z"), "old")
        first = SemiJoin(Join(doomed, edges, ("x", "y", "z")), stayed, pairs)
        step = SemiJoin(Join(edges, Read(found, ("y", "z"), "delta"), pairs), doomed, pairs)
        self._closed(found, [first], step)
        return [self._work(self.relation, Read(found, pairs, "all"))] if found.size("all") else []

    def _adjust_external(self) -> None:
        """X_R loses every over-deleted fact (E6) and gains those that were seen and kept (E7)."""
        pair = ("x", "z")
        gone = Read(self.relation, pair, "gone")
        self.engine.run([self._work(self.external, SemiJoin(Read(self.external, pair, "all"), gone, pair))])
        self.external.derive(leaving=True)
        self.external.merge()
        self.engine.run([self._work(self.external, AntiJoin(Read(self.seen, pair, "all"), gone, pair))])
        self.external.derive()
        self.external.merge()
        self.external.rest()

    def relations(self) -> list[Relation]:
        return [self.external]

    def restore(self, relations: Sequence[Relation]) -> None:
        """Take the external facts that were kept."""
        (self.external,) = relations
