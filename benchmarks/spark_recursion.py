"""Joins and same generation on Spark, with the local engine beside them, at three sizes."""

from collections.abc import Iterator

from benchmarks import joins, same_generation
from benchmarks.harness import Experiment, Settings
from benchmarks.systems import runs
from benchmarks.workload import Workload


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield the chain and the projection of `joins` and the wide tree of `same_generation`, a tenth of the largest size at first."""
    for kind in ("chain", "projection"):
        warm = joins.workload(kind, 30_000)
        for scale in settings.scales:
            facts = joins.BASE * scale
            yield _experiment(
                settings, f"join, {kind}", f"{facts:,} facts", joins.workload(kind, facts), warm, scale
            )
    warm = same_generation.workload("wide", 100)
    for scale in settings.scales:
        nodes = same_generation.BASE["wide"] * scale
        workload = same_generation.workload("wide", nodes)
        yield _experiment(settings, "same generation, wide tree", f"{nodes:,} nodes", workload, warm, scale)


def _experiment(
    settings: Settings, question: str, size: str, workload: Workload, warm: Workload, scale: int
) -> Experiment:
    folders = [
        w.write(settings.data / f"spark {question} {len(w)}".replace(", ", "-").replace(" ", "-"))
        for w in (workload, warm)
    ]
    return Experiment(question, size, len(workload), runs.spark(*folders), named=scale == 10)
