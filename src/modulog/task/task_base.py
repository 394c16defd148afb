"""What the driver keeps of a reasoner that works in a task, what it is given, and how it asks the task.

Whether it works in one task at all is decided when something is first wanted of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from modulog.engines.options import SparkOptions
from modulog.errors import DataError, WorkerLost
from modulog.evaluation.observers import ProgressCallback, silent
from modulog.evaluation.statistics import Statistics
from modulog.formats.fact_file import Columns
from modulog.formats.keyed_facts import KeyedRows
from modulog.language.model import Predicate, Program
from modulog.language.term_parser import full_name
from modulog.language.triples import VIEWS
from modulog.maintenance.change import Name
from modulog.planning.passes import Switches
from modulog.planning.plan import Plan
from modulog.reasoner.fact_batch import FactBatch, FactData, FactFiles, naming, predicate_name, said_arity
from modulog.reasoner.for_pipelines import begin, open_store
from modulog.reasoner.predicate_names import choose, chosen
from modulog.reasoner.reasoner import Reasoner
from modulog.store.store import Store
from modulog.task import worker
from modulog.task.call import Caller, Watching
from modulog.task.decision import Decision, decide, needed, outgrown
from modulog.task.descriptions import Description, Fetching, GivenFacts, GivenFiles
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
        spark: SparkOptions | None,
    ) -> None:
        self.program, self._folder, self._switches = program, folder, switches
        self._changing = RLock()
        self._place, self._workers, self._spark = place, workers, spark
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
        given = self._spark or SparkOptions()
        spark = replace(given, session=self._place.spark, settings=None)
        if self._store is not None:
            other: dict[str, Any] = {}
            if self._is_other:
                other = {"program": self.program, "switches": self._switches}
            made = open_store(
                self._store.folder, workers=workers, spark=spark, progress=self._observe, **other
            )
        else:
            made = begin(
                self.program,
                self._folder,
                self._switches,
                workers=workers,
                spark=spark,
                progress=self._observe,
            )
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

    def _add(self, batch: FactBatch) -> Sequence[Predicate]:
        """As `Reasoner._add` says; which predicates files fill is known once they have been read."""
        if self._executors is not None:
            return self._executors._add(batch)
        filled = [self._stage(part) for part in self._all_described(batch)]
        return filled[0] if len(filled) == 1 else ()

    def _all_described(self, batch: FactBatch) -> list[Description]:
        """All parts of a batch as they travel; after an error nothing is known that was not known before."""
        arities, names = {name: set(known) for name, known in self._arities.items()}, set(self._given_names)
        try:
            return [self._described(part) for part in batch.parts]
        except BaseException:
            self._arities, self._given_names = arities, names
            raise

    def _described(self, part: FactFiles | FactData) -> Description:
        """Facts as they travel: what is wrong with data in memory, and whether files are there, is
        seen now.
        """
        if isinstance(part, FactData):
            return self._facts_of(part.predicate, part.values(), part.columns)
        for name, size in self._place.sizes(part.path, part.options["format"]).items():
            self._grow(name, size)
        return GivenFiles(part.path, part.options)

    def _stage(self, part: Description) -> Filled:
        filled = Filled(self)
        self._staged_facts.append((part, filled))
        return filled

    def _facts_of(self, predicate: Name, facts: object, columns: Columns | None) -> GivenFacts:
        """Facts as they travel: what is wrong with them is said now."""
        name = full_name(predicate_name(predicate), self.program.prefixes, self.program.base)
        known = self._arities.get(name, set())
        arity = said_arity(predicate)
        if arity is None and len(known) == 1 and not name.startswith("<"):
            arity = next(iter(known))
        self._given_names.add(name)
        if self._place.is_frame(facts):
            self._grow("frame", self._place.frame_size(facts))
            return GivenFacts(name, facts, columns, arity)
        with naming(name):
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

    def discard(self, predicate: Name) -> list[str]:
        """As `Reasoner.discard` says; what was loaded together is taken back together."""
        if self._executors is not None:
            return self._executors.discard(predicate)
        name = full_name(predicate_name(predicate), self.program.prefixes, self.program.base)
        gone = [part for part, _ in self._staged_facts if name in part.names(self._place)]
        arity = said_arity(predicate)
        is_other = arity not in {None, *self._arities.get(name, ())}
        if is_other or (not gone and name not in {*self._arities, *(view.name for view in VIEWS)}):
            choose([Predicate(n, a) for n, arities in self._arities.items() for a in arities], name, arity)
        self._staged_facts = [(part, filled) for part, filled in self._staged_facts if part not in gone]
        return [part.shown for part in gone]

    def _travelling(self, batch: FactBatch, leaving: bool = False) -> list[Description]:
        """Facts of an update as they travel; those that are `leaving` teach nothing about their
        predicates.
        """
        arities = {name: set(known) for name, known in self._arities.items()}
        parts = self._all_described(batch)
        self._arities = arities if leaving else self._arities
        fetching = Fetching(self._place)
        return [part.shipped(fetching) for part in parts]

    def _chosen(self, known: Iterable[Predicate], name: str | IRI | Predicate) -> Predicate:
        if not isinstance(name, Predicate):
            name = full_name(predicate_name(name), self.program.prefixes, self.program.base)
        return chosen(known, name)


class Filled(Sequence[Predicate]):
    """The predicates that a source fills, which are known once a task has read it: whoever asks before lets
    it be read.
    """

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
