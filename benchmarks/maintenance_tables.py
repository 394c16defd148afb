"""The tables of ``maintenance``: the papers' Tables 1 and 2 with their figures beside ours, growth, and cliques."""

from collections.abc import Iterator, Sequence
from statistics import mean
from typing import Any, Final

from rich.table import Table

from benchmarks import report
from benchmarks.harness import Experiment, Results
from benchmarks.outcome import Outcome

Measured = Sequence[tuple[Experiment, Results]]

SHAPE = ("E", "I", "S", "nr", "r", "TC", "STC")
STEPS = ("materialisation", "first deletion", "small deletions", "small insertions", "large deletion")

PUBLISHED: Final[dict[str, tuple[tuple[str, ...], tuple[tuple[str, ...], tuple[str, ...]]]]] = {
    "Claros-LE": (
        ("18.8 M", "533.3 M", "11", "1031", "306", "27", "2"),
        (("733.55", "", "0.93", "0.17", "314.33"), ("3593.32", "", "1035.28", "0.80", "3616.93")),
    ),
    "LUBM-LE": (
        ("133.6 M", "332.6 M", "5", "85", "22", "1", "2"),
        (("291.90", "", "0.32", "0.01", "182.93"), ("1100.22", "", "3.87", "0.01", "1369.77")),
    ),
    "SKOS": (
        ("5.0 M", "97.0 M", "5", "26", "15", "2", "1"),
        (("103.23", "", "21.77", "0.20", "111.28"), ("3623.37", "", "691.32", "2.78", "3826.87")),
    ),
    "DAG-R": (
        ("0.1 M", "22.9 M", "1", "1", "1", "1", "0"),
        (("29.60", "", "64.92", "14.56", "62.48"), ("3238.86", "", "3005.11", "116.78", "4316.71")),
    ),
}
"""What the paper's Tables 1 and 2 say, in the order of SHAPE and STEPS: with modules, and without."""


def tables(measured: Measured) -> Iterator[Table]:
    """Yield one table for each group of experiments that were measured."""
    groups: dict[str, list[tuple[Experiment, Results]]] = {}
    for experiment, results in measured:
        groups.setdefault(experiment.question.partition(":")[0], []).append((experiment, results))
    if "updates" in groups:
        yield _papers(groups["updates"])
    if "pairs" in groups:
        yield _general(groups["pairs"], "from facts to all pairs, against Nemo's linear form")
    if "growth" in groups:
        yield _growth(groups["growth"])
    if "cliques" in groups:
        yield _cliques(groups["cliques"])


def _papers(measured: Measured) -> Table:
    table = _new(
        "maintenance, as the papers' Tables 1 and 2: seconds, small changes as the mean of ten", "peak MB"
    )
    for experiment, results in measured:
        name = experiment.question.partition(": ")[2]
        agreed = report.counts_agree(experiment, results)
        if not results:
            table.add_row(name, experiment.size)
        for place, (run, outcome) in enumerate(results):
            side = {"Modulog": "Mat-Mod, ours", "Modulog, DRed^c": "Mat, DRed^c"}.get(
                run.system, "from scratch"
            )
            first = f"{name}, {experiment.size}" if place == 0 else ""
            table.add_row(first, side, *_cells(outcome, agreed), *_peak(outcome))
        if name in PUBLISHED:
            shape, sides = PUBLISHED[name]
            for side, figures in zip(
                ("paper: Mat-Mod, DRed^c-Mod", "paper: Mat, DRed^c"), sides, strict=True
            ):
                table.add_row("", side, *shape, *figures, "", style="dim")
        table.add_section()
    return table


def _new(title: str, *more: str) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold", caption_justify="left")
    table.caption = (
        "(n): a mean of n samples, then the time limit came. S: ours are the finest strata. " + report.CAPTION
    )
    heads = ("|E|", "|I|", "S", "Π_nr", "Π_r", "TC", "STC")
    steps = ("Mat", "first deletion", "small deletions", "small insertions", "large deletion")
    for place, name in enumerate(("benchmark", "side", *heads, *steps, *more)):
        table.add_column(name, justify="left" if place < 2 else "right", overflow="fold")
    return table


def _cells(outcome: Outcome, agreed: bool) -> list[str]:
    """The shape of the program and the seconds of each step, or why there are none."""
    if outcome.problem is not None or not agreed:
        return [""] * len(SHAPE) + [outcome.problem or "[red]counts differ[/]"]
    columns = outcome.details["columns"]
    shape = [f"{columns[name]:,}" if name in columns else "" for name in SHAPE]
    return shape + list(_steps(outcome))


