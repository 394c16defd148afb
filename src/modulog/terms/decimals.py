"""Decimals that do not fit 64 bits: columns of Python's `Decimal`, which is libmpdec, a library in C.

A decimal has at most 38 digits, before and after the point together. A result with more digits after the
point is rounded, half to even; one with more digits before it does not fit. NumPy calls the functions of
`decimal` for a whole column at once: there is no loop in Python.

Measured on one core with 100,000 different rows, nanoseconds for each:

    25 digits                 Fraction in a loop   this file   PyArrow
    read                                   8,400         280        62
    x + y, rounded                         6,400         690        85
    x * y, rounded                         6,200         690       140
    x / y, 9 digits by 7                   8,000         940       206, cut off instead of rounded
    canonical text                         2,070         500       130
    nearest double                         6,200         840       (what this file does)
    x < y, doubles equal                   3,040         270       (what this file does)

    9 digits               kernels/number_arithmetic.py               decimal128
    read                                      13                       24
    x + y                                     13                       16
    x * y                                      7                        3
    canonical text                            22                       70
    x < y                                     12                       16

So short decimals are left to the kernels, and long ones to this file although PyArrow is quicker in what it
has: its types do not allow the rest. Of two columns of 38 digits, decimal128 refuses `+`, `*` and `/`, and
decimal256 refuses `*` and `/`, and `+` if one has all its digits before the point and the other all behind
it, whatever the values are; all rows of a column have one scale; division cuts off. Reading terms to
compare them needs none of that: `nearest_doubles` and `order` are PyArrow's.
"""

from __future__ import annotations

import operator as operators
from collections.abc import Callable
from decimal import ROUND_05UP, ROUND_HALF_EVEN, Context, Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from modulog.terms.canonical import DECIMAL_DIGITS
from modulog.terms.decode import unwrap

Decimals = npt.NDArray[np.object_]
Mask = npt.NDArray[np.bool_]

# Sums of two decimals have 77 digits at most, products 76: both are exact. Quotients are cut off in such a way
# that rounding them again, to fewer digits, gives what rounding once would give.
_EXACT = Context(prec=80, rounding=ROUND_05UP)
_ROUNDING = Context(prec=DECIMAL_DIGITS, rounding=ROUND_HALF_EVEN)
_TENTH, _LAST_PLACE, _LIMIT = Decimal("0.1"), Decimal(f"1E-{DECIMAL_DIGITS}"), Decimal(f"1E{DECIMAL_DIGITS}")
_WIDEST = pa.decimal256(2 * DECIMAL_DIGITS, DECIMAL_DIGITS)


def _by_row(function: Callable[..., object], arguments: int = 1) -> Callable[..., Decimals]:
    """A function of Python's objects as one of columns of them."""
    made: Callable[..., Decimals] = np.frompyfunc(function, arguments, 1)
    return made


_read = _by_row(Decimal)
_scale = _by_row(_EXACT.scaleb, 2)
_quantize = _by_row(_ROUNDING.quantize, 2)
_round = _by_row(_ROUNDING.plus)
_normalise = _by_row(_ROUNDING.normalize)
_write = _by_row("{:f}".format)
_has = _by_row(operators.contains, 2)
_OPERATORS = {
    "+": _by_row(_EXACT.add, 2),
    "-": _by_row(_EXACT.subtract, 2),
    "*": _by_row(_EXACT.multiply, 2),
    "/": _by_row(_EXACT.divide, 2),
}
negated = _by_row(_EXACT.minus)
"""The decimals with the other sign; zero has none."""
absolute = _by_row(_EXACT.abs)
"""The decimals without a sign."""
truncated = _by_row(int)
"""The integer parts, as Python's integers."""


def read(texts: pa.Array) -> Decimals:
    """The decimals with these canonical texts.

    >>> read(pa.array(["1.5", "-0.25"]))
    array([Decimal('1.5'), Decimal('-0.25')], dtype=object)
    """
    return _read(np.array(texts.to_pylist(), np.object_))


def scaled(integers: npt.NDArray[np.int64], scales: npt.NDArray[np.int64]) -> Decimals:
    """Decimals from integers and how many of the digits are behind the point.

    >>> scaled(np.array([15, -25]), np.array([1, 2]))
    array([Decimal('1.5'), Decimal('-0.25')], dtype=object)
    """
    return _scale(_read(integers), -scales)


def operate(operator: str, left: Decimals, right: Decimals) -> tuple[Decimals, Mask]:
    """The results of `+`, `-`, `*` or `/`, and which of them fit 38 digits; no divisor is zero.

    >>> operate("/", read(pa.array(["1.0", "1.0"])), read(pa.array(["8.0", "4.0"])))
    (array([Decimal('0.125'), Decimal('0.25')], dtype=object), array([ True,  True]))
    """
    return rounded(_OPERATORS[operator](left, right))


def rounded(values: Decimals) -> tuple[Decimals, Mask]:
    """The nearest decimals of 38 digits, and which of them have no more before the point."""
    short = values.copy()
    few = (short < _TENTH) & (short > -_TENTH)  # 38 digits of these would go beyond the last place
    if few.any():
        short[few] = _quantize(short[few], _LAST_PLACE)
    short = _round(short)
    fits: Mask = (short < _LIMIT) & (short > -_LIMIT)
    return short, fits


def canonical_texts(values: Decimals) -> list[str]:
    """The texts of decimals, always with a point and without superfluous zeros.

    >>> canonical_texts(read(pa.array(["1.50", "200"])))
    ['1.5', '200.0']
    """
    texts = _write(_normalise(values))
    texts[~_has(texts, ".").astype(np.bool_)] += ".0"
    found: list[str] = texts.tolist()
    return found


def nearest_doubles(texts: pa.Array) -> npt.NDArray[np.float64]:
    """The double nearest to each number.

    >>> nearest_doubles(pa.array(["0.1000000000000000055"])).tolist()
    [0.1]
    """
    return unwrap(texts.cast(pa.float64())).astype(np.float64)


def order(left: pa.Array, right: pa.Array) -> npt.NDArray[np.int8]:
    """-1, 0 or 1 as the number of one text is less than, equal to or greater than that of the other.

    >>> order(pa.array(["1.0", "2", "3.5"]), pa.array(["1", "2.5", "3.0"])).tolist()
    [0, -1, 1]
    """
    x, y = left.cast(_WIDEST), right.cast(_WIDEST)
    greater, less = (unwrap(found.cast(pa.int8())) for found in (pc.greater(x, y), pc.less(x, y)))
    return (greater - less).astype(np.int8)
