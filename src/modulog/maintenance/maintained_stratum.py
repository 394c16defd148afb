"""How an update brings a stratum up to date: what all kinds of strata have in common.

There are three ways, between which `_choose` decides: to follow the change, which each kind does in its own
way (`dredc_mod.py`, `stratum_kinds.py`); to compute the stratum from scratch in new relations and compare; or
to repeat what an earlier process had done before it was stopped. Everything can be rolled back until it is
committed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from modulog.algebra.expressions import AntiJoin, Project, Read
from modulog.engines.engine import Work
from modulog.engines.relation import Relation
from modulog.engines.table import columns_of
from modulog.evaluation.fixpoint import fixpoint
from modulog.evaluation.observers import EachRound, Observers, RoundRecorder
from modulog.evaluation.statistics import StratumUpdate
from modulog.evaluation.stratum import NONRECURSIVE, LiveStratum, StratumGroup, live_stratum
from modulog.kernels.compile_time import working_time
from modulog.maintenance.update_progress import Reached, UpdateCheckpoints, replay
from modulog.modules.decomposed_clause import DecomposedClause
from modulog.modules.derivation_counts import Counting
from modulog.planning.passes import Switches

FEW = 1000
"""Facts so few that it does not matter which way an update looks at them."""


@dataclass(slots=True)
class UpdateRun:
    """One update of one stratum: its statistics, and the checkpoints that follow it.

    `number` is that by which checkpoints know the stratum, `earlier` how far a process that was stopped had
    come.
    """

    done: StratumUpdate
    number: int
    checkpoints: UpdateCheckpoints
    earlier: Reached | None


class MaintainedStratum(ABC):
    """A stratum that can be brought up to date.

    `maintenance` is "auto" (the change is followed, unless computing from scratch is cheaper), "dredc" (with
    recursive counters), "dred" (no fact is spared for its nonrecursive derivations) or "recompute" (from
    scratch).
    """

    how = "incrementally"  # what statistics call it when the change is followed
    saves_recomputation = True  # whether checkpoints keep the rounds of a computation from scratch

    def __init__(self, live: LiveStratum, switches: Switches) -> None:
        self.live, self.engine = live, live.facts.engine
        self.switches, self.method = switches, switches.maintenance

    # ---- What differs between the kinds of strata

    @abstractmethod
    def _follow_change(self, run: UpdateRun) -> None:
        """Bring the stratum up to date from what changed below it."""

    @abstractmethod
    def _expect(self, done: StratumUpdate) -> None:
        """Estimate what following the change will cost, and what computing from scratch will."""

    @property
    def _is_saved(self) -> bool:
        """Whether checkpoints keep the change of the stratum; if not, another process computes it again."""
        return True

    @abstractmethod
    def _counters(self) -> list[Counting]:
        """The counters that say which facts have derivations."""

    @abstractmethod
    def _forget_tables(self) -> None:
        """Drop everything that reads the tables of decomposed clauses, which were dropped."""

    # ---- An update

    def update(self, number: int, checkpoints: UpdateCheckpoints) -> StratumUpdate:
        """Bring the stratum up to date, after those below it; checkpoints know it by its `number`."""
        began, below = working_time(), self.live.below.values()
        earlier = checkpoints.found(number)
        changes = sum(relation.guess("gone") + relation.guess("come") for relation in below)
        facts = sum(relation.guess("after") for relation in below)
        done = StratumUpdate(self._names, self.how, changes, facts)
        self._expect(done)
        run = UpdateRun(done, number, checkpoints, earlier)
        self._begin()
        self._choose(run)(run)
        if self._is_saved:
            checkpoints.reached(number, self.kept, is_done=True)
        done.seconds = working_time() - began
        return done

    def _choose(self, run: UpdateRun) -> Callable[[UpdateRun], None]:
        """The way to bring the stratum up to date; kinds of strata that have another one override this."""
        if run.earlier is not None and run.earlier.is_done:
            return self._replay
        if self.method == "recompute" or (run.earlier is not None and run.earlier.is_anew):
            return self._recompute
        return self._recompute if self._is_cheaper_anew(run.done) else self._follow_change

    def _is_cheaper_anew(self, done: StratumUpdate) -> bool:
        """Whether computing from scratch may be chosen, and is expected to be cheaper."""
        return self.method == "auto" and done.better_anew(FEW)

    def _replay(self, run: UpdateRun) -> None:
        """Change the relations as an earlier process had changed them."""
        assert run.earlier is not None
        run.done.how = "taken up"
        replay(self.kept, run.earlier, self.engine, NONRECURSIVE)
        self._forget_derivations()

    # ---- Computing from scratch

    def _recompute(self, run: UpdateRun) -> None:
        """Compute the stratum in new relations, then change the old ones to these: the change is exact."""
        run.done.how = "from scratch"
        fresh, earlier, engine = self._fresh(), run.earlier, self.engine
        group = StratumGroup([fresh], fresh.facts)
        if earlier is not None and self.saves_recomputation:
            engine.run(list(earlier.work(fresh.relations, False, NONRECURSIVE)))

        def reached() -> None:
            run.done.rounds += 1
            if self.saves_recomputation:
                run.checkpoints.reached_anew(run.number, fresh.relations)

        recorder = RoundRecorder(engine, group.statistics.rounds)
        fixpoint(group, Observers([recorder, EachRound(reached)]))
        engine.settle()
        group.recount()
        run.done.evaluated += group.statistics.rounds
        for relation, new in zip(self.live.kept, fresh.kept, strict=True):
            self._replace(relation, new)
        self._forget_derivations()

    def _fresh(self) -> LiveStratum:
        """The same stratum without facts, over the same relations below."""
        live = self.live
        return live_stratum(live.plan, live.facts.beside(live.predicates), live.first)

    def _replace(self, relation: Relation, new: Relation) -> None:
        """Make the facts of a relation those of `new`."""
        if not relation.takes_facts:
            if relation.closing is not None:
                relation.closing.become(new)
            return
        names = columns_of(relation.arity)
        everything = Read(new, names, "all")
        leaving = AntiJoin(Read(relation, names, "before"), everything, names)
        for facts, is_leaving in ((leaving, True), (everything, False)):
            self.engine.run([Work(relation, Project(facts, names, "keep"), NONRECURSIVE)])
            relation.derive(is_leaving)
            relation.merge()

    def _recompute_instead(self, run: UpdateRun) -> None:
        """Undo what following the change has done so far, and compute the stratum from scratch."""
        self.rollback()
        self._begin()
        self._recompute(replace(run, earlier=None))

    # ---- All or nothing

    @cached_property
    def kept(self) -> list[Relation]:
        """All relations that change with the stratum's facts."""
        return self.live.kept

    def commit(self) -> None:
        """Keep what the update has changed."""
        for part in self._parts():
            part.commit()
        self._end()

    def rollback(self) -> None:
        """Restore everything from before the update."""
        for part in self._parts():
            part.rollback()
        self._end()

    def _begin(self) -> None:
        for relation in self.kept:
            relation.begin()

    def _parts(self) -> list[Relation | Counting | DecomposedClause]:
        return [*self.kept, *self._counters(), *self.live.all_trees]

    def _end(self) -> None:
        for module in self.live.modules:
            module.end()
        if any(tree.tables is None for tree in self.live.all_trees):
            self._forget_tables()

    def _forget_derivations(self) -> None:
        """Drop counters and tables: facts were changed without them, and the next update makes them anew."""
        for counting in self._counters():
            counting.forget()
        if trees := self.live.all_trees:
            for tree in trees:
                tree.forget()
            self._forget_tables()

    # ---- What statistics need

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(map(str, self.live.predicates))
