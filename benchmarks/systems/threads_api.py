"""Modulog on one thread and on several in one process, in turn, so that other work on the machine disturbs both sides alike."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from threading import Thread
from time import perf_counter
from typing import Any

from benchmarks.outcome import Outcome, peak_memory, resting_memory, versions
from benchmarks.workload import Workload, read

REPETITIONS = 5
SMALL = 200
"""How often each piece of small work is done on each side."""


def large(folder: str, warm: str, workers: int) -> Outcome:
    """Materialise the workload in ``folder`` on one thread, on several, and as many times at once as there are threads, each on one.

    The seconds are those on several threads; all three are in the details. Of each the fastest repetition counts.
    """
    reasoner_class = import_module("modulog").Reasoner
    workload = read(Path(folder))
    for n in (1, workers):
        _prepared(reasoner_class, read(Path(warm)), n).materialise()
    taken: dict[str, list[float]] = {"one": [], "several": [], "independent": []}
    counts: list[dict[str, int]] = []
    for _ in range(REPETITIONS):
        for name, number, n in (("one", 1, 1), ("several", 1, workers), ("independent", workers, 1)):
            reasoners = [_prepared(reasoner_class, workload, n) for _ in range(number)]
            taken[name].append(_together(reasoners))
            counts += [{p: int(reasoner.count(p)) for p in workload.counted} for reasoner in reasoners]
            for reasoner in reasoners:
                reasoner.close()
    seconds = {name: min(times) for name, times in taken.items()}
    return Outcome(
        seconds["several"],
        0.0,
        counts[0],
        peak_memory(),
        versions("modulog", "numpy", "numba"),
        problem=None if all(found == counts[0] for found in counts) else "counts depend on the threads",
        resting=resting_memory(),
        details=seconds,
    )


def small(workers: int) -> Outcome:
    """Small work on one thread and on several: a program, updates of one and of a hundred facts, a query; medians in milliseconds."""
    reasoner_class = import_module("modulog").Reasoner
    rules = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) . far(?x) :- path(?x, ?y), ~edge(?x, ?y) ."
    edges = [(n, n + 1) for n in range(3_000) if n % 10]
    sides = {
        n: reasoner_class(rules, switches=import_module("modulog").Switches(modules="off"), workers=n)
        for n in (1, workers)
    }
    for reasoner in sides.values():
        reasoner.add("edge", edges)
        reasoner.materialise()

    def program(n: int) -> None:
        made = reasoner_class(rules, switches=import_module("modulog").Switches(modules="off"), workers=n)
        made.add("edge", edges)
        made.materialise()
        made.close()

    def update(n: int, rows: list[tuple[int, int]]) -> None:
        sides[n].update(add={"edge": rows})
        sides[n].update(delete={"edge": rows})

    work: dict[str, Callable[[int], object]] = {
        "a program of 2,700 facts": program,
        "add and delete one fact": lambda n: update(n, [(10, 11)]),
        "add and delete 100 facts": lambda n: update(n, [(k, k + 1) for k in range(10, 1_010, 10)]),
        "a query": lambda n: sides[n].query("path(5, ?y), edge(?y, ?z)"),
    }
    details = {}
    for name, do in work.items():
        taken: dict[int, list[float]] = {n: [] for n in sides}
        for _ in range(SMALL):
            for n in sides:
                start = perf_counter()
                do(n)
                taken[n].append(1e3 * (perf_counter() - start))
        details[name] = [median(taken[n]) for n in sides]
    counts = [int(reasoner.count("path")) for reasoner in sides.values()]
    return Outcome(
        sum(several for _, several in details.values()) / 1e3,
        0.0,
        {"path": counts[0]},
        peak_memory(),
        versions("modulog"),
        problem=None if counts[0] == counts[1] else "counts depend on the threads",
        details=details,
    )


def _prepared(reasoner_class: Any, workload: Workload, workers: int) -> Any:
    reasoner = reasoner_class(
        workload.rules, switches=import_module("modulog").Switches(modules="off"), workers=workers
    )
    for predicate, rows in workload.facts.items():
        reasoner.add(predicate, rows)
    return reasoner


def _together(reasoners: list[Any]) -> float:
    """Seconds until all reasoners have materialised, each in a thread."""
    threads = [Thread(target=reasoner.materialise) for reasoner in reasoners]
    start = perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return perf_counter() - start
