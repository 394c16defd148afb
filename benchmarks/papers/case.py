"""A case: one technique on one workload, and what its outcome says in the words of the papers' tables."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, Final

from benchmarks.harness import Run
from benchmarks.outcome import Outcome
from benchmarks.papers.figures import SECONDS
from benchmarks.papers.journal import Record
from benchmarks.workload import Workload

MB: Final = 1_000_000

SMALL_CHANGE: Final = 1_000
"""How many facts the papers' small updates have."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line chose: multiples of the base sizes, where data is kept, and the seconds that a side has."""

    sizes: tuple[int, ...]
    data: Path
    time_limit: float
    only: str = ""

    def wants(self, table: str, benchmark: str) -> bool:
        """Whether a table, or all of a paper, is asked for on a benchmark."""
        return self.only.lower() in f"{table}: {benchmark}".lower()


@dataclass(frozen=True, slots=True)
class Case:
    """One technique on one workload, and the records that its outcome becomes, the first of them for `table`."""

    table: str
    benchmark: str
    technique: str
    facts: int
    run: Run
    records: Callable[[Outcome], list[Record]]
    change: int = 0
    """How many facts each update has, where that is what matters."""

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """What tells whether a journal has it."""
        return self.table, self.benchmark, self.technique, self.facts, self.change


def folders(settings: Settings, name: str, workload: Workload, warm: Workload) -> dict[str, str]:
    """Both workloads written, for a runner that only Modulog has."""
    folder = settings.data / "-".join(f"papers {name}".replace("%", "").replace(",", "").split())
    return {
        "folder": str(workload.write(folder, csv=False)),
        "warm": str(warm.write(folder.with_name(f"{folder.name}-warm"), csv=False)),
    }


def record(
    table: str,
    benchmark: str,
    task: str,
    technique: str,
    facts: int,
    outcome: Outcome,
    **found: Any,
) -> Record:
    """What an outcome says of one task."""
    return Record(
        table=table,
        benchmark=benchmark,
        task=task,
        technique=technique,
        facts=facts,
        derived=int(outcome.details.get("columns", {}).get("I", 0)),
        counts=outcome.counts,
        versions=outcome.versions,
        disturbed=outcome.disturbed,
        **found,
    )


def of_step(step: str, outcome: Outcome, limit: float) -> dict[str, Any]:
    """The seconds of one step of several or, if the time ended in it, how long it took at least; a later one was not reached."""
    seconds: Mapping[str, list[float]] = outcome.details.get("seconds", {})
    if step in seconds:
        return {"metrics": {SECONDS: mean(seconds[step])}}
    ended = outcome.unfinished or ""
    if ended.startswith(f"{step}: not ended"):
        bound = limit - sum(sum(times) for times in seconds.values())
        if bound >= 1:
            return {"problem": f"over {bound:.0f} s", "bound": bound}
        return {"problem": "not reached"}
    if ended.startswith(f"{step}: "):
        return {"problem": ended.removeprefix(f"{step}: ")}
    return {"problem": "not reached" if ended else outcome.problem or "not reached"}
