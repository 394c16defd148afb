"""Each kind of axiom: the rules that it becomes, or the reason why it becomes none."""

from __future__ import annotations

from pathlib import Path

import pytest

from modulog.owl import class_expressions
from support.ontologies import ontology, statements

TRANSLATED = {
    "subclass": (":A rdfs:subClassOf :B .", [":B(?x) :- :A(?x)"]),
    "subproperty": (":p rdfs:subPropertyOf :q .", [":q(?x, ?y) :- :p(?x, ?y)"]),
    "subproperty of an inverse": (
        ":p rdfs:subPropertyOf [ owl:inverseOf :q ] .",
        [":q(?y, ?x) :- :p(?x, ?y)"],
    ),
    "domain": (":p rdfs:domain :A .", [":A(?x) :- :p(?x, ?y)"]),
    "range": (":p rdfs:range :A .", [":A(?y) :- :p(?x, ?y)"]),
    "inverse": (":p owl:inverseOf :q .", [":q(?y, ?x) :- :p(?x, ?y)", ":p(?y, ?x) :- :q(?x, ?y)"]),
    "symmetric": (":p a owl:SymmetricProperty .", [":p(?y, ?x) :- :p(?x, ?y)"]),
    "transitive": (":p a owl:TransitiveProperty .", [":p(?x, ?z) :- :p(?x, ?y), :p(?y, ?z)"]),
    "reflexive": (
        ":p a owl:ReflexiveProperty . :A rdfs:subClassOf :B . :n a owl:DatatypeProperty . :n rdfs:domain :B .",
        [
            ":p(?x, ?x) :- owl:Thing(?x)",
            ":B(?x) :- :A(?x)",
            ":B(?x) :- :n(?x, ?y)",
            "owl:Thing(?x) :- :p(?x, ?y)",
            "owl:Thing(?y) :- :p(?x, ?y)",
            "owl:Thing(?x) :- :A(?x)",
            "owl:Thing(?x) :- :B(?x)",
            "owl:Thing(?x) :- :n(?x, ?y)",
        ],
    ),
    "chain": (
        ":r owl:propertyChainAxiom ( :p :q :p ) .",
        [":r(?x, ?u) :- :p(?x, ?y), :q(?y, ?z), :p(?z, ?u)"],
    ),
    "chain through an inverse": (
        ":r owl:propertyChainAxiom ( [ owl:inverseOf :p ] :q ) .",
        [":r(?y, ?z) :- :p(?x, ?y), :q(?x, ?z)"],
    ),
    "intersection on the left": (
        "[ owl:intersectionOf ( :A :B ) ] rdfs:subClassOf :C .",
        [":C(?x) :- :A(?x), :B(?x)"],
    ),
    "intersection on the right": (
        ":A rdfs:subClassOf [ owl:intersectionOf ( :B :C ) ] .",
        [":B(?x) :- :A(?x)", ":C(?x) :- :A(?x)"],
    ),
    "union on the left": (
        "[ owl:unionOf ( :A :B ) ] rdfs:subClassOf :C .",
        [":C(?x) :- :A(?x)", ":C(?x) :- :B(?x)"],
    ),
    "unions inside an intersection": (
        "[ owl:intersectionOf ( [ owl:unionOf ( :A :B ) ] [ owl:unionOf ( :D :E ) ] ) ] rdfs:subClassOf :C .",
        [
            ":C(?x) :- :A(?x), :D(?x)",
            ":C(?x) :- :A(?x), :E(?x)",
            ":C(?x) :- :B(?x), :D(?x)",
            ":C(?x) :- :B(?x), :E(?x)",
        ],
    ),
    "hasValue on the left": (
        "[ owl:onProperty :p ; owl:hasValue :a ] rdfs:subClassOf :C .",
        [":C(?x) :- :p(?x, :a)"],
    ),
    "hasValue on the right, a literal in its canonical form": (
        ':A rdfs:subClassOf [ owl:onProperty :p ; owl:hasValue "01"^^xsd:integer ] .',
        [":p(?x, 1) :- :A(?x)"],
    ),
    "someValuesFrom on the left, nested": (
        """[ owl:onProperty :p ; owl:someValuesFrom
             [ owl:intersectionOf ( :A [ owl:onProperty [ owl:inverseOf :q ] ; owl:someValuesFrom :B ] ) ] ]
           rdfs:subClassOf :C .""",
        [":C(?x) :- :p(?x, ?y), :A(?y), :q(?z, ?y), :B(?z)"],
    ),
    "someValuesFrom owl:Thing": (
        "[ owl:onProperty :p ; owl:someValuesFrom owl:Thing ] rdfs:subClassOf :C .",
        [":C(?x) :- :p(?x, ?y)"],
    ),
    "at least one": (
        "[ owl:onProperty :p ; owl:minQualifiedCardinality 1 ; owl:onClass :A ] rdfs:subClassOf :C .",
        [":C(?x) :- :p(?x, ?y), :A(?y)"],
    ),
    "allValuesFrom on the right, nested": (
        """:A rdfs:subClassOf [ owl:onProperty :p ; owl:allValuesFrom
             [ owl:onProperty :q ; owl:allValuesFrom [ owl:intersectionOf ( :B :C ) ] ] ] .""",
        [":B(?z) :- :A(?x), :p(?x, ?y), :q(?y, ?z)", ":C(?z) :- :A(?x), :p(?x, ?y), :q(?y, ?z)"],
    ),
    "hasSelf": (
        ":A rdfs:subClassOf [ owl:onProperty :p ; owl:hasSelf true ] .",
        [":p(?x, ?x) :- :A(?x)"],
    ),
    "oneOf on the left": (
        "[ owl:intersectionOf ( :A [ owl:oneOf ( :a :b ) ] ) ] rdfs:subClassOf :C .",
        [":C(:a) :- :A(:a)", ":C(:b) :- :A(:b)"],
    ),
    "equivalent classes": (
        ":A owl:equivalentClass :B .",
        [":B(?x) :- :A(?x)", ":A(?x) :- :B(?x)"],
    ),
    "equivalent properties": (
        ":p owl:equivalentProperty :q .",
        [":q(?x, ?y) :- :p(?x, ?y)", ":p(?x, ?y) :- :q(?x, ?y)"],
    ),
    "a class defined by its name, as in OWL 1": (
        ":A owl:intersectionOf ( :B :C ) .",
        [":B(?x) :- :A(?x)", ":C(?x) :- :A(?x)", ":A(?x) :- :B(?x), :C(?x)"],
    ),
    "a class of everything": (
        "owl:Thing rdfs:subClassOf :A . :a a owl:NamedIndividual .",
        ["owl:Thing(:a)", ":A(?x) :- owl:Thing(?x)", "owl:Thing(?x) :- :A(?x)"],
    ),
    "facts": (
        """:p a owl:ObjectProperty . :note a owl:AnnotationProperty . :a a :A ; :p :b ; :note "n" .
           :c a [ owl:onProperty :p ; owl:hasValue :d ] .""",
        [":A(:a)", ":p(:a, :b)", ":p(:c, :d)"],
    ),
    "a rule of SWRL": (
        """:x a swrl:Variable . :y a swrl:Variable .
           [] a swrl:Imp ;
             swrl:body ( [ a swrl:ClassAtom ; swrl:classPredicate :A ; swrl:argument1 :x ]
                         [ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :p ; swrl:argument1 :x ; swrl:argument2 :y ] ) ;
             swrl:head ( [ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :q ; swrl:argument1 :y ; swrl:argument2 :x ] ) .""",
        [":q(?y, ?x) :- :A(?x), :p(?x, ?y)"],
    ),
    "the same twice": (
        ":p owl:inverseOf :q . :q owl:inverseOf :p .",
        [":q(?y, ?x) :- :p(?x, ?y)", ":p(?y, ?x) :- :q(?x, ?y)"],
    ),
}

