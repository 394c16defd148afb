"""The guide for Spark does what it shows: its files, its pipeline and its Python, in the session of the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from modulog import Pipeline, Reasoner
from modulog.cli import app
from support.documents import blocks, check_python, commands

GUIDE = "docs/run-on-spark.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of the guide; where Spark was started its relative paths are others."""
    for block in blocks(GUIDE, None):
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_pipeline(spark: Any, folder: Path) -> None:
    first, second = commands(blocks(GUIDE, "")[0].text)
    assert (first, second) == (["run", "pipeline.toml", "--dry-run"], ["run", "pipeline.toml"])
    with pytest.raises(SystemExit) as stop:
        app.app(first)
    assert not stop.value.code
    run = Pipeline.from_file(folder / "pipeline.toml").run(spark=spark)
    assert (run.mode, list(run.written.values())) == ("full", [3])
    with Reasoner.open("store", engine="local") as r:
        assert r.count("reaches") == 3


def test_the_python(spark: Any, folder: Path) -> None:
    [block] = blocks(GUIDE, "python")
    text = block.text.replace('load("edge.csv")', f'load("{folder}/edge.csv")')
    names: dict[str, Any] = {"spark": spark}
    assert check_python(text, names) == 2
    names["r"].close()
