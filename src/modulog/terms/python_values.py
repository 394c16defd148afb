"""Terms as Python values, as users pass and get them.

A `str` is always a string, an `int` an integer, a `float` a double, a `Decimal` a decimal, a `bool` a
boolean. IRIs, blank nodes and literals with a language or another datatype have classes of their own.
"""

from __future__ import annotations

import datetime
import re
import sys
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from modulog.errors import DataError
from modulog.terms.constant import (
    INTEGER_MAX,
    INTEGER_MIN,
    XSD,
    Constant,
    Kind,
    decimal_text,
    format_double,
    language,
    literal,
)

_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
"""Characters that no IRI has."""
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*(--(ltr|rtl))?")
"""Language tags."""
# Characters at the start of a label: those of Turtle, and the colon, which labels of programs may have.
_LABEL = (
    r"\w:\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
    r"\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_INNER = _LABEL + r"\-\u00b7\u0300-\u036f\u203f\u2040"
"""Characters that may follow the first one of a label."""
_BLANK = re.compile(f"[{_LABEL}](?:[{_INNER}.]*[{_INNER}])?")


@dataclass(frozen=True, slots=True, order=True)
class IRI:
    """An IRI. It never equals a string.

    >>> IRI("http://example.org/a")
    IRI('http://example.org/a')
    >>> IRI("http://example.org/a") == "http://example.org/a"
    False
    """

    value: str

    def __post_init__(self) -> None:
        if not isinstance(self.value, str) or _NOT_IN_IRI.search(self.value):
            raise DataError(f"{self.value!r} is not an IRI")

    def __repr__(self) -> str:
        return f"IRI({self.value!r})"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True, order=True)
class BlankNode:
    """A node without an IRI, identified by a label.

    >>> BlankNode("b0")
    BlankNode('b0')
    """

    label: str

    def __post_init__(self) -> None:
        if not isinstance(self.label, str) or not _BLANK.fullmatch(self.label):
            raise DataError(f"{self.label!r} is not a label for a blank node")

    def __repr__(self) -> str:
        return f"BlankNode({self.label!r})"

    def __str__(self) -> str:
        return f"_:{self.label}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedLiteral:
    """A text with either a language or a datatype.

    A language may have a direction behind it: "ar--rtl".

    >>> TaggedLiteral("chat", language="fr")
    TaggedLiteral('chat', language='fr')
    """

    text: str
    language: str | None = None
    datatype: IRI | None = None

    def __init__(self, text: str, *, language: str | None = None, datatype: IRI | str | None = None) -> None:
        if (language is None) == (datatype is None):
            raise DataError("a tagged literal has a language or a datatype, and not both")
        if language is not None and not _LANGUAGE.fullmatch(language):
            raise DataError(f"{language!r} is not a language tag")
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "language", language.lower() if language else None)
        object.__setattr__(self, "datatype", IRI(datatype) if isinstance(datatype, str) else datatype)

    def __repr__(self) -> str:
        tag = f"language={self.language!r}" if self.language else f"datatype={str(self.datatype)!r}"
        return f"TaggedLiteral({self.text!r}, {tag})"


def constant(value: object) -> Constant:
    """The constant that a Python value stands for; a DataError if it stands for none.

    >>> constant("a"), constant(1).kind
    (Constant(kind=<Kind.STRING: 1>, text='a', qualifier=''), <Kind.INTEGER: 2>)
    """
    made = _plain(value)
    if made is None:
        made = _other(value)
    if made is None:
        hint = "; leave the fact out, or say what stands for it" if value is None else ""
        raise DataError(f"a value of type {type(value).__name__} cannot be a term: {value!r}{hint}")
    try:
        made.text.encode()
    except UnicodeEncodeError:
        raise DataError(f"{value!r} cannot be written as UTF-8") from None
    return made


