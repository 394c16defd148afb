"""One update of everything: explicit facts first, then the strata that the change reaches, in order.

All or nothing. A `Journal` has what updates changed since a store was written, so that only that is written
next.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from modulog.algebra.expressions import Read
from modulog.engines.engine import Engine
from modulog.engines.relation import Relation
from modulog.engines.table import Table, columns_of
from modulog.evaluation.facts import Facts, Tables
from modulog.evaluation.statistics import UpdateStatistics
from modulog.evaluation.stratum import LiveStratum
from modulog.kernels.compile_time import compile_time, working_time
from modulog.language.model import Predicate
from modulog.language.triples import TripleViews
from modulog.maintenance.explicit_facts import ExplicitChange
from modulog.maintenance.maintained_stratum import MaintainedStratum
from modulog.maintenance.stratum_kinds import maintained
from modulog.maintenance.update_progress import UNKEPT, RelationChange, UpdateCheckpoints, step_of
from modulog.planning.passes import Switches


@dataclass(slots=True)
class NetChange:
    """What came and went in the relations of representatives and explicit facts, and the statistics of it."""

    come: dict[Predicate, Table] = field(default_factory=dict)
    gone: dict[Predicate, Table] = field(default_factory=dict)
    ignored: int = 0  # facts to delete that held neither before nor after
    still_derived: int = 0  # facts to delete that hold all the same
    statistics: UpdateStatistics = field(default_factory=UpdateStatistics)


class Maintenance:
    """Keeps the materialisation of a program right while explicit facts come and go.

    `journal` has what to write into the store from which the facts were read, if there is one. `checkpoints`
    say where another process stopped, and updates go on from there.
    """

    def __init__(
        self, strata: Sequence[LiveStratum], facts: Facts, switches: Switches, views: TripleViews
    ) -> None:
        self.facts, self.engine, self.views = facts, facts.engine, views
        self.live, self._switches = strata, switches
        self._places = [  # what a cluster shows beside its jobs
            f"update, stratum {number} of {len(strata)}: {live.plan.name}"
            for number, live in enumerate(strata, 1)
        ]
        self.journal: Journal | None = None
        self.checkpoints: UpdateCheckpoints = UNKEPT

    @cached_property
    def strata(self) -> list[MaintainedStratum]:
        """The strata with the way to keep each up to date, made for the first update."""
        return [maintained(live, self._switches) for live in self.live]

    def update(self, minus: Tables, plus: Tables) -> NetChange:
        """Delete and add explicit facts; on an error nothing has changed."""
        began, compiled, net = working_time(), compile_time.seconds, NetChange()
        before, statistics = self.engine.failures, net.statistics
        explicit = ExplicitChange(self.facts, self.views, minus, plus)
        parts: list[ExplicitChange | MaintainedStratum] = [explicit]  # what may have changed so far
        try:
            with self.engine.described("update: explicit facts"):
                explicit.apply()
            changed = _changed(explicit.kept)
            for number, (stratum, place) in enumerate(zip(self.strata, self._places, strict=True)):
                if not changed.isdisjoint(stratum.live.below):
                    parts.append(stratum)
                    with self.engine.described(place):
                        statistics.strata.append(stratum.update(number, self.checkpoints))
                    changed |= _changed((*stratum.live.relations, *stratum.live.external))
            net.ignored, net.still_derived = explicit.not_deleted()
            self._collect(changed, net)
            journal = self.journal
            seen = (
                [] if journal is None else journal.look(relation for part in parts for relation in part.kept)
            )
        except BaseException:
            for part in parts:
                part.rollback()
            raise
        for part in parts:
            part.commit()
        if journal is not None:
            journal.record(seen)
        statistics.node_bytes = self.node_bytes()
        statistics.seconds = working_time() - began
        statistics.compiling = compile_time.seconds - compiled
        statistics.failures = self.engine.failures - before + self.checkpoints.failures
        return net

    def node_bytes(self) -> int:
        """The bytes of the tables that are kept for decomposed rules."""
        tables = (tree.tables for live in self.live for tree in live.all_trees)
        return sum(made.memory() for made in tables if made is not None)

    def _collect(self, changed: set[int], net: NetChange) -> None:
        """Take snapshots of the net change, which can be read until the next update."""
        derived, owners = self.facts.derived, self.facts.plan.owners
        for predicate, relation in (*derived.items(), *self.facts.explicit.items()):
            if id(relation) not in changed:  # most are not, so that is asked first
                continue
            if predicate in owners or (predicate in derived and derived[predicate] is not relation):
                continue
            names = columns_of(predicate.arity)
            if relation.has("come"):
                net.come[predicate] = self.engine.snapshot(Read(relation, names, "come"))
            if relation.has("gone"):
                net.gone[predicate] = self.engine.snapshot(Read(relation, names, "gone"))


def _changed(relations: Iterable[Relation]) -> set[int]:
    return {id(r) for r in relations if r.has("gone") or r.has("come")}


SHARE = 2  # a relation that has changed by half is better written as a whole


class Journal:
    """The steps of every relation that changed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # By the identity of relations, which live as long as the reasoner.
        self._steps: dict[int, list[RelationChange] | None] = {}

    def look(self, relations: Iterable[Relation]) -> list[tuple[Relation, RelationChange | None]]:
        """The net change of each relation that an update has changed; to be called before the commit."""
        changed = [r for r in relations if r.has("gone") or r.has("come")]
        return [(r, step_of(self._engine, r)) for r in changed]

    def record(self, seen: Iterable[tuple[Relation, RelationChange | None]]) -> None:
        """Keep what `look` returned, once the update is committed."""
        for relation, step in seen:
            steps = self._steps.setdefault(id(relation), [])
            if steps is None:
                continue
            if step is not None:
                steps.append(step)
            if step is None or SHARE * sum(len(t) for s in steps for t in s) > relation.size("all"):
                self._steps[id(relation)] = None

    def has_changed(self, relation: Relation) -> bool:
        """Whether an update changed the relation."""
        return id(relation) in self._steps

    def steps(self, relation: Relation) -> list[RelationChange] | None:
        """What changed in the relation, in order; None if it is to be written as a whole."""
        return self._steps.get(id(relation), [])

    def clear(self) -> None:
        """Forget all changes, because a state was written to the store."""
        self._steps = {}
