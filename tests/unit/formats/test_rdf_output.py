"""Facts as N-Triples and Turtle, and back: every kind of term through every format."""

from __future__ import annotations

import gzip
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.errors import DataError
from modulog.formats import DataWarning
from modulog.formats.export import export
from modulog.formats.rdf import read_rdf
from modulog.formats.rdf_lines import is_term
from modulog.formats.rdf_output import LITERAL_SUBJECT, NO_PREDICATE, NO_TERM, write_triples
from modulog.language.model import Predicate
from modulog.terms.constant import RDF, XSD, Constant, Kind, language, literal
from modulog.terms.dictionary import Dictionary, Ids
from support.term_strategies import CONSTANTS, TEXTS

P = Predicate("<http://e/p>", 2)
C = Predicate("<http://e/C>", 1)
TRIPLE = Predicate("triple", 3)
S = Constant(Kind.IRI, "http://e/s")
IRIS = st.builds(
    lambda head, tail: Constant(Kind.IRI, head + tail),
    st.sampled_from(["http://e/", "http://e/x#", "urn:a:", "a", ""]),
    st.text(st.sampled_from("abZ_-.09é漢%4/#?:~"), max_size=8),
)
TERMS = st.one_of(
    CONSTANTS,
    IRIS,
    st.builds(language, TEXTS, st.sampled_from(["en", "ar--rtl", "de-at-1901", "a", "en-"])),
    st.builds(
        literal,
        TEXTS,
        st.sampled_from([f"{XSD}date", f"{XSD}float", "t", f"{RDF}langString", "http://e/%zz"]),
    ),
    st.builds(lambda t: Constant(Kind.BLANK, t), st.from_regex(r"[\w:][\w:.\-]{0,3}[\w]", fullmatch=True)),
)


def say(term: Constant) -> str:
    """A term in N-Triples, made as plainly as can be."""
    names = {Kind.INTEGER: "integer", Kind.DECIMAL: "decimal", Kind.DOUBLE: "double", Kind.BOOLEAN: "boolean"}
    match term.kind:
        case Kind.IRI:
            return f"<{term.text}>"
        case Kind.BLANK:
            return f"_:{term.text}"
    text = '"' + "".join(f"\\U{ord(c):08X}" for c in term.text) + '"'
    if term.kind == Kind.LANGUAGE:
        return f"{text}@{term.qualifier}"
    datatype = term.qualifier if term.kind == Kind.TYPED else f"{XSD}{names.get(term.kind, 'string')}"
    return f"{text}^^<{datatype}>"


def table(dictionary: Dictionary, rows: Sequence[Sequence[Constant]]) -> Ids:
    """Rows of constants as a chunk of numbers."""
    ids = dictionary.encode([term for row in rows for term in row])
    return np.ascontiguousarray(ids.reshape(len(rows), -1).T)


def read(path: Path, format: str) -> list[tuple[Constant, ...]]:
    dictionary = Dictionary()
    return [
        tuple(dictionary.decode(row))
        for chunk in read_rdf(path, format, dictionary)
        for row in chunk.T.tolist()
    ]


def write(path: Path, rows: Sequence[Sequence[Constant]], predicate: Predicate) -> tuple[int, dict[str, int]]:
    """Write rows in two chunks; answers how many were written, and how many left out, by reason."""
    dictionary = Dictionary()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        half = len(rows) // 2
        chunks = [table(dictionary, part) for part in (rows[:half], rows[half:]) if part]
        written = write_triples(path, chunks, dictionary, predicate)
    left = {}
    for warning in caught:
        assert warning.category is DataWarning
        found = re.fullmatch(r".*: (\d+) facts? (?:is|are) left out, (.*)", str(warning.message), re.DOTALL)
        assert found
        left[found[2]] = int(found[1])
    return written, left


