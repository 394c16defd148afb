"""Modulog on Spark: local mode on the cores of the process, rules by SQL over executors (``workers=2``) unless asked."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import Any

from benchmarks.outcome import Outcome, peak_memory, versions
from benchmarks.workload import read

SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "4g",
}
CLUSTER = {
    "spark.master": "local-cluster[1,2,4096]",
    "spark.executor.memory": "3g",
    "spark.driver.memory": "2g",
}
SEMINAIVE = {"workers": 2, "modules": "off"}
PAUSE = 0.25  # seconds between two looks at the memory of all processes


def materialise(folder: str, warm: str, **options: Any) -> Outcome:
    """Materialise the workload in ``folder`` after that in ``warm``, from its CSV files; without options by rules alone, on executors alone."""
    with watched() as peaks, _session() as session:
        given = {"spark": session, **(options or SEMINAIVE)}
        _materialise(Path(warm), given).close()
        start = perf_counter()
        reasoner = _materialise(Path(folder), given)
        whole = perf_counter() - start
        statistics = reasoner.materialise()
        counts = {predicate: int(reasoner.count(predicate)) for predicate in read(Path(folder)).counted}
        rounds = [[r.facts, round(r.seconds, 2), r.actions] for s in statistics.strata for r in s.rounds]
        late = [round(statistics.late.seconds, 2), statistics.late.actions]
        notes = {"actions": statistics.actions(), "rounds": rounds, "late": late}
    seconds, peak = statistics.seconds, sum(peaks.values())
    return Outcome(seconds, whole - seconds, counts, peak, versions("modulog", "pyspark"), notes=notes)


def whole(rules: str, facts: str, warm: str, counted: list[str], engine: str) -> Outcome:
    """From files to counts, after the same work on a smaller source: by one task of Spark, or locally. Rules that are an ontology are translated first."""
    modulog = import_module("modulog")
    program = str(modulog.rules_of(rules)) if rules.endswith(".owl") else Path(rules)
    with _session() if engine == "spark" else nullcontext() as session:
        given = {"spark": session, "workers": 1} if engine == "spark" else {"engine": "local"}
        for source in (warm, facts):
            start = perf_counter()
            with modulog.Reasoner(program, **given) as reasoner:
                reasoner.load(source)
                found = reasoner.materialise().facts
                counts = {predicate: int(reasoner.count(predicate)) for predicate in counted}
                seconds = perf_counter() - start
    return Outcome(seconds, 0.0, {**counts, "facts": found}, 0, versions("modulog"))


def closure(folder: str, warm: str, engine: str = "spark", **options: Any) -> Outcome:
    """Materialise a closure after a smaller one and count it."""
    if engine == "local":
        return _closure(Path(folder), Path(warm), options)
    with _session() as session:
        return _closure(Path(folder), Path(warm), {"workers": 2, **options, "spark": session})


def _closure(folder: Path, warm: Path, options: dict[str, Any]) -> Outcome:
    switches = {name: options.pop(name) for name in ("modules", "storage") if name in options}
    options |= {"switches": import_module("modulog").Switches(**switches)}
    for source in (warm, folder):
        workload = read(source)
        reasoner = import_module("modulog").Reasoner(workload.rules, **options)
        reasoner.load(source / "facts")
        (predicate,) = workload.counted
        start = perf_counter()
        statistics = reasoner.materialise()
        count = int(reasoner.count(predicate))
        seconds = perf_counter() - start
    notes = {"actions": statistics.actions(), "storage": str(reasoner.plan()).splitlines()[2:3]}
    return Outcome(seconds, 0.0, {predicate: count}, 0, versions("modulog", "pyspark"), notes=notes)


def load_triples(path: str, warm: str | None) -> Outcome:
    """Read a file of N-Triples into encoded facts by predicate; cold if nothing was loaded before."""
    with _session() as session:
        for source in (warm, path):
            if source is None:
                continue
            reasoner = import_module("modulog").Reasoner("", spark=session, workers=2)
            start = perf_counter()
            reasoner.load(source)
            facts = reasoner.materialise().explicit
            seconds = perf_counter() - start
            reasoner.close()
        notes = {"a second": f"{facts / seconds:,.0f}"}
        return Outcome(seconds, 0.0, {"rows": facts}, 0, versions("modulog", "pyspark"), notes=notes)


def memory(folder: str) -> Outcome:
    """Materialise on one executor of its own; the peaks of driver, executor and Python workers apart."""
    with _session(CLUSTER) as session, watched() as peaks:
        start = perf_counter()
        reasoner = _materialise(Path(folder), {"spark": session, **SEMINAIVE})
        seconds = perf_counter() - start
        counts = {predicate: int(reasoner.count(predicate)) for predicate in read(Path(folder)).counted}
        jvm = session.sparkContext._jvm
        jvm.System.gc()
        heap = jvm.java.lang.management.ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed()
    notes = {f"{name}, MB": round(peak / 1e6) for name, peak in sorted(peaks.items())}
    notes |= {"driver JVM in use after a collection, MB": round(heap / 1e6)}
    return Outcome(seconds, 0.0, counts, sum(peaks.values()), versions("modulog", "pyspark"), notes=notes)


@contextmanager
def _session(settings: dict[str, str] | None = None) -> Iterator[Any]:
    import_module("pyspark")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    build = import_module("modulog.spark.session").build_session
    session = build({"spark.master": f"local[{cores}]", **SETTINGS, **(settings or {})})
    try:
        yield session
    finally:
        session.stop()


def _materialise(folder: Path, options: dict[str, Any]) -> Any:
    rules = (folder / "rules.rls").read_text(encoding="utf-8")
    reasoner = import_module("modulog").Reasoner(rules, **options)
    reasoner.load(folder / "facts")
    reasoner.materialise()
    return reasoner


@contextmanager
def watched() -> Iterator[dict[str, int]]:
    """The largest resident sizes of this process, of the JVMs and of all Python workers together, while it lasts."""
    psutil = import_module("psutil")
    peaks: dict[str, int] = {}
    done = Event()

    def watch() -> None:
        while not done.wait(PAUSE):
            sizes = {"workers": 0}
            for process in psutil.Process().children(recursive=True):
                try:
                    kind, size = _kind(process.cmdline()), process.memory_info().rss
                except psutil.Error:
                    continue
                sizes[kind] = sizes.get(kind, 0) + size
            for kind, size in sizes.items():
                peaks[kind] = max(peaks.get(kind, 0), size)

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peaks
    finally:
        done.set()
        thread.join()
        peaks["driver Python"] = peak_memory()


def _kind(command: list[str]) -> str:
    text = " ".join(command)
    if "CoarseGrainedExecutorBackend" in text:
        return "executor JVM"
    return "workers" if "pyspark.daemon" in text or "pyspark.worker" in text else "driver JVM"
