"""Other systems on the papers' data: Nemo, clingo and DuckDB by rules, reasonable and owlrl by an ontology; and Modulog on Spark, as it is and by executors alone."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from benchmarks import ontology
from benchmarks.harness import Run
from benchmarks.harness import Settings as HarnessSettings
from benchmarks.outcome import Outcome
from benchmarks.papers.case import MB, Case, Settings, record
from benchmarks.papers.figures import PEAK, RESTING, SECONDS
from benchmarks.papers.journal import Record
from benchmarks.papers.modular import BENCHMARKS, WARM
from benchmarks.systems import runs

CLOSURE: Final = """\
CREATE TABLE path AS WITH RECURSIVE p(c0, c1) AS (
    SELECT c0, c1 FROM edge UNION SELECT p.c0, edge.c1 FROM p JOIN edge ON p.c1 = edge.c0
) SELECT * FROM p"""
"""SQL has only linear recursion of one table, so it can say DAG-R and nothing else of the papers."""

ONTOLOGY: Final = "LUBM, its ontology"


def cases(settings: Settings, size: int) -> Iterator[Case]:
    """Materialisation by every system: rules over arrays or CSV, then an ontology over triples."""
    for benchmark, make in BENCHMARKS.items():
        if not settings.wants("peers", benchmark):
            continue
        workload, warm = make(1_000 * size), make(WARM)
        if workload is None or warm is None:
            continue
        if benchmark == "DAG-R":
            workload = replace(workload, sql={"rules": (CLOSURE,)})
        folder = workload.write(settings.data / f"papers-peers-{benchmark}-{size}")
        small = warm.write(settings.data / f"papers-peers-{benchmark}-warm")
        peers = (
            _on_spark("Modulog, Spark", folder, small),
            _on_spark("Modulog, executors", folder, small, workers=2),
            *runs.nemo(folder),
            *runs.clingo(folder),
            *runs.duckdb(folder, threads=(1,))[: len(workload.sql)],
        )
        for run in (_listed(folder, small), *peers):
            yield _case(benchmark, len(workload), run)
    if settings.wants("peers", ONTOLOGY):
        asked = HarnessSettings((size,), settings.time_limit, 1, 0.0, settings.data)
        for experiment in ontology.experiments(asked):
            for run in experiment.runs:
                yield _case(ONTOLOGY, experiment.facts, run)


def _listed(folder: Path, warm: Path) -> Run:
    """Modulog with all facts listed, as the others list them."""
    given = {"folder": str(folder), "warm": str(warm), "modules": "auto", "from_facts": False}
    return Run("Modulog", 1, "benchmarks.systems.maintenance_api:materialise", given)


def _on_spark(system: str, folder: Path, warm: Path, **limits: int) -> Run:
    given = {"folder": str(folder), "warm": str(warm), "storage": "plain", **limits}
    return Run(system, 1, "benchmarks.systems.modulog_spark:materialise", given)


def _case(benchmark: str, facts: int, run: Run) -> Case:
    def records(outcome: Outcome) -> list[Record]:
        metrics = {SECONDS: outcome.seconds, PEAK: outcome.peak / MB, RESTING: outcome.resting / MB}
        metrics = {} if outcome.problem else {name: value for name, value in metrics.items() if value}
        task, system = "materialisation", run.system
        found = record(
            "peers", benchmark, task, system, facts, outcome, metrics=metrics, problem=outcome.problem,
            system=system, threads=run.threads,
        )  # fmt: skip
        return [found]

    return Case("peers", benchmark, run.system, facts, replace(run, repeated=False), records)
