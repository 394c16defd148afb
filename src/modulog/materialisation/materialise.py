"""The fixpoint: Algorithm 1 of the modular paper over the finest strata, in the form of Algorithm 2.

For each stratum, explicit facts and nonrecursive rules give the first Δ. Then, while there is a Δ, every module adds what follows from
it, and Δ joins I.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import Protocol

from modulog.engines.protocol import Work
from modulog.errors import Interrupted, stopped
from modulog.materialisation.facts import Facts
from modulog.materialisation.statistics import RoundStatistics, RuleStatistics, Statistics, StratumStatistics
from modulog.modules.clauses import evaluation
from modulog.modules.seminaive import SeminaiveModule
from modulog.planning.plan import Plan, Stratum
from modulog.planning.stratify import stages

NONRECURSIVE = 0  # the source of facts that nonrecursive rules derive; modules count from one


class Observer(Protocol):
    """Is told how far the work has come."""

    def __call__(self, stratum: int, strata: int, name: str, round_: int, facts: int) -> None: ...


def silent(stratum: int, strata: int, name: str, round_: int, facts: int) -> None:
    """An observer that does nothing."""


def materialise(plan: Plan, facts: Facts, observe: Observer = silent) -> Statistics:
    """Compute every consequence; the derived relations of `facts` are empty before."""
    statistics, began, where = Statistics(), perf_counter(), "before the first stratum"
    plan.orders.clear()
    try:
        groups = stages(plan.strata) if facts.engine.shares_rounds else [(s,) for s in plan.strata]
        for number, group in enumerate(groups, 1):
            run = _Run(group, facts)
            statistics.strata.append(run.statistics)
            for round_, new in enumerate(run.rounds()):
                statistics.facts += new
                where = f"in stratum {number} of {len(groups)} ({run.name}), round {round_}"
                observe(number, len(groups), run.name, round_, statistics.facts)
            run.record_orders(plan)
            statistics.nonrecursive_rules += sum(len(stratum.entry) for stratum in group)
            statistics.recursive_rules += sum(len(stratum.recursive) for stratum in group)
        facts.engine.settle()
    except BaseException as error:
        facts.forget_derived()
        if not stopped(error):
            raise
        seconds = perf_counter() - began
        raise Interrupted(
            f"stopped after {seconds:.1f} s {where}, with {statistics.facts:,} facts derived"
        ) from None
    statistics.seconds = perf_counter() - began
    return statistics


class _Run:
    """The evaluation of one stratum, or of several that do not depend on each other and share their rounds."""

    def __init__(self, strata: Sequence[Stratum], facts: Facts) -> None:
        self.facts = facts
        self.predicates = [p for stratum in strata for p in stratum.predicates]
        self.name = ", ".join(p.name for p in self.predicates[:3])
        self.relations = [facts.relation(p) for p in self.predicates]
        self.entry = [
            evaluation(c, ["old"] * len(c.atoms), facts, NONRECURSIVE)
            for stratum in strata
            for c in stratum.entry
        ]
        modules = [(module, stratum.predicates) for stratum in strata for module in stratum.modules]
        self.modules = [
            SeminaiveModule(i, module.clauses, own, facts) for i, (module, own) in enumerate(modules, 1)
        ]
        self.statistics = StratumStatistics(tuple(map(str, self.predicates)), bool(modules))

    def rounds(self) -> Iterator[int]:
        """Go to the fixpoint; gives the number of new facts of each round."""
        began = perf_counter()
        explicit = [work for p in self.predicates for work in self.facts.entering(p)]
        new = self._round([*explicit, *(e.work() for e in self.entry if not e.empty())])
        while new:
            yield new
            new = self._round([work for module in self.modules for work in module.add()])
        for relation in self.relations:
            relation.rest()
        self.statistics.seconds = perf_counter() - began

    def _round(self, work: Sequence[Work]) -> int:
        """Evaluate the work, let Δ join I, and derive the next Δ."""
        began = perf_counter()
        self.facts.engine.run(work, lazily=not self.modules)
        for relation in self.relations:
            relation.merge()
        new = sum([relation.derive() for relation in self.relations])
        rules = [RuleStatistics(w.label, w.rows, w.seconds) for w in work]
        self.statistics.rounds.append(RoundStatistics(new, perf_counter() - began, rules))
        return new

    def record_orders(self, plan: Plan) -> None:
        """Let the plan show how each clause was last evaluated."""
        for e in [*self.entry, *(e for module in self.modules for _, e in module.evaluations)]:
            plan.orders.setdefault(id(e.clause), []).append(partial(e.show, self.facts.name))
