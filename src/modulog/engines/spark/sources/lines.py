"""Sources that are read line by line: big files are split among executors.

Executors know the block of a file that a line came from and its number there. The line of a bad record is that number
plus the lines of the blocks before, which are counted only if there is a bad record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from modulog.engines.spark.errors import bad_record, register, shown_path, translated
from modulog.engines.spark.sources.model import Bad, Source, shown_file
from modulog.engines.spark.sources.parsing import LineParser
from modulog.terms.arrow import unwrap, wrap

_FILE, _BLOCK = "_metadata.file_path", "_metadata.file_block_start"
_BAD_BLOCKS = "file string, block long, row long, text string, reason string"


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
        text = spark.read.text(paths)
    token = uuid4().hex
    located = Lines(spark, text)
    register(token, located)
    run = ReadLines(parser, tuple(names), token, header, bad == "set-aside")
    lines = text.select("value", F.xxhash64(_FILE).alias("file"), F.col(_BLOCK).alias("block"))
    aside = located.bad(FindBadLines(parser, header)) if bad == "set-aside" else None
    return Source(lines, tuple(names), aside, run)


class Lines:
    """Text files as Spark reads them."""

    def __init__(self, spark: SparkSession, text: DataFrame) -> None:
        self._spark, self._text = spark, text

    def first(self, count: int) -> list[str]:
        """Some lines from the start of one of the files; blank ones are left out."""
        with translated():
            rows = self._text.where(F.trim("value") != "").head(count)
        return [row.value for row in rows]

    def locate(self, file: int, block: int, row: int) -> str:
        """The file and the line of a row of a block, counted from 0; files are known by a hash of their names."""
        # Spark writes the same file with one slash here and with three there.
        files = [path for name in self._text.inputFiles() for path in (name, name.replace(":///", ":/", 1))]
        table = pa.table({"path": pa.array(files, pa.string())})
        found = self._spark.createDataFrame(table).where(F.xxhash64("path") == file).head(1)
        if not found:
            return f"row {row + 1} of the block at {block}"
        path = found[0].path
        before = self._text.where((F.col(_FILE) == path) & (F.col(_BLOCK) < block)).count() if block else 0
        return f"{shown_path(path)}:{before + row + 1}"

    def bad(self, find: FindBadLines) -> DataFrame:
        """The bad records, with their lines."""
        lines = self._text.select("value", F.col(_FILE).alias("file"), F.col(_BLOCK).alias("block"))
        found = lines.mapInArrow(find, _BAD_BLOCKS)
        blocks = lines.groupBy("file", "block").agg(F.count("*").alias("lines"))
        earlier = Window.partitionBy("file").orderBy("block").rowsBetween(Window.unboundedPreceding, -1)
        before = blocks.select(
            "file", "block", F.coalesce(F.sum("lines").over(earlier), F.lit(0)).alias("before")
        )
        line = (F.col("before") + F.col("row") + 1).cast("long").alias("line")
        shown = shown_file("file").alias("file")
        return found.join(before, ["file", "block"]).select(shown, line, "text", "reason")


@dataclass(slots=True)
class Places:
    """The blocks that rows of a stream of batches come from, and their numbers there."""

    last: tuple[Any, int] | None = None
    seen: int = 0

    def of(self, batch: pa.RecordBatch) -> tuple[list[int], list[int]]:
        """Where in the batch blocks begin, and the number in its block of the first row of each stretch."""
        blocks = unwrap(batch.column("block"))
        files = batch.column("file")
        numbers = files.dictionary_encode().indices if pa.types.is_string(files.type) else files
        codes = unwrap(numbers)
        changes = (blocks[1:] != blocks[:-1]) | (codes[1:] != codes[:-1])
        starts = [0, *(np.flatnonzero(changes) + 1).tolist()]
        here = files[0].as_py(), int(blocks[0])
        numbers_before = [self.seen if here == self.last else 0, *[0] * (len(starts) - 1)]
        self.last = files[batch.num_rows - 1].as_py(), int(blocks[-1])
        self.seen = batch.num_rows - starts[-1] + (numbers_before[-1])
        return starts, numbers_before


def _row(starts: list[int], before: list[int], place: int) -> int:
    """The number in its block of a row of a batch."""
    stretch = int(np.searchsorted(starts, place, "right")) - 1
    return before[stretch] + place - starts[stretch]


def _headers(batch: pa.RecordBatch, starts: list[int], before: list[int]) -> list[int]:
    """The rows of a batch that are the first of their files."""
    blocks = unwrap(batch.column("block"))
    return [s for s, b in zip(starts, before, strict=True) if b == 0 and blocks[s] == 0]


def _lines(
    batch: pa.RecordBatch, starts: list[int], before: list[int], header: str | None
) -> tuple[pa.Array, list[tuple[int, str]]]:
    """The lines of a batch, headers made blank, and headers that differ from the one expected."""
    lines = batch.column("value")
    if header is None:
        return lines, []
    wrong = []
    mask = np.zeros(len(lines), np.bool_)
    for row in _headers(batch, starts, before):
        mask[row] = True
        if lines[row].as_buffer().to_pybytes() != header.encode():
            wrong.append((row, f"another header than the first file has: {header}"))
    if mask.any():
        lines = pc.if_else(wrap(mask), "", lines)
    return lines, wrong


@dataclass(frozen=True, slots=True)
class ReadLines:
    """Batches of lines to batches of keys; a bad line is an error, or is left out."""

    parser: LineParser
    names: tuple[str, ...]
    token: str
    header: str | None
    lenient: bool

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        places = Places()
        for batch in batches:
            if not batch.num_rows:
                continue
            starts, before = places.of(batch)
            lines, wrong = _lines(batch, starts, before, self.header)
            columns, problems = self.parser.parse(lines)
            if (problems or wrong) and not self.lenient:
                row, reason = min(problems + wrong)
                raise bad_record(
                    self.token,
                    reason,
                    file=batch.column("file")[row].as_py(),
                    block=batch.column("block")[row].as_py(),
                    row=_row(starts, before, row),
                )
            yield pa.RecordBatch.from_arrays(columns, list(self.names))


@dataclass(frozen=True, slots=True)
class FindBadLines:
    """Batches of lines to the bad ones."""

    parser: LineParser
    header: str | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        places = Places()
        for batch in batches:
            if not batch.num_rows:
                continue
            starts, before = places.of(batch)
            lines, wrong = _lines(batch, starts, before, self.header)
            problems = sorted(self.parser.parse(lines)[1] + wrong)
            rows = [row for row, _ in problems]
            texts = batch.column("value").cast(pa.binary())
            yield pa.RecordBatch.from_pydict(
                {
                    "file": [batch.column("file")[row].as_py() for row in rows],
                    "block": [batch.column("block")[row].as_py() for row in rows],
                    "row": [_row(starts, before, row) for row in rows],
                    "text": [texts[row].as_py().decode(errors="replace") for row in rows],
                    "reason": [reason for _, reason in problems],
                },
                pa.schema(
                    [
                        ("file", pa.string()),
                        ("block", pa.int64()),
                        ("row", pa.int64()),
                        ("text", pa.string()),
                        ("reason", pa.string()),
                    ]
                ),
            )
