"""Arithmetic on columns of terms, with SPARQL's promotion: integer, decimal, double.

Integers have 64 bits. Decimals have 38 digits, before and after the point together: a result with more digits after the point is rounded
(half to even), one with more digits before it is an overflow. Two integers divide to a decimal. Doubles follow IEEE 754 and never fail.
Kernels do what fits 64 bits; fractions of Python do the rest, one for each different row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from modulog.kernels import arithmetic as kernels
from modulog.kernels.arithmetic import (
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
    operate_on_doubles,
)
from modulog.terms.canonical import (
    DECIMAL_DIGITS,
    INTEGER_MAX,
    INTEGER_MIN,
    INTEGER_RANGES,
    XSD,
    format_double,
)
from modulog.terms.dictionary import Dictionary, Ids, frozen
from modulog.terms.families import NUMBER, value_of
from modulog.terms.model import Constant, Kind
from modulog.terms.values import values_of

Status = npt.NDArray[np.uint8]
Number = int | float | Fraction

_OPERATORS = {"+": kernels.ADD, "-": kernels.SUBTRACT, "*": kernels.MULTIPLY, "/": kernels.DIVIDE}
_FUNCTIONS = {"-": kernels.NEGATE, "ABS": kernels.ABSOLUTE, "INT": kernels.TRUNCATE}


class Failed(Exception):
    """A row has no value; the argument is its status."""


@dataclass(slots=True)
class Numbers:
    """A column of numbers, as the kernels lay it out; `wide` has the decimals that do not fit there, by row."""

    kinds: npt.NDArray[np.uint8]
    integers: npt.NDArray[np.int64]
    scales: npt.NDArray[np.int64]
    doubles: npt.NDArray[np.float64]
    status: Status
    wide: dict[int, Fraction] = field(default_factory=dict)

    @staticmethod
    def empty(rows: int, status: Status) -> Numbers:
        """A column to be filled in."""
        zeros = np.zeros(rows, np.int64)
        return Numbers(np.zeros(rows, np.uint8), zeros, zeros.copy(), np.zeros(rows), status)

    @property
    def columns(self) -> tuple[Any, ...]:
        return self.kinds, self.integers, self.scales, self.doubles

    def __getitem__(self, row: int) -> Number:
        """The number of one row: an int, a float, or a fraction for a decimal."""
        kind = self.kinds[row]
        if kind == INTEGER:
            return int(self.integers[row])
        if kind == DOUBLE:
            return float(self.doubles[row])
        if kind == WIDE:
            return self.wide[row]
        return Fraction(int(self.integers[row]), 10 ** int(self.scales[row]))

    def __setitem__(self, row: int, number: Number) -> None:
        if isinstance(number, float):
            self.kinds[row], self.doubles[row] = DOUBLE, number
        elif isinstance(number, int):
            if not INTEGER_MIN <= number <= INTEGER_MAX:
                raise Failed(OVERFLOW)
            self.kinds[row], self.integers[row], self.scales[row] = INTEGER, number, 0
        else:
            self.kinds[row], self.wide[row] = WIDE, round_decimal(number)


def round_decimal(number: Fraction) -> Fraction:
    """The nearest decimal of 38 digits.

    >>> round_decimal(Fraction(1, 2))
    Fraction(1, 2)
    """
    whole = abs(number.numerator) // number.denominator
    places = DECIMAL_DIGITS - (len(str(whole)) if whole else 0)
    if places < 0:
        raise Failed(OVERFLOW)
    rounded = Fraction(round(number * 10**places), 10**places)
    if abs(rounded) >= 10**DECIMAL_DIGITS:
        raise Failed(OVERFLOW)
    return rounded


def decimal_constant(number: Fraction) -> Constant:
    """A decimal, which `round_decimal` has made short enough, as a constant.

    >>> decimal_constant(Fraction(-5, 4)).text
    '-1.25'
    """
    digits = str(abs(number.numerator) * 10**DECIMAL_DIGITS // number.denominator).zfill(DECIMAL_DIGITS + 1)
    whole, fraction = digits[:-DECIMAL_DIGITS], digits[-DECIMAL_DIGITS:].rstrip("0")
    return Constant(Kind.DECIMAL, f"{'-' if number < 0 else ''}{whole}.{fraction or '0'}")


def read_numbers(dictionary: Dictionary, ids: Ids) -> Numbers:
    """The numbers of terms; one that is no number fails when something is done with it."""
    found = Numbers.empty(len(ids), np.zeros(len(ids), np.uint8))
    values = values_of(dictionary)
    keys, offsets, term_kinds = dictionary.arrays()
    ids = frozen(np.ascontiguousarray(ids, np.uint32))
    kernels.read_numbers(keys, offsets, term_kinds, ids, found.kinds, found.integers, found.scales)
    found.doubles = values.doubles[ids]
    slow = np.flatnonzero((found.kinds == TYPED) | (found.kinds == WIDE))
    for row, constant in zip(slow.tolist(), dictionary.decode(ids[slow]) if slow.size else (), strict=True):
        try:
            found[row] = _number(constant)
        except Failed as failure:
            found.kinds[row], found.status[row] = kernels.NOTHING, failure.args[0]
    return found


def _number(constant: Constant) -> Number:
    """The number of a literal that kernels do not read: derived types, floats, and numbers too long for their kind."""
    family, number = value_of(constant)
    if family != NUMBER or number is None:
        raise Failed(ILL_TYPED)
    if constant.kind == Kind.TYPED and not isinstance(number, float):
        whole = constant.qualifier in INTEGER_RANGES or constant.qualifier == f"{XSD}integer"
        if whole:
            return int(number)
        raise Failed(OVERFLOW)
    return number


def operate(operator: str, left: Numbers, right: Numbers) -> Numbers:
    """An operator between two columns."""
    status = np.where(left.status != FINE, left.status, right.status)
    result = Numbers.empty(len(status), status)
    kernels.operate(_OPERATORS[operator], left.columns, right.columns, result.columns, status)
    return _finish(result, lambda row: _operate(operator, left[row], right[row]))


def change(function: str, operand: Numbers) -> Numbers:
    """A function of one column: `-`, ABS or INT."""
    status = operand.status.copy()
    result = Numbers.empty(len(status), status)
    kernels.change(_FUNCTIONS[function], operand.columns, result.columns, status)
    return _finish(result, lambda row: _change(function, operand[row]))


def _finish(result: Numbers, number: Callable[[int], Number]) -> Numbers:
    """Do what the kernel left undone."""
    for row in np.flatnonzero(result.status == SLOW).tolist():
        try:
            result.status[row] = FINE
            result[row] = number(row)
        except Failed as failure:
            result.status[row] = failure.args[0]
    return result


def _operate(operator: str, left: Number, right: Number) -> Number:
    """The exact result, rounded only where a double takes part; the kernel has seen to the special doubles."""
    if isinstance(left, float) or isinstance(right, float):
        return operate_on_doubles(_OPERATORS[operator], float(left), float(right))
    match operator:
        case "+":
            return Fraction(left) + Fraction(right)
        case "-":
            return Fraction(left) - Fraction(right)
        case "*":
            return Fraction(left) * Fraction(right)
    if right == 0:
        raise Failed(DIVISION)
    return Fraction(left) / Fraction(right)


def _change(function: str, number: Number) -> Number:
    if function == "INT":
        return int(number)
    negative: Number = -number
    return negative if function == "-" or number < 0 else number


def encode_numbers(dictionary: Dictionary, numbers: Numbers) -> npt.NDArray[np.int64]:
    """The ids of the numbers of a column, new where need be; -1 for a row without one."""
    from modulog.terms.columns import encode_integers

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
        ids[rows] = dictionary.encode([decimal_constant(numbers.wide[row]) for row in rows.tolist()])
    return ids
