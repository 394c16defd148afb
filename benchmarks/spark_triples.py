"""N-Triples to encoded facts in Parquet, on Spark; beside it the same triples as CSV in one process."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.data import triples
from benchmarks.harness import Experiment, Run, Settings, Target

BASE = 100_000
PER_SECOND = 100_000


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield files of 100,000 to 1,000,000 triples."""
    warm = {form: str(_file(settings.data, 10_000, form)) for form in ("nt", "csv")}
    for scale in settings.scales:
        count = BASE * scale
        path = {form: str(_file(settings.data, count, form)) for form in ("nt", "csv")}
        spark = "benchmarks.systems.modulog_spark:load_triples"
        local = {"path": path["csv"], "warm": warm["csv"], "materialised": True}
        yield Experiment(
            question="N-Triples to encoded facts",
            size=f"{count:,} triples",
            facts=count,
            runs=(
                Run("Modulog, Spark, cold", 2, spark, {"path": path["nt"], "warm": None}),
                Run("Modulog, Spark", 2, spark, {"path": path["nt"], "warm": warm["nt"]}),
                Run("Modulog, as CSV", 2, "benchmarks.systems.modulog_api:load", local),
            ),
            named=scale == 10,
            targets=(Target(count / PER_SECOND, system="Modulog, Spark"),),
        )


def _file(folder: Path, count: int, form: str) -> Path:
    path = folder / f"triples-{count}" / f"triple.{form}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        triples(unfinished, count, form)
        unfinished.rename(path)
    return path
