"""Translates axioms to Datalog rules, as far as OWL 2 RL goes, with a reason for everything else.

An axiom is seen as one or more inclusions of a class on the left in a class on the right. The left becomes
rule bodies (see `bodies`), the right becomes heads: a class, a property value, or, for `only`, a class of the
objects of the property, with an atom of the property added to the body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, pairwise

from modulog.language.model import Atom, Rule, Term, Variable
from modulog.owl import class_expressions as owl
from modulog.owl.bodies import (
    BUILT_IN,
    Bodies,
    Fresh,
    RuleBody,
    bodies,
    class_atom,
    property_atom,
    related,
)
from modulog.owl.class_expressions import (
    ALL_PAIRS,
    CARDINALITY,
    CHOICE,
    CONSTRAINT,
    CREATES,
    DATA,
    EQUALITY,
    EVERYTHING_HOLDS,
    NOTHING_HOLDS,
    SAYS_NOTHING,
)
from modulog.owl.vocabulary import NOTHING, THING, UNIVERSAL

Statement = Rule | Atom
"""A rule or a fact."""


@dataclass(frozen=True, slots=True)
class Translation:
    """The statements that an axiom was translated to, and the reasons for what is missing."""

    statements: tuple[Statement, ...] = ()
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Claim:
    """What follows from a body: a head, if the atoms `under` hold as well; or why no head expresses it."""

    head: Atom | None = None
    under: tuple[Atom, ...] = ()
    reason: str | None = None


def translate(axiom: owl.Axiom) -> Translation:
    """Translate one axiom.

    >>> from modulog.language.printer import print_rule
    >>> left = owl.And((owl.Named("u:A"), owl.Some(owl.Property("u:p"), owl.Named("u:B"))))
    >>> axiom = owl.SubClassOf(left, owl.Named("u:C"))
    >>> [print_rule(rule) for rule in translate(axiom).statements]
    ['<u:C>(?x) :- <u:A>(?x), <u:p>(?x, ?y), <u:B>(?y) .']
    """
    if isinstance(axiom, owl.Unsaid):
        return Translation(reasons=(axiom.reason,))
    statements: dict[Statement, None] = {}
    reasons: dict[str, None] = {}
    holds_anyway = False
    for found, claims in _parts(axiom, Fresh()):
        reasons.update(dict.fromkeys(found.reasons))
        for claim in claims:
            if claim.reason is not None or claim.head is None:
                reasons.setdefault(claim.reason or SAYS_NOTHING)
                continue
            for body in found.found:
                made = make_statement(claim.head, RuleBody((*body.atoms, *claim.under), body.values))
                holds_anyway = holds_anyway or made is None
                if made is not None:
                    statements.setdefault(made)
    if not statements and not reasons:
        reasons.setdefault(SAYS_NOTHING if holds_anyway else NOTHING_HOLDS)
    if statements or len(reasons) > 1:
        # If the axiom also has other consequences, a trivial one is not reported as missing.
        reasons.pop(EVERYTHING_HOLDS, None)
    return Translation(tuple(statements), tuple(reasons))


Part = tuple[Bodies, list[_Claim]]


def _parts(axiom: owl.Axiom, fresh: Fresh) -> Iterator[Part]:
    """The inclusions that an axiom consists of: bodies, and the claims that follow from each of them."""
    x = fresh.variable()
    match axiom:
        case owl.SubClassOf(sub, super_):
            yield _inclusion(sub, super_, x, fresh)
        case owl.EquivalentClasses(first, second):
            yield _inclusion(first, second, x, fresh)
            yield _inclusion(second, first, x, fresh)
        case owl.DisjointUnion(whole, parts):
            yield _inclusion(parts, whole, x, fresh)
            yield bodies(whole, x, fresh), [_Claim(reason=CHOICE), _Claim(reason=CONSTRAINT)]
        case owl.ClassAssertion(individual, of):
            yield Bodies((RuleBody(),)), list(_claims(of, individual, fresh))
        case owl.Implication():
            yield _implication(axiom, fresh)
        case owl.Domain(property_, of):
            yield related(property_, x, fresh.variable()), list(_claims(of, x, fresh))
        case owl.Range(property_, of):
            yield related(property_, fresh.variable(), x), list(_claims(of, x, fresh))
        case _:
            yield from _about_properties(axiom, fresh)


def _about_properties(axiom: owl.Axiom, fresh: Fresh) -> Iterator[Part]:
    """The same for axioms about properties."""
    x, y = fresh.variable(), fresh.variable()
    match axiom:
        case owl.SubPropertyOf(chain, super_):
            ends = [x, *(fresh.variable() for _ in chain[1:]), y]
            found = Bodies((RuleBody(),))
            for link, (start, end) in zip(chain, pairwise(ends), strict=True):
                found = found.join(related(link, start, end))
            yield found, [_relates(super_, x, y)]
        case owl.EquivalentProperties(first, second):
            yield related(first, x, y), [_relates(second, x, y)]
            yield related(second, x, y), [_relates(first, x, y)]
        case owl.InverseProperties(first, second):
            yield related(first, x, y), [_relates(second, y, x)]
            yield related(second, x, y), [_relates(first, y, x)]
        case owl.Characteristic("Symmetric", property_):
            yield related(property_, x, y), [_relates(property_, y, x)]
        case owl.Characteristic("Transitive", property_):
            z = fresh.variable()
            steps = related(property_, x, y).join(related(property_, y, z))
            yield steps, [_relates(property_, x, z)]
        case owl.Characteristic("Reflexive", property_):
            yield Bodies((RuleBody(),)), [_relates(property_, x, x)]
        case owl.PropertyAssertion(property_, subject, object_):
            yield Bodies((RuleBody(),)), [_relates(property_, subject, object_)]


def _inclusion(sub: owl.ClassExpression, super_: owl.ClassExpression, x: Variable, fresh: Fresh) -> Part:
    return bodies(sub, x, fresh), list(_claims(super_, x, fresh))


def _implication(axiom: owl.Implication, fresh: Fresh) -> Part:
    found = Bodies((RuleBody(),))
    for atom in axiom.body:
        if isinstance(atom, owl.ClassAtom):
            found = found.join(bodies(atom.of, atom.term, fresh))
        else:
            found = found.join(related(atom.property, atom.subject, atom.object))
    return found, [claim for head in axiom.heads for claim in _head_claims(head, fresh)]


def _head_claims(atom: owl.ClassAtom | owl.PropertyAtom, fresh: Fresh) -> Iterator[_Claim]:
    if isinstance(atom, owl.PropertyAtom):
        yield _relates(atom.property, atom.subject, atom.object)
    else:
        yield from _claims(atom.of, atom.term, fresh)


# ---- The right side of an inclusion


def _claims(expression: owl.ClassExpression, term: Term, fresh: Fresh) -> Iterator[_Claim]:
    """The claims that follow for a term that is an instance of a class."""
    match expression:
        case owl.Named(iri) if iri in UNIVERSAL:
            yield _Claim(reason=EVERYTHING_HOLDS)
        case owl.Named(iri) if iri != NOTHING:
            yield _Claim(class_atom(iri, term))
        case owl.And(parts):
            if not parts:
                yield _Claim(reason=EVERYTHING_HOLDS)
            for part in parts:
                yield from _claims(part, term, fresh)
        case owl.Or((only,)):
            yield from _claims(only, term, fresh)
        case owl.Only(property_, filler):
            yield from _claims_about_objects(property_, filler, term, fresh)
        case owl.HasValue(property_, value) | owl.Some(property_, owl.OneOf((value,))):
            yield _relates(property_, term, value)
        case owl.HasSelf(property_):
            yield _relates(property_, term, term)
        case _:
            yield _Claim(reason=_unsaid(expression))


def _claims_about_objects(
    property_: owl.Property, filler: owl.ClassExpression, term: Term, fresh: Fresh
) -> Iterator[_Claim]:
    """The claims for all objects of a property of `term`, which must be instances of the class `filler`."""
    if property_.iri in BUILT_IN:
        yield _Claim(reason=ALL_PAIRS)
        return
    other = fresh.variable()
    step = property_atom(property_, term, other)
    for claim in _claims(filler, other, fresh):
        yield claim if claim.head is None else _Claim(claim.head, (step, *claim.under))


def _relates(property_: owl.Property, subject: Term, object_: Term) -> _Claim:
    if property_.iri in BUILT_IN:
        return _Claim(reason=EVERYTHING_HOLDS if "#top" in property_.iri else CONSTRAINT)
    return _Claim(property_atom(property_, subject, object_))


def _unsaid(expression: owl.ClassExpression) -> str:
    """The reason why no head can express that something is an instance of a class."""
    match expression:
        case owl.Or(parts) if parts:
            return CHOICE
        case owl.Some() | owl.Cardinality("min", 1):
            return CREATES
        case owl.OneOf(members) if members:
            return EQUALITY
        case owl.Cardinality("min", 0):
            return EVERYTHING_HOLDS
        case owl.Cardinality("max", 0) | owl.Cardinality("exactly", 0):
            return CONSTRAINT
        case owl.Cardinality("max"):
            return EQUALITY
        case owl.Cardinality():
            return CARDINALITY
        case owl.DataRange():
            return DATA
        case owl.Not() | owl.Named() | owl.Or() | owl.OneOf():
            return CONSTRAINT
    return SAYS_NOTHING


# Makes a rule or a fact from a head and a body: substitutes known values and renames the variables.
_LETTERS = "xyzuvw"


def make_statement(head: Atom, body: RuleBody) -> Rule | Atom | None:
    """The rule for a head and a body; a fact if the body is empty; None if the head is in the body.

    Variables are named ?x, ?y, … in the order of the body. A variable that is only in the head stands for
    every individual, so an atom of owl:Thing is added to bind it.

    >>> from modulog.language.model import Predicate
    >>> from modulog.language.printer import print_rule
    >>> x = Variable("fresh 0")
    >>> head, body = Atom(Predicate("p", 1), (x,)), RuleBody((Atom(Predicate("q", 1), (x,)),))
    >>> print_rule(make_statement(head, body)), print_rule(make_statement(head, RuleBody()))
    ('p(?x) :- q(?x) .', 'p(?x) :- <http://www.w3.org/2002/07/owl#Thing>(?x) .')
    """
    values = dict[Term, Term](body.values)
    atoms = [_with(atom, values) for atom in body.atoms]
    head = _with(head, values)
    bound = {variable for atom in atoms for variable in atom.variables()}
    atoms += [class_atom(THING, v) for v in dict.fromkeys(head.variables()) if v not in bound]
    if head in atoms:
        return None
    if not atoms:
        return head
    names: dict[Term, Term] = {}
    short = _names()
    for atom in atoms:
        for variable in atom.variables():
            if variable not in names:
                names[variable] = next(short)
    return Rule((_with(head, names),), tuple(dict.fromkeys(_with(atom, names) for atom in atoms)))


def _with(atom: Atom, values: dict[Term, Term]) -> Atom:
    return Atom(atom.predicate, tuple(values.get(term, term) for term in atom.terms))


def _names() -> Iterator[Variable]:
    yield from map(Variable, _LETTERS)
    yield from (Variable(f"{_LETTERS[0]}{number}") for number in count(1))
