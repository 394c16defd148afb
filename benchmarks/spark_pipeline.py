"""A pipeline end to end: as one task of Spark, over executors, and with the local engine without Spark.

LUBM's triples, ontology and four results go to a store and Parquet, then a change of 0.1% comes from add and delete
sources. Beside it a reasoner alone materialises the triples before and after the change; all counts must be the same.
At the smallest size everything that follows is written to the sink, too. 101.8 million triples, some 25 GB of files,
are measured only if `--only 101,800,000` asks for them. The example `data-lineage` is run as people run it.
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
LARGE: Final = 101_800_000
UNIVERSITY: Final = 100_000
"""About so many triples has a university, or more."""

REPORTS: Final = Path(__file__).resolve().parent / "results" / "reports"
"""Where the log and the report of each run are kept."""

CHANGED: Final = 1_000
"""One triple in so many is deleted or added."""


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield the example, and 1 to 10 million triples, a hundredth with --small.

    The largest is also measured on one core, the smallest also in other ways.
    """
    sides = (("Modulog, Spark", "spark"), ("Modulog, pipeline", "local"))
    example = [Run(name, 2, f"{API}:example", {"engine": engine}, repeated=False) for name, engine in sides]
    yield Experiment("example data-lineage", "one size", 303, tuple(example), named=True)
    ontology = ontology_file("lubm")
    if ontology is None:
        yield Experiment("pipeline: LUBM", "no ontology: set MODULOG_DATA", 0, ())
        return
    base = BASE // 100 if settings.small else BASE
    for scale in settings.scales:
        folder = _triples(settings.data, base * scale)
        given = {"folder": str(folder), "ontology": str(ontology), "reports": str(REPORTS)}
        cores = (1, 2) if scale == max(settings.scales) else (2,)
        task, all_of_it = {"workers": 1}, {"workers": 1, "sink": "everything"}
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
    if f"{LARGE:,}" in settings.only:
        yield _large(settings.data, str(ontology))


def _large(data: Path, ontology: str) -> Experiment:
    """A size that is not measured unless it is named: to a store alone, and to sinks."""
    given = {"folder": str(_triples(data, LARGE)), "ontology": ontology, "reports": str(REPORTS)}
    sides = (("Modulog, pipeline", {"engine": "local"}), ("Modulog, Spark, one task", {"workers": 1}))
    runs = [
        Run(name + kind, 2, f"{API}:run", given | options | {"sink": sink}, repeated=False)
        for kind, sink in ((", store only", "nothing"), ("", "results"))
        for name, options in sides
    ]
    return Experiment("pipeline: LUBM", f"{LARGE:,} triples", LARGE, tuple(runs))


def _triples(data: Path, count: int) -> Path:
    """A folder with the triples before a change, those that are deleted, and those that are added."""
    folder = data / f"pipeline-{count}"
    if (folder / "whole").exists():
        return folder
    for name in ("before", "delete", "add"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    source, half = folder / "before" / "facts.nt", count // CHANGED // 2
    lubm(source, 1 + count // UNIVERSITY)
    deleted = set(np.random.default_rng(1).choice(count, half, replace=False).tolist())
    with (
        source.open("r+b") as lines,
        (folder / "delete" / "facts.nt").open("wb") as delete,
        (folder / "add" / "facts.nt").open("wb") as add,
    ):
        delete.writelines(line for number, line in enumerate(islice(lines, count)) if number in deleted)
        end = lines.tell()
        add.writelines(islice(lines, half))
        lines.truncate(end)
    (folder / "whole").touch()
    return folder
