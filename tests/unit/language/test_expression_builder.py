"""Expressions, BIND and FILTER: how they are read, and what rules become of them."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.errors import ParseError
from modulog.language.expression_builder import (
    Conjunction,
    Disjunction,
    Formula,
    Opposite,
    bodies,
    conjunctions,
)
from modulog.language.model import Call, Comparison, Variable
from modulog.language.parser import parse_program, parse_query
from modulog.language.printer import print_expression, print_rule
from modulog.terms.constant import Constant, Kind


def printed(text: str) -> list[str]:
    """The rules of a text, printed."""
    return [print_rule(rule) for rule in parse_program(text).rules]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("?x+?x*?x", "?x + ?x * ?x"),
        ("(?x + ?x) * ?x", "(?x + ?x) * ?x"),
        ("?x - ?x - ?x", "?x - ?x - ?x"),
        ("?x - (?x - ?x)", "?x - (?x - ?x)"),
        ("?x / (?x * ?x) / 2", "?x / (?x * ?x) / 2"),
        ("-?x * 2", "-?x * 2"),
        ("-(?x * 2)", "-(?x * 2)"),
        ("- -?x", "-(-?x)"),
        ("?x -1", "?x - 1"),
        ("?x - -1", "?x - -1"),
        ("-1 + ?x", "-1 + ?x"),
        ("-(1)", "-(1)"),
        ("(((?x)))", "?x"),
        ("skolem(f, ?x)", "SKOLEM(f, ?x)"),
        ('CONCAT(STR(?x), "-", STR(?x + 1))', 'CONCAT(STR(?x), "-", STR(?x + 1))'),
        ("-ABS(?x)", "-ABS(?x)"),
        ("?x / 2.5 % a comment\n + 1", "?x / 2.5 + 1"),
        ("STRLEN( // a comment\n ?x)", "STRLEN(?x)"),
    ],
)
def test_expressions(text: str, shown: str) -> None:
    (_, equation) = parse_query(f"p(?x), ?y = {text}")
    assert isinstance(equation, Comparison)
    assert print_expression(equation.right) == shown
    (_, turned) = parse_query(f"p(?x), {text} < ?x")
    assert isinstance(turned, Comparison)
    assert turned.left == equation.right


def test_precedence_and_association() -> None:
    x, one = Variable("x"), Constant(Kind.INTEGER, "1")
    (_, test) = parse_query("p(?x), ?x - 1 - ?x * -?x = 1")
    assert test == Comparison("=", Call("-", (Call("-", (x, one)), Call("*", (x, Call("-", (x,)))))), one)


def test_bind_is_an_equation() -> None:
    assert printed("p(?y) :- q(?x), BIND(?x * 2 AS ?y) .") == ["p(?y) :- q(?x), ?y = ?x * 2 ."]


def test_expressions_in_heads_become_variables() -> None:
    assert printed("p(?x + 1, ?x, ABS(?_1)) :- q(?x, ?_1) .") == [
        "p(?_2, ?x, ?_3) :- q(?x, ?_1), ?_2 = ?x + 1, ?_3 = ABS(?_1) ."
    ]
    assert printed("p(2 * 3), q(a) .") == ["p(?_1), q(a) :- ?_1 = 2 * 3 ."]


def test_a_filter_with_alternatives_becomes_several_rules() -> None:
    assert printed("p(?x) :- q(?x), FILTER(?x < 1 || ?x > 5 && !(?x = 7 || ?x = 8)), r(?x) .") == [
        "p(?x) :- q(?x), ?x < 1, r(?x) .",
        "p(?x) :- q(?x), ?x > 5, ?x != 7, ?x != 8, r(?x) .",
    ]
    assert printed("p(?x) :- q(?x), FILTER((?x + 1) * 2 < 3) .") == ["p(?x) :- q(?x), (?x + 1) * 2 < 3 ."]


def test_a_query_has_no_alternatives() -> None:
    assert len(parse_query("p(?x), FILTER(?x < 1 && !(?x = 0))")) == 3
    with pytest.raises(ParseError, match=r"a query has no `\|\|`"):
        parse_query("p(?x), FILTER(?x < 1 || ?x = 3)")


def test_mistakes_of_a_filter_are_told_once() -> None:
    with pytest.raises(Exception, match="nothing gives it a value") as caught:
        parse_program("p(?x) :- q(?x), FILTER(?x < 1 || ?x < 2), ?y < 3 .")
    assert "more mistake" not in str(caught.value)


X = Variable("x")
TESTS = [Comparison(sign, X, Constant(Kind.INTEGER, str(n))) for sign in ("<", "=") for n in range(2)]
FORMULAS: st.SearchStrategy[Formula] = st.recursive(
    st.sampled_from(TESTS),
    lambda inner: st.one_of(
        st.builds(Opposite, inner),
        st.builds(Conjunction, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Disjunction, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)
OPPOSITES = {"<": ">=", "=": "!="}


def truth(formula: Formula, known: dict[Any, bool | None]) -> bool | None:
    """The three values of SPARQL's logic."""
    if isinstance(formula, Comparison):
        return known[formula]
    if isinstance(formula, Opposite):
        inner = truth(formula.part, known)
        return None if inner is None else not inner
    parts = [truth(part, known) for part in formula.parts]
    decisive = isinstance(formula, Disjunction)
    return decisive if decisive in parts else None if None in parts else not decisive


@given(FORMULAS)
def test_normal_form_holds_where_the_formula_does(formula: Formula) -> None:
    for values in itertools.product([True, False, None], repeat=len(TESTS)):
        known: dict[Any, bool | None] = dict(zip(TESTS, values, strict=True))
        opposite = {Comparison(OPPOSITES[t.operator], t.left, t.right): v is False for t, v in known.items()}
        given_truth = {t: v is True for t, v in known.items()} | opposite
        normal = any(all(given_truth[c] for c in part) for part in conjunctions(formula))
        assert normal == (truth(formula, known) is True)


def test_bodies_without_formulas_stay() -> None:
    assert bodies(TESTS) == [tuple(TESTS)]
