"""Chooses prefixes for IRIs: those that the files declare, well-known ones, and ones made from the IRIs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from modulog.language.model import Atom, Rule
from modulog.owl.vocabulary import OWL, RDFS
from modulog.terms.constant import RDF, XSD, Constant, Kind

Prefixes = tuple[tuple[str, str], ...]

KNOWN = {
    "owl": OWL,
    "rdf": RDF,
    "rdfs": RDFS,
    "xsd": XSD,
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "obo": "http://purl.obolibrary.org/obo/",
}
_NAMESPACE = re.compile(r"(.*[#/:])([A-Za-z_][\w-]*)", re.DOTALL)
_PREFIX = re.compile(r"(?:[A-Za-z](?:[\w-]*\w)?)?")


def choose_prefixes(iris: Iterable[str], declared: Iterable[dict[str, str]]) -> Prefixes:
    """A prefix for each namespace of the IRIs: a declared one, else a well-known one, else one made from it.

    >>> choose_prefixes(["http://e.org/zoo#Lion", "http://e.org/zoo#eats", RDF + "List"], [])
    (('zoo', 'http://e.org/zoo#'), ('rdf', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'))
    """
    spaces = dict.fromkeys(match[1] for iri in iris if (match := _NAMESPACE.fullmatch(iri)))
    offered: dict[str, str] = {}
    for prefixes in declared:
        for prefix, space in prefixes.items():
            offered.setdefault(space, prefix)
    for prefix, space in KNOWN.items():
        offered.setdefault(space, prefix)
    chosen: dict[str, str] = {}
    for space in spaces:
        prefix = offered.get(space, "")
        wanted = prefix if _PREFIX.fullmatch(prefix) and space in offered else _from_namespace(space)
        chosen[_free(wanted, chosen)] = space
    return tuple(chosen.items())


def also_known(chosen: Prefixes, declared: Iterable[dict[str, str]]) -> Prefixes:
    """The chosen prefixes, with declared and well-known ones added if neither prefix nor namespace is taken.

    They serve to shorten IRIs in comments, which may name other IRIs than the rules do.

    >>> dict(also_known((("a", "u:"),), [{"a": "v:", "b": "w:"}]))["b"]
    'w:'
    """
    known = dict(chosen)
    for prefixes in (*declared, KNOWN):
        for prefix, space in prefixes.items():
            if space not in known.values():
                known.setdefault(prefix, space)
    return tuple(known.items())


def iris_of(statements: Iterable[Rule | Atom]) -> Iterator[str]:
    """The IRIs in rules and facts, in order, with repetitions."""
    for statement in statements:
        atoms = (*statement.heads, *statement.atoms) if isinstance(statement, Rule) else (statement,)
        for atom in atoms:
            yield atom.predicate.name[1:-1]
            for term in atom.terms:
                if isinstance(term, Constant) and term.kind in (Kind.IRI, Kind.TYPED):
                    yield term.text if term.kind == Kind.IRI else term.qualifier


def _from_namespace(space: str) -> str:
    """A prefix made of the last word of a namespace."""
    words = re.findall(
        r"[A-Za-z][A-Za-z0-9-]*[A-Za-z0-9]", re.sub(r"\.(owl|rdf|ttl|org|com|net)\b", "", space)
    )
    return words[-1].lower() if words else "ns"


def _free(wanted: str, taken: dict[str, str]) -> str:
    """The wanted prefix, with a number if it is taken."""
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted or 'ns'}{number}", number + 1
    return name
