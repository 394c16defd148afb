"""The papers' tables and the report: figures as printed, measurements resumed, answers compared, pages well-formed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.harness import Run
from benchmarks.outcome import Outcome
from benchmarks.papers import __main__ as command
from benchmarks.papers.case import Case
from benchmarks.papers.figures import FIGURES, PEAK, SECONDS, TABLES
from benchmarks.papers.journal import Journal, Record
from benchmarks.papers.modular import STEPS, records
from benchmarks.papers.plots import plots
from benchmarks.papers.svg import Series, chart
from benchmarks.papers.tables import NOT_MEASURED, sheets
from benchmarks.papers.writing import BEGIN, END, write_report, write_summary


def record(
    technique: str, seconds: float, facts: int = 100_000, count: int = 7, problem: str | None = None
) -> Record:
    metrics = {} if problem else {SECONDS: seconds, PEAK: 10.0}
    counts = {} if problem else {"path": count}
    return Record(
        "modular 1",
        "DAG-R",
        "materialisation",
        technique,
        facts,
        metrics,
        22,
        counts,
        problem,
        time_limit=60.0,
    )


def row(journal: Journal, title: str, benchmark: str) -> dict[str, str]:
    """A row of a table by the names of its columns."""
    sheet = next(s for s in sheets(journal) if title in s.title)
    found = next(r for r in sheet.rows if r[0] == benchmark)
    return dict(zip(sheet.columns, found, strict=True))


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "lines.jsonl")


def test_every_figure_of_the_papers_is_there() -> None:
    """Tables 1 and 2, 1 and 2, and 1, 2, 3: benchmarks times tasks times techniques times metrics."""
    assert Counter(key[0] for key in FIGURES) == {
        "modular 1": 4 * 2,
        "modular 2": 4 * 3 * 2,
        "hypertree 2": 4 * 4 * 3,
        "hypertree 1": 4 * 4,
        "hypertree memory": 4 * 2,
        "storage 1": 2 * 4 * 3 * 3,
        "storage 2": 6 * 3 * 3,
        "storage 3": 22 * 2,
    }
    assert {key[0] for key in FIGURES} == set(TABLES)


def test_nothing_measured(journal: Journal) -> None:
    found = row(journal, "Modular paper, Table 1", "DAG-R")
    assert found["paper: Mat, seconds"] == "3,238.86"
    assert found["paper: Mat / Mat-Mod"] == "109"
    assert found["ours: Mat, seconds"] == found["ours: Mat-Mod, seconds"] == NOT_MEASURED
    assert found["ours: Mat / Mat-Mod"] == "–"


def test_the_largest_size_counts(journal: Journal) -> None:
    journal.write(
        [
            record("Mat", 1.0, facts=10),
            record("Mat", 40.0),
            record("Mat-Mod", 0.5, facts=10),
            record("Mat-Mod", 2.0),
        ]
    )
    found = row(journal, "Modular paper, Table 1", "DAG-R")
    assert (found["ours: Mat, seconds"], found["ours: Mat-Mod, seconds"]) == ("40", "2")
    assert found["ours: Mat / Mat-Mod"] == "20"


def test_a_size_that_cannot_be_compared_is_left_out(journal: Journal) -> None:
    """Not the largest size, if one side has nothing to say there: the largest at which both have."""
    journal.write([record("Mat", 4.0, facts=10), record("Mat-Mod", 0.5, facts=10)])
    journal.write([record("Mat", 0, problem="not reached"), record("Mat-Mod", 2.0)])
    found = row(journal, "Modular paper, Table 1", "DAG-R")
    assert (found["ours: facts"], found["ours: Mat / Mat-Mod"]) == ("10", "8")
    cut_off = replace(record("Mat", 0, facts=10**6, problem="over 60 s"), derived=0)
    journal.write([cut_off])
    sheet = next(s for s in sheets(journal) if "Modular paper, Table 1" in s.title)
    assert any("measured up to 100,000 facts, 22 with what follows" in note for note in sheet.notes)


def test_times_of_two_sizes_are_not_compared(journal: Journal) -> None:
    journal.write([record("Mat", 1.0, facts=10), record("Mat-Mod", 2.0)])
    found = row(journal, "Modular paper, Table 1", "DAG-R")
    assert (found["ours: Mat, seconds"], found["ours: Mat / Mat-Mod"]) == (NOT_MEASURED, "–")


def test_different_answers_show_no_times(journal: Journal) -> None:
    journal.write([record("Mat", 40.0, count=7), record("Mat-Mod", 2.0, count=8)])
    found = row(journal, "Modular paper, Table 1", "DAG-R")
    assert found["ours: Mat, seconds"] == found["ours: Mat-Mod, seconds"] == "answers differ"
    assert found["ours: Mat / Mat-Mod"] == "–"


def test_other_systems(journal: Journal) -> None:
    def peer(system: str, seconds: float, facts: int, count: int) -> Record:
        metrics = {SECONDS: seconds, PEAK: 10.0}
        return Record(
            "peers", "DAG-R", "materialisation", system, facts, metrics, 0, {"path": count}, system=system
        )

    journal.write(
        [
            peer("Modulog", 0.5, 10, 7),
            peer("Nemo", 50.0, 10, 7),
            peer("Modulog", 1.0, 20, 9),
            peer("Nemo", 90.0, 20, 8),
        ]
    )
    sheet = next(s for s in sheets(journal) if "Other systems" in s.title)
    small, large = (dict(zip(sheet.columns, r, strict=True)) for r in sheet.rows)
    assert (small["results"], small["Modulog"], small["Nemo"]) == ("7", "0.5", "50")
    assert small["clingo"] == "–"
    assert large["Modulog"] == large["Nemo"] == "answers differ"


def test_updates_are_plotted_against_their_size(journal: Journal) -> None:
    def update(change: int, seconds: float) -> Record:
        return Record("changes", "DAG-R", "deletion", "DRed^c-Mod", 100, {SECONDS: seconds}, change=change)

    journal.write([update(1, 0.1), update(100, 0.5)])
    drawn = list(plots(journal))
    assert [plot.title for plot in drawn] == ["DAG-R: deletion, seconds"]
    assert "facts changed" in drawn[0].svg
    assert Journal(journal.path).has("changes", "DAG-R", "DRed^c-Mod", 100, 100, 60.0)
    assert not journal.has("changes", "DAG-R", "DRed^c-Mod", 100, 10, 60.0)


def test_a_time_limit_bounds_the_ratio(journal: Journal) -> None:
    """Only for the task in which the time ended; what came after it was not reached."""
    details = {"seconds": {"materialisation": [20.0], "small deletions": [1.0, 3.0]}}
    ended = "small insertions: not ended after 60 s in all"
    slow = records("DAG-R", "DRed^c", 100, Outcome(details=details, unfinished=ended), 60.0)
    details = {"seconds": {step: [0.5] for step in ("materialisation", *STEPS)}}
    fast = records("DAG-R", "DRed^c-Mod", 100, Outcome(details=details), 60.0)
    journal.write([*slow, *fast])
    sheet = next(s for s in sheets(journal) if "Modular paper, Table 2" in s.title)
    rows = {r[1]: dict(zip(sheet.columns, r, strict=True)) for r in sheet.rows if r[0] == "DAG-R"}
    ours, ratio = "ours: DRed^c, seconds", "ours: DRed^c / DRed^c-Mod"
    assert [(rows[task][ours], rows[task][ratio]) for task in rows] == [
        ("2", "4"),
        ("over 36 s", "> 72"),
        ("not reached", "–"),
    ]
    assert row(journal, "Modular paper, Table 1", "DAG-R")["ours: Mat / Mat-Mod"] == "40"


def test_a_stopped_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is in the lines is not measured again, a line that was cut off is, and so is a failure under a longer limit."""
    measured: list[str] = []

    def run_once(run: Run, time_limit: float, memory: int) -> Outcome:
        measured.append(run.system)
        return Outcome(seconds=1.0, problem="over 5 s" if run.system == "slow" and time_limit < 75 else None)

    def cases(*_: object) -> list[Case]:
        def made(technique: str) -> Case:
            def found(outcome: Outcome) -> list[Record]:
                return [record(technique, outcome.seconds, problem=outcome.problem)]

            return Case("modular 1", "DAG-R", technique, 100_000, Run(technique, 1, "", {}), found)

        return [made("fast"), made("slow")]

    monkeypatch.setattr(command, "run_once", run_once)
    monkeypatch.setattr(command, "cases", cases)
    common = ["--lines", str(tmp_path / "lines.jsonl"), "--out", str(tmp_path / "report")]
    command.main([*common, "--time-limit", "5"])
    assert measured == ["fast", "slow"]
    command.main([*common, "--time-limit", "5"])
    assert measured == ["fast", "slow"]
    command.main([*common, "--time-limit", "20"])
    assert measured == ["fast", "slow", "slow"]
    lines = tmp_path / "lines.jsonl"
    whole = lines.read_text().splitlines()
    lines.write_text(whole[1] + "\n" + whole[0][:40])
    command.main([*common, "--time-limit", "5"])
    assert measured[3:] == ["fast"]
    assert len(Journal(lines).records) == 2
    assert "measured already" in capsys.readouterr().out


