"""Terms as text in Turtle form."""

from __future__ import annotations

import pytest
from hypothesis import given

from modulog.errors import DataError
from modulog.terms.canonical import XSD
from modulog.terms.constant import Constant, Kind
from modulog.terms.turtle import parse_term, term_text
from support.term_strategies import CONSTANTS


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