def value(constant: Constant) -> object:
    """The Python value of a constant: the inverse of `constant`, but with canonical texts.

    >>> value(Constant(Kind.INTEGER, "1")), value(Constant(Kind.IRI, "http://a/"))
    (1, IRI('http://a/'))
    """
    text = constant.text
    match constant.kind:
        case Kind.STRING:
            return text
        case Kind.INTEGER:
            return int(text)
        case Kind.DECIMAL:
            return Decimal(text)
        case Kind.DOUBLE:
            return float(text)
        case Kind.BOOLEAN:
            return text == "true"
        case Kind.IRI:
            return IRI(text)
        case Kind.BLANK:
            return BlankNode(text)
        case Kind.LANGUAGE:
            return TaggedLiteral(text, language=constant.qualifier)
    return TaggedLiteral(text, datatype=constant.qualifier)


def _plain(value: object) -> Constant | None:
    """The constant of a value of Python's own types or of ours; None for other types."""
    match value:
        case str():
            return Constant(Kind.STRING, str(value))
        case bool():
            return Constant(Kind.BOOLEAN, "true" if value else "false")
        case int():
            if not INTEGER_MIN <= value <= INTEGER_MAX:
                raise DataError(f"the integer {value} does not fit 64 bits")
            return Constant(Kind.INTEGER, str(int(value)))
        case float():
            return Constant(Kind.DOUBLE, format_double(value))
        case Decimal():
            return _decimal(value)
        case IRI():
            return Constant(Kind.IRI, value.value)
        case BlankNode():
            return Constant(Kind.BLANK, value.label)
        case TaggedLiteral():
            if value.language is not None:
                return language(value.text, value.language)
            return literal(value.text, str(value.datatype))
        case datetime.datetime() if value == value:  # pandas.NaT differs from itself
            return Constant(Kind.TYPED, _date_time(value), f"{XSD}dateTime")
        case datetime.date() if not isinstance(value, datetime.datetime):
            return Constant(Kind.TYPED, value.isoformat(), f"{XSD}date")
    return value if isinstance(value, Constant) else None


def _decimal(value: Decimal) -> Constant:
    """The constant of a decimal, which must be finite and fit 38 digits."""
    text = decimal_text(f"{value:f}") if value.is_finite() else None
    if text is None:
        raise DataError(f"the decimal {value} does not fit 38 digits")
    return Constant(Kind.DECIMAL, text)


def _date_time(value: datetime.datetime) -> str:
    """A point in time as the text of an xsd:dateTime."""
    text = value.isoformat()
    fraction = text[19:26].rstrip("0") if value.microsecond else ""
    zone = text[26:] if value.microsecond else text[19:]
    return text[:19] + fraction + ("Z" if zone == "+00:00" else zone)


def _other(value: object) -> Constant | None:
    """The constant of a scalar of NumPy or pyoxigraph; None for others. Neither is imported for this."""
    package = type(value).__module__.partition(".")[0]
    if package == "numpy":
        return _numpy(value)
    if package == "pyoxigraph":
        return _pyoxigraph(value)
    return None


def _numpy(value: Any) -> Constant | None:
    """The constant of a scalar of NumPy; None if it stands for no term."""
    if type(value).__name__ == "datetime64":
        text = str(value)
        if text == "NaT":
            return None
        date, _, time = text.partition("T")
        if not time:
            return Constant(Kind.TYPED, date, f"{XSD}date") if len(date) == 10 else None
        time = time.rstrip("0").rstrip(".") if "." in time else time
        return Constant(Kind.TYPED, f"{date}T{time}", f"{XSD}dateTime") if len(time) >= 8 else None
    if type(value).__name__ == "MaskedConstant":
        raise DataError("a masked value")
    item = value.item() if hasattr(value, "item") and getattr(value, "shape", None) == () else None
    return None if item is None or type(item).__module__ == "numpy" else _plain(item)


def _pyoxigraph(value: Any) -> Constant | None:
    """The constant of a term of pyoxigraph; None for others of its objects."""
    pyoxigraph = sys.modules[type(value).__module__.partition(".")[0]]
    if isinstance(value, pyoxigraph.NamedNode):
        return Constant(Kind.IRI, value.value)
    if isinstance(value, pyoxigraph.BlankNode):
        return Constant(Kind.BLANK, value.value)
    if isinstance(value, pyoxigraph.Literal):
        if value.language:
            direction = getattr(value, "direction", None)
            return language(value.value, value.language + (f"--{direction}" if direction else ""))
        return literal(value.value, value.datatype.value)
    return None
