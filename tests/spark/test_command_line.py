"""The command line with `--engine spark`, in the session of the tests: files by predicate, and stores that are updated by files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from modulog import Reasoner
from modulog.cli import app
from modulog.store.manifest import MANIFEST
from support.stores import held

RULES = """
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
end(?x) :- path(_, ?x), ~edge(?x, _) .
"""
IRIS = "<http://e/path>(?x, ?y) :- <http://e/edge>(?x, ?y) ."

# The command line finds the session that is active.
pytestmark = pytest.mark.usefixtures("spark")


def modulog(*args: object) -> int:
    with pytest.raises(SystemExit) as stop:
        app.app([str(a) for a in args])
    return int(stop.value.code or 0)


@pytest.mark.parametrize("format", ["csv", "parquet", "nt"])
def test_files_are_partitioned_by_predicate(tmp_path: Path, format: str) -> None:
    (tmp_path / "rules.rls").write_text(IRIS)
    (tmp_path / "facts.nt").write_text("<http://e/a> <http://e/edge> <http://e/b> .\n")
    options = ("--facts", tmp_path / "facts.nt", "--out", tmp_path / "out", "--format", format)
    assert modulog("materialise", tmp_path / "rules.rls", *options, "--engine", "spark") == 0
    folders = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert folders == [f"http%3A%2F%2Fe%2F{name}.{format}" for name in ("edge", "path")]
    parts = [p for p in (tmp_path / "out" / folders[1]).iterdir() if p.name.startswith("part-")]
    if format == "parquet":
        rows = [row for part in parts for row in pq.read_table(part).to_pylist()]
        assert rows == [{"c0": "<http://e/a>", "c1": "<http://e/b>"}]
    else:
        lines = {"csv": "<http://e/a>,<http://e/b>", "nt": "<http://e/a> <http://e/path> <http://e/b> ."}
        assert [line for part in parts for line in part.read_text().splitlines()] == [lines[format]]


def state(folder: Path) -> dict[str, bytes]:
    """The manifest of a store, and every file that it names."""
    manifest = (folder / MANIFEST).read_bytes()
    entries = json.loads(manifest)
    files = [*entries["terms"], *(file for relation in entries["relations"] for file in relation["files"])]
    return {MANIFEST: manifest, **{file["path"]: (folder / file["path"]).read_bytes() for file in files}}


def test_a_store_is_updated_by_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, rules, edges = (
        tmp_path / "store",
        tmp_path / "rules.rls",
        {("a", "b"), ("b", "c"), ("c", "d"), (1, "a")},
    )
    rules.write_text(RULES)

    def file(name: str, rows: Any) -> Path:
        (tmp_path / name).write_text("".join(f"{x},{y}\n" for x, y in rows))
        return tmp_path / name

    facts = file("edge.csv", edges)
    assert modulog("materialise", rules, "--facts", facts, "--store", store, "--engine", "spark") == 0
    add, delete = {("d", "e"), ("b", "c")}, {("a", "b"), ("b", "c"), ("q", "q")}
    changes = ("--add", f"edge={file('add.csv', add)}", "--delete", f"edge={file('delete.csv', delete)}")
    capsys.readouterr()
    assert modulog("update", store, *changes, "--format", "json", "--engine", "spark") == 0
    change = json.loads(capsys.readouterr().out)
    assert change["deleted"]["edge"] == 1 and change["added"]["edge"] == 1 and change["ignored"] == 1

    expected = Reasoner(RULES, engine="local")
    expected.add("edge", sorted((edges - delete) | add, key=str))
    with Reasoner.open(store, engine="local") as opened:
        assert held(opened) == held(expected)
    before = state(store)
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\nc\n")
    assert modulog("update", store, "--add", f"edge={bad}", "--engine", "spark") == 2
    assert "bad.csv:2" in capsys.readouterr().err
    assert state(store) == before
    with monkeypatch.context() as patch:
        patch.setattr("modulog.engines.spark.store_files._measured", _fail)
        assert modulog("update", store, "--add", f"edge={facts}", "--engine", "spark") == 2
    assert "it is as it was" in capsys.readouterr().err
    assert state(store) == before

    assert modulog("update", store, "--delete", f"edge={facts}", "--engine", "spark") == 0
    with Reasoner.open(store, engine="local") as opened:
        assert opened.rows("path") == [("d", "e")] and opened.rows("end") == [("e",)]
        opened.update(add={"edge": [("e", "d")]})
        assert opened.count("path") == 4


def _fail(*_: object) -> None:
    raise OSError(28, "no space")
