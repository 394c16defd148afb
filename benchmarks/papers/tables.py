"""The papers' tables with our figures in them: both sides, both ratios, and what is not comparable."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks.papers.figures import DATASETS, FIGURES, PEERS, SECONDS, TABLES, Cell, PaperTable
from benchmarks.papers.journal import Journal, Record, agreeing

NOT_MEASURED = "not measured"
SIZES = "Our figures are those of the largest size at which the time limit let both be compared; what it cut off is a bound."
SUMMARY = (
    ("modular 1", "materialisation"),
    ("modular 2", "small deletions"),
    ("hypertree 2", "materialisation"),
    ("hypertree 2", "small deletions"),
    ("storage 1", "first insertion"),
    ("storage 2", "materialisation"),
)
"""Tables and tasks that stand for all."""


ON_ONE_MACHINE = ("Modulog", "Nemo", "clingo", "DuckDB", "reasonable")
NOT_ASKED = "One core each. A dash: the system was not asked, most often because it cannot say the rules."


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table ready to be written: a title, the names of the columns, rows of text, and notes below."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def sheets(journal: Journal) -> Iterator[Sheet]:
    """Yield every table of the papers, then other systems; what has not been measured says so."""
    for table in (*TABLES.values(), PEERS):
        # Several techniques and metrics side by side would be too wide to be read.
        apart = len(table.techniques) > 1 and len(table.metrics) > 1
        for metrics in [(metric,) for metric in table.metrics] if apart else [table.metrics]:
            title = f"{table.title}, {metrics[0]}" if apart else table.title
            part = replace(table, title=title, metrics=metrics)
            yield _peers(part, journal) if table is PEERS else _sheet(part, journal)


def summary(journal: Journal) -> Sheet:
    """How many times faster the last technique of every table is than its first, in the papers and here."""
    rows = []
    for key, task in SUMMARY:
        table = TABLES[key]
        first, last = table.techniques[0], table.techniques[-1]
        part = replace(table, metrics=(SECONDS,), techniques=(first, last))
        for benchmark, done, size, *_, slow, fast, paper, ours in _sheet(part, journal).rows:
            if done == task:
                rows.append((benchmark, f"{task}, {last} beside {first}", paper, ours, size, slow, fast))
    columns = ("benchmark", "task", "paper: times faster", "ours: times faster", "ours: facts given")
    return Sheet("In short", (*columns, "ours: seconds without", "ours: seconds with"), tuple(rows), (SIZES,))


def beside_others(journal: Journal) -> Sheet:
    """Seconds of the systems of one machine, for each benchmark at the largest size that two of them managed."""
    sheet = _peers(replace(PEERS, techniques=ON_ONE_MACHINE, metrics=(SECONDS,)), journal)
    largest = {row[0]: row for row in sheet.rows if len([c for c in row[3:] if c[0].isdigit()]) > 1}
    return replace(sheet, rows=tuple(largest.values()), notes=(NOT_ASKED,))


def _sheet(table: PaperTable, journal: Journal) -> Sheet:
    baseline, *others = table.techniques
    columns = ["benchmark", "task", "ours: facts"]
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
    size, ours = _largest(journal, table, benchmark, task)
    agreed = agreeing(record for record in ours if record is not None)
    cells = [benchmark, task, f"{size:,}" if size else "–"]
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
                *("–" if c is None else shown(c) for c in cells),
            )
        )
    if not rows:
        rows.append((NOT_MEASURED, *["–"] * (len(columns) - 1)))
    return Sheet(table.title, tuple(columns), tuple(rows), (PEERS.note,))


def _largest(
    journal: Journal, table: PaperTable, benchmark: str, task: str
) -> tuple[int, list[Record | None]]:
    """The size that comes nearest to the papers' of those at which the first technique can be compared with the last, and what each did there.

    Times of different sizes cannot be compared with each other. Without such a size it is the largest of all.
    """
    by_size: dict[int, dict[str, Record]] = {}
    for technique in table.techniques:
        for record in journal.named(table.key, benchmark, task, technique):
            if record.system == "Modulog":
                by_size.setdefault(record.facts, {})[technique] = record
    sizes = sorted(by_size, reverse=True)
    size = next((s for s in sizes if _is_comparable(table, by_size[s])), max(sizes, default=0))
    return size, [by_size.get(size, {}).get(technique) for technique in table.techniques]


def _is_comparable(table: PaperTable, found: dict[str, Record]) -> bool:
    first, last = found.get(table.techniques[0]), found.get(table.techniques[-1])
    if first is None or last is None:
        return False
    return last.problem is None and (first.problem is None or first.bound > 0)


def _value(record: Record | None, metric: str, agreed: bool) -> Cell:
    if record is None:
        return None
    if not agreed:
        return "answers differ"
    return record.problem or record.metrics.get(metric)


def _notes(table: PaperTable, benchmarks: list[str], journal: Journal) -> Iterator[str]:
    """Which sizes are shown and, for each benchmark, how its data differs from the paper's."""
    if len(table.techniques) > 1:
        yield SIZES
    if table.note:
        yield table.note
    datasets = DATASETS[table.key.split()[0]]
    for benchmark in benchmarks:
        if benchmark not in datasets:
            continue
        data = datasets[benchmark]
        found = [r for r in journal.records.values() if (r.table, r.benchmark) == (table.key, benchmark)]
        ended = [r for r in found if r.derived]
        largest = max(ended, key=lambda record: record.facts, default=None)
        size = (
            "not measured yet"
            if largest is None
            else f"measured up to {largest.facts:,} facts, {largest.derived:,} with what follows"
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
