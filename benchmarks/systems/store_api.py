"""Stores: writing one, opening it, and a query on a fresh process; DuckDB's database file beside it."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from shutil import copytree, rmtree
from tempfile import TemporaryDirectory
from time import perf_counter, time_ns

from benchmarks.outcome import Outcome, peak_memory, versions

RULES = "back(?y, ?x) :- pair(?x, ?y) ."
_DUCKDB = """
import duckdb, sys
database = duckdb.connect(sys.argv[1], read_only=True)
print(*database.execute("SELECT y FROM back WHERE x = ?", [sys.argv[2]]).fetchall())
"""


def make(path: Path, store: Path) -> None:
    """Write the store of a CSV file and one rule, and the DuckDB database of the same facts if DuckDB is there."""
    reasoner = import_module("modulog").Reasoner(RULES)
    reasoner.load(path)
    reasoner.save(store)
    try:
        duckdb = import_module("duckdb")
    except ModuleNotFoundError:
        return
    database = store.with_suffix(".duckdb")
    database.unlink(missing_ok=True)
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            f"CREATE TABLE pair AS SELECT column0 AS x, column1 AS y FROM read_csv('{path}', header=false, all_varchar=true)"
        )
        connection.execute("CREATE TABLE back AS SELECT DISTINCT y AS x, x AS y FROM pair ORDER BY x, y")


def save(path: str, warm: str) -> Outcome:
    """Write everything into a new store, after a small one like it; the facts are in memory and materialised."""
    reasoner_class = import_module("modulog").Reasoner
    with TemporaryDirectory(dir=Path(path).parent) as folder:
        for source in (warm, path):
            reasoner = reasoner_class(RULES)
            reasoner.load(source)
            reasoner.materialise()
            rmtree(f"{folder}/store", ignore_errors=True)
            start = perf_counter()
            reasoner.save(f"{folder}/store")
            done = perf_counter()
    counts = {"facts": reasoner.materialise().facts}
    return Outcome(done - start, 0.0, counts, peak_memory(), versions("modulog", "numpy", "pyarrow"))


def open_store(store: str, warm: str) -> Outcome:
    """Open a store, after a small one: until a query can be asked."""
    reasoner_class = import_module("modulog").Reasoner
    reasoner_class.open(warm)
    start = perf_counter()
    reasoner = reasoner_class.open(store)
    done = perf_counter()
    counts = {"facts": reasoner.materialise().facts}
    return Outcome(done - start, 0.0, counts, peak_memory(), versions("modulog", "numpy", "pyarrow"))


def update(store: str, warm: str, path: str, whole: bool = False) -> Outcome:
    """Delete 1,000 facts of a copy of a store, add 1,000, and write the change, or everything into a new store; the facts are in memory before."""
    reasoner_class = import_module("modulog").Reasoner
    with TemporaryDirectory(dir=Path(path).parent) as folder:
        for number, source in enumerate((warm, store)):
            copy = Path(folder, str(number))
            copytree(source, copy)
            reasoner = reasoner_class.open(copy)
            # The first update reads what it needs of the store; the second one is what is measured.
            for turn in range(2):
                gone = [tuple(row) for row in reasoner.rows("pair", limit=1000)]
                come = [(f"new {turn} {i}", f"new {turn} {i + 1}") for i in range(1000)]
                began = time_ns()
                start = perf_counter()
                change = reasoner.update(add={"pair": come}, delete={"pair": gone})
                updated = perf_counter()
                target = Path(folder, f"whole {number} {turn}") if whole else copy
                reasoner.save(target)
                done = perf_counter()
            written = sum(
                f.stat().st_size for f in target.rglob("*") if f.is_file() and f.stat().st_mtime_ns >= began
            )
            reasoner.close()
    counts = {"added": sum(change.added.values()), "deleted": sum(change.deleted.values())}
    notes = {"update": updated - start, "writing": done - updated, "bytes written": written}
    used = versions("modulog", "numpy", "pyarrow")
    return Outcome(done - start, 0.0, counts, peak_memory(), used, notes=notes)


def query(store: str, term: str) -> Outcome:
    """Time a process that opens a store and answers a query that names a term, from starting the interpreter to its end."""
    command = [sys.executable, "-m", "modulog", "query", store, f'back("{term}", ?y)', "--format", "csv"]
    seconds, lines = _timed(command)
    return Outcome(
        seconds, counts={"answers": len(lines) - 1}, versions=versions("modulog", "numpy", "pyarrow")
    )


def query_duckdb(store: str, term: str) -> Outcome:
    """Time a process that asks the same of DuckDB's file."""
    import_module("duckdb")
    database = str(Path(store).with_suffix(".duckdb"))
    seconds, lines = _timed([sys.executable, "-c", _DUCKDB, database, term])
    return Outcome(seconds, counts={"answers": len(lines[0].split("(")) - 1}, versions=versions("duckdb"))


def _timed(command: list[str]) -> tuple[float, list[str]]:
    start = perf_counter()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=300)
    return perf_counter() - start, done.stdout.splitlines()


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
