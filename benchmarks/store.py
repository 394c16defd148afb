"""Stores: how fast one is written and opened, and what a query on a fresh process costs."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data import words
from benchmarks.harness import Experiment, Run, Settings, Target
from benchmarks.systems.runs import THREADS

BASE = 500_000  # rows; one rule doubles the facts
ROWS_PER_STRING = 5
RATE = 50e6  # bytes a second that saving must reach
_RUNNER = "benchmarks.systems.store_api"


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield stores of 1 to 10 million facts over 0.1 to 1 million strings."""
    small_csv, small = _store(settings.data, 1_000)
    for scale in settings.scales:
        rows = BASE * scale
        path, store = _store(settings.data, rows)
        size = sum(file.stat().st_size for file in store.rglob("*.parquet"))
        common = {
            "size": f"{2 * rows:,} facts, {size / 1e6:.0f} MB",
            "facts": 2 * rows,
            "named": scale == 10,
        }
        yield Experiment(
            question="saving a store",
            runs=tuple(
                Run("Modulog", n, f"{_RUNNER}:save", {"path": str(path), "warm": str(small_csv)})
                for n in THREADS
            ),
            targets=(Target(size / RATE, note="50 MB/s"),),
            expected={"facts": 2 * rows},
            **common,
        )
        yield Experiment(
            question="opening a store",
            runs=(Run("Modulog", 1, f"{_RUNNER}:open_store", {"store": str(store), "warm": str(small)}),),
            targets=(Target(1.0),),
            expected={"facts": 2 * rows},
            **common,
        )
        changed = {"store": str(store), "warm": str(small), "path": str(path)}
        yield Experiment(
            question="1,000 facts of a store deleted and 1,000 added",
            runs=(
                Run("Modulog", 2, f"{_RUNNER}:update", changed, repeated=False),
                Run(
                    "Modulog, all written", 2, f"{_RUNNER}:update", {**changed, "whole": True}, repeated=False
                ),
            ),
            **common,
        )
        term = path.read_text(encoding="utf-8").partition("\n")[0].split(",")[1]
        asked = {"store": str(store), "term": term}
        yield Experiment(
            question="a query on a fresh process",
            runs=(
                Run("Modulog", 1, f"{_RUNNER}:query", asked),
                Run("DuckDB", 1, f"{_RUNNER}:query_duckdb", asked),
            ),
            **common,
        )


def _store(folder: Path, rows: int) -> tuple[Path, Path]:
    """A CSV file of pairs and the store of it, made in a process of its own."""
    path = folder / f"store-{rows}" / "pair.csv"
    store = path.parent / "store"
    if not (store / "modulog-store.json").exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        words(path, rows, rows // ROWS_PER_STRING)
        subprocess.run([sys.executable, "-m", _RUNNER, str(path), str(store)], check=True)
    return path, store
