"""Classes, properties and axioms as immutable values, in the words of OWL 2's structural specification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from modulog.language.model import Term
from modulog.ontology.vocabulary import NOTHING, THING
from modulog.terms.model import Constant

# ---- Properties and classes


@dataclass(frozen=True, slots=True)
class Property:
    """A property, or the inverse of one."""

    iri: str
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """A class by its name."""

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
    """These individuals, or these literals, and no others."""

    members: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """What is related to some instance of a class: someValuesFrom."""

    property: Property
    filler: ClassExpression


@dataclass(frozen=True, slots=True)
class Only:
    """What is related to instances of a class only: allValuesFrom."""

    property: Property
    filler: ClassExpression


@dataclass(frozen=True, slots=True)
class HasValue:
    """What is related to an individual or a literal."""

    property: Property
    value: Constant


@dataclass(frozen=True, slots=True)
class HasSelf:
    """What is related to itself."""

    property: Property


@dataclass(frozen=True, slots=True)
class Cardinality:
    """What is related to at least, at most or exactly so many instances of a class."""

    bound: Literal["min", "max", "exactly"]
    number: int
    property: Property
    filler: ClassExpression


@dataclass(frozen=True, slots=True)
class DataRange:
    """A set of literals: a datatype by its name, or something built from datatypes, which is not looked into."""

    iri: str | None = None


ClassExpression = Named | And | Or | Not | OneOf | Some | Only | HasValue | HasSelf | Cardinality | DataRange

EVERYTHING, EMPTY = Named(THING), Named(NOTHING)

# ---- Axioms


@dataclass(frozen=True, slots=True)
class SubClassOf:
    """Every instance of one class is one of the other."""

    sub: ClassExpression
    super: ClassExpression


@dataclass(frozen=True, slots=True)
class EquivalentClasses:
    """Two classes have the same instances."""

    first: ClassExpression
    second: ClassExpression


@dataclass(frozen=True, slots=True)
class DisjointUnion:
    """A class is the union of others, no two of which share an instance."""

    whole: ClassExpression
    parts: Or


@dataclass(frozen=True, slots=True)
class SubPropertyOf:
    """What a chain of properties relates, the property above relates too; a chain of one is a subproperty."""

    chain: tuple[Property, ...]
    super: Property


@dataclass(frozen=True, slots=True)
class EquivalentProperties:
    """Two properties relate the same."""

    first: Property
    second: Property


@dataclass(frozen=True, slots=True)
class InverseProperties:
    """One property relates the same as the other, in the opposite direction."""

    first: Property
    second: Property


@dataclass(frozen=True, slots=True)
class Domain:
    """Whatever has the property is an instance of the class."""

    property: Property
    of: ClassExpression


@dataclass(frozen=True, slots=True)
class Range:
    """Whatever the property leads to is an instance of the class."""

    property: Property
    of: ClassExpression


@dataclass(frozen=True, slots=True)
class Characteristic:
    """What a property is: Symmetric, Transitive or Reflexive."""

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
    """An axiom that no rule can say, or that cannot be read: its parts, to be shown, and why."""

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
