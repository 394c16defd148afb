"""The contract of modules: Definitions 3, 5, 6 and 7 of the modular paper to the letter, for every module, on
random datasets.

A module is driven alone, as the loops of materialisation and maintenance drive it: work is evaluated, Δ
merged, the next Δ derived. Facts that other modules would add or delete come from outside. A seminaive module
takes one step a round, so rounds are repeated for what a definition closes; closure modules must return
everything at once.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from modulog.algebra.expressions import Read
from modulog.modules.exact_closure import ExactClosure
from modulog.modules.seminaive import SeminaiveModule
from modulog.modules.symmetric_transitive import SymmetricModule
from modulog.modules.transitive import TransitiveModule
from support import module_model as model
from support.instances import counts_of, facts_of, transitive
from support.module_model import Facts
from support.module_place import OUTSIDE, OWN, Make, Place, lower_facts, run_add, run_delete, some
from support.relation_reads import take_away

ROUNDS = 25  # random datasets for each program

TC, SYMMETRY = "p(x,z) <- p(x,y), p(y,z)", "p(x,y) <- p(y,x)"
SEMINAIVE = [
    TC,
    f"{TC}; {SYMMETRY}",
    "p(x,z) <- p(x,y), q(y,z); q(x,y) <- p(y,x)",
    "p(x,z) <- p(x,y), e(y,z), not u(x); q(x,x) <- p(x,y), u(y); p(y,x) <- q(x,y), q(y,x)",
    "p(x,w) <- p(x,y), e(y,z), p(z,w), not f(x,w); q(x,y) <- p(x,y), not f(x,y), not u(y); p(x,y) <- q(x,y), f(y,x)",
    "p(x,x), q(x,y) <- p(x,y), q(y,z); q(x,y) <- p(y,x), e(x,y), e(y,x)",
]
CLOSURES = {"transitive": TC, "symmetric": f"{TC}; {SYMMETRY}"}
EXACT = {
    "transitive": TC,
    "symmetric": f"{TC}; {SYMMETRY}",
    "right-linear": "p(x,z) <- p(x,y), e(y,z)",
    "right-linear, edges turned": "p(x,z) <- e(z,y), p(x,y)",
    "left-linear": "p(x,z) <- e(x,y), p(y,z)",
    "left-linear, edges turned": "p(x,z) <- p(y,z), e(y,x)",
    "reflexive at the start": f"{TC}; p(x,x) <- p(x,y)",
    "reflexive at the end": f"{TC}; p(y,y) <- p(x,y)",
    "reflexive": f"{TC}; p(y,y) <- p(x,y); p(x,x) <- p(x,y)",
    "symmetric and reflexive": f"{TC}; {SYMMETRY}; p(x,x) <- p(x,y)",
}


@pytest.mark.parametrize("counting", [False, True], ids=["asking", "counting"])
@pytest.mark.parametrize("program", SEMINAIVE)
def test_seminaive(make_engine: Make, program: str, counting: bool) -> None:
    for seed in range(ROUNDS):
        try:
            live_seminaive(Place(program, make_engine()), random.Random(seed), counting)
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise


def live_seminaive(place: Place, chance: random.Random, counting: bool) -> None:
    ids = range(1, chance.choice([3, 4, 5]))
    module = place.seminaive()
    lower_facts(place, chance, ids)
    for _ in range(2):
        run_add(place, module, some(chance, place.every(ids, place.own), 0.2), at_once=False)
        place.rest()
    if counting:
        module.count_derivations()
    for _ in range(3):
        update_seminaive(place, module, chance, ids, counting)


def update_seminaive(
    place: Place, module: SeminaiveModule, chance: random.Random, ids: Sequence[int], counting: bool
) -> None:
    """One update: Diff, Del, Red, Diff, Add, each as its definition says."""
    before, rules = place.facts("all"), place.rules
    below = {f for f in before if f[0] in place.lower}
    gone = some(chance, below) if chance.random() < 0.7 else set()
    come = some(chance, set(place.every(ids, place.lower)) - before, 0.15) if chance.random() < 0.7 else set()
    place.change(gone, come)
    module.begin()

    work = module.diff(-1)
    taken = place.heads(work)
    assert taken == model.differing(rules, before, before, gone, come), "Definition 5"
    own = before - below
    supported = some(chance, own)
    doomed = ((taken & own) | some(chance, own, 0.1)) - supported
    left = run_delete(place, module, doomed, supported, before - gone, before | come)
    place.derive(place.own)

    check_rederive(place, module, counting, left, before, gone, come)
    stayed = place.facts("after")
    won = place.heads(module.diff(1))
    assert won == model.differing(rules, stayed, stayed, come, gone), "Definition 5"
    again = place.heads(module.rederive())
    place.schedule(won | again | some(chance, place.every(ids, place.own), 0.05))
    delta = place.derive(place.own)
    fresh = delta
    while delta:
        place.engine.run(module.add())
        delta = place.derive(place.own)
    place.rest()
    after = place.facts("after")
    assert after == stayed | fresh | model.added(rules, stayed | fresh, stayed | fresh, fresh)
    if counting:
        truth = model.counted(rules, after)
        for counters in module.counters():
            found = counts_of(counters.counters)
            assert found == {f[1:]: n for f, n in truth.items() if f[0] == counters.relation.name}, "C_r"
    place.commit(module)


def check_rederive(
    place: Place,
    module: SeminaiveModule,
    counting: bool,
    left: Facts,
    before: Facts,
    gone: Facts,
    come: Facts,
) -> None:
    """Red: one step at once, over what did not change below if it counts, and over what holds after if it
    asks; repeated, Definition 7.
    """
    stayed = place.facts("after")
    ip, neg = (stayed - come, before | come) if counting else (stayed, stayed)
    found = place.heads(module.rederive()) & left
    assert found == set(model.instances(place.rules, ip, neg)) & left, "Definition 7, one step"
    if not gone and not come:
        expected = model.rederived(place.rules, before, before, left)
        steps = found | model.added(place.rules, stayed | found, stayed | found, found)
        assert steps & left == expected, "Definition 7"


@pytest.mark.inside
@pytest.mark.parametrize("kind", CLOSURES)
def test_closures(make_engine: Make, kind: str) -> None:
    for seed in range(4 * ROUNDS):
        chance, place = random.Random(seed), Place(CLOSURES[kind], make_engine())
        try:
            live_closure(place, place.closure(kind), chance)
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise


def live_closure(place: Place, module: TransitiveModule | SymmetricModule, chance: random.Random) -> None:
    ids = range(1, chance.choice([4, 5, 6]))
    for _ in range(2):
        run_add(place, module, some(chance, place.every(ids, ["p"]), 0.12), at_once=True)
        place.rest()
        check_kept(place, module, place.facts("all"))
    for _ in range(3):
        update_closure(place, module, chance, ids)


def update_closure(
    place: Place, module: TransitiveModule | SymmetricModule, chance: random.Random, ids: Sequence[int]
) -> None:
    """One update: several calls of Del with deletions by others between them, Red, then Add."""
    before, relation = place.facts("all"), place.relations["p"]
    for part in (relation, *module.relations()):
        part.begin()
    module.begin()
    assert not module.diff(-1) and not module.diff(1), "Definition 5: nothing below is read"
    supported = some(chance, before)
    over_delete(place, module, chance, supported)
    place.derive(["p"])
    stayed = place.facts("after")
    left = before - stayed
    expected = model.rederived(place.rules, before, before, left)
    assert place.heads(module.rederive()) & left == expected, "Definition 7"
    place.schedule(expected)
    for p in place.own:  # what the module itself rederived is not new to it
        relation.scheduled = [(OWN, words) for _, words in relation.scheduled]  # type: ignore[attr-defined]
        assert place.derive([p]) == expected
    check_kept(place, module, place.facts("all"))
    run_add(place, module, some(chance, place.every(ids, ["p"]), 0.06), at_once=True)
    place.rest()
    check_kept(place, module, place.facts("all"))
    place.commit(module)


def over_delete(place: Place, module: Any, chance: random.Random, supported: Facts) -> None:
    """Lines 26 to 30 with other modules that delete facts at random: each call by Definition 6 as corrected
    (E9, E11).
    """
    everything = place.facts("all")
    place.schedule(some(chance, everything - supported, 0.2))
    delta = place.derive(["p"], leaving=True, spared=supported)
    outside = delta
    while delta:
        ip = place.facts("all") - (delta - outside)
        work = module.delete()
        candidates = place.heads(work)
        found = {f for f in candidates & ip if f not in supported} - delta
        rest = ip - delta
        low = model.lower_bound(place.rules, ip, ip, outside, supported)
        assert low & rest <= found, "Definition 6, lower bound"
        assert found <= model.upper_bound(place.rules, ip, ip, outside, supported), (
            "Definition 6, upper bound"
        )
        place.engine.run(work)
        others = some(chance, rest - supported - found, 0.1) if chance.random() < 0.5 else set()
        place.schedule(others)
        delta = place.derive(["p"], leaving=True, spared=supported)
        assert delta == found | others
        outside = others


def check_kept(place: Place, module: TransitiveModule | SymmetricModule, facts: Facts) -> None:
    """The closure of X_R is R; R holds between the members of one component of C_R."""
    pairs = {f[1:] for f in facts}
    if isinstance(module, TransitiveModule):
        assert transitive(facts_of(module.external)) == pairs
    else:
        members = facts_of(module.members)
        assert {(x, y) for x, c in members for y, d in members if c == d} == pairs


@pytest.mark.parametrize("kind", EXACT)
def test_exact_closures(make_engine: Make, kind: str) -> None:
    for seed in range(2 * ROUNDS):
        chance, place = random.Random(seed), Place(EXACT[kind], make_engine())
        try:
            live_exact(place, place.exact(), chance)
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise


def live_exact(place: Place, module: ExactClosure, chance: random.Random) -> None:
    """`maintain` equals recomputation, and the net change is the difference."""
    ids = range(1, chance.choice([4, 6, 8]))
    relation, external = place.relations["p"], module.external
    pairs = place.every(ids, ["p"])
    lower_facts(place, chance, ids)
    external.schedule(place.table("p", some(chance, pairs, 0.12)), OUTSIDE)
    external.derive()
    place.engine.run(module.add())
    place.derive(["p"])
    relation.merge()
    external.merge()
    for part in (relation, external):
        part.rest()
    assert place.facts("all", ["p"]) == expected_closure(place, module)
    for _ in range(4):
        before = place.facts("all", ["p"])
        known = {("p", *row) for row in facts_of(external)}
        below = {f for f in place.facts("all") if f[0] != "p"}
        come = some(chance, set(place.every(ids, place.lower)) - below, 0.1)
        place.change(some(chance, below, 0.15), come)
        external.begin()
        take_away(external, place.table("p", some(chance, known)))
        external.schedule(place.table("p", some(chance, set(pairs) - known, 0.06)), OUTSIDE)
        external.derive()
        external.merge()
        module.begin()
        if module.changed:
            module.maintain()
        after = expected_closure(place, module)
        assert place.facts("after", ["p"]) == after
        assert place.facts("come", ["p"]) == after - before
        assert place.facts("gone", ["p"]) == before - after
        external.commit()
        place.rest()
        place.commit(module)


def expected_closure(place: Place, module: ExactClosure) -> Facts:
    external = {("p", *row) for row in facts_of(module.external, "after")}
    below = {f for f in place.facts("after") if f[0] != "p"}
    return {f for f in model.closed(place.rules, external | below) if f[0] == "p"}


def test_a_module_reads_its_own_results_only_once(make_engine: Make) -> None:
    """Δ \\ Δ_i: a closure module that is handed its own results adds nothing."""
    place = Place(TC, make_engine())
    module = place.closure("transitive")
    place.schedule({("p", 1, 2), ("p", 2, 3)})
    place.derive(["p"])
    place.engine.run(module.add())
    assert place.derive(["p"]) == {("p", 1, 3)}
    own = Read(place.relations["p"], ("x", "y"), "delta", except_from=OWN)
    assert not len(place.engine.collect(own))
    assert not module.add()
