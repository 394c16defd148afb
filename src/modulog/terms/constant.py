"""A term as a value: `Constant`, with a kind, a canonical text and, for tagged literals, a qualifier.

Two constants are equal if all three are: the integer 1, the decimal 1.0 and the string "1" are three
constants. Literals that mean the same term get the same text, so terms are compared by their bytes.
`docs/terms.md` says which terms there are.

Rules compute with the plain kinds: string, integer, decimal, double, boolean. A literal that is none of them,
because its text is ill-formed, its number too big or its datatype another one, keeps its datatype as a
qualifier. The smaller numeric types of XML Schema keep theirs, too, but their text is made canonical.

`term_text` and `parse_term` are for people, and for columns of tables that mix kinds: single terms in Turtle
form. Canonical integers, decimals, doubles and booleans are written without quotes, other terms as in
N-Triples.
"""

from __future__ import annotations

import enum
import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from modulog.errors import DataError

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

INTEGER_MIN, INTEGER_MAX = -(2**63), 2**63 - 1
DECIMAL_DIGITS = 38
"""The most digits of a decimal, before and after the point together."""

INTEGER_RANGES: dict[str, tuple[int | None, int | None]] = {
    XSD + "integer": (None, None),
    XSD + "long": (INTEGER_MIN, INTEGER_MAX),
    XSD + "int": (-(2**31), 2**31 - 1),
    XSD + "short": (-(2**15), 2**15 - 1),
    XSD + "byte": (-(2**7), 2**7 - 1),
    XSD + "nonNegativeInteger": (0, None),
    XSD + "positiveInteger": (1, None),
    XSD + "nonPositiveInteger": (None, 0),
    XSD + "negativeInteger": (None, -1),
    XSD + "unsignedLong": (0, 2**64 - 1),
    XSD + "unsignedInt": (0, 2**32 - 1),
    XSD + "unsignedShort": (0, 2**16 - 1),
    XSD + "unsignedByte": (0, 2**8 - 1),
}
"""xsd:integer and the datatypes derived from it, with the least and the greatest value; None if unlimited."""

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_DECIMAL = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?", re.ASCII)
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_SPECIAL = {"INF": "INF", "+INF": "INF", "-INF": "-INF", "NaN": "NaN"}
_BOOLEAN = {"true": "true", "1": "true", "false": "false", "0": "false"}
_LONGEST_INTEGER = 4000
"""Python does not convert longer strings of digits."""


class Kind(enum.IntEnum):
    """What sort of term a constant is. The number is the first byte of its key."""

    STRING = 1
    INTEGER = 2
    DECIMAL = 3
    DOUBLE = 4
    BOOLEAN = 5
    IRI = 6
    BLANK = 7
    LANGUAGE = 8  # qualifier: the language tag, in lower case
    TYPED = 9  # qualifier: the IRI of the datatype


@dataclass(frozen=True, slots=True)
class Constant:
    """A term of a fact or a rule, in canonical form.

    >>> Constant(Kind.STRING, "a").key
    b'\\x01a'
    >>> Constant(Kind.LANGUAGE, "chat", "fr").key
    b'\\x08fr\\x00chat'
    """

    kind: Kind
    text: str
    qualifier: str = ""

    @property
    def key(self) -> bytes:
        """The bytes that identify the constant in every dictionary and store: kind, qualifier and text.

        A zero byte ends the qualifier, which only the kinds LANGUAGE and TYPED have.
        """
        if self.kind >= Kind.LANGUAGE:
            return bytes([self.kind]) + self.qualifier.encode() + b"\0" + self.text.encode()
        return bytes([self.kind]) + self.text.encode()

    @staticmethod
    def from_key(key: bytes) -> Constant:
        """The constant with this key: the inverse of `key`.

        >>> Constant.from_key(b"\\x0212")
        Constant(kind=<Kind.INTEGER: 2>, text='12', qualifier='')
        """
        kind = Kind(key[0])
        if kind >= Kind.LANGUAGE:
            qualifier, _, text = key[1:].partition(b"\0")
            return Constant(kind, text.decode(), qualifier.decode())
        return Constant(kind, key[1:].decode())


# ---- Canonical texts


def literal(lexical: str, datatype: str) -> Constant:
    """The constant for a literal: its text and the IRI of its datatype.

    >>> literal("01", XSD + "integer")
    Constant(kind=<Kind.INTEGER: 2>, text='1', qualifier='')
    >>> literal("many", XSD + "integer").kind
    <Kind.TYPED: 9>
    """
    plain = _PLAIN.get(datatype)
    if plain is not None:
        kind, canonical = plain
        text = canonical(lexical)
        return Constant(kind, text) if text is not None else Constant(Kind.TYPED, lexical, datatype)
    return Constant(Kind.TYPED, _canonical_typed(lexical, datatype), datatype)


