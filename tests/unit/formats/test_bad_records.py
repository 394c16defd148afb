"""Bad records of every format are set aside: the good ones are facts, and nothing is lost or counted twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from modulog import Reasoner
from modulog.errors import DataError
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
