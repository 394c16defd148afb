"""Rules and words of real ontologies for benchmarks, with predicates under their short names, which every system can write."""

import re
from pathlib import Path

from benchmarks.data.real import data_file
from benchmarks.data.relations import Vocabulary
from modulog import Program, rules_of
from modulog.language.model import Atom, Predicate, Rule
from modulog.language.printer import print_rule
from modulog.owl.triple_graph import TripleGraph, read_ontology
from modulog.owl.vocabulary import OWL
from modulog.terms.constant import Constant, Kind

FILES = {
    "lubm": ("lubm", "univ-bench.owl"),
    "relations": ("ontologies", "ro.owl.gz"),
    "skos": ("ontologies", "skos.ttl"),
}


def ontology_file(name: str) -> Path | None:
    """Return where an ontology lies, None if nowhere."""
    return data_file(*FILES[name])


def ontology_rules(path: Path) -> tuple[str, dict[str, str]]:
    """Return the rules of an ontology, and for each IRI of a class or property the short name that they use.

    Facts of the ontology itself are left out.
    """
    program = rules_of(path).program
    names = short_names(program)

    def short(atom: Atom) -> Atom:
        return Atom(Predicate(names[atom.predicate.name[1:-1]], atom.predicate.arity), atom.terms)

    rules = [
        print_rule(Rule(tuple(map(short, rule.heads)), tuple(map(short, rule.atoms))))
        for rule in program.rules
    ]
    return "\n".join(rules), names


def short_names(program: Program) -> dict[str, str]:
    """Return a name for each predicate: the last part of its IRI, with a number where another has the same."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for predicate in sorted(program.predicates()):
        iri = predicate.name[1:-1]
        word = re.sub(r"\W", "_", re.split("[#/]", iri)[-1])
        name, number = word, 2
        while iri not in names and name in taken:
            name, number = f"{word}_{number}", number + 1
        taken.add(names.setdefault(iri, name))
    return names


def vocabulary(path: Path) -> Vocabulary:
    """Return the object properties and classes that the rules of an ontology read, the transitive properties apart.

    Of two properties that are inverse to each other, one is enough: the first.
    """
    program, graph = rules_of(path).program, read_ontology(path).graph
    read = dict.fromkeys(atom.predicate for rule in program.rules for atom in rule.atoms)
    closed = {rule.heads[0].predicate for rule in program.rules if _is_transitive(rule)}
    inverses = {pair for rule in program.rules if (pair := _inverse_of(rule)) is not None}
    related: list[Predicate] = []
    for predicate in read:
        is_new = not any((predicate, p) in inverses for p in related)
        if predicate.arity == 2 and is_new and _is_declared(graph, predicate):
            related.append(predicate)
    return Vocabulary(
        tuple(p.name[1:-1] for p in related if p in closed),
        tuple(p.name[1:-1] for p in related if p not in closed),
        tuple(p.name[1:-1] for p in read if p.arity == 1),
    )


def _is_declared(graph: TripleGraph, predicate: Predicate) -> bool:
    node = Constant(Kind.IRI, predicate.name[1:-1])
    return graph.has_type(node, OWL + "ObjectProperty")


def _inverse_of(rule: Rule) -> tuple[Predicate, Predicate] | None:
    """Head and body of `q(?y, ?x) :- p(?x, ?y)`."""
    head, body = rule.heads[0], rule.atoms
    if len(body) == 1 and head.terms == body[0].terms[::-1] and len(set(head.terms)) == 2:
        return head.predicate, body[0].predicate
    return None


def _is_transitive(rule: Rule) -> bool:
    if len(rule.atoms) != 2 or {a.predicate for a in rule.atoms} != {rule.heads[0].predicate}:
        return False
    (x, y), (y2, z) = (
        (atom.terms for atom in rule.atoms) if rule.heads[0].predicate.arity == 2 else ((0, 0), (1, 1))
    )
    return y == y2 and rule.heads[0].terms == (x, z)
