"""Fields of CSV files: which term a field means, which fields stood in quotes, and rows as bytes.

A field is an integer, a decimal, an IRI or a string by its bytes; a field in quotes is always a string. A
reader of CSV removes the quotes, so `mark_fields` puts the byte 1 in front of the text of each field that is
a string whatever it looks like, before PyArrow splits the rows. Every kernel is one pass, O(bytes).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from modulog.kernels.compiled import kernel
from modulog.kernels.strings import AHEAD, prefetch

AWKWARD, STRING, INTEGER, DECIMAL, IRI = 0, 1, 2, 3, 6
"""The kinds of terms; AWKWARD is a number that is too long for these kernels."""
MARK = 1
"""The byte in front of a field that is a string whatever it looks like."""

_NEWLINE, _RETURN, _QUOTE, _MINUS, _POINT, _ZERO, _NINE, _LESS, _GREATER = 10, 13, 34, 45, 46, 48, 57, 60, 62
_LARGEST = np.frombuffer(b"9223372036854775807", np.uint8)
"""The digits of the greatest integer of 64 bits."""
_NEEDS_QUOTES = np.zeros(256, np.bool_)
_NEEDS_QUOTES[np.frombuffer(b'"\n\r', np.uint8)] = True
_FORBIDDEN = np.zeros(256, np.bool_)
"""The bytes that no IRI has."""
_FORBIDDEN[:33] = True
_FORBIDDEN[np.frombuffer(b'<>"{}|^`\\', np.uint8)] = True


@kernel
def read_number(data: Any, start: int, end: int) -> tuple[int, int, int]:
    """The kind and the canonical part of a field that starts with a digit or a minus."""
    at = start + 1 if data[start] == _MINUS else start
    first = at
    while at < end and _ZERO <= data[at] <= _NINE:
        at += 1
    digits = at - first
    if digits == 0 or (digits > 1 and data[first] == _ZERO):
        return STRING, start, end
    zero = digits == 1 and data[first] == _ZERO
    if at == end:
        if digits > 19 or (digits == 19 and _beyond(data, first, start != first)):
            return AWKWARD, start, end
        return INTEGER, first if zero else start, end
    if data[at] != _POINT or at + 1 == end:
        return STRING, start, end
    for i in range(at + 1, end):
        if not _ZERO <= data[i] <= _NINE:
            return STRING, start, end
    stop = end
    while stop > at + 2 and data[stop - 1] == _ZERO:
        stop -= 1
    fraction = 0 if stop == at + 2 and data[at + 1] == _ZERO else stop - at - 1
    if (0 if zero else digits) + fraction > 38:
        return AWKWARD, start, end
    return DECIMAL, first if zero and fraction == 0 else start, stop


@kernel
def _beyond(data: Any, first: int, negative: bool) -> bool:
    """Whether these 19 digits are an integer too big for 64 bits."""
    for i in range(19):
        digit = np.int64(data[first + i])
        limit = np.int64(_LARGEST[i]) + (1 if negative and i == 18 else 0)
        if digit != limit:
            return bool(digit > limit)
    return False


@kernel
def read_field(data: Any, start: int, end: int) -> tuple[int, int, int]:
    """The kind and the canonical part of a field that was not in quotes."""
    if start == end:
        return STRING, start, end
    byte = data[start]
    if byte == _MINUS or _ZERO <= byte <= _NINE:
        return read_number(data, start, end)
    if byte == _LESS and end - start > 2 and data[end - 1] == _GREATER:
        for i in range(start + 1, end - 1):
            if _FORBIDDEN[data[i]]:
                return STRING, start, end
        return IRI, start + 1, end - 1
    return STRING, start, end


@kernel
def read_fields(data: Any, starts: Any, ends: Any, kinds: Any, typed: bool, marked: bool) -> int:
    """Set the kind of every field `data[starts[i]:ends[i]]`, and narrow it to its canonical text.

    Fields with a mark are strings; so are all others unless `typed`. Returns how many are AWKWARD: numbers
    too long for 64 bits or 38 digits, which are not narrowed.
    """
    awkward = 0
    for i in range(len(starts)):
        start, end = starts[i], ends[i]
        kind = STRING
        if marked and start < end and data[start] == MARK:
            start += 1
        elif typed:
            kind, start, end = read_field(data, start, end)
            awkward += kind == AWKWARD
        starts[i], ends[i], kinds[i] = start, end, kind
    return awkward


@kernel
def mark_fields(block: Any, delimiter: int, final: bool, out: Any) -> tuple[int, int, int]:
    """Copy the whole rows of a block into `out`, with a mark in front of every field that is surely a string.

    These are the fields in quotes, and those that start with the byte of the mark. The block starts with a
    row; `final` says that the file ends with it. Returns how many bytes were read, how many written, and
    where a field in quotes opens that does not close in the block, -1 if there is none. `out` needs half as
    much room again.
    """
    read = written = wrote = at = 0
    fresh, quoted, opened = True, False, -1
    while at < len(block):
        byte = block[at]
        if quoted:
            out[wrote] = byte
            wrote += 1
            if byte == _QUOTE:
                if at + 1 < len(block) and block[at + 1] == _QUOTE:
                    out[wrote] = byte
                    wrote += 1
                    at += 1
                else:
                    quoted = False
        else:
            if fresh and byte == MARK:
                out[wrote] = MARK
                wrote += 1
            out[wrote] = byte
            wrote += 1
            if fresh and byte == _QUOTE:
                out[wrote] = MARK
                wrote += 1
                quoted, opened = True, at
            fresh = byte == delimiter
            if byte == _NEWLINE or (byte == _RETURN and (at + 1 < len(block) or final)):
                if byte == _RETURN and at + 1 < len(block) and block[at + 1] == _NEWLINE:
                    at += 1
                    out[wrote] = _NEWLINE
                    wrote += 1
                fresh = True
                read, written = at + 1, wrote
        at += 1
    return read, written, opened if quoted else -1


@kernel
def _plain(data: Any, start: int, end: int, delimiter: int, alone: bool) -> bool:
    """Whether a string is read back as itself without quotes; `alone`: the row has no other field."""
    if start == end:
        return not alone
    if data[start] == 0xEF:
        return False
    for i in range(start, end):
        byte = data[i]
        if byte == delimiter or _NEEDS_QUOTES[byte]:
            return False
    return bool(read_field(data, start, end)[0] == STRING)


@kernel
def _write_quoted(data: Any, start: int, end: int, out: Any, at: int) -> int:
    """Write a text in quotes, with quotes in it doubled; returns the place behind it."""
    out[at] = _QUOTE
    at += 1
    for i in range(start, end):
        if data[i] == _QUOTE:
            out[at] = _QUOTE
            at += 1
        out[at] = data[i]
        at += 1
    out[at] = _QUOTE
    return at + 1


@kernel
def _write_iri(data: Any, start: int, end: int, delimiter: int, out: Any, at: int) -> int:
    """Write `<…>`, in quotes if it would not be read back as this IRI; returns the place behind it."""
    readable = start < end
    for i in range(start, end):
        readable = readable and not _FORBIDDEN[data[i]] and data[i] != delimiter
    first = at if readable else at + 1
    out[first] = _LESS
    first += 1
    for i in range(start, end):
        out[first] = data[i]
        first += 1
        if data[i] == _QUOTE:
            out[first] = _QUOTE
            first += 1
    out[first] = _GREATER
    if readable:
        return first + 1
    out[at] = out[first + 1] = _QUOTE
    return first + 2


class Keys(NamedTuple):
    """The terms of a dictionary: term i has the key `data[offsets[i]:offsets[i + 1]]` and the kind
    `kinds[i]`.
    """

    data: Any
    offsets: Any
    kinds: Any


class Fields(NamedTuple):
    """Fields that are ready to be written: field f is `data[offsets[f]:offsets[f + 1]]`.

    `places`, of the shape of the ids, says which field a place of a row has, if it has one.
    """

    places: Any
    data: Any
    offsets: Any


@kernel
def write_rows(keys: Keys, fields: Fields, ids: Any, delimiter: int, out: Any) -> tuple[int, int]:
    """Write the rows of `ids`, of shape (arity, rows), as CSV.

    Terms that are no string, integer, decimal or IRI are written as their fields in `fields`. Returns how
    many bytes were written, and how many IRIs are in quotes. One pass over rows and texts: O(bytes written).
    """
    data, offsets, kinds = keys
    at = quoted = 0
    arity, rows = ids.shape
    for row in range(rows):
        for column in range(arity):
            prefetch(offsets, np.int64(ids[column, min(row + 2 * AHEAD, rows - 1)]))
            prefetch(data, offsets[np.int64(ids[column, min(row + AHEAD, rows - 1)])])
            if column:
                out[at] = delimiter
                at += 1
            term = np.int64(ids[column, row])
            kind = kinds[term]
            start, end = offsets[term] + 1, offsets[term + 1]
            if kind == STRING:
                if not _plain(data, start, end, delimiter, arity == 1):
                    at = _write_quoted(data, start, end, out, at)
                    continue
            elif kind == IRI:
                before, at = at, _write_iri(data, start, end, delimiter, out, at)
                quoted += out[before] == _QUOTE
                continue
            elif kind > DECIMAL:
                field = fields.places[column, row]
                for i in range(fields.offsets[field], fields.offsets[field + 1]):
                    out[at] = fields.data[i]
                    at += 1
                continue
            for i in range(start, end):
                out[at] = data[i]
                at += 1
        out[at] = _NEWLINE
        at += 1
    return at, quoted
