"""The local engine with a dictionary in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from modulog.algebra.expressions import Project
from modulog.engines.backend import Reading, Signed, Triples
from modulog.engines.freezer import Frozen
from modulog.engines.local import answer_tables
from modulog.engines.local.engine import LocalEngine
from modulog.engines.local.table import LocalTable
from modulog.engines.local.term_values import Vocabulary
from modulog.engines.relation import Relation
from modulog.engines.storage import Changed, Kept, Stored
from modulog.engines.table import Table
from modulog.formats.export import export
from modulog.formats.fact_file import Bad, Columns, FactFile, Paths
from modulog.formats.files import discover
from modulog.formats.format import FORMATS, TRIPLES
from modulog.kernels.threads import Threads, usable_cores
from modulog.language.model import Predicate
from modulog.language.triples import TYPE, VIEWS_BY_NAME
from modulog.store.draft import Draft
from modulog.store.store import Store
from modulog.terms.constant import Constant
from modulog.terms.dictionary import Dictionary, Ids

if TYPE_CHECKING:
    import pyarrow as pa

    from modulog.engines.local.checkpoint_writer import Freezer
    from modulog.formats.bad_records import AsideRecords, BadRecord


@dataclass(frozen=True, slots=True)
class LocalTriples:
    """The facts of a file of triples as tables."""

    facts: Sequence[tuple[Predicate, Table]]
    rows: int

    @property
    def predicates(self) -> list[Predicate]:
        return [predicate for predicate, _ in self.facts]

    def tables(self) -> list[tuple[Predicate, Table]]:
        return list(self.facts)


class LocalBackend:
    """Everything in one process."""

    frames = table_freezer = None

    def __init__(self, workers: int | Threads | None = None) -> None:
        """With so many threads, as many as the process may use cores, or those that are given."""
        if not isinstance(workers, Threads):
            workers = Threads(usable_cores() if workers is None else workers)
        self.threads = workers
        self.dictionary = Dictionary()
        self.vocabulary = Vocabulary(self.dictionary)
        self.engine = LocalEngine(self.vocabulary, self.threads)
        self._store: Store | None = None
        self._aside: AsideRecords | None = None
        self._freezer: Freezer | None = None

    @property
    def storage(self) -> LocalBackend:
        return self

    @property
    def freezer(self) -> LocalBackend:
        return self

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
        return LocalTriples(tables, triples.shape[1])

    def counter(self, table: Table) -> Callable[[], int]:
        rows = len(table)
        return lambda: rows

    def mark(self, table: Table) -> str | None:
        return None

    def _table(self, ids: Ids) -> LocalTable:
        return self.engine.table(tuple(f"c{j}" for j in range(ids.shape[0])), ids)

    def rows(self, tables: Iterable[Table], columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        return answer_tables.python_rows(answer_tables.ids_of(tables, columns), self.dictionary)

    def batches(
        self, reading: Reading, columns: Sequence[str], names: Sequence[str]
    ) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        schema = answer_tables.schema_of(answer_tables.ids_of(reading(), columns), names, self.dictionary)
        chunks = answer_tables.ids_of(reading(), columns)
        # The first chunk is taken now, so that all of them show the present state, whenever they are read.
        first = next(chunks, np.empty((len(columns), 0), np.uint32))
        return schema, answer_tables.arrow_batches(chain([first], chunks), schema, self.dictionary)

    def export(
        self,
        folder: str,
        format: str,
        facts: Mapping[Predicate, Project],
    ) -> dict[str, int]:
        def chunks(predicate: Predicate) -> Iterator[Ids]:
            return answer_tables.ids_of(self.engine.evaluate(facts[predicate]), facts[predicate].variables)

        return export(Path(folder), format, list(facts), chunks, self.dictionary)

    def write_signed(self, facts: Sequence[Signed], folder: Path) -> None:
        from modulog.formats.parquet import write_change

        parts = ((f.predicate, f.sign, answer_tables.ids_of([f.table], f.columns)) for f in facts)
        write_change(folder, parts, self.dictionary)

    def save(self, draft: Draft, relations: Sequence[Kept]) -> Stored:
        from modulog.engines.local.store_writer import save

        return save(draft, self.dictionary, relations)

    def save_changes(self, draft: Draft, store: Store, changes: Sequence[Changed]) -> Stored:
        from modulog.engines.local.store_writer import save_changes

        return save_changes(draft, store, self.dictionary, changes)

    def restore(self, store: Store) -> list[Relation]:
        from modulog.engines.local.store_reader import OpenedRelation

        self._store = store
        self._take_terms(store)
        opened = [OpenedRelation(stored, store) for stored in store.manifest.relations]
        for relation in opened:
            relation.threads = self.threads
        return list(opened)

    def _take_terms(self, store: Store) -> None:
        """Have the terms of a store, before there are others."""
        from modulog.engines.local.store_reader import open_dictionary

        self.dictionary = open_dictionary(store)
        self.vocabulary = Vocabulary(self.dictionary)
        self.engine = LocalEngine(self.vocabulary, self.threads)

    # ---- Checkpoints

    def freeze_into(self, folder: Path) -> None:
        from modulog.engines.local.checkpoint_writer import Freezer

        self._freezer = Freezer(folder)

    def can_freeze(self, relation: Relation) -> bool:
        from modulog.engines.local.checkpoint_writer import can_freeze

        return can_freeze(relation)

    def freezing_seconds(self, relations: Sequence[Relation]) -> float:
        assert self._freezer is not None
        return self._freezer.seconds(self.dictionary, relations)

    def freeze(self, relations: Sequence[Relation], changing: Sequence[Relation]) -> Frozen | None:
        assert self._freezer is not None
        aside = [asdict(record) for record in self.aside.records]
        return self._freezer.freeze(self.dictionary, aside, relations, changing)

    def thaw(self, state: Mapping[str, Any]) -> None:
        assert self._freezer is not None
        from modulog.formats.bad_records import BadRecord

        store, aside = self._freezer.thaw(state)
        self.aside.records[:] = [BadRecord(**record) for record in aside]
        self._take_terms(store)

    def thaw_relations(self, state: Mapping[str, Any], relations: Sequence[Relation]) -> None:
        assert self._freezer is not None
        self._freezer.thaw_relations(state, relations)

    def close(self) -> None:
        self.engine.close()
        if self._store is not None:
            self._store.close()
