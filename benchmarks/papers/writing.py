"""The report: Markdown, and one page of HTML that needs nothing else, both from the same tables and plots."""

from collections.abc import Iterator
from html import escape
from pathlib import Path

from benchmarks.papers.journal import Journal
from benchmarks.papers.plots import Plot, plots
from benchmarks.papers.tables import NOT_MEASURED, Sheet, beside_others, sheets, summary

TITLE = "The papers' evaluations, and ours"
INTRODUCTION = (
    "Each table of the three papers with its figures, ours for the same task, and the ratio of both techniques on both sides. The papers' machine had two Xeon E5-2640 and 512 GB; "
    "the data differs where a note says so: compare ratios, not seconds. No time is shown where two techniques gave different answers."
)
STYLE = """
body { font-family: system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #1f2328; line-height: 1.45; }
table { border-collapse: collapse; font-size: 0.85rem; } .wide { overflow-x: auto; }
th, td { border: 1px solid #d0d7de; padding: 0.25rem 0.5rem; text-align: right; font-variant-numeric: tabular-nums; }
th { background: #f6f8fa; font-weight: 600; } td:first-child, td:nth-child(2), th:first-child, th:nth-child(2) { text-align: left; white-space: nowrap; }
.missing { color: #8c959f; } svg { max-width: 100%; height: auto; margin: 0 1rem 1rem 0; }
h2 { margin-top: 2.5rem; } li { font-size: 0.85rem; }
"""


BEGIN, END = "<!-- papers: begin -->", "<!-- papers: end -->"
"""Between these lines of a file stands the table that compares systems."""


def write_report(journal: Journal, folder: Path) -> tuple[Path, Path]:
    """Write ``report.md``, ``report.html``, the plots of the former and the lines that all come from into a folder; return the first two."""
    folder.mkdir(parents=True, exist_ok=True)
    journal.copy(folder / "papers.jsonl")
    tables, drawn = [summary(journal), *sheets(journal)], list(plots(journal))
    for earlier in folder.glob("plot-*.svg"):
        earlier.unlink()
    for number, plot in enumerate(drawn, 1):
        (folder / f"plot-{number}.svg").write_text(plot.svg + "\n", encoding="utf-8")
    markdown, page = folder / "report.md", folder / "report.html"
    markdown.write_text("\n".join(_markdown(journal, tables, drawn)) + "\n", encoding="utf-8")
    page.write_text("\n".join(_html(journal, tables, drawn)) + "\n", encoding="utf-8")
    return markdown, page


def write_summary(journal: Journal, path: Path) -> None:
    """Put the small table of systems into a file, instead of the one that is there; the papers' figures are in the report."""
    text = path.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{path}: no lines {BEGIN} and {END}")
    lines = list(_table(beside_others(journal)))
    path.write_text("\n".join([f"{before}{BEGIN}", *lines, f"{END}{after}"]), encoding="utf-8")


def conditions(journal: Journal) -> list[str]:
    """Return the machines, time limits and versions that were measured with, each once."""
    machines = dict.fromkeys(
        ", ".join(f"{key} {value}" for key, value in r.machine.items() if key != "load")
        for r in journal.records.values()
        if r.machine
    )
    versions = dict.fromkeys(
        ", ".join(f"{name} {version}" for name, version in r.versions.items())
        for r in journal.records.values()
        if r.versions
    )
    limits = sorted({f"{r.time_limit:g}" for r in journal.records.values() if r.time_limit}, key=float)
    return [
        *(f"Machine: {machine}." for machine in machines),
        *([f"Each run had at most {' or '.join(limits)} s."] if limits else []),
        *(f"Versions: {used}." for used in versions),
    ]


def _markdown(journal: Journal, tables: list[Sheet], drawn: list[Plot]) -> Iterator[str]:
    yield f"# {TITLE}"
    yield ""
    yield INTRODUCTION
    yield ""
    yield from (f"- {condition}" for condition in conditions(journal))
    for sheet in tables:
        yield ""
        yield f"## {sheet.title}"
        yield from _table(sheet)
    for number, plot in enumerate(drawn, 1):
        if number == 1 or plot.group != drawn[number - 2].group:
            yield from ("", f"## Plots: {plot.group}", "")
        yield f"![{plot.title}](plot-{number}.svg)"


def _table(sheet: Sheet) -> Iterator[str]:
    yield ""
    yield f"| {' | '.join(sheet.columns)} |"
    yield f"|{'|'.join(['---', '---', *['---:'] * (len(sheet.columns) - 2)])}|"
    yield from (f"| {' | '.join(row)} |" for row in sheet.rows)
    yield ""
    yield from (f"- {note}" for note in sheet.notes)


def _html(journal: Journal, tables: list[Sheet], drawn: list[Plot]) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(TITLE)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escape(TITLE)}</h1>"
    yield f"<p>{escape(INTRODUCTION)}</p>"
    yield f"<ul>{''.join(f'<li>{escape(condition)}</li>' for condition in conditions(journal))}</ul>"
    for sheet in tables:
        yield f'<h2>{escape(sheet.title)}</h2>\n<div class="wide"><table>'
        yield f"<tr>{''.join(f'<th>{escape(column)}</th>' for column in sheet.columns)}</tr>"
        yield from (f"<tr>{''.join(map(_cell, row))}</tr>" for row in sheet.rows)
        yield "</table></div>"
        yield f"<ul>{''.join(f'<li>{escape(note)}</li>' for note in sheet.notes)}</ul>"
    for group in dict.fromkeys(plot.group for plot in drawn):
        charts = "".join(plot.svg for plot in drawn if plot.group == group)
        yield f'<h2>Plots: {escape(group)}</h2>\n<div class="plots">{charts}</div>'
    yield "</body>\n</html>"


def _cell(text: str) -> str:
    missing = ' class="missing"' if text in (NOT_MEASURED, "–") else ""
    return f"<td{missing}>{escape(text)}</td>"
