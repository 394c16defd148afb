"""A pipeline on either engine: a full run, then a run with add and delete sources; and the same states by a reasoner alone."""

import json
import os
import subprocess
import sys
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from shutil import copyfile, copytree
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Literal

from benchmarks.outcome import Outcome, peak_memory, versions
from benchmarks.systems.modulog_spark import SETTINGS, watched

Given = Literal["results", "everything", "nothing"]

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "data-lineage"

RESULTS = """
@prefix ub: <http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#> .
advised(?student, ?teacher, ?course) :-
    ub:advisor(?student, ?teacher), ub:teacherOf(?teacher, ?course), ub:takesCourse(?student, ?course) .
stayed(?person, ?university) :-
    ub:undergraduateDegreeFrom(?person, ?university), ub:memberOf(?person, ?part), ub:subOrganizationOf(?part, ?university) .
works(?person, ?whole) :- ub:worksFor(?person, ?part), ub:subOrganizationOf(?part, ?whole) .
untutored(?student) :- ub:Student(?student), ~ub:advisor(?student, _) .
"""
"""What somebody wants to know of universities."""

PREDICATES = ("advised", "stayed", "works", "untutored")


def run(
    folder: str, ontology: str, reports: str, engine: str = "spark", sink: Given = "results", **limits: int
) -> Outcome:
    """A full run, then an incremental one, each in a process of its own.

    The seconds are those of the full run, with starting Spark if it is there. The sink is given the results, or
    everything that follows from the triples, or there is none.
    """
    given, counts, notes = Path(folder), dict[str, int](), dict[str, Any]()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    seconds, peaks = dict[str, float](), dict[str, int]()
    with TemporaryDirectory() as temporary:
        home = Path(temporary)
        _prepare(ontology, home)
        for state in ("full", "change"):
            if state == "change":
                for role in ("add", "delete"):
                    copytree(given / role, home / role, dirs_exist_ok=True)
            with get_context("spawn").Pool(1) as pool:
                done = pool.apply(_run, (given, home, engine, cores, sink, limits))
            seconds[state], counts[state], notes[state] = done["seconds"], done["facts"], done["stages"]
            notes[f"{state}, MB"] = {name: round(peak / 1e6) for name, peak in sorted(done["peaks"].items())}
            peaks = {name: max(peak, peaks.get(name, 0)) for name, peak in done["peaks"].items()}
        kind = ["", "-local"][engine == "local"] + ("" if sink == "results" else f"-{sink}")
        kind += "".join(f"-{name}-{limit}" for name, limit in limits.items())
        copytree(home / "store" / "runs", Path(reports) / f"{given.name}-{cores}{kind}", dirs_exist_ok=True)
    notes["change, seconds"] = round(seconds["change"], 1)
    notes["full by change"] = round(seconds["full"] / seconds["change"], 1)
    used = ("modulog",) if engine == "local" else ("modulog", "pyspark")
    return Outcome(seconds["full"], 0.0, counts, sum(peaks.values()), versions(*used), notes=notes)


def _run(
    given: Path, home: Path, engine: str, cores: int, sink: Given, limits: dict[str, int]
) -> dict[str, Any]:
    """One run of the pipeline."""
    start = perf_counter()
    with watched() as peaks:
        done = _pipeline(given, home, engine, cores, sink, limits).run()
        stages = {name: round(time, 1) for name, time in done.seconds.items()}
        if "materialise" in stages and engine == "spark":
            stages["encode"] = _encoding(home / "store" / "runs")
        seconds = perf_counter() - start
    return {"seconds": seconds, "facts": done.facts, "stages": stages, "peaks": peaks}


def _encoding(runs: Path) -> float:
    """Of materialising, the seconds for the ids of terms."""
    for line in next(runs.glob("*.jsonl")).read_text(encoding="utf-8").splitlines():
        for stratum in json.loads(line).get("strata", ()) if '"note"' in line else ():
            if stratum["predicates"] == ["explicit facts, encoded"]:
                return float(round(stratum["seconds"], 1))
    return 0.0


def _rules(ontology: str) -> str:
    return f"{RESULTS}{import_module('modulog').rules_of(ontology)}"


def _prepare(ontology: str, home: Path) -> None:
    (home / "rules.rls").write_text(_rules(ontology), encoding="utf-8")
    for role in ("add", "delete"):
        (home / role).mkdir()


def _pipeline(given: Path, home: Path, engine: str, cores: int, sink: Given, limits: dict[str, int]) -> Any:
    pipelines = import_module("modulog.pipeline")
    changes = [pipelines.Source(f"{home / role}/*.nt", role=role) for role in ("add", "delete")]
    wanted = PREDICATES if sink == "results" else None
    return pipelines.Pipeline(
        sources=[pipelines.Source(str(given / "before" / "facts.nt")), *changes],
        rules=[home / "rules.rls"],
        sinks=[] if sink == "nothing" else [pipelines.Sink(str(home / "results"), predicates=wanted)],
        store=home / "store",
        mode="incremental",
        engine=engine,
        spark={"spark.master": f"local[{cores}]", **SETTINGS} if engine == "spark" else None,
        **limits,
    )


def example(engine: str) -> Outcome:
    """The first and the incremental run of the example, each `modulog run` as a process; warm caches are those of a run before."""
    modulog, seconds = import_module("modulog"), dict[str, float]()
    with TemporaryDirectory() as temporary:
        command = [sys.executable, "-m", "modulog", "run", "pipeline.toml", "--engine", engine]
        for name in ("warm", "measured"):
            home = Path(temporary, name)
            copytree(EXAMPLE, home)
            for state in ("first", "incremental"):
                start = perf_counter()
                subprocess.run(command, cwd=home, check=True, stdout=subprocess.DEVNULL)
                seconds[state] = perf_counter() - start
                copyfile(home / "later" / "jobs.csv", home / "jobs.csv")
        with modulog.Reasoner.open(home / "output" / "store") as reasoner:
            counts = {"facts": int(reasoner.materialise().facts)}
    notes = {"incremental, seconds": round(seconds["incremental"], 1)}
    used = ("modulog",) if engine == "local" else ("modulog", "pyspark")
    return Outcome(seconds["first"], 0.0, counts, 0, versions(*used), notes=notes)


def local(folder: str, ontology: str) -> Outcome:
    """Materialise what there is before the change, then update; from files."""
    modulog = import_module("modulog")
    given = Path(folder)
    reasoner = modulog.Reasoner(_rules(ontology))
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
