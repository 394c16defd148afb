"""Opening a source by its format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from modulog.engines.spark.errors import shown_path, translated
from modulog.engines.spark.sources.documents import CsvDocuments, RdfDocuments, read_documents
from modulog.engines.spark.sources.lines import Lines, read_lines
from modulog.engines.spark.sources.model import Bad, Source, key_columns
from modulog.engines.spark.sources.parsing import CsvLines, JsonLines, TripleLines
from modulog.engines.spark.sources.tables import from_frame, read_parquet
from modulog.errors import DataError
from modulog.formats.csv_rows import Record, check_first_rows, records
from modulog.formats.format import FORMATS, unknown_format
from modulog.formats.json_lines import PEEK, JsonColumns
from modulog.formats.tables import choose_columns


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

    Nothing is read but a few lines of CSV or JSON to see their columns; the frame of the source is parsed in the
    executors when it is used. `multiline` is for CSV files with newlines in quotes, which cannot be split.
    """
    paths = [path] if isinstance(path, str) else list(path)
    match format:
        case "csv" | "tsv" | "dsv":
            separator = _checked(delimiter or FORMATS[format].delimiter or ",")
            layout = _Layout(arity, header, strings, columns, separator, multiline)
            return _read_csv(spark, paths, layout, bad)
        case "jsonl":
            return _read_json(spark, paths, arity, columns, bad)
        case "parquet":
            return read_parquet(spark, paths, arity, columns, bad)
        case "nt" | "nq":
            graphs = FORMATS[format].graphs
            places = ["s", "p", "o", "g"] if graphs else ["s", "p", "o"]
            return read_lines(spark, paths, TripleLines(graphs), places, bad)
        case "ttl" | "trig" | "rdf":
            return read_documents(spark, paths, RdfDocuments(format), ["s", "p", "o", "g"], bad)
        case "table":
            with translated():
                tables = [spark.table(name) for name in paths]
            return from_frame(_union(tables), columns, arity=arity, bad=bad)
    raise DataError(unknown_format(format, FORMATS))


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the rows of CSV files are to be read."""

    arity: int | None
    header: bool
    strings: bool
    columns: Sequence[int | str] | None
    delimiter: str
    multiline: bool


def _read_csv(spark: SparkSession, paths: list[str], layout: _Layout, bad: Bad) -> Source:
    source = ", ".join(paths)
    with translated():
        text = spark.read.text(paths)
    if layout.arity == 0:
        return _read_nullary(text, source)
    lines = Lines(spark, text).first(PEEK)
    width, chosen = _columns(lines, layout, source)
    rows = CsvLines(width, tuple(chosen), layout.delimiter, layout.strings)
    names = key_columns(len(chosen))
    if layout.multiline:
        return read_documents(spark, paths, CsvDocuments(rows, layout.header), names, bad)
    return read_lines(spark, paths, rows, names, bad, lines[0] if layout.header and lines else None)


def _columns(lines: list[str], layout: _Layout, source: str) -> tuple[int, list[int]]:
    """How wide the rows are and which fields are read, from the first lines."""
    found = records("\n".join(lines).encode(errors="replace"), layout.delimiter.encode())
    rows = [record for record in found if not record.blank]
    if not rows:
        return layout.arity or 1, list(range(layout.arity or 1))
    names = [_unquoted(field) for field in rows[0].fields] if layout.header else None
    if layout.columns is None and layout.arity is not None and not layout.header:
        _check_header(rows, source)
        return layout.arity, list(range(layout.arity))
    width = len(rows[0].fields)
    chosen = choose_columns(names, width, layout.arity, layout.columns, source)
    if not layout.header and layout.columns is None:
        _check_header(rows, source)
    return width, chosen


def _check_header(rows: list[Record], source: str) -> None:
    check_first_rows(source, rows[0], iter(rows[1:]))


def _read_nullary(text: DataFrame, source: str) -> Source:
    """A predicate without arguments holds if its file has a line, which must be empty."""
    with translated():
        wrong = text.where(F.col("value") != "").select("_metadata.file_path").head(1)
    if wrong:
        raise DataError(f"{shown_path(wrong[0][0])}: a value where no argument should be")
    return Source(text.limit(1).select())


def _read_json(
    spark: SparkSession,
    paths: list[str],
    arity: int | None,
    columns: Sequence[int | str] | None,
    bad: Bad,
) -> Source:
    """Lines of JSON; without `columns` the members of the first object, or all values of an array, are read."""
    lines: list[str] = []
    if columns is None:
        with translated():
            text = spark.read.text(paths)
        lines = Lines(spark, text).first(PEEK)
    found = JsonColumns.of(lines, arity, columns, ", ".join(paths))
    return read_lines(spark, paths, JsonLines(found), key_columns(len(found.chosen)), bad)


def _checked(delimiter: str) -> str:
    if len(delimiter) != 1 or (not " " <= delimiter <= "~" and delimiter != "\t") or delimiter == '"':
        raise DataError(f"{delimiter!r} cannot separate fields: it must be one ASCII character, and no quote")
    return delimiter


def _unquoted(field: bytes) -> str:
    text = field.decode(errors="replace")
    return text[1:-1].replace('""', '"') if len(text) > 1 and text[0] == text[-1] == '"' else text


def _union(frames: list[DataFrame]) -> DataFrame:
    return reduce(DataFrame.union, frames)
