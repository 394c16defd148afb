"""The pipeline that the README shows, `examples/data-lineage`: its first run on Spark, and what is shown of the second."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from modulog.cli import app

ROOT = Path(__file__).parents[2]


@pytest.fixture
def example(spark: Any, tmp_path: Path) -> Path:
    """A copy of the example in which the pipeline has run once, in the session of the tests."""
    folder = tmp_path / "example"
    shutil.copytree(ROOT / "examples" / "data-lineage", folder, ignore=shutil.ignore_patterns("output"))
    with pytest.raises(SystemExit) as stop:
        app.app(["run", str(folder / "pipeline.toml")])
    assert not stop.value.code
    return folder


def test_what_the_readme_shows_of_the_second_run(
    example: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command prints the lines that are shown, `…` stands for others; the query works where there is no Java."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = text.split("it finds what has changed:\n\n```\n")[1].split("```")[0]
    monkeypatch.chdir(example)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(example / "nothing"))
    calls = re.split(r"^\$ ", shown, flags=re.M)[1:]
    assert len(calls) == 3
    for call, _, expected in (c.partition("\n") for c in calls):
        words = shlex.split(call, comments=True)
        if words[0] == "cp":
            shutil.copy(*(example / name for name in words[1:]))
            continue
        assert words[0] == "modulog"
        capsys.readouterr()
        if words[1] == "run":  # in the session of the tests
            with pytest.raises(SystemExit):
                app.app(words[1:])
            printed = capsys.readouterr().out
            assert "\none task of Spark: " in printed
        else:
            done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            printed = done.stdout
        parts = [re.escape(part.strip("\n")) for part in expected.split("…\n")]
        assert re.search(r"\n(.*\n)*".join(parts), printed)
