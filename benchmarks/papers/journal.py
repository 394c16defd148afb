"""What was measured, as JSON lines: one for each task of each technique at each size, so that a run that was stopped can go on."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Record:
    """One measurement under the names that the papers' tables use; ``problem`` says why there is none."""

    table: str
    benchmark: str
    task: str
    technique: str
    facts: int
    """How many facts were given."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    derived: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    problem: str | None = None
    system: str = "Modulog"
    threads: int = 1
    time_limit: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    disturbed: bool = False
    bound: float = 0.0
    """Where the time limit ended just this task: the seconds that it took at least."""
    change: int = 0
    """How many facts an update had, where its size is what matters."""

    @property
    def name(self) -> tuple[str, str, str, str]:
        """Table, benchmark, task and technique."""
        return self.table, self.benchmark, self.task, self.technique


class Journal:
    """A file of records that grows; a later record of the same name, system and size replaces an earlier one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: dict[tuple[Any, ...], Record] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                self._keep(Record(**json.loads(line)))
            except (TypeError, ValueError):
                continue  # the last line of a run that was stopped while it wrote

    def write(self, records: Iterable[Record]) -> None:
        """Append records, and be sure that they are on disk: what follows may end this process."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            if file.tell() and not self.path.read_bytes().endswith(b"\n"):
                file.write("\n")
            for record in records:
                file.write(json.dumps(asdict(record)) + "\n")
                self._keep(record)

    def copy(self, path: Path) -> None:
        """Write what counts to another file."""
        lines = "".join(json.dumps(asdict(record)) + "\n" for record in self.records.values())
        path.write_text(lines, encoding="utf-8")

    def has(
        self, table: str, benchmark: str, technique: str, facts: int, change: int, time_limit: float
    ) -> bool:
        """Whether a technique was measured at a size; a limit that was too short counts only until a longer one is given."""
        wanted = table, benchmark, technique, facts, change
        found = [
            r
            for r in self.records.values()
            if (r.table, r.benchmark, r.technique, r.facts, r.change) == wanted
        ]
        return bool(found) and all(r.problem is None or r.time_limit >= time_limit for r in found)

    def named(self, *name: str) -> list[Record]:
        """The records of a table, a benchmark, a task and a technique, the smallest first."""
        found = [r for r in self.records.values() if r.name == name]
        return sorted(found, key=lambda record: (record.facts, record.change))

    def _keep(self, record: Record) -> None:
        key = (*record.name, record.system, record.threads, record.facts, record.change)
        self.records[key] = record


def agreeing(records: Iterable[Record]) -> bool:
    """Whether all records of one benchmark and size that have counts count the same, as far as they have them.

    >>> a, b = (Record("t", "b", "t", name, 1, counts={"p": n}) for name, n in (("x", 1), ("y", 2)))
    >>> agreeing([a, a]), agreeing([a, b])
    (True, False)
    """
    counts = [record.counts for record in records if record.problem is None]
    return all(
        one[key] == other[key] for one in counts for other in counts for key in one.keys() & other.keys()
    )
