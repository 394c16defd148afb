"""Triples that ought to be expressions and are not: every such axiom is skipped with a reason, and the rest is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.ontologies import ontology, statements

BROKEN = {
    ":A rdfs:subClassOf [ owl:intersectionOf :B ] .": "is not a list",
    ":A rdfs:subClassOf _:x . _:x owl:intersectionOf _:l . _:l rdf:first :B ; rdf:rest _:l .": "a list that contains itself",
    ":A rdfs:subClassOf _:x . _:x owl:complementOf _:x .": "a class that contains itself",
    ":A rdfs:subClassOf [ ] .": "without a definition",
    ":A rdfs:subClassOf [ owl:unionOf ( :B ) ; owl:complementOf :C ] .": "with two definitions",
    ":A rdfs:subClassOf [ owl:onProperty :p, :q ; owl:hasValue :a ] .": "several values for onProperty",
    ":A rdfs:subClassOf [ owl:onProperties ( :p :q ) ; owl:someValuesFrom :B ] .": "several properties",
    ':A rdfs:subClassOf [ owl:onProperty :p ; owl:maxCardinality "many" ] .': "not a number",
    ':A rdfs:subClassOf "B" .': "not a class",
    ":p rdfs:subPropertyOf [ ] .": "not a property",
    ":p owl:propertyChainAxiom ( ) .": "a chain of no properties",
    "[] a swrl:Imp ; swrl:head ( ) .": "without a body",
}


@pytest.mark.parametrize("text", BROKEN)
def test_broken(text: str, tmp_path: Path) -> None:
    made = ontology(tmp_path, text + " :C rdfs:subClassOf :D .")
    assert statements(made) == [":D(?x) :- :C(?x)"]
    assert [skipped.reasons[0].startswith("cannot be read") for skipped in made.skipped] == [True]
    assert BROKEN[text] in made.skipped[0].reasons[0]


def test_annotations_and_declarations_are_no_axioms(tmp_path: Path) -> None:
    text = """
        :o a owl:Ontology ; owl:versionInfo "1" . :A a owl:Class ; rdfs:label "a" ; :seen "2001" . :p a owl:ObjectProperty .
        [] a owl:Axiom ; owl:annotatedSource :A ; owl:annotatedProperty rdfs:label ; owl:annotatedTarget "a" ; rdfs:comment "c" .
        :seen a owl:AnnotationProperty . :small a rdfs:Datatype ;
            owl:equivalentClass [ a rdfs:Datatype ; owl:onDatatype xsd:int ; owl:withRestrictions ( [ xsd:maxInclusive 9 ] ) ] .
    """
    made = ontology(tmp_path, text)
    assert statements(made) == []
    assert [skipped.axiom for skipped in made.skipped] == [":small EquivalentTo a range of literals"]
