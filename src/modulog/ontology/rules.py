"""Ontologies to rules: the whole way from files to a program, and the rule file that shows where each rule comes from."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from modulog.language.model import Atom, Predicate, Program, Rule, Variable
from modulog.language.printer import print_atom, print_rule, print_term
from modulog.ontology.axioms import axioms_of
from modulog.ontology.bodies import class_atom
from modulog.ontology.describing import Namer, describe
from modulog.ontology.naming import Prefixes, also_known, choose_prefixes, iris_of
from modulog.ontology.reading import Source, read_ontology
from modulog.ontology.translating import Statement, translate
from modulog.ontology.vocabulary import OWL, THING, TYPE
from modulog.terms.model import Constant, Kind

_CODE = re.compile(r"[0-9]{3}")
INDIVIDUALS = (
    "the individuals: whatever is in a class, has a property, or is what an object property leads to"
)


@dataclass(frozen=True, slots=True)
class SkippedAxiom:
    """An axiom that became no rule, or `partly` lost something on the way: the axiom in words, and why."""

    axiom: str
    reasons: tuple[str, ...]
    partly: bool

    def __str__(self) -> str:
        return f"{self.axiom}{' (in part)' if self.partly else ''}: {'; '.join(self.reasons)}"


@dataclass(frozen=True, slots=True)
class OntologyRules:
    """The rules of ontologies: a program for `Reasoner`, what was skipped, and `str` is the text of a rule file."""

    program: Program
    skipped: tuple[SkippedAxiom, ...]
    axioms: int
    """How many axioms there were, skipped ones included."""
    _text: str = field(repr=False)

    def __str__(self) -> str:
        return self._text

    def summary(self) -> str:
        """How much became of the axioms, and for each reason how many were skipped."""
        reasons = Counter(skipped.reasons[0] for skipped in self.skipped)
        first = f"{_counts(self.axioms, self.program)}, skipped wholly or in part: {len(self.skipped):,}"
        return "\n".join([first, *(f"{count:>6,}  {reason}" for reason, count in reasons.most_common())])


def rules_of(*ontologies: str | os.PathLike[str]) -> OntologyRules:
    """The rules that ontologies, files of RDF, stand for; every axiom that rules cannot say is in `skipped` with the reason.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from modulog import IRI, Reasoner
    >>> text = '''@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
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
    found = [(source, axiom) for source in sources for axiom in axioms_of(source.graph)]
    translated = [(source, axiom, translate(axiom)) for source, axiom in found]
    every = dict.fromkeys(s for _, _, translation in translated for s in translation.statements)
    individuals = _individuals(every, sources)
    prefixes = choose_prefixes(iris_of((*every, *individuals)), (source.prefixes for source in sources))
    name = _namer(also_known(prefixes, (source.prefixes for source in sources)), sources)
    entries, skipped, said = [], [], set[Statement]()
    for _, axiom, translation in translated:
        new = [statement for statement in translation.statements if statement not in said]
        said.update(new)
        if new:
            entries.append((describe(axiom, name), new))
        if translation.reasons:
            shown = describe(axiom, name)
            skipped.append(SkippedAxiom(shown, translation.reasons, bool(translation.statements)))
    if individuals:
        entries.append((INDIVIDUALS, individuals))
    everything = [statement for _, statements in entries for statement in statements]
    program = Program(
        rules=tuple(s for s in everything if isinstance(s, Rule)),
        facts=tuple(s for s in everything if isinstance(s, Atom)),
        prefixes=prefixes,
    )
    title = ", ".join(os.path.basename(source.path) for source in sources)
    text = "".join(f"{line}\n" for line in _lines(title, len(found), program, entries, skipped))
    return OntologyRules(program, tuple(skipped), len(found), text)


# ---- Individuals


def _individuals(statements: Iterable[Statement], sources: list[Source]) -> list[Statement]:
    """What owl:Thing holds, if some rule reads it: the terms of every class and property that the rules name."""
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


def _leads_to_literals(predicate: Predicate, sources: list[Source]) -> bool:
    node = Constant(Kind.IRI, predicate.name[1:-1])
    kinds = (OWL + "DatatypeProperty", OWL + "AnnotationProperty")
    return any(source.graph.has_type(node, kind) for source in sources for kind in kinds)


# ---- Text


def _namer(prefixes: Prefixes, sources: list[Source]) -> Namer:
    """Terms as rules write them; the label behind names that are codes: `obo:BFO_0000050 [part of]`."""
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
    entries: list[tuple[str, list[Statement]]],
    skipped: list[SkippedAxiom],
) -> Iterator[str]:
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
    """A text that stays on its line."""
    return " ".join(text.split())


def _counts(axioms: int, program: Program) -> str:
    return f"axioms: {axioms:,}, rules: {len(program.rules):,}, facts: {len(program.facts):,}"
