"""Random ontologies of OWL 2 RL with random facts: our rules derive what owlrl derives."""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modulog import IRI, Reasoner, rules_of
from modulog.owl.class_expressions import NOTHING_HOLDS, SAYS_NOTHING
from support.ontologies import PREFIXES

rdflib = pytest.importorskip("rdflib")
owlrl = pytest.importorskip("owlrl")

SPACE = "http://e.org/"
CLASSES, PROPERTIES, INDIVIDUALS = ("A", "B", "C", "D"), ("p", "q", "r"), ("a", "b", "c", "d")
Fact = tuple[str, ...]

classes, properties, individuals = (
    st.sampled_from([f":{name}" for name in names]) for names in (CLASSES, PROPERTIES, INDIVIDUALS)
)


def restriction(word: str, filler: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """A restriction of a property in Turtle."""
    return st.builds(
        "[ a owl:Restriction ; owl:onProperty {} ; owl:{} {} ]".format, properties, st.just(word), filler
    )


def built(word: str, parts: st.SearchStrategy[str], most: int = 3) -> st.SearchStrategy[str]:
    """A class of several others in Turtle."""
    listed = st.lists(parts, min_size=1, max_size=most).map(" ".join)
    return st.builds("[ a owl:Class ; owl:{} ( {} ) ]".format, st.just(word), listed)


has_value = restriction("hasValue", individuals)
left = st.recursive(
    st.one_of(classes, has_value, built("oneOf", individuals, 2)),
    lambda inner: st.one_of(
        built("intersectionOf", inner),
        built("unionOf", inner),
        restriction("someValuesFrom", inner | st.just("owl:Thing")),
    ),
    max_leaves=4,
)
right = st.recursive(
    classes | has_value,
    lambda inner: st.one_of(built("intersectionOf", inner), restriction("allValuesFrom", inner)),
    max_leaves=3,
)
both = classes | has_value | built("intersectionOf", classes | has_value)

axioms = st.one_of(
    st.builds("{} rdfs:subClassOf {} .".format, left, right),
    st.builds("{} rdfs:subClassOf {} .".format, left, right),
    st.builds("{} owl:equivalentClass {} .".format, both, both),
    st.builds(
        "{} owl:{} ( {} ) .".format,
        classes,
        st.just("intersectionOf"),
        st.lists(both, min_size=1, max_size=2).map(" ".join),
    ),
    st.builds("{} rdfs:{} {} .".format, properties, st.sampled_from(["domain", "range"]), right),
    st.builds(
        "{} {} {} .".format,
        properties,
        st.sampled_from(["rdfs:subPropertyOf", "owl:inverseOf", "owl:equivalentProperty"]),
        properties,
    ),
    st.builds("{} a owl:{}Property .".format, properties, st.sampled_from(["Symmetric", "Transitive"])),
    st.builds(
        "{} owl:propertyChainAxiom ( {} ) .".format,
        properties,
        st.lists(properties, min_size=2, max_size=3).map(" ".join),
    ),
)
facts = st.one_of(
    st.tuples(st.sampled_from(CLASSES), st.sampled_from(INDIVIDUALS)),
    st.tuples(st.sampled_from(PROPERTIES), st.sampled_from(INDIVIDUALS), st.sampled_from(INDIVIDUALS)),
)


def ours(axioms: str, data: str, folder: Path) -> set[Fact]:
    """What our rules derive."""
    (folder / "ontology.ttl").write_text(PREFIXES + axioms)
    (folder / "data.ttl").write_text(PREFIXES + data)
    made = rules_of(folder / "ontology.ttl")
    assert all(skipped.reasons[0] in (SAYS_NOTHING, NOTHING_HOLDS) for skipped in made.skipped)
    with Reasoner(made.program) as reasoner:
        reasoner.load(folder / "data.ttl")
        reasoner.materialise()
        names = [(name, 1) for name in CLASSES] + [(name, 2) for name in PROPERTIES]
        known = {(p.name, p.arity) for p in reasoner.program.predicates()} | {
            (f"<{SPACE}{fact[0]}>", len(fact) - 1) for fact in parse(data)
        }
        return {
            (name, *(str(term).removeprefix(SPACE) for term in row))
            for name, arity in names
            if (f"<{SPACE}{name}>", arity) in known
            for row in reasoner.rows(IRI(SPACE + name))
        }


def parse(data: str) -> list[Fact]:
    """The facts of lines `:a a :A .` and `:a :p :b .`."""
    rows = [line.split() for line in data.splitlines()]
    return [(o[1:], s[1:]) if p == "a" else (p[1:], s[1:], o[1:]) for s, p, o, _ in rows]


def theirs(axioms: str, data: str) -> set[Fact]:
    """What owlrl derives about the individuals, in our classes and properties."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = rdflib.Graph().parse(data=PREFIXES + axioms + data, format="turtle")
        owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    things = {rdflib.URIRef(SPACE + name): name for name in INDIVIDUALS}
    of_class = {rdflib.URIRef(SPACE + name): name for name in CLASSES}
    found = {
        (of_class[o], things[s])
        for s, o in graph.subject_objects(rdflib.RDF.type)
        if s in things and o in of_class
    }
    for name in PROPERTIES:
        for s, o in graph.subject_objects(rdflib.URIRef(SPACE + name)):
            if s in things and o in things:
                found.add((name, things[s], things[o]))
    return found


@settings(max_examples=40, deadline=None)
@given(st.lists(axioms, min_size=1, max_size=6), st.lists(facts, min_size=1, max_size=8))
def test_the_same_facts_as_owlrl(ontology: list[str], given_facts: list[Fact]) -> None:
    text = "\n".join(ontology) + "\n"
    data = "".join(
        f":{fact[1]} a :{fact[0]} .\n" if len(fact) == 2 else f":{fact[1]} :{fact[0]} :{fact[2]} .\n"
        for fact in given_facts
    )
    with TemporaryDirectory() as folder:
        assert ours(text, data, Path(folder)) == theirs(text, data)
