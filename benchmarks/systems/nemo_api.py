"""Nemo through its Python package; facts come from CSV files, results leave the same way to be counted."""

import json
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from benchmarks.outcome import Outcome, peak_memory, resting_memory, versions
from benchmarks.workload import PREFIX, prefixed


def materialise(folder: str) -> Outcome:
    """Reason over the workload in ``folder``.

    Nemo reads files while it reasons, so loading is measured by a program that only copies what it imports,
    and the seconds are those of the whole less those of loading.
    """
    nemo = import_module("nmo_python")
    files = sorted((Path(folder) / "facts").glob("*.csv"))
    imports = "\n".join(_import(path) for path in files)
    copies = "\n".join(
        f"copy_{path.stem}({_row(path)}) :- {PREFIX}{path.stem}({_row(path)}) ." for path in files
    )
    exported = [f"copy_{path.stem}" for path in files]
    load_seconds, _ = _reason(nemo, f"{imports}\n{copies}\n", exported)
    rules = prefixed((Path(folder) / "rules.rls").read_text(encoding="utf-8"))
    counted = json.loads((Path(folder) / "workload.json").read_text(encoding="utf-8"))["counted"]
    seconds, engine = _reason(nemo, f"{imports}\n{rules}\n", [PREFIX + name for name in counted])
    peak, resting = peak_memory(), resting_memory()
    counts = {name: _count(nemo, engine, PREFIX + name) for name in counted}
    return Outcome(
        seconds - load_seconds,
        load_seconds,
        counts,
        peak,
        versions("nemo-python"),
        derived=True,
        resting=resting,
    )


def load(path: str) -> Outcome:
    """Load a CSV file with two string columns."""
    nemo = import_module("nmo_python")
    source = f'csv{{resource="{path}", format=(string, string)}}'
    text = f"@import pair :- {source} .\nrows(?x, ?y) :- pair(?x, ?y) .\n"
    seconds, engine = _reason(nemo, text, ["rows"])
    peak, resting = peak_memory(), resting_memory()
    return Outcome(
        seconds, 0.0, {"rows": _count(nemo, engine, "rows")}, peak, versions("nemo-python"), resting=resting
    )


def _reason(nemo: Any, text: str, exported: list[str]) -> tuple[float, Any]:
    exports = "\n".join(f"@export {predicate} :- csv{{}} ." for predicate in exported)
    engine = nemo.NemoEngine(nemo.load_string(f"{text}{exports}\n"))
    start = perf_counter()
    engine.reason()
    return perf_counter() - start, engine


def _count(nemo: Any, engine: Any, predicate: str) -> int:
    with TemporaryDirectory() as folder:
        engine.write_result(predicate, nemo.NemoOutputManager(folder, overwrite=True))
        written = Path(folder) / f"{predicate}.csv"
        if not written.exists():
            return 0
        with written.open("rb") as lines:
            return sum(block.count(b"\n") for block in iter(lambda: lines.read(1 << 24), b""))


def _import(path: Path) -> str:
    types = ", ".join(["int"] * _arity(path))
    return f'@import {PREFIX}{path.stem} :- csv{{resource="{path.resolve()}", format=({types})}} .'


def _row(path: Path) -> str:
    return ", ".join(f"?v{i}" for i in range(_arity(path)))


def _arity(path: Path) -> int:
    with path.open(encoding="utf-8") as lines:
        return lines.readline().count(",") + 1
