"""Comparing terms by value, as SPARQL does: single terms, and columns of ids.

Atoms match identical terms; `=`, `!=`, `<`, `<=`, `>` and `>=` compare values: 1 and 1.0 are equal. A value
has a *family*, and only terms of one family can be compared. Numbers and points in time have a number each
that orders them, strings are ordered by code points, and the other families know only equality. Most pairs of
numbers or points in time are decided by their nearest doubles; exact values that share their nearest double
are compared exactly. `docs/terms.md` has the rules.
"""

from __future__ import annotations

import datetime
import operator as operators
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from modulog.errors import InternalError
from modulog.kernels import numbers, strings
from modulog.terms.arrow import strings_array, text_array, unwrap
from modulog.terms.constant import DECIMAL_DIGITS, XSD, Constant, Kind, whole_number
from modulog.terms.dictionary import Dictionary, Ids

T = TypeVar("T", bound=np.generic)
Mask = npt.NDArray[np.bool_]
Signs = npt.NDArray[np.int8]

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
_OPERATORS: dict[str, Any] = {
    "=": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}
_FAMILY_OF_KIND = np.full(256, UNKNOWN, np.uint8)
_FAMILY_OF_KIND[list(FAMILIES)] = list(FAMILIES.values())
_FOURTEEN_HOURS = 14 * 3600
_WIDEST = pa.decimal256(2 * DECIMAL_DIGITS, DECIMAL_DIGITS)


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
    if (number := whole_number(text, datatype)) is not None:
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


# ---- Columns of terms


def compare(dictionary: Dictionary, operator: str, left: Ids, right: Ids) -> tuple[Mask, int]:
    """For which pairs of terms a comparison holds, and how many pairs it cannot decide.

    >>> d = Dictionary()
    >>> one, text = Constant(Kind.INTEGER, "1"), Constant(Kind.STRING, "1")
    >>> ids = d.encode([one, Constant(Kind.DECIMAL, "1.0"), text])
    >>> compare(d, "=", ids[[0, 0]], ids[[1, 2]])
    (array([ True, False]), 1)
    >>> compare(d, "<", ids[[0, 0]], ids[[1, 2]])
    (array([False, False]), 1)
    """
    return values_of(dictionary).compare(operator, np.asarray(left), np.asarray(right))


def values_of(dictionary: Dictionary) -> Values:
    """The values of the terms of a dictionary.

    They are cached with it, and those of new terms are added here.
    """
    values = _VALUES.get(dictionary)
    if values is None:
        values = _VALUES[dictionary] = Values()
    values.extend(dictionary)
    return values


