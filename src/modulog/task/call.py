"""Requests of the driver to a worker of Spark: a folder for the attempts of each, and what the attempt that has answered has made."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from modulog.errors import WorkerLost
from modulog.formats import warn_user
from modulog.task import worker
from modulog.task.states import forget
from modulog.task.worker import Outcome

_SHIPPED = 1 << 20  # bytes of a request that travels with the task; a longer one lies in a file


class Caller:
    """Sends requests, one after the other, to a place: Spark, as `engines.spark.task.place.TaskPlace` describes it."""

    def __init__(self, place: Any) -> None:
        self.place = place
        self.token = uuid4().hex
        (place.folder / worker.TOKEN).write_text(self.token)
        self.calls = 0

    def attempts(self) -> Path:
        """A folder for the attempts of the next request."""
        self.calls += 1
        folder: Path = self.place.folder / "tasks" / f"{self.calls:06d}"
        folder.mkdir(parents=True)
        return folder

    def call(
        self, request: Any, description: str, look: Callable[[], None], lost: Callable[[], WorkerLost]
    ) -> Outcome:
        """What became of a request; its folder of attempts has then only what the attempt that answered has made.

        `look` is called again and again meanwhile. An error of the work is raised; `lost` makes the one for a worker that was killed, or had no memory left.
        """
        attempts = Path(request.attempts)
        try:
            answer = self.place.run("modulog.task.worker:run", _payload(request), description, look)
            outcome: Outcome = pickle.loads(answer)
        except WorkerLost as error:
            raise lost() from error.__cause__
        for category, message in outcome.warnings:
            warn_user(message, category)
        if outcome.error is not None:
            if isinstance(outcome.error, (MemoryError, worker.Killed)):
                raise lost() from None
            raise outcome.error
        for path in attempts.iterdir():  # what other attempts have left
            if path != Path(outcome.folder):
                forget(path)
        return outcome


def _payload(request: Any) -> bytes:
    """A request as it travels."""
    payload = pickle.dumps(request)
    if len(payload) <= _SHIPPED:
        return payload
    path = Path(request.attempts, "request")
    path.write_bytes(payload)
    return pickle.dumps(path)
