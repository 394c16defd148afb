"""Sources with typed columns: Parquet files, tables of Spark's catalogue and any DataFrame."""

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

from modulog.engines.spark.errors import bad_record, register, shown_path, translated
from modulog.engines.spark.sources.model import Bad, Source, key_columns, shown_file
from modulog.engines.spark.term_keys import column_keys
from modulog.errors import DataError
from modulog.formats.bad_records import MISSING
from modulog.formats.parquet import HOLDS
from modulog.formats.tables import choose_columns
from modulog.terms.arrow import TURTLE as ARROW_TURTLE

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
    """The facts of a DataFrame: `columns` are its arguments, by name or by position from 0, all if none are named."""
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
    token, located = uuid4().hex, Rows(source)
    register(token, located)
    picked = [
        F.col(_quoted(name)).alias(key) for name, key in zip(chosen, key_columns(len(chosen)), strict=True)
    ]
    wide = data.select(*picked, *place)
    lacking = reduce(Column.__or__, [F.col(key).isNull() for key in key_columns(len(chosen))])
    run = ReadColumns(tuple(chosen), tuple(name in turtle for name in chosen), token)
    good = wide if bad == "fail" else wide.where(~lacking)
    aside = None
    if bad == "set-aside":
        text = F.to_json(
            F.struct(*[F.col(k).alias(n) for k, n in zip(key_columns(len(chosen)), chosen, strict=True)])
        )
        shown = shown_file("_file").alias("file")
        aside = wide.where(lacking).select(
            shown, F.col("_row").alias("line"), text.alias("text"), F.lit(MISSING).alias("reason")
        )
    return Source(good, tuple(key_columns(len(chosen))), aside, run)


@dataclass(frozen=True)
class Rows:
    """Says where bad records of typed sources are."""

    source: str

    def locate(self, file: str, row: int, column: str) -> str:
        """The file and the row if there is a file, and the column."""
        return f"{shown_path(file)}:{row}: column {column!r}" if file else f"{self.source}: column {column!r}"


@dataclass(frozen=True, slots=True)
class ReadColumns:
    """Batches of values, followed by file and row, to batches of keys."""

    names: tuple[str, ...]
    turtle: tuple[bool, ...]
    token: str

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
        return bad_record(self.token, reason, file=file, row=number, column=self.names[place])


def _first_bad(column: pa.Array, turtle: bool, error: DataError) -> tuple[int, str]:
    """The first row of a column that cannot be read, and why."""
    for row in range(len(column)):
        try:
            column_keys(column.slice(row, 1), turtle=turtle)
        except DataError as problem:
            return row, str(problem).removeprefix("row 1: ")
    return 0, str(error)


def _turtle_columns(spark: SparkSession, data: DataFrame) -> frozenset[str]:
    """The columns that Modulog wrote in Turtle form, as the first file says in a place where Spark does not look."""
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
