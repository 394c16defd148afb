"""Comparing terms by value."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.errors import InternalError
from modulog.terms.constant import XSD, Constant, literal
from modulog.terms.dictionary import Dictionary
from modulog.terms.literal_values import compare
from modulog.terms.python_values import IRI, BlankNode, TaggedLiteral, constant

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


def holds(left: object, right: object) -> str:
    """The operators that hold, then the number of operators for which the pair cannot be compared."""
    dictionary = Dictionary()
    ids = dictionary.encode([constant(left), constant(right)])
    found, incomparable = [], 0
    for operator in OPERATORS:
        mask, count = compare(dictionary, operator, ids[:1], ids[1:])
        found += [operator] if mask[0] else []
        incomparable += count
    return " ".join([*found, str(incomparable)])


def moment(text: str) -> Constant:
    return literal(text, f"{XSD}dateTime")


def date(text: str) -> Constant:
    return literal(text, f"{XSD}date")


LESS, EQUAL, MORE, OTHER, SAME, NEVER = "!= < <= 0", "= <= >= 0", "!= > >= 0", "!= 4", "= 4", "6"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (1, 2, LESS),
        (1, Decimal("1.0"), EQUAL),
        (1, 1.0, EQUAL),
        (Decimal("0.1"), 0.1, EQUAL),
        (Decimal("0.1"), Decimal("0.10000000000000000000000000000000001"), LESS),
        (2**53, 2**53 + 1, LESS),
        (2**63 - 1, 2**63 - 2, MORE),
        (2**53 + 1, float(2**53), EQUAL),
        (2**53 + 1, Decimal(2**53 + 1), EQUAL),
        (2**53 + 1, Decimal(2**53) + Decimal("0.5"), MORE),
        (-1, Decimal("-1.5"), MORE),
        (0.0, -0.0, EQUAL),
        (float("nan"), float("nan"), "!= 0"),
        (float("nan"), 1, "!= 0"),
        (float("inf"), 2**63 - 1, MORE),
        (literal("9223372036854775808", f"{XSD}integer"), 2**63 - 1, MORE),
        (literal("7", f"{XSD}byte"), 7, EQUAL),
        (literal("1" + "0" * 400, f"{XSD}integer"), float("inf"), EQUAL),
        (literal("-1" + "0" * 400, f"{XSD}integer"), -(2**63), LESS),
        (literal("INF", f"{XSD}float"), float("inf"), EQUAL),
        (literal("0.5", f"{XSD}float"), Decimal("0.5"), EQUAL),
        (literal("1" * 40, f"{XSD}decimal"), literal("1" * 39 + "2", f"{XSD}decimal"), LESS),
        ("a", "b", LESS),
        ("a", "ab", LESS),
        ("", "a", LESS),
        ("b", "a", MORE),
        ("\uffff", "\U00010000", LESS),
        ("a", "a", EQUAL),
        (False, True, LESS),
        (True, True, EQUAL),
        (moment("2020-01-01T00:00:00Z"), moment("2020-01-01T01:00:00+01:00"), EQUAL),
        (moment("2020-01-01T00:00:00.1"), moment("2020-01-01T00:00:00.10"), EQUAL),
        (moment("2020-01-01T24:00:00"), moment("2020-01-02T00:00:00"), EQUAL),
        (moment("-0001-01-01T00:00:00"), moment("0001-01-01T00:00:00"), LESS),
        (moment("2020-01-01T00:00:00Z"), moment("2020-01-01T10:00:00"), NEVER),
        (moment("2020-01-01T00:00:00Z"), moment("2020-01-01T15:00:00"), LESS),
        (moment("2020-02-30T00:00:00"), moment("2020-01-01T00:00:00"), NEVER),
        (date("2020-01-01"), date("2020-01-02"), LESS),
        (date("2020-1-1"), date("2020-01-01"), NEVER),
        (moment("2020-01-01T25:00:00"), moment("2020-01-01T00:00:00"), NEVER),
        (date("2020-01-01"), moment("2020-01-01T00:00:00"), NEVER),
        (1, "1", NEVER),
        (1, True, NEVER),
        (IRI("http://a"), IRI("http://a"), SAME),
        (IRI("http://a"), IRI("http://b"), OTHER),
        (IRI("http://a"), "http://a", OTHER),
        (IRI("http://a"), TaggedLiteral("x", datatype="http://t"), OTHER),
        (BlankNode("a"), BlankNode("b"), OTHER),
        (TaggedLiteral("a", language="en"), TaggedLiteral("a", language="en"), SAME),
        (TaggedLiteral("a", language="en"), TaggedLiteral("a", language="de"), NEVER),
        (TaggedLiteral("a", language="en"), "a", NEVER),
        (TaggedLiteral("a", datatype="http://t"), TaggedLiteral("a", datatype="http://t"), SAME),
        (TaggedLiteral("a", datatype="http://t"), TaggedLiteral("b", datatype="http://t"), NEVER),
        (TaggedLiteral("a", datatype="http://t"), "a", NEVER),
        (TaggedLiteral("many", datatype=f"{XSD}integer"), 1, NEVER),
    ],
)
def test_pairs(left: object, right: object, expected: str) -> None:
    assert holds(left, right) == expected


def test_columns_of_all_sorts() -> None:
    dictionary = Dictionary()
    left = dictionary.encode([constant(v) for v in (1, "a", True, IRI("http://a"), 2.5, "z")])
    right = dictionary.encode([constant(v) for v in (Decimal("1.5"), "b", 1, "a", 2, 3)])
    mask, incomparable = compare(dictionary, "<", left, right)
    assert mask.tolist() == [True, True, False, False, False, False]
    assert incomparable == 3
    assert compare(dictionary, "<", left[:0], right[:0])[1] == 0


def test_values_follow_the_dictionary() -> None:
    dictionary = Dictionary()
    first = dictionary.encode([constant(1), constant(2)])
    assert compare(dictionary, "<", first[:1], first[1:])[0].tolist() == [True]
    later = dictionary.encode([constant(i) for i in range(100)])
    assert compare(dictionary, ">", later[50:], later[:50])[0].all()


def test_an_unknown_operator_is_a_mistake_of_ours() -> None:
    with pytest.raises(InternalError):
        compare(Dictionary(), "==", np.empty(0, np.uint32), np.empty(0, np.uint32))


EXACT = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(2**53 - 3, 2**53 + 3),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**17), max_value=10**17, places=3),
    st.integers(-(10**20), 10**20).map(lambda n: Decimal(n).scaleb(-3)),
)
DOUBLES = st.one_of(
    st.floats(), st.integers(-5, 5).map(float), st.floats(-1e3, 1e3).map(lambda f: round(f, 2))
)


@given(st.lists(st.tuples(EXACT, EXACT), min_size=1, max_size=20), st.sampled_from(OPERATORS))
def test_exact_numbers(pairs: list[tuple[int | Decimal, int | Decimal]], operator: str) -> None:
    expected = [_test(operator, Fraction(x), Fraction(y)) for x, y in pairs]
    assert _compare(operator, pairs) == expected


@given(
    st.lists(st.tuples(DOUBLES, st.one_of(DOUBLES, EXACT)), min_size=1, max_size=20),
    st.sampled_from(OPERATORS),
)
def test_numbers_with_doubles(pairs: list[tuple[float, float | Decimal]], operator: str) -> None:
    expected = [_test(operator, x, float(y)) for x, y in pairs]
    assert _compare(operator, pairs) == expected


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=20), st.sampled_from(OPERATORS))
def test_strings_by_code_point(pairs: list[tuple[str, str]], operator: str) -> None:
    assert _compare(operator, pairs) == [_test(operator, x, y) for x, y in pairs]


def _compare(operator: str, pairs: Sequence[tuple[object, object]]) -> list[bool]:
    dictionary = Dictionary()
    left = dictionary.encode([constant(x) for x, _ in pairs])
    right = dictionary.encode([constant(y) for _, y in pairs])
    mask, incomparable = compare(dictionary, operator, left, right)
    assert incomparable == 0
    return mask.tolist()


def _test(operator: str, x: object, y: object) -> bool:
    return bool(eval({"=": "x == y"}.get(operator, f"x {operator} y"), {"x": x, "y": y}))
