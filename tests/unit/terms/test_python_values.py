"""Python values as terms and back."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pyoxigraph
import pytest
from hypothesis import given

from modulog.errors import DataError
from modulog.terms.constant import XSD, Constant, Kind
from modulog.terms.python_values import IRI, BlankNode, TaggedLiteral, constant, value
from support.term_strategies import CONSTANTS

UTC = datetime.UTC


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [
        ("a", Constant(Kind.STRING, "a")),
        ("http://a/b", Constant(Kind.STRING, "http://a/b")),
        (True, Constant(Kind.BOOLEAN, "true")),
        (7, Constant(Kind.INTEGER, "7")),
        (1.0, Constant(Kind.DOUBLE, "1.0E0")),
        (Decimal("1.50"), Constant(Kind.DECIMAL, "1.5")),
        (Decimal("1E+3"), Constant(Kind.DECIMAL, "1000.0")),
        (IRI("http://a/b"), Constant(Kind.IRI, "http://a/b")),
        (BlankNode("b0"), Constant(Kind.BLANK, "b0")),
        (TaggedLiteral("chat", language="FR"), Constant(Kind.LANGUAGE, "chat", "fr")),
        (TaggedLiteral("01", datatype=f"{XSD}integer"), Constant(Kind.INTEGER, "1")),
        (datetime.date(2020, 1, 2), Constant(Kind.TYPED, "2020-01-02", f"{XSD}date")),
        (
            datetime.datetime(2020, 1, 2, 3, 4, 5, 600000, UTC),
            Constant(Kind.TYPED, "2020-01-02T03:04:05.6Z", f"{XSD}dateTime"),
        ),
        (np.int32(4), Constant(Kind.INTEGER, "4")),
        (np.float64(0.5), Constant(Kind.DOUBLE, "5.0E-1")),
        (np.str_("q"), Constant(Kind.STRING, "q")),
        (np.bool_(True), Constant(Kind.BOOLEAN, "true")),
        (np.datetime64("2020-01-02"), Constant(Kind.TYPED, "2020-01-02", f"{XSD}date")),
        (
            np.datetime64("2020-01-02T03:04:05.500"),
            Constant(Kind.TYPED, "2020-01-02T03:04:05.5", f"{XSD}dateTime"),
        ),
        (pyoxigraph.NamedNode("http://q"), Constant(Kind.IRI, "http://q")),
        (pyoxigraph.BlankNode("z"), Constant(Kind.BLANK, "z")),
        (pyoxigraph.Literal("a"), Constant(Kind.STRING, "a")),
        (pyoxigraph.Literal("a", language="en"), Constant(Kind.LANGUAGE, "a", "en")),
        (pyoxigraph.Literal(5), Constant(Kind.INTEGER, "5")),
    ],
)
def test_values_become_constants(given_value: object, expected: Constant) -> None:
    assert constant(given_value) == expected


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        2**63,
        [1],
        b"a",
        object(),
        pd.NaT,
        np.datetime64("NaT"),
        "\ud800",
        Decimal("NaN"),
        Decimal(10) ** 39,
    ],
)
def test_what_cannot_be_a_term_is_refused(wrong: object) -> None:
    with pytest.raises(DataError):
        constant(wrong)


def test_an_iri_is_not_a_string() -> None:
    assert IRI("http://a") != "http://a"
    assert len({IRI("http://a"), IRI("http://a"), "http://a"}) == 2
    with pytest.raises(DataError, match="not an IRI"):
        IRI("a b")


def test_a_tagged_literal_has_one_tag() -> None:
    with pytest.raises(DataError, match="not both"):
        TaggedLiteral("a")
    with pytest.raises(DataError, match="language tag"):
        TaggedLiteral("a", language="e n")


def test_values_of_constants() -> None:
    assert value(Constant(Kind.DECIMAL, "1.5")) == Decimal("1.5")
    assert value(Constant(Kind.BOOLEAN, "false")) is False
    assert math.isnan(value(Constant(Kind.DOUBLE, "NaN")))  # type: ignore[arg-type]
    assert value(Constant(Kind.TYPED, "x", "http://t")) == TaggedLiteral("x", datatype="http://t")


@given(CONSTANTS)
def test_there_and_back(term: Constant) -> None:
    assert constant(value(term)) == term


def test_how_terms_show_themselves() -> None:
    assert repr(IRI("http://a")) == "IRI('http://a')" and str(IRI("http://a")) == "http://a"
    assert repr(BlankNode("b")) == "BlankNode('b')" and str(BlankNode("b")) == "_:b"
    assert repr(TaggedLiteral("a", datatype="http://t")) == "TaggedLiteral('a', datatype='http://t')"
    with pytest.raises(DataError, match="blank node"):
        BlankNode("a b")