def _steps(outcome: Outcome) -> Iterator[str]:
    seconds = _by_step(outcome.details["seconds"])
    ended = outcome.unfinished is None
    missing = False
    for step in STEPS:
        samples = seconds.get(step, [])
        wanted = 10 if step.startswith("small") else 1
        if samples:
            yield _shown(outcome, mean(samples)) + (
                "" if ended or len(samples) == wanted else f" ({len(samples)})"
            )
        else:
            yield "" if ended or missing else "not ended"
            missing = True


def _by_step(seconds: dict[str, list[float]]) -> dict[str, list[float]]:
    """The steps; of a computation from scratch, the states that they lead to."""
    if "materialised" not in seconds:
        return seconds
    deleted = [times[0] for state, times in seconds.items() if state.startswith("sample")]
    found = {"materialisation": seconds["materialised"], "small deletions": deleted}
    return {**found, "large deletion": seconds.get("a quarter deleted", [])}


def _shown(outcome: Outcome, seconds: float) -> str:
    return ("~" if outcome.disturbed else "") + (f"{seconds:.2f}" if seconds >= 1 else f"{seconds:.2g}")


def _peak(outcome: Outcome) -> list[str]:
    return [f"{outcome.peak / 1e6:,.0f}"] if outcome.peak else []


def _general(measured: Measured, title: str) -> Table:
    table = report.new_table(title)
    for experiment, results in measured:
        report.add_rows(table, experiment, results)
    return table


def _growth(measured: Measured) -> Table:
    """For each graph and side, how the time grows from size to size by how the answer grows."""
    table = Table(title="Examples 1 and 2: how time grows with the answer", title_justify="left")
    for name in (
        "graph",
        "size",
        "answer",
        "side",
        "seconds",
        "ns a fact",
        "time grew by answer grew",
        "peak MB",
    ):
        table.add_column(name, justify="left" if name in ("graph", "size", "side") else "right")
    before: dict[tuple[str, str], tuple[float, int]] = {}
    for experiment, results in measured:
        agreed = report.counts_agree(experiment, results)
        for run, outcome in results:
            key = (experiment.question, run.system)
            head = (experiment.question.partition(": ")[2], experiment.size)
            if outcome.problem is not None or not agreed:
                table.add_row(*head, "", run.system, outcome.problem or "[red]counts differ[/]")
                continue
            answer = sum(outcome.counts.values())
            table.add_row(
                *head,
                f"{answer:,}",
                run.system,
                _shown(outcome, outcome.seconds),
                f"{outcome.seconds / answer * 1e9:,.1f}",
                _grew(before.get(key), outcome.seconds, answer),
                *_peak(outcome),
            )
            before[key] = (outcome.seconds, answer)
        table.add_section()
    return table


def _grew(before: tuple[float, int] | None, seconds: float, answer: int) -> str:
    if before is None:
        return ""
    return f"{seconds / before[0]:.1f} by {answer / before[1]:.1f}"


def _cliques(measured: Measured) -> Table:
    """The time to delete and to add one fact of a clique, and how many times that of the clique ten times smaller it is."""
    table = Table(title="cliques: one fact deleted and added again, mean of ten, ms", title_justify="left")
    for name in ("clique", "members", "facts", "side", "deletion", "grew", "insertion", "grew", "not ended"):
        table.add_column(name, justify="left" if name in ("clique", "side", "not ended") else "right")
    before: dict[tuple[str, str, str], float] = {}
    for experiment, results in measured:
        agreed = report.counts_agree(experiment, results)
        for run, outcome in results:
            if run.system == "Modulog, from scratch":
                continue
            head = (experiment.question.partition(": ")[2], experiment.size.split()[0])
            if outcome.problem is not None or not agreed:
                table.add_row(*head, "", run.system, outcome.problem or "[red]counts differ[/]")
                continue
            cells: list[str] = []
            for step in ("small deletions", "small insertions"):
                key = (experiment.question, run.system, step)
                cells += _milliseconds(before, key, outcome.details["seconds"].get(step, []))
            facts = _facts(outcome.details["columns"])
            table.add_row(*head, facts, run.system, *cells, outcome.unfinished or "")
        table.add_section()
    return table


def _facts(columns: dict[str, Any]) -> str:
    return f"{columns['I']:,}" if columns else ""


def _milliseconds(
    before: dict[tuple[str, str, str], float], key: tuple[str, str, str], samples: list[float]
) -> tuple[str, str]:
    if not samples:
        return "", ""
    value = mean(samples) * 1e3
    grew = f"{value / before[key]:.1f}" if key in before else ""
    before[key] = value
    return f"{value:,.2f}" + ("" if len(samples) == 10 else f" ({len(samples)})"), grew
