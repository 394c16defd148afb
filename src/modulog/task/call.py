"""Requests of the driver to a worker of Spark: a folder for the attempts of each, how far these are, and what
the attempt that has answered has made.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from modulog.engines.options import SparkOptions
from modulog.engines.registry import check_workers, need_pyspark
from modulog.errors import EngineError, WorkerLost
from modulog.evaluation.observers import ProgressCallback
from modulog.formats import warn_user
from modulog.task import worker
from modulog.task.states import forget
from modulog.task.worker import NAME, Outcome


class Tail:
    """The lines of the files of all attempts, each read once, as soon as it is whole."""

    def __init__(self, attempts: Path) -> None:
        self._attempts = attempts
        self._read: dict[Path, int] = {}

    def lines(self) -> Iterator[tuple[Path, str]]:
        """What has been written since the last time, with the folder of the attempt; attempts that have begun
        later come later.
        """
        new = [path for path in self._attempts.glob(f"*/{NAME}") if path not in self._read]
        for path in (*self._read, *sorted(new, key=_begun)):
            with suppress(OSError), path.open("rb") as file:
                file.seek(self._read.setdefault(path, 0))
                whole, line_end, _ = file.read().rpartition(b"\n")
                self._read[path] += len(whole) + len(line_end)
                for line in whole.splitlines():
                    yield path.parent, line.decode()


def _begun(path: Path) -> float:
    """When an attempt began, as far as its folder tells."""
    try:
        return path.parent.stat().st_ctime
    except OSError:
        return 0.0


class Watching:
    """Tells an observer of the rounds of a task, and remembers how much memory it has taken."""

    def __init__(self, attempts: Path, observe: ProgressCallback) -> None:
        self._tail, self._observe = Tail(attempts), observe
        self.peak = 0

    def look(self) -> None:
        """Tell what has been written since the last time."""
        for _, line in self._tail.lines():
            where: list[Any]
            *where, peak = json.loads(line)
            self.peak = max(self.peak, peak)
            if where:
                self._observe(*where)


_SHIPPED = 1 << 20  # bytes of a request that travels with the task; a longer one lies in a file


class Caller:
    """Sends requests, one after the other, to a place: Spark, as `place.TaskPlace` describes it."""

    def __init__(self, place: Any) -> None:
        self.place = place
        self.token = uuid4().hex
        (place.folder / worker.TOKEN).write_text(self.token)
        self.calls = 0
        self.is_closed = False

    def attempts(self) -> Path:
        """A folder for the attempts of the next request."""
        if self.is_closed:
            raise EngineError("the reasoner is closed, and what it had on Spark is gone")
        self.calls += 1
        folder: Path = self.place.folder / "tasks" / f"{self.calls:06d}"
        folder.mkdir(parents=True)
        return folder

    def call(
        self, request: Any, description: str, look: Callable[[], None], lost: Callable[[], WorkerLost]
    ) -> Outcome:
        """What became of a request; its folder of attempts has then only what the attempt that answered has
        made.

        `look` is called again and again meanwhile. An error of the work is raised; `lost` makes the one for a
        worker that was killed, or had no memory left.
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


def open_place(spark: SparkOptions | None, workers: int | None = None) -> Any:
    """Spark as the place of a task, as `place.TaskPlace` describes it."""
    check_workers(workers)
    need_pyspark()
    from modulog.task.place import TaskPlace

    return TaskPlace(spark or SparkOptions())


def _payload(request: Any) -> bytes:
    """A request as it travels."""
    payload = pickle.dumps(request)
    if len(payload) <= _SHIPPED:
        return payload
    path = Path(request.attempts, "request")
    path.write_bytes(payload)
    return pickle.dumps(path)
