"""Arithmetic on columns of terms, with SPARQL's promotion: from integer to decimal to double.

Integers have 64 bits. Two integers divide to a decimal. Doubles follow IEEE 754 and never fail. Kernels do
what fits 64 bits; longer decimals are columns of Python's `Decimal`, which is libmpdec, a library in C.

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
from dataclasses import dataclass
from decimal import ROUND_05UP, ROUND_HALF_EVEN, Context, Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from modulog.kernels import number_arithmetic as kernels
from modulog.kernels.number_arithmetic import (
    DECIMAL,
    DIVISION,
    DOUBLE,
    FINE,
    ILL_TYPED,
    INTEGER,
    OVERFLOW,
    SLOW,
    TYPED,
    WIDE,
)
from modulog.terms.arrow import encode_integers, join_texts, text_array
from modulog.terms.constant import (
    DECIMAL_DIGITS,
    INTEGER_MAX,
    INTEGER_MIN,
    XSD,
    Constant,
    Kind,
    format_double,
)
from modulog.terms.dictionary import Dictionary, Ids, frozen
from modulog.terms.literal_values import NUMBER, Mask, value_of, values_of

Decimals = npt.NDArray[np.object_]
Status = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.intp]

_OPERATORS = {"+": kernels.ADD, "-": kernels.SUBTRACT, "*": kernels.MULTIPLY, "/": kernels.DIVIDE}
_FUNCTIONS = {"-": kernels.NEGATE, "ABS": kernels.ABSOLUTE, "INT": kernels.TRUNCATE}


@dataclass(slots=True)
class Numbers:
    """A column of numbers as kernels have it; `wide` has the decimals that do not fit there, or no rows."""

    kinds: npt.NDArray[np.uint8]
    integers: npt.NDArray[np.int64]
    scales: npt.NDArray[np.int64]
    doubles: npt.NDArray[np.float64]
    status: Status
    wide: Decimals

    @staticmethod
    def empty(rows: int, status: Status) -> Numbers:
        """A column whose numbers are to be filled in."""
        zeros = np.zeros(rows, np.int64)
        return Numbers(
            np.zeros(rows, np.uint8), zeros, zeros.copy(), np.zeros(rows), status, np.empty(0, np.object_)
        )

    @property
    def columns(self) -> tuple[Any, ...]:
        """The arrays that the kernels take."""
        return self.kinds, self.integers, self.scales, self.doubles

    def exact(self, rows: Rows) -> Decimals:
        """The integers and decimals of some rows."""
        found = scale_decimals(self.integers[rows], self.scales[rows])
        wide = self.kinds[rows] == WIDE
        if wide.any():
            found[wide] = self.wide[rows[wide]]
        return found

    def set_wide(self, rows: Rows, values: Decimals) -> None:
        """Let some rows be decimals of any length."""
        if not len(self.wide):
            self.wide = np.zeros(len(self.kinds), np.object_)
        self.kinds[rows], self.wide[rows] = WIDE, values

    def set_integers(self, rows: Rows, values: npt.NDArray[np.object_]) -> None:
        """Let some rows be integers, or overflows where they do not fit 64 bits."""
        fits = (values >= INTEGER_MIN) & (values <= INTEGER_MAX)
        self.status[rows[~fits]] = OVERFLOW
        self.kinds[rows], self.scales[rows] = INTEGER, 0
        self.integers[rows[fits]] = values[fits].astype(np.int64)


def read_numbers(dictionary: Dictionary, ids: Ids) -> Numbers:
    """The numbers of terms.

    Others get the kind NOTHING, which makes whatever is computed with them ILL_TYPED.
    """
    found = Numbers.empty(len(ids), np.zeros(len(ids), np.uint8))
    values = values_of(dictionary)
    keys, offsets, term_kinds = dictionary.arrays()
    ids = frozen(np.ascontiguousarray(ids, np.uint32))
    kernels.read_numbers(keys, offsets, term_kinds, ids, found.kinds, found.integers, found.scales)
    found.doubles = values.doubles[ids]
    if (rows := np.flatnonzero(found.kinds == WIDE)).size:
        found.set_wide(rows, read_decimals(text_array(dictionary, ids[rows])))
    if (rows := np.flatnonzero(found.kinds == TYPED)).size:
        _read_typed(found, rows, dictionary.decode(ids[rows]))
    return found


def _read_typed(found: Numbers, rows: Rows, constants: list[Constant]) -> None:
    """Read literals that kernels do not: derived types, floats, and numbers too long for their kind."""
    for row, constant in zip(rows.tolist(), constants, strict=True):
        family, number = value_of(constant)
        found.kinds[row] = kernels.NOTHING
        if family != NUMBER or number is None:
            found.status[row] = ILL_TYPED
        elif isinstance(number, float):
            found.kinds[row], found.doubles[row] = DOUBLE, number
        elif INTEGER_MIN <= number <= INTEGER_MAX and constant.qualifier != f"{XSD}decimal":
            found.kinds[row], found.integers[row] = INTEGER, int(number)
        else:
            found.status[row] = OVERFLOW


def operate(operator: str, left: Numbers, right: Numbers) -> Numbers:
    """The results of an operator for two columns; a row that had failed in one of them has failed."""
    status = np.where(left.status != FINE, left.status, right.status)
    result = Numbers.empty(len(status), status)
    kernels.operate(_OPERATORS[operator], left.columns, right.columns, result.columns, status)
    rows = np.flatnonzero(status == SLOW)
    if rows.size:
        status[rows] = FINE
        double = (left.kinds[rows] == DOUBLE) | (right.kinds[rows] == DOUBLE)
        _operate_on_doubles(operator, left, right, result, rows[double])
        _operate_on_decimals(operator, left, right, result, rows[~double])
    return result


def _operate_on_doubles(operator: str, left: Numbers, right: Numbers, result: Numbers, rows: Rows) -> None:
    """One side is a double, the other a decimal whose nearest double the kernel does not find."""
    sides = []
    for side in (left, right):
        doubles = side.doubles[rows]
        others = side.kinds[rows] != DOUBLE
        doubles[others] = side.exact(rows[others]).astype(np.float64)
        sides.append((np.full(len(rows), DOUBLE, np.uint8), side.integers[rows], side.scales[rows], doubles))
    done = Numbers.empty(len(rows), np.zeros(len(rows), np.uint8))
    kernels.operate(_OPERATORS[operator], sides[0], sides[1], done.columns, done.status)
    result.kinds[rows], result.doubles[rows] = DOUBLE, done.doubles


def _operate_on_decimals(operator: str, left: Numbers, right: Numbers, result: Numbers, rows: Rows) -> None:
    """The exact result does not fit 64 bits."""
    x, y = left.exact(rows), right.exact(rows)
    if operator == "/":
        zero = y == 0
        result.status[rows[zero]] = DIVISION
        rows, x, y = rows[~zero], x[~zero], y[~zero]
    values, fits = combine_decimals(operator, x, y)
    result.status[rows[~fits]] = OVERFLOW
    result.set_wide(rows, values)


def change(function: str, operand: Numbers) -> Numbers:
    """The results of a function of one argument for a column: `-`, ABS or INT."""
    status = operand.status.copy()
    result = Numbers.empty(len(status), status)
    kernels.change(_FUNCTIONS[function], operand.columns, result.columns, status)
    rows = np.flatnonzero(status == SLOW)
    if rows.size:
        status[rows] = FINE
        values = operand.exact(rows)
        if function == "INT":
            result.set_integers(rows, _truncated(values))
        else:
            result.set_wide(rows, _negated(values) if function == "-" else _absolute(values))
    return result


def encode_numbers(dictionary: Dictionary, numbers: Numbers) -> npt.NDArray[np.int64]:
    """The ids of the numbers of a column; terms that are new are added. A row that failed gets -1."""
    ids = np.full(len(numbers.status), -1, np.int64)
    fine = numbers.status == FINE
    if (rows := np.flatnonzero(fine & (numbers.kinds == INTEGER))).size:
        ids[rows] = encode_integers(dictionary, numbers.integers[rows])
    if (rows := np.flatnonzero(fine & (numbers.kinds == DECIMAL))).size:
        offsets = np.empty(len(rows) + 1, np.int64)
        buffer = np.empty(len(rows) * kernels.LONGEST_DECIMAL, np.uint8)
        size = kernels.format_decimals(numbers.integers[rows], numbers.scales[rows], buffer, offsets)
        ids[rows] = dictionary.encode_strings(buffer[:size], offsets, Kind.DECIMAL)
    if (rows := np.flatnonzero(fine & (numbers.kinds == DOUBLE))).size:
        distinct, inverse = np.unique(numbers.doubles[rows].view(np.int64), return_inverse=True)
        texts = [format_double(value) for value in distinct.view(np.float64).tolist()]
        ids[rows] = dictionary.encode([Constant(Kind.DOUBLE, text) for text in texts])[inverse]
    if (rows := np.flatnonzero(fine & (numbers.kinds == WIDE))).size:
        buffer, offsets = join_texts(decimal_texts(numbers.wide[rows]))
        ids[rows] = dictionary.encode_strings(buffer, offsets, Kind.DECIMAL)
    return ids


# ---- Decimals that do not fit 64 bits

# Sums of two decimals have 77 digits at most, products 76: both are exact. Quotients are cut off in such a
# way that rounding them again, to fewer digits, gives what rounding once would give.
_EXACT = Context(prec=80, rounding=ROUND_05UP)
_ROUNDING = Context(prec=DECIMAL_DIGITS, rounding=ROUND_HALF_EVEN)
_TENTH, _LAST_PLACE, _LIMIT = Decimal("0.1"), Decimal(f"1E-{DECIMAL_DIGITS}"), Decimal(f"1E{DECIMAL_DIGITS}")


def _by_row(function: Callable[..., object], arguments: int = 1) -> Callable[..., Decimals]:
    """A function of Python's objects as one of columns of them."""
    made: Callable[..., Decimals] = np.frompyfunc(function, arguments, 1)
    return made


