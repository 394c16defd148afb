"""Bad input through the command line: a clear message, exit code 2, no traceback, and a store that stays as
it was.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from modulog import Reasoner
from modulog.cli import app
from modulog.store.checked_file import CheckedFile
from support.bad_inputs import FACTS, GOOD, RULES, Bad, parquet

resource = pytest.importorskip("resource")  # Windows has no limits of this kind


@dataclass(frozen=True)
class Result:
    """What a command gave."""

    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def modulog(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command line in this process; anything but an exit is a traceback, and fails the test."""

    def run(*args: object) -> Result:
        with pytest.raises(SystemExit) as stop:
            app.app([str(a) for a in args])
        out, err = capsys.readouterr()
        return Result(int(stop.value.code or 0), out, err)

    return run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store, to be copied."""
    folder = tmp_path_factory.mktemp("made") / "store"
    with Reasoner(GOOD + "edge(a, b) . edge(b, c) .", engine="local") as reasoner:
        reasoner.save(folder)
    return folder


@pytest.fixture
def folder(tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rules, facts and a store, in which the commands run."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made, "store")
    Path("good.rls").write_text(GOOD, encoding="utf-8")
    Path("facts").mkdir()
    Path("facts/edge.csv").write_text("a,b\nb,c\n", encoding="utf-8")
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def write(files: dict[str, str | bytes]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())


def answers(modulog: Run, *store: object) -> set[tuple[Any, ...]]:
    """What the store says of paths."""
    result = modulog("query", *store, "path(?x, ?y)", "--format", "json")
    assert result.code == 0, result.err
    return {tuple(row.values()) for row in json.loads(result.out)}


KEPT = {("a", "b"), ("b", "c"), ("a", "c")}


@pytest.mark.parametrize("bad", [*RULES, *FACTS], ids=lambda bad: bad.name)
def test_rules_and_facts(modulog: Run, folder: Path, bad: Bad) -> None:
    write(dict(bad.files))
    before = content(folder)
    facts = ["--facts", *bad.facts] if bad.facts else []
    for target in (["--store", "store"], ["--store", "new"], ["--out", "out"]):
        result = modulog("materialise", bad.rules, *facts, *target)
        assert result.code == 2, result.err
        assert [said for said in bad.said if said not in result.err] == []
        assert result.out == ""
        assert content(folder) == before
        assert not Path("new").exists() and not Path("out").exists()


def test_without_a_traceback(folder: Path) -> None:
    """What a shell sees: the message alone."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    write({"bad.dlog": "PREFIX : <u:>\n:p[?x] :- :q[?y] ."})
    done = subprocess.run(
        [sys.executable, "-m", "modulog", "materialise", "bad.dlog", "--store", "store"],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("bad.dlog:2:4: `?x` of the head is bound by no positive atom of the body\n")
    assert "Traceback" not in done.stderr


# ---- Queries


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("paths(?x, ?y)", ("there is no predicate paths", "did you mean path?")),
        ("path(?x, ?y), ~edgy(?y, _)", ("there is no predicate edgy", "did you mean edge")),
        ("path(?x)", ("path has 2 arguments, not 1",)),
        ("path(?x, ?y", ("<query>:1:5: this parenthesis is never closed",)),
        ('path("a, ?y)', ("<query>:1:6: this string is never closed",)),
        ("path(?x, ?y), ?z < 1", ("<query>:1:15: `?z` is compared",)),
        (
            "path(ex:a, ?y)",
            (
                "<query>:1:6: unknown prefix `ex:`",
                "declare it in the program that is asked",
                "`rdf:`, `rdfs:`",
            ),
        ),
        ("path(?x, ?y) :- edge(?x, ?y)", ("<query>:1:14: `:-` cannot stand here",)),
    ],
)
def test_queries(modulog: Run, folder: Path, question: str, said: tuple[str, ...]) -> None:
    before = content(folder)
    for source in (["good.rls", question, "--facts", "facts"], ["store", question]):
        result = modulog("query", *source)
        assert (result.code, result.out) == (2, ""), result.err
        assert [part for part in said if part not in result.err] == []
    assert content(folder) == before


# ---- Disks


