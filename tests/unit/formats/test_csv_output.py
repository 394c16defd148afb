"""Facts into files and back."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.errors import DataError
from modulog.formats import DataWarning
from modulog.formats.csv import read_csv
from modulog.formats.csv_output import write_csv
from modulog.formats.parquet import read_parquet, write_parquet
from modulog.terms.constant import Constant, Kind, term_text
from modulog.terms.dictionary import Dictionary, Ids
from modulog.terms.python_values import IRI, TaggedLiteral, constant
from support.term_strategies import CONSTANTS, CSV_TERMS


def encode(dictionary: Dictionary, rows: list[tuple[object, ...]]) -> Ids:
    columns = [dictionary.encode([constant(v) for v in column]) for column in zip(*rows, strict=True)]
    return np.stack(columns)


def written(path: Path, rows: list[tuple[object, ...]], delimiter: str = ",") -> str:
    dictionary = Dictionary()
    assert write_csv(path, [encode(dictionary, rows)], dictionary, delimiter=delimiter) == len(rows)
    return path.read_text()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "p.csv"


def test_csv_quotes_what_would_read_as_something_else(file: Path) -> None:
    rows: list[tuple[object, ...]] = [
        ("a", 1),
        ("1", "-0"),
        ("007", "1.50"),
        ("a,b", 'say "x"'),
        ("two\nlines", ""),
        ("<http://a>", IRI("http://a")),
        ("<a b>", "\ufeff"),
    ]
    assert written(file, rows) == (
        'a,1\n"1","-0"\n007,"1.50"\n"a,b","say ""x"""\n"two\nlines",\n"<http://a>",<http://a>\n<a b>,"\ufeff"\n'
    )


def test_one_column_of_empty_strings(file: Path) -> None:
    assert written(file, [("",), ("a",)]) == '""\na\n'


def test_tabs(file: Path) -> None:
    assert written(file, [("a,b", "c\td"), (IRI("http://a,b"), 1)], "\t") == 'a,b\t"c\td"\n<http://a,b>\t1\n'


def test_terms_that_csv_does_not_hold(file: Path) -> None:
    rows: list[tuple[object, ...]] = [
        (1.5, True),
        (TaggedLiteral("chat", language="fr"), IRI("http://a,b")),
        (TaggedLiteral("9" * 30, datatype="http://www.w3.org/2001/XMLSchema#integer"), 1),
    ]
    with pytest.warns(DataWarning, match="4 terms are in quotes"):
        content = written(file, rows)
    assert content == '"1.5E0","true"\n"""chat""@fr","<http://a,b>"\n' + "9" * 30 + ",1\n"


def test_an_iri_that_no_file_can_hold(file: Path) -> None:
    dictionary = Dictionary()
    ids = dictionary.encode([Constant(Kind.IRI, 'a "b"')]).reshape(1, 1)
    with pytest.warns(DataWarning, match="1 term is in quotes"):
        write_csv(file, [ids], dictionary)
    assert file.read_text() == '"<a ""b"">"\n'


def test_predicates_without_arguments(file: Path, tmp_path: Path) -> None:
    for name, write, read in (("p.csv", write_csv, read_csv), ("p.parquet", write_parquet, read_parquet)):
        path = tmp_path / name
        assert write(path, [np.empty((0, 1), np.uint32)], Dictionary()) == 1  # type: ignore[operator]
        assert [c.shape for c in read(path, Dictionary(), arity=0)] == [(0, 1)]  # type: ignore[operator]
        assert write(path, [np.empty((0, 0), np.uint32)], Dictionary()) == 0  # type: ignore[operator]
        assert list(read(path, Dictionary(), arity=0)) == []  # type: ignore[operator]


def test_no_facts(tmp_path: Path) -> None:
    assert write_csv(tmp_path / "p.csv", [], Dictionary()) == 0
    assert list(read_csv(tmp_path / "p.csv", Dictionary(), arity=2)) == []
    assert write_parquet(tmp_path / "p.parquet", iter(()), Dictionary()) == 0
    assert list(read_parquet(tmp_path / "p.parquet", Dictionary(), arity=2)) == []
    write_parquet(tmp_path / "q.parquet", [], Dictionary(), names=["x", "y"])
    assert list(read_parquet(tmp_path / "q.parquet", Dictionary(), arity=2)) == []


