"""Facts on their way in: from values, files, folders and `@import` directives to explicit facts in an engine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from modulog.errors import DataError
from modulog.formats.files import FactFile, discover
from modulog.language.model import Directive, Predicate, Program
from modulog.materialisation.facts import EXPLICIT, Facts
from modulog.terms.dictionary import Dictionary
from modulog.terms.python import IRI

Columns = Sequence[int | str]
DELIMITERS = {"csv": ",", "tsv": "\t", "dsv": ";"}


def predicate_name(name: str | IRI) -> str:
    """The name of a predicate as programs know it: an IRI stands in angle brackets."""
    return f"<{name.value}>" if isinstance(name, IRI) else name


class Loader:
    """Adds explicit facts; knows which arity every name has."""

    def __init__(self, facts: Facts, dictionary: Dictionary, program: Program) -> None:
        self.facts, self.dictionary = facts, dictionary
        self.arities: dict[str, set[int]] = {}
        for predicate in program.predicates():
            self.arities.setdefault(predicate.name, set()).add(predicate.arity)

    def add(self, name: str, chunks: Iterable[Any], source: str) -> int:
        """Add chunks of ids as explicit facts; all of them or, on an error, none. Returns how many rows came."""
        waiting = list(chunks)
        rows = sum(int(chunk.shape[1]) for chunk in waiting)
        for arity in {chunk.shape[0] for chunk in waiting}:
            self._check_arity(name, arity, source)
        changed = set()
        for chunk in waiting:
            relation = self.facts.given(Predicate(name, chunk.shape[0]))
            columns = tuple(f"c{j}" for j in range(chunk.shape[0]))
            relation.schedule(self.facts.engine.table(columns, chunk), EXPLICIT)
            changed.add(relation)
        for relation in changed:
            relation.derive()
            relation.merge()
        return rows

    def _check_arity(self, name: str, arity: int, source: str) -> None:
        known = self.arities.setdefault(name, {arity})
        both = name.startswith("<") and {arity, *known} <= {1, 2}
        if arity not in known and not both:
            expected = " or ".join(map(str, sorted(known)))
            raise DataError(f"{source}: {name} has {expected} arguments, but the rows have {arity}")
        known.add(arity)

    def expected(self, name: str) -> int | None:
        """The arity that facts of a name must have, if it is known and there is only one."""
        known = self.arities.get(name, set())
        return next(iter(known)) if len(known) == 1 and not name.startswith("<") else None

    def load(
        self,
        path: str | os.PathLike[str],
        *,
        predicate: str | None = None,
        header: bool = False,
        strings: bool = False,
        columns: Columns | None = None,
        mapping: Mapping[str, Columns] | None = None,
    ) -> int:
        """Load a file or a folder; `mapping` fills several predicates from columns of one wide file."""
        rows = 0
        for file in discover(path):
            wanted: Mapping[str, Columns | None] = mapping or {predicate or file.predicate: columns}
            for name, chosen in wanted.items():
                chunks = self.read(file, self.expected(name), header=header, strings=strings, columns=chosen)
                rows += self.add(name, chunks, str(file.path))
        return rows

    def read(
        self,
        file: FactFile,
        arity: int | None,
        *,
        header: bool = False,
        strings: bool = False,
        columns: Columns | None = None,
        delimiter: str | None = None,
    ) -> Iterator[Any]:
        """The facts of one file as chunks of ids."""
        if file.format == "parquet":
            from modulog.formats.parquet import read_parquet

            return read_parquet(file.path, self.dictionary, arity=arity, columns=columns)
        from modulog.formats.csv import read_csv

        return read_csv(
            file.path,
            self.dictionary,
            arity=arity,
            delimiter=delimiter or DELIMITERS[file.format],
            header=header,
            strings=strings,
            columns=columns,
        )

    def load_import(self, directive: Directive, folder: Path) -> int:
        """Load what an `@import` names, relative to the folder of the program."""
        options = dict(directive.options)
        resource = options.get("resource")
        where = f"{directive.position}: " if directive.position else ""
        if not isinstance(resource, str):
            raise DataError(f'{where}@import needs a file: {directive.format}{{resource = "facts.csv"}}')
        if directive.format not in (*DELIMITERS, "parquet"):
            raise DataError(f"{where}facts in the format {directive.format} are not supported yet")
        path = folder / resource
        if not path.is_file():
            raise DataError(f"{where}{path}: there is no such file")
        form, keep = options.get("format"), None
        arity = self.expected(directive.predicate)
        if isinstance(form, tuple):
            keep = [j for j, kind in enumerate(form) if kind != "skip"]
            arity = len(keep) if arity is None else arity
            keep = None if len(keep) == len(form) else keep
        file = FactFile(path, directive.predicate, directive.format, path.suffix == ".gz")
        delimiter = options.get("delimiter")
        chunks = self.read(
            file,
            arity,
            header=bool(options.get("ignore_headers", False)),
            columns=keep,
            delimiter=str(delimiter) if delimiter is not None else None,
        )
        return self.add(directive.predicate, chunks, str(path))
