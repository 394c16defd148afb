"""The runs that an experiment usually has: every system on the same workload folder."""

from collections.abc import Iterable
from pathlib import Path

from benchmarks.harness import Run

THREADS = (1, 2)


def modulog(
    folder: Path, warm: Path, threads: Iterable[int] = THREADS, decompose: str = "auto"
) -> tuple[Run, ...]:
    """Modulog on one core and on two; without decompositions (`decompose="off"`) it is called "Modulog, standard"."""
    name = "Modulog" if decompose == "auto" else "Modulog, standard"
    arguments = {"folder": str(folder), "warm": str(warm), "decompose": decompose}
    return tuple(Run(name, n, "benchmarks.systems.modulog_api:materialise", arguments) for n in threads)


def duckdb(folder: Path, form: str = "rules", threads: Iterable[int] = THREADS) -> tuple[Run, ...]:
    """DuckDB on one core and on two, with one SQL form of the question."""
    name = "DuckDB" if form == "rules" else f"DuckDB, {form}"
    return tuple(
        Run(
            name,
            n,
            "benchmarks.systems.duckdb_sql:materialise",
            {"folder": str(folder), "threads": n, "form": form},
        )
        for n in threads
    )


def nemo(folder: Path) -> tuple[Run, ...]:
    """Nemo, which uses one core."""
    return (Run("Nemo", 1, "benchmarks.systems.nemo_api:materialise", {"folder": str(folder)}),)


def clingo(folder: Path) -> tuple[Run, ...]:
    """clingo, which grounds on one core."""
    return (Run("clingo", 1, "benchmarks.systems.clingo_api:materialise", {"folder": str(folder)}),)


def spark(folder: Path, warm: Path) -> tuple[Run, ...]:
    """Modulog on Spark and, beside it, in one process; both have two cores."""
    arguments = {"folder": str(folder), "warm": str(warm)}
    ours = Run("Modulog, Spark", 2, "benchmarks.systems.modulog_spark:materialise", arguments)
    return (ours, *modulog(folder, warm, threads=(2,)))
