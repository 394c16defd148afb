"""The local engine with a dictionary in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from modulog.engines.backend import (
    TRIPLES,
    VIEWS,
    Bad,
    Changed,
    Columns,
    FactFile,
    Kept,
    Paths,
    Reading,
    Signed,
    Stored,
    Triples,
)
from modulog.engines.local import answers
from modulog.engines.local.engine import LocalEngine
from modulog.engines.local.table import LocalTable
from modulog.engines.local.vocabulary import Vocabulary
from modulog.engines.protocol import EXPLICIT, Project, Relation, Table
from modulog.errors import NotSupported
from modulog.formats.exporting import export
from modulog.formats.files import FORMATS, discover
from modulog.language.model import Predicate
from modulog.language.triples import TYPE
from modulog.store.reading import Store
from modulog.store.writing import Draft
from modulog.terms.dictionary import Dictionary, Ids
from modulog.terms.model import Constant

if TYPE_CHECKING:
    import pyarrow as pa

    from modulog.formats.lenient import AsideRecords

DELIMITERS = {"csv": ",", "tsv": "\t", "dsv": ";"}


@dataclass(frozen=True, slots=True)
class LocalTriples:
    """The facts of a file of triples as tables."""

    facts: Sequence[tuple[Predicate, Table]]
    rows: int

    @property
    def predicates(self) -> list[Predicate]:
        return [predicate for predicate, _ in self.facts]

    def schedule(self, given: Callable[[Predicate], Relation]) -> None:
        for predicate, table in self.facts:
            given(predicate).schedule(table, EXPLICIT)

    def tables(self) -> list[tuple[Predicate, Table]]:
        return list(self.facts)


NO_FRAMES = 'the local engine has no Spark data frames: use rows, batches or query, or engine="spark"'


class LocalBackend:
    """Everything in one process."""

    formats = FORMATS

    def __init__(self) -> None:
        self.dictionary = Dictionary()
        self.vocabulary = Vocabulary(self.dictionary)
        self.engine = LocalEngine(self.vocabulary)
        self._store: Store | None = None
        self._aside: AsideRecords | None = None

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
            from modulog.formats.lenient import AsideRecords

            self._aside = AsideRecords()
        return self._aside

    def files(self, path: str | os.PathLike[str], format: str | None = None) -> list[FactFile]:
        return discover(path, self.formats, format=format)

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
        if format in TRIPLES:
            self._refuse(bad, paths)
            for path in paths:
                yield from self._read_triples(path, format, arity, columns)
            return
        from modulog.formats.csv import read_csv
        from modulog.formats.lenient import read_csv_leniently

        read = read_csv if aside is None else partial(read_csv_leniently, aside=aside)
        for path in paths:
            chunks = read(
                path,
                self.dictionary,
                arity=arity,
                delimiter=delimiter or DELIMITERS[format],
                header=header,
                strings=strings,
                columns=columns,
            )
            yield from map(self._table, chunks)

    def _read_triples(
        self, path: str | os.PathLike[str], format: str, arity: int | None, columns: Columns | None
    ) -> Iterable[Table]:
        """Triples, or the quads of named graphs, as rows."""
        from modulog.formats.columns import choose_columns
        from modulog.formats.rdf import NO_GRAPH, read_rdf

        width = 4 if arity == 4 and columns is None else 3
        chosen = choose_columns(["s", "p", "o", "g"][:width], width, arity, columns, str(path))
        for ids in read_rdf(path, format, self.dictionary, graphs=width == 4):
            rows = ids[:, ids[3] != NO_GRAPH] if width == 4 else ids
            yield self._table(np.ascontiguousarray(rows[chosen]))

    def _refuse(self, bad: Bad, paths: Paths) -> None:
        if bad != "fail":
            raise NotSupported(
                f"{paths[0]}: bad triples are set aside on Spark only; leave out `set-aside`, or take the Spark engine"
            )

    def read_rdf(self, paths: Paths, format: str, views: Collection[str], bad: Bad = "fail") -> Triples:
        from modulog.formats.rdf import NO_GRAPH, facts_of_triples, read_rdf, types_of_triples

        self._refuse(bad, paths)
        graphs = "quad" in views
        pieces = [p for path in paths for p in read_rdf(path, format, self.dictionary, graphs=graphs)]
        triples = np.concatenate(pieces, axis=1) if pieces else np.empty((4, 0), np.uint32)
        facts = list(facts_of_triples(self.dictionary, triples))
        if "triple" in views:
            facts.append((VIEWS["triple"], triples[:3]))
        if "quad" in views:
            facts.append((VIEWS["quad"], triples[:, triples[3] != NO_GRAPH]))
        if TYPE.name in views:
            facts.append((TYPE, types_of_triples(self.dictionary, triples)))
        tables = [(predicate, self._table(rows)) for predicate, rows in facts]
        return LocalTriples(tables, triples.shape[1])

    def counter(self, table: Table) -> Callable[[], int]:
        rows = len(table)
        return lambda: rows

    def _table(self, ids: Ids) -> LocalTable:
        return self.engine.table(tuple(f"c{j}" for j in range(ids.shape[0])), ids)

    def rows(self, tables: Iterable[Table], columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        return answers.python_rows(answers.ids_of(tables, columns), self.dictionary)

    def batches(
        self, reading: Reading, columns: Sequence[str], names: Sequence[str]
    ) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        schema = answers.schema_of(answers.ids_of(reading(), columns), names, self.dictionary)
        chunks = answers.ids_of(reading(), columns)
        # The first chunk is taken now, so that all of them show the present state, whenever they are read.
        first = next(chunks, np.empty((len(columns), 0), np.uint32))
        return schema, answers.arrow_batches(chain([first], chunks), schema, self.dictionary)

    def export(
        self,
        folder: str,
        format: str,
        facts: Mapping[Predicate, Project],
    ) -> dict[str, int]:
        def chunks(predicate: Predicate) -> Iterator[Ids]:
            return answers.ids_of(self.engine.evaluate(facts[predicate]), facts[predicate].variables)

        return export(Path(folder), format, list(facts), chunks, self.dictionary)

    def dataframe(self, table: Table, columns: Sequence[str]) -> Any:
        raise NotSupported(NO_FRAMES)

    def signed_dataframe(self, facts: Sequence[Signed]) -> Any:
        raise NotSupported(NO_FRAMES)

    def write_signed(self, facts: Sequence[Signed], folder: Path) -> None:
        raise NotSupported(NO_FRAMES)

    def save(self, draft: Draft, relations: Sequence[Kept]) -> Stored:
        from modulog.engines.local.saving import save

        return save(draft, self.dictionary, relations)

    def save_changes(self, draft: Draft, store: Store, changes: Sequence[Changed]) -> Stored:
        from modulog.engines.local.changes import save_changes

        return save_changes(draft, store, self.dictionary, changes)

    def restore(self, store: Store) -> list[Relation]:
        from modulog.engines.local.stored import OpenedRelation, open_dictionary

        self._store = store
        self.dictionary = open_dictionary(store)
        self.vocabulary = Vocabulary(self.dictionary)
        self.engine = LocalEngine(self.vocabulary)
        return [OpenedRelation(stored, store) for stored in store.manifest.relations]

    def close(self) -> None:
        self.engine.close()
        if self._store is not None:
            self._store.close()
