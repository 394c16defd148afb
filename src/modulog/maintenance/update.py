"""One update of everything: explicit facts first, then the strata that the change reaches, in order. All or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from modulog.engines.protocol import EXPLICIT, AntiJoin, Engine, Project, Read, Relation, Table, Work
from modulog.kernels.compile_time import compile_time, working_time
from modulog.language.model import Atom, Predicate, Variable
from modulog.language.triples import TripleViews
from modulog.maintenance.dredc_mod import MaintainedStratum
from modulog.maintenance.journal import Journal
from modulog.maintenance.progress import UNKEPT, UpdateCheckpoints
from modulog.maintenance.statistics import UpdateStatistics
from modulog.materialisation.facts import Facts
from modulog.materialisation.strata import LiveStratum
from modulog.planning.collapse import through
from modulog.planning.pipeline import Switches

Tables = dict[Predicate, list[Table]]


@dataclass(slots=True)
class NetChange:
    """What came and what went in the relations of representatives and explicit facts, and how the update went."""

    come: dict[Predicate, Table] = field(default_factory=dict)
    gone: dict[Predicate, Table] = field(default_factory=dict)
    ignored: int = 0  # facts to delete that held neither before nor after
    still_derived: int = 0  # facts to delete that hold all the same
    statistics: UpdateStatistics = field(default_factory=UpdateStatistics)


class Maintenance:
    """Keeps the materialisation of a program right while explicit facts come and go."""

    def __init__(
        self,
        strata: Sequence[LiveStratum],
        facts: Facts,
        switches: Switches,
        views: TripleViews,
    ) -> None:
        self.facts, self.engine = facts, facts.engine
        self.views = views
        self.strata = [MaintainedStratum(live, switches) for live in strata]
        self.journal: Journal | None = None  # what to write into the store that everything came from
        self.checkpoints: UpdateCheckpoints = (
            UNKEPT  # say where another process stopped: updates go on from there
        )

    def update(self, minus: Tables, plus: Tables) -> NetChange:
        """Delete and add explicit facts, or if there are none take in what was staged; on an error nothing has changed."""
        began, compiled, net = working_time(), compile_time.seconds, NetChange()
        before = self.engine.failures
        touched: list[MaintainedStratum] = []
        known = set(self.facts.explicit)
        given: list[Relation] = []
        try:
            for predicate in plus:
                self.facts.given(predicate)
            named = dict.fromkeys((*minus, *plus)) if minus or plus else self.facts.explicit
            given += [self.facts.explicit[p] for p in named if p in self.facts.explicit]
            changed, asked = self._explicit(minus, plus, given, net)
            for number, stratum in enumerate(self.strata):
                if not changed.isdisjoint(stratum.live.below):
                    touched.append(stratum)
                    net.statistics.strata.append(stratum.update(number, self.checkpoints))
                    changed |= _changed((*stratum.live.relations, *stratum.live.external))
            self._look_for(asked, net)
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
        net.statistics.seconds = working_time() - began
        net.statistics.compiling = compile_time.seconds - compiled
        net.statistics.failures = self.engine.failures - before + self.checkpoints.failures
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

    def _explicit(
        self, minus: Tables, plus: Tables, given: Sequence[Relation], net: NetChange
    ) -> tuple[set[int], dict[Predicate, Relation]]:
        """E := (E \\ E⁻) ∪ E⁺; a fact in both ends up explicit.

        Gives the relations that changed, and the facts to delete of predicates that rules derive: whether these are gone is known after all strata.
        """
        for relation in given:
            relation.begin()
        if minus and plus:
            asked, deleted = self._exchange(minus, plus)
        else:
            asked, deleted = self._delete(minus)
            for predicate, tables in plus.items():
                for table in tables:
                    self.facts.given(predicate).schedule(table, EXPLICIT)
        for relation in given:
            relation.derive()
        for relation in given:
            relation.merge()
        # What `triple` and `rdf:type` hold for rules is counted under other names.
        asked = {p: relation for p, relation in asked.items() if p not in self.views.present}
        derivable = {p: relation for p, relation in asked.items() if self._is_derivable(p)}
        net.ignored = sum(r.size("all") - deleted.get(p, 0) for p, r in asked.items() if p not in derivable)
        return _changed(given), derivable

    def _is_derivable(self, predicate: Predicate) -> bool:
        """Whether there are rules for a predicate, or for one that it is a view of."""
        return self._home(predicate).predicate in self.facts.derived

    def _home(self, predicate: Predicate) -> Atom:
        """Where all facts of a predicate are."""
        return through(self.views.home(predicate)[1], self.facts.plan.links)

    def _arguments(self, atom: Atom) -> tuple[str | int, ...]:
        """The terms of an atom as an engine knows them: names of variables, ids of constants."""
        return tuple(t.name if isinstance(t, Variable) else self.facts.identify(t) for t in atom.terms)

    def _exchange(
        self, minus: Tables, plus: Tables
    ) -> tuple[dict[Predicate, Relation], dict[Predicate, int]]:
        """Delete and schedule what comes, but what is in both stays; what was to go, and how many facts of each predicate went.

        All predicates go together.
        """
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
        return leaving, deleted

    def _delete(self, minus: Tables) -> tuple[dict[Predicate, Relation], dict[Predicate, int]]:
        """Delete what is explicit; what was to go, where not all of it went for good, and how many facts of each predicate went.

        All is scheduled before the first leaves, so that terms get ids together.
        """
        explicit = self.facts.explicit
        leaving = {p: tables for p, tables in minus.items() if p in explicit}
        for predicate, tables in leaving.items():
            for table in tables:
                explicit[predicate].schedule(table, EXPLICIT)
        deleted = {p: explicit[p].derive(leaving=True) for p in leaving}
        for predicate in leaving:
            explicit[predicate].merge()
        partly = {
            p: tables
            for p, tables in minus.items()
            if deleted.get(p) != sum(map(len, tables)) or self._is_derivable(p)
        }
        (asked,) = filled(self.engine, partly)
        return asked, deleted

    def _look_for(self, asked: dict[Predicate, Relation], net: NetChange) -> None:
        """Count facts that were to go: those that hold still, because rules derive them, and those that did not hold before either."""
        for predicate, relation in asked.items():
            own, home = self.views.home(predicate)[0], self._home(predicate)
            names, args = self._arguments(own), self._arguments(home)
            rows = self.engine.collect(Project(Read(relation, names, "all"), args, "keep"))
            holding = self.facts.relation(home.predicate)
            net.still_derived += len(holding.contains(rows, "after"))
            net.ignored += relation.size("all") - len(holding.contains(rows, "either"))

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
