"""Text files as Spark reads them: line by line, so that big files are split among executors, or each as a
whole.

Of a line, executors know the block of the file that it came from, and its number there. The line of a bad
record is that number plus the lines of the blocks before, which are counted only if there is a bad record.
"""

from __future__ import annotations

import bz2
import gzip
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from modulog.engines.spark.sources.model import BAD_SCHEMA, Bad, Source, shown_file
from modulog.engines.spark.sources.parsing import FileParser, LineParser, Mistake
from modulog.formats.rdf_documents import address
from modulog.spark.errors import bad_record, register, shown_path, translated
from modulog.terms.arrow import unwrap, wrap

_FILE, _BLOCK = "_metadata.file_path", "_metadata.file_block_start"
_BAD_LINES = "file string, block long, row long, text string, reason string"

Batches = Iterable[pa.RecordBatch]


def read_lines(
    spark: SparkSession,
    paths: list[str],
    parser: LineParser,
    names: Sequence[str],
    bad: Bad,
    header: str | None = None,
) -> Source:
    """Open text files whose lines a parser understands; `header` is the first line of every file."""
    with translated():
        located = Lines(spark, spark.read.text(paths))
    token = uuid4().hex
    register(token, located)
    run = ReadLines(parser, tuple(names), token, header, bad == "set-aside")
    aside = located.bad(run) if bad == "set-aside" else None
    return Source(located.lines(F.xxhash64(_FILE)), tuple(names), aside, run)


class Lines:
    """Text files as Spark reads them."""

    def __init__(self, spark: SparkSession, text: DataFrame) -> None:
        self._spark, self._text = spark, text

    def lines(self, file: Any) -> DataFrame:
        """Each line, a mark for its file, and its block."""
        return self._text.select("value", file.alias("file"), F.col(_BLOCK).alias("block"))

    def first(self, count: int) -> list[str]:
        """Some lines from the start of one of the files; blank ones are left out."""
        with translated():
            rows = self._text.where(F.trim("value") != "").head(count)
        return [row.value for row in rows]

    def locate(self, file: int, block: int, row: int) -> str:
        """The file and the line of a row of a block, counted from 0; a file is a hash of its name."""
        # Spark writes the same file with one slash here and with three there.
        files = [path for name in self._text.inputFiles() for path in (name, name.replace(":///", ":/", 1))]
        table = pa.table({"path": pa.array(files, pa.string())})
        found = self._spark.createDataFrame(table).where(F.xxhash64("path") == file).head(1)
        if not found:
            return f"row {row + 1} of the block at {block}"
        path = found[0].path
        before = self._text.where((F.col(_FILE) == path) & (F.col(_BLOCK) < block)).count() if block else 0
        return f"{shown_path(path)}:{before + row + 1}"

    def bad(self, run: ReadLines) -> DataFrame:
        """The bad records, with their lines."""
        lines = self.lines(F.col(_FILE))
        blocks = lines.groupBy("file", "block").agg(F.count("*").alias("lines"))
        earlier = Window.partitionBy("file").orderBy("block").rowsBetween(Window.unboundedPreceding, -1)
        lines_before = F.coalesce(F.sum("lines").over(earlier), F.lit(0)).alias("before")
        found = lines.mapInArrow(run.bad, _BAD_LINES).join(
            blocks.select("file", "block", lines_before), ["file", "block"]
        )
        line = (F.col("before") + F.col("row") + 1).cast("long").alias("line")
        return found.select(shown_file("file").alias("file"), line, "text", "reason")


@dataclass(slots=True)
class Places:
    """The blocks that rows of a stream of batches come from, and their numbers there."""

    last: tuple[Any, int] | None = None
    seen: int = 0

    def of(self, batch: pa.RecordBatch) -> tuple[list[int], list[int]]:
        """Where in the batch blocks begin, and the number in its block of the first row of each stretch."""
        blocks = unwrap(batch.column("block"))
        files = batch.column("file")
        codes = unwrap(files.dictionary_encode().indices if pa.types.is_string(files.type) else files)
        changes = (blocks[1:] != blocks[:-1]) | (codes[1:] != codes[:-1])
        starts = [0, *(np.flatnonzero(changes) + 1).tolist()]
        here = files[0].as_py(), int(blocks[0])
        before = [self.seen if here == self.last else 0, *[0] * (len(starts) - 1)]
        self.last = files[batch.num_rows - 1].as_py(), int(blocks[-1])
        self.seen = batch.num_rows - starts[-1] + before[-1]
        return starts, before


