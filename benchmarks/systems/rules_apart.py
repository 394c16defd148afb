"""Every rule of a workload on its own, with what it copies: the seconds of each, so that none hides behind another.

A rule may take half of the time that is left. One that is ended then counts with that time, which makes the total a lower bound; the details say so.
"""

import gc
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from re import findall
from threading import Timer
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.outcome import Outcome, peak_memory, versions
from benchmarks.systems.maintenance_api import LISTED, Relations, TimeIsUp, ending_after, filled
from benchmarks.workload import Workload, read

Measured = tuple[float, int | None]
"""Seconds, and how many facts there are then; None if the limit ended it."""


def modulog(folder: str, warm: str, decompose: str, limit: float) -> Outcome:
    """Materialise each rule in a session of its own; all have so many seconds."""
    reasoner_class = import_module("modulog").Reasoner
    switches = {"modules": "off", "decompose": decompose, **LISTED}

    def measure(name: str, rules: str, facts: Relations, most: float) -> Measured:
        reasoner = filled(reasoner_class, rules, facts, switches)
        gc.collect()
        start = perf_counter()
        try:
            with ending_after(most):
                reasoner.materialise()
        except TimeIsUp:
            return most, None
        return perf_counter() - start, int(reasoner.count(name))

    for name, rules, facts in _parts(read(Path(warm))):
        measure(name, rules, facts, limit)
    return _outcome(read(Path(folder)), measure, limit, versions("modulog", "numpy", "numba"))


def duckdb(folder: str, threads: int, limit: float) -> Outcome:
    """Answer each rule by a query; a recursive one by rounds in which one of its atoms reads what is new."""
    connect = import_module("duckdb").connect

    def measure(name: str, rules: str, facts: Relations, most: float) -> Measured:
        connection = connect()
        connection.execute(f"SET threads = {threads}")
        _load(connection, facts)
        timer = Timer(most, connection.interrupt)
        timer.start()
        start = perf_counter()
        try:
            _rounds(connection, name, rules.splitlines())
        except import_module("duckdb").InterruptException:
            return most, None
        finally:
            timer.cancel()
        seconds = perf_counter() - start
        return seconds, int(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0])

    return _outcome(read(Path(folder)), measure, limit, versions("duckdb"))


def _outcome(
    workload: Workload,
    measure: Callable[[str, str, Relations, float], Measured],
    limit: float,
    made_by: Mapping[str, str],
) -> Outcome:
    found, end = dict[str, Measured](), perf_counter() + limit
    for name, rules, facts in _parts(workload):
        found[name] = measure(name, rules, facts, max((end - perf_counter()) / 2, 1.0))
    return Outcome(
        seconds=sum(seconds for seconds, _ in found.values()),
        counts={name: count for name, (_, count) in found.items() if count is not None},
        peak=peak_memory(),
        versions=made_by,
        details={
            "rules": {name: seconds for name, (seconds, _) in found.items()},
            "ended": [name for name, (_, count) in found.items() if count is None],
        },
    )


def _parts(workload: Workload) -> Iterator[tuple[str, str, Relations]]:
    """For each predicate its rules, and the facts they read."""
    rules: dict[str, list[str]] = {}
    for line in workload.rules.splitlines():
        rules.setdefault(line.partition("(")[0], []).append(line)
    for name, lines in rules.items():
        text = "\n".join(lines)
        yield name, text, {p: workload.facts[p] for p in dict.fromkeys(findall(r"e\d+", text))}


def _load(connection: Any, facts: Relations) -> None:
    for predicate, rows in facts.items():
        columns = {f"c{i}": np.ascontiguousarray(rows[:, i], dtype=np.int32) for i in range(rows.shape[1])}
        connection.register("given", import_module("pyarrow").table(columns))
        connection.execute(f"CREATE TABLE {predicate} AS SELECT * FROM given")
        connection.unregister("given")


def _rounds(connection: Any, name: str, rules: list[str]) -> None:
    """Make the table of a predicate whose last rule may be recursive; the others copy."""
    *copies, rule = rules
    if not copies:
        connection.execute(f"CREATE TABLE {name} AS {_select(rule, {})}")
        return
    (copy,) = copies
    connection.execute(f"CREATE TABLE {name} AS {_select(copy, {})}")
    connection.execute(f"CREATE TABLE new_{name} AS SELECT * FROM {name}")
    occurrences = [k for k, (predicate, _) in enumerate(_atoms(rule)[1:]) if predicate == name]
    while connection.execute(f"SELECT count(*) FROM new_{name}").fetchone()[0]:
        parts = " UNION ".join(_select(rule, {k: f"new_{name}"}) for k in occurrences)
        connection.execute(f"CREATE TABLE found AS ({parts}) EXCEPT SELECT * FROM {name}")
        connection.execute(f"INSERT INTO {name} SELECT * FROM found")
        connection.execute(f"DROP TABLE new_{name}")
        connection.execute(f"ALTER TABLE found RENAME TO new_{name}")


def _atoms(rule: str) -> list[tuple[str, list[str]]]:
    """Head and body: predicates with their variables."""
    return [
        (predicate, findall(r"\?(\w+)", terms)) for predicate, terms in findall(r"(\w+)\(([^)]*)\)", rule)
    ]


def _select(rule: str, instead: Mapping[int, str]) -> str:
    """The rule as a query; body atom k may read another table instead."""
    (_, head), *body = _atoms(rule)
    places: dict[str, list[str]] = {}
    for k, (_, variables) in enumerate(body):
        for i, variable in enumerate(variables):
            places.setdefault(variable, []).append(f"a{k}.c{i}")
    equal = [f"{first} = {other}" for first, *others in places.values() for other in others]
    columns = ", ".join(f"{places[variable][0]} AS c{i}" for i, variable in enumerate(head))
    tables = ", ".join(f"{instead.get(k, predicate)} a{k}" for k, (predicate, _) in enumerate(body))
    return f"SELECT DISTINCT {columns} FROM {tables}" + (f" WHERE {' AND '.join(equal)}" if equal else "")
