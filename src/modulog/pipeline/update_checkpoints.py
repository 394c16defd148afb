"""Checkpoints of an update: what each stratum that is done, and the one at work, has lost and won so far.

A state is committed when a stratum is done and after every k-th round, unless that would take most of the
time. What rests on sources is read again by the run that goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from modulog.engines.backend import Backend
from modulog.engines.relation import Relation
from modulog.engines.table import Table
from modulog.engines.values import Failures
from modulog.errors import NotSupported
from modulog.kernels.compile_time import working_time
from modulog.maintenance.update_progress import Reached, RelationChange, all_of, step_of
from modulog.pipeline.checkpoints import ROUNDS, Committed

FIRST = 0.2  # seconds that the first commit is thought to take


class UpdateCheckpoints(Committed):
    """The checkpoints of one update, for `for_pipelines.open_store(…, checkpoints=…)`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as store:
    ...     UpdateCheckpoints(Path(store), {"generation": 1}).loaded
    False
    """

    kind = "update"

    def __init__(self, store: Path, key: Mapping[str, Any], rounds: int = ROUNDS) -> None:
        super().__init__(store, key, rounds)
        self._reached: dict[int, Reached] = {}
        self._done: dict[int, Sequence[Relation]] = {}  # strata of which no step has been taken yet
        self._committed, self._cost, self._rounds = working_time(), FIRST, 0
        self._earlier: dict[int, Reached] | None = None

    def begin(self, backend: Backend) -> None:
        """As `maintenance.progress.UpdateCheckpoints` says."""
        if backend.table_freezer is None:
            raise NotSupported("only the Spark engine has checkpoints of updates")
        super().begin(backend)
        self._tables, self._backend = backend.table_freezer, backend
        self._before = backend.engine.failures

    @property
    def failures(self) -> Failures:
        """What the earlier run had counted."""
        return Failures(*self._state["failures"]) if self._state is not None else Failures()

    @property
    def resumed(self) -> str:
        """What the earlier run has left, in words."""
        if self._state is None:
            return ""
        done = sum(stratum["done"] for stratum in self._state["strata"])
        under_way = ", the next one in part" if done < len(self._state["strata"]) else ""
        return f"{done} {'stratum' if done == 1 else 'strata'} of the update{under_way}"

    def next(self, key: Mapping[str, Any]) -> None:
        """The update is over and saved, and another begins, with the same reasoner."""
        self.forget()
        self._expect(key)
        self._state = self._earlier = None
        self._before = self._backend.engine.failures
        self._reached, self._done, self._rounds = {}, {}, 0
        self._committed, self._cost = working_time(), FIRST

    # ---- What the update asks for

    def found(self, stratum: int) -> Reached | None:
        """As `maintenance.progress.UpdateCheckpoints` says."""
        if self._earlier is None:
            self._earlier = self._thawed()
        found = self._earlier.get(stratum)
        if found is not None:
            self._reached[stratum] = found
        return found

    def _thawed(self) -> dict[int, Reached]:
        if self._state is None:
            return {}
        tables = iter(self._tables.thaw_tables(self._state["engine"]))
        return {
            s["number"]: Reached(
                [RelationChange(next(tables), next(tables)) if listed else None for listed in s["listed"]],
                s["done"],
                s["anew"],
            )
            for s in self._state["strata"]
        }

    def reached(self, stratum: int, relations: Sequence[Relation], *, is_done: bool = False) -> None:
        """As `maintenance.progress.UpdateCheckpoints` says."""
        if stratum in self._reached and self._reached[stratum].is_done:
            return
        if is_done:  # however little time it took, a later commit needs it
            self._done[stratum] = relations
            if self._is_paid():
                self._keep()
        elif self._is_due():
            self._reached[stratum] = self._steps(relations)
            self._keep()

    def reached_anew(self, stratum: int, relations: Sequence[Relation]) -> None:
        """As `maintenance.progress.UpdateCheckpoints` says."""
        if self._is_due():
            facts = [all_of(self._backend.engine, relation) for relation in relations]
            self._reached[stratum] = Reached(facts, is_anew=True)
            self._keep()

    def _steps(self, relations: Sequence[Relation], is_done: bool = False) -> Reached:
        return Reached([step_of(self._backend.engine, relation) for relation in relations], is_done)

    def _is_due(self) -> bool:
        """Whether one more round makes enough of them."""
        self._rounds += 1
        return self._rounds >= self._every and self._is_paid()

    def _keep(self) -> None:
        """Commit what has been reached."""
        began, self._rounds = working_time(), 0
        self._reached |= {stratum: self._steps(kept, True) for stratum, kept in self._done.items()}
        self._done = {}
        tables: list[Table] = [t for r in self._reached.values() for step in r.steps for t in step or ()]
        frozen = self._tables.freeze_tables(tables)
        if frozen is not None:
            strata = [
                {
                    "number": number,
                    "done": reached.is_done,
                    "anew": reached.is_anew,
                    "listed": [step is not None for step in reached.steps],
                }
                for number, reached in self._reached.items()
            ]
            counted = self._backend.engine.failures - self._before + self.failures
            self._commit(began, frozen, {"strata": strata, "failures": counted.counts()})