SKIPPED = {
    ":A owl:disjointWith :B .": class_expressions.CONSTRAINT,
    "[] a owl:AllDisjointClasses ; owl:members ( :A :B :C ) .": class_expressions.CONSTRAINT,
    ":p owl:propertyDisjointWith :q .": class_expressions.CONSTRAINT,
    ":p a owl:FunctionalProperty .": class_expressions.EQUALITY,
    ":p a owl:InverseFunctionalProperty .": class_expressions.EQUALITY,
    ":p a owl:AsymmetricProperty .": class_expressions.CONSTRAINT,
    ":p a owl:IrreflexiveProperty .": class_expressions.CONSTRAINT,
    ":A owl:hasKey ( :p :q ) .": class_expressions.EQUALITY,
    ":a owl:sameAs :b .": class_expressions.EQUALITY,
    ":a owl:differentFrom :b .": class_expressions.UNIQUE_NAMES,
    "[] a owl:AllDifferent ; owl:distinctMembers ( :a :b ) .": class_expressions.UNIQUE_NAMES,
    "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual :a ; owl:assertionProperty :p ; owl:targetIndividual :b .": class_expressions.CONSTRAINT,
    "[] owl:sourceIndividual :a ; owl:assertionProperty :p ; owl:targetIndividual :b .": class_expressions.CONSTRAINT,
    ':n owl:targetValue "x" ; owl:assertionProperty :p ; owl:sourceIndividual :a .': class_expressions.CONSTRAINT,
    ":a a owl:Nothing .": class_expressions.CONSTRAINT,
    "[] a owl:Nothing .": class_expressions.CONSTRAINT,
    ":a owl:bottomObjectProperty :b .": class_expressions.CONSTRAINT,
    ":p rdfs:domain owl:Nothing .": class_expressions.CONSTRAINT,
    ":p rdfs:range owl:Nothing .": class_expressions.CONSTRAINT,
    ":A owl:disjointWith owl:Nothing .": class_expressions.CONSTRAINT,
    ":a a [ owl:intersectionOf ( owl:Nothing ) ] .": class_expressions.CONSTRAINT,
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B ] .": class_expressions.CREATES,
    ":A rdfs:subClassOf [ owl:unionOf ( :B :C ) ] .": class_expressions.CHOICE,
    ":A rdfs:subClassOf [ owl:complementOf :B ] .": class_expressions.CONSTRAINT,
    ":A rdfs:subClassOf owl:Nothing .": class_expressions.CONSTRAINT,
    ":A rdfs:subClassOf [ owl:oneOf ( :a :b ) ] .": class_expressions.EQUALITY,
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:maxCardinality 1 ] .": class_expressions.EQUALITY,
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:maxCardinality 0 ] .": class_expressions.CONSTRAINT,
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:minCardinality 2 ] .": class_expressions.CARDINALITY,
    ":A rdfs:subClassOf [ owl:onProperty :p ; owl:cardinality 1 ] .": class_expressions.CARDINALITY,
    ":A rdfs:subClassOf owl:Thing .": class_expressions.EVERYTHING_HOLDS,
    ":A rdfs:subClassOf :A .": class_expressions.SAYS_NOTHING,
    "owl:Nothing rdfs:subClassOf :A .": class_expressions.NOTHING_HOLDS,
    "[ owl:complementOf :B ] rdfs:subClassOf :A .": class_expressions.CLOSED,
    "[ owl:onProperty :p ; owl:allValuesFrom :B ] rdfs:subClassOf :A .": class_expressions.CLOSED,
    "[ owl:onProperty :p ; owl:minCardinality 2 ] rdfs:subClassOf :A .": class_expressions.COUNTING,
    "[ owl:onProperty :p ; owl:someValuesFrom xsd:string ] rdfs:subClassOf :A .": class_expressions.TYPED,
    ":p rdfs:range xsd:string .": class_expressions.DATA,
    "owl:topObjectProperty rdfs:subPropertyOf :p .": class_expressions.ALL_PAIRS,
    ":o a owl:Ontology ; owl:imports :other .": class_expressions.IMPORTED,
}


