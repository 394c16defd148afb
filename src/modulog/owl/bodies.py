"""Translates class expressions on the left of an axiom to rule bodies that find their instances.

An intersection joins bodies, and a union gives several, one for each rule. If one part of a union cannot be
expressed by a body, the bodies of the others are still valid rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import count

from modulog.language.model import Atom, Predicate, Term, Variable
from modulog.owl import class_expressions as owl
from modulog.owl.class_expressions import ALL_PAIRS, CLOSED, COUNTING, TOO_MANY, TYPED
from modulog.owl.vocabulary import NOTHING, OWL, RDFS, UNIVERSAL
from modulog.terms.constant import Constant

MOST = 1_000
"""The most rules that one axiom may become."""

BUILT_IN = frozenset(
    OWL + name
    for name in ("topObjectProperty", "bottomObjectProperty", "topDataProperty", "bottomDataProperty")
)


class Fresh:
    """Creates variables that occur nowhere else."""

    def __init__(self) -> None:
        self._numbers = count()

    def variable(self) -> Variable:
        """A new variable."""
        return Variable(f"fresh {next(self._numbers)}")


@dataclass(frozen=True, slots=True)
class RuleBody:
    """The atoms of a rule body, and variables that must have certain values."""

    atoms: tuple[Atom, ...] = ()
    values: tuple[tuple[Variable, Constant], ...] = ()

    def join(self, other: RuleBody) -> RuleBody | None:
        """The conjunction of two bodies; None if a variable would have two values."""
        values = dict(self.values)
        for variable, value in other.values:
            if values.setdefault(variable, value) != value:
                return None
        return RuleBody(tuple(dict.fromkeys((*self.atoms, *other.atoms))), tuple(values.items()))


@dataclass(frozen=True, slots=True)
class Bodies:
    """Bodies that find the instances of a class, and the reasons why they do not find all of them."""

    found: tuple[RuleBody, ...] = ()
    reasons: tuple[str, ...] = ()

    def join(self, other: Bodies) -> Bodies:
        """The bodies for the intersection of two classes; none, with a reason, if there would be too many."""
        if len(self.found) * len(other.found) > MOST:
            return Bodies(reasons=(*self.reasons, *other.reasons, TOO_MANY.format(most=MOST)))
        pairs = (a.join(b) for a in self.found for b in other.found)
        return Bodies(tuple(body for body in pairs if body is not None), (*self.reasons, *other.reasons))


EVERYWHERE = Bodies((RuleBody(),))


def property_atom(property_: owl.Property, subject: Term, object_: Term) -> Atom:
    """The atom for `subject property object`, with the arguments exchanged if the property is an inverse."""
    terms = (object_, subject) if property_.inverse else (subject, object_)
    return Atom(Predicate(f"<{property_.iri}>", 2), terms)


def class_atom(iri: str, term: Term) -> Atom:
    """The atom for `term rdf:type class`."""
    return Atom(Predicate(f"<{iri}>", 1), (term,))


def bodies(expression: owl.ClassExpression, term: Term, fresh: Fresh) -> Bodies:
    """The bodies from which it follows that a term is an instance of a class.

    >>> parent = owl.Some(owl.Property("u:parent"), owl.Or((owl.Named("u:A"), owl.Named("u:B"))))
    >>> found = bodies(parent, Variable("x"), Fresh()).found
    >>> [[str(atom.predicate) for atom in body.atoms] for body in found]
    [['<u:parent>/2', '<u:A>/1'], ['<u:parent>/2', '<u:B>/1']]
    """
    match expression:
        case owl.Named(iri):
            return _named(iri, term)
        case owl.And(parts):
            return reduce(Bodies.join, (bodies(part, term, fresh) for part in parts), EVERYWHERE)
        case owl.Or(parts):
            return _union(bodies(part, term, fresh) for part in parts)
        case owl.OneOf(members):
            return Bodies(tuple(_values(members, term)))
        case owl.Some(property_, filler):
            return _some(property_, filler, term, fresh)
        case owl.HasValue(property_, value):
            return related(property_, term, value)
        case owl.HasSelf(property_):
            return related(property_, term, term)
        case owl.Cardinality("min", 0):
            return EVERYWHERE
        case owl.Cardinality("min", 1, property_, filler):
            return _some(property_, filler, term, fresh)
        case owl.Cardinality("min"):
            return Bodies(reasons=(COUNTING,))
        case owl.Only() | owl.Not() | owl.Cardinality():
            return Bodies(reasons=(CLOSED,))
        case owl.DataRange():
            return Bodies(reasons=(TYPED,))


def related(property_: owl.Property, subject: Term, object_: Term) -> Bodies:
    """The body for `subject property object`; a reason if the property relates everything or nothing."""
    if property_.iri in BUILT_IN:
        return Bodies(reasons=(ALL_PAIRS,))
    return Bodies((RuleBody((property_atom(property_, subject, object_),)),))


def _named(iri: str, term: Term) -> Bodies:
    if iri in UNIVERSAL:
        return EVERYWHERE
    if iri == NOTHING:
        return Bodies()
    return Bodies((RuleBody((class_atom(iri, term),)),))


def _some(property_: owl.Property, filler: owl.ClassExpression, term: Term, fresh: Fresh) -> Bodies:
    other = fresh.variable()
    # No test for rdfs:Literal is needed: a property that is restricted to it has literals as values.
    is_any = filler == owl.DataRange(RDFS + "Literal")
    found = related(property_, term, other)
    return found if is_any else found.join(bodies(filler, other, fresh))


def _union(parts: Iterable[Bodies]) -> Bodies:
    pairs = [(part.found, part.reasons) for part in parts]
    return Bodies(
        tuple(dict.fromkeys(body for found, _ in pairs for body in found)),
        tuple(reason for _, reasons in pairs for reason in reasons),
    )


def _values(members: tuple[Constant, ...], term: Term) -> Iterator[RuleBody]:
    """The bodies in which a term is one of some constants."""
    for member in dict.fromkeys(members):
        if isinstance(term, Variable):
            yield RuleBody(values=((term, member),))
        elif term == member:
            yield RuleBody()
