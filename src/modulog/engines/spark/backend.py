"""Spark with a dictionary in Parquet: facts are read, encoded and decoded by the executors."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from modulog.engines.backend import Columns, Reading
from modulog.engines.protocol import EXPLICIT, Relation, Table
from modulog.engines.spark import exporting, sources
from modulog.engines.spark.engine import BROADCAST_LIMIT, LOCAL_LIMIT, SparkEngine, spark_relation
from modulog.engines.spark.errors import translated
from modulog.engines.spark.relation import KeyTable, SparkTable
from modulog.engines.spark.session import build_session
from modulog.engines.spark.terms import SparkTerms
from modulog.formats.tables import read_table
from modulog.language.model import Predicate
from modulog.terms.dictionary import Dictionary
from modulog.terms.model import Constant
from modulog.terms.python import value

WHOLE = 1 << 25  # bytes up to which a file is read as a whole, so that its quoted fields may hold line breaks


class SparkBackend:
    """A session, the caller's or our own, and a folder for facts and terms.

    The folder must be one that executors share; without one, a temporary folder of this machine is used, which is right for local masters.
    """

    formats: Mapping[str, str] = {
        f".{extension}": kind for extension, kind in sources.FORMATS.items() if kind != "table"
    }

    def __init__(
        self,
        spark: SparkSession | None = None,
        *,
        settings: Mapping[str, str] | None = None,
        folder: str | None = None,
        local_limit: int = LOCAL_LIMIT,
        broadcast_limit: int = BROADCAST_LIMIT,
    ) -> None:
        self._own = spark is None and SparkSession.getActiveSession() is None
        self.spark = spark or build_session(settings)
        self._temporary = tempfile.mkdtemp(prefix="modulog-") if folder is None else None
        where = folder or str(self._temporary)
        self.terms = SparkTerms(self.spark, f"{where}/terms")
        self.engine = SparkEngine(
            self.spark, self.terms, f"{where}/facts", local_limit=local_limit, broadcast_limit=broadcast_limit
        )

    def close(self) -> None:
        """Delete what is temporary, and stop the session if it is ours."""
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
        if self._own:
            self.spark.stop()

    # ---- Terms

    def identify(self, constant: Constant) -> int:
        return self.terms.identify(constant)

    def find(self, constants: Sequence[Constant]) -> list[int]:
        return self.terms.find(constants)

    def name(self, number: int) -> str:
        return self.terms.name(number)

    # ---- Facts in

    def encode(self, rows: Sequence[tuple[Constant, ...]], arity: int) -> Table:
        if not arity:
            return KeyTable(0, self.spark.range(1).select())
        columns = [pa.array([row[j].key.decode() for row in rows]) for j in range(arity)]
        return KeyTable(arity, self._keys(columns))

    def _keys(self, columns: Sequence[pa.Array]) -> DataFrame:
        table = pa.table({f"k{j}": column for j, column in enumerate(columns)})
        return self.spark.createDataFrame(table)

    def read_data(self, data: object, arity: int | None, columns: Columns | None) -> Iterable[Table]:
        if isinstance(data, DataFrame):
            source = sources.from_frame(data, columns, arity=arity)
            return [KeyTable(source.arity, source.frame)]
        dictionary, tables = Dictionary(), []
        for ids in read_table(data, dictionary, arity=arity, columns=columns):
            if not ids.shape[0]:
                tables.append(KeyTable(0, self.spark.range(int(ids.shape[1])).select()))
                continue
            buffer, offsets = dictionary.keys()
            keys = pa.LargeStringArray.from_buffers(
                len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(buffer)
            )
            tables.append(
                KeyTable(ids.shape[0], self._keys([keys.take(pa.array(c)).cast(pa.string()) for c in ids]))
            )
        return tables

    def read_file(
        self,
        path: str | os.PathLike[str],
        format: str,
        arity: int | None,
        *,
        header: bool = False,
        strings: bool = False,
        columns: Columns | None = None,
        delimiter: str | None = None,
    ) -> Iterable[Table]:
        with translated():
            source = sources.read(
                self.spark,
                str(path),
                format,
                arity=arity,
                header=header,
                strings=strings,
                columns=columns,
                delimiter=delimiter,
                multiline=_is_small(path),
            )
        return [KeyTable(source.arity, source.frame)]

    def load_rdf(self, path: str, format: str, given: Callable[[Predicate], Relation], triples: bool) -> None:
        with translated():
            staged = self.terms.stage([sources.read(self.spark, path, format).frame])[0]
            for arity, frame in sources.facts_of_triples(staged).items():
                names = [row["name"] for row in frame.select("name").distinct().collect()]
                relations = {name: spark_relation(given(Predicate(name, arity))) for name in names}
                numbers = [(name, relation.number) for name, relation in relations.items()]
                numbered = frame.join(
                    F.broadcast(self.spark.createDataFrame(numbers, "name string, p int")), "name"
                )
                keys = numbered.select("p", *(f"k{j}" for j in range(arity)))
                self.engine.stage(arity, keys, dict.fromkeys(relations.values(), EXPLICIT))
        if triples:
            columns = [F.col(c).alias(f"k{j}") for j, c in enumerate("spo")]
            given(Predicate("triple", 3)).schedule(KeyTable(3, staged.select(*columns)), EXPLICIT)

    # ---- Facts out

    def rows(self, tables: Iterable[Table], columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        for table in tables:
            assert isinstance(table, SparkTable)
            if not columns:
                yield from [()] * len(table)
                continue
            names = {name: f"k{j}" for j, name in enumerate(columns)}
            frame = self.terms.decode(table.frame.select(*(f"`{c}`" for c in columns)), names)
            with translated():
                for row in frame.select(*names.values()).toLocalIterator():
                    yield tuple(value(Constant.from_key(key.encode())) for key in row)

    def batches(
        self, reading: Reading, columns: Sequence[str], names: Sequence[str]
    ) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        frames = [self.typed(table, columns, names) for table in reading()]
        with translated():
            tables = [frame.toArrow() for frame in frames]
        fields = [
            pa.field(
                f.name, a.type, nullable=False, metadata={b"modulog.terms": b"turtle"} if f.metadata else None
            )
            for f, a in zip(frames[0].schema.fields, tables[0].schema, strict=True)
        ]
        schema = pa.schema(fields)
        whole = pa.concat_tables(
            [table.cast(pa.schema([f.remove_metadata() for f in fields])) for table in tables]
        )
        return schema, iter(pa.Table.from_arrays(whole.columns, schema=schema).to_batches())

    def typed(self, table: Table, columns: Sequence[str], names: Sequence[str]) -> DataFrame:
        """A table as a data frame of terms."""
        assert isinstance(table, SparkTable)
        with translated():
            return self.terms.typed(table.frame, columns, names)

    def export(
        self,
        folder: Path,
        format: str,
        predicates: Sequence[Predicate],
        reading: Callable[[Predicate], Iterable[Table]],
    ) -> dict[str, int]:
        with translated():
            return exporting.export(self, folder, format, predicates, reading)

    def dataframe(self, table: Table, columns: Sequence[str]) -> Any:
        return self.typed(table, columns, columns)


def _is_small(path: str | os.PathLike[str]) -> bool:
    """Whether a file of this machine is so small that it need not be split."""
    return os.path.isfile(path) and os.path.getsize(path) <= WHOLE
