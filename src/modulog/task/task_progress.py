"""How far a task is, as the driver reads it from the file that each attempt writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from modulog.evaluation.observers import ProgressCallback

NAME = "progress"


class Tail:
    """The lines of the files of all attempts, each read once, as soon as it is whole."""

    def __init__(self, attempts: Path) -> None:
        self._attempts = attempts
        self._read: dict[Path, int] = {}

    def lines(self) -> Iterator[tuple[Path, str]]:
        """What has been written since the last time, with the folder of the attempt; attempts that have begun later come later."""
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
