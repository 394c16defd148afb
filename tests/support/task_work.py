"""What tests let a task of Spark do: functions that a worker can import."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from time import sleep
from typing import Any

from modulog import Reasoner
from modulog.pipeline import checkpoints, in_task
from modulog.pipeline.in_task import RunRequest
from modulog.pipeline.run import Unwatched
from modulog.task.worker import Outcome


def everything(reasoner: Reasoner) -> dict[str, list[str]]:
    """The facts of every predicate, as texts in order."""
    return {str(p): sorted(map(repr, reasoner.rows(p))) for p in reasoner.predicates()}


def die(reasoner: Reasoner) -> None:
    """Be killed, as by a system that has no memory left."""
    os.kill(os.getpid(), signal.SIGKILL)


def outgrow(reasoner: Reasoner) -> None:
    """Want more memory than there is."""
    raise MemoryError


def wait(folder: str, reasoner: Reasoner) -> None:
    """Say so, and work for ever."""
    Path(folder, "begun").touch()
    while True:
        sleep(0.01)


def twice(request: bytes) -> bytes:
    """Two attempts at one task, of which the first has done everything when the second begins."""
    import pickle

    from modulog.task import worker

    asked: Any = pickle.loads(request)
    worker.run(request)
    for path in Path(asked.attempts).iterdir():
        if path.is_file():  # what says that a worker has begun here
            path.unlink()
    return worker.run(request)


class Mortal(Unwatched):
    """Kills its process in a round."""

    def __call__(self, stratum: int, strata: int, name: str, round_: int, facts: int) -> None:
        if round_ == 3:
            os.kill(os.getpid(), signal.SIGKILL)


class MortalRequest(RunRequest):
    """A run whose worker is killed in a round, after it has kept what it could."""

    def perform(self, outcome: Outcome) -> None:
        checkpoints.SHARE = 0
        in_task.Unwatched = Mortal  # type: ignore[misc]
        super().perform(outcome)


class WaitingRequest(RunRequest):
    """A run that never ends."""

    def perform(self, outcome: Outcome) -> None:
        wait(str(Path(self.folder).parents[2]), None)  # type: ignore[arg-type]
