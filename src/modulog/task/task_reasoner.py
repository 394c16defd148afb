"""A reasoner on Spark that works in one task, or hands its work to all executors if the facts are too many for that.

On the driver there is nothing but descriptions: the program, what was given and not taken in yet, the state that the last task has written. `Reasoner` makes one of these on Spark unless `workers` is 2 or more; until
the first question it only collects, then `deciding` says, from the sizes of what was collected, which of the two it is for the rest of its life.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from modulog.errors import OptionError
from modulog.evaluation.observers import ProgressCallback
from modulog.evaluation.statistics import Statistics
from modulog.language.model import Program
from modulog.language.parser import read_program
from modulog.language.program_warnings import Diagnostic
from modulog.language.safety import check
from modulog.language.triples import TripleViews
from modulog.maintenance.change import Change
from modulog.planning.passes import DEFAULT, Switches, make_plan
from modulog.planning.plan import Plan
from modulog.reasoner import persistence
from modulog.reasoner.facts_in import Given
from modulog.reasoner.reasoner import Reasoner
from modulog.task import worker
from modulog.task.call import open_place
from modulog.task.states import State, home_of, publish
from modulog.task.task_answers import TaskAnswers, TaskChange
from modulog.task.task_base import TaskInputs
from modulog.terms.python_values import IRI


class TaskReasoner(TaskInputs, TaskAnswers):
    """What `Reasoner` promises, on Spark: see the module."""

    def __init__(
        self,
        program: str | Path | Program,
        *,
        engine: str = "auto",
        modules: str = "auto",
        maintenance: str = "auto",
        storage: str = "auto",
        decompose: str = "auto",
        value_rounds: int = DEFAULT.value_rounds,
        value_facts: int = DEFAULT.value_facts,
        table_rows: int | None = DEFAULT.table_rows,
        workers: int | None = None,
        progress: ProgressCallback | None = None,
        spark: Any = None,
        **options: Any,
    ) -> None:
        found, folder = read_program(program)
        switches = Switches(modules, maintenance, value_rounds, value_facts, storage, decompose, table_rows)
        place = _place(spark, options, workers, Reasoner.__init__.__kwdefaults__)
        self._set(found, folder, switches, place, workers, progress, options)

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str],
        /,
        *,
        engine: str = "auto",
        workers: int | None = None,
        progress: ProgressCallback | None = None,
        spark: Any = None,
        program: Program | None = None,
        switches: Switches | None = None,
        **options: Any,
    ) -> Reasoner:
        """The state of a store, as `Reasoner.open` says."""
        store = persistence.opened(folder)
        own, known = persistence.program_of(store)
        place = _place(spark, options, workers, Reasoner.open.__kwdefaults__)
        made = cls.__new__(cls)
        made._set(program or own, Path(), switches or known, place, workers, progress, options)
        made._store, made._home_store = store, home_of(store.folder, store.manifest)
        made._state = State(str(store.folder), store.manifest.generation)
        made._is_other = (program, switches) != (None, None)
        made._sizes["store"] = sum(file.bytes for file in store.manifest.files())
        made._given_names = {e.predicate.name for e in store.manifest.relations if e.role == "explicit"}
        for entry in store.manifest.relations:
            made._arities.setdefault(entry.predicate.name, set()).add(entry.predicate.arity)
        if not made._is_other:
            made._done = replace(Statistics(), **store.manifest.statistics)
        return made

    def materialise(self) -> Statistics:
        """As `Reasoner.materialise` says."""
        if (executors := self._spread()) is not None:
            return executors.materialise()
        self._ready()
        assert self._done is not None
        return self._done

    def update(
        self,
        *,
        add: Mapping[str | IRI, object] | Given | None = None,
        delete: Mapping[str | IRI, object] | Given | None = None,
    ) -> Change:
        """As `Reasoner.update` says."""
        if (executors := self._spread()) is not None:
            return executors.update(add=self._direct(add, executors), delete=self._direct(delete, executors))
        minus, plus = self._travelling(delete, leaving=True), self._travelling(add)
        outcome = self._task(partial(worker.update, minus, plus), "update, one task", changes=True)
        views = TripleViews.of(self.program)
        return TaskChange(outcome.result, Path(outcome.folder), views, self._chosen, self._place.parquet)

    @property
    def statistics(self) -> Statistics | None:
        """As `Reasoner.statistics` says."""
        if self._executors is not None:
            return self._executors.statistics
        return None if self._done is None else self.materialise()

    @property
    def supplied(self) -> set[str]:
        """As `Reasoner.supplied` says."""
        return self._executors.supplied if self._executors is not None else self._given_names

    @property
    def warnings(self) -> list[Diagnostic]:
        """As `Reasoner.warnings` says."""
        return check(self.program, known=self.supplied)

    def observe(self, progress: ProgressCallback) -> None:
        """As `Reasoner.observe` says."""
        self._observe = progress
        if self._executors is not None:
            self._executors.observe(progress)

    def plan(self) -> Plan:
        """As `Reasoner.plan` says, and whether one task does the work, and why."""
        executors = self._spread()
        plan = executors.plan() if executors is not None else self._shown
        if plan is None:
            plan = self._shown = make_plan(self.program, self._switches)
        assert self._decision is not None
        plan.place = self._decision.place
        return plan

    def save(self, folder: str | os.PathLike[str], *, notes: Mapping[str, Any] | None = None) -> None:
        """As `Reasoner.save` says: the files are there, and get their names in the store."""
        path = persistence.target(folder)
        if (executors := self._spread()) is not None:
            executors.save(folder, notes=notes)
            return
        self._ready()
        assert self._state is not None
        plain = None if notes is None else json.loads(json.dumps(notes))
        home = self._home_store
        saved = publish(self._state, path, home, plain)
        if home is not None and path.resolve() == home.folder.resolve():
            self._home_store = saved

    def close(self) -> None:
        """As `Reasoner.close` says."""
        if self._executors is not None:
            self._executors.close()
        if self._store is not None:
            self._store.close()
        self._place.close()


def _place(spark: Any, options: dict[str, Any], workers: int | None, known: Iterable[str] | None) -> Any:
    """Spark as the place of a task, unless checkpoints are wanted, which a task has no use for."""
    if options.pop("checkpoints", None) is not None:
        raise OptionError("`checkpoints` are for rules that executors evaluate: say workers=2 or more")
    return open_place(spark, options, workers, known)
