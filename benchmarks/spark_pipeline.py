"""A pipeline end to end, on Spark, as one task and over executors, and with the local engine: LUBM's triples, ontology and four results to a store and Parquet, then a change of 0.1% from add and delete sources.

Beside it a reasoner alone materialises the triples before and after the change; all counts must be the same. At the smallest size everything that follows is
written to the sink, too.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.data import lubm
from benchmarks.data.ontologies import ontology_file
from benchmarks.harness import Experiment, Run, Settings

API: Final = "benchmarks.systems.pipeline_api"
BASE: Final = 1_000_000
UNIVERSITY: Final = 100_000
"""About so many triples has a university, or more."""

REPORTS: Final = Path(__file__).resolve().parent / "results" / "reports"
"""Where the log and the report of each run are kept."""

CHANGED: Final = 1_000
"""One triple in so many is deleted or added."""


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield 1 to 10 million triples, a hundredth with --small; the largest also on one core, the smallest also in other ways."""
    ontology = ontology_file("lubm")
    if ontology is None:
        yield Experiment("pipeline: LUBM", "no ontology: set MODULOG_DATA", 0, ())
        return
    base = BASE // 100 if settings.small else BASE
    for scale in settings.scales:
        folder = _triples(settings.data, base * scale)
        given = {"folder": str(folder), "ontology": str(ontology), "reports": str(REPORTS)}
        cores = (1, 2) if scale == max(settings.scales) else (2,)
        task, all_of_it = {"workers": 1}, {"workers": 1, "everything": True}
        kinds = [("one task", n, task) for n in cores] + [("executors", n, {"workers": 2}) for n in cores]
        kinds += [("one task, all to the sink", 2, all_of_it)] if scale == 1 else []
        pipelines = [
            Run(f"Modulog, Spark, {name}", n, f"{API}:run", given | options, repeated=False)
            for name, n, options in kinds
        ]
        pipelines += [
            Run("Modulog, pipeline", n, f"{API}:run", given | {"engine": "local"}, repeated=False)
            for n in cores
        ]
        local = {name: value for name, value in given.items() if name != "reports"}
        yield Experiment(
            question="pipeline: LUBM",
            size=f"{base * scale:,} triples",
            facts=base * scale,
            runs=(*pipelines, Run("Modulog", 2, f"{API}:local", local, repeated=False)),
            named=scale == 10,
        )


def _triples(data: Path, count: int) -> Path:
    """A folder with the triples before a change, those that are deleted, and those that are added."""
    folder = data / f"pipeline-{count}"
    if (folder / "whole").exists():
        return folder
    for name in ("before", "delete", "add"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    source = folder / "lubm.nt"
    lubm(source, 1 + count // UNIVERSITY)
    half = count // CHANGED // 2
    deleted = set(np.random.default_rng(1).choice(count, half, replace=False).tolist())
    with (
        source.open(encoding="utf-8") as lines,
        (folder / "before" / "facts.nt").open("w", encoding="utf-8") as before,
        (folder / "delete" / "facts.nt").open("w", encoding="utf-8") as delete,
        (folder / "add" / "facts.nt").open("w", encoding="utf-8") as add,
    ):
        for number, line in enumerate(islice(lines, count)):
            before.write(line)
            if number in deleted:
                delete.write(line)
        add.writelines(islice(lines, half))
    source.unlink()
    (folder / "whole").touch()
    return folder
