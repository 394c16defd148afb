"""The explicit facts of an update: E := (E \\ E⁻) ∪ E⁺, and which E⁻ and E⁺ lead to facts that are wanted."""

from __future__ import annotations

from collections.abc import Mapping

from modulog.algebra.expressions import AntiJoin, Project, Read
from modulog.engines.engine import Engine, Work
from modulog.engines.relation import EXPLICIT, Relation
from modulog.engines.table import columns_of
from modulog.evaluation.facts import Facts, Tables, merge_scheduled
from modulog.language.model import Atom, Predicate, Variable
from modulog.language.triples import TripleViews
from modulog.planning.merge_equivalent import through

Relations = Mapping[Predicate, Relation]


class ExplicitChange:
    """One change of the explicit facts, to be committed or rolled back with all that follows from it.

    `minus` are facts to delete, `plus` facts to add, by predicate; a fact in both ends up explicit.
    """

    def __init__(self, facts: Facts, views: TripleViews, minus: Tables, plus: Tables) -> None:
        self._facts, self._engine, self._views = facts, facts.engine, views
        self._minus, self._plus = minus, plus
        self._known = set(facts.explicit)
        self.kept: list[Relation] = []  # those that may change
        self._ignored = 0
        self._derivable: dict[Predicate, Relation] = {}  # facts to delete that rules may derive all the same

    def apply(self) -> None:
        """Delete and add; an error may leave this half done, and is to be followed by `rollback`."""
        facts, minus, plus = self._facts, self._minus, self._plus
        for predicate in plus:
            facts.explicit_relation(predicate)
        named = dict.fromkeys((*minus, *plus))
        self.kept += [facts.explicit[p] for p in named if p in facts.explicit]
        for relation in self.kept:
            relation.begin()
        if minus and plus:
            asked, deleted = self._exchange()
        else:
            asked, deleted = self._delete()
            for predicate, tables in plus.items():
                for table in tables:
                    facts.explicit[predicate].schedule(table, EXPLICIT)
        merge_scheduled(self.kept)
        # What `triple` and `rdf:type` hold for rules is counted under other names.
        asked = {p: relation for p, relation in asked.items() if p not in self._views.present}
        self._derivable = {p: relation for p, relation in asked.items() if self._is_derivable(p)}
        certain = asked.keys() - self._derivable.keys()
        self._ignored = sum(asked[p].size("all") - deleted.get(p, 0) for p in certain)

    def commit(self) -> None:
        """Keep the change."""
        for relation in self.kept:
            relation.commit()

    def rollback(self) -> None:
        """Explicit facts are as before; predicates that were new have none."""
        for relation in self.kept:
            relation.rollback()
        for predicate in set(self._facts.explicit) - self._known:
            del self._facts.explicit[predicate]

    # ---- Facts to delete that did not go

    def not_deleted(self) -> tuple[int, int]:
        """Of the facts to delete, how many never held, and how many still hold because rules derive them.

        That is known once all strata are up to date.
        """
        ignored, still_derived = self._ignored, 0
        for predicate, relation in self._derivable.items():
            own, home = self._views.home(predicate)[0], self._home(predicate)
            names, args = self._arguments(own), self._arguments(home)
            rows = self._engine.collect(Project(Read(relation, names, "all"), args, "keep"))
            holding = self._facts.relation(home.predicate)
            still_derived += len(holding.contains(rows, "after"))
            ignored += relation.size("all") - len(holding.contains(rows, "either"))
        return ignored, still_derived

    def _is_derivable(self, predicate: Predicate) -> bool:
        """Whether there are rules for a predicate, or for one that it is a view of."""
        return self._home(predicate).predicate in self._facts.derived

    def _home(self, predicate: Predicate) -> Atom:
        """Where all facts of a predicate are."""
        return through(self._views.home(predicate)[1], self._facts.plan.links)

    def _arguments(self, atom: Atom) -> tuple[str | int, ...]:
        """The terms of an atom as an engine knows them: names of variables, ids of constants."""
        return tuple(t.name if isinstance(t, Variable) else self._facts.identify(t) for t in atom.terms)

    # ---- Deleting: gives what was to go, and how many facts of each predicate went

    def _exchange(self) -> tuple[dict[Predicate, Relation], dict[Predicate, int]]:
        """Delete, and schedule what comes; what is in both stays. All predicates are changed together."""
        explicit, engine, minus, plus = self._facts.explicit, self._engine, self._minus, self._plus
        leaving, coming = relations_of(engine, minus, plus)
        alone = {p: engine.relation(f"{p.name} leaving", p.arity) for p in minus if p in plus}
        engine.run([Work(alone[p], without(leaving[p], coming[p]), EXPLICIT) for p in alone])
        merge_scheduled(alone.values())
        leaving |= alone
        known = [p for p in minus if p in explicit]
        engine.run([Work(explicit[p], without(leaving[p], None), EXPLICIT) for p in known])
        deleted = self._leave(known)
        engine.run([Work(explicit[p], without(coming[p], None), EXPLICIT) for p in plus])
        return leaving, deleted

    def _delete(self) -> tuple[dict[Predicate, Relation], dict[Predicate, int]]:
        """Delete what is explicit; what was to go is given only where not all of it went for good.

        All is scheduled before the first leaves, so that terms get ids together.
        """
        explicit, minus = self._facts.explicit, self._minus
        known = [p for p in minus if p in explicit]
        for predicate in known:
            for table in minus[predicate]:
                explicit[predicate].schedule(table, EXPLICIT)
        deleted = self._leave(known)
        partly = {
            p: tables
            for p, tables in minus.items()
            if deleted.get(p) != sum(map(len, tables)) or self._is_derivable(p)
        }
        (asked,) = relations_of(self._engine, partly)
        return asked, deleted

    def _leave(self, predicates: list[Predicate]) -> dict[Predicate, int]:
        """Let scheduled facts leave; how many went of each predicate."""
        explicit = self._facts.explicit
        deleted = {p: explicit[p].derive(leaving=True) for p in predicates}
        for predicate in predicates:
            explicit[predicate].merge()
        return deleted