@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_nothing_is_left_of_a_failure(tmp_path: Path, write: object) -> None:
    path = tmp_path / "p.data"
    path.write_text("as it was")

    class Chunks:
        def __iter__(self) -> Iterator[Ids]:
            yield np.zeros((1, 1), np.uint32)
            raise KeyboardInterrupt

    dictionary = Dictionary()
    dictionary.encode([constant("a")])
    with pytest.raises(KeyboardInterrupt):
        write(path, Chunks(), dictionary)  # type: ignore[operator]
    assert path.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [path]


def test_folders_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"p\.csv: cannot be written"):
        write_csv(tmp_path / "no" / "p.csv", [], Dictionary())
    with pytest.raises(DataError, match=r"p\.parquet: cannot be written"):
        write_parquet(tmp_path / "no" / "p.parquet", [], Dictionary())


def test_parquet_has_types_and_names(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    dictionary = Dictionary()
    chunks = [encode(dictionary, [("a", 1, 1)]), encode(dictionary, [("b", 2, "x")])]
    assert write_parquet(path, iter(chunks), dictionary, names=["x", "y", "z"]) == 2
    table = pq.read_table(path)
    assert table.to_pydict() == {"x": ["a", "b"], "y": [1, 2], "z": ["1", '"x"']}
    assert table.schema.field("z").metadata[b"modulog.terms"] == b"turtle"
    assert pq.read_table(write_again(path, chunks, dictionary)).column_names == ["c0", "c1", "c2"]


def write_again(path: Path, chunks: list[Ids], dictionary: Dictionary) -> Path:
    write_parquet(path, lambda: iter(chunks), dictionary)
    return path


def test_wrong_number_of_names(tmp_path: Path) -> None:
    dictionary = Dictionary()
    with pytest.raises(DataError, match="1 name for 2 columns"):
        write_parquet(tmp_path / "p.parquet", [encode(dictionary, [("a", 1)])], dictionary, names=["x"])
    assert list(tmp_path.iterdir()) == []


@given(
    st.lists(st.tuples(CSV_TERMS, CSV_TERMS), min_size=1, max_size=20),
    st.sampled_from(["csv", "csv.gz", "tsv"]),
)
def test_csv_there_and_back(rows: list[tuple[Constant, ...]], suffix: str) -> None:
    delimiter = "\t" if suffix == "tsv" else ","
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        path = Path(folder, f"p.{suffix}")
        dictionary = Dictionary()
        write_csv(path, [encode(dictionary, [*rows])], dictionary, delimiter=delimiter)
        other = Dictionary()
        found = [
            tuple(row)
            for chunk in read_csv(path, other, delimiter=delimiter, arity=2)
            for row in zip(*(other.decode(c) for c in chunk), strict=True)
        ]
    assert found == rows


@given(st.lists(CSV_TERMS, min_size=1, max_size=20))
def test_single_columns_there_and_back(terms: list[Constant]) -> None:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        path = Path(folder, "p.csv")
        dictionary = Dictionary()
        ids = dictionary.encode(terms).reshape(1, -1)
        write_csv(path, [ids], dictionary)
        assert np.concatenate(list(read_csv(path, dictionary, arity=1)), axis=1).tolist() == ids.tolist()


@given(st.lists(CONSTANTS, min_size=1, max_size=20))
def test_other_terms_read_back_as_turtle(terms: list[Constant]) -> None:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        path = Path(folder, "p.csv")
        dictionary = Dictionary()
        write_csv(path, [dictionary.encode(terms).reshape(1, -1)], dictionary)
        found = [c for chunk in read_csv(path, dictionary, arity=1) for c in dictionary.decode(chunk[0])]
    assert all(f in (t, Constant(Kind.STRING, term_text(t))) for t, f in zip(terms, found, strict=True))


@given(st.lists(st.tuples(CONSTANTS, CONSTANTS), min_size=1, max_size=20))
def test_parquet_there_and_back(rows: list[tuple[Constant, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "p.parquet")
        dictionary = Dictionary()
        ids = encode(dictionary, [*rows])
        write_parquet(path, [ids], dictionary)
        (chunk,) = read_parquet(path, dictionary, arity=2)
    assert chunk.tolist() == ids.tolist()
