"""Which class keeps which kind of stratum up to date, and the classes for closures and views."""

from __future__ import annotations

from collections.abc import Callable

from modulog.engines.relation import Relation
from modulog.evaluation.statistics import RoundStatistics, RuleStatistics
from modulog.evaluation.stratum import LiveClosure, LiveStratum, LiveView
from modulog.kernels.compile_time import working_time
from modulog.maintenance.dredc_mod import NonrecursiveStratum, RecursiveStratum
from modulog.maintenance.maintained_stratum import MaintainedStratum, UpdateRun
from modulog.maintenance.update_statistics import StratumUpdate
from modulog.planning.passes import Switches


def maintained(live: LiveStratum, switches: Switches) -> MaintainedStratum:
    """A stratum with the way to keep it up to date that suits its kind."""
    if isinstance(live, LiveView):
        return ViewStratum(live, switches)
    if isinstance(live, LiveClosure):
        return ClosureStratum(live, switches)
    return (RecursiveStratum if live.modules else NonrecursiveStratum)(live, switches)


class ClosureStratum(NonrecursiveStratum):
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
        """Let the closure follow its external facts.

        A relation that closes what it is given does that by itself. For another, facts that the change can
        touch are looked at, or all of them if that is hardly more.
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
        """What it costs is known once the external facts are up to date."""

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
        """The parts have been brought up to date, and their facts are those of the view."""
        run.done.how = "as a view"

    @property
    def _is_saved(self) -> bool:
        return not self._view.is_shown
