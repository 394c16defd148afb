"""Arithmetic on columns of numbers: integers of 64 bits, decimals as scaled integers, doubles.

A column of numbers is four arrays: the kind, an integer (the value; that of a decimal times ten to the power
of its scale), the scale, and a double. A decimal has no zeros at its end. The status of a row is FINE, or
says why it has no value; SLOW means that a number does not fit 64 bits, and the caller has to compute the row
in Python.

Every kernel over columns is one loop, O(rows).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.numbers import parse_integer

NOTHING, INTEGER, DECIMAL, DOUBLE, TYPED, WIDE = 0, 2, 3, 4, 9, 10
"""The kinds of numbers. TYPED is a literal that the caller reads, WIDE a decimal of more than 18 digits."""
FINE, OVERFLOW, DIVISION, ILL_TYPED, SLOW = 0, 1, 2, 3, 4
"""The statuses of rows."""
ADD, SUBTRACT, MULTIPLY, DIVIDE = 0, 1, 2, 3
"""Operators of `operate`."""
NEGATE, ABSOLUTE, TRUNCATE = 0, 1, 2
"""Functions of `change`."""
LONGEST_DECIMAL = 44
"""The most bytes of the text of a decimal."""

_LEAST, _GREATEST = -(2**63), 2**63 - 1
"""The least and the greatest integer of 64 bits."""
_MOST_DIGITS, _DIGITS_64, _EXACT = 38, 18, 1 << 53
"""The most digits of a decimal; how many always fit 64 bits; up to where each integer is a double."""
_TENS = 10 ** np.arange(_DIGITS_64 + 1, dtype=np.int64)
_DOUBLE_TENS = 10.0 ** np.arange(23)


@kernel
def read_numbers(
    keys: Any, offsets: Any, term_kinds: Any, ids: Any, kinds: Any, integers: Any, scales: Any
) -> None:
    """Fill kinds, integers and scales with the numbers of terms, from their texts in the dictionary.

    Doubles are left to the caller, and decimals that come out as WIDE. Costs O(bytes of the texts).
    """
    for i in range(len(ids)):
        term = np.int64(ids[i])
        start, end, kind = offsets[term] + 1, offsets[term + 1], term_kinds[term]
        scales[i] = 0
        if kind == INTEGER:
            integers[i] = parse_integer(keys, start, end)
        elif kind == DECIMAL:
            kind = _read_decimal(keys, start, end, i, integers, scales)
        elif kind != DOUBLE and kind != TYPED:
            kind = NOTHING
        kinds[i] = kind


@kernel
def _read_decimal(keys: Any, start: int, end: int, i: int, integers: Any, scales: Any) -> int:
    """Read a decimal: write its integer and scale, and return DECIMAL, or WIDE if it is too long."""
    negative = keys[start] == 45
    number, digits, scale, after = np.int64(0), 0, 0, False
    for at in range(start + 1 if negative else start, end):
        if keys[at] == 46:
            after = True
            continue
        number = number * 10 + (np.int64(keys[at]) - 48)
        digits += 1 if number else 0
        scale += 1 if after else 0
        if digits > _DIGITS_64:
            return WIDE
    integers[i] = -number if negative else number
    scales[i] = scale
    _shorten(i, integers, scales)
    return DECIMAL


@kernel
def _shorten(i: int, integers: Any, scales: Any) -> None:
    """Remove the zeros at the end of a decimal."""
    number, scale = integers[i], scales[i]
    while scale > 0 and number % 10 == 0:
        number //= 10
        scale -= 1
    integers[i], scales[i] = number, scale


@kernel
def _as_double(kind: int, integer: Any, scale: Any, double: float) -> tuple[float, bool]:
    """The nearest double of a number, and whether one division gives it; otherwise Python must."""
    if kind == DOUBLE:
        return double, True
    if kind == INTEGER:
        return float(integer), True
    if kind == DECIMAL and -_EXACT <= integer <= _EXACT and scale <= 22:
        return float(integer) / _DOUBLE_TENS[scale], True
    return 0.0, False


@kernel
def _times(x: Any, y: Any) -> tuple[Any, bool]:
    """The product of two integers, and whether it fits 64 bits."""
    if x == 0 or y == 0:
        return np.int64(0), True
    if x == -1 or y == -1:
        other = y if x == -1 else x
        return np.int64(0) if other == _LEAST else -other, other != _LEAST
    # This must be known before multiplying: compilers assume that products do not overflow.
    limit = _GREATEST if (x > 0) == (y > 0) else _LEAST
    bound = limit // y
    if y > 0:
        fits = x <= bound if x > 0 else x > bound or (x == bound and limit % y == 0)
    else:
        fits = x > bound or (x == bound and limit % y == 0) if x < 0 else x <= bound
    return (x * y if fits else np.int64(0)), fits


@kernel
def _plus(x: Any, y: Any) -> tuple[Any, bool]:
    """The sum of two integers, and whether it fits 64 bits."""
    if (y > 0 and x > _GREATEST - y) or (y < 0 and x < _LEAST - y):
        return np.int64(0), False
    return x + y, True


@kernel
def _raised(x: Any, digits: Any) -> tuple[Any, bool]:
    """An integer times ten to the power `digits`, and whether it fits 64 bits."""
    if digits > _DIGITS_64:
        return x, x == 0
    return _times(x, _TENS[digits])


@kernel
def _add_decimals(x: Any, scale: Any, y: Any, other: Any) -> tuple[Any, Any, bool]:
    """The sum of two decimals as integer and scale, and whether it fits 64 bits."""
    common = max(scale, other)
    x, first = _raised(x, common - scale)
    y, second = _raised(y, common - other)
    if not (first and second):
        return x, common, False
    total, fits = _plus(x, y)
    return total, common, fits


@kernel
def _divide_exactly(x: Any, scale: Any, y: Any, other: Any) -> tuple[Any, Any, bool]:
    """The quotient of two decimals as integer and scale, and whether it is exact and fits 64 bits.

    In lowest terms, a fraction is a decimal if its denominator has no prime factors but 2 and 5.
    """
    if x == _LEAST or y == _LEAST:
        return x, scale, False
    a, b = abs(x), abs(y)
    while b:
        a, b = b, a % b
    x, y = x // a, y // a
    if y < 0:
        x, y = -x, -y
    twos = fives = 0
    while y % 2 == 0:
        y //= 2
        twos += 1
    while y % 5 == 0:
        y //= 5
        fives += 1
    places = max(twos, fives)
    if y != 1 or places > _DIGITS_64:
        return x, scale, False
    fits = True
    for _ in range(places - twos):
        x, more = _times(x, np.int64(2))
        fits = fits and more
    for _ in range(places - fives):
        x, more = _times(x, np.int64(5))
        fits = fits and more
    total = places + scale - other
    if total < 0:
        x, more = _raised(x, -total)
        fits, total = fits and more, 0
    return x, total, fits


@kernel
def operate_on_doubles(operator: int, x: float, y: float) -> float:
    """The result of an operator for two doubles as IEEE 754 defines it, without an error for x/0."""
    if operator == ADD:
        return x + y
    if operator == SUBTRACT:
        return x - y
    if operator == MULTIPLY:
        return x * y
    if y != 0.0:
        return x / y
    if x == 0.0 or np.isnan(x) or np.isnan(y):
        return np.nan
    return float(np.copysign(1.0, x) * np.copysign(1.0, y) * np.inf)


@kernel
def _operate_on_decimals(operator: int, x: Any, scale: Any, y: Any, other: Any) -> tuple[Any, Any, bool]:
    """The result of an operator for two decimals, and whether it fits 64 bits."""
    if operator == MULTIPLY:
        product, fits = _times(x, y)
        return product, scale + other, fits and scale + other <= _MOST_DIGITS
    if operator == DIVIDE:
        return _divide_exactly(x, scale, y, other)
    if operator == SUBTRACT:
        if y == _LEAST:
            return x, scale, False
        y = -y
    return _add_decimals(x, scale, y, other)


@kernel
def _operate_on_integers(operator: int, x: Any, y: Any) -> tuple[Any, bool]:
    """The result of `+`, `-` or `*` for two integers, and whether it fits 64 bits."""
    if operator == MULTIPLY:
        return _times(x, y)
    if operator == ADD:
        return _plus(x, y)
    if y == _LEAST:
        return x - y if x < 0 else np.int64(0), x < 0
    return _plus(x, -y)


@kernel
def operate(operator: int, a: Any, b: Any, result: Any, status: Any) -> None:
    """Apply one operator to two columns, row by row: fills `result` and `status`.

    A column is (kinds, integers, scales, doubles). Rows whose status is not FINE are left alone.
    """
    kinds_a, integers_a, scales_a, doubles_a = a
    kinds_b, integers_b, scales_b, doubles_b = b
    kinds, integers, scales, doubles = result
    for i in range(len(status)):
        if status[i] != FINE:
            continue
        p, q = kinds_a[i], kinds_b[i]
        if p == NOTHING or q == NOTHING:
            status[i] = ILL_TYPED
        elif p == DOUBLE or q == DOUBLE:
            x, first = _as_double(p, integers_a[i], scales_a[i], doubles_a[i])
            y, second = _as_double(q, integers_b[i], scales_b[i], doubles_b[i])
            kinds[i], doubles[i] = DOUBLE, operate_on_doubles(operator, x, y)
            status[i] = FINE if first and second else SLOW
        elif operator == DIVIDE and q != WIDE and integers_b[i] == 0:
            status[i] = DIVISION
        elif p == WIDE or q == WIDE:
            status[i] = SLOW
        elif p == INTEGER and q == INTEGER and operator != DIVIDE:
            integers[i], fits = _operate_on_integers(operator, integers_a[i], integers_b[i])
            kinds[i] = INTEGER
            status[i] = FINE if fits else OVERFLOW
        else:
            integers[i], scales[i], fits = _operate_on_decimals(
                operator, integers_a[i], scales_a[i], integers_b[i], scales_b[i]
            )
            kinds[i] = DECIMAL
            _shorten(i, integers, scales)
            status[i] = FINE if fits else SLOW


@kernel
def change(function: int, a: Any, result: Any, status: Any) -> None:
    """Apply one function to a column, row by row, as `operate` does."""
    kinds_a, integers_a, scales_a, doubles_a = a
    kinds, integers, scales, doubles = result
    for i in range(len(status)):
        if status[i] != FINE:
            continue
        kind, x, y = kinds_a[i], integers_a[i], doubles_a[i]
        kinds[i], scales[i] = kind, scales_a[i]
        if kind == NOTHING:
            status[i] = ILL_TYPED
        elif kind == WIDE:
            status[i] = SLOW
        elif function == TRUNCATE:
            status[i] = _truncate(i, kind, x, y, kinds, integers, scales)
        elif kind == DOUBLE:
            doubles[i] = -y if function == NEGATE else abs(y)
        elif x == _LEAST and function in (NEGATE, ABSOLUTE):
            status[i] = OVERFLOW if kind == INTEGER else SLOW
        else:
            integers[i] = -x if function == NEGATE else abs(x)


@kernel
def _truncate(i: int, kind: int, x: Any, y: float, kinds: Any, integers: Any, scales: Any) -> int:
    """Write the integer part of a number, which is an integer, and return the status of the row."""
    scale = scales[i]
    kinds[i], scales[i] = INTEGER, 0
    if kind == DOUBLE:
        if np.isnan(y):
            return ILL_TYPED
        if not -9223372036854775808.0 <= y < 9223372036854775808.0:
            return OVERFLOW
        integers[i] = np.int64(y)
    elif scale == 0:
        integers[i] = x
    elif scale > _DIGITS_64:
        integers[i] = 0
    else:
        # -_LEAST does not fit. No power of ten divides _LEAST, so _LEAST + 1 has the same integer part.
        positive = -(x if x != _LEAST else x + 1) if x < 0 else x
        integers[i] = positive // _TENS[scale] * (-1 if x < 0 else 1)
    return FINE


@kernel
def format_decimals(values: Any, scales: Any, out: Any, offsets: Any) -> int:
    """Write the texts of decimals one after the other, with `offsets` between them; returns their length.

    `out` needs room for LONGEST_DECIMAL bytes each.
    """
    digits = np.empty(_MOST_DIGITS + 2, np.uint8)
    at = 0
    offsets[0] = 0
    for i in range(len(values)):
        value, scale = np.int64(values[i]), np.int64(scales[i])
        rest: Any = value if value < 0 else -value
        count = 0
        while rest != 0 or count <= scale:
            # Digits are taken from the negative number: _LEAST has no positive counterpart.
            quotient = -((-rest) // 10) if rest > -9223372036854775807 else -922337203685477580
            digits[count] = 48 + (quotient * 10 - rest)
            count += 1
            rest = quotient
        if value < 0:
            out[at] = 45
            at += 1
        for j in range(count - 1, -1, -1):
            if j == scale - 1:
                out[at] = 46
                at += 1
            out[at] = digits[j]
            at += 1
        if scale == 0:
            out[at], out[at + 1] = 46, 48
            at += 2
        offsets[i + 1] = at
    return at
