"""What was given to a reasoner on Spark, as descriptions that another process can take up.

Facts from Python are keys of terms by the time that they are here, so that mistakes in them are told at once.
Files are named: who takes them up reads them. Frames and tables of Spark, and files that only Spark can read,
are put into a folder for the task before it begins.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Protocol

from modulog.errors import DataError, ModulogError
from modulog.formats import warn_user
from modulog.formats.fact_file import Columns
from modulog.formats.format import TRIPLES
from modulog.formats.keyed_facts import Keyed
from modulog.language.model import Predicate
from modulog.language.triples import TRIPLE
from modulog.maintenance.change import Name
from modulog.reasoner import for_pipelines
from modulog.reasoner.fact_batch import ReadOptions, facts, predicate_name, read, said_arity
from modulog.reasoner.for_pipelines import Given

if TYPE_CHECKING:
    from modulog.reasoner.reasoner import Reasoner


class Description(Protocol):
    """Something that was given."""

    @property
    def shown(self) -> str:
        """What it is called."""

    def names(self, place: Any) -> Collection[str]:
        """The names of the predicates that it fills; `"triple"` for files of triples. `place` knows the names
        of files.
        """

    def shipped(self, fetching: Fetching) -> Description:
        """The same as a task can take it up."""

    def stage(self, reasoner: Reasoner) -> Sequence[Predicate]:
        """Let a reasoner have it, as `Reasoner.add` and `Reasoner.load` do."""

    def given(self, reasoner: Reasoner) -> Given:
        """The same for `Reasoner.update`, as `for_pipelines.given` does."""


@dataclass(frozen=True, slots=True)
class GivenFacts:
    """Facts of a predicate, from Python or from a data frame of Spark."""

    predicate: str
    facts: Any
    columns: Any = None
    arity: int | None = None

    @property
    def shown(self) -> str:
        return f"facts of {self.predicate}"

    def names(self, place: Any) -> Collection[str]:
        return {self.predicate}

    def shipped(self, fetching: Fetching) -> GivenFacts:
        if isinstance(self.facts, Keyed):
            return self
        return GivenFacts(self.predicate, fetching.facts(self.facts, self.columns, self.arity))

    def stage(self, reasoner: Reasoner) -> Sequence[Predicate]:
        reasoner.add(self.predicate, self.facts, columns=self.columns)
        return []

    def given(self, reasoner: Reasoner) -> Given:
        return for_pipelines.given(reasoner, facts(self.predicate, self.facts, columns=self.columns))


@dataclass(frozen=True, slots=True)
class GivenFiles:
    """Files, as `Reasoner.load` takes them; `called` has what messages say instead of the names of copies."""

    path: str
    options: ReadOptions
    called: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        return self.path

    def names(self, place: Any) -> Collection[str]:
        named = self.options["mapping"] or ([self.options["predicate"]] if self.options["predicate"] else ())
        if named:
            return {predicate_name(name) for name in named}
        found = place.files(self.path, self.options["format"])
        return {TRIPLE.name if file.format in TRIPLES else file.predicate for file in found}

    def shipped(self, fetching: Fetching) -> Description:
        return fetching.files(self.path, self.options)

    def stage(self, reasoner: Reasoner) -> Sequence[Predicate]:
        with self._calling(reasoner):
            return reasoner.load(self.path, **self.options)

    def given(self, reasoner: Reasoner) -> Given:
        with self._calling(reasoner):
            return for_pipelines.given(reasoner, read(self.path, **self.options))

    @contextmanager
    def _calling(self, reasoner: Reasoner) -> Iterator[None]:
        """Errors, warnings and bad records name files as the user does."""
        if not self.called:
            yield
            return
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                yield
            except ModulogError as error:
                raise renamed(error, self.called) from None
        for_pipelines.call_files(reasoner, self.called)
        for warning in caught:
            warn_user(_renamed(str(warning.message), self.called), warning.category)


@dataclass(frozen=True, slots=True)
class GivenTable:
    """What a table of Spark fills, as Spark has written it for a task: the facts of each predicate, and
    folders of bad records.
    """

    path: str
    parts: tuple[GivenFacts, ...]
    aside: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return self.path

    def names(self, place: Any) -> Collection[str]:
        return {part.predicate for part in self.parts}

    @property
    def rows(self) -> int:
        """The good rows of the table."""
        return max(len(part.facts) for part in self.parts)

    def shipped(self, fetching: Fetching) -> GivenTable:
        return self

    def stage(self, reasoner: Reasoner) -> Sequence[Predicate]:
        for_pipelines.note_table(reasoner, self.path, self.rows, self.aside)
        return [p for part in self.parts for p in part.stage(reasoner)]

    def given(self, reasoner: Reasoner) -> Given:
        for_pipelines.note_table(reasoner, self.path, self.rows, self.aside)
        return reduce(add, [part.given(reasoner) for part in self.parts])


def renamed(error: ModulogError, called: Mapping[str, str]) -> ModulogError:
    """The same error with other names of files."""
    text = _renamed(str(error), called)
    if text == str(error):
        return error
    return DataError(text) if isinstance(error, DataError) else type(error)(text)


def _renamed(text: str, called: Mapping[str, str]) -> str:
    for copy, original in called.items():
        text = text.replace(copy, original)
    return text


def given_of(reasoner: Reasoner, parts: Iterable[Description]) -> Given | None:
    """Facts for an update of a reasoner; None if there are none."""
    found = [part.given(reasoner) for part in parts]
    return reduce(add, found) if found else None


def stage_all(reasoner: Reasoner, staged: Iterable[Description]) -> list[Sequence[Predicate]]:
    """Let a reasoner have everything that was given; answers the predicates that each filled."""
    return [part.stage(reasoner) for part in staged]


Descriptions = Sequence[Description]


class Fetching:
    """Puts things that only Spark can read where a task can read them, by a place, as `place.TaskPlace`
    describes it.
    """

    def __init__(self, place: Any) -> None:
        self._place = place

    def facts(self, facts: Any, columns: Any, arity: int | None) -> Keyed:
        """The facts of a data frame."""
        keyed: Keyed = self._place.frame(facts, columns, arity)[0]
        return keyed

    def files(self, path: str, options: ReadOptions) -> Description:
        """Files, or tables, as a task takes them up."""
        if self._place.is_table(path):
            return self._table(path, options)
        place, called = self._place.fetched(path, options.get("format"))
        if not called:
            return GivenFiles(place, options)
        return GivenFiles(place, {**options, "format": None}, {**called, place: path})

    def _table(self, path: str, options: ReadOptions) -> GivenTable:
        """The facts of a table, for each predicate that it fills."""
        frame = self._place.table(path)
        name: Name = options["predicate"] or path.split(":", 1)[1].split(".")[-1].strip("`")
        mapping = options["mapping"]
        wanted: dict[Name, Columns | None] = {**mapping} if mapping else {name: options["columns"]}
        parts, aside = [], []
        for predicate, columns in wanted.items():
            keyed, bad = self._place.frame(frame, columns, said_arity(predicate), options["bad"])
            parts.append(GivenFacts(predicate_name(predicate), keyed))
            aside += [bad] if bad else []
        return GivenTable(path, tuple(parts), tuple(aside))
