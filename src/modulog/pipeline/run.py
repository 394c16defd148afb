"""What a run tells while it goes on, and what it has done at the end."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from modulog.engines.values import Failures
from modulog.wording import plural, still_derived

Mode = Literal["full", "incremental"]

START = "start of Spark"
"""A stage that comes first, and not at all where Spark runs already."""
TASK = "start of the task"
"""A stage until the Python worker that does the work has begun with it."""
COMPILING = "compiling kernels"
"""A stage that stands for all moments in which a kernel was compiled; told at the end, if there were any."""

STAGES = (START, COMPILING, TASK, "read", "materialise", "compare", "update", "change", "save", "sinks")
"""The stages of a run; a run enters those that it needs, most of them perhaps several times."""


class Watch(Protocol):
    """Who is told how a run goes.

    >>> class Loud(Unwatched):
    ...     def note(self, **values: Any) -> None:
    ...         print(*values)
    >>> Loud().note(facts=3)
    facts
    """

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Around each stage; it may fail inside."""

    def note(self, **values: Any) -> None:
        """Something that is known now: of the stage that runs, or outside of all of the whole run. JSON can
        say it.
        """

    def __call__(self, stratum: int, strata: int, name: str, round_: int, facts: int) -> None:
        """Called once a round, as `Reasoner(progress=…)` calls it."""


class Unwatched:
    """A `Watch` that takes no notice."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Nothing happens around it."""
        return nullcontext()

    def note(self, **values: Any) -> None:
        """Nothing is kept."""

    def __call__(self, stratum: int, strata: int, name: str, round_: int, facts: int) -> None:
        """Nothing is shown."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run did.

    `reason` says why it was full or what changed, `resumed` what was taken over from a run that was killed;
    `read` has the rows of each source that was read; `added` and `deleted` are the net change by predicate,
    of an incremental run; `written` has the rows of each part of a sink that was written. `set_aside` counts
    bad records, which lie in `bad_records`; `failures` counts, by kind, rows that were left out because
    values could not be compared or had no result, as `Failures` names them. `still_derived` counts the facts
    to delete that rules derive. `place` says of a run on Spark whether one task has done the work, or all
    executors, and why.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from modulog import Pipeline
    >>> from modulog.pipeline import Source
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "rules.rls").write_text("path(?x, ?y) :- edge(?x, ?y) .")
    ...     _ = Path(folder, "edge.csv").write_text("a,b\\n")
    ...     source, rules, store = Source(f"{folder}/edge.csv"), [f"{folder}/rules.rls"], f"{folder}/store"
    ...     run = Pipeline(sources=[source], rules=rules, store=store, engine="local").run()
    >>> run.mode, run.explicit, run.facts
    ('full', 1, 2)
    """

    mode: Mode
    reason: str
    generation: int
    explicit: int
    facts: int
    added: Mapping[str, int] = field(default_factory=dict)
    deleted: Mapping[str, int] = field(default_factory=dict)
    written: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    change: str | None = None
    report: str | None = None
    set_aside: int = 0
    bad_records: str | None = None
    read: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    resumed: str = ""
    still_derived: int = 0
    place: str = ""

    def __repr__(self) -> str:
        changes = f"+{sum(self.added.values()):,} -{sum(self.deleted.values()):,}"
        return f"<Run: {self.mode}, {plural(self.facts, 'fact')} ({self.explicit:,} explicit), {changes}>"

    def __str__(self) -> str:
        seconds = ", ".join(f"{name} {time:.1f} s" for name, time in self.seconds.items())
        lines = [
            f"{self.mode} run: {self.reason}",
            f"{plural(self.facts, 'fact')} ({self.explicit:,} explicit); {seconds}",
        ]
        lines += [self.place] if self.place else []
        for name in sorted({*self.added, *self.deleted}):
            lines.append(f"  {name}: +{self.added.get(name, 0):,} -{self.deleted.get(name, 0):,}")
        if self.still_derived:
            lines.append(f"  {still_derived(self.still_derived)}")
        if self.set_aside:
            lines.append(f"  {plural(self.set_aside, 'bad record')} set aside: {self.bad_records}")
        lines += [f"  {line}" for line in Failures(**self.failures).told()]
        lines += [f"  {part}: {plural(rows, 'row')}" for part, rows in self.written.items()]
        lines += [
            f"{what} {place}" for what, place in (("change", self.change), ("report", self.report)) if place
        ]
        return "\n".join(lines)
