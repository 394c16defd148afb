"""The value of a single term, by which terms are compared: its family, and a number.

Terms of one family can be compared. Numbers and points in time have a number each that orders them, strings
are ordered by code points, and the other families know only equality.
"""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from fractions import Fraction

from modulog.terms.canonical import INTEGER_RANGES, XSD, big_integer_text
from modulog.terms.constant import Constant, Kind

# Families. Those from DATE_TIME on come in pairs: without a time zone, and with one.
NODE, NUMBER, STRING, BOOLEAN, LANGUAGE, UNKNOWN = range(6)
DATE_TIME, DATE_TIME_ZONED, DATE, DATE_ZONED = range(6, 10)

FAMILIES = {
    Kind.STRING: STRING,
    Kind.INTEGER: NUMBER,
    Kind.DECIMAL: NUMBER,
    Kind.DOUBLE: NUMBER,
    Kind.BOOLEAN: BOOLEAN,
    Kind.IRI: NODE,
    Kind.BLANK: NODE,
    Kind.LANGUAGE: LANGUAGE,
    Kind.TYPED: UNKNOWN,
}
"""The family of each kind; typed literals may be numbers or points in time, which their text decides."""

_ZONE = r"(Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?"
_DATE_TIME = re.compile(
    r"(-?(?:[1-9][0-9]{3,5}|0[0-9]{3}))-([0-9]{2})-([0-9]{2})"
    r"T([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)" + _ZONE
)
_DATE = re.compile(r"(-?(?:[1-9][0-9]{3,5}|0[0-9]{3}))-([0-9]{2})-([0-9]{2})" + _ZONE)
_FLOAT = re.compile(r"-?[0-9]\.[0-9]+E-?[0-9]+|-?INF|NaN")
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)")
_DAYS_OF_400_YEARS = 146_097
"""The Gregorian calendar repeats after 400 years; Python's own ends at the year 9999."""


def value_of(constant: Constant) -> tuple[int, float | Fraction | None]:
    """The family of a constant, and its number in this family; None if the family has no numbers.

    The number is a float for a double, and exact for all others.

    >>> value_of(Constant(Kind.DECIMAL, "0.1"))
    (1, Fraction(1, 10))
    """
    match constant.kind:
        case Kind.INTEGER | Kind.DECIMAL:
            return NUMBER, Fraction(Decimal(constant.text))
        case Kind.DOUBLE:
            return NUMBER, float(constant.text)
        case Kind.BOOLEAN:
            return BOOLEAN, Fraction(constant.text == "true")
        case Kind.TYPED:
            return _typed_value(constant.text, constant.qualifier)
    return FAMILIES[constant.kind], None


def _typed_value(text: str, datatype: str) -> tuple[int, float | Fraction | None]:
    """Family and number of a literal with a datatype; UNKNOWN if its text is not one of the datatype."""
    if datatype == f"{XSD}dateTime" or datatype == f"{XSD}dateTimeStamp":
        return _moment(_DATE_TIME.fullmatch(text), DATE_TIME)
    if datatype == f"{XSD}date":
        return _moment(_DATE.fullmatch(text), DATE)
    if datatype == f"{XSD}float" and _FLOAT.fullmatch(text):
        return NUMBER, float(text)
    bounds = INTEGER_RANGES.get(datatype, (None, None) if datatype == f"{XSD}integer" else None)
    if bounds is not None and big_integer_text(text) is not None and len(text) < 4000:
        number = int(text)
        low, high = bounds
        if (low is None or number >= low) and (high is None or number <= high):
            return NUMBER, Fraction(number)
    if datatype == f"{XSD}decimal" and _DECIMAL.fullmatch(text):
        return NUMBER, Fraction(text)
    return UNKNOWN, None


def _moment(match: re.Match[str] | None, family: int) -> tuple[int, Fraction | None]:
    """Family and number of a point in time: the seconds since the first day of the calendar.

    With a time zone they count in universal time, and the family is the one after `family`.
    """
    if match is None:
        return UNKNOWN, None
    year, month, day, *rest = match.groups()
    zone = rest[-1]
    hour, minute, second = (
        (int(rest[0]), int(rest[1]), Fraction(rest[2])) if len(rest) == 4 else (0, 0, Fraction(0))
    )
    if hour > 24 or minute > 59 or second >= 60 or (hour == 24 and (minute or second)):
        return UNKNOWN, None
    cycles, within = divmod(int(year), 400)
    try:
        days = datetime.date(within + 400, int(month), int(day)).toordinal() + cycles * _DAYS_OF_400_YEARS
    except ValueError:
        return UNKNOWN, None
    offset = 0
    if zone and zone != "Z":
        offset = (int(zone[1:3]) * 60 + int(zone[4:])) * (-60 if zone[0] == "-" else 60)
    seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
    return (family + 1 if zone else family), Fraction(seconds)
