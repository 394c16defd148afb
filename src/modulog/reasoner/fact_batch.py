"""Facts to be added or deleted: files to read and data in memory, described before a reasoner takes them."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Never, TypedDict

from modulog.engines.options import refuse
from modulog.errors import DataError, OptionError, QueryError
from modulog.formats.fact_file import BAD, Bad, Columns
from modulog.formats.format import ReadFormat
from modulog.terms.python_values import IRI


class ReadOptions(TypedDict, total=False):
    """The options of `modulog.read` and `Reasoner.load`."""

    predicate: str | IRI | None
    header: bool
    strings: bool
    columns: Columns | None
    mapping: Mapping[str, Columns] | None
    bad: Bad
    format: ReadFormat | None


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

    predicate: str | IRI
    data: object
    columns: Columns | None = None

    def __str__(self) -> str:
        return f"facts of {predicate_name(self.predicate)}"


@dataclass(frozen=True, slots=True)
class FactBatch:
    """Facts that `Reasoner.add` and `Reasoner.update` take: what `modulog.read` and `modulog.facts` return.

    Batches are joined by `+`. Files are read when a reasoner takes the batch, as often as one takes it.

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
    predicate: str | IRI | None = None,
    header: bool = False,
    strings: bool = False,
    columns: Columns | None = None,
    mapping: Mapping[str, Columns] | None = None,
    bad: Bad = "fail",
    format: ReadFormat | None = None,
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
    options: ReadOptions = {"predicate": predicate, "header": header, "strings": strings, "columns": columns}
    options |= {"mapping": mapping, "bad": bad, "format": format}
    return FactBatch([FactFiles(os.fspath(path), options)])


def facts(predicate: str | IRI, data: object, *, columns: Columns | None = None) -> FactBatch:
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
    return FactBatch([FactData(predicate, data, columns)])


@contextmanager
def naming(predicate: str) -> Iterator[None]:
    """Let errors about facts in memory say whose facts these are."""
    try:
        yield
    except DataError as error:
        raise DataError(f"facts of {predicate}: {str(error).removeprefix('facts: ')}") from error


def predicate_name(name: str | IRI) -> str:
    """The name of a predicate as programs write it: an IRI is in angle brackets."""
    if isinstance(name, str):
        return name
    if isinstance(name, IRI):
        return f"<{name.value}>"
    raise QueryError(f"a predicate has a name or an IRI, not {reprlib.repr(name)}")
