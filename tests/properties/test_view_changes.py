"""Rules that ask a union for one argument only follow its changes, though they are looked for among the changes of its parts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modulog import Reasoner, Switches
from support.engine_limits import patched

PROGRAM = """
    up(?x, ?y) :- e(?x, ?y) .
    up(?x, ?z) :- up(?x, ?y), up(?y, ?z) .
    near(?x, ?y) :- up(?x, ?y) .
    near(?y, ?x) :- up(?x, ?y) .
    near(?x, ?y) :- beside(?x, ?y) .
    near(?y, ?x) :- beside(?x, ?y) .
    wide(?x, ?y) :- near(?y, ?x) .
    wide(?x, ?y) :- far(?x, ?y) .
    thing(?x) :- near(?x, ?y) .
    end(?y) :- wide(?x, ?y) .
    lonely(?x) :- named(?x), ~near(?x, _) .
    unseen(?x) :- named(?x), ~wide(_, ?x) .
    named_end(?y) :- wide(?x, ?y), named(?y) .
    same(?x) :- near(?x, ?x) .
    both(?x, ?y) :- named(?x), near(?x, ?y), wide(?y, ?x) .
"""
NODES = st.integers(0, 7)
PAIRS = st.sets(st.tuples(NODES, NODES), max_size=6)
FACTS = st.fixed_dictionaries({"e": PAIRS, "beside": PAIRS, "far": PAIRS, "named": st.sets(st.tuples(NODES))})
LIMITS = {
    "modulog.closures.unions.MANY": 0,
    "modulog.closures.closure_difference.MANY_ASKED": 0,
    "modulog.closures.reachable_sets.MANY_ASKED": 0,
    "modulog.closures.pair_sets.FEW": 2,
}


def facts_of(r: Reasoner) -> dict[str, set[Any]]:
    return {p.name: set(r.rows(p.name)) for p in r.predicates()}


def reasoner(facts: dict[str, set[Any]], **switches: Any) -> Reasoner:
    r = Reasoner(PROGRAM, switches=Switches(**switches))
    for name, given_rows in facts.items():
        r.add(name, sorted(given_rows))
    return r


@pytest.mark.parametrize("maintenance", ["auto", "dredc", "dred"])
@given(first=FACTS, steps=st.lists(st.tuples(FACTS, FACTS), min_size=1, max_size=3), tiny=st.booleans())
@settings(max_examples=25)
def test_one_argument_of_a_union(
    maintenance: str, first: dict[str, set[Any]], steps: list[tuple[Any, Any]], tiny: bool
) -> None:
    """Everything is as if computed from scratch and listed, and so are the numbers of what came and went."""
    with patched(LIMITS, tiny):
        r, facts = reasoner(first, storage="compact", maintenance=maintenance), first
        before = facts_of(r)
        for less, more in steps:
            change = r.update(
                delete={name: sorted(given_rows) for name, given_rows in less.items()},
                add={name: sorted(given_rows) for name, given_rows in more.items()},
            )
            facts = {name: (facts[name] - less[name]) | more[name] for name in facts}
            expected = facts_of(reasoner(facts, storage="plain"))
            assert facts_of(r) == expected
            came = {name: len(found - before[name]) for name, found in expected.items()}
            went = {name: len(before[name] - found) for name, found in expected.items()}
            assert {name: count for name, count in change.added.items() if count} == {
                n: c for n, c in came.items() if c
            }
            assert {name: count for name, count in change.deleted.items() if count} == {
                n: c for n, c in went.items() if c
            }
            assert all(r.count(name) == len(found) for name, found in expected.items())
            before = expected
