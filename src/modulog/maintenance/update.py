"""One update of everything: explicit facts first, then the strata that the change reaches, in order. All or nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from modulog.engines.protocol import EXPLICIT, AntiJoin, Engine, Project, Read, Relation, Table, Work
from modulog.language.model import Predicate
from modulog.maintenance.dredc_mod import MaintainedStratum
from modulog.maintenance.journal import Journal
from modulog.maintenance.progress import UNKEPT, UpdateCheckpoints
from modulog.maintenance.statistics import UpdateStatistics
from modulog.materialisation.facts import Facts
from modulog.materialisation.strata import LiveStratum
from modulog.planning.pipeline import Switches

Tables = dict[Predicate, list[Table]]


@dataclass(slots=True)
class NetChange:
    """What came and what went in the relations of representatives and explicit facts, and how the update went."""

    come: dict[Predicate, Table] = field(default_factory=dict)
    gone: dict[Predicate, Table] = field(default_factory=dict)
    ignored: int = 0
    statistics: UpdateStatistics = field(default_factory=UpdateStatistics)


class Maintenance:
    """Keeps the materialisation of a program right while explicit facts come and go."""

    def __init__(
        self,
        strata: Sequence[LiveStratum],
        facts: Facts,
        switches: Switches,
        copies: Collection[Predicate] = (),
    ) -> None:
        self.facts, self.engine = facts, facts.engine
        self.copies = copies  # predicates whose explicit facts are counted under other names
        self.strata = [MaintainedStratum(live, switches) for live in strata]
        self.journal: Journal | None = None  # what to write into the store that everything came from
        self.checkpoints: UpdateCheckpoints = (
            UNKEPT  # say where another process stopped: updates go on from there
        )

    def update(self, minus: Tables, plus: Tables) -> NetChange:
        """Delete and add explicit facts, or if there are none take in what was staged; on an error nothing has changed."""
        began, net = perf_counter(), NetChange()
        touched: list[MaintainedStratum] = []
        known = set(self.facts.explicit)
        given: list[Relation] = []
        try:
            for predicate in plus:
                self.facts.given(predicate)
            named = dict.fromkeys((*minus, *plus)) if minus or plus else self.facts.explicit
            given += [self.facts.explicit[p] for p in named if p in self.facts.explicit]
            changed = self._explicit(minus, plus, given, net)
            for number, stratum in enumerate(self.strata):
                if not changed.isdisjoint(stratum.live.below):
                    touched.append(stratum)
                    net.statistics.strata.append(stratum.update(number, self.checkpoints))
                    changed |= _changed((*stratum.live.relations, *stratum.live.external))
            self._collect(changed, net)
            kept = (*given, *(relation for stratum in touched for relation in stratum.kept))
            seen = self.journal.look(kept) if self.journal is not None else []
        except BaseException:
            staged = [] if minus or plus else self._staged()
            for relation in given:
                relation.rollback()
            for stratum in touched:
                stratum.rollback()
            for relation, table in staged:
                relation.schedule(table, EXPLICIT)
            for predicate in set(self.facts.explicit) - known:
                del self.facts.explicit[predicate]
            raise
        for relation in given:
            relation.commit()
        for stratum in touched:
            stratum.commit()
        if self.journal is not None:
            self.journal.record(seen)
        net.statistics.node_bytes = self.node_bytes()
        net.statistics.seconds = perf_counter() - began
        return net

    def node_bytes(self) -> int:
        """The bytes of the tables that are kept for decomposed rules."""
        return sum(stratum.node_bytes() for stratum in self.strata)

    def _staged(self) -> list[tuple[Relation, Table]]:
        """What had been staged before an update that only takes it in, to be staged again."""
        found = []
        for relation in self.facts.explicit.values():
            names = tuple(f"c{j}" for j in range(relation.arity))
            if relation.size("come"):
                found.append((relation, self.engine.collect(Read(relation, names, "come"))))
        return found

    def _explicit(self, minus: Tables, plus: Tables, given: Sequence[Relation], net: NetChange) -> set[int]:
        """E := (E \\ E⁻) ∪ E⁺; a fact in both ends up explicit. Gives the relations that changed."""
        for relation in given:
            relation.begin()
        if minus and plus:
            net.ignored += self._exchange(minus, plus)
        else:
            net.ignored += self._delete(minus)
            for predicate, tables in plus.items():
                for table in tables:
                    self.facts.given(predicate).schedule(table, EXPLICIT)
        for relation in given:
            relation.derive()
        for relation in given:
            relation.merge()
        return _changed(given)

    def _exchange(self, minus: Tables, plus: Tables) -> int:
        """Delete and schedule what comes, but what is in both stays; how many were not explicit. All predicates go together."""
        explicit, engine = self.facts.explicit, self.engine
        leaving, coming = filled(engine, minus, plus)
        both = {p: engine.relation(f"{p.name} leaving", p.arity) for p in minus if p in plus}
        engine.run([Work(both[p], rest_of(leaving[p], coming[p]), EXPLICIT) for p in both])
        settle(both.values())
        leaving |= both
        known = [p for p in minus if p in explicit]
        engine.run([Work(explicit[p], rest_of(leaving[p], None), EXPLICIT) for p in known])
        deleted = {p: explicit[p].derive(leaving=True) for p in known}
        for predicate in known:
            explicit[predicate].merge()
        engine.run([Work(explicit[p], rest_of(coming[p], None), EXPLICIT) for p in plus])
        return self._missing(leaving, deleted)

    def _delete(self, minus: Tables) -> int:
        """Delete what is explicit; how many were not. All is scheduled before the first leaves, so that terms get ids together."""
        explicit = self.facts.explicit
        unknown = {p: tables for p, tables in minus.items() if p not in explicit}
        leaving = {p: tables for p, tables in minus.items() if p in explicit}
        for predicate, tables in leaving.items():
            for table in tables:
                explicit[predicate].schedule(table, EXPLICIT)
        deleted = {p: explicit[p].derive(leaving=True) for p in leaving}
        for predicate in leaving:
            explicit[predicate].merge()
        partly = {p: t for p, t in leaving.items() if deleted[p] != sum(map(len, t))}
        (asked,) = filled(self.engine, unknown | partly)
        return self._missing(asked, deleted)

    def _missing(self, leaving: Mapping[Predicate, Relation], deleted: Mapping[Predicate, int]) -> int:
        """How many facts that should leave were not explicit."""
        counted = (p for p in leaving if p not in self.copies)
        return sum(leaving[p].size("all") - deleted.get(p, 0) for p in counted)

    def _collect(self, changed: set[int], net: NetChange) -> None:
        """Keep the net change, for as long as somebody may ask for it."""
        derived, owners = self.facts.derived, self.facts.plan.owners
        for predicate, relation in (*derived.items(), *self.facts.explicit.items()):
            hidden = predicate in owners or (predicate in derived and derived[predicate] is not relation)
            if hidden or id(relation) not in changed:
                continue
            names = tuple(f"c{j}" for j in range(predicate.arity))
            if relation.has("come"):
                net.come[predicate] = self.engine.snapshot(Read(relation, names, "come"))
            if relation.has("gone"):
                net.gone[predicate] = self.engine.snapshot(Read(relation, names, "gone"))


def _changed(relations: Iterable[Relation]) -> set[int]:
    return {id(r) for r in relations if r.has("gone") or r.has("come")}


def filled(engine: Engine, *groups: Tables) -> list[dict[Predicate, Relation]]:
    """The facts of some tables, each once; all terms get their ids together."""
    found: list[dict[Predicate, Relation]] = []
    for group in groups:
        found.append({p: engine.relation(f"{p.name} asked", p.arity) for p in group})
        for predicate, tables in group.items():
            for table in tables:
                found[-1][predicate].schedule(table, EXPLICIT)
    settle([relation for made in found for relation in made.values()])
    return found


def settle(relations: Iterable[Relation]) -> None:
    """Take in what was scheduled, in all of them before the first is read."""
    relations = list(relations)
    for relation in relations:
        relation.derive()
    for relation in relations:
        relation.merge()


def rest_of(these: Relation, others: Relation | None) -> Project:
    """The facts of one relation that another does not have."""
    names = tuple(f"c{j}" for j in range(these.arity))
    read = Read(these, names, "all")
    rest = read if others is None else AntiJoin(read, Read(others, names, "all"), names)
    return Project(rest, names, "keep")