@given(
    st.lists(st.tuples(TERMS, TERMS, TERMS), max_size=8), st.sampled_from(["nt", "ttl"]), st.integers(1, 3)
)
def test_every_term_comes_back(rows: list[tuple[Constant, ...]], format: str, arity: int) -> None:
    """What RDF can say is read back as it was, by us and by pyoxigraph; what it cannot say is counted."""
    predicate = {1: C, 2: P, 3: TRIPLE}[arity]
    rows = [row[:arity] for row in rows]
    wanted, left = [], dict.fromkeys((LITERAL_SUBJECT, NO_PREDICATE, NO_TERM), 0)
    for row in rows:
        if row[0].kind not in (Kind.IRI, Kind.BLANK):
            left[LITERAL_SUBJECT] += 1
        elif arity == 3 and row[1].kind != Kind.IRI:
            left[NO_PREDICATE] += 1
        elif not all(is_term(say(term)) for term in row):
            left[NO_TERM] += 1
        else:
            verb = Constant(Kind.IRI, {1: f"{RDF}type", 2: "http://e/p"}.get(arity, row[len(row) // 2].text))
            wanted.append((row[0], verb, Constant(Kind.IRI, "http://e/C") if arity == 1 else row[-1]))
    with TemporaryDirectory() as folder:
        path = Path(folder, f"facts.{format}")
        assert write(path, rows, predicate) == (len(wanted), {k: n for k, n in left.items() if n})
        assert read(path, format) == wanted
        kind = pyoxigraph.RdfFormat.from_extension(format)
        plain = "".join(" ".join(map(say, row)) + " .\n" for row in wanted)
        expected = pyoxigraph.parse(plain, format=pyoxigraph.RdfFormat.N_TRIPLES)
        assert list(pyoxigraph.parse(path=path, format=kind)) == list(expected)


@given(
    st.lists(TERMS.filter(lambda t: is_term(say(t))), max_size=6),
    st.sampled_from(["nq", "ttl", "trig", "rdf"]),
)
def test_what_others_write(objects: list[Constant], format: str) -> None:
    """Every term as pyoxigraph writes it in each format is read as the term it is."""
    if format == "rdf":  # XML has no control characters, and turns carriage returns into newlines
        objects = [term for term in objects if not re.search(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]", term.text)]
        # and pyoxigraph writes labels there that are no names of XML, and no directions.
        objects = [
            t for t in objects if "--" not in t.qualifier and (t.kind != Kind.BLANK or t.text[0] == "b")
        ]
    lines = "".join(f"<http://e/s> <http://e/p> {say(term)} .\n" for term in objects)
    quads = pyoxigraph.parse(lines, format=pyoxigraph.RdfFormat.N_TRIPLES)
    kind = pyoxigraph.RdfFormat.from_extension(format)
    with TemporaryDirectory() as folder:
        path = Path(folder, f"facts.{format}")
        triples = quads if kind.supports_datasets else [quad.triple for quad in quads]
        pyoxigraph.serialize(triples, str(path), format=kind)
        assert [row[2] for row in read(path, format)] == objects


def test_turtle_is_short(tmp_path: Path) -> None:
    rows = [[S, Constant(Kind.IRI, f"http://e/{name}")] for name in ("a", "b")] + [
        [S, Constant(Kind.INTEGER, "5")]
    ]
    path = tmp_path / "p.ttl"
    dictionary = Dictionary()
    assert write_triples(path, [table(dictionary, rows)], dictionary, P) == 3
    assert path.read_text() == "@prefix n1: <http://e/> .\nn1:s n1:p n1:a ,\n    n1:b ,\n    5 .\n"


def test_a_folder(tmp_path: Path) -> None:
    """One file for each predicate; those that triples cannot say are named."""
    dictionary = Dictionary()
    facts = {P: [[S, S]], C: [[S]], Predicate("<http://e/p>", 1): [[S]], Predicate("edge", 2): [[S, S]]}

    def chunks(predicate: Predicate) -> list[Ids]:
        return [table(dictionary, facts[predicate])]

    with pytest.warns(DataWarning, match="not written: edge/2$"):
        written = export(tmp_path / "out", "nt", list(facts), chunks, dictionary)
    assert written == {"http%3A%2F%2Fe%2Fp@2.nt": 1, "http%3A%2F%2Fe%2FC.nt": 1, "http%3A%2F%2Fe%2Fp@1.nt": 1}
    assert (
        tmp_path / "out" / "http%3A%2F%2Fe%2FC.nt"
    ).read_text() == f"<http://e/s> <{RDF}type> <http://e/C> .\n"
    with pytest.raises(DataError, match="not written: edge/2"):
        export(tmp_path / "none", "ttl", [Predicate("edge", 2)], chunks, dictionary)
    assert not (tmp_path / "none").exists()


def test_gzipped(tmp_path: Path) -> None:
    path = tmp_path / "p.nt.gz"
    assert write(path, [[S, S]], P) == (1, {})
    assert gzip.decompress(path.read_bytes()) == b"<http://e/s> <http://e/p> <http://e/s> .\n"
