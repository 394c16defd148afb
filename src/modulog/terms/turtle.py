"""Single terms as text in Turtle form, and back: for people, and for columns of tables that mix kinds.

Canonical integers, decimals, doubles and booleans are written without quotes, other terms as in N-Triples.
"""

from __future__ import annotations

import re

from modulog.errors import DataError
from modulog.terms.canonical import XSD, decimal_text, double_text, integer_text, language, literal
from modulog.terms.constant import Constant, Kind

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPED = re.compile(r'["\\\n\r\t\x00-\x1f\x7f]')
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^<>]*)>)?', re.DOTALL)
_BARE = ((integer_text, "integer"), (decimal_text, "decimal"), (double_text, "double"))


def term_text(constant: Constant) -> str:
    """A constant as text in Turtle form.

    >>> term_text(Constant(Kind.STRING, 'say "a"')), term_text(Constant(Kind.IRI, "http://a/b"))
    ('"say \\\\"a\\\\""', '<http://a/b>')
    """
    match constant.kind:
        case Kind.STRING:
            return quoted(constant.text)
        case Kind.IRI:
            return f"<{constant.text}>"
        case Kind.BLANK:
            return f"_:{constant.text}"
        case Kind.LANGUAGE:
            return f"{quoted(constant.text)}@{constant.qualifier}"
        case Kind.TYPED:
            return f"{quoted(constant.text)}^^<{constant.qualifier}>"
        case Kind.DOUBLE if constant.text[-1] in "FN":
            return f"{quoted(constant.text)}^^<{XSD}double>"
    return constant.text


def quoted(text: str) -> str:
    """A text in double quotes, with backslashes before what must be escaped."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def parse_term(text: str) -> Constant:
    """The constant whose text in Turtle form this is: the inverse of `term_text`.

    >>> parse_term('"chat"@fr')
    Constant(kind=<Kind.LANGUAGE: 8>, text='chat', qualifier='fr')
    """
    if text.startswith("<") and text.endswith(">"):
        return Constant(Kind.IRI, text[1:-1])
    if text.startswith("_:"):
        return Constant(Kind.BLANK, text[2:])
    if match := _LITERAL.fullmatch(text):
        content = _ESCAPE.sub(_unescape, match[1])
        if match[2]:
            return language(content, match[2])
        return literal(content, match[3] or f"{XSD}string")
    if text in ("true", "false"):
        return Constant(Kind.BOOLEAN, text)
    for canonical, name in _BARE:
        if canonical(text) is not None and text[-1] not in "FN":
            return literal(text, XSD + name)
    raise DataError(f"{text!r} is not a term in Turtle form")


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04X}"


def _unescape(match: re.Match[str]) -> str:
    if match[3]:
        return _UNESCAPES.get(match[3], match[0])
    return chr(int(match[1] or match[2], 16))
