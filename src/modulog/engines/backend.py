"""An engine together with everything that touches terms: where terms and ids meet.

A session speaks terms, an engine ids. A backend has the dictionary between them, reads facts into tables of ids and turns
tables back into terms. It is the only thing a session asks an engine's folder for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeGuard

from modulog.engines.protocol import Engine, Project, Relation, Table
from modulog.language.model import Predicate
from modulog.language.triples import TRIPLE, TYPE
from modulog.store.compaction import staying
from modulog.store.draft import Draft
from modulog.store.manifest import Role, StoredRelation, TermsFile
from modulog.store.store import Store
from modulog.terms.constant import Constant

if TYPE_CHECKING:
    import pyarrow as pa

VIEWS = {view.name: view for view in (TRIPLE, Predicate("quad", 4), TYPE)}
"""The predicates that see every triple, every triple of a named graph with the name of the graph, and every class."""

Columns = Sequence[int | str]
"""Columns of a wide table, by name or by position from 0."""

Paths = Sequence[str | os.PathLike[str]]
"""One or several files that are read as one."""

Bad = Literal["fail", "set-aside"]
"""What is done about bad records."""

BAD: tuple[Bad, ...] = ("fail", "set-aside")

Reading = Callable[[], Iterable[Table]]
"""Something that can be read more than once."""


Kept = tuple[Predicate, Role, Relation]
"""A relation to be stored."""

Stored = tuple[tuple[TermsFile, ...], tuple[StoredRelation, ...]]
"""What a manifest says of terms and relations."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A relation that differs from a state of a store: its net changes since, in order, as (gone, come); None if they are not known."""

    before: StoredRelation
    relation: Relation
    steps: Sequence[tuple[Table, Table]] | None

    @property
    def staying(self) -> int:
        """How many of the stored files stay as they are, from the first on; none if the relation is better written as a whole."""
        if self.steps is None or not self.relation.listed or not self.before.predicate.arity:
            return 0
        return staying(self.before.files, sum(len(table) for step in self.steps for table in step))


@dataclass(frozen=True, slots=True)
class Signed:
    """Facts of a predicate that have come, sign 1, or gone, sign -1; `columns` of the table are the arguments."""

    predicate: str
    sign: int
    table: Table
    columns: Sequence[str]


@dataclass(frozen=True, slots=True)
class Frozen:
    """What an engine has so far: `state` can be written as JSON, and needs the files in some folders of the backend's folder."""

    state: Mapping[str, Any]
    folders: frozenset[str]


class Triples(Protocol):
    """The facts of a file of triples: p(s, o), C(s) for a class, and those of the views that were asked for."""

    @property
    def predicates(self) -> Collection[Predicate]:
        """The predicates that have facts."""

    @property
    def rows(self) -> int:
        """How many triples, or quads, there are, with repetitions."""

    def tables(self) -> Iterable[tuple[Predicate, Table]]:
        """The facts of each predicate."""


@dataclass(frozen=True, slots=True)
class Room:
    """The memory that a process may have, in bytes, and where that is said."""

    bytes: int
    said: str


@dataclass(frozen=True, slots=True)
class FactFile:
    """A file with the facts of one predicate, or with triples; `format` says how it is read. A file elsewhere has a URI.

    `arity` is that of the predicate where the name of the file says it.
    """

    path: Path | str
    predicate: str
    format: str
    gzip: bool = False
    arity: int | None = None


class Aside(Protocol):
    """Bad records that were left out: where they stood, their text, and what is wrong with them."""

    @property
    def place(self) -> str:
        """Where the table of bad records lies; empty if it is in memory."""

    def __len__(self) -> int:
        """How many there are."""

    def table(self, limit: int | None = None) -> pa.Table:
        """The records, or some of them: file, line, text and reason."""

    def write(self, path: str) -> None:
        """Write all of them as Parquet."""

    def write_into(self, folder: Path) -> None:
        """Write all of them as Parquet into a folder of this machine, which is made."""

    @property
    def pieces(self) -> Sequence[object]:
        """The records, one by one or several together, in the order in which they were set aside."""

    def forget(self, pieces: Collection[object]) -> None:
        """Drop some of the pieces, those of a source that failed or was taken back; who has gone already is no error."""

    def take(self, folder: str) -> None:
        """Have the bad records that lie in the Parquet files of a folder, too."""

    def call_files(self, called: Mapping[str, str]) -> None:
        """Name the files of the records as those of which they are copies."""


