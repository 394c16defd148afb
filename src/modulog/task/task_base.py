"""What the driver keeps of a reasoner that works in a task, what it is given, and how it asks the task.

Whether it works in one task at all is decided when something is first wanted of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from modulog.engines.registry import make_backend
from modulog.errors import DataError, WorkerLost
from modulog.evaluation.observers import ProgressCallback, silent
from modulog.evaluation.statistics import Statistics
from modulog.formats.fact_file import BAD, Bad, Columns
from modulog.formats.keyed_facts import KeyedRows
from modulog.language.model import Predicate, Program
from modulog.language.term_parser import full_name
from modulog.language.triples import VIEWS
from modulog.planning.passes import Switches
from modulog.planning.plan import Plan
from modulog.reasoner.facts_in import Given, Reading, check_by_predicate, predicate_name
from modulog.reasoner.predicate_names import choose, chosen
from modulog.reasoner.reasoner import Reasoner
from modulog.store.store import Store
from modulog.task import worker
from modulog.task.call import Caller, Watching
from modulog.task.decision import Decision, decide, needed, outgrown
from modulog.task.descriptions import Description, Difference, Fetching, GivenFacts, GivenFiles, GivenLater
from modulog.task.states import Home, State, forget
from modulog.task.worker import Outcome
from modulog.terms.python_values import IRI
from modulog.wording import arguments

T = TypeVar("T")


class TaskBase(Reasoner):
    """State and requests, without what a user calls."""

    def _set(
        self,
        program: Program,
        folder: Path,
        switches: Switches,
        place: Any,
        workers: int | None,
        progress: ProgressCallback | None,
        options: Mapping[str, Any],
    ) -> None:
        self.program, self._folder, self._switches = program, folder, switches
        self._place, self._workers, self._options = place, workers, options
        self._observe = progress or silent
        self._caller = Caller(place)
        self._staged_facts: list[tuple[Description, Filled]] = []
        self._sizes: dict[str, int] = {}
        self._given_names: set[str] = set()
        self._arities: dict[str, set[int]] = {}
        for predicate in program.predicates():
            self._arities.setdefault(predicate.name, set()).add(predicate.arity)
        self._decision: Decision | None = None
        self._executors: Reasoner | None = None
        self._store: Store | None = None  # the one that was opened, whose files stay until the end
        self._state: State | None = None
        self._is_other = False  # the state is computed by another program
        self._done: Statistics | None = None
        self._shown: Plan | None = None
        self._home_store: Home | None = None
        self._found: list[Reading] = []
        self._aside: list[tuple[Path, int]] = []

    def _spread(self) -> Reasoner | None:
        """The reasoner over all executors, if the work is theirs; it is decided now if it was not."""
        if self._decision is None:
            self._decision = decide(self._sizes, self._place.room, self._place.cores, self._workers)
            if self._decision.workers > 1:
                self._executors = self._over_executors(self._decision.workers)
        return self._executors

    def _over_executors(self, workers: int) -> Reasoner:
        """A reasoner over all executors that has been given what this one was."""
        options = {name: value for name, value in self._options.items() if name != "settings"}
        common: dict[str, Any] = {"progress": self._observe}
        if self._store is not None:
            if self._is_other:
                common |= {"program": self.program, "switches": self._switches}
            common |= {"spark": self._place.spark, "workers": workers}
            made = Reasoner.open(self._store.folder, **common, **options)
        else:
            backend = make_backend("spark", self._place.spark, options, workers=workers)
            made = Reasoner.of(self.program, self._folder, self._switches, backend, **common)
        for part, filled in self._staged_facts:
            filled.known = part.stage(made)
        self._staged_facts.clear()
        return made

    def perform(self, work_: Callable[[Reasoner], T], *, changes: str = "") -> T:
        """As `Reasoner.perform` says."""
        if (executors := self._spread()) is not None:
            return work_(executors)
        if not changes:
            self._ready()
        asked = partial(worker.ask, work_)
        return self._task(asked, f"{changes or 'answer'}, one task", changes=bool(changes)).result  # type: ignore[no-any-return]

    def _task(
        self, function: Callable[[Reasoner, Path], Any], description: str, *, changes: bool = False
    ) -> Outcome:
        """Let a task do something with the reasoner; what it has changed is the state from now on."""
        attempts, fetching = self._caller.attempts(), Fetching(self._place)
        try:
            staged = [part.shipped(fetching) for part, _ in self._staged_facts] if changes else []
            request = self._request(attempts, function, staged, changes)
            watching = Watching(attempts, self._observe)
            outcome = self._caller.call(
                request, description, watching.look, lambda: self._lost(watching.peak)
            )
        except BaseException:
            forget(attempts)
            raise
        if changes:
            self._take(outcome)
        return outcome

    def _request(
        self,
        attempts: Path,
        function: Callable[[Reasoner, Path], Any],
        staged: Sequence[Description],
        changes: bool,
    ) -> worker.Request:
        """What a task is to do, with the program if it has to begin with that."""
        is_begun = self._state is not None and not self._is_other
        return worker.Request(
            str(self._place.folder),
            self._caller.token,
            str(attempts),
            function,
            self._state,
            None if is_begun else self.program,
            str(self._folder.absolute()),
            None if is_begun else self._switches,
            staged,
            changes,
            self._place.threads,
        )

    def _lost(self, peak: int) -> WorkerLost:
        return WorkerLost(outgrown(self._place.room, peak, needed(self._sizes)))

    def _take(self, outcome: Outcome) -> None:
        """What a task has made is what there is from now on."""
        assert outcome.state is not None and outcome.about is not None
        before, self._state = self._state, outcome.state
        if before is not None and Path(before.folder).is_relative_to(self._place.folder):
            forget(Path(before.folder).parent)
        self._is_other = False
        self._done, self._shown = outcome.about.statistics, outcome.about.plan
        self._given_names |= outcome.about.supplied
        for (_, filled), known in zip(self._staged_facts, outcome.filled, strict=True):
            filled.known = known
        self._staged_facts.clear()
        for predicate in outcome.about.predicates:
            self._arities.setdefault(predicate.name, set()).add(predicate.arity)
        self._found += outcome.readings
        if outcome.set_aside:
            kept = self._place.folder / f"bad-{self._caller.calls:06d}"
            Path(outcome.folder, worker.BAD).replace(kept)
            self._aside.append((kept, outcome.set_aside))

    def _ready(self) -> None:
        """Have every consequence of what was given."""
        if self._done is None or self._staged_facts:
            self._task(worker.materialise, "materialise, one task", changes=True)

    def _grow(self, format: str, size: int) -> None:
        self._sizes[format] = self._sizes.get(format, 0) + size


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
