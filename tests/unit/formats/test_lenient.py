"""Bad records on one machine: left out, counted, kept with file, line, text and reason."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modulog import Reasoner
from modulog.errors import DataError
from modulog.formats import DataWarning

RULES = "path(?x, ?y) :- edge(?x, ?y) ."
ROWS = b'a,b\n\ntoo few\n"c\nd",e\nf,g,h\n\xff,i\nj,"open\n'


@pytest.mark.parametrize(
    ("text", "line", "bad"),
    [
        ('a,b,c,d\n1,"2,3,4\n5,6,7,8\n', 2, '1,"2,3,4\n5,6,7,8'),
        ('a,b,c,d\n1,2,3,"4\n5,6', 2, '1,2,3,"4\n5,6'),
        ('a,b,c,d\n1,2,3,"4', 2, '1,2,3,"4'),
        ('a,b,c,d\n1,2,3,"4""', 2, '1,2,3,"4""'),
        ('a,b,c,d\n1,"', 2, '1,"'),
    ],
)
def test_an_open_quote_is_called_so_whatever_the_number_of_fields(
    tmp_path: Path, text: str, line: int, bad: str
) -> None:
    (tmp_path / "p.csv").write_text(text, encoding="utf-8")
    r = Reasoner("")
    with pytest.warns(DataWarning, match="1 bad record set aside"):
        r.load(tmp_path / "p.csv", bad="set-aside")
    (record,) = r.bad_records().to_pylist()
    assert (record["line"], record["text"]) == (line, bad)
    assert record["reason"] == "a quote opens a field and nothing closes it"
    assert r.rows("p") == [("a", "b", "c", "d")]


def loaded(path: Path, count: int, **options: object) -> Reasoner:
    r = Reasoner(RULES)
    with pytest.warns(DataWarning, match=rf"{count} bad records? set aside"):
        r.load(path, bad="set-aside", **options)  # type: ignore[arg-type]
    return r


@pytest.mark.parametrize("packed", [False, True])
def test_rows_of_csv(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("edge.csv.gz" if packed else "edge.csv")
    path.write_bytes(gzip.compress(ROWS) if packed else ROWS)
    with pytest.raises(DataError, match=r"edge\.csv"):
        Reasoner(RULES).load(path)
    r = loaded(path, 4)
    assert sorted(r.rows("path")) == [("a", "b"), ("c\nd", "e")]
    assert [(row["line"], row["reason"]) for row in r.bad_records().to_pylist()] == [
        (3, "1 field where 2 should be"),
        (6, "3 fields where 2 should be"),
        (7, "not UTF-8"),
        (8, "a quote opens a field and nothing closes it"),
    ]
    assert r.bad_records(limit=1).to_pylist()[0] | {"reason": ""} == {
        "file": str(path), "line": 3, "text": "too few", "reason": ""
    }  # fmt: skip
    assert "4 bad records set aside" in str(r.materialise()) and r.materialise().set_aside == 4
    assert r.export(tmp_path / "out")["_bad_records.parquet"] == 4
    assert pq.read_table(tmp_path / "out" / "_bad_records.parquet").equals(r.bad_records())


def test_a_header_stays(tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("from,to,note\na,b,x\nc,d\n")
    r = loaded(tmp_path / "edge.csv", 1, header=True, columns=["to", "from"])
    assert r.rows("path") == [("b", "a")]
    assert r.bad_records().to_pylist()[0]["line"] == 3


def test_rows_of_parquet_that_lack_a_value(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": ["a", None, "c"], "y": [1, 2, None]}), tmp_path / "edge.parquet")
    r = loaded(tmp_path / "edge.parquet", 2)
    assert r.rows("path") == [("a", 1)]
    assert [(b["line"], b["text"]) for b in r.bad_records().to_pylist()] == [
        (2, '{"y":2}'),
        (3, '{"x":"c"}'),
    ]


@pytest.mark.filterwarnings("ignore::modulog.errors.ProgramWarning")
def test_what_fails_sets_nothing_aside(tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("a,b\nc\n")
    (tmp_path / "wide.parquet").write_text("nothing")
    r = Reasoner(RULES + " p(?x) :- wide(?x) .")
    with pytest.raises(DataError, match="wide"):
        r.load(tmp_path, bad="set-aside")
    assert r.bad_records().num_rows == 0 and r.count("edge") == 0
    with pytest.raises(DataError, match='not treated by "ignore"; choose one of: fail, set-aside'):
        r.load(tmp_path, bad="ignore")  # type: ignore[arg-type]
