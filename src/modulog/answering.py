"""What a reasoner answers: facts of predicates, queries, exports, data frames."""

from __future__ import annotations

import os
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from modulog.engines.backend import Backend
from modulog.engines.protocol import Project, Table
from modulog.errors import QueryError
from modulog.formats.files import BAD_RECORDS
from modulog.language.model import Literal, Negation, Predicate, Program
from modulog.language.parser import parse_query
from modulog.language.reading import full_name
from modulog.language.triples import settle_body
from modulog.loading import predicate_name
from modulog.materialisation.facts import Facts
from modulog.materialisation.statistics import Statistics
from modulog.naming import choose, view_names
from modulog.query.conjunctive import answer, variables_of
from modulog.query.readings import Readings, columns_of
from modulog.terms.python import IRI, constant

if TYPE_CHECKING:
    import pyarrow as pa


class Answering(ABC):
    """The questions that can be asked of a program with its facts; reading before materialising materialises."""

    program: Program
    _facts: Facts
    _readings: Readings
    _backend: Backend
    _staged: bool

    @abstractmethod
    def materialise(self) -> Statistics:
        """Compute every consequence, unless nothing has changed since the last time."""

    @abstractmethod
    def _ready(self) -> None:
        """As `materialise`, without counting what there is."""

    @abstractmethod
    def _stage_program(self) -> None:
        """The program's own facts and imports, once."""

    def predicates(self) -> list[Predicate]:
        """Every predicate of the program and the facts, by name; also properties and classes that rules derive as `triple` or `rdf:type`.

        >>> from modulog import Reasoner

        >>> [str(p) for p in Reasoner("q(?x) :- p(?x, ?y) .").predicates()]
        ['p/2', 'q/1']
        """
        self._derive_names()
        return sorted(self._readings.known())

    def named(self, names: Collection[str]) -> list[Predicate]:
        """The predicates of some names; in a program of RDF also `triple` and `rdf:type`, which see the facts of others.

        >>> from modulog import Reasoner

        >>> [str(p) for p in Reasoner("q(?x) :- p(?x, ?y) . <u:c>(a) .").named(["q", "triple", "s"])]
        ['q/1', 'triple/3']
        """
        self._stage_program()
        self._derive_names()
        return sorted(p for name in set(names) for p in self._readings.candidates(name))

    def _derive_names(self) -> None:
        """Before a predicate is looked up: there may be some that only derived triples have."""
        if self._readings.views.made:
            self._ready()

    def rows(self, predicate: str | IRI | Predicate, *, limit: int | None = None) -> list[tuple[Any, ...]]:
        """The facts of a predicate as tuples of Python values, in no particular order.

        >>> from modulog import Reasoner

        >>> Reasoner("p(1, a) .").rows("p")
        [(1, 'a')]
        """
        found = self._named(predicate)
        return list(self._backend.rows(self._tables(found, limit), columns_of(found)))

    def batches(self, predicate: str | IRI | Predicate) -> Iterator[pa.RecordBatch]:
        """The facts of a predicate, as they are now, in Arrow record batches with the columns c0, c1, …; no arguments: `holds`.

        >>> from modulog import Reasoner

        >>> [b.num_rows for b in Reasoner("p(1, a) .").batches("p")]
        [1]
        """
        import pyarrow as pa

        found = self._named(predicate)
        if not found.arity:
            return iter([pa.RecordBatch.from_pydict({"holds": [self.count(predicate) > 0]})])
        return self._backend.batches(partial(self._tables, found), columns_of(found), columns_of(found))[1]

    def query(self, text: str, *, limit: int | None = None) -> pa.Table:
        """The answers to a query as an Arrow table: a column for each variable, in order of appearance; no variables: `holds`.

        >>> from modulog import Reasoner

        >>> Reasoner("p(1, a) . p(2, b) . q(b) .").query("p(?n, ?x), ~q(?x)").to_pylist()
        [{'n': 1, 'x': 'a'}]
        """
        import pyarrow as pa

        literals = self._parse(text)
        names, expr = variables_of(literals), self._answer(literals)
        if not names:
            return pa.table({"holds": [self._holds(expr)]})
        tables = list(self._facts.engine.evaluate(expr, _limited(limit)))
        schema, batches = self._backend.batches(lambda: tables, expr.variables, names)
        return pa.Table.from_batches(batches, schema)

    def count(self, text: str | IRI | Predicate) -> int:
        """How many facts a predicate has, or how many answers a query.

        >>> from modulog import Reasoner
        >>> r = Reasoner("p(1, a) . p(2, b) . q(b) .")
        >>> r.count("p"), r.count("p(?n, ?x), ~q(?x)")
        (2, 1)
        """
        if not isinstance(text, str) or not {"(", "?"} & set(text):
            found = self._named(text.strip() if isinstance(text, str) else text)
            self._ready()
            return self._readings.size(found)
        literals = self._parse(text)
        expr = self._answer(literals)
        return self._facts.engine.count(expr) if variables_of(literals) else int(self._holds(expr))

    def _holds(self, expr: Project) -> bool:
        return any(len(table) for table in self._facts.engine.evaluate(expr, 1))

    def contains(self, predicate: str | IRI, row: Sequence[object]) -> bool:
        """Whether a fact holds.

        >>> from modulog import Reasoner

        >>> Reasoner("p(1, a) .").contains("p", (1, "a"))
        True
        """
        found = self._named(predicate, len(_row(row)))
        self._ready()
        ids = self._backend.find([constant(v) for v in row])
        if -1 in ids:
            return False
        if not self._readings.is_plain(found):
            return self._readings.contains(found, tuple(ids))
        link = self._facts.link(found)
        ordered = [ids[link.places.index(j)] for j in range(found.arity)]
        rows = self._facts.engine.table(
            columns_of(found), np.array(ordered, np.int64).reshape(found.arity, 1)
        )
        return len(self._facts.relation(link.representative).contains(rows, "all")) > 0

    def export(
        self,
        folder: str | os.PathLike[str],
        *,
        format: str = "csv",
        predicates: Sequence[str | IRI | Predicate] | None = None,
    ) -> dict[str, int]:
        """Write one file for each predicate; returns the number of rows of each file.

        Records that were set aside go into `_bad_records.parquet`.
        """
        chosen = self.predicates() if predicates is None else [self._named(p) for p in predicates]
        self._ready()
        facts = {predicate: self._readings.all_of(predicate) for predicate in chosen}
        written = self._backend.export(os.fspath(folder), format, facts)
        if len(self._backend.aside):
            self._backend.aside.write(f"{os.fspath(folder)}/{BAD_RECORDS}")
            written[BAD_RECORDS] = len(self._backend.aside)
        return written

    def _tables(self, predicate: Predicate, limit: int | None = None) -> Iterator[Table]:
        """The facts of a predicate as tables of ids."""
        self._ready()
        return self._facts.engine.evaluate(self._readings.all_of(predicate), _limited(limit))

    def bad_records(self, *, limit: int | None = None) -> pa.Table:
        """The records that `load(…, bad="set-aside")` left out, as an Arrow table: file, line, text and reason.

        >>> from modulog import Reasoner

        >>> Reasoner("p(1) .").bad_records().num_rows
        0
        """
        return self._backend.aside.table(_limited(limit))

    def move_bad_records(self, path: str | os.PathLike[str]) -> int:
        """Write the records that were set aside as Parquet, and forget them; answers how many there were."""
        found = len(self._backend.aside)
        if found:
            self._backend.aside.write(os.fspath(path))
            self._backend.aside.forget(0)
        return found

    # ---- On Spark

    def dataframe(self, predicate: str | IRI | Predicate) -> Any:
        """The facts of a predicate as a Spark data frame of terms with the columns c0, c1, …"""
        return self._dataframe(self._named(predicate))

    def _dataframe(self, predicate: Predicate) -> Any:
        self._ready()
        return self._backend.dataframe(next(self._tables(predicate)), columns_of(predicate))

    def create_views(self) -> list[str]:
        """Register every predicate as a temporary view for Spark's SQL; returns the names of the views.

        An IRI becomes its last part; where two views would have one name, the arity or a number follows.
        """
        predicates = self.predicates()
        names = list(view_names(predicates))
        for predicate, name in zip(predicates, names, strict=True):
            self._dataframe(predicate).createOrReplaceTempView(name)
        return names

    # ---- Names

    def _parse(self, text: str) -> tuple[Literal, ...]:
        literals = parse_query(text, prefixes=self.program.prefixes, base=self.program.base)
        self._stage_program()
        literals = settle_body(literals)
        for literal in literals:
            atom = literal.atom if isinstance(literal, Negation) else literal
            if (predicate := getattr(atom, "predicate", None)) is not None:
                self._named(predicate.name, predicate.arity)
        return literals

    def _answer(self, literals: tuple[Literal, ...]) -> Project:
        self._ready()
        return answer(literals, self._readings)

    def _named(self, predicate: str | IRI | Predicate, arity: int | None = None) -> Predicate:
        """The predicate of a name, which must have the arity if one is given; an error names the nearest ones."""
        if isinstance(predicate, Predicate):
            return self._named(predicate.name, predicate.arity)
        self._stage_program()
        self._derive_names()
        name = full_name(predicate_name(predicate), self.program.prefixes, self.program.base)
        found = self._readings.candidates(name)
        return choose(found or self._readings.known(), name, arity)


def _row(row: Sequence[object]) -> Sequence[object]:
    """The row, which must be one: a text is a sequence, too, but of letters."""
    if isinstance(row, str | bytes | Mapping | Set) or not hasattr(row, "__len__"):
        simple = isinstance(row, str | bytes | int | float | IRI)
        hint = f"; write ({reprlib.repr(row)},) for a fact with one argument" if simple else ""
        raise QueryError(f"a fact is a tuple of its arguments, not {reprlib.repr(row)}{hint}")
    return row


def _limited(limit: int | None) -> int | None:
    if limit is not None and limit < 0:
        raise QueryError(f"a limit is a number of rows, not {limit}")
    return limit
