"""The command line: every verb, formats, exit codes, positions in errors, Ctrl-C, and how little it loads."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import pty
import re
import runpy
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from modulog import Reasoner, __version__, errors
from modulog.cli import app, progress_line
from modulog.cli.progress_line import Progress
from modulog.kernels.compile_time import NOTICE
from modulog.reasoner.notices import warn_user

RULES = """\
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
dead(?x) :- edge(_, ?x), ~edge(?x, _) .
"""
EXAMPLE = Path(__file__).parents[2] / "examples" / "supply-chain"


@dataclass(frozen=True)
class Result:
    """What a command gave."""

    code: int
    out: str
    err: str


@pytest.fixture
def modulog(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Runs the command line in this process."""

    def run(*args: object) -> Result:
        with pytest.raises(SystemExit) as stop:
            app.app([str(a) for a in args])
        out, err = capsys.readouterr()
        return Result(int(stop.value.code or 0), out, err)

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rules and facts, in which the commands run."""
    monkeypatch.chdir(tmp_path)
    Path("rules.rls").write_text(RULES, encoding="utf-8")
    Path("facts").mkdir()
    Path("facts/edge.csv").write_text("a,b\nb,c\nc,d\n", encoding="utf-8")
    return tmp_path


# ---- check


def test_check_accepts(modulog: Callable[..., Result], folder: Path) -> None:
    assert modulog("check", "rules.rls", "--facts", "facts") == Result(
        0, "rules.rls: 3 rules, 0 facts: fine\n", ""
    )


def test_check_lists_the_inputs_on_one_line(modulog: Callable[..., Result], folder: Path) -> None:
    Path("rules.rls").write_text(RULES + "q(?x) :- team(?x), ~gone(?x), dead(?x) .", encoding="utf-8")
    assert modulog("check", "rules.rls") == Result(
        0, "rules.rls: inputs: edge, gone, team\nrules.rls: 4 rules, 0 facts: fine\n", ""
    )


def test_check_without_facts_warns_of_names_that_look_misspelt(
    modulog: Callable[..., Result], folder: Path
) -> None:
    Path("rules.rls").write_text(RULES + "q(?x) :- paht(?x, _) .", encoding="utf-8")
    result = modulog("check", "rules.rls")
    assert result.code == 0
    assert result.err == (
        "rules.rls:4:10: warning: `paht` has no rules; did you mean `path`?\n"
        "  4 | q(?x) :- paht(?x, _) .\n    |          ^^^^^^^^^^^\n"
    )
    assert result.out == "rules.rls: inputs: edge, paht\nrules.rls: 4 rules, 0 facts: 1 warning\n"


def test_check_without_facts_compares_inputs_with_each_other(
    modulog: Callable[..., Result], folder: Path
) -> None:
    rules = (
        "@prefix : <http://e/> .\nq(?x) :- :parent(?x, ?y), :parnet(?y, _) .\nq(?x) :- day1(?x), day2(?x) ."
    )
    Path("rules.rls").write_text(rules, encoding="utf-8")
    result = modulog("check", "rules.rls")
    said = "rules.rls:2:27: warning: `:parnet` looks misspelt; did you mean `:parent`?"
    assert (result.code, result.err.count("warning:")) == (0, 1) and result.err.startswith(said)


def test_check_with_facts_warns_of_predicates_without_any(
    modulog: Callable[..., Result], folder: Path
) -> None:
    Path("rules.rls").write_text(RULES + "q(?x) :- edges(?x, _) . q(X) :- edge(X, X) .", encoding="utf-8")
    result = modulog("check", "rules.rls", "--facts", "facts")
    assert result.code == 0
    assert "rules.rls:4:10: warning: `edges` has no facts and no rules; did you mean `edge`?" in result.err
    assert "rules.rls:4:33: warning: `X` is a constant here; did you mean `?X`?" in result.err
    assert result.out == "rules.rls: 5 rules, 0 facts: 2 warnings\n"


def test_few_warnings_about_what_has_no_facts(modulog: Callable[..., Result], folder: Path) -> None:
    Path("rules.rls").write_text("".join(f"q(?x) :- input{n}(?x) .\n" for n in range(20)), encoding="utf-8")
    result = modulog("query", "rules.rls", "q(?x)", "--facts", "facts", "--format", "csv")
    assert (result.code, result.out) == (0, "x\n")
    assert result.err.count(": warning: ") == 5
    assert result.err.endswith("15 more warnings: `modulog check rules.rls` shows all\n")


def test_run_shows_what_is_likely_wrong(
    modulog: Callable[..., Result], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def odd(*_: object, **__: object) -> str:
        warn_user("rules.rls:1:17: `edge` has no facts and no rules", errors.ProgramWarning)
        return "done"

    Path("pipeline.toml").write_text('store = "store"\nrules = ["rules.rls"]\n', encoding="utf-8")
    monkeypatch.setattr("modulog.pipeline.pipeline.Pipeline.run", odd)
    assert modulog("run", "pipeline.toml") == Result(
        0, "done\n", "warning: rules.rls:1:17: `edge` has no facts and no rules\n"
    )


def test_check_of_rules_from_an_ontology_is_quiet(modulog: Callable[..., Result], folder: Path) -> None:
    names = ["Book", "Work", "Chair", "hasAlumnus", "Person"]
    rules = "".join(f":Thing(?x) :- :{name}(?x) .\n" for name in names)
    Path("rules.rls").write_text(f"@prefix : <http://e.org/> .\n{rules}", encoding="utf-8")
    listed = ", ".join(sorted(f":{name}" for name in names))
    result = modulog("check", "rules.rls")
    assert result == Result(0, f"rules.rls: inputs: {listed}\nrules.rls: 5 rules, 0 facts: fine\n", "")
    Path("few.ttl").write_text("<http://e.org/a> a <http://e.org/Book> .", encoding="utf-8")
    result = modulog("query", "rules.rls", ":Thing(?x)", "--facts", "few.ttl", "--format", "csv")
    assert (result.code, result.err) == (0, "")


def test_check_refuses_functions_in_place_of_atoms(modulog: Callable[..., Result], folder: Path) -> None:
    Path("rules.rls").write_text('q(?s) :- a(?s), CONTAINS(?s, "ab") .', encoding="utf-8")
    result = modulog("check", "rules.rls")
    assert (result.code, result.out) == (2, "")
    assert "rules.rls:1:17: there is no function `CONTAINS`" in result.err
    Path("CONTAINS.csv").write_text("ab,ab\n", encoding="utf-8")
    assert modulog("check", "rules.rls", "--facts", "CONTAINS.csv", "a=facts/edge.csv").code == 0


def test_check_reports_every_file(modulog: Callable[..., Result], folder: Path) -> None:
    Path("unsafe.rls").write_text("p(?x) :- q(?y) .", encoding="utf-8")
    Path("odd.rls").write_text("p(?x) :-\n    q[?x] .", encoding="utf-8")
    result = modulog("check", "unsafe.rls", "odd.rls", "absent.rls", "rules.rls", "--facts", "facts")
    assert result.code == 2
    assert result.err.count("^") >= 2
    assert "unsafe.rls:1:3: " in result.err
    assert "odd.rls:2:6: " in result.err
    assert "  2 |     q[?x] ." in result.err
    assert "cannot read absent.rls" in result.err
    assert result.out == "rules.rls: 3 rules, 0 facts: fine\n"


# ---- plan


def test_plan_without_facts(modulog: Callable[..., Result], folder: Path) -> None:
    result = modulog("plan", "rules.rls")
    assert result.code == 0
    assert "path/2 (recursive)" in result.out
    assert "once:" not in result.out


def test_plan_with_facts_shows_orders(modulog: Callable[..., Result], folder: Path) -> None:
    result = modulog("plan", "rules.rls", "--facts", "facts")
    assert (result.code, result.err) == (0, "")
    assert "once: edge(?x, ?y)" in result.out
    assert "module right-linear closure" in result.out


# ---- materialise


def test_materialise_writes_a_file_for_each_predicate(modulog: Callable[..., Result], folder: Path) -> None:
    result = modulog("materialise", "rules.rls", "--facts", "facts", "--out", "deep/out")
    assert (result.code, result.err) == (0, "")
    assert sorted(p.name for p in Path("deep/out").iterdir()) == ["dead.csv", "edge.csv", "path.csv"]
    assert [p.name for p in Path("deep").iterdir()] == ["out"]
    assert Path("deep/out/dead.csv").read_text(encoding="utf-8") == "d\n"
    with Path("deep/out/path.csv").open(encoding="utf-8") as lines:
        assert sorted(map(tuple, csv.reader(lines))) == [*zip("aaabbc", "bcdcdd", strict=True)]
    assert re.search(r"deep/out/path.csv +6 rows\n", result.out)
    assert re.search(r"10 facts \(3 explicit\) in [\d.]+ s", result.out)


def test_materialise_writes_parquet(modulog: Callable[..., Result], folder: Path) -> None:
    Path("facts/edge.csv").write_text("1,2\n2,3\n", encoding="utf-8")
    assert (
        modulog("materialise", "rules.rls", "--facts", "facts", "--out", "out", "--format", "parquet").code
        == 0
    )
    table = pq.read_table("out/path.parquet")
    assert [str(t) for t in table.schema.types] == ["int64", "int64"]
    assert sorted(tuple(row.values()) for row in table.to_pylist()) == [(1, 2), (1, 3), (2, 3)]


def test_materialise_writes_only_outputs(modulog: Callable[..., Result], folder: Path) -> None:
    Path("rules.rls").write_text(RULES + "@output dead .\n", encoding="utf-8")
    assert modulog("materialise", "rules.rls", "--facts", "facts", "--out", "out").code == 0
    assert [p.name for p in Path("out").iterdir()] == ["dead.csv"]


def test_materialise_without_modules_gives_the_same(modulog: Callable[..., Result], folder: Path) -> None:
    for modules in ("auto", "off"):
        command = ["materialise", "rules.rls", "--facts", "facts", "--out", modules, "--modules", modules]
        assert modulog(*command).code == 0
    for path in Path("auto").iterdir():
        lines = path.read_text(encoding="utf-8").splitlines()
        assert sorted(lines) == sorted(Path("off", path.name).read_text(encoding="utf-8").splitlines())


def test_failed_export_changes_nothing(
    modulog: Callable[..., Result], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("out").mkdir()
    Path("out/path.csv").write_text("as it was\n", encoding="utf-8")

    def export(self: Reasoner, folder: str, **_: Any) -> dict[str, int]:
        Path(folder, "path.csv").write_text("half", encoding="utf-8")
        raise errors.DataError("the disk is full")

    monkeypatch.setattr(Reasoner, "export", export)
    result = modulog("materialise", "rules.rls", "--facts", "facts", "--out", "out")
    assert (result.code, result.err) == (2, "error: the disk is full\n")
    assert Path("out/path.csv").read_text(encoding="utf-8") == "as it was\n"
    assert sorted(p.name for p in folder.iterdir()) == ["facts", "out", "rules.rls"]


def test_out_must_be_a_folder(modulog: Callable[..., Result], folder: Path) -> None:
    result = modulog("materialise", "rules.rls", "--facts", "facts", "--out", "rules.rls")
    assert (result.code, result.err) == (2, "error: rules.rls: not a folder\n")


def test_warnings_name_the_file_that_is_meant(modulog: Callable[..., Result], folder: Path) -> None:
    Path("tags.rls").write_text('p("chat"@fr) .\n', encoding="utf-8")
    result = modulog("materialise", "tags.rls", "--out", "out")
    assert result.err.startswith("warning: out/p.csv: 1 term is in quotes")


# ---- query


def query(modulog: Callable[..., Result], question: str, *options: object) -> str:
    result = modulog("query", "rules.rls", question, "--facts", "facts", *options)
    assert (result.code, result.err) == (0, "")
    return result.out


def test_query_table(modulog: Callable[..., Result], folder: Path) -> None:
    lines = query(modulog, "path(a, ?y), ~edge(a, ?y)").splitlines()
    assert lines == ["┏━━━┓", "┃ y ┃", "┡━━━┩", "│ c │", "│ d │", "└───┘", "2 rows"]


def test_query_without_variables(modulog: Callable[..., Result], folder: Path) -> None:
    assert "true" in query(modulog, "path(a, d)")
    assert query(modulog, "path(d, a)", "--format", "csv") == "holds\nfalse\n"
    assert json.loads(query(modulog, "path(d, a)", "--format", "json")) == [{"holds": False}]


def test_table_shows_fifty_rows(modulog: Callable[..., Result], folder: Path) -> None:
    Path("facts/edge.csv").write_text("".join(f"{n},0\n" for n in range(1, 1235)), encoding="utf-8")
    lines = query(modulog, "edge(?x, ?y)").splitlines()
    assert len(lines) == 3 + 50 + 1 + 1
    assert lines[-1] == "50 of 1,234 rows"
    assert query(modulog, "edge(?x, ?y)", "--limit", 2).splitlines()[-1] == "2 of 1,234 rows"
    assert query(modulog, "edge(?x, ?y)", "--limit", 2000).splitlines()[-1] == "1,234 rows"
    assert len(json.loads(query(modulog, "edge(?x, ?y)", "--format", "json"))) == 1234
    assert len(query(modulog, "edge(?x, ?y)", "--format", "csv", "--limit", 7).splitlines()) == 8


def test_table_takes_no_value_for_markup(modulog: Callable[..., Result], folder: Path) -> None:
    long = "x" * 300
    Path("facts/edge.csv").write_text(f"[bold]a,{long}\n[/nothing],:smile:\n", encoding="utf-8")
    out = query(modulog, "edge(?x, ?y)")
    assert "[bold]a" in out
    assert "[/nothing]" in out
    assert ":smile:" in out
    assert long in out


def test_query_json_is_typed(modulog: Callable[..., Result], folder: Path) -> None:
    Path("facts/edge.csv").write_text('1,"1"\n2,é\n', encoding="utf-8")
    answers = json.loads(query(modulog, "edge(?n, ?text)", "--format", "json"))
    assert sorted(answers, key=str) == [{"n": 1, "text": "1"}, {"n": 2, "text": "é"}]
    assert query(modulog, "edge(3, ?y)", "--format", "json") == "[]\n"


def test_query_json_of_numbers_that_json_does_not_know(modulog: Callable[..., Result], folder: Path) -> None:
    Path("facts").rename("elsewhere")
    Path("facts").mkdir()
    Path("facts/w.csv").write_text("1\n", encoding="utf-8")
    number = "^^<http://www.w3.org/2001/XMLSchema#double>"
    facts = " ".join(f'v("{n}"{number}) .' for n in ("INF", "-INF", "NaN", "1.5"))
    Path("rules.rls").write_text(facts, encoding="utf-8")
    answers = json.loads(query(modulog, "v(?x)", "--format", "json"))
    assert sorted(map(str, (a["x"] for a in answers))) == ["-INF", "1.5", "INF", "NaN"]


def test_query_csv_reads_back(modulog: Callable[..., Result], folder: Path) -> None:
    content = '1,"1"\n"a ""b"", c",<http://e/x>\n2.50,"two\nlines"\n'
    Path("facts/edge.csv").write_text(content, encoding="utf-8")
    out = query(modulog, "edge(?x, ?y)", "--format", "csv")
    assert out.startswith("x,y\n")
    Path("again.csv").write_text(out, encoding="utf-8")
    first, again = Reasoner(""), Reasoner("")
    first.load("facts/edge.csv")
    again.load("again.csv", predicate="edge", header=True)
    assert set(again.rows("edge")) == set(first.rows("edge"))
    assert again.count("edge") == 3


# ---- Facts in


def test_facts_in_every_form(modulog: Callable[..., Result], folder: Path) -> None:
    Path("links.csv.gz").write_bytes(gzip.compress(b"x,y\n"))
    Path("more.tsv").write_text("y\tz\n", encoding="utf-8")
    facts = ["edge=links.csv.gz", "edge=more.tsv"]
    result = modulog("query", "rules.rls", "path(x, ?y)", "--format", "csv", "--facts", "facts", *facts)
    assert sorted(result.out.splitlines()) == ["y", "y", "z"]
    repeated = [word for f in facts for word in ("--facts", f)]
    again = modulog("query", *repeated, "rules.rls", "path(x, ?y)", "--format", "csv")
    assert sorted(again.out.splitlines()) == ["y", "y", "z"]


def test_columns_of_a_wide_table(modulog: Callable[..., Result], folder: Path) -> None:
    Path("wide.csv").write_text("id,name,boss\n1,Ada,2\n2,Ben,2\n", encoding="utf-8")
    Path("p.rls").write_text("works(?x, ?y) :- boss(?b, ?c), name(?b, ?x), name(?c, ?y) .", encoding="utf-8")
    by_name = ["--header", "--map", "name=wide.csv:id,name", "boss=wide.csv:id,boss"]
    result = modulog("query", "p.rls", "works(?x, ?y)", *by_name, "--format", "json")
    assert (result.code, result.err) == (0, "")
    assert sorted(json.loads(result.out), key=str) == [{"x": "Ada", "y": "Ben"}, {"x": "Ben", "y": "Ben"}]
    Path("wide.csv").write_text("1,Ada,2\n2,Ben,2\n", encoding="utf-8")
    by_place = ["--map", "name=wide.csv:0,1", "--map", "boss=wide.csv:0,2"]
    assert modulog("query", "p.rls", "works(?x, ?y)", *by_place, "--format", "json").out == result.out


def test_strings_turn_typing_off(modulog: Callable[..., Result], folder: Path) -> None:
    Path("facts/edge.csv").write_text("1,2\n", encoding="utf-8")
    assert query(modulog, "edge(?x, ?y)", "--format", "json") == '[{"x": 1, "y": 2}]\n'
    assert query(modulog, "edge(?x, ?y)", "--format", "json", "--strings") == '[{"x": "1", "y": "2"}]\n'


def test_header_that_was_not_announced(modulog: Callable[..., Result], folder: Path) -> None:
    Path("facts/edge.csv").write_text("from,to\na,b\nb,c\n", encoding="utf-8")
    result = modulog("query", "rules.rls", "path(?x, ?y)", "--facts", "facts")
    assert result.code == 0
    assert "warning: facts/edge.csv: the first row looks like a header" in result.err
    assert query(modulog, "path(?x, ?y)", "--header").endswith("3 rows\n")


# ---- Mistakes


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["query", "rules.rls", "pth(?x, ?y)", "--facts", "facts"], "did you mean path"),
        (["query", "rules.rls", "path(?x)", "--facts", "facts"], "2 arguments, not 1"),
        (["query", "rules.rls", "path(?x, [", "--facts", "facts"], "<query>:1:10: "),
        (["query", "absent.rls", "p(?x)"], "cannot read absent.rls"),
        (["query", "rules.rls", "p(?x)", "--facts", "absent"], "absent: there is no such file or folder"),
        (["query", "rules.rls", "path(?x, ?y)", "--map", "edge=facts/edge.csv"], "NAME=FILE:COL,COL"),
        (["query", "rules.rls", "path(?x, ?y)", "--map", "edge=facts/edge.csv:0,7"], "no column 7"),
        (["query", "rules.rls", "path(?x, ?y)", "--format", "xml"], "xml"),
        (["materialise", "rules.rls"], "--out"),
        (["materialise"], "RULES"),
        (["sing"], "sing"),
    ],
)
def test_mistakes_of_the_user(
    modulog: Callable[..., Result], folder: Path, args: list[str], message: str
) -> None:
    result = modulog(*args)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert "Traceback" not in result.err


def test_malformed_row_has_a_position(modulog: Callable[..., Result], folder: Path) -> None:
    Path("facts/edge.csv").write_text("a,b\nb,c\nc\n", encoding="utf-8")
    result = modulog("materialise", "rules.rls", "--facts", "facts", "--out", "out")
    assert result.code == 2
    assert result.err.startswith("error: facts/edge.csv:3: ")
    assert not Path("out").exists()


def test_unstratifiable_program_shows_its_cycle(modulog: Callable[..., Result], folder: Path) -> None:
    Path("rules.rls").write_text("win(?x) :- move(?x, ?y), ~win(?y) .", encoding="utf-8")
    result = modulog("plan", "rules.rls")
    assert result.code == 2
    assert result.err.startswith("rules.rls:1:26: ")
    assert "win -> ~win" in result.err
    assert result.err.splitlines()[2] == "    |" + " " * 26 + "^" * 8


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (errors.InternalError("lost a fact"), 1, "internal error: lost a fact\n"),
        (errors.EngineError("it broke"), 1, "internal error: it broke\n"),
        (errors.EngineUnavailable("install it"), 2, "error: install it\n"),
        (MemoryError(), 1, "error: there is not enough memory\n"),
        (errors.Interrupted("stopped in round 3"), 130, "stopped in round 3\n"),
    ],
)
def test_exit_codes(
    modulog: Callable[..., Result],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    message: str,
) -> None:
    def fail(self: Reasoner) -> None:
        raise error

    monkeypatch.setattr(Reasoner, "materialise", fail)
    assert modulog("plan", "rules.rls", "--facts", "facts") == Result(code, "", message)


def test_interrupt_while_loading(
    modulog: Callable[..., Result], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(self: Reasoner, *_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Reasoner, "load", stop)
    result = modulog("plan", "rules.rls", "--facts", "facts")
    assert result.code == 130
    assert re.fullmatch(r"stopped after [\d.]+ s loading facts\n", result.err)


def test_reader_that_has_seen_enough(folder: Path) -> None:
    Path("facts/edge.csv").write_text("".join(f"{n},z\n" for n in range(100_000)), encoding="utf-8")
    command = [sys.executable, "-m", "modulog", "query", "--facts=facts", "--format=csv"]
    with subprocess.Popen(
        [*command, "rules.rls", "edge(?x, ?y)"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"x,y\n"
        process.stdout.close()
        assert process.stderr.read().decode().replace(f"{NOTICE}\n", "") == ""  # in a new checkout
        assert process.wait() == 141


# ---- Long work


def interrupted(folder: Path) -> tuple[int, str]:
    """Stop a long job when its progress shows on the terminal: exit code, and what was shown."""
    master, terminal = pty.openpty()
    command = [sys.executable, "-m", "modulog", "materialise", "far.rls", "--facts", "far", "--out", "out"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, cwd=folder) as process:
        os.close(terminal)
        shown, sent = "", False
        while True:
            if select.select([master], [], [], 0.05)[0]:
                try:
                    shown += os.read(master, 65536).decode(errors="replace")
                except OSError:  # the other end is closed
                    break
            elif process.poll() is not None:
                break
            if not sent and "in stratum" in shown:
                process.send_signal(signal.SIGINT)
                sent = True
        code = process.wait()
    os.close(master)
    return code, shown


def test_ctrl_c_stops_before_the_end(tmp_path: Path) -> None:
    rounds = 600_000
    (tmp_path / "far.rls").write_text(
        "far(?y) :- begin(?y) . far(?y) :- far(?x), next(?x, ?y) .", encoding="utf-8"
    )
    (tmp_path / "far").mkdir()
    (tmp_path / "far/begin.csv").write_text("0\n", encoding="utf-8")
    # One new fact a round: hundreds of thousands of rounds, and little memory.
    (tmp_path / "far/next.csv").write_text("".join(f"{n},{n + 1}\n" for n in range(rounds)), encoding="utf-8")
    code, shown = interrupted(tmp_path)
    assert code == 130, shown
    assert re.search(r"in stratum 1 of 1 \(far\), round \d+, [\d,]+ facts?, [\d,]+ facts/s, \d+ s", shown)
    told = r"stopped after [\d.]+ s in stratum 1 of 1 \(far\), round (\d+), with [\d,]+ facts?"
    stopped = re.search(told, shown)
    assert stopped is not None and int(stopped[1]) < rounds
    assert sorted(p.name for p in tmp_path.iterdir()) == ["far", "far.rls"]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Patience:
    """A timer whose time is over when a test says so."""

    started: Callable[[], None] | None = None

    def __init__(self, seconds: float, show: Callable[[], None]) -> None:
        self.show, self.daemon = show, False
        Patience.started = None

    def start(self) -> None:
        Patience.started = self.show

    def cancel(self) -> None:
        """What has not been shown will not be."""


def test_progress_waits_before_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_line, "Timer", Patience)
    stream = Terminal()
    with Progress(stream) as observe:
        observe(1, 2, "path", 0, 10)
    assert stream.getvalue() == ""
    with Progress(stream) as observe:
        observe(1, 2, "path [x]", 3, 12345)
        assert Patience.started is not None
        Patience.started()
    assert "in stratum 1 of 2 (path [x]), round 3, 12,345 facts, " in stream.getvalue()


def test_progress_is_silent_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_line, "Timer", Patience)
    stream = io.StringIO()
    with Progress(stream) as observe:
        observe(1, 1, "p", 0, 1)
    assert Patience.started is None and stream.getvalue() == ""


# ---- Starting


def test_help_loads_little() -> None:
    """It needs neither tables nor kernels; the import of the package alone is looked at in `tests/architecture`."""
    told = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "modulog", "--help"],
        check=True,
        capture_output=True,
        text=True,
    )
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in told.stderr.splitlines()}
    assert {"modulog", "typer"} <= loaded
    assert not loaded & {"numpy", "numba", "pyarrow", "pandas", "polars", "lark", "pyoxigraph", "pyspark"}


def test_version_and_help(modulog: Callable[..., Result]) -> None:
    assert modulog("--version") == Result(0, f"modulog {__version__}\n", "")
    for verb in ("check", "plan", "materialise", "query"):
        assert verb in modulog("--help").out
        assert "--facts" in modulog(verb, "--help").out


# ---- The example


def test_example_facts_are_what_its_script_makes(tmp_path: Path) -> None:
    script = tmp_path / "generate.py"
    script.write_bytes((EXAMPLE / "generate.py").read_bytes())
    runpy.run_path(str(script), run_name="__main__")
    made = sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*.csv"))
    assert made == sorted(p.relative_to(EXAMPLE) for p in EXAMPLE.rglob("*.csv"))
    for path in made:
        assert (tmp_path / path).read_bytes() == (EXAMPLE / path).read_bytes(), path


def test_example_answers(modulog: Callable[..., Result]) -> None:
    services = EXAMPLE / "services.csv"
    maps = [f"team={services}:0,1", f"exposure={services}:0,2", f"delivery={services}:0,3"]
    command = ["query", EXAMPLE / "rules.rls", "calm(?s)", "--facts", EXAMPLE / "facts", "--map", *maps]
    result = modulog(*command)
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith("3 rows\n")
