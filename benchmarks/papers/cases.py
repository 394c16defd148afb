"""What ``make bench-papers`` measures: for each benchmark of a paper its data at growing sizes, and each technique on it.

A technique is a set of switches of the reasoner. One that has no entry here has no measurement, and the report says so.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, Final

import numpy as np

from benchmarks.data.ontologies import ontology_file, ontology_rules, vocabulary
from benchmarks.data.relations import relations
from benchmarks.harness import Run
from benchmarks.maintenance import PAPERS
from benchmarks.outcome import Outcome
from benchmarks.papers.figures import PEAK, RESTING, SECONDS
from benchmarks.papers.journal import Record
from benchmarks.systems import runs
from benchmarks.workload import Workload

API: Final = "benchmarks.systems.maintenance_api"
MB: Final = 1_000_000
WARM: Final = 50
"""The size of the small workload that loads kernels before each measurement."""

SMALL_CHANGE: Final = 1_000

MODULAR: Final = {
    "DRed^c-Mod": {"modules": "auto", "maintenance": "auto"},
    "DRed^c": {"modules": "off", "maintenance": "dredc"},
}
MATERIALISATIONS: Final = {"DRed^c-Mod": "Mat-Mod", "DRed^c": "Mat"}
"""What the techniques of the modular paper's second table are called in its first."""

STORAGE: Final = {"TCModule": "auto", "Standard": "off"}

CHANGED: Final = (1, 10, 100, 1_000, 10_000)
"""How many facts the updates have whose time is plotted against their size."""

STEPS: Final = {
    "small deletions": "small deletions",
    "small insertions": "small insertions",
    "large deletion": "large deletions",
}
"""The steps of ``maintain``, and the tasks of the paper."""


@dataclass(frozen=True, slots=True)
class Case:
    """One technique on one workload, and the records that its outcome becomes."""

    benchmark: str
    technique: str
    facts: int
    run: Run
    records: Callable[[Outcome], list[Record]]
    change: int = 0
    """How many facts each update has, where that is what matters."""


def cases(sizes: tuple[int, ...], data: Path, time_limit: float, only: str = "") -> Iterator[Case]:
    """Yield all cases of the benchmarks that have a text in their names, the small sizes first; each writes its data when it is reached."""
    for size in sizes:
        for benchmark, make in BENCHMARKS.items():
            if only.lower() not in benchmark.lower():
                continue
            workload, warm = make(1_000 * size), make(WARM)
            if workload is None or warm is None:
                continue
            if benchmark != "Relations":
                yield from _modular(benchmark, size, workload, warm, data, time_limit)
                if size == max(sizes):
                    yield from _changes(benchmark, size, workload, warm, data, time_limit)
            if benchmark in ("DAG-R", "Relations"):
                yield from _storage(benchmark, size, workload, warm, data)
            yield from _peers(benchmark, size, workload, warm, data)


def _folders(name: str, size: int, workload: Workload, warm: Workload, data: Path) -> dict[str, str]:
    folder = workload.write(data / f"papers-{name}-{size}", csv=False)
    return {"folder": str(folder), "warm": str(warm.write(data / f"papers-{name}-warm", csv=False))}


def _modular(
    benchmark: str, size: int, workload: Workload, warm: Workload, data: Path, time_limit: float
) -> Iterator[Case]:
    """Tables 1 and 2 of the modular paper: materialise, ten small changes, and a quarter deleted."""
    given = _folders(f"modular-{benchmark}", size, workload, warm, data)
    for technique, switches in MODULAR.items():
        arguments = {**given, **switches, "sample": SMALL_CHANGE, "quarter": True, "limit": time_limit}
        run = Run("Modulog", 1, f"{API}:maintain", arguments, repeated=False)

        def records(outcome: Outcome, technique: str = technique) -> list[Record]:
            return _modular_records(benchmark, technique, len(workload), outcome, time_limit)

        yield Case(benchmark, technique, len(workload), run, records)


def _modular_records(
    benchmark: str, technique: str, facts: int, outcome: Outcome, limit: float
) -> list[Record]:
    common = _common(benchmark, facts, outcome)
    first = Record(
        table="modular 1",
        task="materialisation",
        technique=MATERIALISATIONS[technique],
        **_task("materialisation", outcome, limit),
        **common,
    )
    return [first] + [
        Record(table="modular 2", task=task, technique=technique, **_task(step, outcome, limit), **common)
        for step, task in STEPS.items()
    ]


def _task(step: str, outcome: Outcome, limit: float) -> dict[str, Any]:
    """The seconds of one step of several or, if the time ended in it, how long it took at least; a later one was not reached."""
    seconds: Mapping[str, list[float]] = outcome.details.get("seconds", {})
    if step in seconds:
        return {"metrics": {SECONDS: mean(seconds[step])}}
    if outcome.unfinished is not None and outcome.unfinished.startswith(f"{step}:"):
        bound = limit - sum(sum(times) for times in seconds.values())
        return {"metrics": {}, "problem": f"over {bound:.0f} s", "bound": bound}
    return {
        "metrics": {},
        "problem": "not reached" if outcome.unfinished else outcome.problem or "not reached",
    }