_to_decimals = _by_row(Decimal)
_scale = _by_row(_EXACT.scaleb, 2)
_quantize = _by_row(_ROUNDING.quantize, 2)
_round = _by_row(_ROUNDING.plus)
_normalise = _by_row(_ROUNDING.normalize)
_write = _by_row("{:f}".format)
_has = _by_row(operators.contains, 2)
_EXACT_OPERATORS = {
    "+": _by_row(_EXACT.add, 2),
    "-": _by_row(_EXACT.subtract, 2),
    "*": _by_row(_EXACT.multiply, 2),
    "/": _by_row(_EXACT.divide, 2),
}
_negated = _by_row(_EXACT.minus)  # zero has no sign
_absolute = _by_row(_EXACT.abs)
_truncated = _by_row(int)


def read_decimals(texts: pa.Array) -> Decimals:
    """The decimals with these canonical texts.

    >>> read_decimals(pa.array(["1.5", "-0.25"]))
    array([Decimal('1.5'), Decimal('-0.25')], dtype=object)
    """
    return _to_decimals(np.array(texts.to_pylist(), np.object_))


def scale_decimals(integers: npt.NDArray[np.int64], scales: npt.NDArray[np.int64]) -> Decimals:
    """Decimals from integers and how many of the digits are behind the point.

    >>> scale_decimals(np.array([15, -25]), np.array([1, 2]))
    array([Decimal('1.5'), Decimal('-0.25')], dtype=object)
    """
    return _scale(_to_decimals(integers), -scales)


