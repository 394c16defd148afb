"""Rules and queries that compute and filter equal the oracle, whose arithmetic is Python's own."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import event, given, note
from hypothesis import strategies as st

from modulog import Reasoner
from support import oracle
from support.computing_strategies import computing_cases, expressions
from support.reasoners import reasoner
from support.strategies import VARIABLES, Case, Predicates, body_text, bound_in, positive, text
from support.values import rows_of_python, rows_to_python

# Random programs have empty predicates and Cartesian bodies.
pytestmark = pytest.mark.filterwarnings("ignore")


def reason(case: Case, rules: list[Any], **options: Any) -> Reasoner:
    """A reasoner with the rules, and the facts of a case."""
    r = reasoner(text(rules), **options)
    for predicate, rows in case.facts.items():
        r.add(predicate, rows_to_python(rows))
    return r


def derived(r: Reasoner) -> dict[str, set[Any]]:
    """All facts; none is given twice."""
    found = {p.name: rows_of_python(r.rows(p.name)) for p in r.predicates()}
    assert all(len(rows) == len(set(rows)) == r.count(p) for p, rows in found.items())
    return {p: set(rows) for p, rows in found.items() if rows}


@given(case=computing_cases(), data=st.data())
@pytest.mark.parametrize("modules", ["auto", "off"])
def test_equals_oracle(engine: str, modules: str, case: Case, data: st.DataObject) -> None:
    rules = [
        (data.draw(st.permutations(heads)), data.draw(st.permutations(body))) for heads, body in case.rules
    ]
    note(text(rules, case.facts))
    expected = {p: rows for p, rows in oracle.materialise(case.rules, case.facts).items() if rows}
    created = {v for rows in expected.values() for row in rows for v in row} - set(case.universe)
    event(f"created: {', '.join(sorted({kind for kind, _ in created})) or 'nothing'}")
    assert derived(reason(case, rules, engine=engine, modules=modules)) == expected


@given(case=computing_cases(), data=st.data())
def test_queries_equal_oracle(engine: str, case: Case, data: st.DataObject) -> None:
    r, facts = reason(case, case.rules, engine=engine), oracle.materialise(case.rules, case.facts)
    arity = {p.name: p.arity for p in r.predicates()}
    known = Predicates(arity, dict.fromkeys(arity, 0), case.universe)
    names = [p for p in arity if arity[p]]
    for _ in range(2 if names else 0):
        body = [positive(data.draw, known, names, VARIABLES[:2]) for _ in range(data.draw(st.integers(1, 2)))]
        if not (bound := bound_in(body)):
            continue
        kind = data.draw(st.integers(0, 2))
        if kind:
            body.append(("=", "?new", expressions(data.draw, known, bound)))
        if kind != 1:
            body.append(("<", "?new" if kind else bound[0], expressions(data.draw, known, bound, 1)))
        body = data.draw(st.permutations(body))
        note(f"{text(case.rules, case.facts)}\n? {body_text(body)}")
        answers = {tuple(sorted(way.items())) for way in oracle.solve(body, facts)}
        assert r.count(body_text(body)) == r.query(body_text(body)).num_rows == len(answers)
        if kind:
            head = [("answer", (*bound, "?new"))]
            found = reason(case, [*case.rules, (head, body)], engine=engine).rows("answer")
            assert set(rows_of_python(found)) == {tuple(dict(way)[v] for v in head[0][1]) for way in answers}


def test_the_oracle_rounds_as_the_manual_says() -> None:
    third = oracle.evaluate(("()", "/", (("integer", 1), ("integer", 3))), {})
    assert third == ("decimal", Decimal("0." + "3" * 38))
    assert oracle.evaluate(("()", "/", (("integer", 1), ("integer", 0))), {}) is None
    assert oracle.evaluate(("()", "+", (("integer", 2**63 - 1), ("integer", 1))), {}) is None
