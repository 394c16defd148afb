"""Class expressions on the left of an axiom: the bodies of rules that find their instances.

An intersection joins bodies, a union gives several, and each is enough on its own: where one part of a union cannot be said, the others still can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import count

from modulog.language.model import Atom, Predicate, Term, Variable
from modulog.ontology import expressions as owl
from modulog.ontology.reasons import ALL_PAIRS, CLOSED, COUNTING, TOO_MANY, TYPED
from modulog.ontology.vocabulary import NOTHING, OWL, RDFS, UNIVERSAL
from modulog.terms.model import Constant

MOST = 1_000
"""How many rules one axiom may become."""

BUILT_IN = frozenset(
    OWL + name
    for name in ("topObjectProperty", "bottomObjectProperty", "topDataProperty", "bottomDataProperty")
)


class Fresh:
    """Variables that nothing else uses."""

    def __init__(self) -> None:
        self._numbers = count()

    def variable(self) -> Variable:
        """The next one."""
        return Variable(f"fresh {next(self._numbers)}")


@dataclass(frozen=True, slots=True)
class Body:
    """Atoms that must hold, and variables whose values are known."""

    atoms: tuple[Atom, ...] = ()
    values: tuple[tuple[Variable, Constant], ...] = ()

    def join(self, other: Body) -> Body | None:
        """Both bodies at once; None if a variable would have two values."""
        values = dict(self.values)
        for variable, value in other.values:
            if values.setdefault(variable, value) != value:
                return None
        return Body(tuple(dict.fromkeys((*self.atoms, *other.atoms))), tuple(values.items()))


@dataclass(frozen=True, slots=True)
class Bodies:
    """The bodies that find instances of a class, and the reasons why they may not find all."""

    found: tuple[Body, ...] = ()
    reasons: tuple[str, ...] = ()

    def join(self, other: Bodies) -> Bodies:
        """What both find."""
        if len(self.found) * len(other.found) > MOST:
            return Bodies(reasons=(*self.reasons, *other.reasons, TOO_MANY.format(most=MOST)))
        pairs = (a.join(b) for a in self.found for b in other.found)
        return Bodies(tuple(body for body in pairs if body is not None), (*self.reasons, *other.reasons))


EVERYWHERE = Bodies((Body(),))


def property_atom(property_: owl.Property, subject: Term, object_: Term) -> Atom:
    """The atom that says that a property, or its inverse, relates two terms."""
    terms = (object_, subject) if property_.inverse else (subject, object_)
    return Atom(Predicate(f"<{property_.iri}>", 2), terms)


def class_atom(iri: str, term: Term) -> Atom:
    """The atom that says that a term is an instance of a class."""
    return Atom(Predicate(f"<{iri}>", 1), (term,))


def bodies(expression: owl.ClassExpression, term: Term, fresh: Fresh) -> Bodies:
    """The bodies that are satisfied only if a term is an instance of a class.

    >>> parent = owl.Property("u:parent")
    >>> found = bodies(owl.Some(parent, owl.Or((owl.Named("u:A"), owl.Named("u:B")))), Variable("x"), Fresh()).found
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
    """The body that says that two terms are related."""
    if property_.iri in BUILT_IN:
        return Bodies(reasons=(ALL_PAIRS,))
    return Bodies((Body((property_atom(property_, subject, object_),)),))


def _named(iri: str, term: Term) -> Bodies:
    if iri in UNIVERSAL:
        return EVERYWHERE
    if iri == NOTHING:
        return Bodies()
    return Bodies((Body((class_atom(iri, term),)),))


def _some(property_: owl.Property, filler: owl.ClassExpression, term: Term, fresh: Fresh) -> Bodies:
    other = fresh.variable()
    # Every literal is in rdfs:Literal, and who asks for one has a property that leads to literals.
    is_any = filler == owl.DataRange(RDFS + "Literal")
    found = related(property_, term, other)
    return found if is_any else found.join(bodies(filler, other, fresh))


def _union(parts: Iterable[Bodies]) -> Bodies:
    both = [(part.found, part.reasons) for part in parts]
    return Bodies(
        tuple(dict.fromkeys(body for found, _ in both for body in found)),
        tuple(reason for _, reasons in both for reason in reasons),
    )


def _values(members: tuple[Constant, ...], term: Term) -> Iterator[Body]:
    for member in dict.fromkeys(members):
        if isinstance(term, Variable):
            yield Body(values=((term, member),))
        elif term == member:
            yield Body()
