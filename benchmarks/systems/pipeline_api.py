"""A pipeline on Spark: a full run, then a run with add and delete sources; and the same states by the local engine."""

import os
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from benchmarks.outcome import Outcome, peak_memory, versions
from benchmarks.systems.modulog_spark import SETTINGS, watched


def run(folder: str, ontology: str, reports: str) -> Outcome:
    """A full run, then an incremental one in a session of its own; the seconds are those of the full run, with starting Spark."""
    given, counts, notes = Path(folder), dict[str, int](), dict[str, Any]()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory()))
        peaks = stack.enter_context(watched())
        pipeline = _pipeline(given, ontology, home, cores)
        seconds = {}
        for state in ("full", "change"):
            if state == "change":
                for role in ("add", "delete"):
                    copytree(given / role, home / role, dirs_exist_ok=True)
            start = perf_counter()
            done = pipeline.run()
            seconds[state] = perf_counter() - start
            counts[state] = done.facts
            notes[state] = {name: round(time, 1) for name, time in done.seconds.items()}
        kept = Path(reports) / f"{given.name}-{cores}"
        copytree(home / "store" / "runs", kept, dirs_exist_ok=True)
    notes["change, seconds"] = round(seconds["change"], 1)
    notes["full by change"] = round(seconds["full"] / seconds["change"], 1)
    notes |= {f"{name}, MB": round(peak / 1e6) for name, peak in sorted(peaks.items())}
    return Outcome(
        seconds["full"], 0.0, counts, sum(peaks.values()), versions("modulog", "pyspark"), notes=notes
    )


def _pipeline(given: Path, ontology: str, home: Path, cores: int) -> Any:
    pipelines = import_module("modulog.pipeline")
    rules = home / "rules.rls"
    rules.write_text(str(import_module("modulog").rules_of(ontology)), encoding="utf-8")
    for role in ("add", "delete"):
        (home / role).mkdir()
    changes = [pipelines.Source(f"{home / role}/*.nt", role=role) for role in ("add", "delete")]
    return pipelines.Pipeline(
        sources=[pipelines.Source(str(given / "before" / "facts.nt")), *changes],
        rules=[rules],
        sinks=[pipelines.Sink(str(home / "results"))],
        store=home / "store",
        mode="incremental",
        spark={"spark.master": f"local[{cores}]", **SETTINGS},
    )


def local(folder: str, ontology: str) -> Outcome:
    """Materialise what there is before the change, then update; from files."""
    modulog = import_module("modulog")
    given = Path(folder)
    reasoner = modulog.Reasoner(str(modulog.rules_of(ontology)))
    start = perf_counter()
    reasoner.load(given / "before" / "facts.nt")
    counts = {"full": int(reasoner.materialise().facts)}
    seconds = perf_counter() - start
    start = perf_counter()
    reasoner.update(
        add=reasoner.read(given / "add" / "facts.nt"), delete=reasoner.read(given / "delete" / "facts.nt")
    )
    notes = {"change, seconds": round(perf_counter() - start, 2)}
    counts["change"] = int(reasoner.materialise().facts)
    return Outcome(seconds, 0.0, counts, peak_memory(), versions("modulog"), notes=notes)
