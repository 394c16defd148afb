"""The table of formats agrees with what is written elsewhere, and every format has a reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from modulog import IRI, Reasoner
from modulog.engines.local.backend import LocalBackend
from modulog.errors import DataError
from modulog.formats.export import export
from modulog.formats.files import discover
from modulog.formats.format import DIRECTIVES, EXTENSIONS, FORMATS, SINKS, TRIPLES, WRITTEN, enumerated
from modulog.language.model import Predicate
from modulog.task.decision import BYTES
from modulog.terms.constant import Constant, Kind

NAME = "<http://e.org/p>"
TEXTS = {
    "nt": "<a:s> <http://e.org/p> <a:o> .\n",
    "nq": "<a:s> <http://e.org/p> <a:o> .\n",
    "ttl": "<a:s> <http://e.org/p> <a:o> .\n",
    "trig": "<a:s> <http://e.org/p> <a:o> .\n",
    "rdf": """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">
    <rdf:Description rdf:about="a:s"><e:p rdf:resource="a:o"/></rdf:Description></rdf:RDF>""",
    "jsonl": '["a:s", "a:o"]\n',
    "dsv": "<a:s>;<a:o>\n",
}


def make(folder: Path, name: str, extension: str) -> Path:
    """A file of a format with one fact, written by us where we can."""
    path = folder / f"http%3A%2F%2Fe%2Eorg%2Fp{extension}"
    if name in TEXTS:
        path.write_text(TEXTS[name])
        return path
    backend = LocalBackend()
    ids = backend.dictionary.encode([Constant(Kind.IRI, "a:s"), Constant(Kind.IRI, "a:o")]).reshape(2, 1)
    assert export(folder, name, [Predicate(NAME, 2)], lambda _: [ids], backend.dictionary) == {path.name: 1}
    return path


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_a_file_of_every_extension_is_read(tmp_path: Path, extension: str) -> None:
    name = EXTENSIONS[extension]
    path = make(tmp_path, name, extension)
    assert [file.format for file in discover(path)] == [name]
    reasoner = Reasoner("")
    reasoner.load(path)
    term = str if name == "jsonl" else IRI  # JSON has no IRIs
    assert list(reasoner.rows(NAME)) == [(term("a:s"), term("a:o"))]


@pytest.mark.parametrize("directive", [name for name, format in DIRECTIVES.items() if format])
def test_a_file_of_every_directive_is_read(tmp_path: Path, directive: str) -> None:
    name = DIRECTIVES[directive]
    assert name is not None
    path = make(tmp_path, name, "." + name)
    if name in TRIPLES:
        (tmp_path / "p.rls").write_text(
            f'@import triple :- {directive} {{resource = "{path.name}"}} .\nq(?x, ?y) :- triple(?x, ?p, ?y) .'
        )
    else:
        (tmp_path / "p.rls").write_text(f'@import q :- {directive} {{resource = "{path.name}"}} .')
    reasoner = Reasoner(tmp_path / "p.rls")
    assert list(reasoner.rows("q")) == [(IRI("a:s"), IRI("a:o"))]


def test_a_sink_writes_what_can_be_written_or_a_table() -> None:
    assert set(SINKS.values()) == {*WRITTEN, "table"}


def test_memory_is_estimated_for_every_format_of_files() -> None:
    assert {*EXTENSIONS.values(), "table"} <= BYTES.keys()


def test_what_has_fields_has_a_delimiter() -> None:
    assert {name: format.delimiter for name, format in FORMATS.items() if format.delimiter} == {
        "csv": ",",
        "tsv": "\t",
        "dsv": ";",
    }


@pytest.mark.parametrize("name", ["dsv", "table", "owl", "xls"])
def test_formats_that_files_do_not_have(tmp_path: Path, name: str) -> None:
    (tmp_path / "p.csv").write_text("1\n")
    with pytest.raises(
        DataError, match=rf'p\.csv: there is no format "{name}"; choose one of: csv, tsv, parquet, '
    ):
        discover(tmp_path / "p.csv", format=name)


def test_one_extension_is_enumerated() -> None:
    assert enumerated([".csv"]) == ".csv"