class Values:
    """The family and the value of each term of one dictionary, in arrays by id."""

    __slots__ = ("_arrays", "_count", "doubles", "exact", "families", "inexact", "integers")

    def __init__(self) -> None:
        self._count = 0
        self.families = np.empty(0, np.uint8)
        self.integers = np.empty(0, np.int64)
        self.doubles = np.empty(0, np.float64)
        self.exact = np.empty(0, np.bool_)  # the double is exactly the value
        self.inexact = np.empty(0, np.bool_)  # the term is a double or a float, compared as such
        self._arrays = (np.empty(0, np.uint8), np.zeros(1, np.int64), np.empty(0, np.uint8))

    def extend(self, dictionary: Dictionary) -> None:
        """Add the values of the terms that the dictionary has got since the last time."""
        first, count = self._count, len(dictionary)
        self._arrays = keys, offsets, kinds = dictionary.arrays()
        if first == count:
            return
        for name in ("families", "integers", "doubles", "exact", "inexact"):
            setattr(self, name, _at_least(getattr(self, name), first, count))
        new = slice(first, count)
        self.families[new] = _FAMILY_OF_KIND[kinds[new]]
        self.doubles[new], self.exact[new], self.inexact[new] = np.nan, False, kinds[new] == Kind.DOUBLE
        known = np.zeros(count - first, np.bool_)
        columns = self.integers[new], self.doubles[new], self.exact[new]
        numbers.parse_numbers(keys, offsets, kinds, first, *columns, known)
        long = np.flatnonzero(~known & (kinds[new] == Kind.DECIMAL)) + first
        if long.size:  # `exact` stays false: where doubles tie, the decimals themselves are compared
            self.doubles[long] = nearest_doubles(text_array(dictionary, long))
        slow = ~known & np.isin(kinds[new], (Kind.DOUBLE, Kind.BOOLEAN, Kind.TYPED))
        places = np.flatnonzero(slow) + first
        for term, constant in zip(places.tolist(), dictionary.decode(places), strict=True):
            self._set(term, constant)
        self._count = count

    def _set(self, term: int, constant: Constant) -> None:
        """Set the family and the value of a term that the kernel does not read."""
        family, number = value_of(constant)
        self.families[term] = family
        if isinstance(number, float):
            self.doubles[term], self.exact[term], self.inexact[term] = number, True, True
        elif number is not None:
            self.doubles[term] = _nearest(number)
            self.exact[term] = abs(self.doubles[term]) != np.inf and Fraction(self.doubles[term]) == number

    def compare(self, operator: str, left: Ids, right: Ids) -> tuple[Mask, int]:
        """For which pairs of terms a comparison holds, and how many pairs it cannot decide.

        This is all NumPy: each family of pairs is decided by itself and written to `signs` (-1, 0 or 1),
        which the operator is then applied to.
        """
        test = _OPERATORS.get(operator)
        if test is None:
            raise InternalError(f"there is no comparison {operator}")
        a, b = self.families[left], self.families[right]
        equality = operator in ("=", "!=")
        numeric = (a == NUMBER) & (b == NUMBER)
        if numeric.all():
            holds: Mask = test(self._order(left, right), 0) & self._not_nan(operator, left, right)
            return holds, 0
        comparable = numeric | ((a == b) & (a != NODE) & (a != LANGUAGE) & (a != UNKNOWN))
        signs = np.zeros(len(left), np.int8)
        ordered = comparable & (a != STRING)
        signs[ordered] = self._order(left[ordered], right[ordered])
        text = comparable & (a == STRING)
        if text.any():
            signs[text] = self._order_texts(left[text], right[text], equality)
        zones = (a >= DATE_TIME) & (b >= DATE_TIME) & (a != b) & ((a | 1) == (b | 1))
        if zones.any():
            signs[zones], comparable[zones] = self._order_across_zones(left[zones], right[zones])
        mask = test(signs, 0) & comparable
        mask[numeric] &= self._not_nan(operator, left[numeric], right[numeric])
        if equality:
            decided = self._decide_equality(left, right, a, b, mask, comparable, zones, operator)
            return mask, len(left) - int(np.count_nonzero(decided))
        return mask, len(left) - int(np.count_nonzero(comparable))

    def _decide_equality(
        self, left: Ids, right: Ids, a: Any, b: Any, mask: Mask, comparable: Mask, zones: Mask, operator: str
    ) -> Mask:
        """Decide `=` and `!=` for pairs that have no order; returns which pairs are decided.

        Identical terms are equal. A node differs from all other terms. Two literals that cannot be compared
        are undecided.
        """
        same = (left == right) & ~comparable
        unequal = ~comparable & ~same & ~zones
        unequal &= (a == NODE) | (b == NODE)
        mask[same], mask[unequal] = operator == "=", operator == "!="
        decided: Mask = comparable | same | unequal
        return decided

    def _not_nan(self, operator: str, left: Ids, right: Ids) -> Mask:
        """Which pairs of numbers may satisfy the comparison: with NaN only `!=` holds."""
        if operator == "!=":
            return np.ones(len(left), np.bool_)
        defined: Mask = ~(np.isnan(self.doubles[left]) | np.isnan(self.doubles[right]))
        return defined

    def _order(self, left: Ids, right: Ids) -> Signs:
        """-1, 0 or 1 for pairs of numbers or points in time; 1 if one is NaN, which `_not_nan` excludes."""
        x, y = self.doubles[left], self.doubles[right]
        signs: Signs = (x > y).astype(np.int8) - (x < y).astype(np.int8)
        signs[np.isnan(x) | np.isnan(y)] = 1
        # Equal doubles mean equal values if one term is a double, or if both doubles are exact.
        unsure = (x == y) & (left != right) & ~(self.exact[left] & self.exact[right])
        unsure &= ~(self.inexact[left] | self.inexact[right])
        if unsure.any():
            signs[unsure] = self._order_exactly(left[unsure], right[unsure])
        return signs

    def _order_exactly(self, left: Ids, right: Ids) -> Signs:
        """-1, 0 or 1 for pairs of exact values that share their nearest double."""
        kinds = self._arrays[2]
        x, y = self.integers[left], self.integers[right]
        signs: Signs = (x > y).astype(np.int8) - (x < y).astype(np.int8)
        others = ~((kinds[left] == Kind.INTEGER) & (kinds[right] == Kind.INTEGER))
        if others.any():
            pairs = np.stack([left[others], right[others]])
            distinct, inverse = np.unique(pairs, axis=1, return_inverse=True)
            signs[others] = self._order_distinct(distinct)[inverse.reshape(-1)]
        return signs

    def _order_distinct(self, pairs: Ids) -> Signs:
        """The order of pairs of exact values, given as two rows of terms; most of them are integers and
        decimals.
        """
        kinds = self._arrays[2][pairs]
        plain = ((kinds == Kind.INTEGER) | (kinds == Kind.DECIMAL)).all(axis=0)
        signs = np.empty(pairs.shape[1], np.int8)
        signs[plain] = order_numbers(*(self._texts(side) for side in pairs[:, plain]))
        others = []
        for p, q in pairs[:, ~plain].T.tolist():
            one, other = self._exactly(p), self._exactly(q)
            others.append((one > other) - (one < other))
        signs[~plain] = others
        return signs

    def _texts(self, terms: Ids) -> pa.Array:
        """The canonical texts of some terms."""
        keys, ends, _ = self._arrays
        terms, offsets = np.ascontiguousarray(terms, np.uint32), np.empty(len(terms) + 1, np.int64)
        buffer = np.empty(strings.measure_texts(ends, terms, 1, offsets), np.uint8)
        strings.copy_texts(keys, ends, terms, 1, buffer)
        return strings_array(buffer, offsets)

    def _exactly(self, term: int) -> Fraction:
        """The exact value of a term, from its text."""
        keys, offsets, _ = self._arrays
        number = value_of(Constant.from_key(keys[offsets[term] : offsets[term + 1]].tobytes()))[1]
        assert isinstance(number, Fraction)
        return number

    def _order_texts(self, left: Ids, right: Ids, equality: bool) -> Signs:
        """-1, 0 or 1 for pairs of strings, by code points; with `equality` 0 or 1 by their ids."""
        if equality:
            differ: Signs = (left != right).astype(np.int8)
            return differ
        signs = np.empty(len(left), np.int8)
        strings.order_texts(
            self._arrays[0],
            self._arrays[1],
            np.ascontiguousarray(left, np.uint32),
            np.ascontiguousarray(right, np.uint32),
            signs,
        )
        return signs

    def _order_across_zones(self, left: Ids, right: Ids) -> tuple[Signs, Mask]:
        """-1, 0 or 1 for pairs of points in time of which one has a zone, and which pairs are decided.

        They are if the two are more than 14 hours apart: no time zone is further from universal time.
        """
        difference = self.doubles[left] - self.doubles[right]
        return np.sign(difference).astype(np.int8), np.abs(difference) > _FOURTEEN_HOURS


