"""Lines and whole files of text as columns of keys, in executors; nothing here knows Spark.

What is wrong is answered, not raised: who calls says whether a bad record is an error or set aside.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import IO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from modulog.engines.spark.term_keys import key_array, stretch_keys, text_buffers
from modulog.errors import DataError
from modulog.formats.csv import Layout, mark_rows, needs_marks, split_columns
from modulog.formats.csv_rows import OPEN_QUOTE, records, split_rows, wrong_width
from modulog.formats.json_lines import JsonColumns
from modulog.formats.rdf_documents import BadDocument, Document
from modulog.formats.rdf_lines import Stretches, split_lines
from modulog.formats.text_files import BOM, NOT_UTF8, check_utf8
from modulog.kernels import ntriples
from modulog.terms.arrow import wrap
from modulog.terms.constant import Kind
from modulog.terms.dictionary import Dictionary, frozen

Problems = list[tuple[int, str]]
"""Rows of a batch, counted from 0, and what is wrong with them."""

Mistake = tuple[int, str, str]
"""A line of a file, its text and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class CsvRows:
    """Rows of CSV, which may have newlines in quotes where a file is read as a whole."""

    layout: Layout
    delimiter: str
    strings: bool
    header: bool = False

    def parse(self, lines: pa.Array) -> tuple[list[pa.Array], Problems]:
        """The columns of the good lines, and what is wrong with the bad ones; blank ones are neither."""
        problems, keep = _check_utf8(lines)
        width, (data, offsets) = self.layout.width, text_buffers(lines)
        widths = np.empty(len(lines), np.int64)
        ntriples.check_fields(frozen(data), offsets, ord(self.delimiter), widths)
        for row in np.flatnonzero((widths != width) & (widths != 0) & keep).tolist():
            found = int(widths[row])
            problems.append((row, OPEN_QUOTE if found < 0 else wrong_width(found, width)))
        keep &= widths == width
        good = lines if keep.all() else lines.filter(wrap(keep))
        block = pc.binary_join_element_wise(good, "\n", "")
        return self._columns(block.buffers()[2].to_pybytes() if len(block) else b""), problems

    def parse_file(self, file: str, stream: IO[bytes], wrong: list[Mistake]) -> Iterator[list[pa.Array]]:
        """The columns of a file; its bad rows are appended to `wrong`."""
        content = stream.read().removeprefix(BOM)
        if content and not content.endswith((b"\n", b"\r")):
            content += b"\n"
        try:  # nearly always there is no bad row to look for
            yield self._columns(content[self._start(content) :])
        except (pa.ArrowInvalid, DataError):
            skipped, width = int(self.header), self.layout.width
            good, bad = split_rows(content, self.delimiter.encode(), width, skipped, file)
            wrong += [(record.line, record.text, record.reason) for record in bad]
            yield self._columns(good)

    def _start(self, content: bytes) -> int:
        """Where the rows after the header begin."""
        if not self.header:
            return 0
        rows = records(content, self.delimiter.encode())
        return next((row.end for row in rows if not row.blank), len(content))

    def _columns(self, rows: bytes) -> list[pa.Array]:
        """The columns of whole rows, all of them good; else ArrowInvalid or DataError."""
        if not rows:
            return [pa.array([], pa.string()) for _ in self.layout.chosen]
        delimiter, data = self.delimiter.encode(), pa.py_buffer(rows)
        if is_marked := needs_marks(rows):
            _, marked, opened = mark_rows(rows, delimiter, True)
            if opened >= 0:
                raise DataError(OPEN_QUOTE)
            data = pa.py_buffer(marked)
        found = split_columns(data, self.layout, delimiter, strings=self.strings, marked=is_marked)
        return [stretch_keys(c.data, c.starts, c.ends, c.kinds) for c in found]


@dataclass(frozen=True, slots=True)
class JsonLines:
    """Lines that are JSON objects or arrays, of which some columns are read."""

    columns: JsonColumns

    def parse(self, lines: pa.Array) -> tuple[list[pa.Array], Problems]:
        """As `CsvRows.parse`."""
        dictionary = Dictionary()
        ids, problems = self.columns.encode(lines, dictionary)
        return [key_array(dictionary, column) for column in ids], problems


@dataclass(frozen=True, slots=True)
class TripleLines:
    """Lines of N-Triples or, with a fourth column for the graph, N-Quads."""

    quads: bool

    def parse(self, lines: pa.Array) -> tuple[list[pa.Array], Problems]:
        """As `CsvRows.parse`; the default graph is the empty text."""
        problems, keep = _check_utf8(lines)
        if problems:
            lines = pc.if_else(wrap(keep), lines.cast(pa.binary()), b"").cast(pa.string())
        data, offsets = text_buffers(lines)
        found, wrong = split_lines(data, offsets, self.quads)
        columns = [_triple_keys(column) for column in found]
        return columns, problems + [(problem.row, problem.reason) for problem in wrong]


@dataclass(frozen=True, slots=True)
class RdfFile:
    """Files of RDF in a format of pyoxigraph. If `whole`, a file with a mistake gives nothing."""

    format: str
    whole: bool

    def parse_file(self, file: str, stream: IO[bytes], wrong: list[Mistake]) -> Iterator[list[pa.Array]]:
        """As `CsvRows.parse_file`; nothing follows a mistake."""
        try:
            content = stream.read()
            pieces = Document(partial(io.BytesIO, content), self.format, file).columns()
            for columns in list(pieces) if self.whole else pieces:
                yield [_triple_keys(column) for column in columns]
        except BadDocument as error:
            wrong.append((error.line or 1, "", error.reason))
        except (OSError, EOFError, zlib.error) as error:
            wrong.append((1, "", f"cannot be read: {error}"))


LineParser = CsvRows | JsonLines | TripleLines
FileParser = CsvRows | RdfFile


def _triple_keys(column: Stretches) -> pa.Array:
    """The keys of a column of triples or quads; the default graph is the empty text."""
    nothing = column.kinds == ntriples.NOTHING
    kinds = np.where(nothing, np.uint8(Kind.IRI), column.kinds)
    keys = stretch_keys(column.data, column.starts, column.ends, kinds)
    return pc.if_else(wrap(nothing), "", keys) if nothing.any() else keys


def _check_utf8(lines: pa.Array) -> tuple[Problems, npt.NDArray[np.bool_]]:
    """Which lines are no UTF-8, and a mask of the others."""
    keep = check_utf8(lines)
    return [(row, NOT_UTF8) for row in np.flatnonzero(~keep).tolist()], keep
