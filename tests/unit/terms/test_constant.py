"""Literals in canonical form, and terms as text in Turtle form."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.errors import DataError
from modulog.terms.constant import (
    XSD,
    Constant,
    Kind,
    decimal_text,
    double_text,
    format_double,
    language,
    literal,
    parse_term,
    term_text,
)
from support.term_strategies import CONSTANTS


@pytest.mark.parametrize(
    ("lexical", "datatype", "kind", "text"),
    [
        ("a", "string", Kind.STRING, "a"),
        ("01", "integer", Kind.INTEGER, "1"),
        ("+5", "integer", Kind.INTEGER, "5"),
        ("-0", "integer", Kind.INTEGER, "0"),
        ("-007", "integer", Kind.INTEGER, "-7"),
        ("9223372036854775807", "integer", Kind.INTEGER, "9223372036854775807"),
        ("-9223372036854775808", "integer", Kind.INTEGER, "-9223372036854775808"),
        ("5", "decimal", Kind.DECIMAL, "5.0"),
        ("1.50", "decimal", Kind.DECIMAL, "1.5"),
        ("-0.0", "decimal", Kind.DECIMAL, "0.0"),
        ("-.5", "decimal", Kind.DECIMAL, "-0.5"),
        ("00012.", "decimal", Kind.DECIMAL, "12.0"),
        (
            "0.1234567890123456789012345678901234567800",
            "decimal",
            Kind.DECIMAL,
            "0.12345678901234567890123456789012345678",
        ),
        ("1", "double", Kind.DOUBLE, "1.0E0"),
        ("-0", "double", Kind.DOUBLE, "-0.0E0"),
        ("1500", "double", Kind.DOUBLE, "1.5E3"),
        ("1e-7", "double", Kind.DOUBLE, "1.0E-7"),
        ("+INF", "double", Kind.DOUBLE, "INF"),
        ("-INF", "double", Kind.DOUBLE, "-INF"),
        ("NaN", "double", Kind.DOUBLE, "NaN"),
        ("1e999", "double", Kind.DOUBLE, "INF"),
        ("1", "boolean", Kind.BOOLEAN, "true"),
        ("false", "boolean", Kind.BOOLEAN, "false"),
    ],
)
def test_plain_kinds(lexical: str, datatype: str, kind: Kind, text: str) -> None:
    assert literal(lexical, XSD + datatype) == Constant(kind, text)


@pytest.mark.parametrize(
    ("lexical", "datatype", "text"),
    [
        ("many", "integer", "many"),
        ("1.0", "integer", "1.0"),
        ("", "integer", ""),
        ("１", "integer", "１"),
        ("9223372036854775808", "integer", "9223372036854775808"),
        ("1" * 39, "decimal", "1" * 39),
        ("1e3", "decimal", "1e3"),
        (".", "decimal", "."),
        ("inf", "double", "inf"),
        ("1_0", "double", "1_0"),
        ("yes", "boolean", "yes"),
        ("007", "byte", "7"),
        ("300", "byte", "300"),
        ("-1", "unsignedInt", "-1"),
        ("+18446744073709551615", "unsignedLong", "18446744073709551615"),
        ("0.10", "float", "1.0E-1"),
        ("16777217", "float", "1.6777216E7"),
        ("3.4028235e38", "float", "3.4028235E38"),
        ("1e39", "float", "INF"),
        ("2020-01-01", "date", "2020-01-01"),
    ],
)
def test_typed_literals_keep_their_datatype(lexical: str, datatype: str, text: str) -> None:
    assert literal(lexical, XSD + datatype) == Constant(Kind.TYPED, text, XSD + datatype)


def test_language_tags_are_compared_in_lower_case() -> None:
    assert language("Tee", "de-AT") == language("Tee", "DE-at") == Constant(Kind.LANGUAGE, "Tee", "de-at")


@given(st.floats(allow_nan=False))
def test_doubles_keep_their_value(value: float) -> None:
    text = format_double(value)
    assert float(text) == value
    assert double_text(text) == text


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**18), max_value=10**18, places=9))
def test_decimals_keep_their_value(value: Decimal) -> None:
    text = decimal_text(f"{value:f}")
    assert text is not None and Decimal(text) == value
    assert decimal_text(text) == text


# ---- Turtle


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (Constant(Kind.STRING, 'a "b"\n\\'), '"a \\"b\\"\\n\\\\"'),
        (Constant(Kind.STRING, "\x01"), '"\\u0001"'),
        (Constant(Kind.INTEGER, "-5"), "-5"),
        (Constant(Kind.DECIMAL, "1.5"), "1.5"),
        (Constant(Kind.DOUBLE, "1.5E3"), "1.5E3"),
        (Constant(Kind.DOUBLE, "INF"), f'"INF"^^<{XSD}double>'),
        (Constant(Kind.BOOLEAN, "true"), "true"),
        (Constant(Kind.IRI, "http://a/b"), "<http://a/b>"),
        (Constant(Kind.BLANK, "b0"), "_:b0"),
        (Constant(Kind.LANGUAGE, "chat", "fr"), '"chat"@fr'),
        (Constant(Kind.TYPED, "x", "http://t"), '"x"^^<http://t>'),
    ],
)
def test_text_and_back(term: Constant, text: str) -> None:
    assert term_text(term) == text
    assert parse_term(text) == term


@pytest.mark.parametrize("text", ["", "a", '"a', '"a"@', "1 2", "INF"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(DataError, match="Turtle"):
        parse_term(text)


@given(CONSTANTS)
def test_there_and_back(term: Constant) -> None:
    assert parse_term(term_text(term)) == term
