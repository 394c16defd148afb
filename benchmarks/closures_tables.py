"""The tables of ``closures``: what is represented against what is listed, with the targets and the paper's figures."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Final, NamedTuple

from rich.table import Table

from benchmarks import report
from benchmarks.data.thesaurus import QUERIES
from benchmarks.harness import Experiment, Results
from benchmarks.outcome import Outcome

Measured = Sequence[tuple[Experiment, Results]]


class Goal(NamedTuple):
    """What the compact side must reach: seconds, resting and peak megabytes, a share of the plain side's memory, and changes by building, or seconds."""

    seconds: float | None = None
    resting: float | None = None
    peak: float | None = None
    share: float | None = None
    changes: tuple[float, float] | None = None
    deletions_only: bool = False


GOALS: Final[Mapping[tuple[str, str], Goal]] = {
    ("DAG-R", "10,000 nodes"): Goal(seconds=1, resting=20, changes=(1.3, 0.06)),
    ("categories", "160,000 edges"): Goal(share=1 / 20),
    ("categories", "1,430,000 edges"): Goal(seconds=30, peak=300, changes=(0.1, 0)),
    ("digraph", "40,000 nodes"): Goal(seconds=5, peak=200, changes=(1 / 3, 0), deletions_only=True),
    ("SKOS", "4/4 of 2,700,000"): Goal(seconds=900, peak=2_000),
}
"""Targets, for the named sizes."""

PAPER: Final[Mapping[tuple[str, str], tuple[tuple[str, ...], ...]]] = {
    ("DAG-R", "10,000 nodes"): (
        ("paper, MultiScheme", "22.9 M", "26.45", "900", "890", "65 s", "15 s"),
        ("paper, Standard", "22.9 M", "3,973.21", "1,100", "900", "", ""),
    ),
    ("categories", "160,000 edges"): (
        ("paper, TC scheme", "29.1 M", "8.44", "250", "248", "", "0.84; 0.91; 6.06 s"),
        ("paper, Standard", "29.1 M", "2,845.08", "1,481", "1,252", "", "96; 92; 6,352 s"),
    ),
    ("categories", "1,430,000 edges"): (
        ("paper, TC scheme", "1,949 M", "443.80", "2,448", "2,304", "", "2.22; 2.96; 14.84 s"),
        ("paper, TC module", "1,949 M", "3,295.25", "97,940", "82,348", "", "138; 30; 1,520 s"),
    ),
    ("SKOS", "1/4 of 2,700,000"): (("paper, DB25%", "4.2 M", "31.39", "3,600", "3,100", "", ""),),
    ("SKOS", "2/4 of 2,700,000"): (("paper, DB50%", "280 M", "479.35", "8,700", "7,700", "", ""),),
    ("SKOS", "3/4 of 2,700,000"): (("paper, DB75%", "4,300 M", "5,973.34", "16,300", "14,900", "", ""),),
    ("SKOS", "4/4 of 2,700,000"): (("paper, DBAll", "17,400 M", "23,092.37", "17,300", "15,100", "", ""),),
}
"""The paper's rows: side, pairs, seconds, peak and resting megabytes, deletions and additions of 1,000 facts."""

PAPER_QUERIES: Final = {
    "TC": (
        ("8.38", "22.43"), ("27.70", "20.64"), ("0.03", "0.03"), ("0.03", "0.03"), ("0.03", "0.03"), ("0.03", "0.03"),
        ("15.00", "42.15"), ("0.10", "0.24"), ("0.13", "0.35"), ("0.03", "0.03"), ("0.03", "0.03"),
    ),
    "U": (
        ("25.50", "338.90"), ("77.00", "393.00"), ("0.28", "0.61"), ("0.42", "0.89"), ("0.03", "0.03"), ("0.03", "0.03"),
        ("36.00", "416.23"), ("0.10", "1.97"), ("0.15", "2.93"), ("0.03", "0.03"), ("0.03", "0.03"),
    ),
}  # fmt: skip
"""Seconds of the paper's Table 3: standard and multi-scheme."""

PARTS = ("materialise", "count", "rows")


def tables(measured: Measured) -> Iterator[Table]:
    """Yield a table of what was built and changed, and one of the queries."""
    built = [pair for pair in measured if not pair[0].question.startswith("Table 3")]
    if built:
        yield _built(built)
    if asked := [pair for pair in measured if pair[0].question.startswith("Table 3")]:
        yield _asked(asked)


def _built(measured: Measured) -> Table:
    table = Table(
        title="compact storage: materialise, count, read 1,000 rows; then delete and add 1,000 facts, three times",
        title_justify="left",
        header_style="bold",
        caption="MB above the explicit facts, with the dictionary. In changes: seconds, by building, share of all pairs that changed. " + report.CAPTION,
        caption_justify="left",
    )  # fmt: skip
    names = (
        "graph",
        "facts",
        "side",
        "pairs",
        *PARTS,
        "seconds",
        "peak MB",
        "resting MB",
        "deletions",
        "additions",
        "targets",
    )
    for name in names:
        left = name in ("graph", "side", "deletions", "additions", "targets")
        table.add_column(name, justify="left" if left else "right", overflow="fold")
    for experiment, results in measured:
        _rows(table, experiment, results)
        table.add_section()
    return table


