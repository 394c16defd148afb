"""The kinds of strata that updates know, and `maintained`, which chooses one for each stratum.

NonrecursiveStratum    Algorithm 3 without modules: each loop ends after one round
RecursiveStratum       Algorithm 3, or from scratch where too much would be over-deleted
ClosureStratum         Algorithm 3 for the external facts, from which the closure follows exactly
ViewStratum            nothing is to be done while the facts of the parts are shown
"""

from __future__ import annotations

from collections.abc import Callable

from modulog.engines.relation import Relation, Version
from modulog.evaluation.observers import LoopObserver, Observers
from modulog.evaluation.statistics import RoundStatistics, RuleStatistics, StratumUpdate
from modulog.evaluation.stratum import LiveClosure, LiveStratum, LiveView
from modulog.kernels.compile_time import working_time
from modulog.maintenance.dredc_mod import DRedStratum, cost
from modulog.maintenance.maintained_stratum import MaintainedStratum, UpdateRun
from modulog.planning.passes import Switches

WENT: tuple[Version, Version] = ("gone", "before")


def maintained(live: LiveStratum, switches: Switches) -> MaintainedStratum:
    """A stratum with the way to keep it up to date that suits its kind."""
    if isinstance(live, LiveView):
        return ViewStratum(live, switches)
    if isinstance(live, LiveClosure):
        return ClosureStratum(live, switches)
    return (RecursiveStratum if live.modules else NonrecursiveStratum)(live, switches)


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
        # Which facts the edges of a represented closure follow from is not known: compute it from scratch.
        return self._recompute if way == self._follow_change and self._has_closures else way

    @property
    def _has_closures(self) -> bool:
        """Whether a closure is represented beside other recursive rules."""
        return not all(relation.listed for relation in self.live.relations)

    @property
    def _is_saved(self) -> bool:
        return not self._has_closures

    def _doomed(self, own: int) -> float:
        """Facts that hang on facts below, and on each other, go more often than those."""
        below = self.live.below.values()
        gone, before = (sum(relation.guess(v) for relation in below) for v in WENT)
        return own * (1.0 - (1.0 - gone / max(before, 1)) ** 2)

    def _follow_change(self, run: UpdateRun) -> None:
        try:
            super()._follow_change(run)
        except OverdeletionTooLarge:
            self._recompute_instead(run)

    def _observer(self, run: UpdateRun, *, leaving: bool) -> LoopObserver:
        observer = super()._observer(run, leaving=leaving)
        limit = OverdeletionLimit(run.done, self._is_cheaper_anew)
        return Observers([observer, limit]) if leaving else observer


class OverdeletionTooLarge(Exception):
    """Over-deletion is stopped: the stratum is computed from scratch."""


class OverdeletionLimit(LoopObserver):
    """Stops over-deletion when so much goes that computing the stratum again is cheaper."""

    def __init__(self, done: StratumUpdate, is_cheaper_anew: Callable[[StratumUpdate], bool]) -> None:
        self._done, self._is_cheaper_anew = done, is_cheaper_anew

    def continues(self) -> None:
        done = self._done
        spent = cost(done.changes, done.overdeleted)
        if spent > done.incremental:
            done.incremental = spent
            if self._is_cheaper_anew(done):
                raise OverdeletionTooLarge


class ClosureStratum(DRedStratum):
    """A closure that is all the recursion of its stratum.

    Its external facts are maintained like those of a nonrecursive stratum; then the closure follows, exactly
    and without over-deletion.
    """

    how = "exactly"
    saves_recomputation = False  # there is one round

    def __init__(self, live: LiveClosure, switches: Switches) -> None:
        super().__init__(live, switches)
        self.closure, self.changing = live.closure, live.external

    def _follow_change(self, run: UpdateRun) -> None:
        super()._follow_change(run)
        if self.closure.changed:
            self._close(run.done)

    def _close(self, done: StratumUpdate) -> None:
        """Change the closure to that of its external facts.

        A relation that represents the closure does that by itself. Of another, the facts that the change can
        affect are computed again, or all of them if that costs hardly more.
        """
        began, relation = working_time(), self.closure.relation
        if relation.takes_facts:
            done.expect(*self.closure.estimate())
            everything = super()._is_cheaper_anew(done)
            if everything:
                done.how = "from scratch"
            self.closure.maintain(everything)
        else:
            self.closure.maintain()
        rows = relation.size("gone") + relation.size("come") if relation.listed else None
        seconds = working_time() - began
        rule = RuleStatistics(self.closure.label, rows, seconds)
        done.evaluated.append(RoundStatistics(rows or 0, seconds, [rule]))

    def _expect(self, done: StratumUpdate) -> None:
        """Nothing: the cost is estimated once the external facts are up to date."""

    def _is_cheaper_anew(self, done: StratumUpdate) -> bool:
        """That is decided for the closure alone, not for its external facts."""
        return False

    # ---- From scratch

    def _fresh(self) -> LiveStratum:
        fresh = super()._fresh()
        if not self.closure.relation.takes_facts:
            fresh.modules = []  # the relation is not computed: it follows from the external facts
        return fresh

    def _replace(self, relation: Relation, new: Relation) -> None:
        if relation.takes_facts:
            super()._replace(relation, new)

    def _forget_derivations(self) -> None:
        if not self.closure.relation.takes_facts:
            self.closure.maintain()
        super()._forget_derivations()


class ViewStratum(NonrecursiveStratum):
    """A union of relations and inverses: nothing is to be done while it shows the facts of its parts."""

    def __init__(self, live: LiveView, switches: Switches) -> None:
        super().__init__(live, switches)
        self._view = live

    def _choose(self, run: UpdateRun) -> Callable[[UpdateRun], None]:
        return self._show if self._view.consider_view() else super()._choose(run)

    def _show(self, run: UpdateRun) -> None:
        """Do nothing: the parts have been brought up to date, and their facts are those of the view."""
        run.done.how = "as a view"

    @property
    def _is_saved(self) -> bool:
        return not self._view.is_shown
