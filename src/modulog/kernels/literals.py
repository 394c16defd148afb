"""Literals of N-Triples as keys: escapes are resolved, and the language or the datatype stands in front.

This covers the common forms. Any other literal (a double, a number that is not canonical, an unusual tag)
stays AWKWARD, and pyoxigraph reads it. Every kernel is one pass, O(bytes).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.ntriples import AWKWARD, STRING, iri_end

INTEGER, DECIMAL, BOOLEAN, LANGUAGE, TYPED = 2, 3, 5, 8, 9
_QUOTE, _MINUS, _POINT, _ZERO, _NINE, _AT, _BACKSLASH, _CARET = 34, 45, 46, 48, 57, 64, 92, 94
_U, _SMALL_A, _SMALL_U, _SMALL_Z = 85, 97, 117, 122
_SURROGATES, _BEHIND_SURROGATES, _LAST_CHARACTER = 0xD800, 0xE000, 0x10FFFF
_LONGEST_INTEGER, _LONGEST_DECIMAL = 18, 38  # digits of numbers that surely fit their kind


def _bytes(text: str) -> Any:
    return np.frombuffer(text.encode(), np.uint8)


_XSD = _bytes("http://www.w3.org/2001/XMLSchema#")
_RDF = _bytes("http://www.w3.org/1999/02/22-rdf-syntax-ns#")
_STRING_NAME, _INTEGER_NAME, _DECIMAL_NAME = _bytes("string"), _bytes("integer"), _bytes("decimal")
_BOOLEAN_NAME, _DATE_NAME, _MOMENT_NAME, _URI_NAME = map(_bytes, ("boolean", "date", "dateTime", "anyURI"))
_TRUE, _FALSE = _bytes("true"), _bytes("false")
_PLAIN_ESCAPES = np.zeros(256, np.uint8)
for _letter, _meant in zip(b"tbnrf\"'\\", b"\t\b\n\r\f\"'\\", strict=True):
    _PLAIN_ESCAPES[_letter] = _meant


@kernel
def _equals(data: Any, start: int, end: int, text: Any) -> bool:
    """Whether a part of the data is this text."""
    if end - start != len(text):
        return False
    for i in range(len(text)):
        if data[start + i] != text[i]:
            return False
    return True


@kernel
def _copy(data: Any, start: int, end: int, out: Any, at: int) -> int:
    """Copy a part of the data; returns the place behind the copy."""
    for i in range(start, end):
        out[at + i - start] = data[i]
    return at + end - start


@kernel
def _write_character(code: int, out: Any, at: int) -> int:
    """Write a character in UTF-8; returns the place behind it."""
    if code < 0x80:
        out[at] = code
        return at + 1
    size = 2 if code < 0x800 else (3 if code < 0x10000 else 4)
    for i in range(size - 1, 0, -1):
        out[at + i] = 0x80 | (code & 0x3F)
        code >>= 6
    out[at] = ((0xF00 >> size) & 0xFF) | code
    return at + size


@kernel
def _unescape(data: Any, start: int, end: int, out: Any, at: int) -> int:
    """Write a text with its escapes resolved; returns the place behind it, -1 if one is no character."""
    i = start
    while i < end:
        byte = data[i]
        if byte != _BACKSLASH:
            out[at] = byte
            at += 1
            i += 1
            continue
        letter = data[i + 1]
        digits = 4 if letter == _SMALL_U else (8 if letter == _U else 0)
        i += 2
        if digits == 0:
            out[at] = _PLAIN_ESCAPES[letter]
            at += 1
            continue
        code: Any = 0
        for j in range(i, i + digits):
            # The low four bits of a digit are its value, those of a letter its value less nine.
            code = (code << 4) | (np.int64(data[j] & 15) + (9 if data[j] > _NINE else 0))
        if _SURROGATES <= code < _BEHIND_SURROGATES or code > _LAST_CHARACTER:
            return -1
        at = _write_character(code, out, at)
        i += digits
    return at


@kernel
def _is_simple_tag(data: Any, start: int, end: int) -> bool:
    """Whether this is a language of two or three letters, perhaps with a country or a script."""
    head = 0
    while start + head < end and data[start + head] != _MINUS:
        head += 1
    rest = end - start - head - 1
    if head < 2 or head > 3 or (rest >= 0 and rest != 2 and rest != 4):
        return False
    for i in range(start, end):
        letter = _SMALL_A <= data[i] | 32 <= _SMALL_Z
        if not letter and i != start + head:
            return False
    return True


@kernel
def _number_kind(data: Any, start: int, end: int) -> int:
    """INTEGER or DECIMAL for a canonical text of a number that surely fits its kind, else AWKWARD."""
    at = start + (start < end and data[start] == _MINUS)
    first, point = at, -1
    while at < end:
        if data[at] == _POINT and point < 0 and at > first:
            point = at
        elif not _ZERO <= data[at] <= _NINE:
            return AWKWARD
        at += 1
    whole = (end if point < 0 else point) - first
    if whole == 0 or (whole > 1 and data[first] == _ZERO):
        return AWKWARD
    negative_zero = first > start and data[first] == _ZERO and (point < 0 or end - point == 2)
    if point < 0:
        return AWKWARD if negative_zero or whole > _LONGEST_INTEGER else INTEGER
    fraction = end - point - 1
    if fraction == 0 or whole + fraction > _LONGEST_DECIMAL or (fraction > 1 and data[end - 1] == _ZERO):
        return AWKWARD
    return AWKWARD if negative_zero and data[end - 1] == _ZERO else DECIMAL


@kernel
def _typed_kind(data: Any, text: int, text_end: int, name: int, name_end: int) -> int:
    """The kind of a literal with a datatype; AWKWARD if its text may not be canonical."""
    space = name + len(_XSD)
    if space > name_end or not _equals(data, name, space, _XSD):
        space = name + len(_RDF)
        return AWKWARD if space <= name_end and _equals(data, name, space, _RDF) else TYPED
    if _equals(data, space, name_end, _STRING_NAME):
        return STRING
    if _equals(data, space, name_end, _INTEGER_NAME):
        return INTEGER if _number_kind(data, text, text_end) == INTEGER else AWKWARD
    if _equals(data, space, name_end, _DECIMAL_NAME):
        return DECIMAL if _number_kind(data, text, text_end) == DECIMAL else AWKWARD
    if _equals(data, space, name_end, _BOOLEAN_NAME):
        good = _equals(data, text, text_end, _TRUE) or _equals(data, text, text_end, _FALSE)
        return BOOLEAN if good else AWKWARD
    for known in (_DATE_NAME, _MOMENT_NAME, _URI_NAME):
        if _equals(data, space, name_end, known):
            return TYPED
    return AWKWARD


@kernel
def _write_key(data: Any, start: int, end: int, out: Any, at: int) -> tuple[int, int]:
    """Write the key of a literal, but for its kind; returns the place behind it and the kind.

    The kind is AWKWARD, and nothing is written, if this is not one of the common forms.
    """
    quote = end - 1
    while data[quote] != _QUOTE:
        quote -= 1
    behind = quote + 1
    kind, qualifier, qualifier_end = STRING, end, end
    if behind < end and data[behind] == _AT:
        kind, qualifier = LANGUAGE, behind + 1
        if not _is_simple_tag(data, qualifier, end):
            return at, AWKWARD
    elif behind < end:
        name = behind + 2
        if data[behind] != _CARET or data[name - 1] != _CARET or data[name] != 60:
            return at, AWKWARD  # there are blanks in between
        if iri_end(data, name, end)[1]:
            return at, AWKWARD
        qualifier, qualifier_end = name + 1, end - 1
        kind = _typed_kind(data, start + 1, quote, qualifier, qualifier_end)
    if kind == AWKWARD:
        return at, AWKWARD
    begin = at
    if kind >= LANGUAGE:
        at = _copy(data, qualifier, qualifier_end, out, at)
        if kind == LANGUAGE:
            for i in range(begin, at):
                out[i] = out[i] | 32 if out[i] != _MINUS else _MINUS
        out[at] = 0
        at += 1
    at = _unescape(data, start + 1, quote, out, at)
    return (begin, AWKWARD) if at < 0 else (at, kind)


@kernel
def read_literals(data: Any, rows: Any, starts: Any, ends: Any, kinds: Any, out: Any) -> int:
    """Give the literals in these rows their kinds and keys; returns how many bytes were written.

    The keys are written to `out`, and `starts` and `ends` of the rows are set as if `out` were appended to
    `data`. Literals that stay AWKWARD, and other terms, are left alone.
    """
    at, size = 0, len(data)
    for j in range(len(rows)):
        i = rows[j]
        if data[starts[i]] == _QUOTE:
            begin = at
            at, kind = _write_key(data, starts[i], ends[i], out, at)
            if kind != AWKWARD:
                kinds[i], starts[i], ends[i] = kind, size + begin, size + at
    return at
