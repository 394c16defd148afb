"""What a session of our own prints: nothing but our messages; Spark's log is in a file that errors name. Each test has a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JError

from modulog.engines.registry import start_spark
from modulog.spark import java_log, session
from modulog.spark.errors import translate

GOOD = '{"a": 1, "b": 2}\n'
BAD = GOOD + '{"a": 1, "b"\n'
AGAIN = "---- again\n"
HAS_NO_COLON = "not JSON: Expecting ':' delimiter: line 1 column 13 (char 12)"

# The command line twice, so that Java is started once.
RUNS = f"""
import sys
from modulog.cli.app import app
for folder in sys.argv[1:]:
    try:
        app(["run", folder + "/pipeline.toml"])
    except SystemExit as stop:
        print(stop.code, file=sys.stderr)
    sys.stderr.write({AGAIN!r})
"""

IN_PYTHON = """
import sys
from pathlib import Path
from modulog import Reasoner
with Reasoner("q(?x) :- p(?x, ?y) .", engine="spark", workers=2) as r:
    r.add("p", [(1, 2), (3, 4)])
    assert r.count("q") == 2
    r.load(Path(sys.argv[1]), predicate="p")
    r.materialise()
"""


def python(script: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """A script in a process of its own, in which Java also says that it has found options."""
    assert "JAVA_TOOL_OPTIONS" in os.environ
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", **environment},
    )


def pipeline(folder: Path, lines: str) -> Path:
    folder.mkdir()
    (folder / "rules.rls").write_text("q(?x) :- p(?x, ?y) .")
    (folder / "facts.jsonl").write_text(lines)
    (folder / "pipeline.toml").write_text(
        'store = "store"\nrules = ["rules.rls"]\n[spark]\nmaster = "local[1]"\n'
        '[[source]]\npath = "facts.jsonl"\nmap = { p = ["a", "b"] }\n'
    )
    return folder


def test_the_command_line_shows_our_message_alone(tmp_path: Path) -> None:
    good, bad = pipeline(tmp_path / "good", GOOD), pipeline(tmp_path / "bad", BAD)
    done = python(RUNS, good, bad)
    fine, wrong, _ = done.stderr.split(AGAIN)
    assert fine == "0\n" and re.search(r"^2 facts \(1 explicit\)", done.stdout, re.MULTILINE)
    (log,) = good.glob("store/runs/*.spark.log")  # one Java process has one log
    # One task has read the line, so the mistake is not one of Spark's, and its log has nothing of it.
    (report,) = bad.glob("store/runs/*.html")
    assert wrong == f"error: {bad}/facts.jsonl:2: {HAS_NO_COLON}\nreport {report}\n2\n"
    assert "WARN" in log.read_text()


@pytest.mark.long
def test_a_session_in_python_shows_our_message_alone(tmp_path: Path) -> None:
    facts = tmp_path / "facts.jsonl"
    facts.write_text(BAD)
    done = python(IN_PYTHON, facts, TMPDIR=str(tmp_path))
    *trace, message, where, hint = done.stderr.splitlines()
    assert message == f"modulog.errors.DataError: {facts}:2: {HAS_NO_COLON}"
    (log,) = tmp_path.glob("modulog-spark-*.log")
    assert where == f"Spark's log: {log}"
    assert hint.startswith("hint: ") and hint.endswith('discard("p")')
    assert trace[0].startswith("Traceback") and len(trace) < 40
    assert not re.search(r"org\.apache|WARN|token|Picked up", done.stderr)


def test_java_that_does_not_start_says_why(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'Error: could not find libjvm.so' >&2\nexit 1\n")
    java.chmod(0o755)
    start = "from modulog import Reasoner; Reasoner('', engine='spark')"
    done = python(start, JAVA_HOME=str(tmp_path), TMPDIR=str(tmp_path))
    (log,) = tmp_path.glob("modulog-spark-*.log")
    *_, what, why, where = done.stderr.splitlines()
    assert what == "modulog.errors.EngineUnavailable: Java ended before Spark had started:"
    assert (why, where) == ("Error: could not find libjvm.so", f"Spark's log: {log}")


def test_a_java_process_that_has_ended_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = ConnectionRefusedError(111, "Connection refused"), Py4JError("Answer from Java side is empty")
    with subprocess.Popen(["true"]) as process:
        monkeypatch.setattr(java_log, "_process", process)
        assert all(str(translate(error)).startswith("the Java process of Spark has ended") for error in lost)
        assert "Java" not in str(translate(Py4JError("something else")))
    monkeypatch.setattr(java_log, "_process", None)
    assert str(translate(lost[0])) == "Spark failed: [Errno 111] Connection refused"


def test_a_session_without_java_is_stopped_in_silence() -> None:
    class Gone:
        def stop(self) -> None:
            raise ConnectionRefusedError(111, "Connection refused")

    session.stop_session(Gone())  # type: ignore[arg-type]


def test_a_session_that_runs_is_left_as_it_is(spark: Any) -> None:
    assert session.build_session({"spark.modulog.own": "1"}) is spark
    assert spark.conf.get("spark.modulog.own", None) is None


def test_a_session_of_a_run_is_started_in_its_stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = []

    @contextmanager
    def stage() -> Iterator[None]:
        told.append("begins")
        yield
        told.append("is over")

    def build(settings: dict[str, str], log: Path) -> None:
        told.append(f"{settings['spark.master']} {log.name}")

    monkeypatch.setattr(session, "active_session", lambda: None)
    monkeypatch.setattr(session, "build_session", build)
    start_spark({"spark.master": "local"}, tmp_path / "spark.log", stage)
    assert told == ["begins", "local spark.log", "is over"]
