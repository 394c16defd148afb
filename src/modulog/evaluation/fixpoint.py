"""The fixpoint: Algorithm 2 of the modular paper over the finest strata.

With seminaive modules alone that is Algorithm 1. `fixpoint` is the algorithm. Statistics, a progress bar,
checkpoints and limits are observers of it (`observers.py`); `materialise` puts them together and goes through
the strata.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from modulog.engines.engine import Engine
from modulog.errors import Interrupted, stopped
from modulog.evaluation.facts import Facts
from modulog.evaluation.observers import (
    CheckpointKeeper,
    Checkpoints,
    GroupRecorder,
    LoopObserver,
    Observers,
    ProgressCallback,
    ProgressObserver,
    ValueLimits,
    silent,
)
from modulog.evaluation.statistics import RoundStatistics, Statistics
from modulog.evaluation.stratum import NONRECURSIVE, LiveStratum, StratumGroup, live_stratum
from modulog.kernels.compile_time import working_time
from modulog.planning.passes import DEFAULT, Switches
from modulog.planning.plan import Plan
from modulog.planning.stratify import stages

CLOSURES = ("transitive", "left-linear", "right-linear")
"""The kinds of modules that statistics count as transitive."""


def fixpoint(group: StratumGroup, observer: LoopObserver) -> None:
    """Lines 9 to 15 of Algorithm 2: compute everything that follows in the strata of a group.

    Nothing is done if the group is finished, because another process has computed it.
    """
    if not group.finished:
        delta = group.first_delta(observer)  # Δ := (E ∩ Oˢ) ∪ Πₙᵣ[I]
        while delta:
            observer.continues()
            derived = (work for module in group.modules for work in module.add())  # Δᵢ := Addᵢ[I, I, Δ \ Δᵢ]
            delta = group.next_delta(derived, observer)  # I := I ∪ Δ, and Δ := Δ₁ ∪ … ∪ Δₙ without I
        group.finish()
    observer.ends()


def materialise(
    plan: Plan,
    facts: Facts,
    observe: ProgressCallback = silent,
    switches: Switches = DEFAULT,
    checkpoints: Checkpoints | None = None,
) -> tuple[Statistics, list[LiveStratum]]:
    """Compute every consequence; the derived relations of `facts` are empty before. Returns the strata, too.

    With checkpoints the work goes on where another process stopped. After an error no fact is derived.
    """
    began, progress = working_time(), ProgressObserver(observe)
    plan.orders.clear()
    plan.trees.clear()
    try:
        live = make_live(plan, facts)
        groups = _groups(plan, live, facts)
        if checkpoints is not None:
            checkpoints.resume(facts, groups)
        earlier = sum(group.statistics.seconds for group in groups)
        for number, group in enumerate(groups, 1):
            progress.enter(group, number, len(groups))
            observers = [GroupRecorder(group, plan), progress, _limits(group, switches)]
            observers += [CheckpointKeeper(checkpoints)] if checkpoints is not None else []
            fixpoint(group, Observers(observers))
        statistics = _totals(groups)
        statistics.late = _evaluate_lazy(facts.engine)
        for group in groups:
            group.recount()
        if checkpoints is not None:
            checkpoints.reached()
    except BaseException as error:
        facts.forget_derived()
        if not stopped(error):
            raise
        raise Interrupted(f"stopped after {working_time() - began:.1f} s {progress}") from None
    statistics.facts, statistics.seconds = progress.facts, earlier + working_time() - began
    return statistics, list(live.values())


def make_live(plan: Plan, facts: Facts) -> dict[int, LiveStratum]:
    """Every stratum with its relations and modules, by the identity of its plan.

    The modules of all strata are numbered from one.
    """
    live: dict[int, LiveStratum] = {}
    first = NONRECURSIVE + 1
    for stratum in plan.strata:
        live[id(stratum)] = live_stratum(stratum, facts, first)
        first += len(stratum.modules)
    return live


def _groups(plan: Plan, live: Mapping[int, LiveStratum], facts: Facts) -> list[StratumGroup]:
    """The strata in the groups that are evaluated together, in the order of evaluation."""
    staged = stages(plan.strata) if facts.engine.shares_rounds else [(s,) for s in plan.strata]
    groups = [StratumGroup([live[id(stratum)] for stratum in stage], facts) for stage in staged]
    for number, group in enumerate(groups, 1):
        group.place = f"stratum {number} of {len(groups)}: {group.name}"
    return groups


def _limits(group: StratumGroup, switches: Switches) -> ValueLimits:
    def reached() -> tuple[int, int]:
        return len(group.statistics.rounds) - 1, group.statistics.facts

    return ValueLimits([stratum.plan for stratum in group.strata], switches, reached)


# ---- Statistics of the whole


def _totals(groups: Sequence[StratumGroup]) -> Statistics:
    """What all groups did together."""
    strata = [stratum for group in groups for stratum in group.strata]
    kinds = [module.kind for stratum in strata for module in stratum.plan.modules]
    return Statistics(
        strata=[group.statistics for group in groups],
        nonrecursive_rules=sum(len(stratum.plan.entry) for stratum in strata),
        recursive_rules=sum(len(stratum.plan.recursive) for stratum in strata),
        transitive_modules=sum(map(kinds.count, CLOSURES)),
        symmetric_modules=kinds.count("symmetric"),
        decomposed_rules=sum(len(stratum.all_trees) for stratum in strata),
        returned_rules=sum(len({id(tree.clause) for tree in stratum.given_up}) for stratum in strata),
        node_bytes=max((group.node_bytes() for group in groups), default=0),
    )


def _evaluate_lazy(engine: Engine) -> RoundStatistics:
    """Let the engine evaluate the rules that it has put off."""
    began, actions = working_time(), engine.actions
    with engine.described("strata without recursion, which were put off"):
        engine.settle()
    return RoundStatistics(0, working_time() - began, actions=engine.actions - actions)
