"""The hypertree paper: standard plans, every rule decomposed, and what `decompose="auto"` chooses."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from benchmarks.harness import Run
from benchmarks.hypertree import expression_workload, labelled_workload, university_workload
from benchmarks.outcome import Outcome
from benchmarks.papers.case import MB, SMALL_CHANGE, Case, Settings, folders, of_step, record
from benchmarks.papers.figures import COMPLEX, DERIVED, GIVEN, PEAK, RULES
from benchmarks.papers.journal import Record
from benchmarks.workload import Workload

RUNNER: Final = "benchmarks.systems.maintenance_api:maintain"

TECHNIQUES: Final = {"standard": "off", "HD": "all", "combined": "auto"}
"""With the modules of the other paper off, as in this one."""

BENCHMARKS: Final[Mapping[str, tuple[Callable[[int], Workload | None], Callable[[], Workload | None]]]] = {
    "LUBM L": (lambda size: university_workload(size, False), lambda: university_workload(1, False, 5_000)),
    "LUBM L+C": (lambda size: university_workload(size, True), lambda: university_workload(1, True, 5_000)),
    "Exp": (lambda size: expression_workload(30 * size, 30 * size), lambda: expression_workload(3, 5)),
    "YAGO": (lambda size: labelled_workload(1_000_000 * size), lambda: labelled_workload(2_000)),
}
"""The workload of a size, and a small one that loads kernels; None where rules are missing. Ten is the paper's size of Exp."""

STEPS: Final = {
    "materialisation": "materialisation",
    "small deletions": "small deletions",
    "large deletion": "large deletions",
    "small insertions": "small additions",
}
"""The steps of ``maintain``, and the tasks of the paper."""


def cases(settings: Settings, size: int) -> Iterator[Case]:
    """Tables 1 and 2, and the ratio of memory, at one size."""
    for benchmark, (make, make_small) in BENCHMARKS.items():
        if not settings.wants("hypertree", benchmark):
            continue
        workload, warm = make(size), make_small()
        if workload is None or warm is None:
            continue
        given = folders(settings, f"hypertree {benchmark} {size}", workload, warm)
        for technique in TECHNIQUES:
            yield _case(benchmark, technique, len(workload), given, settings.time_limit)


def _case(benchmark: str, technique: str, facts: int, given: Mapping[str, str], limit: float) -> Case:
    change = {"sample": SMALL_CHANGE, "quarter": True, "limit": limit}
    switches = {"modules": "off", "maintenance": "auto", "decompose": TECHNIQUES[technique]}
    run = Run("Modulog", 1, RUNNER, {**given, **change, **switches}, repeated=False)
    return Case(
        "hypertree 2",
        benchmark,
        technique,
        facts,
        run,
        lambda o: records(benchmark, technique, facts, o, limit),
    )


def records(benchmark: str, technique: str, facts: int, outcome: Outcome, limit: float) -> list[Record]:
    """What the tables say of one technique; memory that was not all needed, because time ended, is not compared."""
    found = [
        record("hypertree 2", benchmark, task, technique, facts, outcome, **of_step(step, outcome, limit))
        for step, task in STEPS.items()
    ]
    columns: Mapping[str, int] = outcome.details.get("columns", {})
    if not columns:
        return found
    rules = columns["nr"] + columns["r"]
    if technique == "combined":
        numbers = {GIVEN: columns["E"], DERIVED: columns["I"], RULES: rules, COMPLEX: columns["decomposed"]}
        found.append(record("hypertree 1", benchmark, "data", "rules", facts, outcome, metrics=numbers))
    if technique != "HD" and outcome.unfinished is None:
        peak = {PEAK: outcome.peak / MB}
        found.append(
            record("hypertree memory", benchmark, "all tasks", technique, facts, outcome, metrics=peak)
        )
    return found
