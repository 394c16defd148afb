"""An engine together with everything that touches terms: where terms and ids meet.

A session speaks terms, an engine ids. A backend has the dictionary between them, reads facts into tables of ids and turns
tables back into terms. It is the only thing a session asks an engine's folder for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from modulog.engines.protocol import Engine, Relation, Table
from modulog.language.model import Predicate
from modulog.terms.model import Constant

if TYPE_CHECKING:
    import pyarrow as pa

TRIPLES = ("nt", "nq", "ttl", "trig", "rdf")
"""Formats whose files hold triples."""

Columns = Sequence[int | str]
"""Columns of a wide table, by name or by position from 0."""

Reading = Callable[[], Iterable[Table]]
"""Something that can be read more than once."""


class Backend(Protocol):
    """What a session needs. Tables that are read in have the columns c0, c1, …"""

    @property
    def engine(self) -> Engine:
        """The engine that keeps and evaluates."""

    @property
    def formats(self) -> Mapping[str, str]:
        """The extensions of files that can be read, and what they are read as."""

    def identify(self, constant: Constant) -> int:
        """The id of a constant, new if need be."""

    def find(self, constants: Sequence[Constant]) -> list[int]:
        """The ids of constants; -1 for one that occurs nowhere."""

    def name(self, number: int) -> str:
        """The constant of an id, as rules write it."""

    def encode(self, rows: Sequence[tuple[Constant, ...]], arity: int) -> Table:
        """A few rows of constants as a table of ids."""

    def read_data(self, data: object, arity: int | None, columns: Columns | None) -> Iterable[Table]:
        """Facts from values in memory."""

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
        """Facts from a file in one of the formats, but for triples."""

    def load_rdf(self, path: str, format: str, given: Callable[[Predicate], Relation], triples: bool) -> None:
        """Schedule the facts of a file of triples: p(s, o), or C(s) for a class; with `triples` also triple(s, p, o)."""

    def rows(self, tables: Iterable[Table], columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Rows as tuples of Python values."""

    def batches(
        self, reading: Reading, columns: Sequence[str], names: Sequence[str]
    ) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Rows as Arrow batches of terms, all with one schema; the columns get the given names."""

    def export(
        self,
        folder: Path,
        format: str,
        predicates: Sequence[Predicate],
        reading: Callable[[Predicate], Iterable[Table]],
    ) -> dict[str, int]:
        """One file for each predicate; returns the rows of each."""

    def dataframe(self, table: Table, columns: Sequence[str]) -> Any:
        """The rows as a data frame of terms, where the engine has data frames."""

    def close(self) -> None:
        """Give back what is held."""
