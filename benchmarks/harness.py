"""Measures experiments: each run in its own process, with a time limit, short ones as the best of a few."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from benchmarks.outcome import Outcome, fastest

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Run:
    """One system on one experiment: the function that the worker calls, and with what."""

    system: str
    threads: int
    runner: str
    arguments: Mapping[str, Any]
    repeated: bool = True
    """Whether a short run is repeated; not if it has samples of its own."""

    @property
    def family(self) -> str:
        """The system without the way in which it is used: "DuckDB" for "DuckDB, exists"."""
        return self.system.split(",")[0]


@dataclass(frozen=True, slots=True)
class Target:
    """What ``system`` must reach: a multiple of a peer's measure, or a number if there is no peer."""

    limit: float
    against: str | None = None
    measure: Literal["seconds", "peak", "round"] = "seconds"
    system: str = "Modulog"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One question at one size, for several systems, which must all count the same."""

    question: str
    size: str
    facts: int
    runs: tuple[Run, ...]
    named: bool = False
    """Whether this is the size that the targets speak of."""
    targets: tuple[Target, ...] = ()
    expected: Mapping[str, int] = field(default_factory=dict)
    """Counts that are known without any system."""
    rounds: int = 0


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line chose."""

    scales: tuple[int, ...]
    time_limit: float
    repetitions: int
    short: float
    """Runs of at most this many seconds are repeated, and the fastest counts."""
    data: Path
    families: frozenset[str] | None = None
    named_only: bool = False
    only: str = ""
    """What a question or its size must have in it."""

    @property
    def small(self) -> bool:
        """Whether this is a quick look, without the sizes that the targets speak of."""
        return 10 not in self.scales

    def wants(self, run: Run) -> bool:
        """Whether the run's system was chosen."""
        return self.families is None or run.family.lower() in self.families


Question = Callable[[Settings], Iterator[Experiment]]
Results = list[tuple[Run, Outcome]]


def measure(experiment: Experiment, settings: Settings, tell: Callable[[Run, Outcome], None]) -> Results:
    """Return the outcome of every chosen run, one after another."""
    results = []
    for run in experiment.runs:
        if settings.wants(run):
            outcome = best(run, settings)
            tell(run, outcome)
            results.append((run, outcome))
    return results


def best(run: Run, settings: Settings) -> Outcome:
    """Return the fastest outcome of a run, repeated if it is short, with the largest peak of memory."""
    outcomes = [run_once(run, settings.time_limit)]
    repetitions = settings.repetitions if run.repeated else 1
    while outcomes[0].problem is None and len(outcomes) < repetitions:
        if outcomes[0].seconds > settings.short:
            break
        outcomes.append(run_once(run, settings.time_limit))
    failed = next((outcome for outcome in outcomes if outcome.problem is not None), None)
    if failed is not None:
        return failed
    if any(dict(outcome.counts) != dict(outcomes[0].counts) for outcome in outcomes):
        return Outcome(problem="counts change from run to run")
    return fastest(outcomes)


def run_once(run: Run, time_limit: float, memory: int | None = None) -> Outcome:
    """Return the outcome of one process, which may use so many bytes; a failure or a passed limit is an outcome with a problem."""
    with TemporaryDirectory() as folder:
        job, result, log = Path(folder) / "job.json", Path(folder) / "result.json", Path(folder) / "log"
        job.write_text(
            json.dumps(
                {
                    "runner": run.runner,
                    "arguments": dict(run.arguments),
                    "threads": run.threads,
                    "memory": memory,
                }
            ),
            encoding="utf-8",
        )
        command = [sys.executable, "-m", "benchmarks.worker", str(job), str(result)]
        with log.open("w", encoding="utf-8") as output:
            process = subprocess.Popen(
                command, cwd=ROOT, env=_environment(run), stdout=output, stderr=output, start_new_session=True
            )
            try:
                code = process.wait(timeout=time_limit)
            except subprocess.TimeoutExpired:
                return Outcome(problem=f"over {time_limit:g} s")
            finally:
                _end(process)
        if code != 0:
            return Outcome(problem=_reason(code, log.read_text(encoding="utf-8", errors="replace")))
        return Outcome(**json.loads(result.read_text(encoding="utf-8")))


def _environment(run: Run) -> dict[str, str]:
    return {**os.environ, "NUMBA_NUM_THREADS": str(run.threads)}


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process that still runs, with what it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _reason(code: int, log: str) -> str:
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    lines = [line for line in log.splitlines() if line.strip()]
    return f"failed: {lines[-1][:100]}" if lines else f"failed with code {code}"
