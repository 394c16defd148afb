"""Every relation, whatever keeps its facts, does what the definitions of versions say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from contracts.relation_model import FIXPOINT
from contracts.relation_pair import SMALL, WIDE, Pair, weighted

LIMITS = {
    "modulog.engines.local.reading.PIECE": 16,
    "modulog.engines.local.relation.UNSORTED_LIMIT": 4,
    "modulog.kernels.sorting.SMALL": 4,
    "modulog.kernels.sorting.PIECE": 8,
}


@contextmanager
def small_limits(really: bool) -> Iterator[None]:
    """Sizes at which work is cut into pieces, so small that a few facts meet them."""
    patches = [patch(name, value) for name, value in LIMITS.items()] if really else []
    for p in patches:
        p.start()
    try:
        yield
    finally:
        for p in patches:
            p.stop()


ARITIES = st.integers(0, 5)
DOMAINS = st.sampled_from([SMALL, list(range(40)), WIDE])
SEEDS = st.integers(0, 2**32)
STEPS = st.lists(st.sampled_from(["schedule", "round", "derive", "merge", "rest"]), max_size=20)
UPDATES = st.lists(
    st.sampled_from(["schedule", "again", "round", "begin", "retract", "commit", "rollback"]), max_size=25
)


@given(arity=ARITIES, ids=DOMAINS, seed=SEEDS, steps=STEPS, tiny=st.booleans())
def test_a_fixpoint(
    make_relation: Any, make_table: Any, arity: int, ids: list[int], seed: int, steps: list[str], tiny: bool
) -> None:
    p = Pair(make_relation(arity), make_table, ids, seed)
    with small_limits(tiny):
        p.check()
        for step in steps:
            match step:
                case "schedule":
                    p.schedule(p.facts(), p.random.randint(-1, 3))
                case "round":
                    p.merge()
                    p.derive()
                case "derive" | "merge":
                    getattr(p, step)()
                case "rest":
                    p.relation.rest()
            p.check(FIXPOINT)
        p.check()


def update(p: Pair, steps: list[str], again: bool) -> None:
    """Random updates; `again` also derives facts that were retracted in the same update."""
    for step in steps:
        match step:
            case "schedule":
                p.schedule([f for f in p.facts() if again or f not in p.model.gone], p.random.randint(-1, 3))
            case "again" if again:
                p.schedule(sorted(p.model.gone)[:3])
            case "round":
                p.merge()
                p.derive()
            case "begin":
                p.merge()
                p.begin()
            case "retract":
                wanted = [f for f in [*p.facts(3), *p.some_of("after")] if f not in p.model.come]
                p.retract([f for f in wanted if again or f not in {w for w, _ in p.model.waiting}])
            case "commit" | "rollback":
                p.merge()
                p.end(step)
        p.check()


@given(arity=ARITIES, ids=DOMAINS, seed=SEEDS, steps=UPDATES, tiny=st.booleans())
def test_updates_that_retract_or_add(
    make_relation: Any, make_table: Any, arity: int, ids: list[int], seed: int, steps: list[str], tiny: bool
) -> None:
    p = Pair(make_relation(arity), make_table, ids, seed)
    with small_limits(tiny):
        p.schedule(p.facts(30))
        update(p, ["round", "begin", "retract", *steps], again=False)


@given(arity=ARITIES, ids=DOMAINS, seed=SEEDS, steps=UPDATES, tiny=st.booleans())
def test_updates_that_derive_again_what_they_retracted(
    make_relation: Any, make_table: Any, arity: int, ids: list[int], seed: int, steps: list[str], tiny: bool
) -> None:
    p = Pair(make_relation(arity), make_table, ids, seed)
    with small_limits(tiny):
        p.schedule(p.facts(30))
        update(p, ["round", "begin", "retract", "again", "round", "round", *steps], again=True)


@given(arity=st.integers(0, 5), ids=st.sampled_from([SMALL, WIDE]), seed=SEEDS, steps=st.integers(1, 12))
def test_weights(
    make_relation: Any, make_table: Any, arity: int, ids: list[int], seed: int, steps: int
) -> None:
    """A fact is present while its weights sum above zero."""
    p = Pair(make_relation(arity), make_table, ids, seed)
    p.weighted = True
    for _ in range(steps):
        facts = list(dict.fromkeys(p.facts()))
        changes = [(f, p.random.randint(-p.model.weights[f], 3)) for f in facts]
        rows = p.rows(facts)
        p.relation.adjust(weighted(rows, [w for _, w in changes]))
        p.model.adjust(changes)
        if p.random.random() < 0.3:
            p.schedule(p.facts())
            p.derive()
            p.merge()
        p.check()