def combine_decimals(operator: str, left: Decimals, right: Decimals) -> tuple[Decimals, Mask]:
    """The results of `+`, `-`, `*` or `/`, and which of them fit 38 digits; no divisor is zero.

    >>> left, right = read_decimals(pa.array(["1.0", "1.0"])), read_decimals(pa.array(["8.0", "4.0"]))
    >>> combine_decimals("/", left, right)
    (array([Decimal('0.125'), Decimal('0.25')], dtype=object), array([ True,  True]))
    """
    return round_decimals(_EXACT_OPERATORS[operator](left, right))


def round_decimals(values: Decimals) -> tuple[Decimals, Mask]:
    """The nearest decimals of 38 digits, and which of them have no more before the point."""
    short = values.copy()
    few = (short < _TENTH) & (short > -_TENTH)  # 38 digits of these would go beyond the last place
    if few.any():
        short[few] = _quantize(short[few], _LAST_PLACE)
    short = _round(short)
    fits: Mask = (short < _LIMIT) & (short > -_LIMIT)
    return short, fits


def decimal_texts(values: Decimals) -> list[str]:
    """The texts of decimals, always with a point and without superfluous zeros.

    >>> decimal_texts(read_decimals(pa.array(["1.50", "200"])))
    ['1.5', '200.0']
    """
    texts = _write(_normalise(values))
    texts[~_has(texts, ".").astype(np.bool_)] += ".0"
    found: list[str] = texts.tolist()
    return found
