"""Triples and quads from files of RDF: N-Triples, N-Quads, Turtle, TriG and RDF/XML, in pieces.

N-Triples and N-Quads are cut into blocks of whole lines; a thread of its own splits and hashes them while this one gives terms
their numbers. The other formats are parsed by pyoxigraph. `docs/rdf.md` says what the triples become.
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
from modulog.formats.bad_records import BOM, NOT_UTF8
from modulog.formats.rdf_documents import BadDocument, Document, address
from modulog.formats.rdf_lines import Stretches, line_offsets, split_lines
from modulog.formats.records import count_lines_before, open_stream
from modulog.kernels import ntriples
from modulog.language.model import Predicate
from modulog.terms.arrow import distinct_ids
from modulog.terms.canonical import RDF
from modulog.terms.dictionary import Dictionary, Ids, Texts
from modulog.terms.model import Constant, Kind

NO_GRAPH = 2**32 - 1
"""What stands for the default graph in a column of graphs."""

BLOCK = 1 << 22
LONGEST_LINE = 1 << 28
_AHEAD = 3
_SHOWN = 160
_TYPE = Constant(Kind.IRI, RDF + "type")


def read_rdf(
    path: str | os.PathLike[str],
    format: str,
    dictionary: Dictionary,
    *,
    graphs: bool = False,
    prefixes: dict[str, str] | None = None,
) -> Iterator[Ids]:
    """The triples of a file in chunks of numbers: subjects, predicates, objects and, if asked for, graphs or NO_GRAPH.

    The prefixes of a document are put into `prefixes` when it has been read.
    """
    if format in ("nt", "nq"):
        columns = _read_lines(path, format == "nq")
    else:
        columns = _read_document(path, format, {} if prefixes is None else prefixes)
    for hashed in columns:
        yield hashed.encode(dictionary, graphs)


def facts_of_triples(dictionary: Dictionary, triples: Ids) -> Iterator[tuple[Predicate, Ids]]:
    """The facts of triples, by predicate: `s p o` is p(s, o), and `s rdf:type C` is C(s) if C is an IRI.

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
    """The rows (s, C) of the triples `s rdf:type C`, whatever C is."""
    return np.ascontiguousarray(triples[[0, 2]][:, triples[1] == dictionary.find([_TYPE])[0]])


def _grouped(dictionary: Dictionary, names: Ids, columns: list[Ids]) -> Iterator[tuple[Predicate, Ids]]:
    """Rows by the IRI that names their predicate."""
    if not len(names):
        return
    distinct, numbers = distinct_ids(names, len(dictionary))
    # Sixteen bits are sorted in linear time, and hardly any file has more predicates.
    narrow = numbers.astype(np.uint16) if len(distinct) <= 1 << 16 else numbers
    order = np.argsort(narrow, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=len(distinct))).tolist()
    rows = np.stack([column[order] for column in columns])
    for constant, start, end in zip(dictionary.decode(distinct), [0, *ends], ends, strict=False):
        yield Predicate(f"<{constant.text}>", len(columns)), np.ascontiguousarray(rows[:, start:end])


# ---- Columns


@dataclass(frozen=True, slots=True)
class _Hashed:
    """Columns of terms ready for a dictionary; `named` says which rows have a graph, None if none has."""

    triples: list[Texts]
    named: np.ndarray[tuple[int], np.dtype[np.bool_]] | None
    graphs: Texts | None

    @staticmethod
    def of(columns: list[Stretches]) -> _Hashed:
        """Columns as a reader gives them."""
        triples = [column.texts() for column in columns[:3]]
        if len(columns) == 3:
            return _Hashed(triples, None, None)
        names = columns[3]
        named = names.kinds != ntriples.NOTHING
        graphs = Stretches(names.data, names.starts[named], names.ends[named], names.kinds[named])
        return _Hashed(triples, named, graphs.texts())

    def encode(self, dictionary: Dictionary, graphs: bool) -> Ids:
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
class _Block:
    """Whole lines of a file, and where they start in it."""

    data: bytes
    offset: int


