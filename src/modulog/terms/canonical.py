"""Canonical texts of literals: literals that mean the same term get the same text, so terms compare by bytes.

Rules compute with the plain kinds: string, integer, decimal, double, boolean. A literal that is none of them,
because its text is ill-formed, its number too big or its datatype another one, keeps its datatype as a
qualifier. The smaller numeric types of XML Schema keep theirs, too, but their text is made canonical.
"""

from __future__ import annotations

import math
import re
import struct
from decimal import Decimal

from modulog.terms.constant import Constant, Kind

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

INTEGER_MIN, INTEGER_MAX = -(2**63), 2**63 - 1
DECIMAL_DIGITS = 38
"""The most digits of a decimal, before and after the point together."""

INTEGER_RANGES: dict[str, tuple[int | None, int | None]] = {
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
"""The datatypes derived from xsd:integer, with the least and the greatest value; None if unlimited."""

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_DECIMAL = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?", re.ASCII)
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_SPECIAL = {"INF": "INF", "+INF": "INF", "-INF": "-INF", "NaN": "NaN"}
_BOOLEAN = {"true": "true", "1": "true", "false": "false", "0": "false"}
_LONGEST_INTEGER = 4000
"""Python does not convert longer strings of digits."""


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


def boolean_text(lexical: str) -> str | None:
    """The canonical text of a boolean, `true` or `false`; None if it is neither."""
    return _BOOLEAN.get(lexical)


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
    bounds = INTEGER_RANGES.get(datatype)
    text = big_integer_text(lexical) if bounds else None
    if bounds is None or text is None or len(text) > _LONGEST_INTEGER:
        return lexical
    low, high = bounds
    number = int(text)
    fits = (low is None or number >= low) and (high is None or number <= high)
    return text if fits else lexical


def _string_text(lexical: str) -> str | None:
    """The canonical text of a string is the text."""
    return lexical


_PLAIN = {
    XSD + "string": (Kind.STRING, _string_text),
    XSD + "integer": (Kind.INTEGER, integer_text),
    XSD + "decimal": (Kind.DECIMAL, decimal_text),
    XSD + "double": (Kind.DOUBLE, double_text),
    XSD + "boolean": (Kind.BOOLEAN, boolean_text),
}
"""The kind of each datatype that rules compute with, and the function that makes its texts canonical."""
