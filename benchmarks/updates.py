"""Small updates of a mixed program of 100 rules: 1,000 facts, single facts, and the same with ten times the data."""

from collections.abc import Iterator, Sequence

import numpy as np
from rich.table import Table

from benchmarks import report
from benchmarks.data.mixed import mixed, mixed_rules
from benchmarks.harness import Experiment, Results, Run, Settings
from benchmarks.outcome import Outcome
from benchmarks.workload import Workload

API = "benchmarks.systems.maintenance_api"
FACTS = 1_000_000
SAMPLE, SINGLES = 1_000, 1_000
LARGER = 1.5
"""How many times a target may be taken with ten times the data."""


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield a million facts and ten million; with --small, a tenth of that."""
    warm = Workload(mixed_rules(), mixed(5_000), ()).write(settings.data / "mixed-warm", csv=False)
    base = FACTS // 10 if settings.small else FACTS
    for facts in (base, 10 * base):
        workload = Workload(mixed_rules(), mixed(facts), ())
        folder = workload.write(settings.data / f"mixed-{facts}", csv=False)
        given = {
            "folder": str(folder),
            "warm": str(warm),
            "sample": SAMPLE,
            "limit": settings.time_limit * 0.8,
        }
        yield Experiment(
            question="mixed program, 100 rules",
            size=f"{facts:,} facts",
            facts=len(workload),
            runs=(
                Run("Modulog", 1, f"{API}:update_often", {**given, "singles": SINGLES}, repeated=False),
                Run(
                    "Modulog, from scratch",
                    1,
                    f"{API}:from_scratch",
                    {**given, "quarter": False, "singles": True},
                    repeated=False,
                ),
            ),
            named=True,
        )


def measures(outcome: Outcome) -> dict[str, tuple[float, float | None]]:
    """Return each measure in milliseconds with its target for the smaller size."""
    seconds: dict[str, list[float]] = outcome.details["seconds"]
    singles = [*seconds.get("one deleted", []), *seconds.get("one added", [])]
    found: dict[str, tuple[Sequence[float], float, float | None]] = {
        "materialisation": (seconds.get("materialisation", []), 50, None),
        "first deletion, of one fact": (seconds.get("first deletion", []), 50, None),
        f"{SAMPLE:,} facts deleted, median of ten": (seconds.get("small deletions", []), 50, 30.0),
        f"{SAMPLE:,} facts added, median of ten": (seconds.get("small insertions", []), 50, 30.0),
        f"{SAMPLE:,} facts deleted, slowest of ten": (seconds.get("small deletions", []), 100, None),
        f"{SAMPLE:,} facts added, slowest of ten": (seconds.get("small insertions", []), 100, None),
        f"one fact, median of {len(singles):,}": (singles, 50, 5.0),
        f"one fact, 99th percentile of {len(singles):,}": (singles, 99, 50.0),
    }
    return {
        what: (float(np.percentile(samples, share)) * 1e3, target)
        for what, (samples, share, target) in found.items()
        if samples
    }


def tables(measured: Sequence[tuple[Experiment, Results]]) -> Iterator[Table]:
    """Yield one table: every measure at both sizes, with targets, and how it grew."""
    table = Table(title="updates of a mixed program, ms", title_justify="left", caption=report.CAPTION)
    columns = ("facts", "results", "what", "ms", "target", "times the smaller", "peak MB")
    for name in columns:
        table.add_column(name, justify="left" if name in ("what", "target") else "right")
    smaller: dict[str, float] = {}
    for experiment, results in measured:
        problem = _problem(experiment, results)
        if problem:
            table.add_row(f"{experiment.facts:,}", "", f"[red]{problem}[/]")
            continue
        outcome = results[0][1]
        size = (f"{experiment.facts:,}", f"{outcome.counts.get('materialised', 0):,}")
        for what, (value, target) in measures(outcome).items():
            before = smaller.get(what)
            table.add_row(
                *size,
                what,
                ("~" if outcome.disturbed else "") + f"{value:,.2f}",
                _judged(value, target, 1.0 if before is None else LARGER),
                "" if before is None else f"{value / before:.2f}",
                f"{outcome.peak / 1e6:,.0f}" if size[0] else "",
            )
            smaller.setdefault(what, value)
            size = ("", "")
        if outcome.unfinished:
            table.add_row("", "", outcome.unfinished)
        table.add_section()
    yield table


def _problem(experiment: Experiment, results: Results) -> str | None:
    if not results:
        return "not measured"
    if not report.counts_agree(experiment, results):
        return "counts differ"
    return results[0][1].problem


def _judged(value: float, target: float | None, times: float) -> str:
    if target is None:
        return ""
    met = value <= target * times
    return f"[{'green' if met else 'red'}]{'met' if met else 'missed'}: at most {target * times:g} ms[/]"
