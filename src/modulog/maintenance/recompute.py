"""A stratum computed from scratch beside its old facts, and the old facts brought to the new ones: the net change is exact."""

from __future__ import annotations

from modulog.engines.protocol import AntiJoin, Engine, Project, Read, Relation, Work
from modulog.engines.schemes import can_close
from modulog.maintenance.progress import Reached, UpdateCheckpoints
from modulog.maintenance.statistics import StratumUpdate
from modulog.materialisation.materialise import Run
from modulog.materialisation.strata import NONRECURSIVE, LiveStratum


def recompute(
    live: LiveStratum,
    done: StratumUpdate,
    number: int,
    checkpoints: UpdateCheckpoints,
    earlier: Reached | None,
) -> None:
    """Bring the stratum up to date with what holds below it, from what an earlier process may have found."""
    fresh = LiveStratum(live.plan, live.facts.beside(live.predicates), live.first)
    alone = live.plan.closure is not None
    if alone and not live.relations[0].listed:
        fresh.modules = []  # what a closure represents follows from its external facts
    engine, run = live.facts.engine, Run([fresh], fresh.facts)
    if earlier is not None and not alone:
        engine.run(list(earlier.work(fresh.relations, False, NONRECURSIVE)))
    for _ in run.rounds():
        done.rounds += 1
        if not alone:
            checkpoints.reached_anew(number, fresh.relations)
    engine.settle()
    run.recount()
    done.evaluated += run.statistics.rounds
    for relation, new in zip(live.kept, fresh.kept, strict=True):
        if relation.listed:
            _replace(engine, relation, new)
        elif not alone and can_close(relation):
            relation.become(new)


def _replace(engine: Engine, relation: Relation, new: Relation) -> None:
    """Let the facts that `new` lacks leave, and those that it has come."""
    names = tuple(f"c{j}" for j in range(relation.arity))
    everything = Read(new, names, "all")
    leaving = AntiJoin(Read(relation, names, "before"), everything, names)
    for pairs, is_leaving in ((leaving, True), (everything, False)):
        engine.run([Work(relation, Project(pairs, names, "keep"), NONRECURSIVE)])
        relation.derive(is_leaving)
        relation.merge()
