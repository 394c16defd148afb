"""DRed^c-Mod: Algorithm 3 of the modular paper over the finest strata, corrected as docs/errata.md says.

For each stratum that a change below reaches: over-delete what the change took away and what hangs on it,
sparing the facts with a nonrecursive derivation left; rederive; insert. D and A are kept by the relations
(`gone`, `come`, …), so that later strata read the net change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from modulog.engines.engine import Work
from modulog.engines.relation import Relation, Version
from modulog.evaluation.observers import LoopObserver, Observers, RoundRecorder, ValueLimits
from modulog.evaluation.stratum import NONRECURSIVE, LiveStratum
from modulog.maintenance.maintained_stratum import MaintainedStratum, UpdateRun
from modulog.maintenance.support import Support
from modulog.maintenance.update_progress import Reached
from modulog.maintenance.update_statistics import StratumUpdate
from modulog.modules.clause import Evaluation
from modulog.modules.clause_changes import due, rederivation
from modulog.modules.derivation_counts import Counting
from modulog.modules.module import Module
from modulog.planning.passes import Switches

# How often facts are looked at, where computing a stratum again looks once at each of its facts and of those below
# it; measured, see benchmarks/README.md.
CHANGED = 2.0  # a changed fact below
DOOMED = 4.0  # an over-deleted fact: it goes, takes others with it, is derived again, and comes
WENT: tuple[Version, Version] = ("gone", "before")


class DRedStratum(MaintainedStratum):
    """A stratum whose facts follow the change by over-deletion, rederivation and insertion.

    `changing` are the relations that the loops change, `modules` the modules that they call: n(s) of them.
    """

    def __init__(self, live: LiveStratum, switches: Switches) -> None:
        super().__init__(live, switches)
        self.changing: Sequence[Relation] = live.relations
        self.modules: Sequence[Module] = ()
        self._supports: list[Support] = []
        self._rederiving: list[Evaluation] = []  # nonrecursive clauses, for heads that were over-deleted
        self._creates_values = bool(live.plan.creating)

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
        lost = [work for support in self._supports for work in support.work(-1)]
        more = [work for module in self.modules for work in module.diff(-1)]
        more += self._seen(run.earlier, leaving=True) if run.earlier else ()
        if not lost and not more:
            return self._merge()
        watch = UpdateWatch(self, run, self._count_overdeleted)
        delta = self._next_delta([*lost, *more], watch, leaving=True, only_lost=not more)
        while delta:
            watch.continues()
            deleted = [work for module in self.modules for work in module.delete()]
            delta = self._next_delta(deleted, watch, leaving=True)

    def _rederive_insert(self, run: UpdateRun) -> None:
        """Lines 31 to 40: what won a derivation comes, over-deleted facts return, and what follows comes."""
        won = [work for support in self._supports for work in support.work(1)]
        won += [evaluation.work() for evaluation in due(self._rederiving)]
        won += [work for module in self.modules for work in (*module.rederive(), *module.diff(1))]
        won += self._seen(run.earlier, leaving=False) if run.earlier else ()
        if not won:
            return self._merge()
        watch: LoopObserver = UpdateWatch(self, run, self._count_added)
        if self._creates_values:
            limits = ValueLimits([self.live.plan], self.switches, lambda: (run.done.rounds, run.done.added))
            watch = Observers([watch, limits])
        delta = self._next_delta(won, watch)
        while delta:
            watch.continues()
            added = [work for module in self.modules for work in module.add()]
            delta = self._next_delta(added, watch)

    def _next_delta(
        self, work: Sequence[Work], watch: LoopObserver, *, leaving: bool = False, only_lost: bool = False
    ) -> int:
        """Evaluate the work, let Δ join D (or A), and take what is new for the next Δ; returns its size.

        What leaves is spared if it has support (E1). `only_lost` says that the work is what nonrecursive
        clauses lost.
        """
        if not work:
            self._merge()
            return 0
        watch.round_begins()
        self.engine.run(work)
        self._merge()
        new = sum([relation.derive(leaving) for relation in self.changing])
        if new and leaving and self.method != "dred":
            new = sum([support.spare(only_lost) for support in self._supports])
        watch.round_ends(work, new)
        return new

    def _merge(self) -> None:
        for relation in self.changing:
            relation.merge()

    def _seen(self, earlier: Reached, *, leaving: bool) -> Iterator[Work]:
        """What an earlier process had seen leave, or come, before it was stopped."""
        places = {id(relation): place for place, relation in enumerate(self.kept)}
        steps = [earlier.steps[places[id(relation)]] for relation in self.changing]
        return Reached(steps).work(self.changing, leaving, NONRECURSIVE)

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

    # ---- Statistics

    def _count_overdeleted(self, done: StratumUpdate) -> None:
        done.overdeleted += sum(relation.size("delta") for relation in self.changing)

    def _count_added(self, done: StratumUpdate) -> None:
        done.added += sum(relation.size("delta") for relation in self.changing)

    def _expect(self, done: StratumUpdate) -> None:
        own = sum(relation.guess("before") for relation in self.changing)
        done.expect(CHANGED * done.changes + DOOMED * self._doomed(own), float(done.facts + own))

    def _doomed(self, own: int) -> float:
        """How many of the stratum's facts are expected to be over-deleted because other facts of it are."""
        return 0.0


