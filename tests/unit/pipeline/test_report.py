"""The log of a run and the report made from it; the lock that a run holds."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from modulog.errors import DataError
from modulog.evaluation.statistics import RoundStatistics, RuleStatistics, Statistics, StratumStatistics
from modulog.kernels.compile_time import compile_time
from modulog.pipeline.config import Configuration, Sink, Source
from modulog.pipeline.log import recorded
from modulog.pipeline.report import report
from modulog.pipeline.run import COMPILING, START, Run, Unwatched
from modulog.pipeline.run_account import described
from modulog.store.locks import lock_for_running

NASTY = "<script>alert('x')</script> & \"q\""
RULE = 'p(?x) :- q(?x, "<b>") .'


class Page(HTMLParser):
    """Which tags are open, which text there is, and whether anything would be loaded or run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.rows = 0
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "img", "iframe")
        assert not {name for name, _ in attrs} & {"src", "href"}
        self.rows += tag == "tr"
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def configuration(store: Path) -> Configuration:
    return Configuration(
        rules=("rules.rls",),
        store=str(store),
        sources=(Source("facts/*.csv", header=True), Source(NASTY)),
        sinks=(Sink("out"),),
    )


def run_once(store: Path) -> Run:
    with recorded(configuration(store), Unwatched()) as record:
        watch = record.log
        watch.note(mode="incremental", reason=NASTY)
        with watch.stage("read"):
            watch.note(source=NASTY)
        with watch.stage("update"):
            watch(1, 2, "p", 0, 7)
            rules = [
                {"rule": RULE, "rounds": 2, "rows": 40, "seconds": 1.5},
                {"rule": "p(?x) :- q(?x) .", "rounds": 1, "rows": 0, "seconds": 0.25, "shared": True},
            ]
            watch.note(
                strata=[{"predicates": ["p/1"], "rounds": 2, "facts": 7, "seconds": 1.5}],
                rules=rules,
                plan=RULE,
            )
        done = Run("incremental", NASTY, 3, 5, 12, {"p": 7}, {"q": 1}, {"out/p.parquet": 7}, {"read": 0.5})
        return record.finished(done)


def lines(store: Path) -> list[dict[str, Any]]:
    (log,) = (store / "runs").glob("*.jsonl")
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def test_log_and_report(tmp_path: Path) -> None:
    done = run_once(tmp_path / "store")
    found = lines(tmp_path / "store")
    assert [line["event"] for line in found] == [
        *("begin", "note", "stage", "note", "done", "stage", "round", "note", "done", "end")
    ]
    assert found[0]["pipeline"]["sources"] == [{"path": "facts/*.csv", "header": True}, {"path": NASTY}]
    assert found[4]["stage"] == "read" and found[4]["seconds"] >= 0
    assert (found[6]["stratum"], found[6]["round"], found[6]["facts"]) == (1, 0, 7)
    assert done.report is not None
    text = Path(done.report).read_text(encoding="utf-8")
    page = Page(text)
    for wanted in (
        NASTY,
        RULE,
        "Net change",
        "Stages",
        "Strata",
        "Rules",
        "Plan",
        "Configuration",
        "out/p.parquet",
        "0.25 shared",
    ):
        assert any(wanted in part for part in page.texts), wanted
    assert not re.search(r"https?:|url\(|@import", text)
    assert report(found) == text


def test_seconds_and_rows_by_rule() -> None:
    """Rules that were evaluated together share what is left of their round, and those that were put off what came late."""
    rounds = [
        RoundStatistics(5, 4.0, [RuleStatistics("a", 7, 1.0), RuleStatistics("b", 2, 0.0)], actions=1),
        RoundStatistics(3, 0.5, [RuleStatistics("b", 3, 0.0), RuleStatistics("c", 0, 0.0)]),
        RoundStatistics(1, 0.5, [RuleStatistics("a", None, 0.5)]),
    ]
    late = RoundStatistics(0, 2.0, actions=1)
    found = described(Statistics([StratumStatistics(("p/1",), False, rounds)], late=late))["rules"]
    told = {r["rule"]: (r["rounds"], r["rows"], r["seconds"], r["shared"]) for r in found}
    assert told == {"a": (2, None, 1.5, False), "b": (2, 5, 3.0 + 1.25, True), "c": (1, 0, 1.25, True)}


