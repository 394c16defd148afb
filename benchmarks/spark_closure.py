"""DAG-R's closure on Spark: by one task, and by executors, from the broadcast graph and by joins, which the time limit may cut off."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.table import Table

from benchmarks.closures import TRANSITIVE
from benchmarks.data import dag
from benchmarks.harness import Experiment, Results, Run, Settings
from benchmarks.report import counts_agree
from benchmarks.workload import Workload

EXECUTORS = "Modulog, Spark"
JOINS = "Modulog, Spark, joins"
SIDES: Sequence[tuple[str, dict[str, Any]]] = (
    (EXECUTORS, {}),
    ("Modulog, Spark, one task", {"workers": 1}),
    (JOINS, {"modules": "off"}),
    ("Modulog", {"engine": "local", "storage": "auto"}),
)
TIMES = 20
"""How many times faster than joins the closure must be."""


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield DAGs of 1,000 to 10,000 nodes with ten edges a node."""
    warm = str(_workload(1_000).write(settings.data / "spark-closure-warm"))
    few = str(_workload(50).write(settings.data / "spark-closure-few"))
    for scale in settings.scales:
        nodes = 1_000 * scale
        workload = _workload(nodes)
        folder = str(workload.write(settings.data / f"spark-closure-{nodes}"))
        runs = tuple(
            Run(
                system,
                2,
                "benchmarks.systems.modulog_spark:closure",
                # Joins would spend the time limit on what is to warm them up.
                {"folder": folder, "warm": few if system == JOINS else warm, **options},
                repeated=False,
            )
            for system, options in SIDES
        )
        yield Experiment("closure, DAG-R", f"{nodes:,} nodes", len(workload), runs, named=scale == 10)


def tables(measured: Sequence[tuple[Experiment, Results]]) -> Iterator[Table]:
    """Yield one table: seconds to materialise and count, and how many times those of executors they are."""
    table = Table(title="spark_closure", title_justify="left", header_style="bold")
    for name in ("size", "edges", "pairs", "system", "seconds", "times executors", "target"):
        table.add_column(name, justify="left" if name in ("size", "system", "target") else "right")
    for experiment, results in measured:
        agreed = counts_agree(experiment, results)
        ours = next((o.seconds for run, o in results if run.system == EXECUTORS and o.problem is None), 0.0)
        for run, outcome in results:
            pairs = f"{outcome.counts.get('path', 0):,}" if outcome.problem is None else ""
            shown, times = (f"{outcome.seconds:.2f}", outcome.seconds / ours if ours else 0.0)
            at_least = ""
            if outcome.problem is not None:
                limit = outcome.problem.removeprefix("over ").removesuffix(" s")
                cut_off = limit.replace(".", "", 1).isdigit()
                shown, at_least = outcome.problem, "at least " if cut_off else ""
                times = float(limit) / ours if cut_off and ours else 0.0
            elif not agreed:
                shown, times = "counts differ", 0.0
            target = f"{TIMES}: {'met' if times >= TIMES else 'not shown'}" if run.system == JOINS else ""
            ratio = f"{at_least}{times:.1f}" if times else ""
            table.add_row(experiment.size, f"{experiment.facts:,}", pairs, run.system, shown, ratio, target)
        table.add_section()
    yield table


def _workload(nodes: int) -> Workload:
    return Workload(TRANSITIVE, {"edge": dag(nodes, 10 * nodes)}, ("path",))