class NonrecursiveStratum(DRedStratum):
    """A stratum without recursive rules: it has no modules (n(s) = 0), and each loop ends after one round."""


class RecursiveStratum(DRedStratum):
    """A stratum with modules for its recursive rules."""

    def __init__(self, live: LiveStratum, switches: Switches) -> None:
        super().__init__(live, switches)
        self.modules = live.modules
        if self.method == "dredc":
            for module in self.modules:
                module.count_derivations()

    def _choose(self, run: UpdateRun) -> Callable[[UpdateRun], None]:
        way = super()._choose(run)
        # What the edges of a represented closure rest on is not known, so its stratum is computed from scratch.
        return self._recompute if way == self._follow_change and self._has_closures else way

    @property
    def _has_closures(self) -> bool:
        """Whether a closure is represented beside other recursive rules."""
        return not all(relation.listed for relation in self.live.relations)

    @property
    def _is_saved(self) -> bool:
        return not self._has_closures

    def _follow_change(self, run: UpdateRun) -> None:
        try:
            super()._follow_change(run)
        except OverdeletionTooLarge:
            self._recompute_instead(run)

    def _count_overdeleted(self, done: StratumUpdate) -> None:
        """Stop over-deletion when so much goes that computing the stratum again is cheaper."""
        super()._count_overdeleted(done)
        cost = CHANGED * done.changes + DOOMED * done.overdeleted
        if cost > done.incremental:
            done.incremental = cost
            if self._is_cheaper_anew(done):
                raise OverdeletionTooLarge

    def _doomed(self, own: int) -> float:
        """Facts that hang on facts below, and on each other, go more often than those."""
        below = self.live.below.values()
        gone, before = (sum(relation.guess(v) for relation in below) for v in WENT)
        return own * (1.0 - (1.0 - gone / max(before, 1)) ** 2)


class OverdeletionTooLarge(Exception):
    """Over-deletion is stopped: the stratum is computed from scratch."""


class UpdateWatch(RoundRecorder):
    """Observes a loop of an update: records rounds, gives checkpoints the opportunity to keep them, counts facts."""

    def __init__(self, stratum: DRedStratum, run: UpdateRun, count: Callable[[StratumUpdate], None]) -> None:
        super().__init__(stratum.engine, run.done.evaluated)
        self._kept, self._run, self._count = stratum.kept, run, count

    def continues(self) -> None:
        run = self._run
        run.done.rounds += 1
        run.checkpoints.reached(run.number, self._kept)
        self._count(run.done)
