"""Literals in canonical form."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.terms.canonical import XSD, decimal_text, double_text, format_double, language, literal
from modulog.terms.constant import Constant, Kind


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
