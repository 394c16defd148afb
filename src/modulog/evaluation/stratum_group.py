"""The strata that one fixpoint evaluates: one, or on a cluster several that are independent of each other.

On a cluster a round costs a job however little it does, so such strata share their rounds
(`Engine.shares_rounds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from modulog.engines.engine import Work
from modulog.engines.relation import Relation
from modulog.evaluation.facts import Facts
from modulog.evaluation.observers import LoopObserver
from modulog.evaluation.statistics import StratumStatistics
from modulog.evaluation.stratum import LiveStratum


class StratumGroup:
    """What a fixpoint reads and changes, and how far it has come.

    Where the work of another process is resumed, `statistics` has its rounds, and `finished` says whether
    those were all.
    """

    def __init__(self, strata: Sequence[LiveStratum], facts: Facts) -> None:
        self.strata, self.facts = strata, facts
        predicates = [p for stratum in strata for p in stratum.predicates]
        self.name = ", ".join(p.name for p in predicates[:3])
        self.place = self.name  # what a cluster shows beside its jobs
        self.relations = [r for stratum in strata for r in stratum.relations]
        self.external = [r for stratum in strata for r in stratum.external]
        self.modules = [module for stratum in strata for module in stratum.modules]
        self.statistics = StratumStatistics(tuple(map(str, predicates)), bool(self.modules))
        self.finished = False

    @property
    def kept(self) -> list[Relation]:
        """Everything that changes while the strata are evaluated."""
        return [relation for stratum in self.strata for relation in stratum.kept]

    # ---- What the loop needs

    def first_delta(self, observer: LoopObserver) -> int:
        """Make the first Δ of explicit facts and nonrecursive rules, or resume one; returns its size."""
        if self.statistics.rounds:
            return sum(r.size("delta") for r in (*self.relations, *self.external))
        return self.next_delta((work for stratum in self.strata for work in stratum.enter()), observer)

    def next_delta(self, work: Iterable[Work], observer: LoopObserver) -> int:
        """One round: evaluate the work over I and Δ, let Δ join I, make the next Δ; returns its size."""
        observer.round_begins()
        with self.facts.engine.described(f"{self.place}, round {len(self.statistics.rounds)}"):
            asked = list(work)  # decomposed rules evaluate their nodes now, and that is part of the round
            self.facts.engine.run(asked, lazily=not self.modules)
            for relation in (*self.relations, *self.external):
                relation.merge()
            new, external = (sum([r.derive() for r in group]) for group in (self.relations, self.external))
        observer.round_ends(asked, new)
        return new + external

    def finish(self) -> None:
        """The fixpoint is reached: relations and modules may drop what only rounds need."""
        for relation in (*self.relations, *self.external):
            relation.rest()
        for module in self.modules:
            module.rest()
        self.finished = True

    # ---- What statistics and plans need

    def recount(self) -> None:
        """Replace the estimate for rules that were evaluated lazily by the number of facts that there are."""
        if not self.modules and self.statistics.rounds:
            self.statistics.rounds[0].facts = sum(relation.size("all") for relation in self.relations)

    def node_bytes(self) -> int:
        """What the tables of decomposed rules took, at most."""
        return sum(tree.bytes for stratum in self.strata for tree in stratum.all_trees)
