"""Facts out of Spark, written by the executors: a folder for each predicate, and in it Parquet, CSV, TSV or N-Triples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from modulog.engines.protocol import Table
from modulog.engines.spark import keys
from modulog.engines.spark.relation import SparkTable
from modulog.errors import DataError
from modulog.formats.files import file_name
from modulog.formats.writing import format_rows
from modulog.language.model import Predicate
from modulog.terms.canonical import XSD
from modulog.terms.dictionary import Dictionary
from modulog.terms.model import Constant, Kind
from modulog.terms.turtle import quoted, term_text

if TYPE_CHECKING:
    from modulog.engines.spark.backend import SparkBackend

FORMATS = ("csv", "tsv", "parquet", "nt")
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_DATATYPES = {
    Kind.INTEGER: "integer",
    Kind.DECIMAL: "decimal",
    Kind.DOUBLE: "double",
    Kind.BOOLEAN: "boolean",
}


def export(
    backend: SparkBackend,
    folder: Path,
    format: str,
    predicates: Sequence[Predicate],
    reading: Callable[[Predicate], Iterable[Table]],
) -> dict[str, int]:
    """Write the facts of each predicate into a folder named for it; returns the rows of each folder."""
    if format not in FORMATS:
        raise DataError(f'facts are not written as "{format}"; choose one of: {", ".join(FORMATS)}')
    names = [p.name for p in predicates]
    written = {}
    for predicate in predicates:
        clash = names.count(predicate.name) > 1
        name = f"{file_name(predicate.name, predicate.arity if clash else None)}.{format}"
        for table in reading(predicate):
            assert isinstance(table, SparkTable)
            _write(backend, table, predicate, format, str(folder / name))
            written[name] = len(table)
    return written


def _write(backend: SparkBackend, table: SparkTable, predicate: Predicate, format: str, path: str) -> None:
    columns = [f"c{j}" for j in range(predicate.arity)]
    if format == "parquet":
        if not columns:
            table.frame.selectExpr("true AS holds").write.mode("overwrite").parquet(path)
            return
        backend.typed(table, columns, columns).write.mode("overwrite").parquet(path)
        return
    if format == "nt":
        if not predicate.name.startswith("<") or predicate.arity not in (1, 2):
            raise DataError(f"{predicate}: N-Triples hold predicates named by IRIs with one or two arguments")
        run = partial(triple_batches, predicate=predicate.name)
    else:
        run = partial(csv_batches, delimiter="," if format == "csv" else "\t")
    if not columns:
        table.frame.selectExpr("'' AS value").write.mode("overwrite").text(path)
        return
    decoded = backend.terms.decode(table.frame.select(*columns), {c: f"k{c[1:]}" for c in columns})
    lines = decoded.select(*(f"k{j}" for j in range(predicate.arity))).mapInArrow(run, "value string")
    lines.write.mode("overwrite").text(path)


def csv_batches(batches: Iterable[pa.RecordBatch], *, delimiter: str) -> Iterator[pa.RecordBatch]:
    """Columns of keys as lines of CSV, many lines in one text."""
    for batch in batches:
        if batch.num_rows:
            dictionary = Dictionary()
            ids = np.stack([keys.read_keys(dictionary, column) for column in batch.columns])
            content, _ = format_rows(dictionary, ids, ord(delimiter))
            yield _text(content.tobytes().decode().removesuffix("\n"))


def triple_batches(batches: Iterable[pa.RecordBatch], *, predicate: str) -> Iterator[pa.RecordBatch]:
    """Columns of keys as lines of N-Triples: C(s) is a type, p(s, o) a triple."""
    for batch in batches:
        if batch.num_rows:
            shown = {key: _ntriples(key) for column in batch.columns for key in column.unique().to_pylist()}
            columns = [[shown[key] for key in column.to_pylist()] for column in batch.columns]
            if len(columns) == 1:
                yield _text("\n".join(f"{s} {TYPE} {predicate} ." for s in columns[0]))
            else:
                yield _text("\n".join(f"{s} {predicate} {o} ." for s, o in zip(*columns, strict=True)))


def _ntriples(key: str) -> str:
    constant = Constant.from_key(key.encode())
    datatype = _DATATYPES.get(constant.kind)
    return term_text(constant) if datatype is None else f"{quoted(constant.text)}^^<{XSD}{datatype}>"


def _text(text: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([text])], ["value"])
