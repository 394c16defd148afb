"""Reads an ontology's triples from a file, and lists, properties and classes from these.

This follows OWL 2 Mapping to RDF Graphs, 3.2.4 and 3.2.5.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from modulog.errors import DataError
from modulog.formats.files import discover
from modulog.formats.format import RDF_EXTENSIONS
from modulog.owl import class_expressions as owl
from modulog.owl.vocabulary import DATATYPE, FIRST, LABEL, NIL, OWL, REST, TYPE, is_datatype
from modulog.terms.constant import Constant, Kind

Triple = tuple[Constant, str, Constant]
"""Subject, the IRI of the predicate, object."""

Inside = frozenset[Constant]
"""The nodes of the class expressions around a node, by which a cycle is found."""

DEFINING = ("oneOf", "intersectionOf", "unionOf", "complementOf")
"""The properties that define a class from others; in OWL 1, the subject may be a named class."""

_CARDINALITIES: dict[str, Literal["min", "max", "exactly"]] = {
    "minCardinality": "min",
    "maxCardinality": "max",
    "cardinality": "exactly",
    "minQualifiedCardinality": "min",
    "maxQualifiedCardinality": "max",
    "qualifiedCardinality": "exactly",
}


class Unreadable(Exception):
    """Triples do not form the expression that they should; the message is the reason."""


class TripleGraph:
    """The distinct triples of an ontology in order, with an index on subject and predicate."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.triples: tuple[Triple, ...] = tuple(dict.fromkeys(triples))
        self._objects: dict[tuple[Constant, str], list[Constant]] = {}
        for subject, predicate, object_ in self.triples:
            self._objects.setdefault((subject, predicate), []).append(object_)

    def objects(self, subject: Constant, predicate: str) -> list[Constant]:
        """All objects of a subject and a predicate."""
        return self._objects.get((subject, predicate), [])

    def one(self, subject: Constant, predicate: str) -> Constant | None:
        """The object of a subject and a predicate; None if there is none, an error if there are several."""
        found = self.objects(subject, predicate)
        if len(found) > 1:
            raise Unreadable(f"{_shown(subject)} has several values for {_local(predicate)}")
        return found[0] if found else None

    def has_type(self, node: Constant, iri: str) -> bool:
        """Whether a node has an `rdf:type` triple with this IRI."""
        return any(found.kind == Kind.IRI and found.text == iri for found in self.objects(node, TYPE))

    def label(self, node: Constant) -> str | None:
        """The label of a node: the first in English or without a language, else the first; or None."""
        found = self.objects(node, LABEL)
        english = [c for c in found if c.kind != Kind.LANGUAGE or c.qualifier.startswith("en")]
        return (english or found)[0].text if found else None

    def members(self, node: Constant) -> tuple[Constant, ...]:
        """The members of an RDF list."""
        return tuple(self._walk(node))

    def _walk(self, node: Constant) -> Iterator[Constant]:
        """The members of a list, with errors for nodes that are no list and for cycles."""
        seen = set()
        while node != Constant(Kind.IRI, NIL):
            first, rest = self.one(node, FIRST), self.one(node, REST)
            if first is None or rest is None:
                raise Unreadable(f"{_shown(node)} is not a list")
            if node in seen:
                raise Unreadable("a list that contains itself")
            seen.add(node)
            yield first
            node = rest

    # ---- Properties

    def property(self, node: Constant) -> owl.Property:
        """The property that a node stands for: a named one, or the inverse of one."""
        if node.kind == Kind.IRI:
            return owl.Property(node.text)
        inverse = self.one(node, OWL + "inverseOf") if node.kind == Kind.BLANK else None
        if inverse is None:
            raise Unreadable(f"{_shown(node)} is not a property")
        if inverse.kind != Kind.IRI:
            raise Unreadable("the inverse of a property without a name")
        return owl.Property(inverse.text, inverse=True)

    # ---- Classes

    def expression(self, node: Constant, inside: Inside = frozenset()) -> owl.ClassExpression:
        """The class expression that a node stands for; `inside` are the nodes of expressions around it."""
        if node.kind == Kind.IRI:
            is_data = is_datatype(node.text) or self.has_type(node, DATATYPE)
            return owl.DataRange(node.text) if is_data else owl.Named(node.text)
        if node.kind != Kind.BLANK:
            raise Unreadable(f"the literal {_shown(node)} is not a class")
        if node in inside:
            raise Unreadable("a class that contains itself")
        return self._definition(node, inside | {node})

    def built(self, word: str, of: Constant, inside: Inside = frozenset()) -> owl.ClassExpression:
        """The class that `intersectionOf`, `unionOf`, `complementOf` or `oneOf` (`word`) makes from `of`."""
        if word == "oneOf":
            return owl.OneOf(self.members(of))
        if word == "complementOf":
            return owl.Not(self.expression(of, inside))
        parts = self.parts(of, inside)
        return owl.And(parts) if word == "intersectionOf" else owl.Or(parts)

    def parts(self, node: Constant, inside: Inside = frozenset()) -> tuple[owl.ClassExpression, ...]:
        """The class expressions in an RDF list."""
        return tuple(self.expression(member, inside) for member in self.members(node))

    def restrictions(self, node: Constant, inside: Inside = frozenset()) -> Iterator[owl.ClassExpression]:
        """The classes that the triples of a restriction node define, one for each kind of restriction."""
        on = self.one(node, OWL + "onProperty")
        if on is None:
            if self.objects(node, OWL + "onProperties"):
                raise Unreadable("a restriction on several properties at once")
            return
        property_ = self.property(on)
        if (filler := self.one(node, OWL + "someValuesFrom")) is not None:
            yield owl.Some(property_, self.expression(filler, inside))
        if (filler := self.one(node, OWL + "allValuesFrom")) is not None:
            yield owl.Only(property_, self.expression(filler, inside))
        if (value := self.one(node, OWL + "hasValue")) is not None:
            yield owl.HasValue(property_, value)
        if self.objects(node, OWL + "hasSelf"):
            yield owl.HasSelf(property_)
        for word, bound in _CARDINALITIES.items():
            if (number := self.one(node, OWL + word)) is not None:
                yield owl.Cardinality(bound, _number(number), property_, self._counted(node, inside))

    def _definition(self, node: Constant, inside: Inside) -> owl.ClassExpression:
        """The class or data range that a blank node defines."""
        found = [
            self.built(word, of, inside)
            for word in DEFINING
            if (of := self.one(node, OWL + word)) is not None
        ]
        if self.has_type(node, DATATYPE) or self.objects(node, OWL + "onDatatype"):
            return found[0] if found and isinstance(found[0], owl.OneOf) else owl.DataRange()
        found += self.restrictions(node, inside)
        if len(found) != 1:
            raise Unreadable(
                f"a class without a name and {'with two definitions' if found else 'without a definition'}"
            )
        return found[0]

    def _counted(self, node: Constant, inside: Inside) -> owl.ClassExpression:
        """The class whose instances a cardinality restriction counts."""
        of = self.one(node, OWL + "onClass") or self.one(node, OWL + "onDataRange")
        return owl.EVERYTHING if of is None else self.expression(of, inside)


