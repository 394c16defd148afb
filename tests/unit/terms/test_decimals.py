"""Decimals beyond 64 bits equal exact fractions, rounded to 38 digits in the plainest way."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from operator import add, mul, sub, truediv

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from modulog.kernels.number_arithmetic import DIVISION, FINE, OVERFLOW
from modulog.terms import arithmetic
from modulog.terms.arithmetic import combine_decimals, decimal_texts, read_decimals, scale_decimals
from modulog.terms.arrow import join_texts, strings_array
from modulog.terms.constant import Constant, Kind
from modulog.terms.dictionary import Dictionary
from modulog.terms.literal_values import compare, nearest_doubles, order_numbers

OPERATORS = {"+": add, "-": sub, "*": mul, "/": truediv}
NINES = 10**38 - 1


@st.composite
def numbers(draw: st.DrawFn) -> Fraction:
    """A decimal of at most 38 digits: long ones, neighbours of powers of ten and small ones."""
    scale = draw(st.integers(0, 38))
    digits = draw(
        st.one_of(st.integers(0, NINES), st.integers(1, 38).map(lambda n: 10**n - 1), st.integers(0, 99))
    )
    return Fraction(digits * draw(st.sampled_from([1, -1])), 10**scale)


def rounded(number: Fraction) -> Fraction | None:
    """The nearest decimal of 38 digits before and after the point together, None if there is none."""
    whole = abs(number.numerator) // number.denominator
    places = 38 - (len(str(whole)) if whole else 0)
    if places < 0:
        return None
    found = Fraction(round(number * 10**places), 10**places)
    return found if abs(found) < 10**38 else None


def text(number: Fraction) -> str:
    """The canonical text of a decimal."""
    digits = str(abs(number.numerator) * 10**38 // number.denominator).zfill(39)
    return f"{'-' if number < 0 else ''}{digits[:-38]}.{digits[-38:].rstrip('0') or '0'}"


def column(values: list[Fraction]):  # type: ignore[no-untyped-def]
    return strings_array(*join_texts([text(value) for value in values]))


PAIRS = st.lists(st.tuples(numbers(), numbers()), min_size=1, max_size=20)


@given(PAIRS, st.sampled_from(list(OPERATORS)))
@example([(Fraction(NINES), Fraction(1, 2)), (Fraction(NINES), Fraction(2, 5))], "+")
@example([(Fraction(1, 10**19), Fraction(1, 10**19)), (Fraction(5, 10**38), Fraction(1, 10))], "*")
@example(
    [(Fraction(2), Fraction(3)), (Fraction(1, 10**38), Fraction(2)), (Fraction(3, 10**38), Fraction(2))], "/"
)
def test_operators(pairs: list[tuple[Fraction, Fraction]], operator: str) -> None:
    pairs = [(x, y or Fraction(1)) for x, y in pairs]
    expected = [rounded(OPERATORS[operator](x, y)) for x, y in pairs]
    values, fits = combine_decimals(
        operator, read_decimals(column([x for x, _ in pairs])), read_decimals(column([y for _, y in pairs]))
    )
    assert fits.tolist() == [number is not None for number in expected]
    assert decimal_texts(values[fits]) == [text(number) for number in expected if number is not None]


@given(PAIRS, st.sampled_from(list(OPERATORS)))
def test_columns_of_terms(pairs: list[tuple[Fraction, Fraction]], operator: str) -> None:
    """The same through a dictionary, where the short ones among them are the kernels' work."""
    dictionary = Dictionary()
    sides = []
    for side in zip(*pairs, strict=True):
        constants = [Constant(Kind.DECIMAL, text(number)) for number in side]
        sides.append(arithmetic.read_numbers(dictionary, dictionary.encode(constants)))
    result = arithmetic.operate(operator, *sides)
    ids = arithmetic.encode_numbers(dictionary, result)
    for (x, y), status, number in zip(pairs, result.status.tolist(), ids.tolist(), strict=True):
        if operator == "/" and y == 0:
            assert status == DIVISION
            continue
        expected = rounded(OPERATORS[operator](x, y))
        assert status == (OVERFLOW if expected is None else FINE)
        if expected is not None:
            assert dictionary.decode([number]) == [Constant(Kind.DECIMAL, text(expected))]


@given(st.lists(numbers(), min_size=1, max_size=20), st.sampled_from(["-", "ABS", "INT"]))
def test_functions_of_one_column(values: list[Fraction], function: str) -> None:
    dictionary = Dictionary()
    operand = arithmetic.read_numbers(
        dictionary, dictionary.encode([Constant(Kind.DECIMAL, text(value)) for value in values])
    )
    result = arithmetic.change(function, operand)
    ids = arithmetic.encode_numbers(dictionary, result)
    for value, status, number in zip(values, result.status.tolist(), ids.tolist(), strict=True):
        expected = {"-": lambda v: -v, "ABS": abs, "INT": int}[function](value)
        if function == "INT" and not -(2**63) <= expected < 2**63:
            assert status == OVERFLOW
            continue
        kind = Kind.INTEGER if function == "INT" else Kind.DECIMAL
        written = str(expected) if function == "INT" else text(Fraction(expected))
        assert dictionary.decode([number]) == [Constant(kind, written)]


@given(PAIRS, st.sampled_from(["<", "<=", ">", ">=", "=", "!="]))
@example([(Fraction(NINES), Fraction(NINES - 1)), (Fraction(1, 10**38), Fraction(2, 10**38))], "<")
def test_comparisons(pairs: list[tuple[Fraction, Fraction]], operator: str) -> None:
    """Also of numbers whose nearest double is the same."""
    pairs += [
        (x, x + Fraction(1, 10**20)) for x, _ in pairs if abs(x) < 10**17 and (x * 10**20).denominator == 1
    ]
    pairs = [(rounded(x) or x, rounded(y) or y) for x, y in pairs]
    dictionary = Dictionary()
    left, right = (
        dictionary.encode([Constant(Kind.DECIMAL, text(pair[side])) for pair in pairs]) for side in (0, 1)
    )
    test = {"<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__", "=": "__eq__", "!=": "__ne__"}[
        operator
    ]
    holds, failed = compare(dictionary, operator, left, right)
    assert (holds.tolist(), failed) == ([getattr(x, test)(y) for x, y in pairs], 0)
    signs = order_numbers(column([x for x, _ in pairs]), column([y for _, y in pairs]))
    assert signs.tolist() == [(x > y) - (x < y) for x, y in pairs]


@given(st.lists(numbers(), min_size=1, max_size=20))
def test_nearest_doubles(values: list[Fraction]) -> None:
    assert nearest_doubles(column(values)).tolist() == [float(value) for value in values]


@pytest.mark.parametrize("scale", [0, 1, 18, 38])
def test_scaled_integers(scale: int) -> None:
    integers = np.array([0, 1, -1, 2**63 - 1, -(2**63)])
    assert scale_decimals(integers, np.full(5, scale)).tolist() == [
        Decimal(int(i)).scaleb(-scale) for i in integers
    ]
