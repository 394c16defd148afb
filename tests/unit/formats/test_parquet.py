"""Facts from Parquet files."""

from __future__ import annotations

import gzip
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modulog.errors import DataError
from modulog.formats.parquet import read_parquet
from modulog.terms.dictionary import Dictionary
from modulog.terms.python_values import value


def rows(path: Path, **options: object) -> list[tuple[object, ...]]:
    dictionary = Dictionary()
    found: list[tuple[object, ...]] = []
    for chunk in read_parquet(path, dictionary, **options):  # type: ignore[arg-type]
        assert chunk.flags.c_contiguous and chunk.dtype == "uint32"
        found += zip(*[map(value, dictionary.decode(c)) for c in chunk], strict=True)
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "p.parquet"
    table = pa.table(
        {
            "a": ["x", "1"],
            "b": [1, 2],
            "c": [1.5, 2.5],
            "d": [Decimal("1.50"), Decimal("2.00")],
            "e": [True, False],
        }
    )
    pq.write_table(table, path)
    return path


def test_columns_have_their_types(file: Path) -> None:
    assert rows(file) == [("x", 1, 1.5, Decimal("1.5"), True), ("1", 2, 2.5, Decimal(2), False)]


def test_columns_are_chosen(file: Path) -> None:
    assert rows(file, columns=["c", "a", "c"], arity=3) == [(1.5, "x", 1.5), (2.5, "1", 2.5)]
    assert rows(file, columns=[1]) == [(1,), (2,)]


def test_compressed_files(file: Path) -> None:
    packed = file.with_suffix(".parquet.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert rows(packed, columns=["b"]) == [(1,), (2,)]


def test_mistakes(file: Path, tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"p\.parquet: 5 columns \(a, b, c, d, e\) where 2 arguments should be"
    ):
        rows(file, arity=2)
    with pytest.raises(DataError, match="there is no column 'z', but columns 'a', 'b'"):
        rows(file, columns=["z"])
    with pytest.raises(DataError, match=r"q\.parquet: there is no such file"):
        rows(tmp_path / "q.parquet")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(DataError, match=r"bad\.parquet: not a readable Parquet file"):
        rows(tmp_path / "bad.parquet")


def test_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"a": ["x", "y", None]}), path)
    with pytest.raises(DataError, match=r"p\.parquet: column 'a', row 3: a missing value"):
        rows(path)


def test_damaged_pages(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"a": [f"text {i}" for i in range(10_000)]}), path, use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[4:5000] = b"\xff" * 4996
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"p\.parquet: damaged"):
        rows(path)
