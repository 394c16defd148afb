"""A backend for any engine of this process: a dictionary in memory, facts read from files and tables, answers
as Arrow.

An engine that keeps its facts in memory derives its backend from `DictionaryBackend` and says how it is made;
see "The back-end boundary" in `docs/architecture.md`.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from modulog.algebra.expressions import Compute, Condition, Project
from modulog.engines.backend import Frames, Reading, Signed, Triples
from modulog.engines.engine import Engine
from modulog.engines.freezer import Freezer, TableFreezer
from modulog.engines.storage import Storage
from modulog.engines.table import Table, columns_of
from modulog.engines.values import Failures, Values
from modulog.formats.export import export
from modulog.formats.fact_file import Bad, Columns, FactFile, Paths
from modulog.formats.files import discover
from modulog.formats.format import FORMATS, TRIPLES
from modulog.language.model import Predicate
from modulog.language.printer import print_term
from modulog.language.triples import TYPE, VIEWS_BY_NAME
from modulog.terms.arrow import column_field, to_arrow, unwrap
from modulog.terms.constant import Constant
from modulog.terms.dictionary import Dictionary, Ids
from modulog.terms.literal_values import compare
from modulog.terms.python_values import value
from modulog.terms.term_functions import compute, satisfy

if TYPE_CHECKING:
    from modulog.formats.bad_records import AsideRecords, BadRecord


class Vocabulary:
    """A dictionary as engines and clauses see it.

    >>> from modulog.terms.python_values import constant
    >>> v = Vocabulary(Dictionary())
    >>> v.name(v.identify(constant("a")))
    'a'
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._known: dict[Constant, int] = {}

    def __len__(self) -> int:
        return len(self.dictionary)

    def identify(self, constant: Constant) -> int:
        """The id of a constant, new if need be."""
        found = self._known.get(constant)
        if found is None:
            found = self._known[constant] = int(self.dictionary.encode([constant])[0])
        return found

    def name(self, number: int) -> str:
        """The constant of an id, as rules write it."""
        return print_term(self.dictionary.decode([number])[0])

    def compare(self, operator: str, left: Any, right: Any) -> tuple[Any, int]:
        """A mask of the pairs of ids that satisfy the operator, and how many pairs are incomparable."""
        return compare(self.dictionary, operator, left.view(np.uint32), right.view(np.uint32))

    def satisfy(self, condition: Condition, columns: dict[str, Any], rows: int) -> tuple[Any, Failures]:
        """A mask of the rows that satisfy a condition with functions."""
        return satisfy(self.dictionary, condition, columns, rows)

    def compute(self, function: Compute, columns: dict[str, Any], rows: int) -> tuple[Any, Any, Failures]:
        """What a function gives for rows: ids, new where need be, and a mask of the rows that have a
        value.
        """
        return compute(self.dictionary, function, columns, rows)


@dataclass(frozen=True, slots=True)
class TriplesInMemory:
    """The facts of a file of triples as tables."""

    facts: Sequence[tuple[Predicate, Table]]
    rows: int

    @property
    def predicates(self) -> list[Predicate]:
        return [predicate for predicate, _ in self.facts]

    def tables(self) -> list[tuple[Predicate, Table]]:
        return list(self.facts)


