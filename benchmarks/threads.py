"""Two threads against one, beside what two independent runs at the same time reach, and small work, which must not become slower."""

from collections.abc import Iterator, Sequence

from rich.table import Table

from benchmarks import closure, joins, report, same_generation
from benchmarks.data import dag
from benchmarks.harness import Experiment, Results, Run, Settings
from benchmarks.workload import Workload

WORKERS = 2
SHARE = 0.8
"""Of what independent runs reach, at least so much."""

SLOWER = 1.03
"""Small work takes at most so many times as long."""

SMALL = "small work"
RUNNER = "benchmarks.systems.threads_api"


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield joins, a recursion with large rounds, a closure listed as pairs, then small work."""
    for scale in settings.scales:
        for question, (made, warm) in _workloads(scale).items():
            name = question.replace(" ", "-").replace(",", "")
            folder = made.write(settings.data / f"{name}-{scale}", csv=False)
            arguments = {
                "folder": str(folder),
                "warm": str(warm.write(settings.data / f"{name}-warm", csv=False)),
            }
            run = Run(
                "Modulog", WORKERS, f"{RUNNER}:large", {**arguments, "workers": WORKERS}, repeated=False
            )
            yield Experiment(question, f"{len(made):,} facts", len(made), (run,), named=scale == 10)
    run = Run("Modulog", WORKERS, f"{RUNNER}:small", {"workers": WORKERS}, repeated=False)
    yield Experiment(SMALL, "2,700 facts", 2_700, (run,), named=True)


def _workloads(scale: int) -> dict[str, tuple[Workload, Workload]]:
    """Each question at a scale, and the same at a size that compiles kernels."""
    listed = {n: Workload(closure.RULES, {"edge": dag(n, 10 * n)}, ("path",)) for n in (1_000 * scale, 100)}
    return {
        "triangle join": (joins.workload("triangle", 1_000_000 * scale), joins.workload("triangle", 30_000)),
        "chain of three": (joins.workload("chain", 1_000_000 * scale), joins.workload("chain", 30_000)),
        "same generation, wide": (
            same_generation.workload("wide", 1_800 * scale),
            same_generation.workload("wide", 100),
        ),
        "DAG-R listed": (listed[1_000 * scale], listed[100]),
    }


def tables(measured: Sequence[tuple[Experiment, Results]]) -> Iterator[Table]:
    """Yield a table of the large work and one of the small."""
    large = Table(title="two threads against one, seconds", title_justify="left", caption=report.CAPTION)
    for name in (
        "question",
        "facts",
        "results",
        "one",
        "two",
        "two runs at once",
        "times",
        "could be",
        "target",
    ):
        large.add_column(name, justify="left" if name in ("question", "target") else "right")
    small = Table(title="small work, ms", title_justify="left", caption=report.CAPTION)
    for name in ("what", "one thread", "two", "ratio", "target"):
        small.add_column(name, justify="left" if name in ("what", "target") else "right")
    for experiment, results in measured:
        for _, outcome in results:
            if outcome.problem is not None:
                large.add_row(experiment.question, "", f"[red]{outcome.problem}[/]")
            elif experiment.question == SMALL:
                for what, (one, two) in outcome.details.items():
                    small.add_row(
                        what,
                        f"{one:.3f}",
                        f"{two:.3f}",
                        f"{two / one:.2f}",
                        _judged(two <= SLOWER * one, f"≤ {SLOWER}"),
                    )
            else:
                large.add_row(experiment.question, *_row(experiment, outcome.counts, outcome.details))
    yield large
    yield small


def _row(experiment: Experiment, counts: dict[str, int], seconds: dict[str, float]) -> tuple[str, ...]:
    one, two, independent = seconds["one"], seconds["several"], seconds["independent"]
    reached, possible = one / two, WORKERS * one / independent
    return (
        f"{experiment.facts:,}",
        f"{sum(counts.values()):,}",
        f"{one:.3f}",
        f"{two:.3f}",
        f"{independent:.3f}",
        f"{reached:.2f}",
        f"{possible:.2f}",
        _judged(reached >= SHARE * possible, f"{reached / possible:.0%}, wanted ≥ {SHARE:.0%}"),
    )


def _judged(met: bool, text: str) -> str:
    return f"[green]{text}[/]" if met else f"[red]{text}[/]"
