"""The papers' tables with our figures in them: both sides, both ratios, and what is not comparable."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks.papers.figures import DATASETS, FIGURES, PEERS, SECONDS, TABLES, Cell, PaperTable
from benchmarks.papers.journal import Journal, Record, agreeing

NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table ready to be written: a title, the names of the columns, rows of text, and notes below."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def sheets(journal: Journal) -> Iterator[Sheet]:
    """Yield a summary, then every table of the papers; what has not been measured says so."""
    yield _summary(journal)
    for table in (*TABLES.values(), PEERS):
        # Several techniques and metrics side by side would be too wide to be read.
        apart = len(table.techniques) > 1 and len(table.metrics) > 1
        for metrics in [(metric,) for metric in table.metrics] if apart else [table.metrics]:
            title = f"{table.title}, {metrics[0]}" if apart else table.title
            part = replace(table, title=title, metrics=metrics)
            yield _peers(part, journal) if table is PEERS else _sheet(part, journal)


def _summary(journal: Journal) -> Sheet:
    """For every table of times, how many times faster the papers' last technique is than the first, there and here."""
    rows = []
    for table in TABLES.values():
        if SECONDS not in table.metrics or len(table.techniques) < 2:
            continue
        part = replace(table, metrics=(SECONDS,), techniques=(table.techniques[0], table.techniques[-1]))
        for benchmark, task, *_, first, last, paper, ours in _sheet(part, journal).rows:
            what = f"{part.techniques[-1]} beside {part.techniques[0]}"
            rows.append((benchmark, task, what, paper, ours, f"{first} and {last} s"))
    columns = "benchmark", "task", "technique", "paper: times faster", "ours: times faster", "ours: seconds"
    rows = [row for row in rows if not row[1].startswith(("TC Q", "U Q"))]  # too many, and all of them short
    return Sheet("In short", columns, tuple(rows), ("At the largest size that was measured on our side.",))


def _sheet(table: PaperTable, journal: Journal) -> Sheet:
    baseline, *others = table.techniques
    columns = ["benchmark", "task"]
    for metric in table.metrics:
        names = [f"{technique}, {metric}" for technique in table.techniques] if others else [metric]
        columns += [f"{side}: {name}" for side in ("paper", "ours") for name in names]
        columns += [f"{side}: {baseline} / {other}" for other in others for side in ("paper", "ours")]
    benchmarks = dict.fromkeys(key[1] for key in FIGURES if key[0] == table.key)
    rows = tuple(
        _row(table, benchmark, task, journal)
        for benchmark in benchmarks
        for task in table.tasks
        if any((table.key, benchmark, task, t, m) in FIGURES for t in table.techniques for m in table.metrics)
    )
    return Sheet(table.title, tuple(columns), rows, tuple(_notes(table, list(benchmarks), journal)))


def _row(table: PaperTable, benchmark: str, task: str, journal: Journal) -> tuple[str, ...]:
    found = {t: _largest(journal, table.key, benchmark, task, t) for t in table.techniques}
    # Times of different sizes cannot be compared with each other, nor those of different answers.
    size = max((record.facts for record in found.values() if record is not None), default=0)
    ours = [r if (r := found[t]) is not None and r.facts == size else None for t in table.techniques]
    agreed = agreeing(record for record in ours if record is not None)
    cells = [benchmark, task]
    for metric in table.metrics:
        paper = [FIGURES.get((table.key, benchmark, task, t, metric)) for t in table.techniques]
        measured = [_value(record, metric, agreed) for record in ours]
        cells += ["–" if cell is None else _exact(cell) for cell in paper]
        cells += [NOT_MEASURED if cell is None else shown(cell) for cell in measured]
        for place in range(1, len(table.techniques)):
            cells += [
                _ratio(paper[0], paper[place]),
                _our_ratio(ours[0], measured[0], measured[place], metric),
            ]
    return tuple(cells)


def _peers(table: PaperTable, journal: Journal) -> Sheet:
    """Every system at every size; no times where answers differ."""
    columns = ["benchmark", "facts", "results"]
    columns += table.techniques
    found = [r for r in journal.records.values() if r.table == table.key]
    rows = []
    for benchmark, facts in dict.fromkeys((r.benchmark, r.facts) for r in found):
        here = {r.technique: r for r in found if (r.benchmark, r.facts) == (benchmark, facts)}
        agreed = agreeing(here.values())
        results = max((sum(r.counts.values()) for r in here.values()), default=0)
        cells = [
            _value(here.get(system), metric, agreed)
            for metric in table.metrics
            for system in table.techniques
        ]
        rows.append(
            (
                benchmark,
                f"{facts:,}",
                f"{results:,}",
                *(NOT_MEASURED if c is None else shown(c) for c in cells),
            )
        )
    if not rows:
        rows.append((NOT_MEASURED, *["–"] * (len(columns) - 1)))
    return Sheet(
        table.title, tuple(columns), tuple(rows), ("Modulog has one core, on Spark two; all others one.",)
    )


def _largest(journal: Journal, *name: str) -> Record | None:
    """The record of the largest size, which comes nearest to the papers'."""
    return next(reversed([r for r in journal.named(*name) if r.system == "Modulog"]), None)


def _value(record: Record | None, metric: str, agreed: bool) -> Cell:
    if record is None:
        return None
    if not agreed:
        return "answers differ"
    return record.problem or record.metrics.get(metric)


def _notes(table: PaperTable, benchmarks: list[str], journal: Journal) -> Iterator[str]:
    """For each benchmark, how its data differs from the paper's."""
    if table.note:
        yield table.note
    datasets = DATASETS[table.key.split()[0]]
    for benchmark in benchmarks:
        if benchmark not in datasets:
            continue
        data = datasets[benchmark]
        found = [r for r in journal.records.values() if (r.table, r.benchmark) == (table.key, benchmark)]
        largest = max(found, key=lambda record: (record.facts, record.derived), default=None)
        size = (
            "not measured yet"
            if largest is None
            else f"{largest.facts:,} facts, {largest.derived:,} with what follows"
        )
        yield f"{benchmark}: the paper has {data.given} facts, {data.derived} with what follows. Ours: {data.ours}; {size}."


def shown(cell: float | str) -> str:
    """Return a figure with three digits, or all digits of its whole part.

    >>> shown(0.0342), shown(1234.5), shown("over 60 s")
    ('0.0342', '1,234', 'over 60 s')
    """
    if isinstance(cell, str):
        return cell
    return f"{cell:,.0f}" if cell >= 100 else f"{cell:.3g}"


def _exact(cell: float | str) -> str:
    """A figure as the paper prints it."""
    if isinstance(cell, str):
        return cell
    return f"{cell:,.0f}" if cell == int(cell) else f"{cell:,}"


def _ratio(baseline: Cell, other: Cell) -> str:
    if isinstance(baseline, float) and isinstance(other, float) and other > 0:
        return shown(baseline / other)
    return "–"


def _our_ratio(record: Record | None, baseline: Cell, other: Cell, metric: str) -> str:
    """The ratio; a baseline that the time limit ended gives a bound from below."""
    if record is not None and record.bound and metric == SECONDS and isinstance(other, float) and other > 0:
        return f"> {shown(record.bound / other)}"
    return _ratio(baseline, other)
