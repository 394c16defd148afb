"""Arithmetic on columns of terms, with SPARQL's promotion: from integer to decimal to double.

Integers have 64 bits. Decimals have 38 digits, before and after the point together: a result with more
digits after the point is rounded (half to even), one with more digits before it is an overflow. Two
integers divide to a decimal. Doubles follow IEEE 754 and never fail. Kernels do what fits 64 bits;
`terms/decimals.py` does the rest, and has the measurements that decided what does which.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

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
from modulog.terms import decimals
from modulog.terms.canonical import INTEGER_MAX, INTEGER_MIN, XSD, format_double
from modulog.terms.constant import Constant, Kind
from modulog.terms.decimals import Decimals
from modulog.terms.decode import join_texts, text_array
from modulog.terms.dictionary import Dictionary, Ids, frozen
from modulog.terms.families import NUMBER, value_of
from modulog.terms.literal_values import values_of

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
        found = decimals.scaled(self.integers[rows], self.scales[rows])
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
        found.set_wide(rows, decimals.read(text_array(dictionary, ids[rows])))
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
    values, fits = decimals.operate(operator, x, y)
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
            result.set_integers(rows, decimals.truncated(values))
        else:
            result.set_wide(rows, decimals.negated(values) if function == "-" else decimals.absolute(values))
    return result


def encode_numbers(dictionary: Dictionary, numbers: Numbers) -> npt.NDArray[np.int64]:
    """The ids of the numbers of a column; terms that are new are added. A row that failed gets -1."""
    from modulog.terms.encode import encode_integers

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
        buffer, offsets = join_texts(decimals.canonical_texts(numbers.wide[rows]))
        ids[rows] = dictionary.encode_strings(buffer, offsets, Kind.DECIMAL)
    return ids
