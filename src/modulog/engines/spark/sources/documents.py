"""Sources that are read file by file: Turtle, TriG and RDF/XML, and CSV files with newlines in quotes.

Blank nodes belong to their file. Their labels are numbered in it, behind a hash of its name, so that reading a file
twice gives the same labels.
"""

from __future__ import annotations

import bz2
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2s
from itertools import islice
from typing import IO, Any, Protocol
from urllib.parse import quote
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import SparkSession

from modulog.engines.spark.errors import bad_record, register, shown_path, translated
from modulog.engines.spark.keys import key_array
from modulog.engines.spark.sources.model import BAD_SCHEMA, Bad, Source, strings_schema
from modulog.engines.spark.sources.parsing import NOT_UTF8, OPEN_QUOTE, CsvLines
from modulog.errors import DataError
from modulog.formats.records import Record, records
from modulog.terms.dictionary import Dictionary
from modulog.terms.model import Constant, Kind
from modulog.terms.python import constant

_TRIPLES = 1 << 16
_BOM = b"\xef\xbb\xbf"
_LINE = re.compile(r"\bline (\d+)")
_BAD = pa.schema(
    [("file", pa.string()), ("line", pa.int64()), ("text", pa.string()), ("reason", pa.string())]
)

Problem = tuple[int, str, str]
"""A line, its text and what is wrong with it."""


class DocumentParser(Protocol):
    """Turns files into batches of columns of keys."""

    def parse(self, file: str, stream: IO[bytes], problems: list[Problem]) -> Iterator[list[pa.Array]]:
        """The columns of a file, piece by piece; what is wrong with it is appended to `problems`."""


def read_documents(
    spark: SparkSession, paths: list[str], parser: DocumentParser, names: Sequence[str], bad: Bad
) -> Source:
    """Open files that are parsed as a whole, each by one executor."""
    with translated():
        files = spark.read.format("binaryFile").load(paths).select("path", "content")
    token, located = uuid4().hex, Documents()
    register(token, located)
    run = ReadDocuments(parser, tuple(names), token, bad == "set-aside")
    frame = files.mapInArrow(run, strings_schema(list(names)))
    aside = files.mapInArrow(FindBadDocuments(parser), BAD_SCHEMA) if bad == "set-aside" else None
    return Source(frame, len(names), aside)


class Documents:
    """Says where bad records of whole files are, which executors know themselves."""

    def locate(self, file: str, line: int) -> str:
        """A file and a line as they are written."""
        return f"{shown_path(file)}:{line}"


@dataclass(frozen=True, slots=True)
class RdfDocuments:
    """Files of RDF in a format of pyoxigraph: ttl, trig or rdf."""

    format: str

    def parse(self, file: str, stream: IO[bytes], problems: list[Problem]) -> Iterator[list[pa.Array]]:
        """As `DocumentParser` says; nothing follows a mistake."""
        import pyoxigraph

        prefix = f"f{blake2s(file.encode(), digest_size=6).hexdigest()}b"
        kind = pyoxigraph.RdfFormat.from_extension(self.format)
        labels: dict[str, Constant] = {}
        known: dict[Any, Constant] = {}

        def term(node: Any) -> Constant:
            made = known.get(node)
            if made is None:
                made = constant(node)
                if made.kind == Kind.BLANK:
                    made = labels.setdefault(made.text, Constant(Kind.BLANK, f"{prefix}{len(labels)}"))
                known[node] = made
            return made

        try:
            quads = pyoxigraph.parse(stream, format=kind, base_iri=_base(file))
            while piece := list(islice(quads, _TRIPLES)):
                dictionary = Dictionary()
                known.clear()
                terms = [
                    [term(getattr(quad, place)) for quad in piece]
                    for place in ("subject", "predicate", "object")
                ]
                yield [key_array(dictionary, dictionary.encode(column)) for column in terms]
        except (SyntaxError, DataError, ValueError, OSError, EOFError, zlib.error) as error:
            line = getattr(error, "lineno", None) or _line_in(str(error))
            problems.append((line, "", str(getattr(error, "msg", error)).replace("\n", " ")))


