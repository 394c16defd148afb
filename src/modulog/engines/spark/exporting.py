"""Facts out of Spark, written by the executors: a folder for each predicate, and in it Parquet, CSV, TSV, N-Triples or Turtle."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from modulog.engines.backend import Signed
from modulog.engines.protocol import Table
from modulog.engines.spark import keys
from modulog.engines.spark.table import SparkTable
from modulog.errors import DataError
from modulog.formats import DataWarning, rdf_writing
from modulog.formats.exporting import part_names, sayable
from modulog.formats.writing import format_rows
from modulog.language.model import Predicate
from modulog.terms.dictionary import Dictionary

if TYPE_CHECKING:
    from modulog.engines.spark.backend import SparkBackend

FORMATS = ("csv", "tsv", "parquet", *rdf_writing.FORMATS)
SIGNED = "predicate string, sign int, terms array<string>"


def export(
    backend: SparkBackend,
    folder: str,
    format: str,
    predicates: Sequence[Predicate],
    reading: Callable[[Predicate], Iterable[Table]],
) -> dict[str, int]:
    """Write the facts of each predicate into a folder named for it; returns the rows of each folder."""
    if format not in FORMATS:
        raise DataError(f'facts are not written as "{format}"; choose one of: {", ".join(FORMATS)}')
    if format in rdf_writing.FORMATS:
        predicates = sayable(predicates)
    written = {}
    for predicate, name in part_names(predicates, format).items():
        for table in reading(predicate):
            assert isinstance(table, SparkTable)
            left = _write(backend, table, predicate, format, f"{folder}/{name}")
            written[name] = len(table) - left
    return written


def _write(backend: SparkBackend, table: SparkTable, predicate: Predicate, format: str, path: str) -> int:
    """Write the facts of a predicate; answers how many were left out because no triple can say them."""
    columns = [f"c{j}" for j in range(predicate.arity)]
    if format == "parquet":
        if not columns:
            table.frame.selectExpr("true AS holds").write.mode("overwrite").parquet(path)
            return 0
        backend.typed(table, columns, columns).write.mode("overwrite").parquet(path)
        return 0
    left = backend.spark.sparkContext.accumulator(0)
    if format in rdf_writing.FORMATS:
        run = partial(triple_batches, predicate=predicate, turtle=format == "ttl", left=left)
    else:
        run = partial(csv_batches, delimiter="," if format == "csv" else "\t")
    if not columns:
        table.frame.selectExpr("'' AS value").write.mode("overwrite").text(path)
        return 0
    decoded = backend.terms.decode(table.frame.select(*columns), {c: f"k{c[1:]}" for c in columns})
    lines = decoded.select(*(f"k{j}" for j in range(predicate.arity))).mapInArrow(run, "value string")
    lines.write.mode("overwrite").text(path)
    if left.value:
        facts = "fact is" if left.value == 1 else "facts are"
        said = (
            f"{path}: {left.value:,} {facts} left out, {rdf_writing.LITERAL_SUBJECT} or {rdf_writing.NO_TERM}"
        )
        warnings.warn(said, DataWarning, stacklevel=2)
    return int(left.value)


def signed_frame(backend: SparkBackend, facts: Sequence[Signed]) -> DataFrame:
    """Facts of several predicates as (predicate, sign, terms), terms in Turtle form; one plan for each arity."""
    frames = [backend.spark.createDataFrame([], SIGNED)]
    for arity in sorted({len(item.columns) for item in facts}):
        names = [f"k{j}" for j in range(arity)]
        group = [_signed_rows(item, names) for item in facts if len(item.columns) == arity]
        decoded = backend.terms.decode(reduce(DataFrame.union, group), {name: name for name in names})
        turtle = partial(keys.turtle_batches, columns=names)
        shown = decoded.mapInArrow(turtle, decoded.schema) if names else decoded
        frames.append(shown.select("predicate", "sign", F.array(*names).cast("array<string>").alias("terms")))
    return reduce(DataFrame.union, frames)


def _signed_rows(item: Signed, names: Sequence[str]) -> DataFrame:
    assert isinstance(item.table, SparkTable)
    marks = F.lit(item.predicate).alias("predicate"), F.lit(item.sign).alias("sign")
    columns = [F.col(f"`{c}`").alias(name) for c, name in zip(item.columns, names, strict=True)]
    return item.table.frame.select(*marks, *columns)


def csv_batches(batches: Iterable[pa.RecordBatch], *, delimiter: str) -> Iterator[pa.RecordBatch]:
    """Columns of keys as lines of CSV, many lines in one text."""
    for batch in batches:
        if batch.num_rows:
            dictionary = Dictionary()
            ids = np.stack([keys.read_keys(dictionary, column) for column in batch.columns])
            content, _ = format_rows(dictionary, ids, ord(delimiter))
            yield _text(content.tobytes().decode().removesuffix("\n"))


def triple_batches(
    batches: Iterable[pa.RecordBatch], *, predicate: Predicate, turtle: bool, left: Any
) -> Iterator[pa.RecordBatch]:
    """Columns of keys as N-Triples or Turtle; facts that no triple can say are added to `left`."""
    for batch in batches:
        if batch.num_rows:
            dictionary = Dictionary()
            ids = np.stack([keys.read_keys(dictionary, column) for column in batch.columns])
            texts, lost = rdf_writing.format_triples(dictionary, ids, predicate, turtle)
            left.add(sum(lost.values()))
            if len(texts):
                yield _text("".join(texts.to_pylist()).removesuffix("\n"))


def _text(text: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([text])], ["value"])
