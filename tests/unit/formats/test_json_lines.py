"""JSON lines: what is read in bulk is what is read line by line, errors name file and line, and columns are chosen as of other tables."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog import Reasoner
from modulog.errors import DataError
from modulog.formats.json_lines import JsonColumns
from modulog.terms.dictionary import Dictionary

VALUES = st.one_of(
    st.text(max_size=4),
    st.integers(),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([None, [1], {}, 10**18, -(2**63), 2**63, "2020-01-01", "\u00a0", "\x00", "1"]),
)
SIMPLE = st.one_of(
    st.tuples(st.just("s"), st.text(max_size=4)), st.tuples(st.just("i"), st.integers(-(2**63), 2**63 - 1))
)


def line(record: Any, spaces: str, ascii: bool) -> str:
    return spaces + json.dumps(record, ensure_ascii=ascii) + spaces


LINES = st.one_of(
    st.builds(
        line,
        st.one_of(
            st.fixed_dictionaries({"a": st.text(max_size=4), "b": st.integers(-9, 9)}),
            st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES),
        ),
        st.sampled_from(["", " ", "\t"]),
        st.booleans(),
    ),
    st.sampled_from(["", " ", '{"a":"x","b":1}{"a":"y","b":2}', '{"a":', '"x","b":1}', "[]", '{"b":1,"b":2,"a":"z"}']),
)  # fmt: skip


def decoded(columns: JsonColumns, lines: list[str], in_bulk: bool) -> tuple[list[Any], list[Any]]:
    dictionary = Dictionary()
    with pytest.MonkeyPatch.context() as patch:
        if not in_bulk:
            patch.setattr(JsonColumns, "_in_bulk", lambda *_: None)
        ids, problems = columns.encode(pa.array(lines, pa.string()), dictionary)
    return [[c.key for c in dictionary.decode(column)] for column in ids], sorted(problems)


@given(st.lists(LINES, max_size=6))
def test_bulk_is_line_by_line(lines: list[str]) -> None:
    try:
        "".join(lines).encode()
    except UnicodeEncodeError:
        lines = [text for text in lines if text.isascii()]
    columns = JsonColumns(("b", "a"), None)
    assert decoded(columns, lines, True) == decoded(columns, lines, False)


@given(st.lists(st.fixed_dictionaries({"a": st.text(st.characters(codec="utf-8"), max_size=4), "b": st.integers(-(2**63), 2**63 - 1), "c": st.booleans()}), min_size=1))  # fmt: skip
def test_simple_lines_are_read_in_bulk(records: list[dict[str, Any]]) -> None:
    """Those that most files have."""
    lines = pa.array([json.dumps(record, ensure_ascii=False) for record in records], pa.string())
    columns = JsonColumns(("b", "a", "c", "a"), None)
    assert columns._in_bulk(lines) is not None
    assert decoded(columns, lines.to_pylist(), True) == decoded(columns, lines.to_pylist(), False)


def test_values_and_columns(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"n": 1.50, "s": "1", "t": true}\r\n\r\n{"t": "x", "n": 1234567890123456789, "s": ""}\r\n'
    )
    with Reasoner("") as r:
        r.load(path)
        assert sorted(r.rows("p"), key=str) == [(1.5, "1", True), (1234567890123456789, "", "x")]
        r.load(path, predicate="q", columns=["s", "n"])
        assert ("1", 1.5) in r.rows("q")
        r.load(path, mapping={"u": ["t"], "v": ["n", "s"]})
        assert (r.count("u"), r.count("v")) == (2, 2)
    with Reasoner("r(?x) :- p(?x, ?y) .") as r:
        with pytest.raises(DataError, match=r"p\.jsonl: 3 columns \(n, s, t\) where 2 arguments should be"):
            r.load(path)
        (tmp_path / "lists.ndjson.gz").write_bytes(gzip.compress(b'[1, "x"]\n[2, "y"]\n'))
        r.load(tmp_path / "lists.ndjson.gz", predicate="p")
        assert sorted(r.rows("r")) == [(1,), (2,)]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('{"a": 1}\n\n{"b": 2}\n', 3, "there is no member 'a'"),
        ('{"a": 1}\n{"a": null}\n', 2, ""),
        ('{"a": 1}\n{"a": [1]}\n', 2, ""),
        ('{"a": 1}\n{"a": 1\n', 2, "not JSON: "),
        ('{"a": 1}\n7\n', 2, "neither an object nor an array"),
        ("[1]\n[1, 2]\n", 2, "2 values where 1 should be"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, line: int, reason: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(text)
    with Reasoner("") as r, pytest.raises(DataError, match=rf"p\.jsonl:{line}: {reason}"):
        r.load(path)


def test_decimals_are_written_as_numbers(tmp_path: Path) -> None:
    """A number with a point is a double, as Python reads it, not a decimal."""
    path = tmp_path / "p.jsonl"
    path.write_text("[0.1]\n")
    with Reasoner("") as r:
        r.load(path)
        assert r.rows("p") == [(0.1,)] and not r.contains("p", (Decimal("0.1"),))