def test_a_stage_inside_another_has_seconds_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 1.0, 8.0, 10.0])  # Spark starts after one second of comparing, and takes seven of ten
    monkeypatch.setattr("modulog.pipeline.log.working_time", lambda: next(clock))
    with recorded(configuration(tmp_path), Unwatched()) as record:
        with record.log.stage("compare"):
            with record.log.stage(START):
                record.log.note(place="inside")
            record.log.note(place="after")
        done = record.finished(Run("incremental", "", 1, 0, 0))
    assert done.seconds == {START: 7.0, "compare": 3.0}
    told = [(line["event"], line.get("stage"), line.get("seconds")) for line in lines(tmp_path)]
    assert told[1:-1] == [
        ("stage", "compare", None),
        ("stage", START, None),
        ("note", START, None),
        ("done", START, 7.0),
        ("note", "compare", None),
        ("done", "compare", 3.0),
    ]


def texts(*events: dict[str, Any]) -> str:
    """The text of the report of these lines of a log, and a begin."""
    begin = {"at": "2026-03-01T04:00:02.118Z", "event": "begin", "name": "/data/shop/pipeline.toml"}
    pipeline = {
        "store": "/data/shop/store",
        "sources": [
            {"path": "orders.jsonl", "map": {"ordered": ["order", "part"], "by": ["order", "by"]}},
            {"table": "db.part", "predicate": "part"},
            {"path": "more/*.csv", "predicate": "part", "role": "add"},
        ],
    }
    return "|".join(Page(report([{**begin, "pipeline": pipeline}, *events])).texts)


def test_compiling_is_a_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_time, "seconds", 5.0)
    with recorded(configuration(tmp_path), Unwatched()) as record:
        with record.log.stage("materialise"):
            monkeypatch.setattr(compile_time, "seconds", 1005.0)
        done = record.finished(Run("full", "", 1, 0, 0))
    assert done.seconds[COMPILING] == 1000.0 and done.seconds["materialise"] < 0
    (page,) = tmp_path.rglob("*.html")
    assert COMPILING in page.read_text()
    told = [line.get("seconds") for line in lines(tmp_path) if line.get("stage") == COMPILING]
    assert told == [None, 1000.0]


def test_rows_and_bad_records_by_source() -> None:
    bad = [{"file": "orders.jsonl", "line": 3, "text": "{<", "reason": "not JSON"}]
    read = [
        {"source": "orders.jsonl", "rows": 1200, "set_aside": 7},
        {"source": "more/1.csv", "rows": 5, "set_aside": 0},
    ]
    shown = texts(
        {"event": "note", "mode": "incremental", "reason": ""},
        {"event": "note", "sources": read},
        {"event": "note", "set_aside": 7, "place": "store/bad/generation=2", "bad_records": bad},
    )
    assert "orders.jsonl|ordered(order, part), by(order, by)|read|1,200|7" in shown
    assert "table:db.part|part|unchanged, not read|–|–" in shown
    assert "more/*.csv|part|nothing new|–|–" in shown and "more/1.csv|read|5|0" in shown
    assert (
        "7 set aside, in store/bad/generation=2 (Parquet: file, line, text, reason); 1 of them here" in shown
    )
    assert "orders.jsonl|3|not JSON|{<" in shown and "{'" not in shown
    assert "Run of shop/pipeline.toml" in shown


