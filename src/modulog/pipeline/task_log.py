"""What a task tells of a run, in the log of that run: the task writes the lines of a log into a file, which the driver reads while it waits."""

from __future__ import annotations

import json
import resource
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from modulog.pipeline.log import RunLog
from modulog.pipeline.run import TASK, Unwatched
from modulog.task.task_progress import NAME, Tail

OWN_STORE = "store"
"""The store that an attempt writes, in its folder."""


class TaskLog(RunLog):
    """The log that a task writes; every line says how much memory the task has taken so far."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / NAME, Unwatched())
        self.write("task")

    def write(self, event: str, **values: Any) -> None:
        """As `RunLog.write`."""
        super().write(event, peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, **values)


class Replay:
    """Repeats in a log, and to who watches it, what the attempts at a task write; until the first line there is a stage for the start of the task.

    Of several attempts the one that has begun last is told. Where a task speaks of its own store, a folder in that of its attempt, it means the store of the run.
    """

    def __init__(self, log: RunLog, attempts: Path, store: Path) -> None:
        self._log, self._tail, self._store = log, Tail(attempts), store
        self._attempt: Path | None = None
        self._open: list[AbstractContextManager[None]] = [log.stage(TASK)]
        self._open[0].__enter__()
        self.peak = 0

    def look(self) -> None:
        """Repeat what has been written since the last time."""
        for attempt, text in self._tail.lines():
            line = json.loads(text.replace(str(attempt / OWN_STORE), str(self._store)))
            if line["event"] == "task":
                self.close(None if self._attempt is None else _Told())
                self._attempt = attempt
            if attempt == self._attempt:
                self._tell(line)

    def _tell(self, line: dict[str, Any]) -> None:
        self.peak = max(self.peak, line.pop("peak"))
        if line["event"] == "task":
            return
        entered = self._log.repeat(line)
        if entered is not None:
            entered.__enter__()
            self._open.append(entered)
        elif line["event"] in ("done", "failed"):
            self._leave(_Told() if line["event"] == "failed" else None)

    def _leave(self, error: BaseException | None) -> None:
        with suppress(_Told if error is None else type(error)):
            self._open.pop().__exit__(None if error is None else type(error), error, None)

    def close(self, error: BaseException | None = None) -> None:
        """Leave the stages that are open, with an error if there was one."""
        while self._open:
            self._leave(error)


class _Told(Exception):
    """A stage has failed, and why was written down."""
