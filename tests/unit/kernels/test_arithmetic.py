"""Arithmetic on columns equals Python's integers and fractions; what does not fit 64 bits is said, never wrong."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from modulog.kernels import number_arithmetic as k
from modulog.kernels.numbers import format_integers

LEAST, GREATEST = -(2**63), 2**63 - 1
INTEGERS = st.one_of(
    st.integers(LEAST, GREATEST),
    st.integers(-20, 20),
    st.sampled_from([LEAST, LEAST + 1, GREATEST, GREATEST - 1, 2**62, -(2**62), 2**31, 10**18, 3037000500]),
)
SCALES = st.integers(0, 20)
OPERATORS = {"+": k.ADD, "-": k.SUBTRACT, "*": k.MULTIPLY, "/": k.DIVIDE}


def column(kind: int, integer: int = 0, scale: int = 0, double: float = 0.0) -> tuple[Any, ...]:
    """A column of one number."""
    return (
        np.array([kind], np.uint8),
        np.array([integer], np.int64),
        np.array([scale], np.int64),
        np.array([double], np.float64),
    )


def operate(sign: str, a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[int, tuple[Any, ...]]:
    """The status and the result for one row."""
    result, status = column(0), np.zeros(1, np.uint8)
    k.operate(OPERATORS[sign], a, b, result, status)
    return int(status[0]), tuple(c[0] for c in result)


@given(x=INTEGERS, y=INTEGERS, sign=st.sampled_from("+-*"))
@example(x=LEAST, y=-1, sign="*")
@example(x=-1, y=LEAST, sign="-")
@example(x=0, y=LEAST, sign="-")
def test_integers(x: int, y: int, sign: str) -> None:
    exact = {"+": x + y, "-": x - y, "*": x * y}[sign]
    status, (kind, integer, _, _) = operate(sign, column(k.INTEGER, x), column(k.INTEGER, y))
    assert status == (k.FINE if LEAST <= exact <= GREATEST else k.OVERFLOW)
    assert status or (kind, integer) == (k.INTEGER, exact)


@given(x=INTEGERS, s=SCALES, y=INTEGERS, t=SCALES, sign=st.sampled_from("+-*/"))
def test_decimals_are_exact_or_left_to_the_caller(x: int, s: int, y: int, t: int, sign: str) -> None:
    a, b = Fraction(x, 10**s), Fraction(y, 10**t)
    status, (kind, integer, scale, _) = operate(sign, column(k.DECIMAL, x, s), column(k.DECIMAL, y, t))
    if sign == "/" and y == 0:
        assert status == k.DIVISION
        return
    assert status in (k.FINE, k.SLOW)
    if status == k.FINE:
        exact = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else None}[sign]
        assert (kind, Fraction(int(integer), 10 ** int(scale))) == (k.DECIMAL, exact)
        assert scale == 0 or integer % 10


@pytest.mark.parametrize(
    ("x", "y", "quotient"), [(6, 2, 3), (1, 8, Fraction(1, 8)), (-7, 2, Fraction(-7, 2))]
)
def test_integers_divide_to_decimals(x: int, y: int, quotient: Fraction) -> None:
    status, (kind, integer, scale, _) = operate("/", column(k.INTEGER, x), column(k.INTEGER, y))
    assert (status, kind) == (k.FINE, k.DECIMAL)
    assert Fraction(int(integer), 10 ** int(scale)) == quotient


def test_a_quotient_without_an_end_is_left_to_the_caller() -> None:
    assert operate("/", column(k.INTEGER, 1), column(k.INTEGER, 3))[0] == k.SLOW


def bits(value: float) -> bytes:
    """What tells doubles apart, but not one NaN from another."""
    return b"nan" if math.isnan(value) else struct.pack("<d", value)


@given(x=st.floats(), y=st.floats(), sign=st.sampled_from("+-*"))
def test_doubles(x: float, y: float, sign: str) -> None:
    status, (kind, _, _, double) = operate(sign, column(k.DOUBLE, double=x), column(k.DOUBLE, double=y))
    assert (status, kind) == (k.FINE, k.DOUBLE)
    assert bits(double) == bits({"+": x + y, "-": x - y, "*": x * y}[sign])


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (1.0, 0.0, math.inf),
        (1.0, -0.0, -math.inf),
        (-1.0, 0.0, -math.inf),
        (0.0, 0.0, math.nan),
        (math.nan, 0.0, math.nan),
        (math.inf, 0.0, math.inf),
        (math.inf, math.inf, math.nan),
        (1e308, 1e-308, math.inf),
        (1.0, math.inf, 0.0),
    ],
)
def test_doubles_divide_as_ieee_says(x: float, y: float, expected: float) -> None:
    status, (_, _, _, double) = operate("/", column(k.DOUBLE, double=x), column(k.DOUBLE, double=y))
    assert status == k.FINE
    assert bits(double) == bits(expected)


def test_promotion_to_double() -> None:
    assert operate("+", column(k.INTEGER, 1), column(k.DOUBLE, double=0.5))[1][3] == 1.5
    assert operate("*", column(k.DECIMAL, 25, 1), column(k.DOUBLE, double=2.0))[1][3] == 5.0
    assert operate("+", column(k.WIDE), column(k.DOUBLE, double=2.0))[0] == k.SLOW


def test_what_is_no_number_is_ill_typed_and_earlier_failures_stay() -> None:
    assert operate("+", column(k.NOTHING), column(k.INTEGER, 1))[0] == k.ILL_TYPED
    result, status = column(0), np.array([k.DIVISION], np.uint8)
    k.operate(k.ADD, column(k.NOTHING), column(k.INTEGER, 1), result, status)
    assert status[0] == k.DIVISION


@given(
    x=INTEGERS,
    s=SCALES,
    kind=st.sampled_from([k.INTEGER, k.DECIMAL]),
    f=st.sampled_from([k.NEGATE, k.ABSOLUTE, k.TRUNCATE]),
)
@example(x=LEAST, s=0, kind=k.INTEGER, f=k.TRUNCATE)
@example(x=LEAST, s=1, kind=k.DECIMAL, f=k.TRUNCATE)
@example(x=LEAST, s=0, kind=k.INTEGER, f=k.NEGATE)
def test_functions_of_one_number(x: int, s: int, kind: int, f: int) -> None:
    s = 0 if kind == k.INTEGER else s
    exact = Fraction(x, 10**s)
    expected = {k.NEGATE: -exact, k.ABSOLUTE: abs(exact), k.TRUNCATE: Fraction(int(exact))}[f]
    result, status = column(0), np.zeros(1, np.uint8)
    k.change(f, column(kind, x, s), result, status)
    if status[0]:
        assert x == LEAST
        assert status[0] == (k.OVERFLOW if kind == k.INTEGER else k.SLOW)
        return
    assert Fraction(int(result[1][0]), 10 ** int(result[2][0])) == expected
    assert result[0][0] == (k.INTEGER if f == k.TRUNCATE else kind)


@pytest.mark.parametrize(
    ("x", "status"),
    [
        (1e19, k.OVERFLOW),
        (-1e19, k.OVERFLOW),
        (math.inf, k.OVERFLOW),
        (math.nan, k.ILL_TYPED),
        (-2.7, k.FINE),
        (2.0**63, k.OVERFLOW),
        (-(2.0**63), k.FINE),
    ],
)
def test_doubles_to_integers(x: float, status: int) -> None:
    result, found = column(0), np.zeros(1, np.uint8)
    k.change(k.TRUNCATE, column(k.DOUBLE, double=x), result, found)
    assert found[0] == status
    assert status or result[1][0] == int(x)


@given(st.lists(st.tuples(INTEGERS, st.integers(0, 38)), min_size=1))
def test_decimals_as_text(pairs: list[tuple[int, int]]) -> None:
    values, scales = (np.array(c, np.int64) for c in zip(*pairs, strict=True))
    buffer, offsets = np.empty(len(pairs) * k.LONGEST_DECIMAL, np.uint8), np.empty(len(pairs) + 1, np.int64)
    assert k.format_decimals(values, scales, buffer, offsets) == offsets[-1]
    for i, (value, scale) in enumerate(pairs):
        text = buffer[offsets[i] : offsets[i + 1]].tobytes().decode()
        assert Fraction(text) == Fraction(value, 10**scale)
        assert len(text.partition(".")[2]) == max(1, scale)
        assert text.startswith("-") == (value < 0)


@given(st.lists(INTEGERS, min_size=1))
def test_integers_as_text(numbers: list[int]) -> None:
    buffer, offsets = np.empty(len(numbers) * 20, np.uint8), np.empty(len(numbers) + 1, np.int64)
    format_integers(np.array(numbers, np.int64), buffer, offsets)
    assert [int(buffer[offsets[i] : offsets[i + 1]].tobytes()) for i in range(len(numbers))] == numbers