def test_the_report(journal: Journal, tmp_path: Path) -> None:
    journal.write(
        [record(t, n / 10 * s, facts=n) for t, s in (("Mat", 5.0), ("Mat-Mod", 0.1)) for n in (10, 100)]
    )
    markdown, page = write_report(journal, tmp_path / "report")
    text = markdown.read_text()
    # A summary, peers by three metrics, plots; two tables with three metrics.
    assert text.count("\n## ") == len(TABLES) + 5 + 2 * 2
    assert "| DAG-R | materialisation, Mat-Mod beside Mat | 109 | 50 | 100 | 50 | 1 |" in text
    assert "![DAG-R: materialisation, seconds](plot-1.svg)" in text
    assert "measured up to 100 facts, 22 with what follows" in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.count("|") > 4
    html = page.read_text()
    assert html.count("<svg") == 2
    assert "src=" not in html
    assert "href=" not in html
    assert balanced(html)
    write_report(Journal(page.with_name("papers.jsonl")), page.parent)
    assert (page.read_text(), markdown.read_text()) == (html, text)


def test_the_summary_in_a_file(journal: Journal, tmp_path: Path) -> None:
    for system, seconds in (("Modulog", 0.1), ("Nemo", 5.0)):
        kind = ("peers", "DAG-R", "materialisation", system)
        journal.write([Record(*kind, 10, {SECONDS: seconds}, 0, {"path": 7}, system=system)])
    journal.write([record("Mat", 5.0), record("Mat-Mod", 0.1)])  # which are for the report alone
    readme = tmp_path / "README.md"
    readme.write_text(f"# Title\n\n{BEGIN}\nolder\n{END}\n\nThe rest.\n")
    for _ in range(2):
        write_summary(journal, readme)
        text = readme.read_text()
        assert text.startswith("# Title\n") and text.endswith(f"{END}\n\nThe rest.\n")
        assert text.count("| DAG-R | 10 | 7 | 0.1 | 5 |") == 1
        assert "older" not in text and "Mat-Mod" not in text
    (tmp_path / "other.md").write_text("no place for it")
    with pytest.raises(ValueError, match="no lines"):
        write_summary(journal, tmp_path / "other.md")


def balanced(html: str) -> bool:
    """Whether every element of a page is closed in its place."""
    opened: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag not in ("meta", "br"):
                opened.append(tag)

        def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            pass

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

    Reader().feed(html)
    return not opened


def test_charts_are_well_formed() -> None:
    lines = [Series("a < b & c", ((1, 0.002), (1_000, 30))), Series("one point", ((10, 1.0),))]
    drawn = ElementTree.fromstring(chart("t & u", "facts", "seconds", lines))
    places = [float(e.get("cx", 0)) for e in drawn.iter("{http://www.w3.org/2000/svg}circle")]
    assert min(places) >= 0
    assert ElementTree.fromstring(chart("nothing", "x", "y", [])) is not None
