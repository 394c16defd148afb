"""Which files hold facts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog import IRI, Reasoner
from modulog.errors import DataError
from modulog.formats import DataWarning
from modulog.formats.files import FactFile, discover, file_name, predicate_name


def test_a_folder_holds_one_file_for_each_predicate(tmp_path: Path) -> None:
    names = ["edge.csv", "node.tsv.gz", "A.Parquet", "http%3A%2F%2Fa%2Fb.csv", ".hidden"]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / "inner").mkdir()
    assert {(f.predicate, f.format, f.gzip) for f in discover(tmp_path)} == {
        ("edge", "csv", False),
        ("node", "tsv", True),
        ("A", "parquet", False),
        ("<http://a/b>", "csv", False),
    }


def test_a_single_file(tmp_path: Path) -> None:
    path = tmp_path / "edge.csv"
    path.touch()
    assert discover(str(path)) == [FactFile(path, "edge", "csv")]


def test_other_files_of_a_folder_are_skipped_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "README.md").touch()
    with pytest.warns(DataWarning, match="skipped README.md"):
        assert discover(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.csv", "missing.csv: there is no such file"),
        ("a.txt", "a.txt: facts are read"),
        ("a.jsonld", "RDF is read from .nt"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, message: str) -> None:
    if name != "missing.csv":
        (tmp_path / name).touch()
    with pytest.raises(DataError, match=message):
        discover(tmp_path / name)


def test_rdf_files_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.n3").touch()
    with pytest.raises(DataError, match=r"a\.n3: RDF is read from"):
        discover(tmp_path)


def test_two_files_for_one_predicate(tmp_path: Path) -> None:
    (tmp_path / "edge.csv").touch()
    (tmp_path / "edge.tsv").touch()
    assert [(f.predicate, f.format) for f in discover(tmp_path)] == [("edge", "csv"), ("edge", "tsv")]


def test_globs(tmp_path: Path) -> None:
    for name in ("a/edge.csv", "b/edge.csv.gz", "b/node.tsv", "b/notes.txt", "c[1].csv", "b/_SUCCESS"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = discover(f"{tmp_path}/*/edge.*")
    assert [(str(f.path), f.predicate, f.gzip) for f in found] == [
        (f"{tmp_path}/a/edge.csv", "edge", False),
        (f"{tmp_path}/b/edge.csv.gz", "edge", True),
    ]
    assert [f.predicate for f in discover(f"{tmp_path}/**/edge*.csv")] == ["edge"]
    assert [f.predicate for f in discover(f"{tmp_path}/c[1].csv")] == ["c[1]"], "a file that exists is itself"
    assert [f.predicate for f in discover(tmp_path.as_uri() + "/c%5B1%5D.csv")] == ["c[1]"]
    with pytest.warns(DataWarning, match=r"b: skipped notes\.txt"):
        assert [f.predicate for f in discover(f"{tmp_path}/[b]")] == ["edge", "node"]
    with pytest.warns(DataWarning, match=r"skipped notes\.txt"):
        assert [f.predicate for f in discover(f"{tmp_path}/b/n*")] == ["node"]
    with pytest.raises(DataError, match=r"\*\.nothing: no file matches"):
        discover(f"{tmp_path}/*.nothing")
    with pytest.raises(DataError, match=r"s3a://bucket/edge\.csv: one machine reads its own files only"):
        discover("s3a://bucket/edge.csv")


def test_a_folder_that_is_a_table(tmp_path: Path) -> None:
    table = tmp_path / "edge.csv"
    table.mkdir()
    for name in ("part-1.txt", "part-0.txt.gz", "_SUCCESS", ".part-0.crc"):
        (table / name).touch()
    expected = [
        FactFile(table / "part-0.txt.gz", "edge", "csv", True),
        FactFile(table / "part-1.txt", "edge", "csv"),
    ]
    assert discover(tmp_path) == discover(table) == expected


def test_names_that_begin_with_an_underscore(tmp_path: Path) -> None:
    for name in (
        "_x.csv",
        "%5Fy.csv",
        "_SUCCESS",
        "_bad_records.parquet",
        "_committed_12",
        ".z.csv",
        "_metadata",
    ):
        (tmp_path / name).touch()
    for name in ("_temporary", "_delta_log", "_table.csv"):
        (tmp_path / name).mkdir()
    (tmp_path / "_table.csv" / "part-0.csv").touch()
    assert {f.predicate for f in discover(tmp_path)} == {"_x", "_y", "_table"}
    assert {f.predicate for f in discover(f"{tmp_path}/*")} == {"_x", "_y", "_table"}
    (tmp_path / "_notes").touch()
    with pytest.warns(DataWarning, match="skipped _notes"):
        discover(tmp_path)
    (tmp_path / "_table.csv" / "_part-1.csv").touch()
    with pytest.warns(DataWarning, match=r"_table\.csv: skipped _part-1\.csv"):
        assert [f.path for f in discover(tmp_path / "_table.csv")] == [tmp_path / "_table.csv" / "part-0.csv"]


@pytest.mark.parametrize("format", ["csv", "parquet", "nt"])
def test_export_and_load_a_predicate_whose_name_begins_with_an_underscore(
    tmp_path: Path, format: str
) -> None:
    names = ["<u:_x>"] if format == "nt" else ["_x", "_", "_bad_records", "__x_"]
    r = Reasoner("")
    (tmp_path / "bad.csv").write_text("a,1\nb\n", encoding="utf-8")
    with pytest.warns(DataWarning, match="1 bad record set aside"):
        r.load(tmp_path / "bad.csv", predicate="good", bad="set-aside")
    for name in names:
        r.add(
            IRI(name[1:-1]) if name[0] == "<" else name,
            [("s", name)] if format != "nt" else [(IRI("u:s"), 2)],
        )
    predicates = [p for p in r.predicates() if p.name in names]
    written = r.export(tmp_path / "out", format=format, predicates=predicates)
    assert "_bad_records.parquet" in written and len(written) == len(names) + 1
    again = Reasoner("")
    assert {p.name for p in again.load(tmp_path / "out")} == set(names)
    for p in predicates:
        assert again.rows(p) == r.rows(p)


def test_arity_behind_a_name(tmp_path: Path) -> None:
    (tmp_path / "http%3A%2F%2Fa%2Fb@1.csv").touch()
    (tmp_path / "http%3A%2F%2Fa%2Fb@2.csv").touch()
    assert [(f.predicate, f.arity) for f in discover(tmp_path)] == [("<http://a/b>", 1), ("<http://a/b>", 2)]


def test_names_of_files() -> None:
    assert file_name("edge") == "edge"
    assert file_name("Größe") == "Größe"
    assert file_name("<http://a.org/b#c>") == "http%3A%2F%2Fa%2Eorg%2Fb%23c"
    assert file_name("<relative>") == "%3Crelative%3E"
    assert predicate_name("%3Chttp%3A%2F%2Fa%3E") == "<http://a>"


@given(
    st.one_of(
        st.text(min_size=1).filter(lambda t: ":" not in t),
        st.from_regex(r"<[a-z]+:[a-z/#.%0-9]*>", fullmatch=True),
    )
)
def test_names_there_and_back(name: str) -> None:
    stem = file_name(name)
    assert "/" not in stem and "." not in stem
    assert predicate_name(stem) == name
