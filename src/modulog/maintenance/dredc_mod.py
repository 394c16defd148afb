"""DRed^c-Mod: Algorithm 3 of the modular paper over the finest strata, corrected as docs/errata.md says.

For each stratum that a change below reaches: over-delete what the change took away and what hangs on it, sparing the facts with a
nonrecursive derivation left; rederive; insert. D and A are kept by the relations (`gone`, `come`, …), so that later strata read the net change.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from modulog.engines.protocol import Relation, Version, Work
from modulog.kernels.compile_time import working_time
from modulog.maintenance.progress import UNKEPT, Reached, UpdateCheckpoints, replay
from modulog.maintenance.recompute import recompute
from modulog.maintenance.statistics import StratumUpdate
from modulog.maintenance.support import Support
from modulog.materialisation.materialise import check_limits
from modulog.materialisation.statistics import RoundStatistics, RuleStatistics
from modulog.materialisation.strata import NONRECURSIVE, LiveStratum
from modulog.modules.changes import Variant, due, rederivation
from modulog.modules.counting import Counting
from modulog.modules.decomposed import DecomposedClause
from modulog.modules.exact import ExactClosure
from modulog.modules.hypertree import HypertreeModule
from modulog.modules.seminaive import SeminaiveModule
from modulog.planning.pipeline import Switches

# How often facts are looked at, where computing a stratum again looks once at each of its facts and of those below it: measured, see
# benchmarks/README.md.
CHANGED = 2.0  # a changed fact below
DOOMED = 4.0  # an over-deleted fact: it goes, takes others with it, is derived again, and comes
FEW = 1000  # facts too few for any of this
WENT: tuple[Version, Version] = ("gone", "before")


class MaintainedStratum:
    """A stratum that can be brought up to date.

    `maintenance` is "auto" (as described above, and from scratch where that is cheaper), "dredc" (with recursive counters), "dred" (nothing is
    spared) or "recompute".
    """

    def __init__(self, live: LiveStratum, switches: Switches) -> None:
        self.live, self.engine = live, live.facts.engine
        self.switches, self.method = switches, switches.maintenance
        self.closure = next((m for m in live.modules if isinstance(m, ExactClosure)), None)
        self.modules = [] if self.closure else live.modules
        # The relations that this stratum's loops change; a closure's own facts follow from its external ones.
        self.changing = live.external if self.closure else live.relations
        self._number, self._checkpoints = 0, UNKEPT
        if self.method == "dredc":
            for module in self.modules:
                if isinstance(module, SeminaiveModule | HypertreeModule):
                    module.count_derivations()

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(map(str, self.live.predicates))

    @cached_property
    def _support(self) -> list[Support]:
        entry = self.live.maintained_entry()
        return [Support(r, entry, self.engine, NONRECURSIVE, self.method) for r in self.changing]

    @cached_property
    def _again(self) -> list[Variant]:
        """Nonrecursive clauses for heads that were over-deleted: plain DRed spares nothing and needs them."""
        entry = self.live.maintained_entry() if self.method == "dred" else []
        return [rederivation(clause, NONRECURSIVE) for clause in entry]

    @cached_property
    def _counters(self) -> list[Counting]:
        kinds = SeminaiveModule | HypertreeModule
        recursive = [c for m in self.modules if isinstance(m, kinds) for c in m.counters()]
        return [*recursive, *(s.counting for s in self._support if s.counting is not None)]

    def commit(self) -> None:
        """What was done stays."""
        for part in self._parts:
            part.commit()
        self._end()

    def rollback(self) -> None:
        """Everything is as before the update."""
        for part in self._parts:
            part.rollback()
        self._end()

    @cached_property
    def kept(self) -> list[Relation]:
        """Everything that changes when the stratum's facts do."""
        return self.live.kept

    @property
    def _parts(self) -> list[Relation | Counting | DecomposedClause]:
        return [*self.kept, *self._counters, *self.live.all_trees]

    def _end(self) -> None:
        for module in self.live.modules:
            module.end()
        if any(tree.tables is None for tree in self.live.all_trees):
            self._forget_support()

    def _forget_support(self) -> None:
        """It speaks of tables that are no more."""
        for name in ("_support", "_again", "_counters"):
            self.__dict__.pop(name, None)

    def node_bytes(self) -> int:
        """The bytes of the tables that are kept for decomposed clauses."""
        return sum(tree.tables.memory() for tree in self.live.all_trees if tree.tables is not None)

    # ---- Algorithm 3

    def update(self, number: int, checkpoints: UpdateCheckpoints) -> StratumUpdate:
        """Bring the stratum up to date; what lies below has been. `number` is that by which checkpoints know it."""
        began = working_time()
        self._number, self._checkpoints = number, checkpoints
        earlier = checkpoints.found(number)
        below = self.live.below.values()
        done = StratumUpdate(
            self._names,
            "incrementally" if self.closure is None else "exactly",
            changes=sum(r.guess("gone") + r.guess("come") for r in below),
            facts=sum(r.guess("after") for r in below),
        )
        if self.closure is None:
            self._expect(done)
        for relation in self.kept:
            relation.begin()
        anew = self.method == "auto" and self.closure is None and done.better_anew(FEW)
        if self.live.consider_view():
            done.how = "as a view"
        elif earlier is not None and earlier.is_done:
            self._replay(earlier, done)
        elif self._fed_by_others or self.method == "recompute" or anew or (earlier and earlier.is_anew):
            self._recompute(done, earlier)
        else:
            self._maintain(done, earlier)
        if not self.live.is_view and not self._fed_by_others:
            checkpoints.reached(number, self.kept, is_done=True)
        done.seconds = working_time() - began
        return done

    def _expect(self, done: StratumUpdate) -> None:
        """What both ways will cost. Facts that hang on facts below, and on each other, go more often than those."""
        own = sum(r.guess("before") for r in self.changing)
        doomed = 0.0
        if self.modules:
            below = self.live.below.values()
            gone, before = (sum(r.guess(v) for r in below) for v in WENT)
            doomed = own * (1.0 - (1.0 - gone / max(before, 1)) ** 2)
        done.expect(CHANGED * done.changes + DOOMED * doomed, float(done.facts + own))

    @property
    def _fed_by_others(self) -> bool:
        """Whether a closure is represented beside other recursive rules: what its edges rest on is not known."""
        return self.closure is None and not all(relation.listed for relation in self.live.relations)

    def _replay(self, earlier: Reached, done: StratumUpdate) -> None:
        """Let happen again what an earlier process had done."""
        done.how = "taken up"
        replay(self.kept, earlier, self.engine, NONRECURSIVE)
        self._follow()

    def _recompute(self, done: StratumUpdate, earlier: Reached | None) -> None:
        done.how = "from scratch"
        recompute(self.live, done, self._number, self._checkpoints, earlier)
        self._follow()

    def _follow(self) -> None:
        """Facts are what they should be: let everything that speaks of them follow."""
        if self.closure is not None and not self.live.relations[0].listed:
            self.closure.maintain()
        for counting in self._counters:
            counting.forget()
        if trees := self.live.all_trees:
            for tree in trees:
                tree.forget()
            self._forget_support()

    def _maintain(self, done: StratumUpdate, earlier: Reached | None) -> None:
        supports = self._support
        for tree in self.live.trees:
            assert tree.tables is not None
            tree.tables.begin()
        if self.live.give_up_exceeded():
            self._forget_support()
            supports = self._support
        for support in supports:
            support.begin()
        for module in self.modules:
            module.begin()
        if earlier is not None:  # of which loops need what they change themselves
            places = {id(relation): place for place, relation in enumerate(self.kept)}
            earlier = Reached([earlier.steps[places[id(r)]] for r in self.changing])
        if not self._overdelete(done, earlier):
            self.rollback()
            for relation in self.kept:
                relation.begin()
            self._recompute(done, None)
            return
        self._rederive_insert(done, earlier)
        for relation in self.changing:
            relation.rest()
        for module in self.modules:
            module.rest()
        if self.closure is not None and self.closure.changed:
            self._close(self.closure, done)

    def _close(self, closure: ExactClosure, done: StratumUpdate) -> None:
        """Only what a change can touch, or everything if that is hardly more; what is represented follows by itself."""
        began, relation, rows = working_time(), closure.relation, None
        if relation.listed:
            done.expect(*closure.estimate())
            everything = self.method == "auto" and done.better_anew(FEW)
            if everything:
                done.how = "from scratch"
            closure.maintain(everything)
            rows = relation.size("gone") + relation.size("come")
        else:
            closure.maintain()
        seconds = working_time() - began
        rule = RuleStatistics(closure.label, rows, seconds)
        done.evaluated.append(RoundStatistics(rows or 0, seconds, [rule]))

    def _overdelete(self, done: StratumUpdate, earlier: Reached | None) -> bool:
        """Lines 21 to 30; False if so much goes that computing the stratum again is cheaper."""
        work = [w for support in self._support for w in support.work(-1)]
        changed = [w for module in self.modules for w in module.diff(-1)]
        changed += earlier.work(self.changing, True, NONRECURSIVE) if earlier else ()
        first = not changed
        while self._round(done, [*work, *changed], True, first):
            first, changed = False, []
            done.rounds += 1
            self._checkpoints.reached(self._number, self.kept)
            done.overdeleted += sum(r.size("delta") for r in self.changing)
            cost = CHANGED * done.changes + DOOMED * done.overdeleted
            if self.modules and cost > done.incremental:
                done.incremental = cost
                if self.method == "auto" and done.better_anew(FEW):
                    return False
            work = [w for module in self.modules for w in module.delete()]
        return True

    def _rederive_insert(self, done: StratumUpdate, earlier: Reached | None) -> None:
        work = [w for support in self._support for w in support.work(1)]
        work += [e.work() for e in due(self._again)]
        work += [w for module in self.modules for w in (*module.rederive(), *module.diff(1))]
        work += earlier.work(self.changing, False, NONRECURSIVE) if earlier else ()
        while self._round(done, work, False):
            done.rounds += 1
            self._checkpoints.reached(self._number, self.kept)
            done.added += sum(r.size("delta") for r in self.changing)
            check_limits([self.live.plan], done.rounds, done.added, self.switches)
            work = [w for module in self.modules for w in module.add()]

    def _round(self, done: StratumUpdate, work: Sequence[Work], leaving: bool, first: bool = False) -> int:
        """Evaluate the work, let Δ join D or A, and derive the next Δ, without the facts that have support (E1).

        `first` says that the work is what nonrecursive clauses lost, and nothing else.
        """
        began, actions = working_time(), self.engine.actions
        if work:
            self.engine.run(work, counted=True)
        for relation in self.changing:
            relation.merge()
        if not work:
            return 0
        new = sum([relation.derive(leaving) for relation in self.changing])
        if new and leaving and self.method != "dred":
            new = sum([support.spare(first) for support in self._support])
        rules = [RuleStatistics.of(w) for w in work]
        seconds, actions = working_time() - began, self.engine.actions - actions
        done.evaluated.append(RoundStatistics(new, seconds, rules, actions))
        return new
