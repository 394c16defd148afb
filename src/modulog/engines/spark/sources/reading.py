"""Opening a source by its format: Parquet files, tables of Spark's catalogue and data frames have typed
columns; all others are text.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from modulog.engines.spark.sources.model import Bad, Source, key_columns, shown_file
from modulog.engines.spark.sources.parsing import CsvRows, JsonLines, RdfFile, TripleLines
from modulog.engines.spark.sources.text_files import Lines, read_files, read_lines
from modulog.engines.spark.term_keys import column_keys
from modulog.errors import DataError
from modulog.formats.bad_records import MISSING
from modulog.formats.csv import Layout, unquoted
from modulog.formats.csv_rows import check_delimiter, check_first_rows, records
from modulog.formats.format import FORMATS, unknown_format
from modulog.formats.json_lines import PEEK, JsonColumns
from modulog.formats.parquet import HOLDS
from modulog.formats.tables import choose_columns
from modulog.spark.errors import bad_record, shown_path, translated
from modulog.terms.arrow import TURTLE as ARROW_TURTLE

PLACES = ["s", "p", "o", "g"]
_FILE, _ROW = "_metadata.file_path", "_metadata.row_index"


def read_parquet(
    spark: SparkSession, paths: list[str], arity: int | None, columns: Sequence[int | str] | None, bad: Bad
) -> Source:
    """Open Parquet files; the line of a bad record is the number of its row."""
    with translated():
        data = spark.read.parquet(*paths)
    if arity == 0 and columns is None and data.columns in ([], [HOLDS]):
        held = data.where(HOLDS) if data.columns else data
        return Source(held.limit(1).select())
    turtle = _turtle_columns(spark, data)
    place = [F.col(_FILE).alias("_file"), (F.col(_ROW) + 1).alias("_row")]
    return _typed_source(data, arity, columns, bad, turtle, place, ", ".join(paths))


def from_frame(
    frame: DataFrame,
    columns: Sequence[int | str] | None = None,
    *,
    arity: int | None = None,
    bad: Bad = "fail",
) -> Source:
    """The facts of a DataFrame: its columns by name or by position from 0, all if none are named."""
    place = [F.lit("").alias("_file"), F.lit(0).cast("long").alias("_row")]
    return _typed_source(frame, arity, columns, bad, frozenset(), place, "the DataFrame")


def _typed_source(
    data: DataFrame,
    arity: int | None,
    columns: Sequence[int | str] | None,
    bad: Bad,
    turtle: frozenset[str],
    place: list[Column],
    source: str,
) -> Source:
    names = data.columns
    chosen = [names[i] for i in choose_columns(names, len(names), arity, columns, source)]
    if not chosen:
        return Source(data.limit(1).select())
    turtle |= {f.name for f in data.schema.fields if f.metadata.get("modulog.terms") == "turtle"}
    keys = key_columns(len(chosen))
    picked = [F.col(_quoted(name)).alias(key) for name, key in zip(chosen, keys, strict=True)]
    wide = data.select(*picked, *place)
    lacking = reduce(Column.__or__, [F.col(key).isNull() for key in keys])
    run = ReadColumns(tuple(chosen), tuple(name in turtle for name in chosen), uuid4().hex, source)
    good = wide if bad == "fail" else wide.where(~lacking)
    aside = None
    if bad == "set-aside":
        text = F.to_json(F.struct(*[F.col(k).alias(n) for k, n in zip(keys, chosen, strict=True)]))
        place = [shown_file("_file").alias("file"), F.col("_row").alias("line")]
        aside = wide.where(lacking).select(*place, text.alias("text"), F.lit(MISSING).alias("reason"))
    return Source(good, tuple(keys), aside, run)


@dataclass(frozen=True, slots=True)
class ReadColumns:
    """Batches of values, followed by file and row, to batches of keys."""

    names: tuple[str, ...]
    turtle: tuple[bool, ...]
    token: str
    source: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        keys = key_columns(len(self.names))
        for batch in batches:
            arrays = [self._keys(batch, place) for place in range(len(self.names))]
            yield pa.RecordBatch.from_arrays(arrays, keys)

    def _keys(self, batch: pa.RecordBatch, place: int) -> pa.Array:
        column = batch.column(place)
        if column.null_count:
            raise self._error(batch, place, pc.index(pc.is_null(column), True).as_py(), MISSING)
        try:
            return column_keys(column, turtle=self.turtle[place])
        except DataError as error:
            row, reason = _first_bad(column, self.turtle[place], error)
            raise self._error(batch, place, row, reason) from error

    def _error(self, batch: pa.RecordBatch, place: int, row: int, reason: str) -> DataError:
        file, number = batch.column("_file")[row].as_py(), batch.column("_row")[row].as_py()
        where = f"{shown_path(file)}:{number}" if file else self.source
        return bad_record(self.token, reason, where=f"{where}: column {self.names[place]!r}")


def _first_bad(column: pa.Array, turtle: bool, error: DataError) -> tuple[int, str]:
    """The first row of a column that cannot be read, and why."""
    for row in range(len(column)):
        try:
            column_keys(column.slice(row, 1), turtle=turtle)
        except DataError as problem:
            return row, str(problem).removeprefix("row 1: ")
    return 0, str(error)


def _turtle_columns(spark: SparkSession, data: DataFrame) -> frozenset[str]:
    """The columns that Modulog wrote in Turtle form, which Spark's own schema does not tell."""
    files = data.inputFiles()
    if not files:
        return frozenset()
    jvm: Any = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(files[0]))
    hadoop = jvm.org.apache.parquet.hadoop
    reader = hadoop.ParquetFileReader.open(
        hadoop.util.HadoopInputFile.fromPath(path, spark._jsc.hadoopConfiguration())
    )
    try:
        text = reader.getFooter().getFileMetaData().getKeyValueMetaData().get("ARROW:schema")
    finally:
        reader.close()
    if text is None:
        return frozenset()
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))
    return frozenset(
        field.name for field in schema if field.metadata and ARROW_TURTLE.items() <= field.metadata.items()
    )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def read(
    spark: SparkSession,
    path: str | Sequence[str],
    format: str,
    *,
    arity: int | None = None,
    header: bool = False,
    strings: bool = False,
    columns: Sequence[int | str] | None = None,
    delimiter: str | None = None,
    multiline: bool = False,
    bad: Bad = "fail",
) -> Source:
    """Open a source: a file, a folder, a glob, several of them, or the name of a table.

    Nothing is read but a few lines of CSV or JSON to see their columns; the frame of the source is parsed in
    the executors when it is used. `multiline` is for CSV files with newlines in quotes, which cannot be
    split.
    """
    paths = [path] if isinstance(path, str) else list(path)
    shown = ", ".join(paths)
    match format:
        case "csv" | "tsv" | "dsv":
            separator = delimiter or FORMATS[format].delimiter or ","
            check_delimiter(separator)
            with translated():
                text = spark.read.text(paths)
            if arity == 0:
                return _read_nullary(text, shown)
            lines = Lines(spark, text).first(PEEK)
            layout = _layout(lines, separator, arity, header, columns, shown)
            rows, names = CsvRows(layout, separator, strings, header), key_columns(len(layout.chosen))
            if multiline:
                return read_files(spark, paths, rows, names, bad)
            return read_lines(spark, paths, rows, names, bad, lines[0] if header and lines else None)
        case "jsonl":
            lines = []
            if columns is None:  # the members of the first object, or all values of an array
                with translated():
                    lines = Lines(spark, spark.read.text(paths)).first(PEEK)
            found = JsonColumns.of(lines, arity, columns, shown)
            return read_lines(spark, paths, JsonLines(found), key_columns(len(found.chosen)), bad)
        case "parquet":
            return read_parquet(spark, paths, arity, columns, bad)
        case "nt" | "nq":
            graphs = FORMATS[format].graphs
            return read_lines(spark, paths, TripleLines(graphs), PLACES[: 4 if graphs else 3], bad)
        case "ttl" | "trig" | "rdf":
            return read_files(spark, paths, RdfFile(format, bad == "set-aside"), PLACES, bad)
        case "table":
            with translated():
                tables = reduce(DataFrame.union, [spark.table(name) for name in paths])
            return from_frame(tables, columns, arity=arity, bad=bad)
    raise DataError(unknown_format(format, FORMATS))


def _layout(
    lines: list[str],
    delimiter: str,
    arity: int | None,
    header: bool,
    columns: Sequence[int | str] | None,
    source: str,
) -> Layout:
    """How wide the rows of CSV are and which fields are read, from the first lines."""
    found = records("\n".join(lines).encode(errors="replace"), delimiter.encode())
    rows = [record for record in found if not record.blank]
    if not rows:
        return Layout(arity or 1, tuple(range(arity or 1)))
    width, names = len(rows[0].fields), [unquoted(field) for field in rows[0].fields] if header else None
    if is_plain := columns is None and not header:
        check_first_rows(source, rows[0], iter(rows[1:]))
    if is_plain and arity is not None:  # a row of another width is a bad record, and be it the first
        return Layout(arity, tuple(range(arity)))
    return Layout(width, tuple(choose_columns(names, width, arity, columns, source)))


def _read_nullary(text: DataFrame, source: str) -> Source:
    """A predicate without arguments holds if its file has a line, which must be empty."""
    with translated():
        wrong = text.where(F.col("value") != "").select("_metadata.file_path").head(1)
    if wrong:
        raise DataError(f"{shown_path(wrong[0][0])}: a value where no argument should be")
    return Source(text.limit(1).select())
