"""Facts that a reasoner on Spark is given: they are described, and travel with the next task."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from modulog.errors import DataError
from modulog.formats.fact_file import BAD, Bad, Columns
from modulog.formats.keyed_facts import KeyedRows
from modulog.language.model import Predicate
from modulog.language.term_parser import full_name
from modulog.language.triples import VIEWS
from modulog.reasoner.facts_in import Given, Reading, check_by_predicate, predicate_name
from modulog.reasoner.predicate_names import choose, chosen
from modulog.reasoner.reasoner import Reasoner
from modulog.task.descriptions import Description, Difference, GivenFacts, GivenFiles, GivenLater
from modulog.task.fetching import Fetching
from modulog.task.task_base import TaskBase
from modulog.terms.python_values import IRI
from modulog.wording import arguments


class TaskInputs(TaskBase):
    """What a reasoner is given, as `Reasoner` takes it."""

    def add(self, predicate: str | IRI, facts: object, *, columns: Columns | None = None) -> None:
        """As `Reasoner.add` says."""
        if self._executors is not None:
            self._executors.add(predicate, facts, columns=columns)
        else:
            self._stage(self._facts_of(predicate, facts, columns))

    def _stage(self, part: Description) -> Filled:
        filled = Filled(self)
        self._staged_facts.append((part, filled))
        return filled

    def _facts_of(self, predicate: str | IRI, facts: object, columns: Columns | None) -> GivenFacts:
        """Facts as they travel: what is wrong with them is said now."""
        name = full_name(predicate_name(predicate), self.program.prefixes, self.program.base)
        known = self._arities.get(name, set())
        arity = next(iter(known)) if len(known) == 1 and not name.startswith("<") else None
        self._given_names.add(name)
        if self._place.is_frame(facts):
            self._grow("frame", self._place.frame_size(facts))
            return GivenFacts(name, facts, columns, arity)
        rows = KeyedRows.read_from(facts, arity, columns)
        for found in {len(chunk) for chunk in rows.chunks}:
            both = name.startswith("<") and {found, *known} <= {1, 2}
            if known and found not in known and not both:
                raise DataError(
                    f"facts of {name}: {name} has {arguments(sorted(known))}, but the rows have {found}"
                )
            self._arities.setdefault(name, set()).add(found)
        self._grow("facts", rows.bytes)
        return GivenFacts(name, rows, None, arity)

    def load(
        self,
        path: str | os.PathLike[str],
        *,
        predicate: str | IRI | None = None,
        header: bool = False,
        strings: bool = False,
        columns: Columns | None = None,
        mapping: Mapping[str, Columns] | None = None,
        bad: Bad = "fail",
        format: str | None = None,
    ) -> Sequence[Predicate]:
        """As `Reasoner.load` says; which predicates are filled is known once the files have been read."""
        options: dict[str, Any] = {
            "predicate": predicate,
            "header": header,
            "strings": strings,
            "columns": columns,
        }
        options |= {"mapping": mapping, "bad": bad, "format": format}
        if self._executors is not None:
            return self._executors.load(path, **options)
        return self._stage(self._files_of(path, options))

    def _files_of(self, path: str | os.PathLike[str], options: dict[str, Any]) -> GivenFiles:
        """Files as they travel; that they are there is seen now."""
        if options["bad"] not in BAD:
            known = ", ".join(BAD)
            raise DataError(f'bad records are not treated by "{options["bad"]}"; choose one of: {known}')
        for name, size in self._place.sizes(os.fspath(path), options["format"]).items():
            self._grow(name, size)
        return GivenFiles(os.fspath(path), options)

    def given(self, predicate: str | IRI, facts: object, *, columns: Columns | None = None) -> Given:
        """As `Reasoner.given` says."""
        if self._executors is not None:
            return self._executors.given(predicate, facts, columns=columns)
        return GivenLater((self._facts_of(predicate, facts, columns),), id(self))  # type: ignore[return-value]

    def read(self, path: str | os.PathLike[str], **options: Any) -> Given:
        """As `Reasoner.read` says; the files are read when they are wanted."""
        if self._executors is not None:
            return self._executors.read(path, **options)
        given = {**_READING, **options}
        return GivenLater((self._files_of(path, given),), id(self))  # type: ignore[return-value]

    def difference(self, predicates: Iterable[Predicate], facts: Given | None) -> tuple[Given, Given]:
        """As `Reasoner.difference` says; it is computed when it is wanted."""
        if (executors := self._spread()) is not None:
            return executors.difference(predicates, self._direct(facts, executors))
        assert facts is None or isinstance(facts, GivenLater)
        parts = (Difference(tuple(predicates), facts, side) for side in (0, 1))
        gone, come = (GivenLater((part,), id(self)) for part in parts)
        return gone, come  # type: ignore[return-value]

    def _direct(self, facts: Any, executors: Reasoner) -> Any:
        """Facts for the reasoner over executors, also those that were given before it was there."""
        return facts.of(executors) if isinstance(facts, GivenLater) else facts

    def discard(self, predicate: str | IRI) -> list[str]:
        """As `Reasoner.discard` says; what was loaded together is taken back together."""
        if self._executors is not None:
            return self._executors.discard(predicate)
        name = full_name(predicate_name(predicate), self.program.prefixes, self.program.base)
        gone = [part for part, _ in self._staged_facts if name in part.names(self._place)]
        if not gone and name not in {*self._arities, *(view.name for view in VIEWS)}:
            choose([Predicate(n, a) for n, arities in self._arities.items() for a in arities], name)
        self._staged_facts = [(part, filled) for part, filled in self._staged_facts if part not in gone]
        return [part.shown for part in gone]

    def take_readings(self) -> list[Reading]:
        """As `Reasoner.take_readings` says."""
        if self._executors is not None:
            return self._executors.take_readings()
        found, self._found = self._found, []
        return found

    def _travelling(self, facts: Any, leaving: bool = False) -> Any:
        """Facts of an update as they travel."""
        fetching = Fetching(self._place)
        if isinstance(facts, GivenLater):
            if facts.owner != id(self):
                raise DataError("facts that one reasoner has read cannot be given to another")
            return facts.shipped(fetching)
        if facts is None or not isinstance(facts, Mapping):
            check_by_predicate(facts)
            if facts is not None:
                raise DataError("facts that one reasoner has read cannot be given to another")
            return {}
        arities = {name: set(known) for name, known in self._arities.items()}
        parts = [self._facts_of(name, data, None) for name, data in facts.items()]
        self._arities = arities if leaving else self._arities
        return {part.predicate: part.shipped(fetching).facts for part in parts}

    def _chosen(self, known: Iterable[Predicate], name: str | IRI | Predicate) -> Predicate:
        if not isinstance(name, Predicate):
            name = full_name(predicate_name(name), self.program.prefixes, self.program.base)
        return chosen(known, name)


_READING: Mapping[str, Any] = {
    "predicate": None,
    "header": False,
    "strings": False,
    "columns": None,
    "mapping": None,
    "bad": "fail",
    "format": None,
}


class Filled(Sequence[Predicate]):
    """The predicates that a source fills, which are known once a task has read it: whoever asks before lets it be read."""

    def __init__(self, reasoner: Reasoner) -> None:
        self._reasoner = reasoner
        self.known: Sequence[Predicate] | None = None

    def _all(self) -> Sequence[Predicate]:
        if self.known is None:
            self._reasoner.materialise()
        assert self.known is not None
        return self.known

    def __len__(self) -> int:
        return len(self._all())

    def __getitem__(self, place: Any) -> Any:
        return self._all()[place]

    def __repr__(self) -> str:
        return repr(list(self._all()))
