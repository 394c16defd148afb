"""Every relation, whatever keeps its facts, does what the definitions of versions say."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from support.engine_limits import patched
from support.relation_model import FIXPOINT, VERSIONS, Fact
from support.relation_pair import SMALL, UPDATES, WIDE, Pair, update

LIMITS = {
    "modulog.engines.local.layer_lookup.PIECE": 16,
    "modulog.engines.local.relation.UNSORTED_LIMIT": 4,
    "modulog.engines.local.versions.SMALL": 0,
    "modulog.engines.local.versions.RATIO": 2,
    "modulog.kernels.sort.SMALL": 4,
    "modulog.kernels.sort.PIECE": 8,
}


ARITIES = st.integers(0, 5)
DOMAINS = st.sampled_from([SMALL, list(range(40)), WIDE])
SEEDS = st.integers(0, 2**32)
STEPS = st.lists(st.sampled_from(["schedule", "round", "derive", "merge", "rest"]), max_size=20)


@given(arity=ARITIES, ids=DOMAINS, seed=SEEDS, steps=STEPS, tiny=st.booleans())
def test_a_fixpoint(
    make_relation: Any, make_table: Any, arity: int, ids: list[int], seed: int, steps: list[str], tiny: bool
) -> None:
    p = Pair(make_relation(arity), make_table, ids, seed)
    with patched(LIMITS, tiny):
        p.check()
        for step in steps:
            match step:
                case "schedule":
                    p.schedule(p.facts(), p.random.randint(-1, 3))
                case "round":
                    p.merge()
                    p.derive()
                case "derive" | "merge" | "rest":
                    getattr(p, step)()
            p.check(FIXPOINT)
        p.check()


@given(arity=ARITIES, ids=DOMAINS, seed=SEEDS, steps=UPDATES, tiny=st.booleans())
def test_updates(
    make_relation: Any, make_table: Any, arity: int, ids: list[int], seed: int, steps: list[str], tiny: bool
) -> None:
    p = Pair(make_relation(arity), make_table, ids, seed)
    with patched(LIMITS, tiny):
        p.schedule(p.facts(30))
        update(p, ["round", "begin", "retract", "again", "round", *steps])


@given(arity=st.integers(1, 3), seed=SEEDS, number=st.integers(1, 30), tiny=st.booleans())
def test_many_updates(
    make_relation: Any, make_table: Any, arity: int, seed: int, number: int, tiny: bool
) -> None:
    """Levels come, merge and vanish; facts toggle between them."""
    p = Pair(make_relation(arity), make_table, list(range(12)), seed)
    with patched(LIMITS, tiny):
        p.schedule(p.facts(150))
        update(p, ["round"])
        for _ in range(number):
            inside = p.random.choices(
                ["schedule", "retract", "leaving", "spare", "round", "again", "bitmap"], k=4
            )
            end = p.random.choice(["commit", "commit", "rollback"])
            update(p, ["begin", *inside, "round", end], p.random.choice([VERSIONS, ("all",)]))


@given(arity=st.integers(1, 3), seed=SEEDS)
def test_updates_by_handfuls_of_a_larger_set(
    make_relation: Any, make_table: Any, arity: int, seed: int
) -> None:
    """Few facts leave and return at a time, so that hidden facts lie several levels below what hides them."""
    p = Pair(make_relation(arity), make_table, list(range(40)), seed)
    with patched(LIMITS):
        p.schedule(list({tuple(p.random.choices(p.ids, k=arity)) for _ in range(300)}))
        update(p, ["round", "begin", "commit"])
        lost: list[Fact] = []
        for _ in range(20):
            p.begin()
            lost += (chosen := p.random.sample(there := sorted(p.model.facts), min(len(there), 2)))
            p.retract(chosen)
            p.schedule([*p.random.sample(lost, min(len(lost), 2)), *p.facts(1)])
            p.derive()
            p.merge()
            p.check_version(p.random.choice(VERSIONS))
            p.end("commit")
            p.check_version("all")
