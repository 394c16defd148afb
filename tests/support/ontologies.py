"""Ontologies for tests: Turtle with the usual prefixes, and what becomes of it."""

from __future__ import annotations

from pathlib import Path

from modulog import OntologyRules, rules_of
from modulog.language.printer import print_atom, print_rule

PREFIXES = """\
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix swrl: <http://www.w3.org/2003/11/swrl#> .
@prefix : <http://e.org/> .
"""


def ontology(folder: Path, text: str, name: str = "o.ttl") -> OntologyRules:
    """The rules of an ontology in Turtle."""
    path = folder / name
    path.write_text(PREFIXES + text, encoding="utf-8")
    return rules_of(path)


def statements(made: OntologyRules) -> list[str]:
    """Rules and facts as text, without full stops."""
    prefixes = (("", "http://e.org/"), ("owl", "http://www.w3.org/2002/07/owl#"))
    facts = [print_atom(fact, prefixes) for fact in made.program.facts]
    return [*facts, *(print_rule(rule, prefixes).removesuffix(" .") for rule in made.program.rules)]