@pytest.mark.parametrize("name", TRANSLATED)
def test_translated(name: str, tmp_path: Path) -> None:
    text, expected = TRANSLATED[name]
    made = ontology(tmp_path, text)
    assert statements(made) == expected
    assert made.skipped == ()


@pytest.mark.parametrize("text", SKIPPED)
def test_skipped(text: str, tmp_path: Path) -> None:
    made = ontology(tmp_path, text)
    assert statements(made) == []
    assert [skipped.reasons for skipped in made.skipped] == [(SKIPPED[text],)]
    assert not made.skipped[0].partly
    assert made.axioms == 1


PARTLY = {
    "a part of the right": (
        ":A rdfs:subClassOf [ owl:intersectionOf ( :B [ owl:onProperty :p ; owl:someValuesFrom :C ] ) ] .",
        [":B(?x) :- :A(?x)"],
        class_expressions.CREATES,
    ),
    "a part of a union on the left": (
        "[ owl:unionOf ( :A [ owl:complementOf :B ] ) ] rdfs:subClassOf :C .",
        [":C(?x) :- :A(?x)"],
        class_expressions.CLOSED,
    ),
    "one direction": (
        ":A owl:equivalentClass [ owl:unionOf ( :B :C ) ] .",
        [":A(?x) :- :B(?x)", ":A(?x) :- :C(?x)"],
        class_expressions.CHOICE,
    ),
    "a disjoint union": (
        ":A owl:disjointUnionOf ( :B :C ) .",
        [":A(?x) :- :B(?x)", ":A(?x) :- :C(?x)"],
        class_expressions.CHOICE,
    ),
}


@pytest.mark.parametrize("name", PARTLY)
def test_partly(name: str, tmp_path: Path) -> None:
    text, expected, reason = PARTLY[name]
    made = ontology(tmp_path, text)
    assert statements(made) == expected
    assert [(skipped.partly, skipped.reasons[0]) for skipped in made.skipped] == [(True, reason)]


def test_an_intersection_with_a_part_that_cannot_be_said_finds_nothing(tmp_path: Path) -> None:
    made = ontology(tmp_path, "[ owl:intersectionOf ( :A [ owl:complementOf :B ] ) ] rdfs:subClassOf :C .")
    assert statements(made) == []
    assert made.skipped[0].reasons == (class_expressions.CLOSED,)


def test_too_many_rules(tmp_path: Path) -> None:
    union = "[ owl:unionOf ( " + " ".join(f":A{i}" for i in range(40)) + " ) ]"
    made = ontology(tmp_path, f"[ owl:intersectionOf ( {union} {union} ) ] rdfs:subClassOf :C .")
    assert statements(made) == []
    assert "more than 1,000 rules" in made.skipped[0].reasons[0]
