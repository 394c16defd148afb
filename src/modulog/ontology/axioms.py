"""The axioms of a graph, in its order: OWL 2 Mapping to RDF Graphs, section 3.2.5, and what OWL 1 and RDF Schema write in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from modulog.ontology import expressions as owl
from modulog.ontology.graph import DEFINING, Graph, Triple, Unreadable
from modulog.ontology.reasons import CONSTRAINT, DATA, EQUALITY, IMPORTED, UNIQUE_NAMES
from modulog.ontology.swrl import implication
from modulog.ontology.vocabulary import DATATYPE, NOTHING, OWL, RDFS, RESERVED, SWRL, TYPE
from modulog.terms.model import Constant, Kind

Reader = Callable[[Graph, Constant, Constant], owl.Axiom | None]

UNSAID = {
    "disjointWith": CONSTRAINT,
    "propertyDisjointWith": CONSTRAINT,
    "sameAs": EQUALITY,
    "differentFrom": UNIQUE_NAMES,
    "hasKey": EQUALITY,
}
"""Properties of OWL whose axioms no rule says."""

UNSAID_TYPES = {
    "FunctionalProperty": EQUALITY,
    "InverseFunctionalProperty": EQUALITY,
    "AsymmetricProperty": CONSTRAINT,
    "IrreflexiveProperty": CONSTRAINT,
    "AllDisjointClasses": CONSTRAINT,
    "AllDisjointProperties": CONSTRAINT,
    "AllDifferent": UNIQUE_NAMES,
    "NegativePropertyAssertion": CONSTRAINT,
}
"""Types of properties and of axioms that no rule says."""

_CHARACTERISTICS: dict[str, Literal["Symmetric", "Transitive", "Reflexive"]] = {
    "SymmetricProperty": "Symmetric",
    "TransitiveProperty": "Transitive",
    "ReflexiveProperty": "Reflexive",
}
_LISTED = ("members", "distinctMembers")
_NEGATIVE = ("sourceIndividual", "assertionProperty", "targetIndividual", "targetValue")
_NEVER = ("bottomObjectProperty", "bottomDataProperty")


def axioms_of(graph: Graph) -> Iterator[owl.Axiom]:
    """Every axiom; declarations and annotations are none."""
    for triple in graph.triples:
        try:
            axiom = _axiom(graph, triple)
        except Unreadable as error:
            subject, predicate, object_ = triple
            axiom = owl.Unsaid(_word(predicate), (subject, object_), f"cannot be read: {error}")
        if axiom is not None:
            yield axiom


def _axiom(graph: Graph, triple: Triple) -> owl.Axiom | None:
    subject, predicate, object_ = triple
    if predicate == TYPE:
        return _typed(graph, subject, object_)
    if (reader := _READERS.get(predicate)) is not None:
        return reader(graph, subject, object_)
    if predicate.startswith(OWL):
        return _owl(graph, subject, predicate.removeprefix(OWL), object_)
    if _relates(graph, predicate):
        return owl.PropertyAssertion(owl.Property(predicate), subject, object_)
    return None


def _relates(graph: Graph, iri: str) -> bool:
    """Whether a property is declared to relate individuals to each other or to literals, not only to annotate."""
    node = Constant(Kind.IRI, iri)
    stated = graph.has_type(node, OWL + "ObjectProperty") or graph.has_type(node, OWL + "DatatypeProperty")
    return stated and not iri.startswith(RESERVED) and not graph.has_type(node, OWL + "AnnotationProperty")


# ---- Types


def _typed(graph: Graph, subject: Constant, of: Constant) -> owl.Axiom | None:
    """A characteristic of a property, an axiom about several things, or an individual of a class."""
    if of.kind == Kind.IRI and of.text.startswith(OWL):
        word = of.text.removeprefix(OWL)
        if word in UNSAID_TYPES:
            return _unsaid_type(graph, subject, word)
        if word in _CHARACTERISTICS:
            return owl.Characteristic(_CHARACTERISTICS[word], graph.property(subject))
    if of.kind == Kind.IRI and of.text == SWRL + "Imp":
        return implication(graph, subject)
    if of.kind == Kind.IRI and of.text.startswith(RESERVED) and of.text != NOTHING:
        return None
    return owl.ClassAssertion(subject, graph.expression(of))


def _unsaid_type(graph: Graph, subject: Constant, word: str) -> owl.Axiom:
    if word.endswith("Property"):
        return owl.Unsaid(word.removesuffix("Property"), (graph.property(subject),), UNSAID_TYPES[word])
    listed = [members for at in _LISTED for members in graph.objects(subject, OWL + at)]
    of_classes = word == "AllDisjointClasses"
    parts = tuple(
        graph.expression(member) if of_classes else member
        for members in listed
        for member in graph.members(members)
    )
    if word == "NegativePropertyAssertion":
        parts = tuple(found for at in _NEGATIVE for found in graph.objects(subject, OWL + at))
    return owl.Unsaid(word, parts, UNSAID_TYPES[word])


# ---- Predicates


def _sub_class(graph: Graph, sub: Constant, super_: Constant) -> owl.Axiom:
    return owl.SubClassOf(graph.expression(sub), graph.expression(super_))


def _equivalent(graph: Graph, first: Constant, second: Constant) -> owl.Axiom:
    classes = graph.expression(first), graph.expression(second)
    if any(isinstance(found, owl.DataRange) for found in classes):
        return owl.Unsaid("EquivalentTo", classes, DATA)
    return owl.EquivalentClasses(*classes)


def _inverse(graph: Graph, first: Constant, second: Constant) -> owl.Axiom | None:
    """A blank node that is the inverse of a property is a property, not an axiom."""
    if first.kind == Kind.BLANK:
        return None
    return owl.InverseProperties(graph.property(first), graph.property(second))


def _chain(graph: Graph, super_: Constant, chain: Constant) -> owl.Axiom:
    links = tuple(graph.property(link) for link in graph.members(chain))
    if not links:
        raise Unreadable("a chain of no properties")
    return owl.SubPropertyOf(links, graph.property(super_))


_READERS: dict[str, Reader] = {
    RDFS + "subClassOf": _sub_class,
    RDFS + "subPropertyOf": lambda g, s, o: owl.SubPropertyOf((g.property(s),), g.property(o)),
    RDFS + "domain": lambda g, s, o: owl.Domain(g.property(s), g.expression(o)),
    RDFS + "range": lambda g, s, o: owl.Range(g.property(s), g.expression(o)),
    OWL + "equivalentClass": _equivalent,
    OWL + "equivalentProperty": lambda g, s, o: owl.EquivalentProperties(g.property(s), g.property(o)),
    OWL + "inverseOf": _inverse,
    OWL + "propertyChainAxiom": _chain,
    OWL + "disjointUnionOf": lambda g, s, o: owl.DisjointUnion(g.expression(s), owl.Or(g.parts(o))),
    OWL + "imports": lambda g, s, o: owl.Unsaid("Import", (o,), IMPORTED),
}


def _owl(graph: Graph, subject: Constant, word: str, object_: Constant) -> owl.Axiom | None:
    """Axioms with a predicate of OWL that has no reader of its own; all others belong to expressions or annotate."""
    if word in UNSAID:
        return _unsaid(graph, subject, word, object_)
    if word in _NEVER:
        return owl.PropertyAssertion(owl.Property(OWL + word), subject, object_)
    if word in _NEGATIVE:
        return _negative(graph, subject, word, object_)
    if subject.kind != Kind.IRI or graph.has_type(subject, DATATYPE):
        return None
    if word in DEFINING:
        return owl.EquivalentClasses(owl.Named(subject.text), graph.built(word, object_))
    if word in ("onProperty", "onProperties"):
        found = tuple(graph.restrictions(subject))
        if len(found) != 1:
            raise Unreadable(
                "a restriction that restricts nothing" if not found else "several restrictions in one"
            )
        return owl.EquivalentClasses(owl.Named(subject.text), found[0])
    return None


def _unsaid(graph: Graph, subject: Constant, word: str, object_: Constant) -> owl.Axiom:
    if word == "disjointWith":
        return owl.Unsaid(
            "DisjointWith", (graph.expression(subject), graph.expression(object_)), UNSAID[word]
        )
    if word == "hasKey":
        keys = tuple(graph.property(key) for key in graph.members(object_))
        return owl.Unsaid("HasKey", (graph.expression(subject), *keys), UNSAID[word])
    name = {"propertyDisjointWith": "DisjointWith", "sameAs": "SameAs"}.get(word, "DifferentFrom")
    return owl.Unsaid(name, (subject, object_), UNSAID[word])


def _negative(graph: Graph, subject: Constant, word: str, object_: Constant) -> owl.Axiom | None:
    """A negative property assertion that nobody calls so, once: at the first triple of the words that make it."""
    if graph.has_type(subject, OWL + "NegativePropertyAssertion"):
        return None
    first = next(at for at in _NEGATIVE if graph.objects(subject, OWL + at))
    if (word, object_) != (first, graph.objects(subject, OWL + first)[0]):
        return None
    return _unsaid_type(graph, subject, "NegativePropertyAssertion")


def _word(iri: str) -> str:
    return iri.rpartition("#")[2].rpartition("/")[2]
