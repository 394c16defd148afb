"""Shows the progress of long work, as a line on the terminal that is updated in place.

Nothing is shown in the first second, so that short work prints nothing, nor without a terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, TextIO

from modulog.wording import plural

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

DELAY = 1.0  # seconds before the line is shown


class Progress:
    """An observer for `Reasoner(progress=…)`; as a context manager, it removes the line at the end.

    `doing` is the text for what is being done now, such as "loading edge.csv"; rounds replace it.

    >>> with Progress() as progress:
    ...     progress.doing = "loading edge.csv"
    ...     before = progress.line()
    ...     progress(1, 3, "path", 0, 1200)
    >>> before.split(",")[0], progress.line().split(",")[:3]
    ('loading edge.csv', ['in stratum 1 of 3 (path)', ' round 0', ' 1'])
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.doing = ""
        self.facts = self.rounds = 0
        self._stream = stream or sys.stderr
        self._began = monotonic()
        self._first_round: float | None = None
        self._live: Live | None = None
        self._closed = False
        self._lock = Lock()
        self._timer = Timer(DELAY, self._show)
        self._timer.daemon = True

    def __call__(self, stratum: int, strata: int, name: str, round_: int, facts: int) -> None:
        """Update the line; the reasoner calls this once per round."""
        if self._first_round is None:
            self._first_round = monotonic()
        self.facts = facts
        self.rounds += 1
        self.doing = f"in stratum {stratum} of {strata} ({name}), round {round_}"

    def __enter__(self) -> Self:
        if self._stream.isatty():
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._live is not None:
                self._live.stop()

    def line(self) -> str:
        """The text that the terminal shows now."""
        now = monotonic()
        parts = [self.doing]
        if self._first_round is not None:
            rate = self.facts / max(now - self._first_round, 0.001)
            parts.append(f"{plural(self.facts, 'fact')}, {rate:,.0f} facts/s")
        parts.append(f"{now - self._began:.0f} s")
        return ", ".join(parts)

    def __rich__(self) -> Text:
        from rich.text import Text

        return Text(self.line(), style="dim", overflow="ellipsis", no_wrap=True)

    def _show(self) -> None:
        """Start to show the line; the timer calls this in a thread of its own."""
        from rich.console import Console
        from rich.live import Live

        with self._lock:
            if not self._closed:
                console = Console(file=self._stream)
                self._live = Live(self, console=console, transient=True, refresh_per_second=4)
                self._live.start()


class RunProgress(Progress):
    """A progress line for the run of a pipeline, which begins with the name of the stage.

    >>> with RunProgress() as progress, progress.stage("materialise"):
    ...     progress(2, 3, "path", 4, 1200)
    ...     progress.line().split(",")[:3]
    ['materialise: in stratum 2 of 3 (path)', ' round 4', ' 1']
    """

    _stage = ""
    _running = False

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Show the name of a stage inside the block; facts and their rate are counted for the stage alone."""
        is_inside, self._running = self._running, True
        outer = self._stage, self.doing, self._first_round, self.facts
        self._stage, self.doing, self._first_round, self.facts = name, "", None, 0
        yield
        self._running = is_inside
        if is_inside:  # the enclosing stage continues
            self._stage, self.doing, self._first_round, self.facts = outer

    def note(self, **values: Any) -> None:
        """Show the name of the source or sink, or what is resumed from an earlier run."""
        known = (values.get(name) for name in ("source", "sink", "resumed"))
        self.doing = next((str(text) for text in known if text), self.doing)

    def line(self) -> str:
        return f"{self._stage}{': ' if self.doing else ''}{super().line()}"