@dataclass(frozen=True, slots=True)
class ReadLines:
    """Batches of lines to batches of keys; a bad line is an error, or is left out."""

    parser: LineParser
    names: tuple[str, ...]
    token: str
    header: str | None
    lenient: bool

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for columns, bad in self._parsed(batches):
            if bad and not self.lenient:
                raise bad_record(self.token, **{k: v for k, v in bad[0].items() if k != "text"})
            yield pa.RecordBatch.from_arrays(columns, list(self.names))

    def bad(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Batches of lines to the bad ones."""
        for _, bad in self._parsed(batches):
            if bad:
                yield pa.RecordBatch.from_pylist(bad)

    def _parsed(self, batches: Batches) -> Iterator[tuple[list[pa.Array], list[dict[str, Any]]]]:
        """For each batch the columns of good lines, and the bad ones: file, block, row there, text and
        reason.
        """
        places = Places()
        for batch in batches:
            if not batch.num_rows:
                continue
            starts, before = places.of(batch)
            lines, wrong = self._lines(batch, starts, before)
            columns, problems = self.parser.parse(lines)
            yield columns, [_bad_line(batch, starts, before, *bad) for bad in sorted(problems + wrong)]

    def _lines(
        self, batch: pa.RecordBatch, starts: list[int], before: list[int]
    ) -> tuple[pa.Array, list[tuple[int, str]]]:
        """The lines of a batch, headers made blank, and headers that differ from the one expected."""
        lines, blocks = batch.column("value"), batch.column("block")
        if self.header is None:
            return lines, []
        found = [s for s, b in zip(starts, before, strict=True) if b == 0 and blocks[s].as_py() == 0]
        text = self.header.encode()
        wrong = [row for row in found if lines[row].as_buffer().to_pybytes() != text]
        if found:
            mask = np.zeros(len(lines), np.bool_)
            mask[found] = True
            lines = pc.if_else(wrap(mask), "", lines)
        return lines, [(row, f"another header than the first file has: {self.header}") for row in wrong]


def _bad_line(
    batch: pa.RecordBatch, starts: list[int], before: list[int], place: int, reason: str
) -> dict[str, Any]:
    stretch = int(np.searchsorted(starts, place, "right")) - 1
    return {
        "file": batch.column("file")[place].as_py(),
        "block": batch.column("block")[place].as_py(),
        "row": before[stretch] + place - starts[stretch],
        "text": batch.column("value")[place].as_buffer().to_pybytes().decode(errors="replace"),
        "reason": reason,
    }


# ---- Whole files


def read_files(
    spark: SparkSession, paths: list[str], parser: FileParser, names: Sequence[str], bad: Bad
) -> Source:
    """Open files that are parsed as a whole, each by one executor."""
    with translated():
        files = spark.read.format("binaryFile").load(paths).select("path", "content")
    run = ReadFiles(parser, tuple(names), uuid4().hex, bad == "set-aside")
    aside = files.mapInArrow(run.bad, BAD_SCHEMA) if bad == "set-aside" else None
    return Source(files, tuple(names), aside, run)


@dataclass(frozen=True, slots=True)
class ReadFiles:
    """Files to batches of keys; a mistake is an error, or sets aside a row of CSV or a file of RDF."""

    parser: FileParser
    names: tuple[str, ...]
    token: str
    lenient: bool

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for file, stream in _files(batches):
            wrong: list[Mistake] = []
            for columns in self.parser.parse_file(file, stream, wrong):
                yield pa.RecordBatch.from_arrays(columns, list(self.names))
            if wrong and not self.lenient:
                line, _, reason = wrong[0]
                raise bad_record(self.token, reason, where=f"{shown_path(file)}:{line}")

    def bad(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Files to what is wrong with them."""
        for file, stream in _files(batches):
            wrong: list[Mistake] = []
            for _ in self.parser.parse_file(file, stream, wrong):
                pass
            for line, text, reason in wrong:
                row = {"file": shown_path(file), "line": line, "text": text, "reason": reason}
                yield pa.RecordBatch.from_pylist([row])


def _files(batches: Batches) -> Iterator[tuple[str, IO[bytes]]]:
    """The names and the uncompressed contents of files."""
    for batch in batches:
        for path, content in zip(batch.column("path"), batch.column("content"), strict=True):
            file, stream = address(path.as_py()), io.BytesIO(content.as_py())
            if file.endswith(".gz"):
                yield file, gzip.GzipFile(fileobj=stream)  # type: ignore[misc]
            elif file.endswith(".bz2"):
                yield file, bz2.BZ2File(stream)
            else:
                yield file, stream