_VALUES: WeakKeyDictionary[Dictionary, Values] = WeakKeyDictionary()
"""The cache of `values_of`."""


def _nearest(number: Fraction) -> float:
    """The nearest double; infinity if it is too great."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _at_least(array: npt.NDArray[T], used: int, size: int) -> npt.NDArray[T]:
    """An array with room for `size` elements, whose first `used` are those of this one.

    It grows by half at least, so that growing takes constant time for each element.
    """
    if size <= len(array):
        return array
    larger = np.empty(max(size, used + used // 2), array.dtype)
    larger[:used] = array[:used]
    return larger


def nearest_doubles(texts: pa.Array) -> npt.NDArray[np.float64]:
    """The double nearest to each number.

    >>> nearest_doubles(pa.array(["0.1000000000000000055"])).tolist()
    [0.1]
    """
    return unwrap(texts.cast(pa.float64())).astype(np.float64)


def order_numbers(left: pa.Array, right: pa.Array) -> npt.NDArray[np.int8]:
    """-1, 0 or 1 as the number of one text is less than, equal to or greater than that of the other.

    >>> order_numbers(pa.array(["1.0", "2", "3.5"]), pa.array(["1", "2.5", "3.0"])).tolist()
    [0, -1, 1]
    """
    x, y = left.cast(_WIDEST), right.cast(_WIDEST)
    greater, less = (unwrap(found.cast(pa.int8())) for found in (pc.greater(x, y), pc.less(x, y)))
    return (greater - less).astype(np.int8)
