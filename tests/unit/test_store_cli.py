"""The store on the command line: `materialise --store`, `query STORE`, `export STORE`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from modulog import Reasoner
from modulog.cli import app
from modulog.store.manifest import MANIFEST
from support.stores import forge

RULES = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."


class Result(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def modulog(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run the command line in this process."""

    def run(*args: str) -> Result:
        with pytest.raises(SystemExit) as stop:
            app.app([str(a) for a in args])
        out, err = capsys.readouterr()
        return Result(int(stop.value.code or 0), out, err)

    return run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rules, facts, a store of both, and a file that is not a store."""
    monkeypatch.chdir(tmp_path)
    Path("rules.rls").write_text(RULES, encoding="utf-8")
    Path("edge.csv").write_text("a,b\nb,c\n", encoding="utf-8")
    Path("other").mkdir()
    Path("other", "mine.txt").write_text("mine", encoding="utf-8")
    r = Reasoner(Path("rules.rls"))
    r.load("edge.csv")
    r.save("store")
    return tmp_path


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_materialise_query_export(modulog: Callable[..., Result]) -> None:
    made = modulog("materialise", "rules.rls", "--facts", "edge.csv", "--store", "deep/store")
    assert (made.code, made.err) == (0, "")
    assert made.out.startswith("5 facts (2 explicit)")
    asked = modulog("query", "deep/store", "path(a, ?y)", "--format", "json")
    assert json.loads(asked.out) == [{"y": "b"}, {"y": "c"}]
    exported = modulog("export", "deep/store", "--out", "files")
    assert exported.code == 0
    assert exported.out.split() == ["files/edge.csv", "2", "rows", "files/path.csv", "3", "rows"]
    assert sorted(Path("files/path.csv").read_text("utf-8").split()) == ["a,b", "a,c", "b,c"]
    assert modulog("export", "store", "--out", "tables", "--format", "parquet").code == 0


def test_materialise_writes_both(modulog: Callable[..., Result]) -> None:
    both = modulog("materialise", "rules.rls", "--facts", "edge.csv", "--store", "s", "--out", "o")
    assert both.code == 0
    assert Path("s", MANIFEST).exists() and Path("o", "path.csv").exists()


def test_the_plan_of_a_store(modulog: Callable[..., Result]) -> None:
    assert "stratum 1: path/2 (recursive)" in modulog("plan", "store").out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["materialise", "rules.rls"], "--out DIR for files, --store DIR for a store"),
        (["materialise", "rules.rls", "--store", "other"], "other: not a store, and not empty"),
        (["materialise", "rules.rls", "--store", "rules.rls"], "rules.rls: not a store, which is a folder"),
        (
            ["materialise", "rules.rls", "--out", "store"],
            "store: a store: files are written to another folder",
        ),
        (["materialise", "store", "--store", "new"], "store: a folder; materialise takes a file of rules"),
        (["query", "other", "path(?x, ?y)"], f"other: not a store: it has no {MANIFEST}"),
        (["query", "store", "pth(?x, ?y)"], "did you mean path"),
        (["query", "store", "path(?x, ?y)", "--facts", "edge.csv"], "store: a store has its facts already"),
        (["query", "store", "path(?x, ?y)", "--modules", "off"], "store: a store was computed already"),
        (["export", "absent", "--out", "new"], "absent: there is no such folder"),
        (["export", "other", "--out", "new"], f"other: not a store: it has no {MANIFEST}"),
        (["export", "rules.rls", "--out", "new"], "rules.rls: not a store, which is a folder"),
        (["export", "store", "--out", "store"], "store: a store: files are written to another folder"),
        (["export", "newer", "--out", "new"], "in version 7 of the format"),
        (["query", "newer", "path(?x, ?y)"], "in version 7 of the format"),
        (["materialise", "rules.rls", "--store", "newer"], "in version 7 of the format"),
        (["query", "damaged", "path(?x, ?y)"], ".parquet: damaged: its checksum is wrong"),
        (["export", "damaged", "--out", "new"], ".parquet: damaged: its checksum is wrong"),
    ],
)
def test_mistakes(modulog: Callable[..., Result], folder: Path, args: list[str], message: str) -> None:
    r = Reasoner.open("store")
    for name in ("newer", "damaged"):
        r.save(name)
    forge(Path("newer"), lambda content: content.update(version=7))
    for path in Path("damaged").rglob("*.parquet"):
        path.write_bytes(bytes(255 - b for b in path.read_bytes()))
    before = everything(folder)
    result = modulog(*args)
    assert (result.code, result.out) == (2, "")
    assert message in result.err and "Traceback" not in result.err
    assert everything(folder) == before
    assert not Path("new").exists()


def test_bad_facts_leave_the_store(modulog: Callable[..., Result], folder: Path) -> None:
    Path("bad").mkdir()
    Path("bad", "edge.csv").write_text("a,b\nc\n", encoding="utf-8")
    before = everything(folder)
    result = modulog("materialise", "rules.rls", "--facts", "bad", "--store", "store")
    assert result.code == 2
    assert everything(folder) == before


def test_prefixes_of_the_program_in_questions_and_answers(modulog: Callable[..., Result]) -> None:
    """A store's queries know the prefixes of its program, and tables show them; JSON and CSV have whole IRIs."""
    Path("u.rls").write_text(
        '@prefix ub: <http://u/ub#> . @prefix : <http://u/> . ub:Chair(:ann) . rdfs:label(:ann, "x"^^xsd:token) .\n'
        "ub:Professor(?x) :- ub:Chair(?x) .",
        encoding="utf-8",
    )
    assert modulog("materialise", "u.rls", "--store", "u").code == 0
    asked = modulog("query", "u", "rdf:type(?x, ?c), rdfs:label(?x, ?l)")
    assert (asked.code, asked.err) == (0, "")
    assert [line.split()[1::2] for line in asked.out.splitlines() if ":ann" in line] == [
        [":ann", "ub:Chair", '"x"^^xsd:token'],
        [":ann", "ub:Professor", '"x"^^xsd:token'],
    ]
    whole = modulog("query", "u", "ub:Chair(?x)", "--format", "json").out
    assert json.loads(whole) == [{"x": "<http://u/ann>"}]
    assert modulog("query", "u", "ub:Chair(?x)", "--format", "csv").out.split() == ["x", "<http://u/ann>"]
    Path("c.nt").write_text(
        "<http://u/bob> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://u/ub#Chair> .\n"
    )
    changed = modulog("update", "u", "--add", "c.nt")
    assert [line.split()[1::2] for line in changed.out.splitlines() if "ub:" in line] == [
        ["ub:Chair", "1", "0"],
        ["ub:Professor", "1", "0"],
    ]
    assert "<http://u/ub#Chair>" in modulog("update", "u", "--delete", "c.nt", "--format", "json").out
    reasoner = Reasoner.open("u")
    assert reasoner.count("ub:Chair") == len(reasoner.rows("rdfs:label")) == 1
    Path("chairs.csv").write_text("<http://u/eve>\n", encoding="utf-8")
    given = modulog("query", "u.rls", "ub:Professor(?x)", "--facts", "ub:Chair=chairs.csv")
    assert ":eve" in given.out
