"""Files with bad records, one for each format, and the lines of these records; documents are bad as a whole."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from modulog import Reasoner
from modulog.reasoner.for_pipelines import take_readings

RDF_XML = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="http://a/">
<rdf:Description rdf:about="http://a/s"><a:p>x</a:p></rdf:Description>
"""


@dataclass(frozen=True)
class Odd:
    """Records of a file, the numbers of those that are bad, and how the file is loaded."""

    name: str
    records: tuple[str | bytes, ...]
    bad: frozenset[int]
    options: dict[str, Any] = field(default_factory=dict)
    is_document: bool = False

    def write(self, folder: Path) -> Path:
        """Write the file."""
        path = folder / self.name
        content = self.content()
        path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
        return path

    def texts(self) -> list[bytes]:
        """The records as bytes."""
        return [r if isinstance(r, bytes) else r.encode() for r in self.records]

    def content(self) -> bytes:
        """The bytes of the file, uncompressed."""
        return b"\n".join(self.texts())

    def facts(self, folder: Path, **options: Any) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
        """What a reasoner with these options has of the file in a folder: facts, bad records, and rows that were read."""
        with Reasoner("", **options) as r:
            r.load(folder / self.name, bad="set-aside", **self.options)
            facts = {str(p): sorted(map(str, r.rows(p))) for p in r.predicates()}
            (reading,) = take_readings(r)
            assert r.materialise().set_aside == reading.set_aside
            bad = sorted(r.bad_records().to_pylist(), key=lambda b: (b["line"], b["text"]))
            return facts, bad, reading.rows


def parquet() -> bytes:
    """A table that lacks two values."""
    target = io.BytesIO()
    pq.write_table(pa.table({"a": ["x", None, "zé"], "b": [1, 2, None], "c": [1.5, None, 2.5]}), target)
    return target.getvalue()


LINES = {
    "csv": ("a,b", "too few", "a,b,c", b"\xff,b", "x,y", 'z,"open'),
    "tsv": ("a\tb", "a", "c\td"),
    "jsonl": (
        '{"a": 1, "b": 2}',
        '{"a": 1}',
        '[1, "two"]',
        "7",
        "",
        '{"a": null, "b": 1}',
        '{"a": {"c": 1}, "b": [1]}',
        b'{"a": "\xff", "b": 1}',
        "{",
        "[1]",
        '{"b": 123456789012345678901234567890, "a": 1}',
        '{"b": 1234567890123456789, "a": 1.50, "more": [{}]}',
        '{"a": true, "b": "é\\u00e9"}',
        '{"a": "x", "a": "y", "b": 1e3}',
    ),
    "nt": (
        "<a:s> <a:p> <a:o> .",
        "<a:s> <a:p> .",
        "# a comment",
        "<a:s> <a:p> <a:o>",
        '_:a _:p "x" .',
        b'<a:s> <a:p> "\xff" .',
        "<a b> <a:p> <a:o> .",
        "<s> <a:p> <a:o> .",
        '<a:s> <a:p> "\\uD800" .',
        "<a:s> <a:q> 'x' .",
        '<a:s> <a:q> "y" .',
    ),
    "nq": ('<a:s> <a:p> "x" <a:g> .', "<a:s> <a:p> 'x' .", "<a:s> <a:p> <a:o> _:g ."),
    "ttl": ("@prefix a: <http://a/> .", "a:s a:p 1 .", "a:s a:p ."),
    "trig": ("<http://a/g> { <http://a/s> <http://a/p> 1 }", "<http://a/g> { <http://a/s> "),
}
ODD = [
    Odd("p.csv", LINES["csv"], frozenset({2, 3, 4, 6})),
    Odd("wide.csv.gz", ("n,a,b", "1,x,y", "2,x", "3,u,v"), frozenset({3}), {"header": True, "columns": ["b", "n"], "predicate": "p"}),
    Odd("p.tsv", LINES["tsv"], frozenset({2})),
    Odd("p.jsonl", LINES["jsonl"], frozenset({2, 3, 4, 6, 7, 8, 9, 10, 11}), {"columns": ["a", "b"], "predicate": "p"}),
    Odd("p.ndjson.gz", ('{"n": 1}', '{"n": "x"}', "}", '{"m": 2}'), frozenset({3, 4})),
    Odd("two.jsonl", ("[1, 2, 3]", "[1]", '["x", "y", 2]'), frozenset({2}), {"mapping": {"p": [0, 1], "q": [2]}}),
    Odd("p.parquet", (parquet(),), frozenset({2, 3}), {"columns": ["b", "a", "c"], "predicate": "p"}),
    Odd("f.nt", LINES["nt"], frozenset({2, 4, 5, 6, 7, 8, 9, 10})),
    Odd("as-rows.nt.gz", LINES["nt"], frozenset({2, 4, 5, 6, 7, 8, 9, 10}), {"predicate": "p", "columns": ["o"]}),
    Odd("f.nq", LINES["nq"], frozenset({2})),
    Odd("f.ttl", LINES["ttl"], frozenset({3}), is_document=True),
    Odd("f.trig", LINES["trig"], frozenset({2}), is_document=True),
    Odd("f.rdf", (RDF_XML,), frozenset({3}), is_document=True),
]  # fmt: skip
