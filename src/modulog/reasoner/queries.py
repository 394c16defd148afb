"""The methods of a reasoner that read: facts of predicates, queries, exports, data frames."""

from __future__ import annotations

import os
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from modulog.algebra.expressions import Project
from modulog.engines.backend import NO_FRAMES, Backend
from modulog.engines.table import Table, columns_of
from modulog.errors import NotSupported, ProgramWarning, QueryError
from modulog.evaluation.facts import Facts
from modulog.evaluation.statistics import Statistics
from modulog.formats import warn_user
from modulog.formats.files import BAD_RECORDS
from modulog.formats.format import WriteFormat
from modulog.language.model import Literal, Negation, Predicate, Program
from modulog.language.parser import parse_query
from modulog.language.program_warnings import query_warning
from modulog.language.term_parser import full_name
from modulog.language.triples import specialise_body
from modulog.maintenance.change import Name
from modulog.query.conjunctive_query import answer, variables_of
from modulog.query.predicate_reads import Readings
from modulog.reasoner.fact_batch import predicate_name
from modulog.reasoner.predicate_names import choose, view_names
from modulog.terms.python_values import IRI, constant
from modulog.wording import plural

if TYPE_CHECKING:
    import pyarrow as pa


class Answering(ABC):
    """The reading methods of a reasoner; those that need derived facts materialise first, if necessary."""

    program: Program
    _facts: Facts
    _readings: Readings
    _backend: Backend

    @abstractmethod
    def materialise(self) -> Statistics:
        """Compute every consequence, unless nothing has changed since the last time."""

    @abstractmethod
    def _ready(self) -> None:
        """Materialise, without counting the facts afterwards."""

    @abstractmethod
    def _stage_program(self) -> None:
        """Load the facts and imports of the program, if that has not been done."""

    def predicates(self) -> list[Predicate]:
        """All predicates of the program and the facts, sorted by name.

        These include properties and classes that occur only in derived `triple` or `rdf:type` facts.

        >>> from modulog import Reasoner
        >>> [str(p) for p in Reasoner("q(?x) :- p(?x, ?y) .").predicates()]
        ['p/2', 'q/1']
        """
        self._materialise_triples()
        return sorted(self._readings.known())

    def _materialise_triples(self) -> None:
        """Materialise if rules derive triples, since these may contain further predicates."""
        if self._readings.views.made:
            self._ready()

    def rows(self, predicate: Name, *, limit: int | None = None) -> list[tuple[Any, ...]]:
        """The facts of a predicate as tuples of Python values, in no particular order.

        >>> from modulog import Reasoner
        >>> Reasoner("p(1, a) .").rows("p")
        [(1, 'a')]
        """
        found = self._predicate_of(predicate)
        return list(self._backend.rows(self._tables(found, limit), columns_of(found.arity)))

    def table(
        self, predicate: Name, *, columns: Sequence[str] | None = None, limit: int | None = None
    ) -> pa.Table:
        """The facts of a predicate as an Arrow table, whose columns are c0, c1, … unless they are named.

        For a predicate without arguments, there is one row with the column `holds`.

        >>> from modulog import Reasoner
        >>> Reasoner("age(Ada, 36) .").table("age", columns=["name", "years"]).to_pylist()
        [{'name': 'Ada', 'years': 36}]
        """
        import pyarrow as pa

        schema, batches = self._stream(predicate, columns, limit)
        return pa.Table.from_batches(batches, schema)

    def batches(self, predicate: Name, *, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The facts of a predicate at the time of the call, as the Arrow record batches of `table`.

        >>> from modulog import Reasoner
        >>> [b.num_rows for b in Reasoner("p(1, a) .").batches("p")]
        [1]
        """
        return self._stream(predicate, columns)[1]

    def _stream(
        self, predicate: Name, columns: Sequence[str] | None, limit: int | None = None
    ) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """The record batches that `batches` returns, and their schema."""
        import pyarrow as pa

        found = self._predicate_of(predicate)
        names = checked_columns(found, columns)
        if not found.arity:
            batch = pa.RecordBatch.from_pydict({"holds": [self.count(predicate) > 0]})
            return batch.schema, iter([batch])
        return self._backend.batches(partial(self._tables, found, limit), columns_of(found.arity), names)

    def to_pandas(self, predicate: Name, *, columns: Sequence[str] | None = None) -> Any:
        """The facts of a predicate as a pandas frame; `query(…).to_pandas()` gives the answers to a query.

        >>> from modulog import Reasoner
        >>> Reasoner("age(Ada, 36) .").to_pandas("age", columns=["name", "years"])
          name  years
        0  Ada     36
        """
        return self.table(predicate, columns=columns).to_pandas()

    def to_polars(self, predicate: Name, *, columns: Sequence[str] | None = None) -> Any:
        """The facts of a predicate as a Polars frame; `polars.from_arrow(query(…))` gives those of a query.

        >>> from modulog import Reasoner
        >>> Reasoner("age(Ada, 36) .").to_polars("age", columns=["name", "years"]).rows()
        [('Ada', 36)]
        """
        import polars

        return polars.from_arrow(self.table(predicate, columns=columns))

    def to_spark(self, predicate: Name, *, columns: Sequence[str] | None = None) -> Any:
        """On Spark, the facts of a predicate as a data frame with the columns c0, c1, … or other names."""
        found = self._predicate_of(predicate)
        return self._frame(found, checked_columns(found, columns))

    def query(self, text: str, *, limit: int | None = None) -> pa.Table:
        """The answers to a query as an Arrow table with a column for each variable, in order of appearance.

        For a query without variables, there is one row with the column `holds`.

        >>> from modulog import Reasoner
        >>> Reasoner("p(1, a) . p(2, b) . q(b) .").query("p(?n, ?x), ~q(?x)").to_pylist()
        [{'n': 1, 'x': 'a'}]
        """
        import pyarrow as pa

        literals = self._parse(text)
        names, expr = variables_of(literals), self._answer(literals)
        if not names:
            return pa.table({"holds": [self._holds(expr)]})
        tables = list(self._facts.engine.evaluate(expr, _checked_limit(limit)))
        schema, batches = self._backend.batches(lambda: tables, expr.variables, names)
        return pa.Table.from_batches(batches, schema)

    def count(self, text: Name) -> int:
        """The number of facts of a predicate, or of answers to a query.

        >>> from modulog import Reasoner
        >>> r = Reasoner("p(1, a) . p(2, b) . q(b) .")
        >>> r.count("p"), r.count("p(?n, ?x), ~q(?x)")
        (2, 1)
        """
        if not isinstance(text, str) or not {"(", "?"} & set(text):
            found = self._predicate_of(text.strip() if isinstance(text, str) else text)
            self._ready()
            return self._readings.size(found)
        literals = self._parse(text)
        expr = self._answer(literals)
        return self._facts.engine.count(expr) if variables_of(literals) else int(self._holds(expr))

    def _holds(self, expr: Project) -> bool:
        return any(len(table) for table in self._facts.engine.evaluate(expr, 1))

    def contains(self, predicate: Name, row: Sequence[object]) -> bool:
        """Whether a fact holds.

        >>> from modulog import Reasoner
        >>> Reasoner("p(1, a) .").contains("p", (1, "a"))
        True
        """
        found = self._predicate_of(predicate, len(_checked_row(row)))
        self._ready()
        ids = self._backend.find([constant(v) for v in row])
        if -1 in ids:
            return False
        if not self._readings.is_plain(found):
            return self._readings.contains(found, tuple(ids))
        link = self._facts.link(found)
        ordered = [ids[link.places.index(j)] for j in range(found.arity)]
        rows = self._facts.engine.table(
            columns_of(found.arity), np.array(ordered, np.int64).reshape(found.arity, 1)
        )
        return len(self._facts.relation(link.representative).contains(rows, "all")) > 0

    def export(
        self,
        folder: str | os.PathLike[str],
        *,
        format: WriteFormat = "csv",
        predicates: Sequence[Name] | None = None,
    ) -> dict[str, int]:
        """Write the facts of each predicate to a file; returns the number of rows of each file.

        Bad records that `load` has set aside are written to `_bad_records.parquet`.

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from modulog import Reasoner
        >>> with TemporaryDirectory() as folder:
        ...     Reasoner("q(?x) :- p(?x) . p(a) .").export(folder, predicates=["q"])
        ...     Path(folder, "q.csv").read_text()
        {'q.csv': 1}
        'a\\n'
        """
        if isinstance(predicates, str):
            raise QueryError(f"`predicates` is a list of predicates: [{predicates!r}]")
        chosen = self.predicates() if predicates is None else [self._predicate_of(p) for p in predicates]
        self._ready()
        facts = {predicate: self._readings.all_of(predicate) for predicate in chosen}
        written = self._backend.export(os.fspath(folder), format, facts)
        if len(self._backend.aside):
            self._backend.aside.write(f"{os.fspath(folder)}/{BAD_RECORDS}")
            written[BAD_RECORDS] = len(self._backend.aside)
        return written

    def _tables(self, predicate: Predicate, limit: int | None = None) -> Iterator[Table]:
        """The facts of a predicate as tables of term ids."""
        self._ready()
        return self._facts.engine.evaluate(self._readings.all_of(predicate), _checked_limit(limit))

    def bad_records(self, *, limit: int | None = None) -> pa.Table:
        """The bad records that `load(…, bad="set-aside")` left out: a table of file, line, text and reason.

        >>> from modulog import Reasoner
        >>> Reasoner("p(1) .").bad_records().num_rows
        0
        """
        return self._backend.aside.table(_checked_limit(limit))

    # ---- On Spark

    def _frame(self, predicate: Predicate, columns: Sequence[str]) -> Any:
        self._ready()
        frames = self._backend.frames
        if frames is None:
            raise NotSupported(NO_FRAMES)
        frame = frames.dataframe(next(self._tables(predicate)), columns_of(predicate.arity))
        return frame.toDF(*columns) if predicate.arity else frame

    def create_views(self) -> list[str]:
        """Register every predicate as a temporary view for Spark SQL; returns the names of the views.

        The name for an IRI is its last part; if two views would have the same name, the arity or a number is
        appended.
        """
        predicates = self.predicates()
        names = list(view_names(predicates))
        for predicate, name in zip(predicates, names, strict=True):
            self._frame(predicate, columns_of(predicate.arity)).createOrReplaceTempView(name)
        return names

    # ---- Names

    def _parse(self, text: str) -> tuple[Literal, ...]:
        """The literals of a query; an error if it names a predicate that does not exist."""
        literals = parse_query(text, prefixes=self.program.prefixes, base=self.program.base)
        self._stage_program()
        literals = specialise_body(literals)
        for literal in literals:
            atom = literal.atom if isinstance(literal, Negation) else literal
            if (predicate := getattr(atom, "predicate", None)) is not None:
                self._predicate_of(predicate.name, predicate.arity)
        if warning := query_warning(literals, text):
            warn_user(warning.show(), ProgramWarning)
        return literals

    def _answer(self, literals: tuple[Literal, ...]) -> Project:
        self._ready()
        return answer(literals, self._readings)

    def _predicate_of(self, predicate: Name, arity: int | None = None) -> Predicate:
        """The predicate with a name and, if given, an arity; the error for others names similar ones."""
        if isinstance(predicate, Predicate):
            return self._predicate_of(predicate.name, predicate.arity)
        self._stage_program()
        self._materialise_triples()
        name = full_name(predicate_name(predicate), self.program.prefixes, self.program.base)
        found = self._readings.candidates(name)
        return choose(found or self._readings.known(), name, arity)


def checked_columns(predicate: Predicate, columns: Sequence[str] | None) -> tuple[str, ...]:
    """The names for the columns of a predicate; a QueryError if these are not one different name each."""
    if columns is None:
        return columns_of(predicate.arity)
    found = list(columns) if isinstance(columns, Iterable) and not isinstance(columns, str) else []
    if {*map(type, found)} - {str} or not len(set(found)) == len(found) == predicate.arity:
        names = plural(predicate.arity, "different name")
        raise QueryError(f"the columns of {predicate} need {names}, not {reprlib.repr(found or columns)}")
    return tuple(found)


def _checked_row(row: Sequence[object]) -> Sequence[object]:
    """The row, if it is a sequence of arguments; a QueryError for a string, a mapping or a set."""
    if isinstance(row, str | bytes | Mapping | Set) or not hasattr(row, "__len__"):
        simple = isinstance(row, str | bytes | int | float | IRI)
        hint = f"; write ({reprlib.repr(row)},) for a fact with one argument" if simple else ""
        raise QueryError(f"a fact is a tuple of its arguments, not {reprlib.repr(row)}{hint}")
    return row


def _checked_limit(limit: int | None) -> int | None:
    """The limit, if it is a number of rows or None; else a QueryError."""
    if limit is not None and (not isinstance(limit, Integral) or limit < 0):
        raise QueryError(f"a limit is a number of rows, not {limit!r}")
    return limit
