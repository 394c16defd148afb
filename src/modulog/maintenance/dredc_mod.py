"""DRed^c-Mod: Algorithm 3 of the modular paper over the finest strata, corrected as docs/errata.md says.

For each stratum that a change below reaches: over-delete what the change took away and what hangs on it,
sparing the facts with a nonrecursive derivation left; rederive; insert. D and A are kept by the relations
(`gone`, `come`, …), so that later strata read the net change. `stratum_kinds.py` says which strata use this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from modulog.engines.engine import Work
from modulog.engines.relation import Relation
from modulog.evaluation.observers import LoopObserver, Observers, RoundRecorder, ValueLimits
from modulog.evaluation.statistics import StratumUpdate
from modulog.evaluation.stratum import NONRECURSIVE, LiveStratum
from modulog.maintenance.maintained_stratum import MaintainedStratum, UpdateRun
from modulog.maintenance.support import Support
from modulog.maintenance.update_progress import Reached
from modulog.modules.clause import Evaluation
from modulog.modules.clause_changes import due, rederivation
from modulog.modules.derivation_counts import Counting
from modulog.modules.module import Module
from modulog.planning.passes import Switches

# How often facts are looked at, where computing a stratum again looks once at each of its facts and of those
# below it; measured, see benchmarks/README.md.
CHANGED = 2.0  # a changed fact below
DOOMED = 4.0  # an over-deleted fact: it goes, takes others with it, is derived again, and comes


def cost(changes: int, overdeleted: float) -> float:
    """How many facts following a change looks at."""
    return CHANGED * changes + DOOMED * overdeleted


class DRedStratum(MaintainedStratum):
    """A stratum whose facts follow the change by over-deletion, rederivation and insertion.

    `changing` are the relations that the loops change, `modules` the modules that they call: n(s) of them.
    """

    def __init__(self, live: LiveStratum, switches: Switches) -> None:
        super().__init__(live, switches)
        self.changing: Sequence[Relation] = live.relations
        self.modules: Sequence[Module] = ()
        self._creates_values = bool(live.plan.creating)
        self._supports: list[Support] = []
        self._rederiving: list[Evaluation] = []  # nonrecursive clauses, for heads that were over-deleted

    # ---- Algorithm 3

    def _follow_change(self, run: UpdateRun) -> None:
        self._prepare()
        self._overdelete(run)
        self._rederive_insert(run)
        for relation in self.changing:
            relation.rest()
        for module in self.modules:
            module.rest()

    def _overdelete(self, run: UpdateRun) -> None:
        """Lines 21 to 30: what lost a derivation leaves, and what followed from it, unless it has support."""
        lost = [work for support in self._supports for work in support.work(-1)]  # E⁻ ∩ Oˢ, Πₙᵣ[I : D\A, A\D]
        more = [work for module in self.modules for work in module.diff(-1)]  # Diffᵢ[I, D\A, A\D]
        more += self._seen(run.earlier, leaving=True)
        if not lost and not more:
            return self._merge()
        observer = self._observer(run, leaving=True)
        delta = self._next_delta([*lost, *more], observer, leaving=True, only_lost=not more)
        while delta:
            observer.continues()
            deleted = [work for module in self.modules for work in module.delete()]  # Delᵢ[…, Δ\Δᵢ, Cₙᵣ]
            delta = self._next_delta(deleted, observer, leaving=True)  # D := D ∪ Δ, and Δ := Δ₁ ∪ … ∪ Δₙ

    def _rederive_insert(self, run: UpdateRun) -> None:
        """Lines 31 to 40: what won a derivation comes, over-deleted facts return, and what follows comes."""
        won = [work for support in self._supports for work in support.work(1)]  # E⁺ ∩ Oˢ, Πₙᵣ[… : A\D, D\A]
        won += [evaluation.work() for evaluation in due(self._rederiving)]
        for module in self.modules:
            won += (*module.rederive(), *module.diff(1))  # Redᵢ[…, D\A] ∪ Diffᵢ[…, A\D, D\A]
        won += self._seen(run.earlier, leaving=False)
        if not won:
            return self._merge()
        observer = self._observer(run, leaving=False)
        delta = self._next_delta(won, observer)
        while delta:
            observer.continues()
            added = [work for module in self.modules for work in module.add()]  # Addᵢ[…, Δ\Δᵢ]
            delta = self._next_delta(added, observer)  # A := A ∪ Δ, and Δ := Δ₁ ∪ … ∪ Δₙ

    def _next_delta(
        self, work: Sequence[Work], observer: LoopObserver, *, leaving: bool = False, only_lost: bool = False
    ) -> int:
        """Evaluate the work, let Δ join D (or A), and take what is new for the next Δ; returns its size.

        What leaves is spared if it has support (E1). `only_lost` says that the work is what nonrecursive
        clauses lost.
        """
        if not work:
            self._merge()
            return 0
        observer.round_begins()
        self.engine.run(work)
        self._merge()
        new = sum([relation.derive(leaving) for relation in self.changing])
        if new and leaving and self.method != "dred":
            new = sum([support.spare(only_lost) for support in self._supports])
        observer.round_ends(work, new)
        return new

    def _merge(self) -> None:
        for relation in self.changing:
            relation.merge()

    def _seen(self, earlier: Reached | None, *, leaving: bool) -> Iterator[Work]:
        """What an earlier process had seen leave, or come, before it was stopped."""
        if earlier is not None:
            places = {id(relation): place for place, relation in enumerate(self.kept)}
            steps = [earlier.steps[places[id(relation)]] for relation in self.changing]
            yield from Reached(steps).work(self.changing, leaving, NONRECURSIVE)

    # ---- Before the loops

    def _prepare(self) -> None:
        """Begin the update in tables, counters and modules; those of nonrecursive clauses are updated now."""
        self._make_supports()
        for tree in self.live.trees:
            assert tree.tables is not None
            tree.tables.begin()
        if self.live.give_up_exceeded():
            self._forget_tables()
            self._make_supports()
        for support in self._supports:
            support.begin()
        for module in self.modules:
            module.begin()

    def _make_supports(self) -> None:
        if not self._supports:
            entry = self.live.maintained_entry()
            self._supports = [
                Support(relation, entry, self.engine, NONRECURSIVE, self.method) for relation in self.changing
            ]
            if self.method == "dred":  # it spares nothing, and so has to derive again what has support
                self._rederiving = [rederivation(clause, NONRECURSIVE) for clause in entry]

    def _forget_tables(self) -> None:
        self._supports, self._rederiving = [], []

    def _counters(self) -> list[Counting]:
        recursive = [counting for module in self.modules for counting in module.counters()]
        return [*recursive, *(s.counting for s in self._supports if s.counting is not None)]

    # ---- What it costs, and who observes the loops

    def _expect(self, done: StratumUpdate) -> None:
        own = sum(relation.guess("before") for relation in self.changing)
        done.expect(cost(done.changes, self._doomed(own)), float(done.facts + own))

    def _doomed(self, own: int) -> float:
        """How many of its `own` facts are expected to be over-deleted because other facts of it are."""
        return 0.0

    def _observer(self, run: UpdateRun, *, leaving: bool) -> LoopObserver:
        """The observers of a loop; `leaving` is the one that over-deletes."""
        recorder = UpdateRecorder(self, run, leaving)
        if leaving or not self._creates_values:
            return recorder
        done = run.done
        limits = ValueLimits([self.live.plan], self.switches, lambda: (done.rounds, done.added))
        return Observers([recorder, limits])


class UpdateRecorder(RoundRecorder):
    """Records the rounds of a loop, counts its facts, and gives checkpoints the opportunity to keep them."""

    def __init__(self, stratum: DRedStratum, run: UpdateRun, leaving: bool) -> None:
        super().__init__(stratum.engine, run.done.evaluated)
        self._kept, self._changing, self._run, self._leaving = stratum.kept, stratum.changing, run, leaving

    def continues(self) -> None:
        run, delta = self._run, sum(relation.size("delta") for relation in self._changing)
        run.done.rounds += 1
        run.checkpoints.reached(run.number, self._kept)
        if self._leaving:
            run.done.overdeleted += delta
        else:
            run.done.added += delta
