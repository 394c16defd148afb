"""Loading a CSV of strings: Modulog's dictionary against PyArrow's reader and ``dictionary_encode``."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.data import words
from benchmarks.harness import Experiment, Run, Settings, Target
from benchmarks.systems.runs import THREADS

BASE = 1_000_000
ROWS_PER_STRING = 10


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield files of 1 to 10 million rows; a tenth as many strings are distinct."""
    warm = _file(settings.data, 1_000)
    for scale in settings.scales:
        rows = BASE * scale
        yield Experiment(
            question="loading a CSV of two string columns",
            size=f"{rows:,} rows",
            facts=rows,
            runs=_runs(str(_file(settings.data, rows)), str(warm)),
            named=scale == 10,
            targets=(Target(3.0, "PyArrow"),),
            expected={"rows": rows},
        )


def _runs(path: str, warm: str) -> tuple[Run, ...]:
    found = []
    for materialised, name in ((False, "Modulog"), (True, "Modulog, materialised")):
        arguments = {"path": path, "warm": warm, "materialised": materialised}
        found += [Run(name, n, "benchmarks.systems.modulog_api:load", arguments) for n in THREADS]
    for name, module in (("PyArrow", "pyarrow_csv"), ("DuckDB", "duckdb_sql")):
        found += [
            Run(name, n, f"benchmarks.systems.{module}:load", {"path": path, "threads": n}) for n in THREADS
        ]
    return (*found, Run("Nemo", 1, "benchmarks.systems.nemo_api:load", {"path": path}))


def _file(folder: Path, rows: int) -> Path:
    path = folder / f"words-{rows}" / "pair.csv"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        words(unfinished, rows, rows // ROWS_PER_STRING)
        unfinished.rename(path)
    return path
