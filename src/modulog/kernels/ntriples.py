"""Lines of N-Triples and N-Quads: where their terms are, and keys as bytes.

A line is split into stretches of the buffer that it lies in. Kinds are those of terms; a literal with an escape, a
language or a datatype is AWKWARD and keeps its whole stretch, quotes included, for others to read. The grammar is
https://www.w3.org/TR/n-triples/ without the check that escapes name characters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from modulog.kernels.compiled import kernel

AWKWARD, STRING, IRI, BLANK, NOTHING = 0, 1, 6, 7, 255
GOOD, EMPTY = 0, 1
BAD_SUBJECT, BAD_PREDICATE, BAD_OBJECT, BAD_GRAPH, BAD_END = 2, 3, 4, 5, 6

_TAB, _SPACE, _QUOTE, _HASH, _PLUS, _MINUS, _POINT, _COLON = 9, 32, 34, 35, 43, 45, 46, 58
_LESS, _GREATER, _AT, _BACKSLASH, _CARET, _UNDERSCORE, _U, _SMALL_U = 60, 62, 64, 92, 94, 95, 85, 117
_LONGEST_SUBTAG = 8
_ESCAPED = np.zeros(256, np.bool_)
_ESCAPED[np.frombuffer(b"tbnrf\"'\\", np.uint8)] = True
_NOT_IN_IRI = np.zeros(256, np.bool_)
_NOT_IN_IRI[:33] = True
_NOT_IN_IRI[np.frombuffer(b'<>"{}|^`\\', np.uint8)] = True
_HEX = np.zeros(256, np.bool_)
_HEX[np.frombuffer(b"0123456789abcdefABCDEF", np.uint8)] = True
_LETTER = np.zeros(256, np.bool_)
_LETTER[65:91] = _LETTER[97:123] = True
_LABEL_START = _LETTER.copy()
_LABEL_START[48:58] = _LABEL_START[128:] = True
_LABEL_START[[_UNDERSCORE, _COLON]] = True
_LABEL = _LABEL_START.copy()
_LABEL[[_MINUS, _POINT]] = True
_TAG = _LETTER.copy()
_TAG[48:58] = True
_TAG[_MINUS] = True
_SCHEME = _TAG.copy()
_SCHEME[[_PLUS, _POINT]] = True


@kernel
def _skip(data: Any, at: int, end: int) -> int:
    while at < end and (data[at] == _SPACE or data[at] == _TAB):
        at += 1
    return at


@kernel
def _escape_end(data: Any, at: int, end: int, text: bool) -> int:
    """The place behind an escape that starts at a backslash, -1 if it is none."""
    if at + 1 >= end:
        return -1
    letter = data[at + 1]
    digits = 4 if letter == _SMALL_U else (8 if letter == _U else 0)
    if digits == 0:
        return at + 2 if text and _ESCAPED[letter] else -1
    if at + 2 + digits > end:
        return -1
    for i in range(at + 2, at + 2 + digits):
        if not _HEX[data[i]]:
            return -1
    return at + 2 + digits


@kernel
def _iri(data: Any, at: int, end: int) -> tuple[int, bool]:
    """The place behind `<…>`, -1 if it is no absolute IRI, and whether it has an escape."""
    at += 1
    if at >= end or not _LETTER[data[at]]:
        return -1, False
    scheme, escaped = False, False
    while at < end:
        byte = data[at]
        if byte == _GREATER:
            return (at + 1 if scheme else -1), escaped
        if byte == _BACKSLASH:
            at = _escape_end(data, at, end, False)
            if at < 0:
                return -1, False
            escaped = True
            continue
        if _NOT_IN_IRI[byte]:
            return -1, False
        if not scheme:
            if byte == _COLON:
                scheme = True
            elif not _SCHEME[byte]:
                return -1, False
        at += 1
    return -1, False


@kernel
def _blank(data: Any, at: int, end: int) -> int:
    """The place behind `_:label`, -1 if it is none; a point at the end is not part of it."""
    if at + 2 >= end or data[at + 1] != _COLON or not _LABEL_START[data[at + 2]]:
        return -1
    at += 3
    while at < end and _LABEL[data[at]]:
        at += 1
    while data[at - 1] == _POINT:
        at -= 1
    return at


@kernel
def _tag_end(data: Any, at: int, end: int) -> int:
    """The place behind a language tag, -1 if it is none: parts of one to eight letters, later ones with digits."""
    first, size = True, 0
    while at < end and _TAG[data[at]]:
        if data[at] == _MINUS:
            if size == 0:
                return -1
            first, size = False, 0
        else:
            size += 1
            if size > _LONGEST_SUBTAG or (first and not _LETTER[data[at]]):
                return -1
        at += 1
    return at if size else -1


@kernel
def _literal(data: Any, at: int, end: int) -> tuple[int, bool]:
    """The place behind a literal, -1 if it is none, and whether it is more than a text in quotes."""
    at += 1
    awkward = False
    while True:
        if at >= end:
            return -1, False
        byte = data[at]
        if byte == _QUOTE:
            at += 1
            break
        if byte == _BACKSLASH:
            awkward = True
            at = _escape_end(data, at, end, True)
            if at < 0:
                return -1, False
        else:
            at += 1
    behind = _skip(data, at, end)
    if behind < end and data[behind] == _AT:
        return _tag_end(data, behind + 1, end), True
    if behind + 1 < end and data[behind] == _CARET and data[behind + 1] == _CARET:
        at = _skip(data, behind + 2, end)
        if at == end or data[at] != _LESS:
            return -1, False
        at, _ = _iri(data, at, end)
        return at, True
    return at, awkward


@kernel
def _term(data: Any, at: int, end: int, blank: bool, literal: bool) -> tuple[int, int, int, int]:
    """The place behind a term (-1 if there is none), its kind and its stretch."""
    if at >= end:
        return -1, 0, 0, 0
    byte = data[at]
    if byte == _LESS:
        after, escaped = _iri(data, at, end)
        if escaped:
            return after, AWKWARD, at, after
        return after, IRI, at + 1, after - 1
    if byte == _UNDERSCORE and blank:
        after = _blank(data, at, end)
        return after, BLANK, at + 2, after
    if byte == _QUOTE and literal:
        after, awkward = _literal(data, at, end)
        if awkward:
            return after, AWKWARD, at, after
        return after, STRING, at + 1, after - 1
    return -1, 0, 0, 0


@kernel
def split_line(
    data: Any, at: int, end: int, quads: bool, row: int, starts: Any, ends: Any, kinds: Any
) -> int:
    """Fill one column of `starts`, `ends` and `kinds` (subject, predicate, object, graph); answers what the line is."""
    at = _skip(data, at, end)
    if at == end or data[at] == _HASH:
        return EMPTY
    for place in range(3):
        after, kind, start, stop = _term(data, at, end, place != 1, place == 2)
        if after < 0:
            return BAD_SUBJECT + place
        starts[place, row], ends[place, row], kinds[place, row] = start, stop, kind
        at = _skip(data, after, end)
    if quads:
        starts[3, row] = ends[3, row] = at
        kinds[3, row] = NOTHING
        if at < end and data[at] != _POINT:
            after, kind, start, stop = _term(data, at, end, True, False)
            if after < 0:
                return BAD_GRAPH
            starts[3, row], ends[3, row], kinds[3, row] = start, stop, kind
            at = _skip(data, after, end)
    if at >= end or data[at] != _POINT:
        return BAD_END
    at = _skip(data, at + 1, end)
    return GOOD if at == end or data[at] == _HASH else BAD_END


@kernel
def split_lines(data: Any, offsets: Any, quads: bool, starts: Any, ends: Any, kinds: Any, states: Any) -> int:
    """Split every line `data[offsets[i]:offsets[i + 1]]`; answers how many are bad."""
    bad = 0
    for i in range(len(states)):
        state = split_line(data, offsets[i], offsets[i + 1], quads, i, starts, ends, kinds)
        states[i] = state
        bad += state > EMPTY
    return bad


@kernel
def measure_keys(starts: Any, ends: Any, offsets: Any) -> int:
    """Fill `offsets` with running lengths of the keys of texts: a byte more than each text; answers the total."""
    total = 0
    offsets[0] = 0
    for i in range(len(starts)):
        total += ends[i] - starts[i] + 1
        offsets[i + 1] = total
    return total


@kernel
def write_keys(data: Any, starts: Any, ends: Any, kinds: Any, out: Any) -> None:
    """Write the kind and the text of every stretch, one after the other."""
    at = 0
    for i in range(len(starts)):
        out[at] = kinds[i]
        at += 1
        for j in range(starts[i], ends[i]):
            out[at] = data[j]
            at += 1


@kernel
def check_fields(data: Any, offsets: Any, delimiter: int, widths: Any) -> None:
    """Fill `widths` with the number of fields of each line of a CSV file: 0 if it is empty, -1 if a quote stays open."""
    for i in range(len(widths)):
        at, end = offsets[i], offsets[i + 1]
        if at == end:
            widths[i] = 0
            continue
        fields, fresh, quoted = 1, True, False
        while at < end:
            byte = data[at]
            if quoted:
                if byte == _QUOTE:
                    if at + 1 < end and data[at + 1] == _QUOTE:
                        at += 1
                    else:
                        quoted = False
                fresh = False
            elif fresh and byte == _QUOTE:
                quoted, fresh = True, False
            else:
                fresh = byte == delimiter
                fields += fresh
            at += 1
        widths[i] = -1 if quoted else fields
