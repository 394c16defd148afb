"""Sources that are read file by file: Turtle, TriG and RDF/XML, and CSV files with newlines in quotes."""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, Protocol
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import SparkSession

from modulog.engines.spark.errors import bad_record, register, shown_path, translated
from modulog.engines.spark.sources.model import BAD_SCHEMA, Bad, Source
from modulog.engines.spark.sources.parsing import CsvLines, triple_keys
from modulog.errors import DataError
from modulog.formats.csv_rows import records, split_rows
from modulog.formats.rdf_documents import BadDocument, Document, address
from modulog.formats.text_files import BOM

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
    aside = files.mapInArrow(FindBadDocuments(parser), BAD_SCHEMA) if bad == "set-aside" else None
    return Source(files, tuple(names), aside, run)


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
        try:
            content = stream.read()
            for columns in Document(partial(io.BytesIO, content), self.format, file).columns():
                yield [triple_keys(column) for column in columns]
        except BadDocument as error:
            problems.append((error.line or 1, "", error.reason))
        except (OSError, EOFError, zlib.error) as error:
            problems.append((1, "", f"cannot be read: {error}"))


@dataclass(frozen=True, slots=True)
class CsvDocuments:
    """CSV files that may have newlines in quotes."""

    rows: CsvLines
    header: bool

    def parse(self, file: str, stream: IO[bytes], problems: list[Problem]) -> Iterator[list[pa.Array]]:
        """As `DocumentParser` says."""
        content = stream.read().removeprefix(BOM)
        delimiter = self.rows.delimiter.encode()
        if content and not content.endswith((b"\n", b"\r")):
            content += b"\n"
        columns = self._all_good(content, delimiter)
        if columns is not None:
            yield columns
            return
        good, bad = split_rows(content, delimiter, self.rows.width, int(self.header), file)
        problems += [(record.line, record.text, record.reason) for record in bad]
        yield self.rows.columns(pa.py_buffer(good))

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
            file = address(path.as_py())
            stream: Any = io.BytesIO(content.as_py())
            if file.endswith(".gz"):
                stream = gzip.GzipFile(fileobj=stream)
            elif file.endswith(".bz2"):
                stream = bz2.BZ2File(stream)
            yield file, stream
