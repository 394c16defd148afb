"""The fixpoint: Algorithm 1 of the modular paper over the finest strata, in the form of Algorithm 2.

For each stratum, explicit facts and nonrecursive rules give the first Δ. Then, while there is a Δ, every module adds what follows from
it, and Δ joins I.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, runtime_checkable

from modulog.engines.backend import Backend
from modulog.engines.protocol import Failures, Relation, Work
from modulog.errors import Interrupted, LimitReached, stopped
from modulog.kernels.compile_time import working_time
from modulog.language.printer import print_rule
from modulog.materialisation.facts import Facts
from modulog.materialisation.statistics import RoundStatistics, RuleStatistics, Statistics, StratumStatistics
from modulog.materialisation.strata import NONRECURSIVE, LiveStratum
from modulog.planning.pipeline import DEFAULT, Switches
from modulog.planning.plan import Plan, Stratum
from modulog.planning.stratify import stages
from modulog.wording import plural


class Observer(Protocol):
    """Is told how far the work has come."""

    def __call__(self, stratum: int, strata: int, name: str, round_: int, facts: int) -> None: ...


@runtime_checkable
class Checkpoints(Protocol):
    """Keeps what was computed so far, so that another process can go on from there."""

    @property
    def loaded(self) -> bool:
        """Whether an earlier process has kept something, explicit facts at least."""

    @property
    def failures(self) -> Failures:
        """What the earlier process had counted."""

    def begin(self, backend: Backend) -> None:
        """Before a backend knows any term: give it those that were kept."""

    def resume(self, facts: Facts, runs: Sequence[Run]) -> None:
        """Before the first round: put back what was kept, or if there is nothing keep the explicit facts."""

    def reached(self) -> None:
        """A round, or the last one of a stratum, is over: perhaps keep what there is."""


def silent(stratum: int, strata: int, name: str, round_: int, facts: int) -> None:
    """An observer that does nothing."""


def materialise(
    plan: Plan,
    facts: Facts,
    observe: Observer = silent,
    switches: Switches = DEFAULT,
    checkpoints: Checkpoints | None = None,
) -> tuple[Statistics, list[LiveStratum]]:
    """Compute every consequence; the derived relations of `facts` are empty before. Gives the strata for maintenance.

    With checkpoints the work goes on where they say that another process stopped.
    """
    statistics, began, where = Statistics(), working_time(), "before the first stratum"
    plan.orders.clear()
    plan.trees.clear()
    try:
        live = make_live(plan, facts)
        groups = stages(plan.strata) if facts.engine.shares_rounds else [(s,) for s in plan.strata]
        runs = [Run([live[id(stratum)] for stratum in group], facts) for group in groups]
        if checkpoints is not None:
            checkpoints.resume(facts, runs)
        earlier = sum(run.statistics.seconds for run in runs)
        for number, (group, run) in enumerate(zip(groups, runs, strict=True), 1):
            before = statistics.facts
            statistics.strata.append(run.statistics)
            for round_ in run.rounds():
                statistics.facts = before + run.statistics.facts
                where = f"in stratum {number} of {len(groups)} ({run.name}), round {round_}"
                observe(number, len(groups), run.name, round_, statistics.facts)
                check_limits(group, round_, run.statistics.facts, switches)
                if checkpoints is not None:
                    checkpoints.reached()
            statistics.facts = before + run.statistics.facts
            if checkpoints is not None:
                checkpoints.reached()
            run.record_orders(plan)
            statistics.nonrecursive_rules += sum(len(stratum.entry) for stratum in group)
            statistics.recursive_rules += sum(len(stratum.recursive) for stratum in group)
            kinds = [module.kind for stratum in group for module in stratum.modules]
            statistics.symmetric_modules += kinds.count("symmetric")
            others = sum(kinds.count(kind) for kind in ("symmetric", "seminaive", "hypertree"))
            statistics.transitive_modules += len(kinds) - others
            statistics.decomposed_rules += sum(len(s.all_trees) for s in run.strata)
            statistics.returned_rules += sum(len({id(t.clause) for t in s.given_up}) for s in run.strata)
            statistics.node_bytes = max(statistics.node_bytes, run.node_bytes())
        _settle(facts, statistics)
        for run in runs:
            run.recount()
        if checkpoints is not None:
            checkpoints.reached()
    except BaseException as error:
        facts.forget_derived()
        if not stopped(error):
            raise
        seconds = working_time() - began
        raise Interrupted(
            f"stopped after {seconds:.1f} s {where}, with {plural(statistics.facts, 'fact')} derived"
        ) from None
    statistics.seconds = earlier + working_time() - began
    return statistics, list(live.values())


def make_live(plan: Plan, facts: Facts) -> dict[int, LiveStratum]:
    """Every stratum at work, by identity; the modules of all strata are numbered from one."""
    live: dict[int, LiveStratum] = {}
    first = NONRECURSIVE + 1
    for stratum in plan.strata:
        live[id(stratum)] = LiveStratum(stratum, facts, first)
        first += len(stratum.modules)
    return live


def check_limits(group: Sequence[Stratum], rounds: int, facts: int, switches: Switches) -> None:
    """Stop rules that go on creating values."""
    if rounds <= switches.value_rounds and facts <= switches.value_facts:
        return
    creating = [clause for stratum in group for clause in stratum.creating]
    if creating:
        origin = creating[0].origin
        where = f"{origin.position}: " if origin.position else ""
        raise LimitReached(
            f"{where}this rule creates values from its own results, and after {plural(rounds, 'round')} with {plural(facts, 'fact')} there is "
            f"no end in sight\n    {print_rule(origin)}\n"
            "hint: stop it with a condition such as `?x < 100`, or raise value_rounds "
            f"(now {switches.value_rounds:,}) or value_facts (now {switches.value_facts:,})"
        )


def _settle(facts: Facts, statistics: Statistics) -> None:
    """Evaluate what was put off."""
    began, actions = working_time(), facts.engine.actions
    facts.engine.settle()
    statistics.late = RoundStatistics(0, working_time() - began, actions=facts.engine.actions - actions)


class Run:
    """The evaluation of one stratum, or of several that do not depend on each other and share their rounds.

    One that was taken up has statistics of its earlier rounds; `finished` says that those were all.
    """

    def __init__(self, strata: Sequence[LiveStratum], facts: Facts) -> None:
        self.strata, self.facts = strata, facts
        predicates = [p for stratum in strata for p in stratum.predicates]
        self.name = ", ".join(p.name for p in predicates[:3])
        self.relations = [r for stratum in strata for r in stratum.relations]
        self.external = [r for stratum in strata for r in stratum.external]
        self.modules = [module for stratum in strata for module in stratum.modules]
        self.statistics = StratumStatistics(tuple(map(str, predicates)), bool(self.modules))
        self.finished = False
        self._late: list[tuple[RuleStatistics, Work]] = []  # rules whose rows will be known later

    @property
    def kept(self) -> list[Relation]:
        """Everything that changes while the strata are evaluated."""
        return [relation for stratum in self.strata for relation in stratum.kept]

    def rounds(self) -> Iterator[int]:
        """Go to the fixpoint; gives the number of each round that brought something."""
        if self.finished:
            return
        began = working_time() - self.statistics.seconds
        if self.statistics.rounds:
            new = self._sizes()
        else:
            new = self._round(work for stratum in self.strata for work in stratum.enter())
        while sum(new):
            self.statistics.seconds = working_time() - began
            yield len(self.statistics.rounds) - 1
            new = self._round(work for module in self.modules for work in module.add())
        for relation in (*self.relations, *self.external):
            relation.rest()
        for module in self.modules:
            module.rest()
        self.statistics.seconds, self.finished = working_time() - began, True

    def _sizes(self) -> tuple[int, int]:
        """How many facts Δ has, and how many external ones."""
        new, external = (sum(r.size("delta") for r in group) for group in (self.relations, self.external))
        return new, external

    def _round(self, asked: Iterable[Work]) -> tuple[int, int]:
        """Evaluate the work, let Δ join I, and derive the next Δ: how many facts it has, and how many external ones."""
        began, actions = working_time(), self.facts.engine.actions
        work = list(asked)  # decomposed rules evaluate their nodes first, and that is part of the round
        self.facts.engine.run(work, lazily=not self.modules, counted=True)
        for relation in (*self.relations, *self.external):
            relation.merge()
        new, external = (sum([r.derive() for r in group]) for group in (self.relations, self.external))
        rules = [RuleStatistics.of(w) for w in work]
        self._late += [(rule, w) for rule, w in zip(rules, work, strict=True) if w.rows is None]
        seconds, actions = working_time() - began, self.facts.engine.actions - actions
        self.statistics.rounds.append(RoundStatistics(new, seconds, rules, actions))
        return new, external

    def node_bytes(self) -> int:
        """What the nodes of decomposed rules took, at most."""
        return sum(tree.bytes for stratum in self.strata for tree in stratum.all_trees)

    def recount(self) -> None:
        """Replace the guesses for rounds that were put off by the facts and rows that came of them."""
        for rule, work in self._late:
            rule.rows = work.rows
        self._late = []
        if not self.modules and self.statistics.rounds:
            self.statistics.rounds[0].facts = sum(relation.size("all") for relation in self.relations)

    def record_orders(self, plan: Plan) -> None:
        """Let the plan show how each clause was last evaluated."""
        for stratum in self.strata:
            stratum.record_orders(plan, self.facts.name)
