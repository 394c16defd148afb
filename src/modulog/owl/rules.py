"""Translates ontology files to a program, and to a rule file in which each rule stands below its axiom.

In the file, IRIs have prefixes: those that the ontologies declare, well-known ones, and ones made from the
IRIs.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from modulog.language.model import Atom, Predicate, Program, Rule, Variable
from modulog.language.printer import print_atom, print_rule, print_term
from modulog.owl.axioms import axioms_of
from modulog.owl.bodies import class_atom
from modulog.owl.class_expressions import Axiom
from modulog.owl.manchester_syntax import Namer, describe
from modulog.owl.translation import Statement, Translation, translate
from modulog.owl.triple_graph import OntologyFile, read_ontology
from modulog.owl.vocabulary import OWL, RDFS, THING, TYPE
from modulog.terms.constant import RDF, XSD, Constant, Kind

_CODE = re.compile(r"[0-9]{3}")
INDIVIDUALS = (
    "the individuals: whatever is in a class, has a property, or is what an object property leads to"
)


@dataclass(frozen=True, slots=True)
class SkippedAxiom:
    """An axiom that was not translated, or only in part (`partly`): the axiom as text, and the reasons."""

    axiom: str
    reasons: tuple[str, ...]
    partly: bool

    def __str__(self) -> str:
        return f"{self.axiom}{' (in part)' if self.partly else ''}: {'; '.join(self.reasons)}"


@dataclass(frozen=True, slots=True)
class OntologyRules:
    """The result of `rules_of`: a program, and the skipped axioms; `str` is the text of a rule file.

    >>> from modulog import rules_of
    >>> rules = rules_of()
    >>> rules.axioms, len(rules.program.rules), rules.skipped
    (0, 0, ())
    """

    program: Program
    skipped: tuple[SkippedAxiom, ...]
    axioms: int
    """The number of axioms, skipped ones included."""
    _text: str = field(repr=False)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<OntologyRules: {_counts(self.axioms, self.program)}, skipped: {len(self.skipped):,}>"

    def summary(self) -> str:
        """The numbers of axioms, rules and facts, and for each reason the number of axioms skipped for it."""
        reasons = Counter(skipped.reasons[0] for skipped in self.skipped)
        first = f"{_counts(self.axioms, self.program)}, skipped wholly or in part: {len(self.skipped):,}"
        return "\n".join([first, *(f"{count:>6,}  {reason}" for reason, count in reasons.most_common())])


def rules_of(*ontologies: str | os.PathLike[str]) -> OntologyRules:
    """Translate ontologies (RDF files) to rules; axioms that rules cannot express are in `skipped`.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from modulog import IRI, Reasoner
    >>> text = '''@prefix owl: <http://www.w3.org/2002/07/owl#> .
    ...     @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    ...     @prefix e: <http://e.org/> . e:partOf a owl:TransitiveProperty . e:partOf rdfs:domain e:Part .
    ...     e:Part rdfs:subClassOf [ owl:onProperty e:partOf ; owl:someValuesFrom e:Whole ] .'''
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "parts.ttl")
    ...     _ = path.write_text(text)
    ...     rules = rules_of(path)
    >>> print(rules.skipped[0])
    e:Part SubClassOf e:partOf some e:Whole: a rule would have to create the individual that it asks for
    >>> r = Reasoner(rules.program)
    >>> r.add(IRI("http://e.org/partOf"), [("wheel", "car"), ("tyre", "wheel")])
    >>> r.count("e:partOf(?x, ?y)")
    3
    """
    sources = [read_ontology(path) for path in ontologies]
    translated = [(axiom, translate(axiom)) for source in sources for axiom in axioms_of(source.graph)]
    statements = dict.fromkeys(s for _, translation in translated for s in translation.statements)
    individuals = _individuals(statements, sources)
    declared = [source.prefixes for source in sources]
    prefixes = choose_prefixes(iris_of((*statements, *individuals)), declared)
    entries, skipped = _entries(translated, _namer(also_known(prefixes, declared), sources))
    if individuals:
        entries.append((INDIVIDUALS, individuals))
    everything = [statement for _, group in entries for statement in group]
    program = Program(
        rules=tuple(s for s in everything if isinstance(s, Rule)),
        facts=tuple(s for s in everything if isinstance(s, Atom)),
        prefixes=prefixes,
    )
    title = ", ".join(os.path.basename(source.path) for source in sources)
    text = "".join(f"{line}\n" for line in _lines(title, len(translated), program, entries, skipped))
    return OntologyRules(program, tuple(skipped), len(translated), text)


Entry = tuple[str, list[Statement]]
"""An axiom as text, and the statements that it gives."""


def _entries(
    translated: Iterable[tuple[Axiom, Translation]], name: Namer
) -> tuple[list[Entry], list[SkippedAxiom]]:
    """The entries of the rule file, with each statement at its first axiom only, and the skipped axioms."""
    entries: list[Entry] = []
    skipped: list[SkippedAxiom] = []
    seen: set[Statement] = set()
    for axiom, translation in translated:
        new = [statement for statement in translation.statements if statement not in seen]
        seen.update(new)
        if new:
            entries.append((describe(axiom, name), new))
        if translation.reasons:
            is_partly = bool(translation.statements)
            skipped.append(SkippedAxiom(describe(axiom, name), translation.reasons, is_partly))
    return entries, skipped


# ---- Individuals


def _individuals(statements: Iterable[Statement], sources: list[OntologyFile]) -> list[Statement]:
    """Rules and facts that derive owl:Thing, if some rule reads it.

    Its instances are the instances of all classes and the terms of all properties that the rules name, except
    literals, and the declared individuals.
    """
    named: dict[Predicate, None] = {}
    is_read = False
    for statement in statements:
        body = statement.atoms if isinstance(statement, Rule) else ()
        heads = statement.heads if isinstance(statement, Rule) else (statement,)
        is_read = is_read or any(atom.predicate == _THING for atom in body)
        named.update(dict.fromkeys(atom.predicate for atom in (*body, *heads)))
    if not is_read:
        return []
    found: list[Statement] = []
    x, y = Variable("x"), Variable("y")
    for predicate in named:
        if predicate.arity == 1 and predicate != _THING:
            found.append(Rule((class_atom(THING, x),), (Atom(predicate, (x,)),)))
        elif predicate.arity == 2:
            found.append(Rule((class_atom(THING, x),), (Atom(predicate, (x, y)),)))
            if not _leads_to_literals(predicate, sources):
                found.append(Rule((class_atom(THING, y),), (Atom(predicate, (x, y)),)))
    for source in sources:
        for subject, property_, of in source.graph.triples:
            if property_ == TYPE and of.text in (THING, OWL + "NamedIndividual"):
                found.append(class_atom(THING, subject))
    return list(dict.fromkeys(found))


_THING = Predicate(f"<{THING}>", 1)


def _leads_to_literals(predicate: Predicate, sources: list[OntologyFile]) -> bool:
    """Whether a predicate is declared as a data or annotation property."""
    node = Constant(Kind.IRI, predicate.name[1:-1])
    kinds = (OWL + "DatatypeProperty", OWL + "AnnotationProperty")
    return any(source.graph.has_type(node, kind) for source in sources for kind in kinds)


# ---- Text


def _namer(prefixes: Prefixes, sources: list[OntologyFile]) -> Namer:
    """A function that prints terms as in rules; codes get their labels: `obo:BFO_0000050 [part of]`."""
    known: dict[Constant, str] = {}

    def name(term: Constant) -> str:
        if term not in known:
            shown = print_term(term, prefixes)
            is_code = term.kind == Kind.IRI and _CODE.search(shown)
            labels = [found for source in sources if is_code and (found := source.graph.label(term))]
            known[term] = f"{shown} [{labels[0]}]" if labels else shown
        return known[term]

    return name


def _lines(
    title: str,
    axioms: int,
    program: Program,
    entries: list[Entry],
    skipped: list[SkippedAxiom],
) -> Iterator[str]:
    """The lines of a rule file; `entries` are the axioms as text, each with its statements."""
    behind = ", skipped axioms are listed at the end" if skipped else ""
    yield f"% {title}: {_counts(axioms, program)}{behind}"
    yield from (f"@prefix {prefix}: <{iri}> ." for prefix, iri in program.prefixes)
    for description, statements in entries:
        yield ""
        yield f"% {_comment(description)}"
        for statement in statements:
            if isinstance(statement, Rule):
                yield print_rule(statement, program.prefixes)
            else:
                yield f"{print_atom(statement, program.prefixes)} ."
    if skipped:
        yield ""
        yield f"% Skipped, wholly or in part: {len(skipped):,} of {axioms:,} axioms"
        yield from (f"% {_comment(str(one))}" for one in skipped)


def _comment(text: str) -> str:
    """A text on one line, for a comment."""
    return " ".join(text.split())


def _counts(axioms: int, program: Program) -> str:
    return f"axioms: {axioms:,}, rules: {len(program.rules):,}, facts: {len(program.facts):,}"


# ---- Prefixes

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