def _storage(benchmark: str, size: int, workload: Workload, warm: Workload, data: Path) -> Iterator[Case]:
    """Table 2 of the storage paper: materialise, with and without modules."""
    given = _folders(f"storage-{benchmark}", size, workload, warm, data)
    for technique, modules in STORAGE.items():
        arguments = {**given, "modules": modules, "from_facts": False}
        run = Run("Modulog", 1, f"{API}:materialise", arguments, repeated=False)

        def records(outcome: Outcome, technique: str = technique) -> list[Record]:
            metrics = {SECONDS: outcome.seconds, PEAK: outcome.peak / MB, RESTING: outcome.resting / MB}
            return [
                Record(
                    table="storage 2",
                    task="materialisation",
                    technique=technique,
                    metrics=metrics if outcome.problem is None else {},
                    problem=outcome.problem,
                    **_common(benchmark, len(workload), outcome),
                )
            ]

        yield Case(benchmark, technique, len(workload), run, records)


def _changes(
    benchmark: str, size: int, workload: Workload, warm: Workload, data: Path, time_limit: float
) -> Iterator[Case]:
    """Deleting and adding again samples of growing size."""
    given = _folders(f"modular-{benchmark}", size, workload, warm, data)
    for change in (n for n in CHANGED if n <= len(workload) // 10):
        for technique, switches in MODULAR.items():
            arguments = {**given, **switches, "sample": change, "quarter": False, "limit": time_limit}
            run = Run("Modulog", 1, f"{API}:maintain", arguments, repeated=False)

            def records(outcome: Outcome, technique: str = technique, change: int = change) -> list[Record]:
                return [
                    Record(
                        table="changes",
                        task=task,
                        technique=technique,
                        change=change,
                        **_task(step, outcome, time_limit),
                        **_common(benchmark, len(workload), outcome),
                    )
                    for step, task in (("small deletions", "deletion"), ("small insertions", "insertion"))
                ]

            yield Case(benchmark, technique, len(workload), run, records, change)


def _peers(benchmark: str, size: int, workload: Workload, warm: Workload, data: Path) -> Iterator[Case]:
    """Materialisation by every system, from CSV where it does not take arrays."""
    folder = workload.write(data / f"papers-peers-{benchmark}-{size}")
    small = warm.write(data / f"papers-peers-{benchmark}-warm")
    ours = {"folder": str(folder), "warm": str(small)}
    systems = (
        Run(
            "Modulog",
            1,
            f"{API}:materialise",
            {**ours, "modules": "auto", "from_facts": False},
            repeated=False,
        ),
        Run("Modulog, Spark", 2, "benchmarks.systems.modulog_spark:materialise", ours, repeated=False),
        *runs.nemo(folder),
        *runs.clingo(folder),
    )
    for run in systems:

        def records(outcome: Outcome, run: Run = run) -> list[Record]:
            return [
                Record(
                    table="peers",
                    task="materialisation",
                    technique=run.system,
                    system=run.system,
                    threads=run.threads,
                    metrics={} if outcome.problem else {SECONDS: outcome.seconds, PEAK: outcome.peak / MB},
                    problem=outcome.problem,
                    **_common(benchmark, len(workload), outcome),
                )
            ]

        yield Case(benchmark, run.system, len(workload), run, records)


def _common(benchmark: str, facts: int, outcome: Outcome) -> dict[str, Any]:
    return {
        "benchmark": benchmark,
        "facts": facts,
        "derived": int(outcome.details.get("columns", {}).get("I", 0)),
        "counts": outcome.counts,
        "versions": outcome.versions,
        "disturbed": outcome.disturbed,
    }


def _relations(size: int) -> Workload | None:
    """About 84.6 facts for each unit of size, so that 10,000 are the paper's."""
    if (path := ontology_file("relations")) is None:
        return None
    rules, names = ontology_rules(path)
    blocks = defaultdict(list)
    for iri, rows in relations(vocabulary(path), max(round(84.58 * size), 1_000)):
        blocks[names[iri]].append(rows)
    facts = {name: np.concatenate(parts) for name, parts in blocks.items() if sum(map(len, parts))}
    return Workload(rules, facts, tuple(sorted(facts)))


BENCHMARKS: Final[Mapping[str, Callable[[int], Workload | None]]] = {
    "DAG-R": PAPERS["DAG-R"],
    "DBpedia-SKOS": PAPERS["SKOS"],
    "LUBM-LE": PAPERS["LUBM-LE"],
    "Claros-LE": PAPERS["Claros-LE"],
    "Relations": _relations,
}
"""The papers' names of what is measured, and how its data is made; None where rules or ontologies are missing."""