def language(text: str, tag: str) -> Constant:
    """The constant for a text in a language. The case of the tag does not matter.

    >>> language("chat", "FR").qualifier
    'fr'
    """
    return Constant(Kind.LANGUAGE, text, tag.lower())


def integer_text(lexical: str) -> str | None:
    """The canonical text of an integer of 64 bits; None if it is not one."""
    text = big_integer_text(lexical)
    if text is None or len(text) > 20 or not INTEGER_MIN <= int(text) <= INTEGER_MAX:
        return None
    return text


def big_integer_text(lexical: str) -> str | None:
    """The canonical text of an integer of any size; None if it is not one."""
    if not _INTEGER.fullmatch(lexical):
        return None
    digits = lexical.lstrip("+-").lstrip("0") or "0"
    return f"-{digits}" if lexical[0] == "-" and digits != "0" else digits


def decimal_text(lexical: str) -> str | None:
    """The canonical text of a decimal of at most 38 digits, which has a point; None if it is not one.

    >>> decimal_text("-001.50"), decimal_text("5"), decimal_text(".")
    ('-1.5', '5.0', None)
    """
    match = _DECIMAL.fullmatch(lexical)
    if not match or not (match[2] or match[3]):
        return None
    whole, fraction = match[2].lstrip("0"), (match[3] or "").rstrip("0")
    if len(whole) + len(fraction) > DECIMAL_DIGITS:
        return None
    sign = "-" if match[1] == "-" and (whole or fraction) else ""
    return f"{sign}{whole or '0'}.{fraction or '0'}"


def double_text(lexical: str) -> str | None:
    """The canonical text of a double, such as 1.0E0; None if it is not one."""
    if lexical in _SPECIAL:
        return _SPECIAL[lexical]
    return format_double(float(lexical)) if _DOUBLE.fullmatch(lexical) else None


def format_double(value: float) -> str:
    """The canonical text of a double as XML Schema 1.1 has it: the fewest digits that give it back.

    >>> format_double(1500.0), format_double(-0.0), format_double(float("inf"))
    ('1.5E3', '-0.0E0', 'INF')
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    # A subclass of float, such as NumPy's, may have another repr.
    return _scientific(repr(float(value)))


def _scientific(digits: str) -> str:
    """A decimal number in the form of a double: one digit before the point, no zeros to spare."""
    sign, figures, exponent = Decimal(digits).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, figures)).lstrip("0")
    exponent += len(text) - 1
    prefix = "-" if sign else ""
    if not text:
        return f"{prefix}0.0E0"
    return f"{prefix}{text[0]}.{text[1:].rstrip('0') or '0'}E{exponent}"


def _float_text(lexical: str) -> str | None:
    """The canonical text of an xsd:float: the fewest digits that give back the same 32 bits."""
    if lexical in _SPECIAL or not _DOUBLE.fullmatch(lexical):
        return _SPECIAL.get(lexical)
    single = _single(float(lexical))
    if math.isinf(single):
        return "INF" if single > 0 else "-INF"
    precision = next(p for p in range(9) if _single(float(f"{single:.{p}e}")) == single)
    return _scientific(f"{single:.{precision}e}")


def _single(value: float) -> float:
    """The nearest number of 32 bits; infinity if it is too great for them."""
    try:
        single: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return single


def _canonical_typed(lexical: str, datatype: str) -> str:
    """The text of a literal that keeps its datatype: canonical if it is a number, else as it is."""
    if datatype == XSD + "float":
        return _float_text(lexical) or lexical
    number = whole_number(lexical, datatype)
    return lexical if number is None else str(number)


def whole_number(lexical: str, datatype: str) -> int | None:
    """The value of a literal of a datatype in `INTEGER_RANGES`; None if it is none, or outside the range."""
    if datatype not in INTEGER_RANGES:
        return None
    text = big_integer_text(lexical)
    if text is None or len(text) > _LONGEST_INTEGER:
        return None
    low, high = INTEGER_RANGES[datatype]
    number = int(text)
    return number if (low is None or number >= low) and (high is None or number <= high) else None


_PLAIN: dict[str, tuple[Kind, Callable[[str], str | None]]] = {
    XSD + "string": (Kind.STRING, str),
    XSD + "integer": (Kind.INTEGER, integer_text),
    XSD + "decimal": (Kind.DECIMAL, decimal_text),
    XSD + "double": (Kind.DOUBLE, double_text),
    XSD + "boolean": (Kind.BOOLEAN, _BOOLEAN.get),
}
"""The kind of each datatype that rules compute with, and the function that makes its texts canonical."""


# ---- Turtle

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