class DictionaryBackend(ABC):
    """Terms in and terms out of an engine whose ids are those of a dictionary in memory."""

    frames: Frames | None = None
    table_freezer: TableFreezer | None = None

    def __init__(self) -> None:
        self._aside: AsideRecords | None = None
        self._take(Dictionary())

    def _take(self, dictionary: Dictionary) -> None:
        """Begin with the terms of a dictionary, and a new engine."""
        self.dictionary = dictionary
        self.vocabulary = Vocabulary(dictionary)
        self.engine = self.make_engine(self.vocabulary)

    @property
    def storage(self) -> Storage | None:
        return None

    @property
    def freezer(self) -> Freezer | None:
        return None

    @abstractmethod
    def make_engine(self, values: Values) -> Engine:
        """A new engine, without relations, that compares and computes with these values."""

    def identify(self, constant: Constant) -> int:
        return self.vocabulary.identify(constant)

    def find(self, constants: Sequence[Constant]) -> list[int]:
        return [int(i) for i in self.dictionary.find(constants)]

    def name(self, number: int) -> str:
        return self.vocabulary.name(number)

    def encode(self, rows: Sequence[tuple[Constant, ...]], arity: int) -> Table:
        ids = self.dictionary.encode([term for row in rows for term in row]).reshape(len(rows), arity)
        return self._table(np.ascontiguousarray(ids.T))

    def read_data(self, data: object, arity: int | None, columns: Columns | None) -> Iterable[Table]:
        from modulog.formats.tables import read_table

        return map(self._table, read_table(data, self.dictionary, arity=arity, columns=columns))

    @property
    def aside(self) -> AsideRecords:
        """The bad records that were set aside."""
        if self._aside is None:
            from modulog.formats.bad_records import AsideRecords

            self._aside = AsideRecords()
        return self._aside

    def files(self, path: str | os.PathLike[str], format: str | None = None) -> list[FactFile]:
        return discover(path, format=format)

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
        aside = None if bad == "fail" else self.aside.records
        if format == "parquet":
            from modulog.formats.parquet import read_parquet

            for path in paths:
                found = read_parquet(path, self.dictionary, arity=arity, columns=columns, aside=aside)
                yield from map(self._table, found)
            return
        if format == "jsonl":
            from modulog.formats.json_lines import read_json_lines

            found = read_json_lines(paths, self.dictionary, arity=arity, columns=columns, aside=aside)
            yield from map(self._table, found)
            return
        if format in TRIPLES:
            for path in paths:
                yield from self._read_triples(path, format, arity, columns, aside)
            return
        from modulog.formats.csv import read_csv, read_csv_leniently

        read = read_csv if aside is None else partial(read_csv_leniently, aside=aside)
        for path in paths:
            chunks = read(
                path,
                self.dictionary,
                arity=arity,
                delimiter=delimiter or FORMATS[format].delimiter or ",",
                header=header,
                strings=strings,
                columns=columns,
            )
            yield from map(self._table, chunks)

    def _read_triples(
        self,
        path: str | os.PathLike[str],
        format: str,
        arity: int | None,
        columns: Columns | None,
        aside: list[BadRecord] | None,
    ) -> Iterable[Table]:
        """Triples, or the quads of named graphs, as rows."""
        from modulog.formats.rdf import NO_GRAPH, read_rdf
        from modulog.formats.tables import choose_columns

        width = 4 if arity == 4 and columns is None else 3
        chosen = choose_columns(["s", "p", "o", "g"][:width], width, arity, columns, str(path))
        for ids in read_rdf(path, format, self.dictionary, graphs=width == 4, aside=aside):
            rows = ids[:, ids[3] != NO_GRAPH] if width == 4 else ids
            yield self._table(np.ascontiguousarray(rows[chosen]))

    def read_rdf(self, paths: Paths, format: str, views: Collection[str], bad: Bad = "fail") -> Triples:
        from modulog.formats.rdf import NO_GRAPH, facts_of_triples, read_rdf, types_of_triples

        graphs, aside = "quad" in views, None if bad == "fail" else self.aside.records
        given = (read_rdf(path, format, self.dictionary, graphs=graphs, aside=aside) for path in paths)
        pieces = list(chain.from_iterable(given))
        triples = np.concatenate(pieces, axis=1) if pieces else np.empty((4, 0), np.uint32)
        facts = list(facts_of_triples(self.dictionary, triples))
        if "triple" in views:
            facts.append((VIEWS_BY_NAME["triple"], triples[:3]))
        if "quad" in views:
            facts.append((VIEWS_BY_NAME["quad"], triples[:, triples[3] != NO_GRAPH]))
        if TYPE.name in views:
            facts.append((TYPE, types_of_triples(self.dictionary, triples)))
        tables = [(predicate, self._table(rows)) for predicate, rows in facts]
        return TriplesInMemory(tables, triples.shape[1])

    def counter(self, table: Table) -> Callable[[], int]:
        rows = len(table)
        return lambda: rows

    def mark(self, table: Table) -> str | None:
        return None

    def _table(self, ids: Ids) -> Table:
        return self.engine.table(columns_of(ids.shape[0]), ids)

    def rows(self, tables: Iterable[Table], columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        return python_rows(ids_of(tables, columns), self.dictionary)

    def batches(
        self, reading: Reading, columns: Sequence[str], names: Sequence[str]
    ) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        schema = schema_of(ids_of(reading(), columns), names, self.dictionary)
        chunks = ids_of(reading(), columns)
        # The first chunk is taken now, so that all of them show the present state, whenever they are read.
        first = next(chunks, np.empty((len(columns), 0), np.uint32))
        return schema, arrow_batches(chain([first], chunks), schema, self.dictionary)

    def export(
        self,
        folder: str,
        format: str,
        facts: Mapping[Predicate, Project],
    ) -> dict[str, int]:
        def chunks(predicate: Predicate) -> Iterator[Ids]:
            return ids_of(self.engine.evaluate(facts[predicate]), facts[predicate].variables)

        return export(Path(folder), format, list(facts), chunks, self.dictionary)

    def write_signed(self, facts: Sequence[Signed], folder: Path) -> None:
        from modulog.formats.parquet import write_change

        parts = ((f.predicate, f.sign, ids_of([f.table], f.columns)) for f in facts)
        write_change(folder, parts, self.dictionary)

    def close(self) -> None:
        """Give back what is held."""
        self.engine.close()


def ids_of(tables: Iterable[Table], columns: Sequence[str]) -> Iterator[Any]:
    """The ids of each table as arrays of shape (columns, rows), in the given order of columns."""
    for table in tables:
        for batch in table.batches():
            arrays = [unwrap(batch.column(name)).view(np.uint32) for name in columns]
            yield np.stack(arrays) if arrays else np.empty((0, batch.num_rows), np.uint32)


def schema_of(chunks: Iterable[Any], names: Sequence[str], dictionary: Dictionary) -> pa.Schema:
    """One schema for all chunks: the type of a column follows from the kinds of all its terms."""
    kinds: list[set[int]] = [set() for _ in names]
    for chunk in chunks:
        for found, column in zip(kinds, chunk, strict=True):
            found.update(np.flatnonzero(np.bincount(dictionary.kinds(column))).tolist())
    return pa.schema([column_field(name, found) for name, found in zip(names, kinds, strict=True)])


def arrow_batches(
    chunks: Iterable[Any], schema: pa.Schema, dictionary: Dictionary
) -> Iterator[pa.RecordBatch]:
    """The chunks as record batches of terms."""
    for chunk in chunks:
        arrays = [to_arrow(dictionary, column, field) for column, field in zip(chunk, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def python_rows(chunks: Iterable[Any], dictionary: Dictionary) -> Iterator[tuple[Any, ...]]:
    """The rows as tuples of Python values."""
    for chunk in chunks:
        if not chunk.shape[0]:
            yield from [()] * chunk.shape[1]
            continue
        distinct, places = np.unique(chunk, return_inverse=True)
        values = [value(constant) for constant in dictionary.decode(distinct)]
        columns = [[values[i] for i in column] for column in places.reshape(chunk.shape).tolist()]
        yield from zip(*columns, strict=True)
