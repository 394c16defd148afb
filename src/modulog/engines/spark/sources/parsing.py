"""Lines and blocks of text as columns of keys, in executors: CSV, JSON and N-Triples; nothing here knows Spark.

A parser takes an array of lines and answers the columns of the good ones, in order, and what is wrong with the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from modulog.engines.spark.term_keys import key_array, stretch_keys, text_buffers
from modulog.errors import DataError
from modulog.formats.csv_rows import OPEN_QUOTE, wrong_width
from modulog.formats.json_lines import JsonColumns
from modulog.formats.rdf_lines import Stretches, split_lines
from modulog.formats.text_files import NOT_UTF8, check_utf8
from modulog.kernels import csv_fields, ntriples
from modulog.terms.arrow import column_texts, wrap
from modulog.terms.constant import Kind
from modulog.terms.dictionary import Bytes, Dictionary, frozen

Problems = list[tuple[int, str]]
"""Rows of a batch, counted from 0, and what is wrong with them."""


class LineParser(Protocol):
    """Turns lines into columns of keys."""

    def parse(self, lines: pa.Array) -> tuple[list[pa.Array], Problems]:
        """The columns of the good lines, and what is wrong with the bad ones; blank lines are neither."""


@dataclass(frozen=True, slots=True)
class CsvLines:
    """Lines of a CSV file: `width` fields each, of which those at the places `chosen` are read."""

    width: int
    chosen: tuple[int, ...]
    delimiter: str
    strings: bool

    def parse(self, lines: pa.Array) -> tuple[list[pa.Array], Problems]:
        """As `LineParser` says."""
        problems, keep = _check_utf8(lines)
        data, offsets = text_buffers(lines)
        widths = np.empty(len(lines), np.int64)
        ntriples.check_fields(frozen(data), offsets, ord(self.delimiter), widths)
        wrong = (widths != self.width) & (widths != 0) & keep
        for row in np.flatnonzero(wrong).tolist():
            problems.append(
                (row, OPEN_QUOTE if widths[row] < 0 else wrong_width(int(widths[row]), self.width))
            )
        keep &= widths == self.width
        good = lines if keep.all() else lines.filter(wrap(keep))
        block = pc.binary_join_element_wise(good, "\n", "")
        return self.columns(block.buffers()[2] if len(block) else pa.py_buffer(b"")), problems

    def columns(self, block: pa.Buffer) -> list[pa.Array]:
        """The columns of a block of whole rows, all of them good; else ArrowInvalid or DataError."""
        if not block.size:
            return [pa.array([], pa.string()) for _ in self.chosen]
        marked = _marked(block, self.delimiter)
        names = [str(i) for i in range(self.width)]
        table = pa.csv.read_csv(
            pa.BufferReader(block if marked is None else pa.py_buffer(marked)),
            read_options=pa.csv.ReadOptions(
                use_threads=False, block_size=2 * block.size + 16, column_names=names
            ),
            parse_options=pa.csv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=marked is not None, ignore_empty_lines=True
            ),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=[names[i] for i in dict.fromkeys(self.chosen)],
                strings_can_be_null=False,
            ),
        )
        keys = {i: self._keys(table[names[i]].combine_chunks(), marked is not None) for i in set(self.chosen)}
        return [keys[i] for i in self.chosen]

    def _keys(self, column: pa.Array, marked: bool) -> pa.Array:
        texts = column_texts(column, typed=not self.strings, marked=marked)
        return stretch_keys(texts.data, texts.starts, texts.ends, texts.kinds)


@dataclass(frozen=True, slots=True)
class JsonLines:
    """Lines that are JSON objects or arrays, of which some columns are read."""

    columns: JsonColumns

    def parse(self, lines: pa.Array) -> tuple[list[pa.Array], Problems]:
        """As `LineParser` says."""
        dictionary = Dictionary()
        ids, problems = self.columns.encode(lines, dictionary)
        return [key_array(dictionary, column) for column in ids], problems


@dataclass(frozen=True, slots=True)
class TripleLines:
    """Lines of N-Triples or, with a fourth column for the graph, N-Quads."""

    quads: bool

    def parse(self, lines: pa.Array) -> tuple[list[pa.Array], Problems]:
        """As `LineParser` says; the default graph is the empty text."""
        problems, keep = _check_utf8(lines)
        if problems:
            lines = pc.if_else(wrap(keep), lines.cast(pa.binary()), b"").cast(pa.string())
        data, offsets = text_buffers(lines)
        found, wrong = split_lines(data, offsets, self.quads)
        columns = [triple_keys(column) for column in found]
        return columns, problems + [(problem.row, problem.reason) for problem in wrong]


def triple_keys(column: Stretches) -> pa.Array:
    """The keys of a column of triples or quads; the default graph is the empty text."""
    nothing = column.kinds == ntriples.NOTHING
    kinds = np.where(nothing, np.uint8(Kind.IRI), column.kinds)
    keys = stretch_keys(column.data, column.starts, column.ends, kinds)
    return pc.if_else(wrap(nothing), "", keys) if nothing.any() else keys


def _check_utf8(lines: pa.Array) -> tuple[Problems, npt.NDArray[np.bool_]]:
    """Which lines are no UTF-8, and a mask of the others."""
    keep = check_utf8(lines)
    return [(row, NOT_UTF8) for row in np.flatnonzero(~keep).tolist()], keep


def _marked(block: pa.Buffer, delimiter: str) -> Bytes | None:
    """A block with a mark in every field that is surely a string, None if it needs none."""
    data = np.frombuffer(block, np.uint8)
    if not ((data == ord('"')) | (data == csv_fields.MARK)).any():
        return None
    marked = np.empty(len(data) + len(data) // 2 + 2, np.uint8)
    _, written, opened = csv_fields.mark_fields(frozen(data), ord(delimiter), True, marked)
    if opened >= 0:
        raise DataError(OPEN_QUOTE)
    return marked[:written]