@contextmanager
def little_room(size: int) -> Iterator[None]:
    """No file can be longer than this many bytes; writing more fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(
    ("where", "options"),
    [
        ("old", ("--out", "old")),
        ("old", ("--out", "old", "--format", "parquet")),
        ("old", ("--out", "old", "--format", "nt")),
        ("old", ("--out", "old", "--format", "ttl")),
    ],
    ids=lambda value: value[-1] if isinstance(value, tuple) else "",
)
def test_no_room_for_a_file(modulog: Run, folder: Path, where: str, options: tuple[str, ...]) -> None:
    rules = GOOD.replace("path", "<u:path>").replace("edge", "<u:edge>")
    links = "".join(f"<u:{i}>,<u:{i + 1}>\n" for i in range(200))
    write({"iris.rls": rules, "long.csv": links, "old/words.txt": "words"})
    command = ("materialise", "iris.rls", "--facts", "<u:edge>=long.csv")
    warm = modulog(*command, options[0], "warm", *options[2:])  # so that kernels are compiled
    assert warm.code == 0, warm.err
    before = content(folder)
    with little_room(1000):
        result = modulog(*command, *options)
    assert result.code == 2, result.err
    assert where in result.err and "File too large" in result.err
    assert content(folder) == before


def test_a_full_disk_at_any_moment(modulog: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full at the first write, at the second, and so on, until all writes of the store have had
    their turn.
    """
    write({"facts/edge.csv": "x,y\ny,z\n"})
    before, written, plain = content(folder), 0, CheckedFile.write
    for room in range(1000):
        left = room

        def scarce(file: CheckedFile, data: Any) -> int:
            nonlocal left
            left -= 1
            if left < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return plain(file, data)

        with monkeypatch.context() as patch:
            patch.setattr(CheckedFile, "write", scarce)
            result = modulog("materialise", "good.rls", "--facts", "facts", "--store", "store")
        if result.code == 0:
            break
        written = room
        assert result.code == 2
        assert "store: the store cannot be written: No space left on device; it is as it was" in result.err
        assert content(folder) == before
    assert written > 3
    assert answers(modulog, "store") == {("x", "y"), ("y", "z"), ("x", "z")}


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
@pytest.mark.parametrize("target", ["--store", "--out"])
def test_a_read_only_folder(modulog: Run, folder: Path, target: str) -> None:
    shutil.copytree("store", "shelf/store")
    shutil.copytree("facts", "shelf/files")
    shelf = [Path("shelf/store"), Path("shelf/files"), Path("shelf")]
    for path in shelf:
        path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        for where in ("shelf/store" if target == "--store" else "shelf/files", "shelf/new"):
            before = content(folder)
            result = modulog("materialise", "good.rls", "--facts", "facts", target, where)
            assert result.code == 2, result.err
            assert where in result.err and "Permission denied" in result.err
            assert content(folder) == before
    finally:
        for path in reversed(shelf):
            path.chmod(stat.S_IRWXU)
    assert answers(modulog, "shelf/store") == KEPT


@pytest.mark.parametrize("where", ["good.rls/store", "/proc/modulog/store"])
@pytest.mark.parametrize("target", ["--store", "--out"])
def test_a_place_where_nobody_can_write(modulog: Run, folder: Path, target: str, where: str) -> None:
    before = content(folder)
    result = modulog("materialise", "good.rls", "--facts", "facts", target, where)
    assert (result.code, result.out) == (2, ""), result.err
    assert where in result.err
    assert content(folder) == before


# ---- Allowed, and said


@pytest.mark.parametrize(
    "name", ["edge.csv", "edge.tsv", "edge.nt", "edge.nq", "edge.ttl", "edge.trig", "edge.rdf"]
)
def test_an_empty_file_is_allowed(modulog: Run, folder: Path, name: str) -> None:
    write({f"empty/{name}": ""})
    result = modulog("materialise", "good.rls", "--facts", "empty", "--out", "out")
    assert result.code == 0, result.err
    assert f"warning: empty/{name}: the file is empty\n" in result.err
    assert "0 facts" in result.out
    assert Path("out/path.csv").read_bytes() == b""


def test_two_files_for_one_predicate_are_allowed(modulog: Run, folder: Path) -> None:
    write({"two/edge.csv": "a,b\n", "two/edge.parquet": parquet({"x": ["b"], "y": ["c"]})})
    result = modulog("materialise", "good.rls", "--facts", "two", "--store", "two-store")
    assert result.code == 0, result.err
    assert result.err == "warning: two/edge.parquet: more facts of edge, beside two/edge.csv\n"
    assert answers(modulog, "two-store") == KEPT


@pytest.mark.parametrize(
    ("rls", "dlog", "said"),
    [
        ("?z = 12 / ?x", "BIND(12 / ?x AS ?z)", "1 divisions? by zero gave no fact"),
        (f"?z = {2**63 - 1} + ?x", f"BIND({2**63 - 1} + ?x AS ?z)", "1 results? too big for .* gave no fact"),
    ],
    ids=["division by zero", "overflow"],
)  # fmt: skip
@pytest.mark.parametrize("syntax", ["rls", "dlog"])
def test_values_that_do_not_exist_are_counted(
    modulog: Run, folder: Path, rls: str, dlog: str, said: str, syntax: str
) -> None:
    value = rls if syntax == "rls" else dlog
    write({f"values.{syntax}": f"q(?x, ?z) :- p(?x), {value} .\np(0) . p(3) . p(-3) .\n"})
    result = modulog("materialise", f"values.{syntax}", "--out", "out")
    assert result.code == 0, result.err
    rows = Path("out/q.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 2
    assert re.search(said, result.out)
