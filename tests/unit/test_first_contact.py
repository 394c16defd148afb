"""Mistakes of people who use Modulog for the first time: each is told, by an error or a warning that says what is meant."""

from __future__ import annotations

import errno
import gzip
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modulog import Reasoner, facts
from modulog.cli import app
from modulog.errors import DataError, ModulogError, ProgramWarning
from modulog.formats import DataWarning

PATHS = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."
EDGES = [("a", "b"), ("b", "c")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files that people mix up, in which the tests run."""
    monkeypatch.chdir(tmp_path)
    Path("edge.csv").write_text("a,b\nb,c\n", encoding="utf-8")
    Path("semicolons.csv").write_text("a;b\nb;c\n", encoding="utf-8")
    Path("tabs.csv").write_text("a\tb\nb\tc\n", encoding="utf-8")
    Path("plain.csv.gz").write_text("a,b\n", encoding="utf-8")
    Path("plain.ttl.gz").write_text("<u:a> <u:p> <u:b> .\n", encoding="utf-8")
    Path("packed.csv").write_bytes(gzip.compress(b"a,b\n"))
    Path("half.csv.gz").write_bytes(gzip.compress(b"a,b\n" * 100)[:-12])
    Path("people.ttl").write_text("<u:a> <u:p> <u:b> .\n", encoding="utf-8")
    Path("rules.rls").write_text(PATHS, encoding="utf-8")
    Path("empty").mkdir()
    return tmp_path


def reasoner() -> Reasoner:
    """A reasoner that has the paths over two edges."""
    made = Reasoner(PATHS, engine="local")
    made.add("edge", EDGES)
    return made


Work = Callable[[Reasoner], Any]

ERRORS: list[tuple[Work, str]] = [
    (lambda r: r.load("plain.csv.gz", predicate="edge"), "not compressed by gzip, but its name ends in .gz"),
    (lambda r: r.load("plain.csv.gz", predicate="edge", bad="set-aside"), "not compressed by gzip"),
    (lambda r: r.load("plain.ttl.gz"), "not compressed by gzip, but its name ends in .gz"),
    (
        lambda r: r.load("packed.csv", predicate="edge"),
        "compressed by gzip, but its name does not end in .gz",
    ),
    (lambda r: r.load("half.csv.gz", predicate="edge", bad="set-aside"), "half.csv.gz: cannot be read"),
    (lambda r: r.load("semicolons.csv", predicate="edge"), "if `;` separates its fields, load it with"),
    (lambda r: r.load("tabs.csv", predicate="edge"), "if tabs separate its fields, let its name end in .tsv"),
    (
        lambda r: r.load("edge.csv", columns=["from", "to"]),
        "columns have names only in a file that is said to",
    ),
    (
        lambda r: r.load("people.ttl", predicate="edge"),
        "without a predicate the file fills those of its triples",
    ),
    (lambda r: r.add("edge", "edge.csv"), "not a str; for a file use `load`"),
    (lambda r: r.add("edge", Path("edge.csv")), "for a file use `load`"),
    (lambda r: r.add("edge", {"a": [1], "b": [2]}), "for a dictionary of columns write `pyarrow.table"),
    (lambda r: r.update(add=[("a", "b")]), r"facts stand by predicate: .* not in a list"),  # type: ignore[arg-type]
    (lambda r: r.rows("path(a, ?x)"), r"`path\(a, \?x\)` is no name of a predicate; .* use `query`"),
    (
        lambda r: (r.add("<http://e/likes>", EDGES), r.query("likes(?x, ?y)")),
        "no predicate likes; did you mean <http://e/likes>",
    ),
    (lambda r: r.query("path"), r"write `path\(\?x, \?y\)`, with a variable for each argument"),
    (lambda r: r.query("?- path(a, ?x)"), "a query has no `\\?-`"),
    (lambda _: Reasoner(Path("edge.csv")), "edge.csv: a file of facts by its name, not of rules"),
    (lambda _: Reasoner(Path("plain.csv.gz")), "a file of facts by its name, not of rules"),
    (lambda _: Reasoner("PREFIX e: <http://e/>\np(?x) :- e:q(?x) ."), "write `@prefix e"),
    (lambda r: r.to_spark("edge"), "the local engine has no Spark data frames"),
    (
        lambda _: Reasoner(PATHS, engine="local").to_spark("path"),
        "the local engine has no Spark data frames",
    ),
]


@pytest.mark.parametrize(("work", "message"), ERRORS)
@pytest.mark.filterwarnings("ignore::modulog.errors.ProgramWarning")
def test_an_error_says_what_is_meant(folder: Path, work: Work, message: str) -> None:
    with pytest.raises(ModulogError, match=message):
        work(reasoner())


def told(work: Work) -> list[tuple[type[Warning], str]]:
    """The warnings of some work, all of which name this file."""
    r = reasoner()
    r.materialise()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work(r)
    assert all(w.filename == __file__ for w in caught)
    return [(w.category, str(w.message).split("\n")[0]) for w in caught]


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda r: r.load("empty"), "empty: no files of facts are in this folder"),
        (lambda r: r.load("."), ".: skipped rules.rls: not .csv, "),
        (lambda r: r.update(add={"egde": [("a", "b")]}), "facts of egde: there was no such predicate; did you mean edge?"),
        (lambda r: r.update(delete={"egde": [("a", "b")]}), "facts of egde: there was no such predicate; did you mean"),
        (lambda r: r.update(add=facts("egde", [("a", "b")])), "facts of egde: there was no such predicate"),
        (lambda r: r.add("ex:edge", EDGES), "facts of ex:edge: a name, not an IRI, since the program has no prefix `ex:`"),
    ],
)  # fmt: skip
def test_a_warning_says_what_is_likely_wrong(folder: Path, work: Work, message: str) -> None:
    for name in ("plain.csv.gz", "plain.ttl.gz", "packed.csv", "half.csv.gz", "semicolons.csv", "tabs.csv"):
        Path(name).unlink()
    [(category, said)] = told(work)
    assert category is DataWarning and said.startswith(message)


def test_a_file_with_another_delimiter(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    r = reasoner()
    r.load("semicolons.csv", predicate="edge", delimiter=";")
    r.load("tabs.csv", predicate="tabs", delimiter="\t", bad="set-aside")
    assert (r.count("edge"), r.count("tabs"), r.bad_records().num_rows) == (2, 2, 0)
    for wrong in (";;", "", '"', "é", 3):
        with pytest.raises(DataError, match="cannot separate fields"):
            r.load("semicolons.csv", delimiter=wrong)  # type: ignore[arg-type]
    with pytest.raises(SystemExit):
        app.app(
            [
                "query",
                "rules.rls",
                "path(a, ?x)",
                "--facts",
                "edge=semicolons.csv",
                "--delimiter",
                ";",
                "--format",
                "csv",
            ]
        )
    assert capsys.readouterr().out.split() == ["x", "b", "c"]


def test_a_table_without_parts(folder: Path) -> None:
    Path("tables/edge.csv").mkdir(parents=True)
    expected = f"{Path('tables/edge.csv')}: no files of facts are in this folder"
    for path in ("tables", "tables/edge.csv"):
        assert told(lambda r, path=path: r.load(path)) == [(DataWarning, expected)]


def test_a_new_predicate_is_known_after_its_first_update() -> None:
    r = reasoner()
    with pytest.warns(DataWarning, match="did you mean edge"):
        r.update(add={"edges": EDGES})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        r.update(add={"edges": [("d", "e")]})
        r.update(add={"team": [("d", "e")]})
    assert r.count("edges") == 3


@pytest.mark.parametrize(
    ("query", "names"), [("path(a, X)", "X"), ("path(X, Y1), path(Y1, _z)", "X Y1 _z"), ("path(?x, B)", "B")]
)
def test_names_like_variables_in_queries(query: str, names: str) -> None:
    [(category, said)] = told(lambda r: r.query(query))
    assert category is ProgramWarning and said.startswith("<query>:1:1: `")
    assert all(f"`?{name}`" in said for name in names.split())


@pytest.mark.parametrize("query", ['path(a, "X")', "path(Ada, ?x)", "path(a, 'B')", "path(a, ?X)"])
def test_constants_that_are_meant_in_queries(query: str) -> None:
    assert told(lambda r: r.query(query)) == []


def test_the_command_line_says_so_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*args: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as stop:
            app.app(list(args))
        return int(stop.value.code or 0), capsys.readouterr().err

    query = run("query", "rules.rls", "path(a, X)", "--facts", "edge.csv")
    assert query[0] == 0 and query[1].startswith("warning: <query>:1:1: `X` is a constant here")
    assert run("materialise", "rules.rls", "--facts", "edge.csv", "--store", "store")[0] == 0
    Path("egde.csv").write_text("d,e\n", encoding="utf-8")
    expected = "warning: facts of egde: there was no such predicate; did you mean edge?\n"
    assert run("update", "store", "--add", "egde.csv") == (0, expected)
    code, said = run("check", "people.ttl")
    assert code == 2 and "`modulog rules` makes rules of an ontology" in said


def test_an_output_that_is_full(folder: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no device that is always full")
    command = [sys.executable, "-m", "modulog", "query", "rules.rls", "path(?x, ?y)", "--facts", "edge.csv"]
    with full.open("w") as target:
        done = subprocess.run(
            [*command, "--format", "csv"], stdout=target, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert (
        done.stderr.splitlines()[-1] == "error: the output: No space left on device"
    )  # kernels may compile first


@pytest.mark.parametrize("path", ["locked", "locked/edge.csv", "locked/edge.parquet"])
def test_what_may_not_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """Root may read everything, so the system's calls refuse here."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    Path("locked").mkdir()
    Path("locked/edge.csv").write_text("a,b\n", encoding="utf-8")
    Path("locked/edge.parquet").write_bytes(b"x")
    r = reasoner()
    monkeypatch.setattr(Path, "iterdir", refuse)
    monkeypatch.setattr("modulog.formats.text_files.open", refuse, raising=False)
    monkeypatch.setattr("modulog.formats.parquet.pq.ParquetFile", refuse)
    with pytest.raises(DataError, match=rf"^{path}: cannot be (read|opened): Permission denied"):
        r.load(path)
    with pytest.raises(DataError, match=r"^locked: cannot be read: Permission denied"):
        r.save("locked")
