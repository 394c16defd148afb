"""Reads the triples of an ontology from an RDF file, with the prefixes that the file declares."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from modulog.errors import DataError
from modulog.formats.files import discover
from modulog.formats.format import RDF_EXTENSIONS
from modulog.owl.triple_graph import Graph, Triple

_OTHER_SYNTAXES = {
    "OWL's functional syntax": rb"\s*(?:#[^\n]*\s*)*(?:Prefix|Ontology)\s*\(",
    "OWL's Manchester syntax": rb"\s*(?:#[^\n]*\s*)*(?:Prefix|Ontology):",
    "OWL/XML": rb"(?:(?!<rdf:RDF)[\s\S])*?<(?:owl:)?Ontology\s[^>]*xmlns",
    "Turtle": rb"\s*(?:#[^\n]*\s*)*@(?:prefix|base)\b",
}
_LOOKED_AT = 4096  # the bytes at the start of a file by which its syntax is recognised


@dataclass(frozen=True, slots=True)
class Source:
    """A file, its triples and its prefixes."""

    path: str
    graph: Graph
    prefixes: dict[str, str]


def read_ontology(path: str | os.PathLike[str]) -> Source:
    """Read one file: .owl and .rdf (RDF/XML), .ttl, .nt, .nq and .trig, each also with .gz at the end."""
    shown = os.fspath(path)
    if os.path.isdir(path):
        raise DataError(f"{shown}: a folder; an ontology is a file")
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if os.path.exists(path) and not {*suffixes[-2:]} & RDF_EXTENSIONS.keys():
        known = ", ".join(RDF_EXTENSIONS)
        raise DataError(f"{shown}: an ontology is read from {known} files, also with .gz behind")
    file = discover(path, RDF_EXTENSIONS)[0]
    prefixes: dict[str, str] = {}
    if file.format == "rdf":
        _refuse_other_syntaxes(Path(file.path), file.gzip)
    graph = Graph(_triples(file.path, file.format, prefixes))
    return Source(shown, graph, prefixes)


def _triples(path: str | os.PathLike[str], format: str, prefixes: dict[str, str]) -> Iterator[Triple]:
    """The triples of a file; the prefixes that it declares are added to `prefixes`."""
    from modulog.formats.rdf import read_rdf
    from modulog.terms.dictionary import Dictionary

    dictionary = Dictionary()
    chunks = [chunk.tolist() for chunk in read_rdf(path, format, dictionary, prefixes=prefixes)]
    terms = dictionary.decode(range(len(dictionary)))
    for subjects, predicates, objects in chunks:
        for subject, predicate, object_ in zip(subjects, predicates, objects, strict=True):
            yield terms[subject], terms[predicate].text, terms[object_]


def _refuse_other_syntaxes(path: Path, compressed: bool) -> None:
    """Raise an error if a file named .owl or .rdf is in another syntax than RDF/XML.

    The XML parser would only say that it is not well-formed.
    """
    try:
        with (gzip.open if compressed else open)(path, "rb") as stream:
            start = stream.read(_LOOKED_AT)
    except OSError:
        return  # reading the whole file raises the error that says what is wrong
    for name, pattern in _OTHER_SYNTAXES.items():
        if re.match(pattern, start):
            hint = "name it .ttl" if name == "Turtle" else "save it as RDF/XML or Turtle"
            raise DataError(f"{path}: this looks like {name}, and .owl and .rdf files are RDF/XML: {hint}")
