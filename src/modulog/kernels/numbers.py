"""Numbers and their texts: integers to text and back, and the values of terms that are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.strings import AHEAD, prefetch

INTEGER, DECIMAL, DOUBLE = 2, 3, 4
"""The kinds of terms."""
LONGEST_INTEGER = 20
"""The most bytes of the text of an integer."""
_DIGITS_EXACT = 15
"""So many decimal digits always fit a double exactly."""
_POWERS = 10.0 ** np.arange(23)
"""The powers of ten that are doubles exactly."""


@kernel
def format_integers(values: Any, out: Any, offsets: Any) -> int:
    """Write the texts of integers one after the other, with `offsets` between them; returns their length."""
    digits = np.empty(LONGEST_INTEGER, np.uint8)
    at = 0
    offsets[0] = 0
    for i in range(len(values)):
        value = np.int64(values[i])
        # Digits are taken from the negative number: the least integer has no positive counterpart.
        rest: Any = value if value < 0 else -value
        count = 0
        while True:
            quotient = -((-rest) // 10) if rest > -9223372036854775807 else -922337203685477580
            digits[count] = 48 + (quotient * 10 - rest)
            count += 1
            rest = quotient
            if rest == 0:
                break
        if value < 0:
            out[at] = 45
            at += 1
        for j in range(count):
            out[at + j] = digits[count - 1 - j]
        at += count
        offsets[i + 1] = at
    return at


@kernel
def parse_integer(keys: Any, start: int, end: int) -> Any:
    """The value of the canonical text of an integer of 64 bits."""
    negative = keys[start] == 45
    value = np.int64(0)
    for i in range(start + 1 if negative else start, end):
        value = value * 10 - (np.int64(keys[i]) - 48)
    return value if negative else -value


@kernel
def parse_integers(keys: Any, offsets: Any, ids: Any, out: Any) -> None:
    """Fill `out` with the values of terms that are integers. O(bytes of the texts)."""
    last = len(ids) - 1
    for i in range(len(ids)):
        prefetch(offsets, np.int64(ids[min(i + 2 * AHEAD, last)]))
        prefetch(keys, offsets[np.int64(ids[min(i + AHEAD, last)])])
        term = np.int64(ids[i])
        out[i] = parse_integer(keys, offsets[term] + 1, offsets[term + 1])


@kernel
def parse_numbers(
    keys: Any, offsets: Any, kinds: Any, first: int, integers: Any, doubles: Any, exact: Any, known: Any
) -> None:
    """Fill the values of the terms from `first` on that are integers, or short decimals and doubles.

    `doubles` gets the nearest double, `exact` whether it is the value itself, `known` whether the term was
    read here. Entry i of these four arrays is that of the term `first + i`. O(bytes of the texts).
    """
    for i in range(len(known)):
        term = first + i
        start, end = offsets[term] + 1, offsets[term + 1]
        if kinds[term] == INTEGER:
            integers[i] = parse_integer(keys, start, end)
            doubles[i] = float(integers[i])
            exact[i] = -(1 << 53) <= integers[i] <= 1 << 53
            known[i] = True
        elif kinds[term] == DECIMAL or kinds[term] == DOUBLE:
            _parse_fraction(keys, start, end, i, doubles, exact, known)


@kernel
def _parse_fraction(keys: Any, start: int, end: int, term: int, doubles: Any, exact: Any, known: Any) -> None:
    """Read a decimal or a double if one multiplication or division gives the nearest double.

    It does if the digits and the power of ten are doubles exactly (Clinger 1990).
    """
    negative = keys[start] == 45
    at = start + 1 if negative else start
    number, digits, scale, after = np.int64(0), 0, 0, False
    while at < end and keys[at] != 69:
        if keys[at] == 46:
            after = True
        elif 48 <= keys[at] <= 57 and digits < 18:
            number = number * 10 + (np.int64(keys[at]) - 48)
            digits += 1 if number else 0
            scale += 1 if after else 0
        else:
            return
        at += 1
    double = at < end
    if double:
        exponent = parse_integer(keys, at + 1, end)
        while scale and number % 10 == 0:
            number //= 10
            scale -= 1
            digits -= 1
        scale -= exponent
    if digits > _DIGITS_EXACT or not -22 <= scale <= 22:
        return
    value = number / _POWERS[scale] if scale >= 0 else number * _POWERS[-scale]
    doubles[term] = -value if negative else value
    exact[term] = double or number % 5**scale == 0
    known[term] = True
