"""The modular paper: materialisation and maintenance with modules and without, and updates against their size."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from benchmarks.harness import Run
from benchmarks.maintenance import PAPERS
from benchmarks.outcome import Outcome
from benchmarks.papers.case import SMALL_CHANGE, Case, Settings, folders, of_step, record
from benchmarks.papers.journal import Record
from benchmarks.workload import Workload

RUNNER: Final = "benchmarks.systems.maintenance_api:maintain"
WARM: Final = 50
"""The size of the small workload that loads kernels before each measurement."""

BENCHMARKS: Final[Mapping[str, Callable[[int], Workload | None]]] = {
    "DAG-R": PAPERS["DAG-R"],
    "DBpedia-SKOS": PAPERS["SKOS"],
    "LUBM-LE": PAPERS["LUBM-LE"],
    "Claros-LE": PAPERS["Claros-LE"],
}
"""The papers' names of what is measured, and how its data is made; None where rules are missing."""

TECHNIQUES: Final = {
    "DRed^c-Mod": {"modules": "auto", "maintenance": "auto"},
    "DRed^c": {"modules": "off", "maintenance": "dredc"},
}
MATERIALISATIONS: Final = {"DRed^c-Mod": "Mat-Mod", "DRed^c": "Mat"}
"""What the techniques of the second table are called in the first."""

STEPS: Final = {
    "small deletions": "small deletions",
    "small insertions": "small insertions",
    "large deletion": "large deletions",
}
"""The steps of ``maintain``, and the tasks of the paper."""

CHANGED: Final = (1, 10, 100, 1_000, 10_000)
"""How many facts the updates have whose time is plotted against their size."""


def cases(settings: Settings, size: int) -> Iterator[Case]:
    """Tables 1 and 2 at one size; at the largest also updates of growing size."""
    for benchmark, make in BENCHMARKS.items():
        if not settings.wants("modular", benchmark):
            continue
        workload, warm = make(1_000 * size), make(WARM)
        if workload is None or warm is None:
            continue
        given = folders(settings, f"modular {benchmark} {size}", workload, warm)
        changes = [n for n in CHANGED if n <= len(workload) // 10] if size == max(settings.sizes) else []
        for technique in TECHNIQUES:
            yield _tables(benchmark, technique, len(workload), given, settings.time_limit)
            for change in changes:
                yield _change(benchmark, technique, len(workload), given, settings.time_limit, change)


def _run(given: Mapping[str, str], technique: str, limit: float, sample: int, quarter: bool) -> Run:
    arguments = {**given, **TECHNIQUES[technique], "sample": sample, "quarter": quarter, "limit": limit}
    return Run("Modulog", 1, RUNNER, arguments, repeated=False)


def _tables(benchmark: str, technique: str, facts: int, given: Mapping[str, str], limit: float) -> Case:
    """Materialise, ten small changes, and a quarter deleted."""
    run = _run(given, technique, limit, SMALL_CHANGE, quarter=True)
    name = MATERIALISATIONS[technique]
    return Case(
        "modular 1", benchmark, name, facts, run, lambda o: records(benchmark, technique, facts, o, limit)
    )


def records(benchmark: str, technique: str, facts: int, outcome: Outcome, limit: float) -> list[Record]:
    """What both tables say of one technique."""
    name, step = MATERIALISATIONS[technique], "materialisation"
    first = record("modular 1", benchmark, step, name, facts, outcome, **of_step(step, outcome, limit))
    return [first] + [
        record("modular 2", benchmark, task, technique, facts, outcome, **of_step(step, outcome, limit))
        for step, task in STEPS.items()
    ]


def _change(
    benchmark: str, technique: str, facts: int, given: Mapping[str, str], limit: float, change: int
) -> Case:
    """Deleting and adding again samples of one size."""

    def found(outcome: Outcome) -> list[Record]:
        return [
            record(
                "changes",
                benchmark,
                task,
                technique,
                facts,
                outcome,
                change=change,
                **of_step(step, outcome, limit),
            )
            for step, task in (("small deletions", "deletion"), ("small insertions", "insertion"))
        ]

    run = _run(given, technique, limit, change, quarter=False)
    return Case("changes", benchmark, technique, facts, run, found, change)
