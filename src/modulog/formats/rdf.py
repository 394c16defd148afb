"""Read triples and quads from files of RDF: N-Triples, N-Quads, Turtle, TriG and RDF/XML.

N-Triples and N-Quads are cut into blocks of whole lines. A thread of its own splits the lines of a block into
terms and hashes them, while this thread encodes the blocks before it as ids. The other formats, here called
documents, are parsed by pyoxigraph as a whole. `docs/rdf.md` says which facts the triples become.
"""

from __future__ import annotations

import gzip
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from modulog.errors import DataError, Position, underline
from modulog.formats.bad_records import BadRecord
from modulog.formats.rdf_documents import BadDocument, Document, address
from modulog.formats.rdf_lines import Stretches, split_lines
from modulog.formats.text_files import (
    BLOCK,
    NOT_UTF8,
    Block,
    check_utf8,
    count_lines_before,
    line_array,
    line_blocks,
    line_offsets,
    line_text,
    open_stream,
)
from modulog.kernels import ntriples
from modulog.language.model import Predicate
from modulog.terms.arrow import distinct_ids
from modulog.terms.constant import RDF, Constant, Kind
from modulog.terms.dictionary import Dictionary, Ids, Texts

NO_GRAPH = 2**32 - 1
"""Stands for the default graph in a column of graphs, where others have the id of their name."""

_AHEAD = 3
"""The most blocks that are being split or wait to be encoded."""
_SHOWN = 160
"""The longest line, in characters, that an error shows."""
_TYPE = Constant(Kind.IRI, RDF + "type")


def read_rdf(
    path: str | os.PathLike[str],
    format: str,
    dictionary: Dictionary,
    *,
    graphs: bool = False,
    prefixes: dict[str, str] | None = None,
    aside: list[BadRecord] | None = None,
    block: int = BLOCK,
) -> Iterator[Ids]:
    """Read a file and yield its triples in chunks of ids: rows of subjects, predicates and objects.

    With `graphs` there is a fourth row: the graph of each triple, or NO_GRAPH. The prefixes that a document
    declares are added to `prefixes` when it has been read. Without `aside` the first mistake is an error.
    With it, bad lines of N-Triples and N-Quads are appended to it, and so is a document with a mistake, of
    which no triple is read then. So many bytes of lines are read at once (`block`).
    """
    if format in ("nt", "nq"):
        columns = _read_lines(path, format == "nq", aside, block)
    else:
        columns = _read_document(path, format, {} if prefixes is None else prefixes, aside)
    for hashed in columns:
        yield hashed.encode(dictionary, graphs)


def facts_of_triples(dictionary: Dictionary, triples: Ids) -> Iterator[tuple[Predicate, Ids]]:
    """The facts that triples become, by predicate: each predicate with a chunk of ids.

    `s p o` is the fact p(s, o), and `s rdf:type C` is C(s) if C is an IRI.

    >>> d = Dictionary()
    >>> ids = d.encode([Constant(Kind.IRI, t) for t in ("a:s", "a:p", "a:o")]).reshape(3, 1)
    >>> [(str(p), rows.tolist()) for p, rows in facts_of_triples(d, ids)]
    [('<a:p>/2', [[0], [2]])]
    """
    subjects, predicates, objects = triples[0], triples[1], triples[2]
    of_class = predicates == dictionary.find([_TYPE])[0]
    of_class[of_class] = dictionary.kinds(objects[of_class]) == Kind.IRI
    yield from _grouped(dictionary, objects[of_class], [subjects[of_class]])
    if of_class.any():
        others = ~of_class
        subjects, predicates, objects = subjects[others], predicates[others], objects[others]
    yield from _grouped(dictionary, predicates, [subjects, objects])


def types_of_triples(dictionary: Dictionary, triples: Ids) -> Ids:
    """The triples `s rdf:type C` as rows (s, C), whether C is an IRI or not."""
    return np.ascontiguousarray(triples[[0, 2]][:, triples[1] == dictionary.find([_TYPE])[0]])


def _grouped(dictionary: Dictionary, names: Ids, columns: list[Ids]) -> Iterator[tuple[Predicate, Ids]]:
    """Split rows by the IRI that names their predicate: each predicate with the rows that it has.

    `names[i]` is the id of this IRI for row i, and `columns` are the arguments. This sorts, O(n log n) at
    worst.
    """
    if not len(names):
        return
    distinct, numbers = distinct_ids(names, len(dictionary))
    # NumPy sorts numbers of 16 bits in linear time, and hardly any file has more predicates.
    narrow = numbers.astype(np.uint16) if len(distinct) <= 1 << 16 else numbers
    order = np.argsort(narrow, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=len(distinct))).tolist()
    rows = np.stack([column[order] for column in columns])
    for constant, start, end in zip(dictionary.decode(distinct), [0, *ends], ends, strict=False):
        yield Predicate(f"<{constant.text}>", len(columns)), np.ascontiguousarray(rows[:, start:end])


# ---- Hashed columns


