"""Comparing terms by value, as SPARQL does, over columns of numbers.

Atoms match identical terms; `=`, `!=`, `<`, `<=`, `>` and `>=` compare values: 1 and 1.0 are equal. Doubles
decide most pairs of numbers and moments; where two exact values have the same nearest double, the values
themselves do. `docs/terms.md` has the rules.
"""

from __future__ import annotations

import operator as operators
from fractions import Fraction
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from modulog.errors import InternalError
from modulog.kernels import numbers, strings
from modulog.terms.dictionary import Dictionary, Ids
from modulog.terms.families import DATE_TIME, FAMILIES, LANGUAGE, NODE, NUMBER, STRING, UNKNOWN, value_of
from modulog.terms.model import Constant, Kind

T = TypeVar("T", bound=np.generic)
Mask = npt.NDArray[np.bool_]
Signs = npt.NDArray[np.int8]

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


def compare(dictionary: Dictionary, operator: str, left: Ids, right: Ids) -> tuple[Mask, int]:
    """For which pairs of terms a comparison holds, and how many pairs cannot be compared.

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
    """The values of a dictionary's terms, kept with it and brought up to date."""
    values = _VALUES.get(dictionary)
    if values is None:
        values = _VALUES[dictionary] = Values()
    values.extend(dictionary)
    return values


class Values:
    """Families and values of the terms of one dictionary, by number."""

    __slots__ = ("_arrays", "_count", "doubles", "exact", "families", "inexact", "integers")

    def __init__(self) -> None:
        self._count = 0
        self.families = np.empty(0, np.uint8)
        self.integers = np.empty(0, np.int64)
        self.doubles = np.empty(0, np.float64)
        self.exact = np.empty(0, np.bool_)  # the double is the value
        self.inexact = np.empty(0, np.bool_)  # the term is a double or a float: exactness is not asked for
        self._arrays = (np.empty(0, np.uint8), np.zeros(1, np.int64), np.empty(0, np.uint8))

    def extend(self, dictionary: Dictionary) -> None:
        """Add the values of terms that are new since the last time."""
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
        slow = ~known & np.isin(kinds[new], (Kind.DECIMAL, Kind.DOUBLE, Kind.BOOLEAN, Kind.TYPED))
        places = np.flatnonzero(slow) + first
        for term, constant in zip(places.tolist(), dictionary.decode(places), strict=True):
            self._set(term, constant)
        self._count = count

    def _set(self, term: int, constant: Constant) -> None:
        family, number = value_of(constant)
        self.families[term] = family
        if isinstance(number, float):
            self.doubles[term], self.exact[term], self.inexact[term] = number, True, True
        elif number is not None:
            self.doubles[term] = _nearest(number)
            self.exact[term] = abs(self.doubles[term]) != np.inf and Fraction(self.doubles[term]) == number

    def compare(self, operator: str, left: Ids, right: Ids) -> tuple[Mask, int]:
        """As the function `compare`."""
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
        lined = comparable & (a != STRING)
        signs[lined] = self._order(left[lined], right[lined])
        text = comparable & (a == STRING)
        if text.any():
            signs[text] = self._order_texts(left[text], right[text], equality)
        zones = (a >= DATE_TIME) & (b >= DATE_TIME) & (a != b) & ((a | 1) == (b | 1))
        if zones.any():
            signs[zones], comparable[zones] = self._order_apart(left[zones], right[zones])
        mask = test(signs, 0) & comparable
        mask[numeric] &= self._not_nan(operator, left[numeric], right[numeric])
        if equality:
            settled = self._settle_equality(left, right, a, b, mask, comparable, zones, operator)
            return mask, len(left) - int(np.count_nonzero(settled))
        return mask, len(left) - int(np.count_nonzero(comparable))

    def _settle_equality(
        self, left: Ids, right: Ids, a: Any, b: Any, mask: Mask, comparable: Mask, zones: Mask, operator: str
    ) -> Mask:
        """Decide equality where there is no order: by identity, or because one of the two is no literal."""
        same = (left == right) & ~comparable
        apart = ~comparable & ~same & ~zones
        apart &= (a == NODE) | (b == NODE)
        mask[same], mask[apart] = operator == "=", operator == "!="
        settled: Mask = comparable | same | apart
        return settled

    def _not_nan(self, operator: str, left: Ids, right: Ids) -> Mask:
        """NaN equals nothing and is in no order: only `!=` holds for it."""
        if operator == "!=":
            return np.ones(len(left), np.bool_)
        defined: Mask = ~(np.isnan(self.doubles[left]) | np.isnan(self.doubles[right]))
        return defined

    def _order(self, left: Ids, right: Ids) -> Signs:
        """-1, 0 or 1 for pairs on one line; 1 where one is NaN, which `_not_nan` sees to."""
        x, y = self.doubles[left], self.doubles[right]
        signs: Signs = (x > y).astype(np.int8) - (x < y).astype(np.int8)
        signs[np.isnan(x) | np.isnan(y)] = 1
        # A tie of doubles decides only if a double takes part, or if both values are doubles.
        unsure = (x == y) & (left != right) & ~(self.exact[left] & self.exact[right])
        unsure &= ~(self.inexact[left] | self.inexact[right])
        if unsure.any():
            signs[unsure] = self._order_exactly(left[unsure], right[unsure])
        return signs

    def _order_exactly(self, left: Ids, right: Ids) -> Signs:
        """The order of exact values that share a double: integers as such, others by their texts."""
        kinds = self._arrays[2]
        x, y = self.integers[left], self.integers[right]
        signs: Signs = (x > y).astype(np.int8) - (x < y).astype(np.int8)
        others = ~((kinds[left] == Kind.INTEGER) & (kinds[right] == Kind.INTEGER))
        pairs = np.stack([left[others], right[others]])
        distinct, inverse = np.unique(pairs, axis=1, return_inverse=True)
        order = []
        for p, q in distinct.T.tolist():
            one, other = self._exactly(p), self._exactly(q)
            order.append((one > other) - (one < other))
        signs[others] = np.array(order, np.int8)[inverse.reshape(-1)]
        return signs

    def _exactly(self, term: int) -> Fraction:
        keys, offsets, _ = self._arrays
        number = value_of(Constant.from_key(keys[offsets[term] : offsets[term + 1]].tobytes()))[1]
        assert isinstance(number, Fraction)
        return number

    def _order_texts(self, left: Ids, right: Ids, equality: bool) -> Signs:
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

    def _order_apart(self, left: Ids, right: Ids) -> tuple[Signs, Mask]:
        """Moments with and without a zone: in order if more than 14 hours apart, else nobody knows."""
        difference = self.doubles[left] - self.doubles[right]
        return np.sign(difference).astype(np.int8), np.abs(difference) > _FOURTEEN_HOURS


_VALUES: WeakKeyDictionary[Dictionary, Values] = WeakKeyDictionary()


def _nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _at_least(array: npt.NDArray[T], used: int, size: int) -> npt.NDArray[T]:
    """An array with room for `size` elements, of which the first `used` are kept; growth is amortised."""
    if size <= len(array):
        return array
    larger = np.empty(max(size, used + used // 2), array.dtype)
    larger[:used] = array[:used]
    return larger
