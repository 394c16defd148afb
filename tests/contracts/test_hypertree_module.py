"""The contract of the hypertree module: Lemmas 1 to 3 of its paper, as corrected, and the definitions of the
modular paper, on random datasets.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import inf

import pytest

from modulog.joins import decompose
from modulog.language.model import Predicate
from modulog.modules.hypertree_module import HypertreeModule
from support import module_model as model
from support.instances import counts_of, facts_of, heads
from support.module_model import Facts
from support.module_place import OWN, Make, Place, lower_facts, run_add, run_delete, some

ROUNDS = 8
PROGRAMS = [
    "p(x,z) <- p(x,y), p(y,z)",
    "p(x,z) <- p(x,y), e(y,z), p(z,x)",
    "p(x,w) <- e(x,y), p(y,w), f(x,z), p(z,w)",
    "p(x,z) <- p(x,y), q(y,z), e(z,x); q(x,y) <- p(y,x), e(x,z), e(y,z)",
    "p(x,w) <- p(x,y), e(y,z), p(z,w), not f(x,w); q(x,y) <- p(x,y), e(x,z), e(z,y), not f(x,y), not u(y); p(x,y) <- q(x,y), f(y,x)",
    "p(x,y) <- p(y,x), e(x,z), e(z,w), e(w,y), not u(z)",
    "p(x,x), q(x,y) <- p(x,y), q(y,z), f(z,w), p(w,x)",
]


def make(place: Place) -> HypertreeModule:
    own = [Predicate(p, place.arity[p]) for p in place.own]
    return HypertreeModule(OWN, place.clauses, own, place)


def check_tables(module: HypertreeModule) -> None:
    """Tables are the views that their clauses say, each derivation counted once."""
    for tables in module._tables():
        for node in tables.nodes:
            expected = heads([node.clause])
            assert facts_of(node.relation) == set(expected)
            if node.counting is not None and node.counting.counters is not None:
                assert counts_of(node.counting.counters) == expected


@pytest.mark.parametrize("program", PROGRAMS)
def test_lemmas(make_engine: Make, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables over all of χ: a row goes exactly when a fact goes whose variables it has."""
    monkeypatch.setattr(decompose, "FEWER", inf)
    for seed in range(ROUNDS):
        try:
            live(Place(program, make_engine()), random.Random(seed))
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise


def live(place: Place, chance: random.Random) -> None:
    ids = range(1, chance.choice([3, 4, 5]))
    module = make(place)
    lower_facts(place, chance, ids)
    for _ in range(2):  # Lemma 1, repeated: Definition 3
        run_add(place, module, some(chance, place.every(ids, place.own), 0.2), at_once=False)
        place.rest()
        module.rest()
    for _ in range(3):
        update(place, module, chance, ids)


def update(place: Place, module: HypertreeModule, chance: random.Random, ids: Sequence[int]) -> None:
    """One update: Diff, Del, Red, Diff, Add."""
    before, rules = place.facts("all"), place.rules
    below = {f for f in before if f[0] in place.lower}
    gone = some(chance, below) if chance.random() < 0.7 else set()
    come = some(chance, set(place.every(ids, place.lower)) - before, 0.15) if chance.random() < 0.7 else set()
    place.change(gone, come)
    module.begin()

    taken = place.heads(module.diff(-1))
    assert taken == model.differing(rules, before, before, gone, come), "Definition 5"
    own = before - below
    supported = some(chance, own)
    doomed = ((taken & own) | some(chance, own, 0.1)) - supported
    place.schedule(doomed)
    delta = place.derive(place.own, leaving=True, spared=supported)
    left = set(delta)
    ip, neg = before - gone, before | come
    while delta:  # Lemma 2: what a step takes away
        found = place.heads(work := module.delete())
        assert found == set(model.instances(rules, ip, neg, delta)), "Lemma 2"
        place.engine.run(work)
        ip -= delta
        delta = place.derive(place.own, leaving=True, spared=supported)
        left |= delta
    place.derive(place.own)

    stayed = place.facts("after")
    again = (
        place.heads(module.rederive()) & left
    )  # Lemma 3: what still follows, at least from what did not change below
    assert set(model.instances(rules, stayed - come, before | come)) & left <= again
    assert again <= set(model.instances(rules, stayed, stayed)) & left, "Lemma 3"
    won = place.heads(module.diff(1))
    assert won == model.differing(rules, stayed, stayed, come, gone), "Definition 5"
    place.schedule(won | again | some(chance, place.every(ids, place.own), 0.05))
    fresh = delta = place.derive(place.own)
    known = stayed
    while delta:  # Lemma 1: what a step brings
        found = place.heads(work := module.add())
        known |= delta
        assert found == set(model.instances(rules, known, known, delta)), "Lemma 1"
        place.engine.run(work)
        delta = place.derive(place.own)
    place.rest()
    module.rest()
    after = place.facts("after")
    assert after == stayed | fresh | model.added(rules, stayed | fresh, stayed | fresh, fresh)
    place.commit(module)
    for tree in module.trees:
        tree.commit()
    check_tables(module)


@pytest.mark.parametrize("program", PROGRAMS)
def test_narrow_tables(make_engine: Make, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that keep as little as they may: over-deletion stays within its bounds, and what holds in the
    end is right.
    """
    monkeypatch.setattr(decompose, "FEWER", 0.0)
    for seed in range(ROUNDS):
        place, chance = Place(program, make_engine()), random.Random(seed)
        ids = range(1, chance.choice([3, 4, 5]))
        module = make(place)
        lower_facts(place, chance, ids)
        run_add(place, module, some(chance, place.every(ids, place.own), 0.2), at_once=False)
        place.rest()
        module.rest()
        before = place.facts("all")
        place.change(set(), set())
        module.begin()
        own: Facts = {f for f in before if f[0] in place.own}
        supported = some(chance, own) if seed % 2 else set()
        run_delete(place, module, some(chance, own) - supported, supported, before, before)