class Backend(Protocol):
    """What a session needs. Tables that are read in have the columns c0, c1, …"""

    @property
    def engine(self) -> Engine:
        """The engine that keeps and evaluates."""

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
        """The files that a path, a folder, a glob or a URI stands for; with a format, whatever their names."""

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
        """Facts of one predicate from files in one of the formats; those of a file of triples are (s, p, o), or (s, p, o, g) if the arity is 4."""

    def read_rdf(self, paths: Paths, format: str, views: Collection[str], bad: Bad = "fail") -> Triples:
        """Read files of triples, all of them; nothing is scheduled yet. `views` are the names in VIEWS that are wanted too."""

    def counter(self, table: Table) -> Callable[[], int]:
        """Says later, without keeping the table, how many rows were found in one that was read from files: 0 before it is taken in."""

    def mark(self, table: Table) -> str | None:
        """What a `DataError` bears as its `mark` if a table that is read late turns out to be wrong; None if it has been read."""

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
        """One file for each predicate in a folder, which for Spark may be a URI; returns the rows of each. `facts` says how they are read."""

    def dataframe(self, table: Table, columns: Sequence[str]) -> Any:
        """The rows as a data frame of terms, where the engine has data frames."""

    def signed_dataframe(self, facts: Sequence[Signed]) -> Any:
        """Facts of several predicates as a data frame (predicate, sign, terms), where the engine has data frames."""

    def write_signed(self, facts: Sequence[Signed], folder: Path) -> None:
        """The same, with the terms in Turtle form, as Parquet in a new folder of this machine."""

    def save(self, draft: Draft, relations: Sequence[Kept]) -> Stored:
        """Write all terms and the relations as files of a new state of a store."""

    def save_changes(self, draft: Draft, store: Store, changes: Sequence[Changed]) -> Stored:
        """Write new terms and relations that changed; answers all files of terms, and the entries of those relations.

        `store` is the state that the draft follows; its files are kept where they still hold.
        """

    def restore(self, store: Store) -> list[Relation]:
        """Take up the terms of a store, before there are others, and its relations, as they come in the manifest."""

    def close(self) -> None:
        """Give back what is held."""


class Freezing(Backend, Protocol):
    """A backend that writes what it has into files that another process can take up."""

    def freeze_into(self, folder: Path) -> None:
        """Put files into a folder of this machine, before anything else is asked. A backend whose facts lie in files anyway was made with the folder."""

    def can_freeze(self, relation: Relation) -> bool:
        """Whether the facts of a relation are written; if not, they are computed again."""

    def freezing_seconds(self, relations: Sequence[Relation]) -> float:
        """About how long it takes to write these relations, and the terms; 0 if they lie in files anyway."""

    def freeze(self, relations: Sequence[Relation], changing: Sequence[Relation]) -> Frozen | None:
        """What the relations hold, Δ apart, and all terms; None while an evaluation is put off.

        Relations that are not `changing` stay as they are from now on. The files stay until the state after the next one is frozen.
        """

    def thaw(self, state: Mapping[str, Any]) -> None:
        """Take up the terms of a frozen state, before there are others than those of a store."""

    def thaw_relations(self, state: Mapping[str, Any], relations: Sequence[Relation]) -> None:
        """Let new, empty relations be what those that were frozen had been, in the same order."""


class FreezingTables(Freezing, Protocol):
    """A backend of which another process can also take up an update."""

    def freeze_tables(self, tables: Sequence[Table]) -> Frozen | None:
        """As `freeze`, for tables of facts that nobody changes: they are written, once each."""

    def thaw_tables(self, state: Mapping[str, Any]) -> list[Table]:
        """The tables that were frozen, in the same order."""


def can_freeze(backend: Backend) -> TypeGuard[Freezing]:
    """Whether another process can take up what a backend has computed."""
    return hasattr(backend, "freeze")


def can_freeze_tables(backend: Backend) -> TypeGuard[FreezingTables]:
    """Whether another process can take up an update of a backend."""
    return hasattr(backend, "freeze_tables")