def test_rows_that_were_left_out() -> None:
    rules = [
        {"rule": RULE, "rounds": 1, "rows": 4, "seconds": 1.0, "failures": {"incomparable": 2}},
        {"rule": "q(?x) :- p(?x) .", "rounds": 1, "rows": 4, "seconds": 1.0, "failures": {}},
    ]
    shown = texts({"event": "note", "failures": {"incomparable": 2, "overflows": 1}, "rules": rules})
    assert "2 comparisons of values that cannot be compared counted as false|" in shown
    assert "1 result too big for its kind gave no fact|" in shown
    section = shown.partition("Rows left out|")[2].partition("|Rules|")[0]
    assert f"|{RULE}|2 comparisons of values that cannot be compared counted as false" in section
    assert "q(?x) :- p(?x)" not in section
    assert "3|rows left out" in shown
    assert "1|row left out" in texts({"event": "note", "failures": {"overflows": 1}, "set_aside": 1})
    assert "1|bad record|" in texts({"event": "note", "set_aside": 1})
    assert "Rows left out" not in texts({"event": "note", "failures": {}, "rules": rules[1:]})


def test_what_was_taken_over_and_what_is_written() -> None:
    shown = texts(
        {
            "event": "note",
            "mode": "full",
            "reason": "a run that was killed goes on",
            "resumed": "2 of 4 strata",
        },
        {
            "event": "end",
            "outcome": "done",
            "generation": 3,
            "written": {"out/p": 5},
            "change": "store/changes/3",
        },
    )
    assert "full run: a run that was killed goes on|" in shown
    assert "read by the run that was killed" in shown
    assert (
        "/data/shop/store, as its state 3|–|the net change|store/changes/3|–|a part of a sink|out/p|5"
        in shown
    )


def test_an_error_comes_first_and_in_red() -> None:
    shown = texts(
        {"event": "stage", "stage": "materialise"},
        {"event": "round", "stage": "materialise", "stratum": 1, "strata": 4, "predicates": "p", "round": 9},
        {"event": "failed", "stage": "materialise", "seconds": 1.5, "error": "no space"},
        {"event": "end", "outcome": "failed", "error": "no space"},
    )
    where = "in the stage: materialise, stratum 1 of 4 (p), round 9"
    assert f"|failed|no space\n{where}|" in shown
    assert "not read, or not to its end" in shown and "unchanged" not in shown
    page = report([{"event": "begin"}, {"event": "stage", "stage": "read"}])
    assert '<div class="error">The log ends here' in page and "in the stage: read" in page
    assert re.search(r"\.error {[^}]*color: var\(--bad\)", page)


def test_failure_is_told(tmp_path: Path) -> None:
    running = recorded(configuration(tmp_path), Unwatched())
    with pytest.raises(DataError) as told, running as record, record.log.stage("read"):
        raise DataError("facts.csv:3: <two> fields")
    found = lines(tmp_path)
    assert [line["event"] for line in found] == ["begin", "stage", "failed", "end"]
    assert told.value.__notes__ == [f"report {next((tmp_path / 'runs').glob('*.html'))}"]
    assert found[-1]["error"] == found[2]["error"] == "facts.csv:3: <two> fields"
    (page,) = (tmp_path / "runs").glob("*.html")
    assert "facts.csv:3: &lt;two&gt; fields" in page.read_text(encoding="utf-8")
    Page(report(found[:2]))  # a run that was killed


def test_second_run_is_refused(tmp_path: Path) -> None:
    with recorded(configuration(tmp_path), Unwatched()):
        with pytest.raises(
            DataError, match=r"another run is at work .*process \d+ of .*, since 2\d{3}-.* UTC"
        ):
            run_once(tmp_path)
        assert len(list((tmp_path / "runs").glob("*.jsonl"))) == 1
    lock_for_running(tmp_path).release()
    run_once(tmp_path)


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").touch()
    with pytest.raises(DataError, match="not a store"):
        run_once(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letters.txt"]
