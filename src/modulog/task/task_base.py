"""What the driver keeps of a reasoner that works in a task, whether it works in one, and how it asks the task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from modulog.engines.registry import make_backend
from modulog.errors import WorkerLost
from modulog.evaluation.observers import ProgressCallback, silent
from modulog.evaluation.statistics import Statistics
from modulog.language.model import Program
from modulog.planning.passes import Switches
from modulog.planning.plan import Plan
from modulog.reasoner.facts_in import Reading
from modulog.reasoner.reasoner import Reasoner
from modulog.store.store import Store
from modulog.task import worker
from modulog.task.call import Caller
from modulog.task.decision import Decision, decide, needed, outgrown
from modulog.task.descriptions import Description
from modulog.task.fetching import Fetching
from modulog.task.states import Home, State, forget
from modulog.task.task_progress import Watching
from modulog.task.worker import Outcome

if TYPE_CHECKING:
    from modulog.task.facts_in_task import Filled

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
