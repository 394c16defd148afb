"""From files to a rule file: formats, prefixes, labels, several files, the command line, mistakes."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from modulog import IRI, Reasoner, parse_program, rules_of
from modulog.cli import app
from modulog.errors import DataError
from modulog.terms.constant import RDF
from support.ontologies import PREFIXES, ontology, statements

ZOO = """
    :eats rdfs:domain :Animal . :Lion rdfs:subClassOf :Animal, [ owl:onProperty :eats ; owl:someValuesFrom :Animal ] .
"""
TRIPLES = """\
<http://e.org/eats> <http://www.w3.org/2000/01/rdf-schema#domain> <http://e.org/Animal> .
<http://e.org/Lion> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e.org/Animal> .
"""
XML = """\
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
    xmlns:z="http://e.org/">
  <rdf:Description rdf:about="http://e.org/eats"><rdfs:domain rdf:resource="http://e.org/Animal"/></rdf:Description>
  <rdf:Description rdf:about="http://e.org/Lion"><rdfs:subClassOf rdf:resource="http://e.org/Animal"/></rdf:Description>
</rdf:RDF>
"""
EXPECTED = [":Animal(?x) :- :eats(?x, ?y)", ":Animal(?x) :- :Lion(?x)"]


def test_the_text_reads_back_as_the_program(tmp_path: Path) -> None:
    made = ontology(tmp_path, ZOO)
    assert parse_program(str(made)) == made.program
    assert str(made).splitlines()[0].startswith("% o.ttl: axioms: 3, rules: 2, facts: 0")
    assert "% :Lion SubClassOf :Animal\n:Animal(?x) :- :Lion(?x) .\n" in str(made)
    last = str(made).splitlines()[-1]
    assert (
        last
        == "% :Lion SubClassOf :eats some :Animal: a rule would have to create the individual that it asks for"
    )


@pytest.mark.parametrize(
    ("name", "text", "prefix"),
    [("z.nt", TRIPLES, "e.org"), ("z.ttl", PREFIXES + ZOO, ""), ("z.owl", XML, "z"), ("z.rdf", XML, "z")],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_formats(name: str, text: str, prefix: str, compressed: bool, tmp_path: Path) -> None:
    path = tmp_path / (name + ".gz" * compressed)
    path.write_bytes(gzip.compress(text.encode()) if compressed else text.encode())
    made = rules_of(path)
    assert statements(made) == EXPECTED
    assert [iri for _, iri in made.program.prefixes] == ["http://e.org/"]
    if name != "z.nt":
        assert made.program.prefixes[0][0] == prefix


def test_labels_stand_behind_codes(tmp_path: Path) -> None:
    made = ontology(
        tmp_path, ':R_0001 rdfs:subPropertyOf :R_0002 ; rdfs:label "part\\n  of"@en, "Teil von"@de .'
    )
    assert "% :R_0001 [part of] SubPropertyOf :R_0002\n" in str(made)
    assert parse_program(str(made)) == made.program


def test_blank_nodes_of_two_files_are_different(tmp_path: Path) -> None:
    for name, of in (("a.ttl", ":B"), ("b.ttl", ":C")):
        text = f"{PREFIXES} :A rdfs:subClassOf _:x . _:x owl:intersectionOf ( {of} ) ."
        (tmp_path / name).write_text(text)
    made = rules_of(tmp_path / "a.ttl", tmp_path / "b.ttl")
    assert statements(made) == [":B(?x) :- :A(?x)", ":C(?x) :- :A(?x)"]


def test_two_files_with_one_prefix_for_two_things(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(PREFIXES + ":A rdfs:subClassOf :B .")
    (tmp_path / "b.ttl").write_text(PREFIXES.replace("e.org", "f.org") + ":A rdfs:subClassOf :B .")
    made = rules_of(tmp_path / "a.ttl", tmp_path / "b.ttl")
    assert len(made.program.rules) == 2
    assert parse_program(str(made)) == made.program


def test_rules_work_on_triples(tmp_path: Path) -> None:
    made = ontology(
        tmp_path,
        ":p a owl:TransitiveProperty . :p rdfs:range :B . [ owl:onProperty :p ; owl:hasValue :c ] rdfs:subClassOf :C .",
    )
    (tmp_path / "data.nt").write_text(
        "".join(f"<http://e.org/{s}> <http://e.org/p> <http://e.org/{o}> .\n" for s, o in ("ab", "bc"))
    )
    reasoner = Reasoner(made.program)
    reasoner.load(tmp_path / "data.nt")
    assert reasoner.count("<http://e.org/p>(?x, ?y)") == 3
    assert sorted(reasoner.rows("<http://e.org/C>")) == [(IRI("http://e.org/a"),), (IRI("http://e.org/b"),)]
    assert sorted(reasoner.rows("<http://e.org/B>")) == [(IRI("http://e.org/b"),), (IRI("http://e.org/c"),)]


def test_reflexive_properties_hold_for_all_individuals(tmp_path: Path) -> None:
    text = ":knows a owl:ReflexiveProperty . :likes a owl:ObjectProperty ; rdfs:domain :Person . :age a owl:DatatypeProperty ; rdfs:domain :Person . :x a owl:NamedIndividual ."
    made = ontology(tmp_path, text)
    (tmp_path / "data.nt").write_text(
        '<http://e.org/a> <http://e.org/likes> <http://e.org/b> .\n<http://e.org/c> <http://e.org/age> "7" .\n'
    )
    reasoner = Reasoner(made.program)
    reasoner.load(tmp_path / "data.nt")
    known = {tuple(str(term) for term in row) for row in reasoner.rows("<http://e.org/knows>")}
    assert known == {(f"http://e.org/{name}",) * 2 for name in "abcx"}


# ---- The command line


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as stop:
        app.app([str(argument) for argument in arguments])
    return int(stop.value.code or 0)


def test_the_verb_writes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = ontology(tmp_path, ZOO)
    out = tmp_path / "new" / "zoo.rls"
    assert run("rules", tmp_path / "o.ttl", "--out", out) == 0
    said = capsys.readouterr()
    assert out.read_text() == str(made)
    assert said.out == ""
    assert (
        "axioms: 3, rules: 2, facts: 0, skipped wholly or in part: 1\n     1  a rule would have to"
        in said.err
    )
    assert [path.name for path in out.parent.iterdir()] == ["zoo.rls"]


def test_the_verb_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = ontology(tmp_path, ZOO)
    assert run("rules", tmp_path / "o.ttl") == 0
    assert capsys.readouterr().out == str(made)


def test_no_warnings_about_classes_without_facts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = ontology(tmp_path, "".join(f":A{i} rdfs:subClassOf :B . " for i in range(20)))
    (tmp_path / "rules.rls").write_text(str(made))
    (tmp_path / "data.nt").write_text(f"<http://e.org/a> <{RDF}type> <http://e.org/A7> .\n")
    assert (
        run("query", tmp_path / "rules.rls", ":B(?x)", "--facts", tmp_path / "data.nt", "--format", "csv")
        == 0
    )
    said = capsys.readouterr()
    assert said.out == "x\n<http://e.org/a>\n"
    assert said.err == ""


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("o.csv", "a,b", "an ontology is read from .nt"),
        ("o.owl", "Prefix(:=<http://e.org/>)\nOntology()", "OWL's functional syntax"),
        ("o.owl", "Prefix: : <http://e.org/>\nOntology:", "OWL's Manchester syntax"),
        ("o.owl", '<?xml version="1.0"?>\n<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>', "OWL/XML"),
        ("o.owl", "# c\n@prefix : <http://e.org/> .", "name it .ttl"),
        ("o.ttl", "\n:A rdfs:subClassOf .", "o.ttl:2:"),
        ("o.ttl", None, "there is no such file"),
    ],
)
def test_mistakes(
    name: str, content: str | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / name, tmp_path / "out.rls"
    if content is not None:
        path.write_text(content)
    assert run("rules", path, "--out", out) == 2
    said = capsys.readouterr().err
    assert words in said
    assert str(path) in said
    assert not out.exists()


def test_a_folder_is_no_ontology(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DataError, match="a folder"):
        rules_of(tmp_path)
    ontology(tmp_path, ZOO)
    assert run("rules", tmp_path / "o.ttl", "--out", tmp_path) == 2
    assert "--out names a file" in capsys.readouterr().err
