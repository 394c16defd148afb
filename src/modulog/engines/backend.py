"""What joins an engine with terms: terms in, terms out.

A session speaks terms, an engine ids. A backend has the dictionary between them, reads facts into tables of
ids and turns tables back into terms. What only some backends can do are attributes, None where they cannot.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from modulog.algebra.expressions import Project
from modulog.engines.aside import Aside
from modulog.engines.engine import Engine
from modulog.engines.freezer import Freezer, TableFreezer
from modulog.engines.storage import Storage
from modulog.engines.table import Table
from modulog.formats.fact_file import Bad, Columns, FactFile, Paths
from modulog.language.model import Predicate
from modulog.terms.constant import Constant

if TYPE_CHECKING:
    import pyarrow as pa

Reading = Callable[[], Iterable[Table]]
"""Something that can be read more than once."""


@dataclass(frozen=True, slots=True)
class Signed:
    """Facts of a predicate that have come, sign 1, or gone, sign -1; `columns` of the table are the
    arguments.
    """

    predicate: str
    sign: int
    table: Table
    columns: Sequence[str]


class Triples(Protocol):
    """The facts of a file of triples: p(s, o), C(s) for a class, and those of the views that were
    asked for.
    """

    @property
    def predicates(self) -> Collection[Predicate]:
        """The predicates that have facts."""

    @property
    def rows(self) -> int:
        """How many triples, or quads, there are, with repetitions."""

    def tables(self) -> Iterable[tuple[Predicate, Table]]:
        """The facts of each predicate."""


NO_FRAMES = 'the local engine has no Spark data frames: use rows, batches or query, or engine="spark"'


class Frames(Protocol):
    """Terms out as data frames of the engine."""

    def dataframe(self, table: Table, columns: Sequence[str]) -> Any:
        """The rows as a data frame of terms."""

    def signed_dataframe(self, facts: Sequence[Signed]) -> Any:
        """Facts of several predicates as a data frame (predicate, sign, terms)."""


class Backend(Protocol):
    """What a session needs. Tables that are read in have the columns c0, c1, …"""

    @property
    def engine(self) -> Engine:
        """The engine that keeps and evaluates."""

    @property
    def frames(self) -> Frames | None:
        """Makes data frames of terms."""

    @property
    def storage(self) -> Storage | None:
        """Writes stores and reads them."""

    @property
    def freezer(self) -> Freezer | None:
        """Writes and reads checkpoints of materialisations."""

    @property
    def table_freezer(self) -> TableFreezer | None:
        """Writes and reads checkpoints of updates, too."""

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

    @property
    def aside(self) -> Aside:
        """The bad records that were set aside."""

    def files(self, path: str | os.PathLike[str], format: str | None = None) -> list[FactFile]:
        """The files that a path, a folder, a glob or a URI stands for; with a format, whatever their
        names.
        """

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
        """Facts of one predicate from files in one of the formats; those of a file of triples are (s, p, o),
        or (s, p, o, g) if the arity is 4.
        """

    def read_rdf(self, paths: Paths, format: str, views: Collection[str], bad: Bad = "fail") -> Triples:
        """Read files of triples, all of them; nothing is scheduled yet. `views` are the names in VIEWS that
        are wanted too.
        """

    def counter(self, table: Table) -> Callable[[], int]:
        """Says later, without keeping the table, how many rows were found in one that was read from files: 0
        before it is taken in.
        """

    def mark(self, table: Table) -> str | None:
        """What a `DataError` bears as its `mark` if a table that is read late turns out to be wrong; None if
        it has been read.
        """

    def rows(self, tables: Iterable[Table], columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Rows as tuples of Python values."""

    def batches(
        self, reading: Reading, columns: Sequence[str], names: Sequence[str]
    ) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Rows as Arrow batches of terms, all with one schema; the columns get the given names."""

    def export(
        self,
        folder: str,
        format: str,
        facts: Mapping[Predicate, Project],
    ) -> dict[str, int]:
        """One file for each predicate in a folder, which for Spark may be a URI; returns the rows of each.
        `facts` says how they are read.
        """

    def write_signed(self, facts: Sequence[Signed], folder: Path) -> None:
        """Facts of several predicates (predicate, sign, terms in Turtle form) as Parquet in a new folder of
        this machine.
        """

    def close(self) -> None:
        """Give back what is held."""
