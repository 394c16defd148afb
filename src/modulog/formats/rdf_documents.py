"""Documents of Turtle, TriG and RDF/XML as columns of terms: pyoxigraph parses, the kernels for N-Quads take over.

A blank node keeps the label that the document gives it. One without a label gets the next number of its document, behind a hash
of the document's address: reading a document twice gives the same facts, and nodes of two documents do not become one.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2s
from itertools import islice
from typing import IO, Any
from urllib.parse import quote
from xml.parsers.expat import ExpatError, ParserCreate, XMLParserType

import numpy as np

from modulog.formats.rdf_lines import Stretches, line_offsets, said, split_lines
from modulog.kernels import ntriples

FORMATS = ("ttl", "trig", "rdf")
_QUADS = 1 << 15
_LONGEST_LABEL = 32
_SHORTEST_LABEL = 20
"""Digits of a label that pyoxigraph makes up: it writes a random number of 128 bits without leading zeros."""
_MADE_UP = re.compile(rb"[0-9a-f]{%d,%d}" % (_SHORTEST_LABEL, _LONGEST_LABEL))
_WRITTEN = re.compile(rb"(?:_:|nodeID\s*=\s*[\"'])(%s)" % _MADE_UP.pattern)
_TAIL = 64
_MARK = b"\xef\xbb\xbf"
_SCHEME, _FILE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:"), re.compile(r"^file:/+")


def address(path: str) -> str:
    """The IRI of a document: of an absolute path, or of a URI as file systems write it, without escapes.

    >>> address("/a b/c.ttl"), address("file:/a b/c.ttl"), address("s3://d/c.ttl")
    ('file:///a%20b/c.ttl', 'file:///a%20b/c.ttl', 's3://d/c.ttl')
    """
    if not _SCHEME.match(path):
        path = "file:/" + path
    return quote(_FILE.sub("file:///", path), safe="/:+@=,;!$&'()*~")


class BadDocument(Exception):
    """A document cannot be read: the line and the column from 1, if they are known, and why."""

    def __init__(self, line: int | None, column: int | None, reason: str) -> None:
        super().__init__(reason)
        self.line, self.column, self.reason = line, column, reason


@dataclass(frozen=True, slots=True)
class Document:
    """A document that can be opened more than once; `address` is its IRI, against which relative ones are resolved."""

    open: Callable[[], IO[bytes]]
    format: str
    address: str
    prefixes: dict[str, str] = field(default_factory=dict)
    """What the document has declared, once it has been read."""

    def columns(self) -> Iterator[list[Stretches]]:
        """Subjects, predicates, objects and graphs, piece by piece; BadDocument if something is wrong."""
        import pyoxigraph

        labels = _Labels(f"f{blake2s(self.address.encode(), digest_size=6).hexdigest()}b")
        before = 0
        try:
            with self._opened() as stream:
                elements = _Elements(stream) if self.format == "rdf" else None
                quads = self._parse(_Watched(elements or stream, labels.written))
                while content := pyoxigraph.serialize(
                    islice(quads, _QUADS), format=pyoxigraph.RdfFormat.N_QUADS
                ):
                    data = np.frombuffer(content, np.uint8)
                    columns, problems = split_lines(data, line_offsets(data), quads=True)
                    if problems:
                        raise BadDocument(*self._find(before + problems[0].row), problems[0].reason)
                    labels.settle(columns)
                    yield columns
                    before += len(columns[0].kinds)
                self.prefixes.update(getattr(quads, "prefixes", {}))
                if elements is not None:
                    elements.check()
                    self.prefixes.update(elements.prefixes)
        except SyntaxError as error:
            line, column = (error.lineno, error.offset) if error.lineno else self._find(None)
            raise BadDocument(line, column, said(error)) from None
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise BadDocument(None, None, f"cannot be read: {said(error)}") from None

    def _opened(self) -> IO[bytes]:
        """The document behind its byte order mark, if it has one."""
        stream = self.open()
        if stream.read(len(_MARK)) != _MARK:
            stream.seek(0)
        return stream

    def _parse(self, stream: Any) -> Any:
        import pyoxigraph

        kind = pyoxigraph.RdfFormat.from_extension(self.format)
        return pyoxigraph.parse(stream, format=kind, base_iri=self.address)

    def _find(self, triple: int | None) -> tuple[int, int | None]:
        """The line, and in it the column, up to which a parser reads to meet the mistake, or to see a triple of this number."""
        line, _ = self._follow(triple, None)
        return self._follow(triple, line)

    def _follow(self, triple: int | None, slowly: int | None) -> tuple[int, int | None]:
        with self._opened() as stream:
            fed = _Fed(stream, slowly)
            try:
                for number, _ in enumerate(self._parse(fed)):
                    if number == triple:
                        break
            except SyntaxError:
                pass
            return fed.line, None if slowly is None else max(fed.column, 1)


@dataclass(slots=True)
class _Labels:
    """The labels of the blank nodes of one document."""

    prefix: str
    written: set[bytes] = field(default_factory=set)
    given: dict[bytes, bytes] = field(default_factory=dict)

    def settle(self, columns: list[Stretches]) -> None:
        """Replace the labels that pyoxigraph made up, in the order in which they appear."""
        found = []
        for place, column in enumerate(columns):
            sizes = column.ends - column.starts
            long = (sizes >= _SHORTEST_LABEL) & (sizes <= _LONGEST_LABEL)
            rows = np.flatnonzero(long & (column.kinds == ntriples.BLANK))
            for row in rows.tolist():
                label = column.data[column.starts[row] : column.ends[row]].tobytes()
                if label not in self.written and _MADE_UP.fullmatch(label):
                    found.append((row, place, label))
        places: dict[bytes, tuple[int, int]] = {}
        pieces: list[bytes] = []
        size = 0
        for _, _, label in sorted(found):
            if label not in places:
                given = self.given.setdefault(label, f"{self.prefix}{len(self.given)}".encode())
                places[label] = size, size + len(given)
                pieces.append(given)
                size += len(given)
        behind = np.frombuffer(b"".join(pieces), np.uint8)
        ends = [len(column.data) for column in columns]
        for column in columns if pieces else ():
            column.data = np.concatenate([column.data, behind])
        for row, place, label in found:
            start, end = places[label]
            columns[place].starts[row] = ends[place] + start
            columns[place].ends[row] = ends[place] + end


class _Elements:
    """A stream of XML that knows at its end whether all elements were closed: pyoxigraph takes half a document for a whole one."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._empty = stream, True
        self._expat: XMLParserType | None = ParserCreate()
        self._expat.StartElementHandler = self._first
        self.prefixes: dict[str, str] = {}

    def _first(self, _: str, attributes: dict[str, str]) -> None:
        """Keep the prefixes of the outermost element, which pyoxigraph does not tell."""
        declared = {name: iri for name, iri in attributes.items() if name.startswith("xmlns:")}
        self.prefixes.update((name.removeprefix("xmlns:"), iri) for name, iri in declared.items())
        if self._expat is not None:
            self._expat.StartElementHandler = None

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._empty = self._empty and not data.strip()
        if self._expat is not None and data:
            try:
                self._expat.Parse(data, False)
            except ExpatError:
                self._expat = None  # whatever it is, pyoxigraph says it
        return data

    def check(self) -> None:
        """BadDocument if something is still open."""
        try:
            if self._expat is not None and not self._empty:
                self._expat.Parse(b"", True)
        except ExpatError as error:
            reason = "the document ends before all its elements are closed"
            raise BadDocument(error.lineno, error.offset + 1, reason) from None


class _Watched:
    """A stream that notes the labels in what is read which look as if pyoxigraph had made them up."""

    def __init__(self, stream: IO[bytes] | _Elements, labels: set[bytes]) -> None:
        self._stream, self._labels, self._tail = stream, labels, b""

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._labels.update(_WRITTEN.findall(self._tail + data))
        self._tail = (self._tail + data)[-_TAIL:]
        return data


class _Fed:
    """A stream that gives a line at a time, and a byte at a time from one line on, and counts them."""

    def __init__(self, stream: IO[bytes], slowly: int | None) -> None:
        self._stream, self._slowly = stream, slowly
        self._rest = b""
        self.line, self.column = 0, 0

    def read(self, size: int = -1) -> bytes:
        if not self._rest:
            self._rest = self._stream.readline()
            self.line += bool(self._rest)
            self.column = 0
        few = 1 if self._slowly is not None and self.line >= self._slowly else len(self._rest)
        few = min(few, size) if size >= 0 else few
        given, self._rest = self._rest[:few], self._rest[few:]
        self.column += len(given)
        return given