def _number(constant: Constant) -> int:
    if not constant.text.isdecimal():
        raise Unreadable(f"{_shown(constant)} is not a number of things")
    return int(constant.text)


def _shown(constant: Constant) -> str:
    from modulog.terms.constant import term_text

    return "a node without a name" if constant.kind == Kind.BLANK else term_text(constant)


def _local(iri: str) -> str:
    return iri.rpartition("#")[2]


# ---- Files

_OTHER_SYNTAXES = {
    "OWL's functional syntax": rb"\s*(?:#[^\n]*\s*)*(?:Prefix|Ontology)\s*\(",
    "OWL's Manchester syntax": rb"\s*(?:#[^\n]*\s*)*(?:Prefix|Ontology):",
    "OWL/XML": rb"(?:(?!<rdf:RDF)[\s\S])*?<(?:owl:)?Ontology\s[^>]*xmlns",
    "Turtle": rb"\s*(?:#[^\n]*\s*)*@(?:prefix|base)\b",
}
_LOOKED_AT = 4096  # the bytes at the start of a file by which its syntax is recognised


@dataclass(frozen=True, slots=True)
class OntologyFile:
    """A file, its triples and its prefixes."""

    path: str
    graph: TripleGraph
    prefixes: dict[str, str]


def read_ontology(path: str | os.PathLike[str]) -> OntologyFile:
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
    graph = TripleGraph(_triples(file.path, file.format, prefixes))
    return OntologyFile(shown, graph, prefixes)


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
