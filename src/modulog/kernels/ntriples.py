"""Lines of N-Triples and N-Quads: find the terms of a line, and check them against the grammar.

A term is a part of the buffer of its line, given by start and end, with the kind of the term. A literal with
an escape, a language or a datatype, and an IRI or a label that needs a closer look, has the kind AWKWARD and
keeps its quotes or brackets; `literals.py` or pyoxigraph read it. The grammar is
https://www.w3.org/TR/n-triples/. Every kernel is one pass, O(bytes).

Functions that read a term return the place behind it, or -1 if there is no term of the kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from modulog.kernels.compiled import kernel

AWKWARD, STRING, IRI, BLANK, NOTHING = 0, 1, 6, 7, 255
"""The kinds of terms; NOTHING is the default graph."""
GOOD, EMPTY = 0, 1
"""What a line is; other numbers say which of its parts is wrong."""
DOUBTFUL, BAD = 1, 2
"""What `check_iris` says of an IRI that must be looked at, or is wrong."""
BAD_SUBJECT, BAD_PREDICATE, BAD_OBJECT, BAD_GRAPH, BAD_END = 2, 3, 4, 5, 6
"""Which part of a line is wrong."""

_TAB, _LF, _CR, _SPACE, _QUOTE, _HASH, _PERCENT, _PLUS, _MINUS = 9, 10, 13, 32, 34, 35, 37, 43, 45
_POINT, _SLASH, _COLON, _LESS, _GREATER, _QUESTION, _AT = 46, 47, 58, 60, 62, 63, 64
_BRACKET, _BACKSLASH, _CLOSING, _CARET, _UNDERSCORE, _U, _SMALL_U = 91, 92, 93, 94, 95, 85, 117
_ESCAPED = np.zeros(256, np.bool_)
_ESCAPED[np.frombuffer(b"tbnrf\"'\\", np.uint8)] = True
_HEX = np.zeros(256, np.bool_)
_HEX[np.frombuffer(b"0123456789abcdefABCDEF", np.uint8)] = True
_LETTER = np.zeros(256, np.bool_)
_LETTER[65:91] = _LETTER[97:123] = True
_LABEL_START = _LETTER.copy()
_LABEL_START[48:58] = _LABEL_START[128:] = True
_LABEL_START[_UNDERSCORE] = True
_LABEL = _LABEL_START.copy()
_LABEL[[_MINUS, _POINT]] = True
_TAG = _LETTER.copy()
_TAG[48:58] = True
_TAG[_MINUS] = True
_SCHEME = _TAG.copy()
_SCHEME[[_PLUS, _POINT]] = True
_IN_IRI = _TAG.copy()
"""The ASCII characters that may stand anywhere in an IRI behind its scheme."""
_IN_IRI[np.frombuffer(b"._~!$&'()*+,;=:@/?", np.uint8)] = True


@kernel
def _skip(data: Any, at: int, end: int) -> int:
    """The first place from `at` on that is neither a space nor a tab."""
    while at < end and (data[at] == _SPACE or data[at] == _TAB):
        at += 1
    return at


@kernel
def _escape_end(data: Any, at: int, end: int, text: bool) -> int:
    """The place behind an escape, which starts with a backslash, -1 if it is none that a text or IRI has."""
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
def _iri_character(data: Any, at: int, end: int) -> int:
    """The bytes of a character beyond ASCII that every part of an IRI may have; 0 if it is another."""
    first: Any = np.int64(data[at])
    size = 2 if first < 0xE0 else (3 if first < 0xF0 else 4)
    if at + size > end:
        return 0
    code: Any = first & (0x7F >> size)
    for i in range(at + 1, at + size):
        code = (code << 6) | (np.int64(data[i]) & 0x3F)
    if code < 0x10000:
        good = 0xA0 <= code <= 0xD7FF or 0xF900 <= code <= 0xFDCF or 0xFDF0 <= code <= 0xFFEF
    else:
        good = code < 0xF0000 and code & 0xFFFF <= 0xFFFD and not 0xE0000 <= code < 0xE1000
    return size if good else 0


@kernel
def _authority(data: Any, at: int, end: int) -> tuple[int, bool]:
    """The place behind host and port of an IRI, and whether they need a closer look."""
    port, odd = False, False
    while at < end:
        byte = data[at]
        if byte in (_SLASH, _QUESTION) or not _IN_IRI[byte]:
            return at, odd or byte not in (_SLASH, _QUESTION, _HASH, _GREATER)
        odd |= byte == _AT or (port and not 48 <= byte <= 57)
        port |= byte == _COLON
        at += 1
    return at, odd


@kernel
def iri_end(data: Any, at: int, end: int) -> tuple[int, bool]:
    """The place behind `<…>`, -1 if it is no IRI, and whether it needs a closer look.

    It does if it has an escape, or characters whose place in an IRI is restricted.
    """
    at += 1
    if at >= end or (not _LETTER[data[at]] and data[at] != _BACKSLASH):
        return -1, False
    while at < end and _SCHEME[data[at]]:
        at += 1
    odd = at >= end or data[at] != _COLON
    if not odd:
        at += 1
        if at + 1 < end and data[at] == _SLASH and data[at + 1] == _SLASH:
            at, odd = _authority(data, at + 2, end)
    fragment = False
    while at < end:
        byte = data[at]
        if _IN_IRI[byte]:
            at += 1
        elif byte == _GREATER:
            return at + 1, odd
        elif byte >= 128:
            size = _iri_character(data, at, end)
            odd |= size == 0
            at += max(size, 1)
        elif byte == _BACKSLASH:
            at = _escape_end(data, at, end, False)
            if at < 0:
                return -1, False
            odd = True
        else:
            if byte == _HASH:
                odd |= fragment
                fragment = True
            elif byte == _PERCENT:
                odd |= at + 2 >= end or not _HEX[data[at + 1]] or not _HEX[data[at + 2]]
            elif byte in (_BRACKET, _CLOSING):
                odd = True
            else:
                return -1, False
            at += 1
    return -1, False


@kernel
def _blank(data: Any, at: int, end: int) -> tuple[int, bool]:
    """The place behind `_:label`, -1 if it is none, and whether it has characters beyond ASCII.

    A point at the end is not part of the label.
    """
    if at + 2 >= end or data[at + 1] != _COLON or not _LABEL_START[data[at + 2]]:
        return -1, False
    odd = data[at + 2] >= 128
    at += 3
    while at < end and _LABEL[data[at]]:
        odd |= data[at] >= 128
        at += 1
    while data[at - 1] == _POINT:
        at -= 1
    return at, odd


@kernel
def _tag_end(data: Any, at: int, end: int) -> int:
    """The place behind a language tag (a letter, then letters, digits, inner hyphens), -1 if it is none."""
    if at >= end or not _LETTER[data[at]]:
        return -1
    while at < end and _TAG[data[at]]:
        at += 1
    return -1 if data[at - 1] == _MINUS else at


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
        elif byte in (_LF, _CR):
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
        at, _ = iri_end(data, at, end)
        return at, True
    return at, awkward


@kernel
def _term(data: Any, at: int, end: int, blank: bool, literal: bool) -> tuple[int, int, int, int]:
    """The place behind a term, -1 if there is none, then its kind, start and end.

    `blank` and `literal` say whether it may be a blank node or a literal.
    """
    if at >= end:
        return -1, 0, 0, 0
    byte = data[at]
    if byte == _LESS:
        after, odd = iri_end(data, at, end)
        if odd:
            return after, AWKWARD, at, after
        return after, IRI, at + 1, after - 1
    if byte == _UNDERSCORE and blank:
        after, odd = _blank(data, at, end)
        if odd:
            return after, AWKWARD, at, after
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
    """Find the terms of a line: column `row` of `starts`, `ends` and `kinds` gets an entry for each of them.

    These are subject, predicate, object, and for `quads` the graph. Returns what the line is: GOOD, EMPTY or
    which part is wrong.
    """
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
def find_lines(data: Any, offsets: Any) -> int:
    """Fill `offsets` with where each line starts and the last one ends; returns how many lines there are.

    A line ends with LF, CR, or CR and LF, which belong to it.
    """
    count, size = 0, len(data)
    offsets[0] = 0
    for i in range(size):
        if data[i] == _LF or (data[i] == _CR and (i + 1 == size or data[i + 1] != _LF)):
            count += 1
            offsets[count] = i + 1
    if offsets[count] < size:
        count += 1
        offsets[count] = size
    return count


@kernel
def split_lines(data: Any, offsets: Any, quads: bool, starts: Any, ends: Any, kinds: Any, states: Any) -> int:
    """Find the terms of every line `data[offsets[i]:offsets[i + 1]]`, with or without its line break.

    `states` gets what each line is; returns how many are bad.
    """
    bad = 0
    for i in range(len(states)):
        end = offsets[i + 1]
        if end > offsets[i] and data[end - 1] == _LF:
            end -= 1
        if end > offsets[i] and data[end - 1] == _CR:
            end -= 1
        state = split_line(data, offsets[i], end, quads, i, starts, ends, kinds)
        states[i] = state
        bad += state > EMPTY
    return bad


@kernel
def check_iris(data: Any, offsets: Any, kinds: Any, states: Any) -> None:
    """Fill `states` for those texts that are IRIs in brackets: 0 if good, DOUBTFUL, or BAD.

    Text i is `data[offsets[i]:offsets[i + 1]]`.
    """
    for i in range(len(kinds)):
        if kinds[i] == IRI:
            after, odd = iri_end(data, offsets[i], offsets[i + 1])
            states[i] = BAD if after != offsets[i + 1] else (DOUBTFUL if odd else 0)


@kernel
def measure_keys(starts: Any, ends: Any, offsets: Any) -> int:
    """Fill `offsets` with those of the keys of texts, a byte longer each; returns the length of all."""
    total = 0
    offsets[0] = 0
    for i in range(len(starts)):
        total += ends[i] - starts[i] + 1
        offsets[i + 1] = total
    return total


@kernel
def write_keys(data: Any, starts: Any, ends: Any, kinds: Any, out: Any) -> None:
    """Write the key of every term, its kind and its text, one after the other."""
    at = 0
    for i in range(len(starts)):
        out[at] = kinds[i]
        at += 1
        for j in range(starts[i], ends[i]):
            out[at] = data[j]
            at += 1


@kernel
def check_fields(data: Any, offsets: Any, delimiter: int, widths: Any) -> None:
    """Fill `widths` with the number of fields of each line of a CSV file.

    It is 0 for an empty line, -1 if a quote stays open.
    """
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
