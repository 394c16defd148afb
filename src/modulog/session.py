"""The one facade: a program, its facts, and everything a user does with them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from modulog.engines.backend import Columns
from modulog.engines.protocol import Project, Read, Table
from modulog.engines.registry import make_backend
from modulog.errors import QueryError
from modulog.language.checks import check
from modulog.language.model import Literal, Negation, Predicate, Program
from modulog.language.parser import parse_file, parse_program, parse_query
from modulog.language.places import Diagnostic
from modulog.loading import Arrival, Loader, predicate_name
from modulog.materialisation.facts import Facts
from modulog.materialisation.materialise import Observer, materialise, silent
from modulog.materialisation.statistics import Statistics
from modulog.planning.pipeline import Switches, make_plan
from modulog.planning.plan import Plan
from modulog.query.conjunctive import answer, variables_of
from modulog.terms.python import IRI, constant

if TYPE_CHECKING:
    import pyarrow as pa


class Reasoner:
    """A program with its facts: load, materialise, query.

    >>> r = Reasoner("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
    >>> r.add("edge", [("a", "b"), ("b", "c")])
    >>> sorted(r.rows("path"))
    [('a', 'b'), ('a', 'c'), ('b', 'c')]

    A string is the text of a program, a `Path` a file. `engine` is "local", "spark", or "auto": Spark if a session was given as `spark`, otherwise
    local. Options of Spark: `settings` for a session of our own, `folder` for facts and terms, `broadcast_limit`. `modules="off"` is plain seminaive evaluation of the rules as they stand. `progress` is
    called once a round with the number of the stratum, the number of strata, its predicates, the round, and the facts so far.
    """

    def __init__(
        self,
        program: str | Path | Program,
        *,
        engine: str = "auto",
        modules: str = "auto",
        progress: Observer | None = None,
        spark: Any = None,
        **options: Any,
    ) -> None:
        self.program, self._folder = _read_program(program)
        self._switches = Switches(modules=modules)
        self._plan = make_plan(self.program, self._switches)
        self._backend = make_backend(engine, spark, **options)
        self._facts = Facts(self._backend.engine, self._plan, self._backend)
        self._loader = Loader(self._facts, self._backend, self.program)
        for constant_ in self._plan.constants():
            self._backend.identify(constant_)
        self._observe = progress or silent
        self._statistics: Statistics | None = None
        self._staged = False

    # ---- Facts in

    def add(self, predicate: str | IRI, facts: object, *, columns: Columns | None = None) -> None:
        """Add explicit facts: tuples, NumPy, pandas, Polars or Arrow data; with Spark also a data frame.

        `columns` picks the columns of a wide table that are the arguments, by name or by position from 0.

        >>> r = Reasoner("p(?x) :- q(?x, ?y) .")
        >>> r.add("q", [(1, "one", True), (2, "two", False)], columns=[0, 1])
        >>> r.count("q")
        2
        """
        name = predicate_name(predicate)
        arity = self._loader.expected(name)
        self._loader.add(
            Arrival(name, self._backend.read_data(facts, arity, columns), f"facts of {name}", arity)
        )
        self._statistics = None

    def load(
        self,
        path: str | os.PathLike[str],
        *,
        predicate: str | IRI | None = None,
        header: bool = False,
        strings: bool = False,
        columns: Columns | None = None,
        mapping: Mapping[str, Columns] | None = None,
    ) -> None:
        """Load facts from a file, or from a folder with one file for each predicate.

        A file fills the predicate it is named for, unless `predicate` says otherwise. `mapping` fills several predicates from columns of one
        wide file: `{"age": ["id", "age"], "name": ["id", "name"]}`.
        """
        self._loader.load(
            path,
            predicate=None if predicate is None else predicate_name(predicate),
            header=header,
            strings=strings,
            columns=columns,
            mapping=mapping,
        )
        self._statistics = None

    def _stage_program(self) -> None:
        """The program's own facts and imports, once."""
        if self._staged:
            return
        by_predicate: dict[Predicate, list[tuple[Any, ...]]] = {}
        for fact in self.program.facts:
            by_predicate.setdefault(fact.predicate, []).append(fact.terms)
        own = [
            Arrival(predicate.name, [self._backend.encode(rows, predicate.arity)], "facts of the program")
            for predicate, rows in by_predicate.items()
        ]
        imports = [self._loader.imported(directive, self._folder) for directive in self.program.imports]
        self._loader.add(*own, *imports)
        self._staged = True

    # ---- Reasoning

    def materialise(self) -> Statistics:
        """Compute every consequence, unless nothing has changed since the last time.

        >>> print(Reasoner("q(?x) :- p(?x) . p(a) .").materialise().facts)
        2
        """
        if self._statistics is not None:
            return self._statistics
        self._stage_program()
        self._facts.forget_derived()
        explicit, before = self._facts.settle(), self._backend.engine.incomparable
        statistics = materialise(self._plan, self._facts, self._observe)
        statistics.explicit = explicit
        statistics.facts = sum(self._facts.size(p) for p in self.predicates())
        statistics.derived = statistics.facts - explicit
        statistics.bytes = self._facts.memory()
        statistics.incomparable = self._backend.engine.incomparable - before
        self._statistics = statistics
        return statistics

    @property
    def statistics(self) -> Statistics | None:
        """What the last materialisation did; None if facts have come since."""
        return self._statistics

    @property
    def warnings(self) -> list[Diagnostic]:
        """What looks odd in the program, given the facts that are known so far."""
        imported = {directive.predicate for directive in self.program.imports}
        known = {p.name for p in self._facts.explicit} | imported
        return check(self.program, known=known)

    def plan(self) -> Plan:
        """How the program is evaluated; after a run, with the orders last used.

        >>> print(Reasoner("q(?x) :- p(?x, ?y), ~r(?y) .").plan())
        facts    p/2, r/1
        stratum 1: q/1 (nonrecursive)
            q(?x) :- p(?x, ?y), ~r(?y) .
        """
        return self._plan

    # ---- Facts out

    def predicates(self) -> list[Predicate]:
        """Every predicate of the program and the facts, by name.

        >>> [str(p) for p in Reasoner("q(?x) :- p(?x, ?y) .").predicates()]
        ['p/2', 'q/1']
        """
        return sorted(self.program.predicates() | set(self._facts.explicit))

    def rows(self, predicate: str | IRI, *, limit: int | None = None) -> list[tuple[Any, ...]]:
        """The facts of a predicate as tuples of Python values, in no particular order.

        >>> Reasoner("p(1, a) .").rows("p")
        [(1, 'a')]
        """
        found = self._named(predicate)
        return list(self._backend.rows(self._tables(found, limit), _columns(found)))

    def batches(self, predicate: str | IRI) -> Iterator[pa.RecordBatch]:
        """The facts of a predicate, as they are now, in Arrow record batches with the columns c0, c1, …; no arguments: `holds`.

        >>> [b.num_rows for b in Reasoner("p(1, a) .").batches("p")]
        [1]
        """
        import pyarrow as pa

        found = self._named(predicate)
        if not found.arity:
            return iter([pa.RecordBatch.from_pydict({"holds": [self.count(predicate) > 0]})])
        return self._backend.batches(partial(self._tables, found), _columns(found), _columns(found))[1]

    def query(self, text: str, *, limit: int | None = None) -> pa.Table:
        """The answers to a query as an Arrow table: a column for each variable, in order of appearance; no variables: `holds`.

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

    def count(self, text: str | IRI) -> int:
        """How many facts a predicate has, or how many answers a query.

        >>> r = Reasoner("p(1, a) . p(2, b) . q(b) .")
        >>> r.count("p"), r.count("p(?n, ?x), ~q(?x)")
        (2, 1)
        """
        if isinstance(text, IRI) or not {"(", "?"} & set(text):
            found = self._named(text.strip() if isinstance(text, str) else text)
            self.materialise()
            return self._facts.size(found)
        literals = self._parse(text)
        expr = self._answer(literals)
        return self._facts.engine.count(expr) if variables_of(literals) else int(self._holds(expr))

    def _holds(self, expr: Project) -> bool:
        return any(len(table) for table in self._facts.engine.evaluate(expr, 1))

    def contains(self, predicate: str | IRI, row: Sequence[object]) -> bool:
        """Whether a fact holds.

        >>> Reasoner("p(1, a) .").contains("p", (1, "a"))
        True
        """
        found = self._named(predicate, len(row))
        self.materialise()
        ids = self._backend.find([constant(v) for v in row])
        if -1 in ids:
            return False
        link = self._facts.link(found)
        ordered = [ids[link.places.index(j)] for j in range(found.arity)]
        rows = self._facts.engine.table(_columns(found), np.array(ordered, np.int64).reshape(found.arity, 1))
        return len(self._facts.relation(link.representative).contains(rows, "all")) > 0

    def export(
        self,
        folder: str | os.PathLike[str],
        *,
        format: str = "csv",
        predicates: Sequence[str | IRI] | None = None,
    ) -> dict[str, int]:
        """Write one file for each predicate; returns the number of rows of each file."""
        chosen = self.predicates() if predicates is None else [self._named(p) for p in predicates]
        self.materialise()
        return self._backend.export(Path(folder), format, chosen, self._tables)

    def _tables(self, predicate: Predicate, limit: int | None = None) -> Iterator[Table]:
        """The facts of a predicate as tables of ids."""
        self.materialise()
        link, columns = self._facts.link(predicate), _columns(predicate)
        args = tuple(columns[link.places.index(j)] for j in range(predicate.arity))
        read = Read(self._facts.relation(link.representative), args, "all")
        return self._facts.engine.evaluate(Project(read, columns, "keep"), _limited(limit))

    # ---- On Spark

    def dataframe(self, predicate: str | IRI) -> Any:
        """The facts of a predicate as a Spark data frame of terms with the columns c0, c1, …"""
        return self._dataframe(self._named(predicate))

    def _dataframe(self, predicate: Predicate) -> Any:
        self.materialise()
        return self._backend.dataframe(next(self._tables(predicate)), _columns(predicate))

    def create_views(self) -> list[str]:
        """Register every predicate as a temporary view for Spark's SQL; returns the names of the views.

        An IRI becomes its last part; where two views would have one name, the arity or a number follows.
        """
        names: list[str] = []
        for predicate in self.predicates():
            short = re.sub(r"\W+", "_", re.split(r"[/#:]", predicate.name.strip("<>"))[-1]) or "_"
            options = chain([short, f"{short}_{predicate.arity}"], (f"{short}_{n}" for n in count(10)))
            taken = {name.lower() for name in names}
            names.append(next(name for name in options if name.lower() not in taken))
            self._dataframe(predicate).createOrReplaceTempView(names[-1])
        return names

    def close(self) -> None:
        """Give back what the engine holds: temporary folders, and a Spark session of our own."""
        self._backend.close()

    def __enter__(self) -> Reasoner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- Names

    def _parse(self, text: str) -> tuple[Literal, ...]:
        literals = parse_query(text, prefixes=self.program.prefixes, base=self.program.base)
        for literal in literals:
            atom = literal.atom if isinstance(literal, Negation) else literal
            if (predicate := getattr(atom, "predicate", None)) is not None:
                self._named(predicate.name, predicate.arity)
        return literals

    def _answer(self, literals: tuple[Literal, ...]) -> Project:
        self.materialise()
        return answer(literals, self._facts)

    def _named(self, predicate: str | IRI, arity: int | None = None) -> Predicate:
        """The predicate of a name; an error names the nearest ones."""
        name, known = predicate_name(predicate), self.predicates()
        if not self._staged:
            self._stage_program()
            known = self.predicates()
        found = [p for p in known if p.name == name]
        if arity is not None and (exact := [p for p in found if p.arity == arity]):
            return exact[0]
        if not found:
            near = get_close_matches(name, {p.name for p in known}, n=3, cutoff=0.5)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise QueryError(f"there is no predicate {name}{hint}")
        if arity is not None or len(found) > 1:
            arities = " or ".join(str(p.arity) for p in found)
            raise QueryError(f"{name} has {arities} arguments" + ("" if arity is None else f", not {arity}"))
        return found[0]


def _columns(predicate: Predicate) -> tuple[str, ...]:
    return tuple(f"c{j}" for j in range(predicate.arity))


def _limited(limit: int | None) -> int | None:
    if limit is not None and limit < 0:
        raise QueryError(f"a limit is a number of rows, not {limit}")
    return limit


def _read_program(program: str | Path | Program) -> tuple[Program, Path]:
    if isinstance(program, Program):
        return program, Path()
    if isinstance(program, Path):
        return parse_file(program), program.parent
    if not isinstance(program, str):
        raise TypeError(f"a program is a text, a Path or a Program, not a {type(program).__name__}")
    return parse_program(program), Path()