def _read_lines(path: str | os.PathLike[str], quads: bool) -> Iterator[_Hashed]:
    blocks = _blocks(path)
    with ThreadPoolExecutor(1, thread_name_prefix="modulog-rdf") as pool:
        waiting: deque[Future[_Hashed]] = deque()
        try:
            while True:
                while len(waiting) < _AHEAD and (block := next(blocks, None)) is not None:
                    waiting.append(pool.submit(_split, path, quads, block))
                if not waiting:
                    return
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _blocks(path: str | os.PathLike[str]) -> Iterator[_Block]:
    """Cut a file after lines."""
    with open_stream(path) as stream:
        rest, offset = _read(stream, path, len(BOM)), 0
        if rest == BOM:
            rest, offset = b"", len(BOM)
        while True:
            data = _read(stream, path, BLOCK)
            end = data.rfind(b"\n") + 1
            if not end and data:
                rest += data
                if len(rest) > LONGEST_LINE:
                    line = count_lines_before(path, offset) + 1
                    raise DataError(f"{path}:{line}: a line of more than {LONGEST_LINE:,} bytes")
                continue
            whole = rest + data[:end]
            if whole:
                yield _Block(whole, offset)
            if not data:
                return
            rest, offset = data[end:], offset + len(whole)


def _read(stream: IO[bytes], path: str | os.PathLike[str], size: int) -> bytes:
    try:
        return stream.read(size)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error}") from error


def _split(path: str | os.PathLike[str], quads: bool, block: _Block) -> _Hashed:
    """The columns of a block, split and hashed."""
    try:
        block.data.decode()
    except UnicodeDecodeError as error:
        _refuse(path, block, error.start, None, NOT_UTF8)
    data = np.frombuffer(block.data, np.uint8)
    offsets = line_offsets(data)
    columns, problems = split_lines(data, offsets, quads)
    if problems:
        first = problems[0]
        _refuse(path, block, int(offsets[first.row]), first.column, first.reason)
    return _Hashed.of(columns)


def _refuse(path: str | os.PathLike[str], block: _Block, place: int, column: int | None, reason: str) -> None:
    """Raise an error about a line of a block; the place is where the line starts or, without a column, the mistake."""
    start = max(block.data.rfind(b"\n", 0, place), block.data.rfind(b"\r", 0, place)) + 1
    line = count_lines_before(path, block.offset + start) + 1
    text = block.data[start:].splitlines()[0].decode(errors="replace")
    if column is None:
        column = len(block.data[start:place].decode(errors="replace")) + 1
    raise _mistake(str(path), line, column, reason, text)


def _mistake(source: str, line: int, column: int | None, reason: str, text: str | None) -> DataError:
    """An error at a place of a file; the line is shown unless it is too long."""
    place = Position(source, line, column or 1, line, (column or 1) + 1)
    shown = f"{place if column else f'{source}:{line}'}: {reason}"
    if text is None or not column or len(text) > _SHOWN:
        return DataError(shown)
    return DataError(f"{shown}\n{underline(text, place)}")


# ---- Documents


def _read_document(path: str | os.PathLike[str], format: str, prefixes: dict[str, str]) -> Iterator[_Hashed]:
    path = Path(path)
    open_stream(path).close()
    opener: Callable[[], Any] = partial(gzip.open if path.suffix.lower() == ".gz" else open, path, "rb")
    document = Document(opener, format, address(Path(os.path.abspath(path)).as_posix()), prefixes)
    try:
        yield from map(_Hashed.of, document.columns())
    except BadDocument as error:
        if error.line is None:
            raise DataError(f"{path}: {error.reason}") from None
        text = _line(opener, error.line)
        raise _mistake(str(path), error.line, error.column, error.reason, text) from None


def _line(opener: Callable[[], IO[bytes]], number: int) -> str | None:
    """A line of a document, None if it has fewer."""
    with opener() as stream:
        for at, line in enumerate(stream, 1):
            if at == number:
                return line.decode(errors="replace").rstrip("\r\n")
    return None
