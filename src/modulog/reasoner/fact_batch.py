"""Facts to be added or deleted: files to read and data in memory, described before a reasoner takes them."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Never, TypedDict

from modulog.engines.options import refuse
from modulog.errors import DataError, OptionError, QueryError
from modulog.formats.csv_rows import check_delimiter
from modulog.formats.fact_file import BAD, Bad, Columns
from modulog.formats.format import EXTENSIONS, ReadFormat, unknown_format
from modulog.language.model import Predicate
from modulog.maintenance.change import Name
from modulog.terms.python_values import IRI


class ReadOptions(TypedDict, total=False):
    """The options of `modulog.read` and `Reasoner.load`."""

    predicate: Name | None
    header: bool
    strings: bool
    columns: Columns | None
    mapping: Mapping[Any, Columns] | None
    bad: Bad
    format: ReadFormat | None
    delimiter: str | None


@dataclass(frozen=True, slots=True)
class FactFiles:
    """Files of facts, and how they are read."""

    path: str
    options: ReadOptions

    def __str__(self) -> str:
        return self.path


@dataclass(frozen=True, slots=True)
class FactData:
    """Facts of one predicate in memory: tuples, a frame, an Arrow table, …"""

    predicate: Name
    data: object = field(repr=False)
    columns: Columns | None = None
    _uses: list[None] = field(default_factory=list, init=False, repr=False, compare=False)

    def values(self) -> object:
        """The data; an error if it is a generator, or another iterator, that was read before."""
        if isinstance(self.data, Iterator):
            if self._uses:
                raise DataError(f"{self}: an iterator gives its rows only once; put them into a list")
            self._uses.append(None)
        return self.data

    def __str__(self) -> str:
        return f"facts of {predicate_name(self.predicate)}"


@dataclass(frozen=True, slots=True)
class FactBatch:
    """Facts that `Reasoner.add` and `Reasoner.update` take: what `modulog.read` and `modulog.facts` return.

    Batches are joined by `+`. Files are read when a reasoner takes the batch, as often as one takes it; the rows
    of a generator can be taken once.

    >>> import modulog
    >>> batch = modulog.facts("edge", [("a", "b")]) + modulog.facts("edge", [("b", "c")])
    >>> batch
    <FactBatch: facts of edge, facts of edge>
    >>> r = modulog.Reasoner("path(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .")
    >>> r.add(batch)
    >>> r.update(delete=batch).deleted
    {'edge': 2, 'path': 1}
    """

    parts: Sequence[FactFiles | FactData]

    @classmethod
    def of(cls, facts: FactsLike | None) -> FactBatch:
        """A batch as it is, and facts by predicate or None as a batch."""
        if isinstance(facts, FactBatch):
            return facts
        if facts is not None and not isinstance(facts, Mapping):
            raise DataError(
                f'facts stand by predicate: {{"edge": [("a", "b")]}}, not in a {type(facts).__name__}'
            )
        return cls([FactData(predicate, data) for predicate, data in (facts or {}).items()])

    def __add__(self, other: FactsLike) -> FactBatch:
        return FactBatch([*self.parts, *FactBatch.of(other).parts])

    def __repr__(self) -> str:
        shown = [str(part) for part in self.parts[:3]]
        more = [f"… ({len(self.parts)} parts)"] if len(self.parts) > 3 else []
        return f"<FactBatch: {', '.join(shown + more) or 'empty'}>"


FactsLike = FactBatch | Mapping[Any, object]
"""Facts of several predicates: a batch, or data in memory by predicate."""


def read(
    path: str | os.PathLike[str],
    *,
    predicate: Name | None = None,
    header: bool = False,
    strings: bool = False,
    columns: Columns | None = None,
    mapping: Mapping[Any, Columns] | None = None,
    bad: Bad = "fail",
    format: ReadFormat | None = None,
    delimiter: str | None = None,
    **unknown: Never,
) -> FactBatch:
    """The facts of a file, a glob, or a folder with one file for each predicate.

    They are read when a reasoner takes them, by `Reasoner.add` or `Reasoner.update`. On Spark a path may be a
    URI, or `table:` and the name of a table.

    Args:
        path: A file fills the predicate that it is named for; RDF fills the predicates of its triples.
        predicate: The predicate that is filled instead.
        header: Whether the first row of CSV files has the names of the columns.
        strings: Whether every field of CSV files is a string, also one that looks like a number.
        columns: The columns of a wide file that are the arguments, by name or by position from 0.
        mapping: Several predicates with their columns in one wide file.
        bad: "set-aside" leaves bad records out: a warning counts them, and `Reasoner.bad_records` has them.
        format: "csv", "tsv", "jsonl", "parquet", "nt", "ttl", …; unless it is given, the name of the file
        says it.
        delimiter: What separates the fields of CSV files, such as ";", unless the format says it.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import modulog
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "people.csv").write_text("id,name,age\\n1,Ada,36\\n2,Ben,40\\n")
    ...     columns = {"age": ["id", "age"], "name": ["id", "name"]}
    ...     people = modulog.read(Path(folder, "people.csv"), header=True, mapping=columns)
    ...     r = modulog.Reasoner("grown(?n) :- name(?i, ?n), age(?i, ?a), ?a > 38 .")
    ...     r.add(people)
    ...     r.rows("grown")
    [('Ben',)]
    """
    refuse(unknown, read)
    if bad not in BAD:
        raise DataError(f'bad records are not treated by "{bad}"; choose one of: {", ".join(BAD)}')
    if mapping is not None and not isinstance(mapping, Mapping):
        raise OptionError(
            f'`mapping` has columns by predicate, {{"age": [0, 2]}}, not {reprlib.repr(mapping)}'
        )
    if mapping and (predicate is not None or columns is not None):
        raise OptionError("`mapping` names predicates and their columns: leave out `predicate` and `columns`")
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise OptionError(f"a path is a `str` or a `Path`, not {reprlib.repr(path)}")
    for name, value in (("header", header), ("strings", strings)):
        if not isinstance(value, bool):
            raise OptionError(f"`{name}` is True or False, not {reprlib.repr(value)}")
    if format is not None and format not in EXTENSIONS.values():
        raise DataError(unknown_format(format, EXTENSIONS.values()))
    if delimiter is not None:
        check_delimiter(delimiter)
    for named in mapping or ([] if predicate is None else [predicate]):
        predicate_name(named)
    columns = None if columns is None else checked_columns(columns)
    mapping = mapping and {named: c if c is None else checked_columns(c) for named, c in mapping.items()}
    options: ReadOptions = {"predicate": predicate, "header": header, "strings": strings, "columns": columns}
    options |= {"mapping": mapping, "bad": bad, "format": format, "delimiter": delimiter}
    return FactBatch([FactFiles(os.fspath(path), options)])


def facts(predicate: Name, data: object, *, columns: Columns | None = None) -> FactBatch:
    """Facts of one predicate from data in memory, as `Reasoner.add` takes it, to be joined with others.

    >>> import modulog
    >>> r = modulog.Reasoner("p(1) .")
    >>> r.update(add=modulog.facts("p", [(2,)]) + modulog.facts("q", [("x", 3)], columns=[1])).added
    {'p': 1, 'q': 1}
    """
    if isinstance(data, FactBatch):
        name = predicate_name(predicate)
        raise DataError(
            f'facts of {name}: a batch says which predicates it fills: read(…, predicate="{name}")'
        )
    return FactBatch([FactData(predicate, data, None if columns is None else checked_columns(columns))])


def checked_columns(columns: Iterable[int | str]) -> Columns:
    """The columns of a wide table that a user asks for; an error unless they are names and positions."""
    if isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
        raise OptionError(f"`columns` is a list of names or positions: columns=[{columns!r}]")
    found = list(columns)
    for column in found:
        if isinstance(column, bool) or not isinstance(column, str | Integral):
            raise OptionError(f"a column is a name or a position from 0, not {reprlib.repr(column)}")
    return [column if isinstance(column, str) else int(column) for column in found]


@contextmanager
def naming(predicate: str) -> Iterator[None]:
    """Let errors about facts in memory say whose facts these are."""
    try:
        yield
    except DataError as error:
        raise DataError(f"facts of {predicate}: {str(error).removeprefix('facts: ')}") from error


def predicate_name(name: Name) -> str:
    """The name of a predicate as programs write it: an IRI is in angle brackets."""
    if isinstance(name, Predicate):
        return name.name
    if isinstance(name, str) and name.strip():
        return name
    if isinstance(name, IRI):
        return f"<{name.value}>"
    raise QueryError(f"a predicate has a name or an IRI, not {reprlib.repr(name)}")


def said_arity(name: Name | None) -> int | None:
    """The arity of a `Predicate`; a name or an IRI does not say it."""
    return name.arity if isinstance(name, Predicate) else None
