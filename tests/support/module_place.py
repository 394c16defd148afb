"""A module driven alone, as the loops of materialisation and maintenance drive it, compared with definitions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from modulog.engines.engine import Engine, Work
from modulog.engines.relation import Relation, Version
from modulog.language.model import Predicate
from modulog.language.parser import parse_program
from modulog.modules.exact_closure import ExactClosure
from modulog.modules.seminaive import SeminaiveModule
from modulog.modules.symmetric_transitive import SymmetricModule
from modulog.modules.transitive import TransitiveModule
from modulog.planning.assign_modules import assign_modules
from modulog.planning.normalise import normalise
from modulog.planning.plan import ModulePlan
from modulog.planning.stratify import stratify
from support import module_model as model
from support.instances import facts_of, rows_of
from support.module_model import Fact, Facts
from support.module_programs import parsed
from support.relation_reads import take_away
from support.strategies import text

OUTSIDE, OWN = 0, 1


class Place:
    """Relations for a program, and its clauses: the context in which a module lives."""

    def __init__(self, program: str, engine: Engine) -> None:
        self.rules = [parsed(rule) for rule in program.split(";")]
        self.engine = engine
        self.unit = engine.table((), np.empty((0, 1), np.int32))
        self.arity = {p: len(args) for heads, _ in self.rules for p, args in heads}
        self.own = sorted(self.arity)
        self.arity |= {b[1]: len(b[2]) for _, body in self.rules for b in body}
        self.relations = {p: engine.relation(p, n) for p, n in self.arity.items()}
        self.external = {Predicate("p", 2): engine.relation("p°", 2)}
        self.clauses = normalise(parse_program(text(self.rules)).rules)

    def relation(self, predicate: Predicate) -> Relation:
        return self.relations[predicate.name]

    def identify(self, constant: object) -> int:
        raise AssertionError(f"these programs have no constants: {constant}")

    # ---- Modules

    def seminaive(self) -> SeminaiveModule:
        return SeminaiveModule(OWN, self.clauses, [Predicate(p, self.arity[p]) for p in self.own], self)

    def closure(self, kind: str) -> TransitiveModule | SymmetricModule:
        plan = ModulePlan(kind, self.clauses)
        return (TransitiveModule if kind == "transitive" else SymmetricModule)(OWN, plan, self)

    def exact(self) -> ExactClosure:
        (stratum,) = assign_modules(stratify(self.clauses))
        assert stratum.closure is not None
        return ExactClosure(OWN, stratum.closure, self)

    # ---- Facts

    def every(self, ids: Sequence[int], names: Iterable[str]) -> list[Fact]:
        """All facts over some ids."""
        return [
            (p, *row)
            for p in names
            for row in ([(a,) for a in ids] if self.arity[p] == 1 else [(a, b) for a in ids for b in ids])
        ]

    def facts(self, version: Version, names: Iterable[str] | None = None) -> Facts:
        """The facts of a version, of some predicates."""
        return {(p, *row) for p in names or self.relations for row in facts_of(self.relations[p], version)}

    @property
    def lower(self) -> list[str]:
        return [p for p in self.arity if p not in self.own]

    def table(self, p: str, facts: Iterable[Fact]) -> Any:
        rows = [f[1:] for f in facts if f[0] == p]
        ids = np.array(rows, np.int32).reshape(len(rows), self.arity[p]).T
        return self.engine.table(tuple(f"c{j}" for j in range(self.arity[p])), np.ascontiguousarray(ids))

    def schedule(self, facts: Facts) -> None:
        for p in self.arity:
            self.relations[p].schedule(self.table(p, facts), OUTSIDE)

    # ---- Rounds

    def derive(self, names: Iterable[str], leaving: bool = False, spared: Facts | None = None) -> Facts:
        """Let Δ join what it should, and derive the next one, without the facts that have support."""
        for p in names:
            relation = self.relations[p]
            relation.merge()
            relation.derive(leaving)
            if spared:
                relation.spare(self.table(p, spared))
        return self.facts("delta", names)

    def change(self, gone: Facts, come: Facts) -> None:
        """Begin an update in which facts below have changed."""
        for p, relation in self.relations.items():
            relation.begin()
            if p in self.lower:
                take_away(relation, self.table(p, gone))
                relation.schedule(self.table(p, come), OUTSIDE)
                relation.derive()
                relation.merge()

    def rest(self) -> None:
        for relation in self.relations.values():
            relation.rest()

    def commit(self, module: Any) -> None:
        for part in (*self.relations.values(), *module.relations(), *getattr(module, "counters", list)()):
            part.commit()
        module.end()

    def heads(self, work: Sequence[Work]) -> Facts:
        """What some work gives, before anything is subtracted."""
        names = {id(r): p for p, r in self.relations.items()}
        return {
            (names[id(w.relation)], *row)
            for w in work
            for table in self.engine.evaluate(w.expr)
            for row in rows_of(table)
        }


def some(chance: random.Random, facts: Iterable[Fact], share: float | None = None) -> Facts:
    """A random part of some facts."""
    share = chance.choice([0.1, 0.25, 0.6]) if share is None else share
    return {f for f in sorted(facts) if chance.random() < share}


def run_add(place: Place, module: Any, fresh: Facts, at_once: bool) -> None:
    """Facts come from outside; Add must give the J of Definition 3."""
    place.schedule(fresh)
    delta = place.derive(place.own)
    ip = place.facts("all")
    expected = model.added(place.rules, ip, ip, delta)
    found, rounds = set[Fact](), 0
    while delta:
        work = module.add()
        if isinstance(module, TransitiveModule) and not found:
            assert place.heads(work) == expected, "Definition 3: nothing that is there (E4)"
        place.engine.run(work)
        delta = place.derive(place.own)
        found |= delta
        rounds += bool(delta)
        assert delta <= expected
    assert found == expected
    assert rounds <= 1 or not at_once, "a closure module returns everything at once"


def lower_facts(place: Place, chance: random.Random, ids: Sequence[int]) -> None:
    """Facts below the stratum, for good."""
    place.schedule(some(chance, place.every(ids, place.lower), 0.4))
    place.derive(place.lower)
    for p in place.lower:
        place.relations[p].merge()
        place.relations[p].rest()


Make = Callable[..., Engine]


def run_delete(place: Place, module: Any, doomed: Facts, supported: Facts, ip: Facts, neg: Facts) -> Facts:
    """Facts leave from outside; repeated, Del must stay within the bounds of Definition 6.

    Returns what is gone.
    """
    place.schedule(doomed)
    delta = place.derive(place.own, leaving=True, spared=supported)
    assert delta == doomed
    left = set(delta)
    while delta:
        place.engine.run(module.delete())
        delta = place.derive(place.own, leaving=True, spared=supported)
        left |= delta
    found = left - doomed
    assert model.lower_bound(place.rules, ip, neg, doomed, supported) <= found, "Definition 6, lower bound"
    assert found <= model.upper_bound(place.rules, ip, neg, doomed, supported), "Definition 6, upper bound"
    return left