@dataclass(frozen=True, slots=True)
class CsvDocuments:
    """CSV files that may have newlines in quotes."""

    rows: CsvLines
    header: bool

    def parse(self, file: str, stream: IO[bytes], problems: list[Problem]) -> Iterator[list[pa.Array]]:
        """As `DocumentParser` says."""
        content = stream.read().removeprefix(_BOM)
        delimiter = self.rows.delimiter.encode()
        if content and not content.endswith((b"\n", b"\r")):
            content += b"\n"
        columns = self._all_good(content, delimiter)
        if columns is not None:
            yield columns
            return
        good = []
        found = (record for record in records(content, delimiter) if not record.blank)
        for record in islice(found, 1 if self.header else 0, None):
            text = content[record.start : record.end]
            if reason := self._reason(record, text):
                problems.append((record.line + 1, text.decode(errors="replace").rstrip("\r\n"), reason))
            else:
                good.append(text)
        yield self.rows.columns(pa.py_buffer(b"".join(good)))

    def _all_good(self, content: bytes, delimiter: bytes) -> list[pa.Array] | None:
        """The columns of a file without bad rows, None if it has one: nearly always there is none to look for."""
        start = 0
        if self.header:
            first = next((record for record in records(content, delimiter) if not record.blank), None)
            start = first.end if first else len(content)
        try:
            return self.rows.columns(pa.py_buffer(content)[start:])
        except (pa.ArrowInvalid, DataError):
            return None

    def _reason(self, record: Record, text: bytes) -> str | None:
        if len(record.fields) != self.rows.width:
            return self.rows.reason(len(record.fields))
        try:
            text.decode()
        except UnicodeDecodeError:
            return NOT_UTF8
        last = record.fields[-1]
        if last[:1] == b'"' and (len(last) < 2 or last.endswith(b"\n")):
            return OPEN_QUOTE
        return None


@dataclass(frozen=True, slots=True)
class ReadDocuments:
    """Files to batches of keys; a mistake is an error, or sets a file of RDF or a row of CSV aside."""

    parser: DocumentParser
    names: tuple[str, ...]
    token: str
    lenient: bool

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for file, stream in _files(batches):
            problems: list[Problem] = []
            pieces = self.parser.parse(file, stream, problems)
            if self.lenient:
                held = list(pieces)
                pieces = iter([] if problems and isinstance(self.parser, RdfDocuments) else held)
            for columns in pieces:
                yield pa.RecordBatch.from_arrays(columns, list(self.names))
            if problems and not self.lenient:
                line, _, reason = problems[0]
                raise bad_record(self.token, reason, file=file, line=line)


@dataclass(frozen=True, slots=True)
class FindBadDocuments:
    """Files to what is wrong with them."""

    parser: DocumentParser

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for file, stream in _files(batches):
            problems: list[Problem] = []
            for _ in self.parser.parse(file, stream, problems):
                pass
            rows = [
                {"file": shown_path(file), "line": line, "text": text, "reason": reason}
                for line, text, reason in problems
            ]
            yield pa.RecordBatch.from_pylist(rows, _BAD)


def _files(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, IO[bytes]]]:
    """The names and the uncompressed contents of files."""
    for batch in batches:
        for path, content in zip(batch.column("path"), batch.column("content"), strict=True):
            file = quote(path.as_py(), safe="/:+@=,;!$&'()*~")
            stream: Any = io.BytesIO(content.as_py())
            if file.endswith(".gz"):
                stream = gzip.GzipFile(fileobj=stream)
            elif file.endswith(".bz2"):
                stream = bz2.BZ2File(stream)
            yield file, stream


def _base(file: str) -> str:
    """The base of relative IRIs: the file itself, as a URI that has an authority."""
    return re.sub(r"^file:/+", "file:///", file)


def _line_in(message: str) -> int:
    found = _LINE.search(message)
    return int(found[1]) if found else 1
