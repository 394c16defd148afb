"""What one run of one system gives: counts, seconds, peak memory, versions."""

import ctypes
import gc
import resource
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

_OWN_PEAK = Path("/proc/self/status")
_WAITING = Path("/proc/self/schedstat")
_REFERENCES = Path("/proc/self/clear_refs")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The measurement of one process; ``problem`` says why there is none."""

    seconds: float = 0.0
    load_seconds: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict)
    peak: int = 0
    """Peak memory of the process in bytes when the work ended, interpreter and inputs included."""
    versions: Mapping[str, str] = field(default_factory=dict)
    problem: str | None = None
    resting: int = 0
    """Memory of the process in bytes when the work has ended and garbage is collected; 0 if it was not measured."""
    derived: bool = False
    """Whether only the whole and the loading were measured, and the seconds are their difference."""
    unfinished: str | None = None
    """What the time limit cut off, if something was measured before it."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What a question's own table shows, as JSON values."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else a run has to say."""
    waited: float = 0.0
    """The share of its time in which the process could run but waited for a core that others used."""

    @property
    def disturbed(self) -> bool:
        """Whether other work on the machine made the times longer than they should be."""
        return self.waited > 0.1

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as JSON values."""
        return asdict(self)


def fastest(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of repeated runs: the shortest times, the largest peak of memory.

    A difference of two times is taken after both minima: the smallest difference would be the noisiest.
    """
    first = min(outcomes, key=lambda outcome: outcome.seconds)
    load_seconds = min(outcome.load_seconds for outcome in outcomes)
    seconds = first.seconds
    if first.derived:
        seconds = max(min(outcome.seconds + outcome.load_seconds for outcome in outcomes) - load_seconds, 0.0)
    peak = max(outcome.peak for outcome in outcomes)
    # The undisturbed runs are the fast ones, so theirs is the share that matters.
    waited = max(outcome.waited for outcome in outcomes) if first.derived else first.waited
    return replace(first, seconds=seconds, load_seconds=load_seconds, peak=peak, waited=waited)


def peak_memory() -> int:
    """Return the largest resident size that this process has had, in bytes."""
    # The resource module counts the parent's memory too when the process was started by vfork.
    if _OWN_PEAK.exists():
        for line in _OWN_PEAK.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def resting_memory() -> int:
    """Return the resident size of this process, in bytes, after garbage was collected; its peak where the system does not tell."""
    gc.collect()
    return resident_memory()


def resident_memory() -> int:
    """Return the resident size of this process in bytes; its peak where the system does not tell."""
    if _OWN_PEAK.exists():
        for line in _OWN_PEAK.read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return peak_memory()


def return_freed_memory() -> None:
    """Give memory that was freed, and only waits to be used again, back to the system, where that is possible."""
    gc.collect()
    with suppress(ImportError):
        import_module("pyarrow").default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def forget_peak() -> None:
    """Let the peak of this process's memory begin anew, where the system allows it."""
    if _REFERENCES.exists():
        _REFERENCES.write_text("5", encoding="ascii")


def seconds_waited() -> float:
    """Return for how long this process's main thread waited for a core, where the system tells."""
    return int(_WAITING.read_text(encoding="ascii").split()[1]) / 1e9 if _WAITING.exists() else 0.0


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of the packages that are installed."""
    found = {}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
