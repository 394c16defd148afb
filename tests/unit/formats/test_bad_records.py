"""Bad records of every format are set aside: the good ones are facts, and nothing is lost or counted twice."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from modulog import Reasoner
from modulog.errors import DataError
from modulog.formats import DataWarning
from modulog.formats.bad_records import BadRecord
from modulog.formats.json_lines import read_json_lines
from modulog.formats.rdf import read_rdf
from modulog.terms.dictionary import Dictionary
from support.bad_records import ODD, Odd

pytestmark = [
    pytest.mark.filterwarnings("ignore::modulog.formats.DataWarning"),
    pytest.mark.filterwarnings("ignore::modulog.errors.ProgramWarning"),
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)
def test_bad_records(odd: Odd, tmp_path: Path) -> None:
    path = odd.write(tmp_path)
    facts, bad, rows = odd.facts(tmp_path)
    assert {record["line"] for record in bad} == odd.bad
    assert all(record["file"] == str(path) and record["reason"] for record in bad)
    texts = odd.texts()
    if odd.is_document:
        assert not facts and not rows and [record["text"] for record in bad] == [""]
    elif not odd.name.endswith(".parquet"):
        assert rows and all(r["text"] == texts[r["line"] - 1].decode(errors="replace") for r in bad)
    else:
        assert rows == 1 and [r["text"] for r in bad] == ['{"b":2}', '{"a":"zé","c":2.5}']
    with Reasoner("") as strict, pytest.raises(DataError, match=odd.name):
        strict.load(path, **odd.options)


@pytest.mark.parametrize("name", ["f.nt", "f.nq", "p.jsonl"])
def test_blocks_end_between_any_lines(name: str, tmp_path: Path) -> None:
    odd = next(odd for odd in ODD if odd.name == name)
    path, found = odd.write(tmp_path), []
    for block in (1 << 22, 40):
        bad: list[BadRecord] = []
        if name == "p.jsonl":
            chunks = read_json_lines([path], Dictionary(), columns=["a", "b"], aside=bad, block=block)
        else:
            chunks = read_rdf(path, name[-2:], Dictionary(), aside=bad, block=block)
        found.append((sum(chunk.shape[1] for chunk in chunks), bad))
    assert found[0] == found[1] and {record.line for record in bad} == odd.bad


def test_several_documents(tmp_path: Path) -> None:
    """A bad one takes nothing of the others with it, and leaves nothing behind."""
    (tmp_path / "a.ttl").write_text("<http://a/s> <http://a/p> 1 .")
    (tmp_path / "b.ttl").write_text("<http://a/s> <http://a/p> 2 .\n<http://a/s> <http://a/p> .")
    with Reasoner("") as r:
        r.load(tmp_path, bad="set-aside")
        assert [row[1] for row in r.rows("<http://a/p>")] == [1]
        assert [(b["file"], b["line"]) for b in r.bad_records().to_pylist()] == [(str(tmp_path / "b.ttl"), 2)]


# ---- Rows of CSV


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


def test_what_fails_sets_nothing_aside(tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("a,b\nc\n")
    (tmp_path / "wide.parquet").write_text("nothing")
    r = Reasoner(RULES + " p(?x) :- wide(?x) .")
    with pytest.raises(DataError, match="wide"):
        r.load(tmp_path, bad="set-aside")
    assert r.bad_records().num_rows == 0 and r.count("edge") == 0
    with pytest.raises(DataError, match='not treated by "ignore"; choose one of: fail, set-aside'):
        r.load(tmp_path, bad="ignore")  # type: ignore[arg-type]
