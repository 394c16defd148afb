"""The plots of the report: time and memory against size, with and without each technique and beside other systems, and updates against their size."""

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.papers.figures import CHANGES, PEAK, PEERS, RESTING, SECONDS, TABLES, PaperTable
from benchmarks.papers.journal import Journal, agreeing
from benchmarks.papers.svg import Series, chart

PLOTTED = (SECONDS, PEAK, RESTING)


@dataclass(frozen=True, slots=True)
class Plot:
    """A chart with its name and that of the table it belongs to."""

    group: str
    title: str
    svg: str


def plots(journal: Journal) -> Iterator[Plot]:
    """Yield one chart for each table, benchmark, task and metric that has measurements at two sizes or more, but for the many queries."""
    for table in (*TABLES.values(), PEERS, CHANGES):
        names = dict.fromkeys((r.benchmark, r.task) for r in journal.records.values() if r.table == table.key)
        for benchmark, task in names if table is not TABLES["storage 3"] else ():
            for metric in PLOTTED:
                lines = [_series(journal, table, benchmark, task, t, metric) for t in table.techniques]
                if any(len(line.points) > 1 for line in lines):
                    title = f"{benchmark}: {task}, {metric}" + (", other systems" if table is PEERS else "")
                    x = "facts changed" if table is CHANGES else "facts given"
                    yield Plot(table.title, title, chart(title, x, metric, lines))


def _series(
    journal: Journal, table: PaperTable, benchmark: str, task: str, technique: str, metric: str
) -> Series:
    """The points of a technique; sizes at which techniques differ in their answers have none."""
    points = []
    for record in journal.named(table.key, benchmark, task, technique):
        beside = [
            r
            for other in table.techniques
            for r in journal.named(table.key, benchmark, task, other)
            if (r.facts, r.change) == (record.facts, record.change)
        ]
        value = record.metrics.get(metric, 0.0)
        if record.problem is None and value > 0 and agreeing(beside):
            points.append((float(record.change if table is CHANGES else record.facts), float(value)))
    return Series(technique, tuple(points))
