"""Parse documents of Turtle, TriG and RDF/XML into columns of terms.

pyoxigraph parses the document and writes it as N-Quads, which the kernels for N-Quads split into terms.

A blank node keeps the label that the document gives it. A node without one, such as `[]`, gets a label from a
hash of the document's address and the number of the node in it. So reading a document twice gives the same
facts, and nodes of two documents stay apart.
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

from modulog.formats.rdf_lines import Stretches, said, split_lines
from modulog.formats.text_files import BOM, line_offsets
from modulog.kernels import ntriples

_QUADS = 1 << 15
"""How many quads are split into terms at once."""
_LONGEST_LABEL = 32
"""The most digits of a label that pyoxigraph makes up: a random number of 128 bits in hexadecimal."""
_SHORTEST_LABEL = 20
"""The fewest digits that are taken for such a label; it has no leading zeros."""
_MADE_UP = re.compile(rb"[0-9a-f]{%d,%d}" % (_SHORTEST_LABEL, _LONGEST_LABEL))
"""A label that pyoxigraph may have made up."""
_WRITTEN = re.compile(rb"(?:_:|nodeID\s*=\s*[\"'])(%s)" % _MADE_UP.pattern)
"""A label in a document that looks as if pyoxigraph had made it up, so that it must be kept."""
_OVERLAP = 64
"""Bytes that are searched again with the next ones, because a label may be cut: longer than `_WRITTEN`."""
_SCHEME, _FILE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:"), re.compile(r"^file:/+")


def address(path: str) -> str:
    """The IRI of a document, given by an absolute path or by a URI in which nothing is percent-encoded.

    >>> address("/a b/c.ttl"), address("file:/a b/c.ttl"), address("s3://d/c.ttl")
    ('file:///a%20b/c.ttl', 'file:///a%20b/c.ttl', 's3://d/c.ttl')
    """
    if not _SCHEME.match(path):
        path = "file:/" + path
    return quote(_FILE.sub("file:///", path), safe="/:+@=,;!$&'()*~")


class BadDocument(Exception):
    """A document cannot be read: the line and the column from 1, None where they are not known, and why."""

    def __init__(self, line: int | None, column: int | None, reason: str) -> None:
        super().__init__(reason)
        self.line, self.column, self.reason = line, column, reason


@dataclass(frozen=True, slots=True)
class Document:
    """A document: `open` opens it, more than once, and `address` is its IRI, for relative IRIs in it."""

    open: Callable[[], IO[bytes]]
    format: str
    address: str
    prefixes: dict[str, str] = field(default_factory=dict)
    """The prefixes that the document declares, once it has been read."""

    def columns(self) -> Iterator[list[Stretches]]:
        """Yield subjects, predicates, objects and graphs, `_QUADS` quads at a time.

        A mistake in the document is a BadDocument.
        """
        import pyoxigraph

        labels = _Labels(f"f{blake2s(self.address.encode(), digest_size=6).hexdigest()}b")
        before = 0
        try:
            with self._opened() as stream:
                elements = _CheckedXml(stream) if self.format == "rdf" else None
                quads = self._parse(_LabelCollector(elements or stream, labels.written))
                while content := pyoxigraph.serialize(
                    islice(quads, _QUADS), format=pyoxigraph.RdfFormat.N_QUADS
                ):
                    data = np.frombuffer(content, np.uint8)
                    columns, problems = split_lines(data, line_offsets(data), quads=True)
                    if problems:
                        raise BadDocument(*self._find(before + problems[0].row), problems[0].reason)
                    labels.replace_made_up(columns)
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
        """The document, from behind its byte order mark if it has one."""
        stream = self.open()
        if stream.read(len(BOM)) != BOM:
            stream.seek(0)
        return stream

    def _parse(self, stream: Any) -> Any:
        """The quads of a stream, as pyoxigraph iterates over them."""
        import pyoxigraph

        kind = pyoxigraph.RdfFormat.from_extension(self.format)
        return pyoxigraph.parse(stream, format=kind, base_iri=self.address)

    def _find(self, triple: int | None) -> tuple[int, int | None]:
        """Where the mistake is, or the quad of this number: the line, and the column if it is known.

        pyoxigraph does not say where. So the document is parsed again from a stream that gives one line at a
        time: the line is the last one that the parser has asked for. A third time, with this line byte by
        byte, tells the column.
        """
        line, _ = self._parse_until(triple, None)
        return self._parse_until(triple, line)

    def _parse_until(self, triple: int | None, slow_line: int | None) -> tuple[int, int | None]:
        """Parse a document up to its mistake or to a quad, and return the line and column read last."""
        with self._opened() as stream:
            fed = _MeteredStream(stream, slow_line)
            try:
                for number, _ in enumerate(self._parse(fed)):
                    if number == triple:
                        break
            except SyntaxError:
                pass
            return fed.line, None if slow_line is None else max(fed.column, 1)


@dataclass(slots=True)
class _Labels:
    """Replaces the labels that pyoxigraph makes up for blank nodes by ones that are the same in each run.

    `written` has labels of the document itself that look as if made up; `given` has the new label of each
    replaced.
    """

    prefix: str
    written: set[bytes] = field(default_factory=set)
    given: dict[bytes, bytes] = field(default_factory=dict)

    def replace_made_up(self, columns: list[Stretches]) -> None:
        """Replace the labels that were made up, numbered in the order in which they appear in the document.

        New labels are appended to the buffers of the columns, and the spans of the nodes are changed to
        these.
        """
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


class _CheckedXml:
    """A stream of XML that checks at the end whether all elements were closed, and collects prefixes.

    pyoxigraph reads a document that is cut off without an error. Expat reads along and notices.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._empty = stream, True
        self._expat: XMLParserType | None = ParserCreate()
        self._expat.StartElementHandler = self._first
        self.prefixes: dict[str, str] = {}

    def _first(self, _: str, attributes: dict[str, str]) -> None:
        """Keep the prefixes of the outermost element: pyoxigraph does not give those of RDF/XML."""
        declared = {name: iri for name, iri in attributes.items() if name.startswith("xmlns:")}
        self.prefixes.update((name.removeprefix("xmlns:"), iri) for name, iri in declared.items())
        if self._expat is not None:
            self._expat.StartElementHandler = None

    def read(self, size: int = -1) -> bytes:
        """The next bytes, which Expat has then read, too."""
        data = self._stream.read(size)
        self._empty = self._empty and not data.strip()
        if self._expat is not None and data:
            try:
                self._expat.Parse(data, False)
            except ExpatError:
                self._expat = None  # a mistake, which pyoxigraph reports
        return data

    def check(self) -> None:
        """Raise BadDocument if the document ends before its outermost element is closed."""
        try:
            if self._expat is not None and not self._empty:
                self._expat.Parse(b"", True)
        except ExpatError as error:
            reason = "the document ends before all its elements are closed"
            raise BadDocument(error.lineno, error.offset + 1, reason) from None


class _LabelCollector:
    """A stream that collects, in what is read, the labels that look as if pyoxigraph had made them up."""

    def __init__(self, stream: IO[bytes] | _CheckedXml, labels: set[bytes]) -> None:
        self._stream, self._labels, self._overlap = stream, labels, b""

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        data = self._stream.read(size)
        self._labels.update(_WRITTEN.findall(self._overlap + data))
        self._overlap = (self._overlap + data)[-_OVERLAP:]
        return data


class _MeteredStream:
    """A stream that counts what a parser has read. It gives whole lines, and bytes from `slow_line` on."""

    def __init__(self, stream: IO[bytes], slow_line: int | None) -> None:
        self._stream, self._slow_line = stream, slow_line
        self._rest = b""
        self.line, self.column = 0, 0

    def read(self, size: int = -1) -> bytes:
        """The rest of the line, or its next byte."""
        if not self._rest:
            self._rest = self._stream.readline()
            self.line += bool(self._rest)
            self.column = 0
        count = 1 if self._slow_line is not None and self.line >= self._slow_line else len(self._rest)
        count = min(count, size) if size >= 0 else count
        given, self._rest = self._rest[:count], self._rest[count:]
        self.column += len(given)
        return given
