"""Split lines of N-Triples and N-Quads into columns of terms, in bulk.

Kernels split the lines and read the common terms. Terms that they do not read go to pyoxigraph, each
different text once, and so does a line that they take for bad: pyoxigraph says what it means or what is wrong
with it. So the result is always that of pyoxigraph, only sooner.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from modulog.errors import DataError
from modulog.kernels import literals, ntriples
from modulog.terms.constant import Kind
from modulog.terms.dictionary import Bytes, Offsets, Texts, frozen
from modulog.terms.python_values import constant

_PLACE = re.compile(
    r"^Parser error at line \d+ (?:between )?columns? \d+(?: and (?:line \d+ column )?\d+)?: "
)
"""The place in a message of pyoxigraph; it is one in the piece that was parsed, not in the file."""


@dataclass(slots=True)
class Stretches:
    """A column of terms: term i is the text `data[starts[i]:ends[i]]` with the kind `kinds[i]`.

    In a column of graphs, the kind `ntriples.NOTHING` is the default graph.
    """

    data: Bytes
    starts: Offsets
    ends: Offsets
    kinds: Bytes

    def texts(self) -> Texts:
        """The column hashed for a dictionary. The default graph becomes an IRI without characters."""
        kinds = np.where(self.kinds == ntriples.NOTHING, np.uint8(Kind.IRI), self.kinds)
        return Texts(self.data, self.starts, self.ends, kinds)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a line, and in which column, from 1, if that is known."""

    row: int
    column: int | None
    reason: str


def split_lines(data: Bytes, offsets: Offsets, quads: bool) -> tuple[list[Stretches], list[Problem]]:
    """The terms of the good lines (subjects, predicates, objects, perhaps graphs), and the bad lines.

    Line i is `data[offsets[i]:offsets[i + 1]]` and must be UTF-8. Blank lines and comments are in neither
    result.
    """
    places, lines = 4 if quads else 3, len(offsets) - 1
    starts, ends = np.empty((places, lines), np.int64), np.empty((places, lines), np.int64)
    kinds, states = np.empty((places, lines), np.uint8), np.empty(lines, np.uint8)
    bad = ntriples.split_lines(frozen(data), offsets, quads, starts, ends, kinds, states)
    keep = states == ntriples.GOOD
    doubtful = set(np.flatnonzero(states > ntriples.EMPTY).tolist()) if bad else set[int]()
    columns = []
    for place in range(places):
        column = Stretches(data, starts[place], ends[place], kinds[place])
        doubtful |= _read_awkward(column, np.flatnonzero((column.kinds == ntriples.AWKWARD) & keep))
        columns.append(column)
    problems = _parse_doubtful(columns, data, offsets, sorted(doubtful), quads, keep) if doubtful else []
    if keep.all():
        return columns, problems
    return [Stretches(c.data, c.starts[keep], c.ends[keep], c.kinds[keep]) for c in columns], problems


def _read_awkward(column: Stretches, rows: npt.NDArray[np.int64]) -> set[int]:
    """Read the terms of these rows that the kernel which splits lines has left AWKWARD.

    Returns the rows whose terms cannot be read. Texts of terms are appended to the buffer of the column.
    """
    if not len(rows):
        return set()
    room = np.empty(int((column.ends[rows] - column.starts[rows]).sum()), np.uint8)
    data = column.data
    size = literals.read_literals(frozen(data), rows, column.starts, column.ends, column.kinds, room)
    column.data = np.concatenate([data, room[:size]])
    rows = rows[column.kinds[rows] == ntriples.AWKWARD]
    if not len(rows):
        return set()
    content = data.tobytes()
    stretches = zip(column.starts[rows].tolist(), column.ends[rows].tolist(), strict=True)
    texts = [content[start:end] for start, end in stretches]
    keys = _keys(list(dict.fromkeys(texts)))
    wrong = [row for row, text in zip(rows.tolist(), texts, strict=True) if text not in keys]
    _append(column, [(r, keys[t]) for r, t in zip(rows.tolist(), texts, strict=True) if t in keys])
    return set(wrong)


def _append(column: Stretches, found: list[tuple[int, bytes]]) -> None:
    """Append keys to the buffer of a column, equal ones once, and let rows of the column be these terms."""
    places: dict[bytes, int] = {}
    size = len(column.data)
    for _, key in found:
        if key not in places:
            places[key] = size
            size += len(key)
    column.data = np.concatenate([column.data, np.frombuffer(b"".join(places), np.uint8)])
    for row, key in found:
        start = places[key]
        column.starts[row], column.ends[row], column.kinds[row] = start + 1, start + len(key), key[0]


def _keys(texts: list[bytes]) -> dict[bytes, bytes]:
    """The keys of texts of terms, as pyoxigraph reads them; those that it cannot read are missing.

    All are parsed together. If that fails, each half is tried by itself: O(log n) rounds for each bad text.
    """
    try:
        found = _parse(b"".join([b"<a:s> <a:p> " + text + b" .\n" for text in texts]))
        return {text: constant(quad.object).key for text, quad in zip(texts, found, strict=True)}
    except (SyntaxError, ValueError, DataError):
        if len(texts) == 1:
            return {}
    half = len(texts) // 2
    return _keys(texts[:half]) | _keys(texts[half:])


def _parse_doubtful(
    columns: list[Stretches],
    data: Bytes,
    offsets: Offsets,
    rows: list[int],
    quads: bool,
    keep: npt.NDArray[np.bool_],
) -> list[Problem]:
    """Let pyoxigraph parse lines that the kernel takes for bad; returns those that are.

    The others are put into the columns, and `keep` says which lines have been read.
    """
    problems = []
    for row in rows:
        keep[row] = False
        line = data[offsets[row] : offsets[row + 1]].tobytes().rstrip(b"\r\n")
        try:
            for quad in _parse(line, quads):
                terms = (quad.subject, quad.predicate, quad.object, quad.graph_name)[: len(columns)]
                for column, term in zip(columns, terms, strict=True):
                    _append(column, [(row, term_key(term))])
                    if type(term).__name__ == "DefaultGraph":
                        column.kinds[row] = ntriples.NOTHING
                keep[row] = True
        except (SyntaxError, ValueError) as error:
            problems.append(Problem(row, getattr(error, "offset", None), said(error)))
        except DataError as error:
            problems.append(Problem(row, None, str(error)))
    return problems


def term_key(term: Any) -> bytes:
    """The key of a term of pyoxigraph; the default graph is an IRI without characters."""
    kind = type(term).__name__
    if kind == "DefaultGraph":
        return bytes([Kind.IRI])
    if kind == "Triple":
        raise DataError(
            f"the triple {term} stands where a term should be: triples about triples are not read"
        )
    return constant(term).key


def is_term(text: str) -> bool:
    """Whether a text is a term in the form of N-Triples.

    >>> is_term("<http://e.org/a>"), is_term("<a>")
    (True, False)
    """
    return bool(_keys([text.encode()]))


def said(error: Exception) -> str:
    """The message of an error of pyoxigraph in one line, without the place that it names."""
    message = str(getattr(error, "msg", None) or error)
    return _PLACE.sub("", message).replace("\n", " ")


def _parse(content: bytes, quads: bool = False) -> list[Any]:
    """The triples or quads of some lines as objects of pyoxigraph."""
    import pyoxigraph

    kinds = pyoxigraph.RdfFormat
    return list(pyoxigraph.parse(content, format=kinds.N_QUADS if quads else kinds.N_TRIPLES))