def difference(facts: Facts, wanted: Tables) -> tuple[Tables, Tables]:
    """For each predicate what is explicit and not wanted, and what is wanted and not explicit: E⁻ and E⁺."""
    (new,) = relations_of(facts.engine, wanted)
    old = {p: facts.explicit[p] for p in wanted if p in facts.explicit}
    return _minus(facts.engine, old, new), _minus(facts.engine, new, old)


def _minus(engine: Engine, these: Relations, others: Relations) -> Tables:
    """The facts that only the first ones have, by predicate; all predicates go together."""
    only = {p: engine.relation(f"{p.name} only", p.arity) for p in these}
    engine.run([Work(only[p], without(these[p], others.get(p)), EXPLICIT) for p in only])
    merge_scheduled(only.values())
    some = {p: relation for p, relation in only.items() if relation.size("all")}
    return {p: [engine.collect(without(relation, None))] for p, relation in some.items()}


def relations_of(engine: Engine, *groups: Tables) -> list[dict[Predicate, Relation]]:
    """The facts of some tables, each once, for each group; all terms get their ids together."""
    found: list[dict[Predicate, Relation]] = []
    for group in groups:
        found.append({p: engine.relation(f"{p.name} asked", p.arity) for p in group})
        for predicate, tables in group.items():
            for table in tables:
                found[-1][predicate].schedule(table, EXPLICIT)
    merge_scheduled([relation for made in found for relation in made.values()])
    return found


def without(these: Relation, others: Relation | None) -> Project:
    """The facts of one relation that another does not have."""
    names = columns_of(these.arity)
    read = Read(these, names, "all")
    only = read if others is None else AntiJoin(read, Read(others, names, "all"), names)
    return Project(only, names, "keep")
