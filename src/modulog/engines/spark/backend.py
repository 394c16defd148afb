"""Spark with a dictionary in Parquet: facts are read, encoded and decoded by the executors."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from modulog.algebra.expressions import Project
from modulog.engines.backend import Reading, Signed, Triples
from modulog.engines.options import SparkOptions
from modulog.engines.relation import Relation
from modulog.engines.spark import export, store_files
from modulog.engines.spark.checkpoint_files import Checkpointed
from modulog.engines.spark.engine import BROADCAST_LIMIT, SparkEngine
from modulog.engines.spark.key_blocks import SCHEMA, Chunks, TripleBlocks
from modulog.engines.spark.sources.model import Source, SparkAside
from modulog.engines.spark.sources.reading import from_frame, read
from modulog.engines.spark.table import KeyTable, RowCounter, SparkTable, Staged, StagedTable, stage
from modulog.engines.spark.term_keys import key_array
from modulog.engines.spark.terms import SparkTerms
from modulog.engines.storage import Changed, Kept, Stored
from modulog.engines.table import Table
from modulog.errors import DataError
from modulog.formats.fact_file import Bad, Columns, FactFile, Paths
from modulog.formats.format import TRIPLES
from modulog.formats.tables import choose_columns, read_table
from modulog.language.model import Predicate
from modulog.language.triples import VIEWS_BY_NAME
from modulog.spark.errors import translated
from modulog.spark.file_systems import HadoopListing
from modulog.spark.session import session_of, stop_session
from modulog.store.draft import Draft
from modulog.store.store import Store
from modulog.terms.constant import Constant
from modulog.terms.dictionary import Dictionary
from modulog.terms.python_values import value

TABLE = "table:"  # stands before the name of a table of Spark's catalogue
WHOLE = 1 << 25  # bytes up to which a file is read as a whole, so that its quoted fields may hold line breaks


class SparkBackend(Checkpointed):
    """A session, the caller's or our own, and a folder for facts and terms.

    The folder must be one that executors share; without one, a temporary folder of this machine is used,
    which is right for local masters.
    """

    def __init__(self, options: SparkOptions) -> None:
        self.spark, self._own = session_of(options.session, options.settings)
        folder = None if options.folder is None else os.fspath(options.folder)
        limit = options.broadcast_limit
        broadcast_limit = BROADCAST_LIMIT if limit is None else limit
        self._temporary = tempfile.mkdtemp(prefix="modulog-") if folder is None else None
        where = folder or str(self._temporary)
        self._store: Store | None = None
        super().__init__(where)
        self.terms = SparkTerms(self.spark, where, broadcast_terms=broadcast_limit)
        self._listing = HadoopListing(self.spark)
        self.aside = SparkAside(self.spark, f"{where}/bad")
        self.engine = SparkEngine(
            self.spark,
            self.terms,
            f"{where}/facts-{uuid4().hex[:12]}",
            broadcast_limit=broadcast_limit,
        )

    def close(self) -> None:
        """Delete facts and terms, and stop a session of our own; what was frozen stays."""
        if not self.is_frozen:
            self.engine.close()
            self.terms.close()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
        if self._store is not None:
            self._store.close()
        if self._own:
            stop_session(self.spark)

    @property
    def frames(self) -> SparkBackend:
        return self

    @property
    def storage(self) -> SparkBackend:
        return self

    @property
    def freezer(self) -> SparkBackend:
        return self

    @property
    def table_freezer(self) -> SparkBackend:
        return self

    # ---- The store

    def save(self, draft: Draft, relations: Sequence[Kept]) -> Stored:
        with self.engine.described("save the store"):
            return store_files.save(self.engine, self.terms, draft, relations)

    def save_changes(self, draft: Draft, store: Store, changes: Sequence[Changed]) -> Stored:
        with self.engine.described("save what has changed"):
            return store_files.save_changes(self.engine, self.terms, draft, store, changes)

    def restore(self, store: Store) -> list[Relation]:
        self._store = store
        with translated():
            store_files.restore_terms(self.terms, store)
            return list(store_files.restore_relations(self.engine, store))

    # ---- Terms

    def identify(self, constant: Constant) -> int:
        return self.terms.identify(constant)

    def find(self, constants: Sequence[Constant]) -> list[int]:
        return self.terms.find(constants)

    def name(self, number: int) -> str:
        return self.terms.name(number)

    # ---- Facts in

    def encode(self, rows: Sequence[tuple[Constant, ...]], arity: int) -> Table:
        columns = [pa.array([row[j].key.decode() for row in rows], pa.string()) for j in range(arity)]
        return KeyTable.of(self.spark, columns, len(rows))

    def read_data(self, data: object, arity: int | None, columns: Columns | None) -> Iterable[Table]:
        if isinstance(data, DataFrame):
            source = from_frame(data, columns, arity=arity)
            return [KeyTable(source.arity, source.raw, read=source.read)]
        dictionary, tables = Dictionary(), []
        for ids in read_table(data, dictionary, arity=arity, columns=columns):
            keys = [key_array(dictionary, column) for column in ids]
            tables.append(KeyTable.of(self.spark, keys, int(ids.shape[1])))
        return tables

    def files(self, path: str | os.PathLike[str], format: str | None = None) -> list[FactFile]:
        text = os.fspath(path)
        if text.startswith(TABLE):
            table = text.removeprefix(TABLE)
            return [FactFile(table, table.split(".")[-1].strip("`"), "table")]
        return self._listing.files(text, format)

    def read_files(
        self,
        paths: Paths,
        format: str,
        arity: int | None,
        *,
        header: bool = False,
        strings: bool = False,
        columns: Columns | None = None,
        delimiter: str | None = None,
        bad: Bad = "fail",
    ) -> Iterable[Table]:
        _refuse_hidden(paths)
        if format in TRIPLES:
            return self._read_triples(paths, format, arity, columns, bad)
        with translated():
            source = read(
                self.spark,
                [str(path) for path in paths],
                format,
                arity=arity,
                header=header,
                strings=strings,
                columns=columns,
                delimiter=delimiter,
                multiline=all(self._size(path) <= WHOLE for path in paths),
                bad=bad,
            )
        self._set_aside(source)
        return [KeyTable(source.arity, source.raw, read=source.read)]

    def _size(self, path: str | os.PathLike[str]) -> int:
        """The bytes of a file that was listed or is here; more than fits if it is neither."""
        return (
            os.path.getsize(path) if os.path.isfile(path) else self._listing.sizes.get(str(path), WHOLE + 1)
        )

    def _set_aside(self, source: Source) -> None:
        if source.bad is not None:
            self.aside.add(source.bad)

    def _read_triples(
        self, paths: Paths, format: str, arity: int | None, columns: Columns | None, bad: Bad
    ) -> Iterable[Table]:
        """Triples, or the quads of named graphs, as rows."""
        width = 4 if arity == 4 and columns is None else 3
        chosen = choose_columns(["s", "p", "o", "g"][:width], width, arity, columns, str(paths[0]))
        with translated():
            frame = self._triples(paths, format, bad).frame
            rows = _in_graphs(frame) if width == 4 else frame
            keys = [F.col("spog"[place]).alias(f"k{j}") for j, place in enumerate(chosen)]
            return [KeyTable(len(chosen), rows.select(*keys))]

    def _triples(self, paths: Paths, format: str, bad: Bad) -> Source:
        source = read(self.spark, [str(path) for path in paths], format, bad=bad)
        self._set_aside(source)
        return source

    def read_rdf(self, paths: Paths, format: str, views: Collection[str], bad: Bad = "fail") -> Triples:
        _refuse_hidden(paths)
        with translated():
            source, counter = self._triples(paths, format, bad), RowCounter()
            run = Chunks(TripleBlocks(tuple(views)), source.read, counter.counting(source.raw))
            staged = stage(self.terms, source.raw.mapInArrow(run, SCHEMA))
            return SparkTriples(staged, views, counter())

    def counter(self, table: Table) -> Callable[[], int]:
        assert isinstance(table, KeyTable)
        return table.counter

    def mark(self, table: Table) -> str | None:
        assert isinstance(table, SparkTable | KeyTable)
        return table.mark if isinstance(table, KeyTable) else None

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
        schema = pa.schema(
            pa.field(
                f.name, a.type, nullable=False, metadata={b"modulog.terms": b"turtle"} if f.metadata else None
            )
            for f, a in zip(frames[0].schema.fields, to_arrow_schema(frames[0].schema), strict=True)
        )
        return schema, _streamed(frames, schema)

    def typed(self, table: Table, columns: Sequence[str], names: Sequence[str]) -> DataFrame:
        """A table as a data frame of terms."""
        assert isinstance(table, SparkTable)
        with translated():
            return export.typed(self.terms, table.frame, columns, names)

    def export(
        self,
        folder: str,
        format: str,
        facts: Mapping[Predicate, Project],
    ) -> dict[str, int]:
        with translated(), self.engine.described("export"):
            return export.export(self, folder, format, facts)

    def dataframe(self, table: Table, columns: Sequence[str]) -> Any:
        return self.typed(table, columns, columns)

    def signed_dataframe(self, facts: Sequence[Signed]) -> Any:
        with translated():
            return export.signed_frame(self, facts)

    def write_signed(self, facts: Sequence[Signed], folder: Path) -> None:
        with translated():
            export.write_signed(self, facts, folder)


def _in_graphs(triples: DataFrame) -> DataFrame:
    """The quads of named graphs; a source without graphs has none."""
    named = triples if "g" in triples.columns else triples.withColumn("g", F.lit(""))
    return named.where(F.col("g") != "")


def _refuse_hidden(paths: Paths) -> None:
    """Refuse files that Spark's readers would leave out without a word."""
    for path in paths:
        name = os.path.basename(str(path))
        if name.startswith("_"):
            raise DataError(
                f"{path}: Spark's readers leave out files whose names begin with `_`; "
                f"call it %5F{name[1:]}, which is the same predicate"
            )


def _streamed(frames: Sequence[DataFrame], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of frames; the driver holds those of one partition at a time."""
    with translated():
        for frame in frames:
            for row in frame.mapInArrow(_packed, "batch binary").toLocalIterator():
                for batch in pa.ipc.open_stream(row.batch):
                    yield pa.RecordBatch.from_arrays(batch.cast(schema).columns, schema=schema)


def _packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Each batch as one value: bytes of Arrow's stream format."""
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue().to_pybytes()])], names=["batch"])


@dataclass(frozen=True, slots=True)
class SparkTriples:
    """The facts of files of triples, staged."""

    staged: Staged
    views: Collection[str]
    rows: int

    @property
    def predicates(self) -> list[Predicate]:
        found = [Predicate(name, arity) for arity, name in self.staged.names]
        return list(dict.fromkeys([*found, *(VIEWS_BY_NAME[view] for view in self.views)]))

    def tables(self) -> Iterator[tuple[Predicate, Table]]:
        for predicate in self.predicates:
            yield predicate, StagedTable(self.staged, predicate.arity, predicate.name)
