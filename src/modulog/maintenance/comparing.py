"""What must go and what must come so that explicit facts are others: both differences, by anti-joins of ids."""

from __future__ import annotations

from collections.abc import Mapping

from modulog.engines.protocol import EXPLICIT, Engine, Relation, Work
from modulog.language.model import Predicate
from modulog.maintenance.update import Tables, filled, rest_of, settle
from modulog.materialisation.facts import Facts

Relations = Mapping[Predicate, Relation]


def difference(facts: Facts, wanted: Tables) -> tuple[Tables, Tables]:
    """For each predicate what is explicit and not wanted, and what is wanted and not explicit."""
    (new,) = filled(facts.engine, wanted)
    old = {p: facts.explicit[p] for p in wanted if p in facts.explicit}
    return _minus(facts.engine, old, new), _minus(facts.engine, new, old)


def _minus(engine: Engine, these: Relations, others: Relations) -> Tables:
    """The facts that only the first ones have, by predicate; all predicates go together."""
    rest = {p: engine.relation(f"{p.name} only", p.arity) for p in these}
    engine.run([Work(rest[p], rest_of(these[p], others.get(p)), EXPLICIT) for p in rest])
    settle(rest.values())
    some = {p: relation for p, relation in rest.items() if relation.size("all")}
    return {p: [engine.collect(rest_of(relation, None))] for p, relation in some.items()}
