"""DuckDB in memory, on INTEGER columns c0, c1, …"""

from importlib import import_module
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.outcome import Outcome, peak_memory, resting_memory, versions
from benchmarks.workload import read


def materialise(folder: str, threads: int, form: str = "rules") -> Outcome:
    """Run the SQL ``form`` of the workload in ``folder``, which makes the counted tables."""
    duckdb, arrow = import_module("duckdb"), import_module("pyarrow")
    workload = read(Path(folder))
    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    start = perf_counter()
    for predicate, rows in workload.facts.items():
        columns = {f"c{i}": np.ascontiguousarray(rows[:, i], dtype=np.int32) for i in range(rows.shape[1])}
        connection.register("given", arrow.table(columns))
        connection.execute(f"CREATE TABLE {predicate} AS SELECT * FROM given")
        connection.unregister("given")
    loaded = perf_counter()
    for statement in workload.sql[form]:
        connection.execute(statement)
    done = perf_counter()
    peak, resting = peak_memory(), resting_memory()
    counts = {
        predicate: int(connection.execute(f"SELECT count(*) FROM {predicate}").fetchone()[0])
        for predicate in workload.counted
    }
    return Outcome(done - loaded, loaded - start, counts, peak, versions("duckdb"), resting=resting)


def load(path: str, threads: int) -> Outcome:
    """Load a CSV file with two string columns into a table, without encoding the strings."""
    connection = import_module("duckdb").connect()
    connection.execute(f"SET threads = {threads}")
    start = perf_counter()
    connection.execute(
        f"CREATE TABLE pair AS SELECT * FROM read_csv('{path}', header = false, "
        "columns = {'c0': 'VARCHAR', 'c1': 'VARCHAR'})"
    )
    done = perf_counter()
    peak, resting = peak_memory(), resting_memory()
    counts = {"rows": int(connection.execute("SELECT count(*) FROM pair").fetchone()[0])}
    return Outcome(done - start, 0.0, counts, peak, versions("duckdb"), resting=resting)
