"""Modulog through its Python interface, with the general engine only (``modules="off"``)."""

import sys
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.outcome import Outcome, peak_memory, resting_memory, versions
from benchmarks.workload import Workload, read


def materialise(folder: str, warm: str, decompose: str = "auto") -> Outcome:
    """Materialise the workload in ``folder`` after that in ``warm``, so that kernels are compiled before.

    The seconds of the processor, which other work on the machine disturbs less, are a note.
    """
    reasoner_class = import_module("modulog").Reasoner
    warm_reasoner, warm_workload = _prepare(reasoner_class, read(Path(warm)), decompose)
    warm_reasoner.materialise()
    for predicate in warm_workload.counted:
        warm_reasoner.count(predicate)
    workload = read(Path(folder))
    start = perf_counter()
    reasoner, _ = _prepare(reasoner_class, workload, decompose)
    loaded, worked = perf_counter(), process_time()
    reasoner.materialise()
    done, worked = perf_counter(), process_time() - worked
    peak, resting = peak_memory(), resting_memory()
    counts = {predicate: int(reasoner.count(predicate)) for predicate in workload.counted}
    return Outcome(
        done - loaded,
        loaded - start,
        counts,
        peak,
        versions("modulog", "numpy", "numba"),
        resting=resting,
        notes={"CPU": f"{worked:.2f} s"},
    )


def load(path: str, warm: str, materialised: bool) -> Outcome:
    """Load a CSV file of strings, whose predicate is the name of the file, after a small one like it.

    With ``materialised``, the seconds include making the relation: removing duplicates and sorting.
    """
    reasoner_class = import_module("modulog").Reasoner
    warm_reasoner = reasoner_class("", switches=import_module("modulog").Switches(modules="off"))
    warm_reasoner.load(Path(warm))
    warm_reasoner.materialise()
    start = perf_counter()
    reasoner = reasoner_class("", switches=import_module("modulog").Switches(modules="off"))
    reasoner.load(Path(path))
    if materialised:
        reasoner.materialise()
    done = perf_counter()
    peak, resting = peak_memory(), resting_memory()
    counts = {"rows": int(reasoner.count(Path(path).stem))}
    return Outcome(
        done - start, 0.0, counts, peak, versions("modulog", "numpy", "numba", "pyarrow"), resting=resting
    )


def load_rdf(path: str, warm: str, materialised: bool) -> Outcome:
    """Load a file of triples after a smaller one like it; with ``materialised``, make the relations too."""
    reasoner_class = import_module("modulog").Reasoner
    warm_reasoner = reasoner_class("", switches=import_module("modulog").Switches(modules="off"))
    warm_reasoner.load(Path(warm))
    warm_reasoner.materialise()
    start = perf_counter()
    reasoner = reasoner_class("", switches=import_module("modulog").Switches(modules="off"))
    reasoner.load(Path(path))
    if materialised:
        reasoner.materialise()
    done = perf_counter()
    peak, resting = peak_memory(), resting_memory()
    counts = {"triples": int(reasoner.materialise().facts)}
    return Outcome(
        done - start, 0.0, counts, peak, versions("modulog", "numpy", "numba", "pyarrow"), resting=resting
    )


def first_materialisation(folder: Path) -> None:
    """Materialise and count with nothing done before."""
    reasoner, workload = _prepare(import_module("modulog").Reasoner, read(folder))
    reasoner.materialise()
    for predicate in workload.counted:
        reasoner.count(predicate)


def _prepare(reasoner_class: Any, workload: Workload, decompose: str = "auto") -> tuple[Any, Workload]:
    reasoner = reasoner_class(
        workload.rules, switches=import_module("modulog").Switches(modules="off", decompose=decompose)
    )
    for predicate, rows in workload.facts.items():
        reasoner.add(predicate, rows)
    return reasoner, workload


if __name__ == "__main__":
    first_materialisation(Path(sys.argv[1]))
