"""What `--dry-run` says: nothing is started, nothing is written, and it is what a run would do."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from modulog import Pipeline, Predicate, Reasoner
from modulog.cli import app
from modulog.pipeline.run_state import SourceState, State
from modulog.reasoner import for_pipelines

TEXT = """\
store = "store"
rules = ["rules.rls"]
mode = "incremental"
[[source]]
path = "edge.csv"
[[source]]
path = "nodes/*.csv"
predicate = "node"
[[source]]
path = "add/*.csv"
predicate = "edge"
role = "add"
[[source]]
table = "t"
predicate = "other"
[[source]]
path = "in"
predicate = "edge"
stream = true
[[sink]]
path = "out"
predicates = ["path"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("modulog.engines.registry.start_spark", None)
    Path("rules.rls").write_text("path(?x, ?y) :- edge(?x, ?y) .")
    Path("edge.csv").write_text("a,b\n")
    for name in ("nodes", "add"):
        Path(name).mkdir()
    Path("nodes/1.csv").write_text("a\n")
    Path("nodes/2.csv").write_text("b\n")
    Path("add/1.csv").write_text("b,c\n")
    Path("pipeline.toml").write_text(TEXT)
    return tmp_path


def described(*args: str) -> str:
    return Pipeline.from_file("pipeline.toml").describe()


def digest(path: str) -> str:
    return sha256(Path(path).read_bytes()).hexdigest()


def remember(change: State | None = None) -> State:
    """Let the store remember a run over the files as they are."""
    pipeline = Pipeline.from_file("pipeline.toml")
    edge, nodes, add, table, _ = pipeline.configuration.sources
    state = change or State(
        switches=pipeline.configuration.switches,
        sources={
            edge.key: SourceState({"edge.csv": digest("edge.csv")}, (Predicate("edge", 2),)),
            nodes.key: SourceState({p: digest(p) for p in ("nodes/1.csv", "nodes/2.csv")}, ()),
            table.key: SourceState(None, (Predicate("other", 1),)),
        },
        applied={add.key: {"add/1.csv": digest("add/1.csv")}},
    )
    made = Reasoner(Path("rules.rls"))
    made.add("edge", [])
    for_pipelines.save(made, "store", state.to_notes())
    return state


FULL = """\
full run: there is no earlier run: all sources are read
store store
sources
  edge.csv  1 file, 4 bytes  read
  nodes/*.csv  2 files, 4 bytes  read
  add/*.csv  1 file, 4 bytes  added: add/1.csv
  table:t  read
  in  new files are added as batches of a stream (available-now)
strata
  facts    edge/2
  stratum 1: path/2 (nonrecursive)
      path(?x, ?y) :- edge(?x, ?y) .
sinks
  out (parquet): path
"""


def test_a_first_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(folder.rglob("*"))
    with pytest.raises(SystemExit) as stop:
        app.app(["run", "pipeline.toml", "--dry-run"])
    assert not stop.value.code
    assert capsys.readouterr().out == FULL
    assert sorted(folder.rglob("*")) == before


def test_mistakes_have_an_exit_code(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("pipeline.toml").write_text('store = "store"\nrule = 1\n')
    with pytest.raises(SystemExit) as stop:
        app.app(["run", "pipeline.toml"])
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert (out, err.splitlines()) == (
        "",
        [
            "pipeline.toml:2: `rules` is a list of texts, not 1",
            "pipeline.toml:2: there is no key `rule` here; did you mean `rules`?",
        ],
    )


def test_nothing_has_changed(folder: Path) -> None:
    remember()
    assert described().splitlines()[:8] == [
        "incremental run: what has changed since the last run",
        "store store",
        "sources",
        "  edge.csv  1 file, 4 bytes  unchanged",
        "  nodes/*.csv  2 files, 4 bytes  unchanged",
        "  add/*.csv  1 file, 4 bytes  nothing new",
        "  table:t  compared",
        "  in  new files are added as batches of a stream (available-now)",
    ]
    assert described().splitlines()[-1] == "  out (parquet): path, where their facts change"


def test_some_files_have_changed(folder: Path) -> None:
    """Files that are new, gone, or have other content; a file with the same content is not changed, whenever it was written."""
    remember()
    Path("edge.csv").write_text("a,b\n")
    Path("nodes/1.csv").write_text("x\n")
    Path("nodes/2.csv").unlink()
    Path("nodes/3.csv").write_text("y\n")
    Path("add/1.csv").write_text("y,z\n")
    Path("add/2.csv").write_text("b,c\n")
    assert described().splitlines()[3:6] == [
        "  edge.csv  1 file, 4 bytes  unchanged",
        "  nodes/*.csv  2 files, 4 bytes  compared; changed: nodes/1.csv, nodes/2.csv, nodes/3.csv",
        "  add/*.csv  2 files, 8 bytes  added: add/1.csv, add/2.csv",
    ]


def test_how_it_would_run(folder: Path) -> None:
    state = remember()
    assert (
        Pipeline.from_file("pipeline.toml")
        .describe(full=True)
        .startswith("full run: all sources are read again")
    )
    Path("rules.rls").write_text("path(?x, ?y) :- edge(?y, ?x) .")
    assert described().startswith("full run: the rules or the switches have changed")
    Path("rules.rls").write_text("path(?x,?y):-edge(?x,?y). % said in another way")
    assert described().startswith("incremental run: what has changed since the last run")
    Path("pipeline.toml").write_text('modules = "off"\n' + TEXT)
    assert described().startswith("full run: the rules or the switches have changed")
    Path("pipeline.toml").write_text(TEXT)
    with Reasoner.open("store") as other:
        other.update(add={"edge": [("x", "y")]})
        other.save("store")
    assert described().startswith(
        "incremental run: something else has written to the store: all sources are compared"
    )
    remember(replace(state))
    Path("pipeline.toml").write_text(TEXT.replace('"incremental"', '"full"'))
    assert described().startswith('full run: mode = "full": all sources are read')
