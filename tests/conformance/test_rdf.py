"""Every kind of case of the W3C's suites for RDF, through our reader: what documents mean, and where they are wrong."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest

from modulog.errors import DataError
from modulog.formats.rdf import NO_GRAPH, read_rdf
from modulog.formats.rdf_documents import address
from modulog.terms.constant import Constant, Kind, term_text
from modulog.terms.dictionary import Dictionary
from modulog.terms.python_values import constant
from support.rdf_documents import BAD, GOOD, brief

good = pytest.mark.parametrize(("format", "name"), [(f, name) for f, cases in GOOD.items() for name in cases])
bad = pytest.mark.parametrize(("format", "name"), [(f, name) for f, cases in BAD.items() for name in cases])


def as_quad(terms: list[Constant]) -> Any:
    """Constants as a quad of pyoxigraph, by way of N-Quads."""
    datatypes = {
        Kind.INTEGER: "integer",
        Kind.DECIMAL: "decimal",
        Kind.DOUBLE: "double",
        Kind.BOOLEAN: "boolean",
    }
    shown = []
    for term in terms:
        text = term_text(term)
        if term.kind in datatypes and not text.startswith('"'):
            text = f'"{text}"^^<http://www.w3.org/2001/XMLSchema#{datatypes[term.kind]}>'
        shown.append(text)
    return next(iter(pyoxigraph.parse(" ".join(shown) + " .", format=pyoxigraph.RdfFormat.N_QUADS)))


def ours(path: Path, format: str) -> list[Any]:
    """What our reader finds."""
    dictionary = Dictionary()
    found = []
    for chunk in read_rdf(path, format, dictionary, graphs=True):
        for row in chunk.T.tolist():
            found.append(as_quad(dictionary.decode([i for i in row if i != NO_GRAPH])))
    return found


def theirs(content: str, format: str, path: Path) -> list[Any]:
    """What pyoxigraph finds, with literals as we keep them."""
    kind = pyoxigraph.RdfFormat.from_extension(format)
    quads = pyoxigraph.parse(content.removeprefix("\ufeff"), format=kind, base_iri=address(str(path)))
    found = []
    for quad in quads:
        terms = [quad.subject, quad.predicate, quad.object, quad.graph_name]
        kept = [t for t in terms if not isinstance(t, pyoxigraph.DefaultGraph)]
        found.append(as_quad([constant(t) for t in kept]))
    return found


def canonical(quads: list[Any]) -> list[str]:
    """Quads in order, blank nodes named by what is said about them."""
    dataset = pyoxigraph.Dataset(quads)
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
    return sorted(map(str, dataset))


@good
def test_a_document_means_its_quads(format: str, name: str, tmp_path: Path) -> None:
    content, meant = GOOD[format][name]
    path = tmp_path / f"document.{format}"
    path.write_bytes(content.encode())
    found = canonical(ours(path, format))
    assert found == canonical(list(pyoxigraph.parse(brief(meant), format=pyoxigraph.RdfFormat.N_QUADS)))
    assert found == canonical(theirs(content, format, path))


@good
def test_gzipped_and_twice(format: str, name: str, tmp_path: Path) -> None:
    """A compressed document means the same, and labels are the same whenever it is read."""
    path = tmp_path / f"document.{format}.gz"
    path.write_bytes(gzip.compress(GOOD[format][name][0].encode()))
    first = ours(path, format)
    assert list(map(str, first)) == list(map(str, ours(path, format)))
    plain = tmp_path / f"document.{format}"
    plain.write_bytes(GOOD[format][name][0].encode())
    assert canonical(first) == canonical(ours(plain, format))


@bad
def test_mistakes_are_shown_where_they_are(format: str, name: str, tmp_path: Path) -> None:
    content, line = BAD[format][name]
    path = tmp_path / f"document.{format}"
    path.write_bytes(content.encode())
    with pytest.raises(DataError) as caught:
        ours(path, format)
    place, _, said = str(caught.value).removeprefix(f"{path}:").partition(": ")
    assert int(place.split(":")[0]) == line
    assert len(place.split(":")) == 2 and said


def test_labels_as_written(tmp_path: Path) -> None:
    """A label stays, also one that looks like those that pyoxigraph makes up; a node without one gets one of its document's."""
    made_up = "0f3c6a9d2e5b8174a0c3f6e9b2d5a8c1"[1:]
    content = f"_:{made_up} <http://e/p> [ <http://e/q> _:b ] ."
    paths = [tmp_path / "a.ttl", tmp_path / "b.ttl"]
    for path in paths:
        path.write_text(content)
    first, second = ([str(quad) for quad in ours(path, "ttl")] for path in paths)
    assert all(f"_:{made_up} " in "\n".join(lines) and "_:b" in "\n".join(lines) for lines in (first, second))
    anonymous = [next(line.split()[-1] for line in lines if made_up in line) for lines in (first, second)]
    assert anonymous[0] != anonymous[1] and all(label.startswith("_:f") for label in anonymous)


def test_labels_across_reads(tmp_path: Path) -> None:
    """A label is seen even if a stream gives it in two pieces, and numbers go on from piece to piece."""
    label = "abcdef0123456789abcdef0123456789"
    path = tmp_path / "a.ttl"
    path.write_text("\n".join(f"_:{label} <http://e/p> [ <http://e/q> {n} ] ." for n in range(40_000)))
    dictionary = Dictionary()
    rows = [row for chunk in read_rdf(path, "ttl", dictionary) for row in chunk.T.tolist()]
    labels = {
        c.text for c in dictionary.decode(sorted({i for row in rows for i in row})) if c.kind == Kind.BLANK
    }
    assert len(rows) == 80_000 and len(labels) == 40_001 and label in labels
