"""Facts from files: folders, wide tables, imports, and errors that change nothing."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modulog import IRI, Reasoner, read
from modulog.errors import DataError
from modulog.formats import DataWarning
from modulog.reasoner import for_pipelines


def test_a_file_fills_the_predicate_it_is_named_for(tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("a,b\nb,1\n")
    r = Reasoner("")
    r.load(tmp_path / "edge.csv")
    assert sorted(r.rows("edge"), key=repr) == [("a", "b"), ("b", 1)]
    r.load(str(tmp_path / "edge.csv"), predicate="other")
    assert r.count("other") == 2


def test_a_folder_of_every_format(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2\n")
    (tmp_path / "b.tsv").write_text("1\t2\n")
    with gzip.open(tmp_path / "c.csv.gz", "wt") as file:
        file.write("1,2\n3,4\n")
    pq.write_table(pa.table({"x": [1], "y": ["two"]}), tmp_path / "d.parquet")
    r = Reasoner("")
    r.load(tmp_path)
    assert r.rows("a") == r.rows("b") == [(1, 2)]
    assert sorted(r.rows("c")) == [(1, 2), (3, 4)]
    assert r.rows("d") == [(1, "two")]


def test_an_iri_as_name(tmp_path: Path) -> None:
    (tmp_path / "facts.csv").write_text("a\n")
    r = Reasoner("")
    r.load(tmp_path / "facts.csv", predicate=IRI("http://x/C"))
    assert r.count("<http://x/C>(?x)") == 1
    r.export(tmp_path / "out")
    again = Reasoner("")
    again.load(tmp_path / "out")
    assert [str(p) for p in again.predicates()] == ["<http://x/C>/1"]


def test_header_and_strings(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("number,text\n1,2\n")
    r = Reasoner("")
    r.load(tmp_path / "p.csv", header=True)
    assert r.rows("p") == [(1, 2)]
    r.load(tmp_path / "p.csv", header=True, strings=True, predicate="s")
    assert r.rows("s") == [("1", "2")]


def test_columns_and_mapping_of_a_wide_file(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,name,age\n1,ann,30\n2,bob,40\n")
    r = Reasoner("old(?n) :- name(?i, ?n), age(?i, ?a), ?a > 35 .")
    r.load(tmp_path / "people.csv", header=True, mapping={"name": ["id", "name"], "age": [0, 2]})
    assert r.rows("old") == [("bob",)]
    r.load(tmp_path / "people.csv", header=True, predicate="known", columns=["name"])
    assert sorted(r.rows("known")) == [("ann",), ("bob",)]


def test_mapping_of_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2], "name": ["ann", "bob"]}), tmp_path / "people.parquet")
    r = Reasoner("")
    r.load(tmp_path / "people.parquet", mapping={"named": ["name", "id"], "person": ["id"]})
    assert sorted(r.rows("named")) == [("ann", 1), ("bob", 2)]
    assert sorted(r.rows("person")) == [(1,), (2,)]


def test_imports_are_relative_to_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "rules"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "e.csv").write_text("a,b\n")
    (folder / "p.rls").write_text('@import edge :- csv{resource = "data/e.csv"} . p(?x) :- edge(?x, _) .')
    monkeypatch.chdir(tmp_path)
    assert Reasoner(folder / "p.rls").rows("p") == [("a",)]
    assert Reasoner(Path("rules/p.rls")).rows("edge") == [("a", "b")]


def test_a_missing_import_says_where_it_is_written(tmp_path: Path) -> None:
    rules = tmp_path / "p.rls"
    rules.write_text('\n@import edge :- csv{resource = "e.csv"} .\np(?x) :- edge(?x, ?y) .')
    r = Reasoner(rules)
    with pytest.raises(DataError, match=r"p\.rls:2:.*e\.csv"):
        r.materialise()
    (tmp_path / "e.csv").write_text("a,b\n")
    assert r.rows("p") == [("a",)]


def test_an_empty_import_is_a_known_predicate(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("")
    (tmp_path / "p.rls").write_text('@import e :- csv{resource = "e.csv", format = (string, string)} .')
    assert Reasoner(tmp_path / "p.rls").rows("e") == []


def test_facts_written_in_the_program_come_once() -> None:
    r = Reasoner("p(1) . p(1) . p(2) .")
    assert r.count("p") == 2
    r.add("p", [(2,), (3,)])
    assert r.count("p") == 3


def test_a_malformed_row_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("1,2\n3,4\n5\n")
    with pytest.raises(DataError, match=r"p\.csv.*3"):
        Reasoner("").load(tmp_path)


@pytest.mark.filterwarnings("ignore::modulog.errors.ProgramWarning")
def test_a_file_of_another_arity_than_the_rules(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("1,2\n")
    r = Reasoner("q(?x) :- p(?x) .")
    with pytest.raises(DataError, match=r"p\.csv"):
        r.load(tmp_path)
    assert r.count("p") == 0


@pytest.mark.filterwarnings("ignore::modulog.errors.ProgramWarning")
def test_an_error_in_one_file_of_a_folder_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1\n")
    (tmp_path / "b.csv").write_text("1,2\n3\n")
    r = Reasoner("q(?x) :- a(?x) .")
    with pytest.raises(DataError):
        r.load(tmp_path)
    assert r.count("a") == 0


@pytest.mark.filterwarnings("ignore::modulog.errors.ProgramWarning")
def test_an_error_in_a_mapping_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("1,2\n")
    r = Reasoner("q(?x) :- a(?x) .")
    with pytest.raises(DataError):
        r.load(tmp_path / "wide.csv", mapping={"a": [0], "b": [7]})
    assert r.count("a") == 0


def test_a_failed_load_does_not_fix_an_arity(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("1,2\n3\n")
    r = Reasoner("")
    with pytest.raises(DataError):
        r.load(tmp_path)
    r.add("p", [(1, 2, 3)])
    assert r.rows("p") == [(1, 2, 3)]


def test_an_empty_folder_and_an_unknown_format(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    with pytest.raises(DataError):
        Reasoner("").load(tmp_path / "picture.png")


def test_readings_tell_rows_and_bad_records(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("1,Ann,70\n2,Bob\n3,Cy,80\n3,Cy,80\n")
    (tmp_path / "facts.nt").write_text("<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p> <urn:c> .\n")
    r = Reasoner("triple(?x, ?y, ?z) :- p(?x, ?y, ?z) .")
    with pytest.warns(DataWarning, match="bad records"):
        r.load(tmp_path / "people.csv", mapping={"age": [0, 2], "name": [0, 1]}, bad="set-aside")
    for_pipelines.given(r, read(tmp_path / "facts.nt"))
    with pytest.raises(DataError):
        r.load(tmp_path / "people.csv")
    found = [(Path(reading.path).name, reading.rows) for reading in for_pipelines.take_readings(r)]
    assert found == [("people.csv", 3), ("facts.nt", 2)]
    assert for_pipelines.take_readings(r) == []
