"""Materialisation and queries equal the oracle on random programs, with every switch, in every order of rules and facts."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import event, given, note
from hypothesis import strategies as st

from modulog import Reasoner
from support import oracle
from support.reasoners import reasoner
from support.strategies import Case, Facts, body_text, cases, queries, renamed, text
from support.values import Row, rows_of_python, rows_to_python, turtle

SWITCHES = {
    "modules": ["auto", "off"],
    "decompose": ["auto", "off", "all"],
}
"""The switches that may change how facts are computed and kept, and must never change which."""


def combinations() -> list[dict[str, str]]:
    """Every combination of the switches that the reasoner has."""
    known = [name for name in SWITCHES if name in inspect.signature(Reasoner).parameters]
    return [
        dict(zip(known, values, strict=True)) for values in itertools.product(*(SWITCHES[n] for n in known))
    ]


@pytest.fixture(
    scope="module", params=combinations(), ids=lambda s: ",".join(f"{k}={v}" for k, v in s.items())
)
def switches(request: pytest.FixtureRequest) -> dict[str, str]:
    found: dict[str, str] = request.param
    return found


# Random programs have empty predicates and Cartesian bodies.
pytestmark = pytest.mark.filterwarnings("ignore")


def reason(rules: Sequence[Any], facts: Facts, **options: Any) -> Reasoner:
    """A reasoner with the facts added through Python."""
    r = reasoner(text(rules), **options)
    for predicate, rows in facts.items():
        r.add(predicate, rows_to_python(rows))
    return r


def derived(r: Reasoner, case: Case) -> Facts:
    """All facts of a reasoner about the predicates of a case; it must not give one of them twice."""
    found = {p: rows_of_python(r.rows(p)) for p in predicates(case)}
    for p, rows in found.items():
        assert len(rows) == len(set(rows)) == r.count(p), p
    return {p: set(rows) for p, rows in found.items() if rows}


def predicates(case: Case) -> set[str]:
    """The predicates that the rules or the facts of a case mention: a reasoner knows no others."""
    heads = {p for heads, _ in case.rules for p, _ in heads}
    return heads | {b[1] for _, body in case.rules for b in body if b[0] in "+-"} | set(case.facts)


def consequences(case: Case) -> Facts:
    """What the oracle derives."""
    found = {p: rows for p, rows in oracle.materialise(case.rules, case.facts).items() if rows}
    event(f"facts: {len(str(sum(map(len, found.values()))))} digits")
    return found


@given(case=cases())
def test_equals_oracle(engine: str, switches: dict[str, str], case: Case) -> None:
    note(str(case))
    r, expected = reason(case.rules, case.facts, engine=engine, **switches), consequences(case)
    assert derived(r, case) == expected
    for p in sorted(predicates(case)):
        for row in itertools.islice(itertools.product(case.universe, repeat=case.arity[p]), 8):
            found = r.contains(p, rows_to_python([row])[0])
            assert found == (row in expected.get(p, ())), (p, row)


@given(case=cases(), data=st.data())
def test_order_of_rules_bodies_and_facts_does_not_matter(
    engine: str, switches: dict[str, str], case: Case, data: st.DataObject
) -> None:
    rules = [
        (data.draw(st.permutations(heads)), data.draw(st.permutations(body)))
        for heads, body in data.draw(st.permutations(case.rules))
    ]
    note(text(rules, case.facts))
    names = data.draw(st.permutations(sorted(case.facts)))
    facts = {p: set(data.draw(st.permutations(sorted(case.facts[p], key=repr)))) for p in names}
    assert derived(reason(rules, facts, engine=engine, **switches), case) == consequences(case)


@given(case=cases(), data=st.data())
def test_facts_may_come_from_the_program_or_in_pieces(engine: str, case: Case, data: st.DataObject) -> None:
    note(str(case))
    every = [(p, row) for p in sorted(case.facts) for row in sorted(case.facts[p], key=repr)]
    written = {f for f in every if data.draw(st.booleans())}
    again = {f for f in every if data.draw(st.integers(0, 3)) == 0}
    program = text(case.rules, {p: {row for q, row in written if q == p} for p in case.facts})
    r = Reasoner(program, engine=engine)
    for p, row in data.draw(st.permutations([f for f in every if f not in written or f in again])):
        r.add(p, rows_to_python([row]))
    assert derived(r, case) == consequences(case)


@given(case=cases())
def test_names_do_not_matter(engine: str, case: Case) -> None:
    other = renamed(case)
    note(str(other))
    first = derived(reason(case.rules, case.facts, engine=engine), case)
    second = derived(reason(other.rules, other.facts, engine=engine), other)
    assert second == consequences(other)
    assert sorted(map(len, first.values())) == sorted(map(len, second.values()))


@given(case=cases(), data=st.data())
def test_queries_equal_oracle(engine: str, switches: dict[str, str], case: Case, data: st.DataObject) -> None:
    r = reason(case.rules, case.facts, engine=engine, **switches)
    known = Case(case.rules, case.facts, {p: case.arity[p] for p in sorted(predicates(case))}, case.universe)
    facts = consequences(case)
    for _ in range(3 if known.arity else 0):
        query = data.draw(queries(known))
        note(f"{case}\n? {body_text(query)}")
        terms = [t for b in query for t in (b[2] if b[0] in "+-" else b[1:])]
        variables = list(dict.fromkeys(t for t in terms if isinstance(t, str) and t != "_"))
        answers = {tuple(way[v] for v in variables) for way in oracle.solve(query, facts)}
        check_table(r.query(body_text(query)), variables, answers)
        assert r.count(body_text(query)) == len(answers)


def check_table(table: Any, variables: list[str], answers: set[Row]) -> None:
    """An Arrow table has these answers, each once; a column of one kind has that kind, a mixed one Turtle's texts."""
    if not variables:
        assert table.to_pydict() == {"holds": [bool(answers)]}
        return
    assert table.column_names == [v[1:] for v in variables]
    assert table.num_rows == len(answers)
    columns = []
    for i in range(len(variables)):
        kinds = {row[i][0] for row in answers}
        plain = kinds in ({"integer"}, {"string"})
        columns.append([row[i][1] if plain else turtle(row[i]) for row in answers])
    assert set(zip(*table.to_pydict().values(), strict=True)) == set(zip(*columns, strict=True))
