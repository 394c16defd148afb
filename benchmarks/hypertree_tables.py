"""The tables of ``hypertree``: the paper's Table 2 with its figures beside ours, memory, and how peers do; and every rule on its own."""

from collections.abc import Iterator, Sequence
from statistics import mean
from typing import Final

from rich.table import Table

from benchmarks import report
from benchmarks.harness import Experiment, Results
from benchmarks.outcome import Outcome

APART: Final = "hypertree: labelled graph, rule by rule"
"""The question whose runs measure each rule."""
STEPS: Final = (
    "materialisation",
    "first deletion",
    "small deletions",
    "large deletion",
    "small insertions",
)
PUBLISHED: Final = {
    "LUBM, cyclic rules": (
        ("29,577.90", "", "0.92", "15,193.70", "0.97"),
        ("1,168.83", "", "4.00", "812.32", "1.04"),
        ("554.00", "", "1.06", "195.51", "0.73"),
    ),
    "LUBM, simple rules": (
        ("95.73", "", "0.03", "27.09", "0.02"),
        ("740.81", "", "3.70", "558.90", "0.45"),
        ("75.50", "", "0.04", "21.71", "0.06"),
    ),
    "Exp": (
        ("7,039.87", "", "37.60", "4,006.44", "40.23"),
        ("56.83", "", "0.47", "30.93", "0.57"),
        ("57.01", "", "0.45", "28.62", "0.53"),
    ),
    "labelled graph": (
        ("155,022.00", "", "20.06", "126,562.00", "20.42"),
        ("367.59", "", "0.18", "168.34", "0.17"),
        ("366.03", "", "0.20", "159.43", "0.17"),
    ),
}
"""What the paper's Table 2 says for standard, HD and combined, in the order of STEPS; of its 500 universities, its expressions and YAGO."""


def tables(measured: Sequence[tuple[Experiment, Results]]) -> Iterator[Table]:
    """Yield the seconds of every step and side, then for each size the seconds of every rule."""
    yield _steps([(experiment, results) for experiment, results in measured if experiment.question != APART])
    for experiment, results in measured:
        if experiment.question == APART:
            yield _rules(experiment, results)


def _steps(measured: Sequence[tuple[Experiment, Results]]) -> Table:
    table = Table(
        title="hypertree decompositions: seconds, small changes as the mean of ten",
        title_justify="left",
        caption=report.CAPTION,
        caption_justify="left",
    )
    names = ("benchmark", "side", "facts", "decomposed", *STEPS, "facts MB", "tables MB", "peak MB")
    for place, name in enumerate(names):
        table.add_column(name, justify="left" if place < 2 else "right", overflow="fold")
    last = ""
    for experiment, results in measured:
        name = experiment.question.partition(": ")[2]
        if last and name != last:
            _published(table, last)
        last = name
        agreed = _agree(results)
        for place, (run, outcome) in enumerate(results):
            head = f"{name}, {experiment.size}" if place == 0 else ""
            table.add_row(head, run.system, *_cells(outcome, agreed))
        if not results:
            table.add_row(name, experiment.size)
    _published(table, last)
    return table


def _rules(experiment: Experiment, results: Results) -> Table:
    """Seconds of each rule by each side, what its limit ended marked with >, and the ratio of what is chosen to the standard plan."""
    sides = {run.system: outcome.details for run, outcome in results if outcome.problem is None}
    ours, standard = sides.get("Modulog"), sides.get("Modulog, standard")
    table = Table(title=f"{experiment.question}, {experiment.size}: seconds", title_justify="left")
    table.add_column("rule")
    for side in sides:
        table.add_column(side, justify="right")
    table.add_column("of standard", justify="right")
    agreed = "" if _agree(results) else " [red]counts differ[/]"
    for rule in next(iter(sides.values()), {"rules": ()})["rules"]:
        cells = [
            f"{'>' if rule in found['ended'] else ''}{found['rules'][rule]:.3g}" for found in sides.values()
        ]
        ratio = f"{ours['rules'][rule] / standard['rules'][rule]:.2f}" if ours and standard else ""
        table.add_row(rule, *cells, ratio)
    table.add_section()
    totals = {side: sum(found["rules"].values()) for side, found in sides.items()}
    marks = [f"{'>' if found['ended'] else ''}{totals[side]:.3g}" for side, found in sides.items()]
    ratio = f"{totals['Modulog'] / totals['Modulog, standard']:.3f}" if ours and standard else ""
    table.add_row("in all" + agreed, *marks, ratio)
    return table


def _agree(results: Results) -> bool:
    """Whether all that finished counted the same where they counted the same things."""
    counts = [dict(outcome.counts) for _, outcome in results if outcome.problem is None]
    return all(a[key] == b[key] for a in counts for b in counts for key in a.keys() & b.keys())


def _published(table: Table, name: str) -> None:
    for side, figures in zip(("standard", "HD", "combined"), PUBLISHED.get(name, ()), strict=False):
        table.add_row("", f"paper: {side}", "", "", *figures, style="dim")
    table.add_section()


def _cells(outcome: Outcome, agreed: bool) -> list[str]:
    """Facts, decomposed rules, the seconds of each step and memory; or why there are none."""
    if outcome.problem is not None or not agreed:
        return ["", "", outcome.problem or "[red]counts differ[/]"]
    mark, peak = "~" if outcome.disturbed else "", f"{outcome.peak / 1e6:,.0f}"
    seconds = outcome.details.get("seconds")
    if seconds is None:
        return ["", "", f"{mark}{outcome.seconds:.3g}", "", "", "", "", "", "", peak]
    columns = outcome.details["columns"]
    steps = [f"{mark}{mean(seconds[step]):.3g}" if seconds.get(step) else "" for step in STEPS]
    if outcome.unfinished:
        steps[next((i for i, text in enumerate(steps) if not text), -1)] = "not ended"
    memory = [f"{columns[name] / 1e6:,.1f}" if columns else "" for name in ("bytes", "node bytes")]
    return [f"{columns.get('I', 0):,}", f"{columns.get('decomposed', 0)}", *steps, *memory, peak]
