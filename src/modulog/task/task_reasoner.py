"""A reasoner on Spark that works in one task, or hands its work to all executors if the facts are too many
for that.

On the driver there is nothing but descriptions: the program, what was given and not taken in yet, the state
that the last task has written. `Reasoner` makes one of these on Spark unless `workers` is 2 or more; until
the first question it only collects, then `deciding` says, from the sizes of what was collected, which of the
two it is for the rest of its life.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from modulog.engines.options import EngineName, SparkOptions
from modulog.evaluation.observers import ProgressCallback
from modulog.evaluation.statistics import Statistics
from modulog.language.model import Program
from modulog.language.program_warnings import Diagnostic
from modulog.language.safety import check
from modulog.language.triples import TripleViews
from modulog.maintenance.change import Change
from modulog.planning.passes import Switches, make_plan
from modulog.planning.plan import Plan
from modulog.reasoner import persistence
from modulog.reasoner.fact_batch import FactBatch
from modulog.task import worker
from modulog.task.call import open_place
from modulog.task.states import State, home_of, publish
from modulog.task.task_answers import TaskAnswers, TaskChange
from modulog.task.task_base import TaskInputs
from modulog.wording import plural


class TaskReasoner(TaskInputs, TaskAnswers):
    """What `Reasoner` promises, on Spark: see the module."""

    def _set_up(
        self,
        program: Program,
        folder: Path,
        switches: Switches,
        engine: EngineName,
        workers: int | None,
        spark: SparkOptions | None,
        progress: ProgressCallback | None,
    ) -> None:
        self._set(program, folder, switches, open_place(spark, workers), workers, progress, spark)

    def _open(
        self,
        folder: str | os.PathLike[str],
        engine: EngineName,
        workers: int | None,
        spark: SparkOptions | None,
        progress: ProgressCallback | None,
        program: Program | None,
        switches: Switches | None = None,
        checkpoints: object = None,
    ) -> None:
        store = persistence.opened(folder)
        own, known = persistence.program_of(store)
        place = open_place(spark, workers)
        self._set(program or own, Path(), switches or known, place, workers, progress, spark)
        self._store, self._home_store = store, home_of(store.folder, store.manifest)
        self._state = State(str(store.folder), store.manifest.generation)
        self._is_other = (program, switches) != (None, None)
        self._sizes["store"] = sum(file.bytes for file in store.manifest.files())
        self._given_names = {e.predicate.name for e in store.manifest.relations if e.role == "explicit"}
        for entry in store.manifest.relations:
            self._arities.setdefault(entry.predicate.name, set()).add(entry.predicate.arity)
        if not self._is_other:
            self._done = replace(Statistics(), **store.manifest.statistics)

    def materialise(self) -> Statistics:
        """As `Reasoner.materialise` says."""
        if (executors := self._spread()) is not None:
            return executors.materialise()
        self._ready()
        assert self._done is not None
        return self._done

    def _update(self, delete: FactBatch, add: FactBatch) -> Change:
        if (executors := self._spread()) is not None:
            return executors.update(add=add, delete=delete)
        minus, plus = self._travelling(delete, leaving=True), self._travelling(add)
        outcome = self._task(partial(worker.update, minus, plus), "update, one task", changes=True)
        views = TripleViews.of(self.program)
        return TaskChange(outcome.result, Path(outcome.folder), views, self._chosen, self._place.parquet)

    @property
    def warnings(self) -> list[Diagnostic]:
        """As `Reasoner.warnings` says."""
        if self._executors is not None:
            return self._executors.warnings
        return check(self.program, known=self._given_names)

    def plan(self) -> Plan:
        """As `Reasoner.plan` says, and whether one task does the work, and why."""
        executors = self._spread()
        plan = executors.plan() if executors is not None else self._shown
        if plan is None:
            plan = self._shown = make_plan(self.program, self._switches)
        assert self._decision is not None
        plan.place = self._decision.place
        return plan

    def _save(self, folder: str | os.PathLike[str], notes: Mapping[str, Any] | None) -> None:
        """The files of the store are there already, and get their names."""
        path = persistence.target(folder)
        if (executors := self._spread()) is not None:
            executors.save(folder)
            return
        self._ready()
        assert self._state is not None
        home = self._home_store
        saved = publish(self._state, path, home, None)
        if home is not None and path.resolve() == home.folder.resolve():
            self._home_store = saved

    def _shown_facts(self) -> str:
        if self._executors is not None:
            return self._executors._shown_facts()
        done = "not materialised yet" if self._done is None else plural(self._done.facts, "fact")
        return f"{done}, {len(self._staged_facts)} inputs wait" if self._staged_facts else done

    def close(self) -> None:
        """As `Reasoner.close` says."""
        if self._executors is not None:
            self._executors.close()
        if self._store is not None:
            self._store.close()
        self._caller.is_closed = True
        self._place.close()