@dataclass(frozen=True, slots=True)
class _Hashed:
    """The terms of some triples, hashed for a dictionary.

    `named` says which triples are in a named graph, None if none is; `graphs` has the names of the graphs of
    these.
    """

    triples: list[Texts]
    named: np.ndarray[tuple[int], np.dtype[np.bool_]] | None
    graphs: Texts | None

    @staticmethod
    def of(columns: list[Stretches]) -> _Hashed:
        """Hash the columns that a reader gives: subjects, predicates, objects and perhaps graphs."""
        triples = [column.texts() for column in columns[:3]]
        if len(columns) == 3:
            return _Hashed(triples, None, None)
        names = columns[3]
        named = names.kinds != ntriples.NOTHING
        graphs = Stretches(names.data, names.starts[named], names.ends[named], names.kinds[named])
        return _Hashed(triples, named, graphs.texts())

    def encode(self, dictionary: Dictionary, graphs: bool) -> Ids:
        """The ids of the terms in a dictionary, which gets those that are new; see `read_rdf`."""
        ids = np.empty((4 if graphs else 3, len(self.triples[0])), np.uint32)
        for place, texts in enumerate(self.triples):
            ids[place] = dictionary.encode_texts(texts)
        if graphs:
            ids[3] = NO_GRAPH
            if self.named is not None and self.graphs is not None:
                ids[3][self.named] = dictionary.encode_texts(self.graphs)
        return ids


# ---- N-Triples and N-Quads


@dataclass(frozen=True, slots=True)
class _Lines:
    """What `_split` finds in a block: the good lines, the number of all, the bad ones (row, text, reason)."""

    hashed: _Hashed
    count: int
    bad: list[tuple[int, str, str]]


def _read_lines(
    path: str | os.PathLike[str], quads: bool, aside: list[BadRecord] | None, size: int
) -> Iterator[_Hashed]:
    """Yield the triples of each block of a file: split blocks in a thread, return them in their order."""
    blocks, before = line_blocks(path, size), 0
    with ThreadPoolExecutor(1, thread_name_prefix="modulog-rdf") as pool:
        waiting: deque[Future[_Lines]] = deque()
        try:
            while True:
                while len(waiting) < _AHEAD and (block := next(blocks, None)) is not None:
                    waiting.append(pool.submit(_split, path, quads, block, aside is not None))
                if not waiting:
                    return
                lines = waiting.popleft().result()
                if aside is not None:
                    aside += [BadRecord(str(path), before + row + 1, *told) for row, *told in lines.bad]
                before += lines.count
                yield lines.hashed
        finally:
            for future in waiting:
                future.cancel()


def _split(path: str | os.PathLike[str], quads: bool, block: Block, lenient: bool) -> _Lines:
    """Split the lines of a block into terms. This runs in the other thread.

    If `lenient`, bad lines are in the result; otherwise the first of them is raised as an error.
    """
    data, bad = np.frombuffer(block.data, np.uint8), list[tuple[int, str, str]]()
    offsets = line_offsets(data)
    try:
        block.data.decode()
    except UnicodeDecodeError as error:
        if not lenient:
            _refuse(path, block, error.start, None, NOT_UTF8)
        data = data.copy()
        for row in np.flatnonzero(~check_utf8(line_array(block.data, offsets))).tolist():
            bad.append((row, line_text(block.data, offsets, row), NOT_UTF8))
            data[offsets[row] : offsets[row + 1]] = ord(" ")  # now it is a blank line, without a triple
    columns, problems = split_lines(data, offsets, quads)
    if problems and not lenient:
        first = problems[0]
        _refuse(path, block, int(offsets[first.row]), first.column, first.reason)
    bad += [(p.row, line_text(block.data, offsets, p.row), p.reason) for p in problems]
    return _Lines(_Hashed.of(columns), len(offsets) - 1, sorted(bad))


def _refuse(path: str | os.PathLike[str], block: Block, place: int, column: int | None, reason: str) -> None:
    """Raise the error about a line of a block. `place` is an offset in the block.

    With a `column` it is where the line starts; without one it is where the mistake is.
    """
    start = max(block.data.rfind(b"\n", 0, place), block.data.rfind(b"\r", 0, place)) + 1
    line = count_lines_before(path, block.offset + start) + 1
    text = block.data[start:].splitlines()[0].decode(errors="replace")
    if column is None:
        column = len(block.data[start:place].decode(errors="replace")) + 1
    raise _mistake(str(path), line, column, reason, text)


def _mistake(source: str, line: int, column: int | None, reason: str, text: str | None) -> DataError:
    """The error about a place of a file; it shows the line, unless that is too long or not known."""
    place = Position(source, line, column or 1, line, (column or 1) + 1)
    shown = f"{place if column else f'{source}:{line}'}: {reason}"
    if text is None or not column or len(text) > _SHOWN:
        return DataError(shown)
    return DataError(f"{shown}\n{underline(text, place)}")


# ---- Documents


def _read_document(
    path: str | os.PathLike[str], format: str, prefixes: dict[str, str], aside: list[BadRecord] | None
) -> Iterator[_Hashed]:
    """Yield the triples of a document, piece by piece; none if it has a mistake and `aside` is given."""
    path = Path(path)
    open_stream(path).close()
    opener: Callable[[], Any] = partial(gzip.open if path.suffix.lower() == ".gz" else open, path, "rb")
    document = Document(opener, format, address(Path(os.path.abspath(path)).as_posix()), prefixes)
    found = map(_Hashed.of, document.columns())
    try:
        yield from found if aside is None else list(found)  # all of it or nothing
    except BadDocument as error:
        if aside is not None:
            aside.append(BadRecord(str(path), error.line or 1, "", error.reason))
            return
        if error.line is None:
            raise DataError(f"{path}: {error.reason}") from None
        text = _line(opener, error.line)
        raise _mistake(str(path), error.line, error.column, error.reason, text) from None


def _line(opener: Callable[[], IO[bytes]], number: int) -> str | None:
    """The line of this number, from 1, of a document; None if it has fewer."""
    with opener() as stream:
        for at, line in enumerate(stream, 1):
            if at == number:
                return line.decode(errors="replace").rstrip("\r\n")
    return None
