"""Finds the axioms in a graph of triples, in the order of the triples.

This follows OWL 2 Mapping to RDF Graphs, section 3.2.5, and accepts the forms of OWL 1 and RDF Schema, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from modulog.language.model import Term, Variable
from modulog.owl import class_expressions as owl
from modulog.owl.class_expressions import (
    CONSTRAINT,
    DATA,
    EQUALITY,
    IMPORTED,
    SWRL_ATOM,
    UNIQUE_NAMES,
    ClassAtom,
    Implication,
    PropertyAtom,
    Unsaid,
)
from modulog.owl.triple_graph import DEFINING, Triple, TripleGraph, Unreadable
from modulog.owl.vocabulary import DATATYPE, NOTHING, OWL, RDFS, RESERVED, SWRL, TYPE
from modulog.terms.constant import Constant, Kind

Reader = Callable[[TripleGraph, Constant, Constant], owl.Axiom | None]

UNSAID = {
    "disjointWith": CONSTRAINT,
    "propertyDisjointWith": CONSTRAINT,
    "sameAs": EQUALITY,
    "differentFrom": UNIQUE_NAMES,
    "hasKey": EQUALITY,
}
"""Properties of OWL whose axioms cannot be expressed by rules, with the reasons."""

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
"""Types of properties and of axioms that cannot be expressed by rules, with the reasons."""

_CHARACTERISTICS: dict[str, Literal["Symmetric", "Transitive", "Reflexive"]] = {
    "SymmetricProperty": "Symmetric",
    "TransitiveProperty": "Transitive",
    "ReflexiveProperty": "Reflexive",
}
_LISTED = ("members", "distinctMembers")
_NEGATIVE = ("sourceIndividual", "assertionProperty", "targetIndividual", "targetValue")
_NEVER = ("bottomObjectProperty", "bottomDataProperty")


def axioms_of(graph: TripleGraph) -> Iterator[owl.Axiom]:
    """All axioms of a graph, unreadable ones as `Unsaid`; declarations and annotations are not axioms."""
    for triple in graph.triples:
        try:
            axiom = _axiom(graph, triple)
        except Unreadable as error:
            subject, predicate, object_ = triple
            axiom = owl.Unsaid(_word(predicate), (subject, object_), f"cannot be read: {error}")
        if axiom is not None:
            yield axiom


def _axiom(graph: TripleGraph, triple: Triple) -> owl.Axiom | None:
    """The axiom that begins with a triple; None if the triple begins none."""
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


def _relates(graph: TripleGraph, iri: str) -> bool:
    """Whether a property is declared as an object or data property, and not as an annotation property."""
    node = Constant(Kind.IRI, iri)
    stated = graph.has_type(node, OWL + "ObjectProperty") or graph.has_type(node, OWL + "DatatypeProperty")
    return stated and not iri.startswith(RESERVED) and not graph.has_type(node, OWL + "AnnotationProperty")


# ---- Types


def _typed(graph: TripleGraph, subject: Constant, of: Constant) -> owl.Axiom | None:
    """The axiom of an `rdf:type` triple: a property characteristic, an axiom node, or a class assertion."""
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


def _unsaid_type(graph: TripleGraph, subject: Constant, word: str) -> owl.Axiom:
    """The axiom for a type of `UNSAID_TYPES`, with the things that it is about."""
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


def _sub_class(graph: TripleGraph, sub: Constant, super_: Constant) -> owl.Axiom:
    return owl.SubClassOf(graph.expression(sub), graph.expression(super_))


def _equivalent(graph: TripleGraph, first: Constant, second: Constant) -> owl.Axiom:
    classes = graph.expression(first), graph.expression(second)
    if any(isinstance(found, owl.DataRange) for found in classes):
        return owl.Unsaid("EquivalentTo", classes, DATA)
    return owl.EquivalentClasses(*classes)


def _inverse(graph: TripleGraph, first: Constant, second: Constant) -> owl.Axiom | None:
    """The axiom of `owl:inverseOf`; None for a blank node as subject, which is a property expression."""
    if first.kind == Kind.BLANK:
        return None
    return owl.InverseProperties(graph.property(first), graph.property(second))


def _chain(graph: TripleGraph, super_: Constant, chain: Constant) -> owl.Axiom:
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


def _owl(graph: TripleGraph, subject: Constant, word: str, object_: Constant) -> owl.Axiom | None:
    """The axiom for a predicate of OWL not in `_READERS`; None if the triple is part of an expression."""
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


def _unsaid(graph: TripleGraph, subject: Constant, word: str, object_: Constant) -> owl.Axiom:
    """The axiom for a property of `UNSAID`."""
    if word == "disjointWith":
        return owl.Unsaid(
            "DisjointWith", (graph.expression(subject), graph.expression(object_)), UNSAID[word]
        )
    if word == "hasKey":
        keys = tuple(graph.property(key) for key in graph.members(object_))
        return owl.Unsaid("HasKey", (graph.expression(subject), *keys), UNSAID[word])
    name = {"propertyDisjointWith": "DisjointWith", "sameAs": "SameAs"}.get(word, "DifferentFrom")
    return owl.Unsaid(name, (subject, object_), UNSAID[word])


def _negative(graph: TripleGraph, subject: Constant, word: str, object_: Constant) -> owl.Axiom | None:
    """A negative property assertion without its type; only the first of its triples gives the axiom."""
    if graph.has_type(subject, OWL + "NegativePropertyAssertion"):
        return None
    first = next(at for at in _NEGATIVE if graph.objects(subject, OWL + at))
    if (word, object_) != (first, graph.objects(subject, OWL + first)[0]):
        return None
    return _unsaid_type(graph, subject, "NegativePropertyAssertion")


def _word(iri: str) -> str:
    """The last part of an IRI."""
    return iri.rpartition("#")[2].rpartition("/")[2]


# Reads SWRL rules, which consist of class and property atoms, from a graph.
_OTHER = {
    "SameIndividualAtom": "equality",
    "DifferentIndividualsAtom": "inequality of individuals",
    "BuiltinAtom": "a built-in function",
    "DataRangeAtom": "a test of a datatype",
}


def implication(graph: TripleGraph, rule: Constant) -> Implication | Unsaid:
    """The rule that a node of type swrl:Imp stands for; `Unsaid` if it has atoms of other kinds."""
    atoms = {}
    for side in ("body", "head"):
        listed = graph.one(rule, SWRL + side)
        if listed is None:
            raise Unreadable(f"a rule of SWRL without a {side}")
        nodes = graph.members(listed)
        for node in nodes:
            for kind, what in _OTHER.items():
                if graph.has_type(node, SWRL + kind):
                    return Unsaid("Rule", (rule,), SWRL_ATOM.format(what=what))
        atoms[side] = tuple(_atom(graph, node) for node in nodes)
    return Implication(atoms["body"], atoms["head"])


def _atom(graph: TripleGraph, node: Constant) -> ClassAtom | PropertyAtom:
    of, property_ = graph.one(node, SWRL + "classPredicate"), graph.one(node, SWRL + "propertyPredicate")
    first = _term(graph, node, "argument1")
    if of is not None:
        return ClassAtom(graph.expression(of), first)
    if property_ is None:
        raise Unreadable("an atom of SWRL without a class or a property")
    return PropertyAtom(graph.property(property_), first, _term(graph, node, "argument2"))


def _term(graph: TripleGraph, atom: Constant, place: str) -> Term:
    found = graph.one(atom, SWRL + place)
    if found is None:
        raise Unreadable(f"an atom of SWRL without {place}")
    if not graph.has_type(found, SWRL + "Variable"):
        return found
    # Different texts for different variables are enough: `make_statement` renames them.
    return Variable(f"{found.kind.name} {found.text}")
