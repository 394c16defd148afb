"""The local engine with a dictionary in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from modulog.engines.backend import Columns, Reading
from modulog.engines.local import answers
from modulog.engines.local.engine import LocalEngine
from modulog.engines.local.table import LocalTable
from modulog.engines.local.vocabulary import Vocabulary
from modulog.engines.protocol import Relation, Table
from modulog.errors import NotSupported
from modulog.formats.exporting import export
from modulog.formats.files import FORMATS
from modulog.language.model import Predicate
from modulog.terms.dictionary import Dictionary, Ids
from modulog.terms.model import Constant

if TYPE_CHECKING:
    import pyarrow as pa

DELIMITERS = {"csv": ",", "tsv": "\t", "dsv": ";"}


class LocalBackend:
    """Everything in one process."""

    formats = FORMATS

    def __init__(self) -> None:
        self.dictionary = Dictionary()
        self.vocabulary = Vocabulary(self.dictionary)
        self.engine = LocalEngine(self.vocabulary)

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
        if format == "parquet":
            from modulog.formats.parquet import read_parquet

            return map(self._table, read_parquet(path, self.dictionary, arity=arity, columns=columns))
        from modulog.formats.csv import read_csv

        chunks = read_csv(
            path,
            self.dictionary,
            arity=arity,
            delimiter=delimiter or DELIMITERS[format],
            header=header,
            strings=strings,
            columns=columns,
        )
        return map(self._table, chunks)

    def load_rdf(self, path: str, format: str, given: Callable[[Predicate], Relation], triples: bool) -> None:
        raise NotSupported(f"{path}: the local engine does not read RDF files yet")

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
        folder: Path,
        format: str,
        predicates: Sequence[Predicate],
        reading: Callable[[Predicate], Iterable[Table]],
    ) -> dict[str, int]:
        def chunks(predicate: Predicate) -> Iterator[Ids]:
            return answers.ids_of(reading(predicate), [f"c{j}" for j in range(predicate.arity)])

        return export(folder, format, predicates, chunks, self.dictionary)

    def dataframe(self, table: Table, columns: Sequence[str]) -> Any:
        raise NotSupported(
            'the local engine has no Spark data frames: use rows, batches or query, or engine="spark"'
        )

    def close(self) -> None:
        self.engine.close()
