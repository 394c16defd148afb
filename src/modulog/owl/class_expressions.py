"""Classes, properties and axioms as immutable values, in the words of OWL 2's structural specification.

At the end are the reasons why an axiom, or a part of one, is not translated to a rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from modulog.language.model import Term
from modulog.owl.vocabulary import NOTHING, THING
from modulog.terms.constant import Constant

# ---- Properties and classes


@dataclass(frozen=True, slots=True)
class Property:
    """A property, or the inverse of the property `iri`."""

    iri: str
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """A named class."""

    iri: str


@dataclass(frozen=True, slots=True)
class And:
    """Intersection."""

    parts: tuple[ClassExpression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Union."""

    parts: tuple[ClassExpression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Complement."""

    of: ClassExpression


@dataclass(frozen=True, slots=True)
class OneOf:
    """The class of the given individuals, or the set of the given literals."""

    members: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """The things that are related to some instance of a class: someValuesFrom."""

    property: Property
    filler: ClassExpression


@dataclass(frozen=True, slots=True)
class Only:
    """The things that are related to instances of a class only: allValuesFrom."""

    property: Property
    filler: ClassExpression


@dataclass(frozen=True, slots=True)
class HasValue:
    """The things that are related to a certain individual or literal."""

    property: Property
    value: Constant


@dataclass(frozen=True, slots=True)
class HasSelf:
    """The things that are related to themselves."""

    property: Property


@dataclass(frozen=True, slots=True)
class Cardinality:
    """The things that are related to at least, at most or exactly `number` instances of a class."""

    bound: Literal["min", "max", "exactly"]
    number: int
    property: Property
    filler: ClassExpression


@dataclass(frozen=True, slots=True)
class DataRange:
    """A set of literals: a named datatype, or a complex one (`iri` is None), whose definition is not read."""

    iri: str | None = None


ClassExpression = Named | And | Or | Not | OneOf | Some | Only | HasValue | HasSelf | Cardinality | DataRange

EVERYTHING, EMPTY = Named(THING), Named(NOTHING)

# ---- Axioms


@dataclass(frozen=True, slots=True)
class SubClassOf:
    """Every instance of `sub` is an instance of `super`."""

    sub: ClassExpression
    super: ClassExpression


@dataclass(frozen=True, slots=True)
class EquivalentClasses:
    """Two classes have the same instances."""

    first: ClassExpression
    second: ClassExpression


@dataclass(frozen=True, slots=True)
class DisjointUnion:
    """A class is the union of others, no two of which have an instance in common."""

    whole: ClassExpression
    parts: Or


@dataclass(frozen=True, slots=True)
class SubPropertyOf:
    """What a chain of properties relates, `super` relates too; a chain of one is a subproperty axiom."""

    chain: tuple[Property, ...]
    super: Property


@dataclass(frozen=True, slots=True)
class EquivalentProperties:
    """Two properties relate the same things."""

    first: Property
    second: Property


@dataclass(frozen=True, slots=True)
class InverseProperties:
    """One property relates the same things as the other, in the opposite direction."""

    first: Property
    second: Property


@dataclass(frozen=True, slots=True)
class Domain:
    """Every subject of the property is an instance of the class."""

    property: Property
    of: ClassExpression


@dataclass(frozen=True, slots=True)
class Range:
    """Every object of the property is an instance of the class."""

    property: Property
    of: ClassExpression


@dataclass(frozen=True, slots=True)
class Characteristic:
    """A property is symmetric, transitive or reflexive."""

    name: Literal["Symmetric", "Transitive", "Reflexive"]
    property: Property


@dataclass(frozen=True, slots=True)
class ClassAssertion:
    """An individual is an instance of a class."""

    individual: Constant
    of: ClassExpression


@dataclass(frozen=True, slots=True)
class PropertyAssertion:
    """An individual is related to another, or to a literal."""

    property: Property
    subject: Constant
    object: Constant


@dataclass(frozen=True, slots=True)
class ClassAtom:
    """In a rule of SWRL: a term is an instance of a class."""

    of: ClassExpression
    term: Term


@dataclass(frozen=True, slots=True)
class PropertyAtom:
    """In a rule of SWRL: a term is related to another."""

    property: Property
    subject: Term
    object: Term


@dataclass(frozen=True, slots=True)
class Implication:
    """A rule of SWRL."""

    body: tuple[ClassAtom | PropertyAtom, ...]
    heads: tuple[ClassAtom | PropertyAtom, ...]


@dataclass(frozen=True, slots=True)
class Unsaid:
    """An axiom that rules cannot express or that cannot be read: its parts, for printing, and the reason."""

    name: str
    parts: tuple[ClassExpression | Property | Constant, ...]
    reason: str


Axiom = (
    SubClassOf
    | EquivalentClasses
    | DisjointUnion
    | SubPropertyOf
    | EquivalentProperties
    | InverseProperties
    | Domain
    | Range
    | Characteristic
    | ClassAssertion
    | PropertyAssertion
    | Implication
    | Unsaid
)


# ---- Reasons why an axiom is not translated

CONSTRAINT = "a constraint: it forbids facts and derives none"
EQUALITY = "it says that two names mean one thing, and rules here do not reason with equality"
UNIQUE_NAMES = "it says that names mean different things: no fact follows"
CREATES = "a rule would have to create the individual that it asks for"
CHOICE = "a choice between classes: no rule can say which holds"
CARDINALITY = "a rule would have to create or to equate individuals to get their number right"
CLOSED = "nothing can be known to have no other values, or not to belong to a class"
COUNTING = "rules do not count different individuals"
DATA = "about datatypes: literals have the values that they have, and no fact follows"
TYPED = "rules do not test the datatypes of literals"
ALL_PAIRS = "a property that relates everything to everything, or nothing to anything"
EVERYTHING_HOLDS = "everything belongs to that class or property: no fact follows"
NOTHING_HOLDS = "nothing belongs to the class on the left"
SAYS_NOTHING = "it says what holds anyway"
TOO_MANY = "the unions in it would become more than {most:,} rules"
IMPORTED = "another ontology, which is not read: give that file too"
SWRL_ATOM = "a rule of SWRL with {what}"