def _rows(table: Table, experiment: Experiment, results: Results) -> None:
    name = experiment.question.partition(": ")[2]
    head = (f"{name}, {experiment.size}", f"{experiment.facts:,}")
    agreed = report.counts_agree(experiment, results)
    if not results:
        table.add_row(*head)
    for place, (run, outcome) in enumerate(results):
        first = head if place == 0 else ("", "")
        if outcome.problem is not None or not agreed:
            table.add_row(*first, run.system, "", outcome.problem or "[red]counts differ[/]")
            continue
        table.add_row(*first, run.system, *_figures(outcome), _targets(name, experiment.size, place, results))
    for side, pairs, seconds, peak, resting, gone, come in PAPER.get((name, experiment.size), ()):
        table.add_row("", "", side, pairs, "", "", "", seconds, peak, resting, gone, come, "", style="dim")


def _figures(outcome: Outcome) -> list[str]:
    pairs = _pairs(outcome)
    seconds = outcome.details["seconds"]
    cells = [f"{pairs:,}"] + [_shown(seconds[part][0]) if part in seconds else "" for part in PARTS]
    cells.append(("~" if outcome.disturbed else "") + _shown(outcome.seconds))
    cells += [_megabytes(outcome.details.get(name)) for name in ("peak", "resting")]
    cells += [_changes(outcome, step) for step in ("delete", "add")]
    if outcome.unfinished:
        cells[-1] += f" {outcome.unfinished}"
    return cells


def _pairs(outcome: Outcome) -> int:
    """The pairs of all counted predicates, without the counts of changes and rows."""
    steps = ("delete ", "add ", "in rows")
    return sum(count for name, count in outcome.counts.items() if not name.startswith(steps))


def _changes(outcome: Outcome, step: str) -> str:
    times = outcome.details["seconds"].get(step, [])
    pairs = outcome.details.get(f"{step} pairs", [])
    total = max(_pairs(outcome), 1)
    return "; ".join(
        f"{_shown(seconds)} = {seconds / outcome.seconds:.2f}, {changed / total:.2%}"
        for seconds, changed in zip(times, pairs, strict=True)
    )


def _targets(name: str, size: str, place: int, results: Results) -> str:
    """Whether the compact side, which is the first, reaches its goals."""
    if place > 0:
        return ""
    outcome = results[0][1]
    if name == "clique":
        return _clique(results)
    goal = GOALS.get((name, size))
    if goal is None:
        return ""
    said = []
    if goal.seconds is not None:
        said.append(_judged(outcome.seconds, goal.seconds, "s"))
    for part, limit in (("resting", goal.resting), ("peak", goal.peak)):
        if limit is not None:
            said.append(_judged((outcome.details.get(part) or 0) / 1e6, limit, f"MB {part}"))
    if goal.share is not None and len(results) > 1 and results[1][1].details.get("resting"):
        share = outcome.details["resting"] / results[1][1].details["resting"]
        said.append(_judged(share, goal.share, "of plain"))
    if goal.changes is not None:
        for step in ("delete",) if goal.deletions_only else ("delete", "add"):
            times = outcome.details["seconds"].get(step, [])
            if times:
                limit = max(goal.changes[0], goal.changes[1] / outcome.seconds)
                said.append(_judged(median(times) / outcome.seconds, limit, f"of building, {step}"))
    return "; ".join(said)


def _clique(results: Results) -> str:
    ours, *others = (outcome for _, outcome in results)
    if not others or others[0].problem is not None:
        return ""
    mine, theirs = (
        sum(median(times) for step in ("delete", "add") if (times := o.details["seconds"].get(step)))
        for o in (ours, others[0])
    )
    if not mine or not theirs:
        return ""
    return f"delete and add again: {theirs / mine:,.0f} times faster, {'✓' if theirs >= 1000 * mine else '✗'} 1,000"


def _judged(value: float, limit: float, unit: str) -> str:
    return f"{'✓' if value <= limit else '✗'} {value:.3g} of {limit:.3g} {unit}"


def _shown(seconds: float) -> str:
    return f"{seconds:.2f}" if seconds >= 1 else f"{seconds:.2g}"


def _megabytes(size: int | None) -> str:
    return "" if size is None else f"{size / 1e6:,.1f}"


def _asked(measured: Measured) -> Table:
    table = Table(
        title="Table 3: the queries of the paper's Tables 4 and 5, in milliseconds; the paper's in seconds, on half of DBpedia",
        title_justify="left",
        header_style="bold",
    )
    for name in (
        "query",
        "answers",
        "compact",
        "plain",
        "compact/plain",
        "paper: standard",
        "paper: multi-scheme",
    ):
        table.add_column(name, justify="left" if name == "query" else "right")
    for experiment, results in measured:
        if not report.counts_agree(experiment, results):
            table.add_row(experiment.size, "[red]counts differ[/]")
            continue
        outcomes = [outcome for _, outcome in results if outcome.problem is None]
        for name in QUERIES:
            _query(table, name, outcomes)
        table.add_section()
    return table


def _query(table: Table, name: str, outcomes: list[Outcome]) -> None:
    times = [outcome.details["seconds"].get(name, [None])[0] for outcome in outcomes]
    kind, number = name.split(" Q")
    answers = next((o.counts[name] for o in outcomes if name in o.counts), None)
    cells = [f"{seconds * 1e3:,.2f}" if seconds is not None else "not ended" for seconds in times]
    ratio = f"{times[0] / times[1]:.2f}" if len(times) > 1 and None not in times else ""
    table.add_row(
        name,
        f"{answers:,}" if answers is not None else "",
        *(cells + [""] * (2 - len(cells))),
        ratio,
        *PAPER_QUERIES[kind][int(number)],
    )
