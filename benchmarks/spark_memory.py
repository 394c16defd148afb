"""What driver, executor and Python workers hold at 1, 3 and 10 million facts."""

from collections.abc import Iterator

from benchmarks.data import rule_shapes
from benchmarks.harness import Experiment, Run, Settings
from benchmarks.workload import Workload

BASE = 1_000_000


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield ten rules of five shapes on 1 to 10 million facts, on an executor that is a process of its own."""
    for scale in settings.scales:
        facts = BASE * scale
        text, relations = rule_shapes(10, facts, "skewed")
        heads = tuple(line.partition("(")[0] for line in text.splitlines())
        workload = Workload(text, relations, heads)
        folder = str(workload.write(settings.data / f"memory-{facts}"))
        yield Experiment(
            question="memory, ten rules",
            size=f"{facts:,} facts",
            facts=len(workload),
            runs=(
                Run("Modulog, Spark", 2, "benchmarks.systems.modulog_spark:memory", {"folder": folder}),
                Run(
                    "Modulog",
                    2,
                    "benchmarks.systems.modulog_api:materialise",
                    {"folder": folder, "warm": folder},
                ),
            ),
            named=scale == 10,
        )
