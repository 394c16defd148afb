"""Files of N-Triples cut into blocks, and files that cannot be read."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.errors import DataError
from modulog.formats import rdf_documents
from modulog.formats.rdf import facts_of_triples, read_rdf
from modulog.terms.constant import RDF, Constant, Kind
from modulog.terms.dictionary import Dictionary


def read(path: Path, format: str = "nt", **options: int) -> list[tuple[str, ...]]:
    dictionary = Dictionary()
    return [
        tuple(c.text for c in dictionary.decode(row))
        for chunk in read_rdf(path, format, dictionary, **options)
        for row in chunk.T.tolist()
    ]


@given(
    st.lists(st.sampled_from(["short", "é" * 9, "long " * 20, "#", ""]), max_size=12),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(1, 200),
    st.booleans(),
    st.booleans(),
)
def test_blocks_end_anywhere(texts: list[str], newline: str, size: int, mark: bool, last: bool) -> None:
    lines = [f'<a:s> <a:p> "{t}" .' if len(t) > 1 else t for t in texts]
    content = ("\ufeff" if mark else "") + newline.join(lines) + (newline if last else "")
    with TemporaryDirectory() as name:
        path = Path(name, "a.nt")
        path.write_bytes(content.encode())
        assert read(path, block=max(size, 3)) == [("a:s", "a:p", t) for t in texts if len(t) > 1]


def test_mistakes_in_later_blocks(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    good = b'<a:s> <a:p> "x" .\r\n'
    for bad, column in ((b"<a:s> <a:p> <b> .", 13), (b'<a:s> <a:p> "\xff" .', 14), (b"<a:s>", 6)):
        path.write_bytes(good * 20 + bad + b"\r\n" + good)
        with pytest.raises(DataError, match=rf"a\.nt:21:{column}: "):
            read(path, block=64)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for format in ("nt", "nq", "ttl", "trig", "rdf"):
        with pytest.raises(DataError, match="there is no such file"):
            read(tmp_path / f"missing.{format}", format)
        path = tmp_path / f"a.{format}.gz"
        path.write_bytes(b"no gzip")
        with pytest.raises(DataError, match=rf"a\.{format}\.gz: not compressed by gzip"):
            read(path, format)
        path.write_bytes(gzip.compress(b"<a:s> <a:p> <a:o> .\n" * 9000)[:-20])
        with pytest.raises(DataError, match=rf"a\.{format}\.gz:?"):
            read(path, format)


def test_facts_by_predicate() -> None:
    """A class that is an IRI has facts of one argument, whatever else it is."""
    dictionary = Dictionary()
    names = {n: Constant(Kind.IRI, n) for n in ("a:s", "a:p", "a:C", f"{RDF}type")}
    blank = Constant(Kind.BLANK, "b")
    s, p, c, kind = names.values()
    triples = [(s, p, s), (s, kind, c), (c, c, s), (s, kind, blank), (blank, p, s), (c, kind, c)]
    ids = dictionary.encode([t for place in zip(*triples, strict=True) for t in place]).reshape(3, -1)
    found = {
        str(predicate): sorted(tuple(t.text for t in dictionary.decode(row)) for row in rows.T.tolist())
        for predicate, rows in facts_of_triples(dictionary, ids)
    }
    assert found == {
        "<a:C>/1": [("a:C",), ("a:s",)],
        "<a:C>/2": [("a:C", "a:s")],
        "<a:p>/2": [("a:s", "a:s"), ("b", "a:s")],
        f"<{RDF}type>/2": [("a:s", "b")],
    }


@pytest.mark.parametrize("format", ["nt", "ttl"])
def test_memory_does_not_grow_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    """The pieces of a file come and go: six times the file takes no more memory, apart from its terms."""
    monkeypatch.setattr(rdf_documents, "_QUADS", 1 << 11)
    peaks = []
    for lines in (10_000, 60_000):
        path = tmp_path / f"{lines}.{format}"
        path.write_bytes(b'<http://example.org/subject> <http://example.org/predicate> "object" .\n' * lines)
        dictionary = Dictionary()
        tracemalloc.start()
        try:
            assert sum(chunk.shape[1] for chunk in read_rdf(path, format, dictionary, block=1 << 18)) == lines
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]
