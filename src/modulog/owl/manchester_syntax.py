"""Prints axioms in a notation like OWL's Manchester syntax."""

from __future__ import annotations

from collections.abc import Callable

from modulog.language.model import Variable
from modulog.owl import class_expressions as owl
from modulog.terms.constant import Constant, Kind

Namer = Callable[[Constant], str]
"""A function that returns the text of a term."""

_SHOWN = 8
"""The most parts of a list that are printed."""


def describe(axiom: owl.Axiom, name: Namer) -> str:
    """An axiom on one line.

    >>> some = owl.Some(owl.Property("p", inverse=True), owl.Named("C"))
    >>> axiom = owl.SubClassOf(owl.Named("A"), owl.And((owl.Named("B"), some)))
    >>> describe(axiom, lambda term: term.text)
    'A SubClassOf B and (inverse p some C)'
    """
    match axiom:
        case owl.SubClassOf(sub, super_):
            return f"{_class(sub, name)} SubClassOf {_class(super_, name)}"
        case owl.EquivalentClasses(first, second):
            return f"{_class(first, name)} EquivalentTo {_class(second, name)}"
        case owl.DisjointUnion(whole, parts):
            return f"{_class(whole, name)} DisjointUnionOf {_several(parts.parts, name)}"
        case owl.SubPropertyOf(chain, super_):
            links = " o ".join(_property(link, name) for link in chain)
            return f"{links} SubPropertyOf {_property(super_, name)}"
        case owl.EquivalentProperties(first, second):
            return f"{_property(first, name)} EquivalentTo {_property(second, name)}"
        case owl.InverseProperties(first, second):
            return f"{_property(first, name)} InverseOf {_property(second, name)}"
        case owl.Domain(property_, of):
            return f"{_property(property_, name)} Domain {_class(of, name)}"
        case owl.Range(property_, of):
            return f"{_property(property_, name)} Range {_class(of, name)}"
        case owl.Characteristic(what, property_):
            return f"{what} {_property(property_, name)}"
        case owl.ClassAssertion(individual, of):
            return f"{name(individual)} Type {_class(of, name)}"
        case owl.PropertyAssertion(property_, subject, object_):
            return f"{name(subject)} {_property(property_, name)} {name(object_)}"
        case owl.Implication():
            return _implication(axiom, name)
        case owl.Unsaid():
            return _unsaid(axiom, name)


def _unsaid(axiom: owl.Unsaid, name: Namer) -> str:
    """An axiom that is not translated: `a Name b` for two parts, otherwise the name and then the parts."""
    shown = [_part(part, name) for part in axiom.parts]
    if len(shown) == 2:
        return f"{shown[0]} {axiom.name} {shown[1]}"
    return " ".join([axiom.name, ", ".join(_short(shown))])


def _part(part: owl.ClassExpression | owl.Property | Constant, name: Namer) -> str:
    if isinstance(part, owl.Property):
        return _property(part, name)
    return name(part) if isinstance(part, Constant) else _class(part, name)


def _property(property_: owl.Property, name: Namer) -> str:
    return ("inverse " if property_.inverse else "") + _iri(property_.iri, name)


def _class(expression: owl.ClassExpression, name: Namer, inner: bool = False) -> str:
    """A class expression; with parentheses if it has several words and is inside another."""
    match expression:
        case owl.Named(iri):
            return _iri(iri, name)
        case owl.DataRange(iri):
            return "a range of literals" if iri is None else _iri(iri, name)
        case owl.OneOf(members):
            return "{" + ", ".join(_short([name(member) for member in members])) + "}"
    text = _words(expression, name)
    return f"({text})" if inner else text


def _words(expression: owl.ClassExpression, name: Namer) -> str:
    """A class expression of several words, without parentheses."""
    match expression:
        case owl.And(parts):
            return " and ".join(_class(part, name, True) for part in parts) or "owl:Thing"
        case owl.Or(parts):
            return " or ".join(_class(part, name, True) for part in parts) or "owl:Nothing"
        case owl.Not(of):
            return f"not {_class(of, name, True)}"
        case owl.Some(property_, filler):
            return f"{_property(property_, name)} some {_class(filler, name, True)}"
        case owl.Only(property_, filler):
            return f"{_property(property_, name)} only {_class(filler, name, True)}"
        case owl.HasValue(property_, value):
            return f"{_property(property_, name)} value {name(value)}"
        case owl.HasSelf(property_):
            return f"{_property(property_, name)} Self"
        case owl.Cardinality(bound, number, property_, filler):
            return f"{_property(property_, name)} {bound} {number} {_class(filler, name, True)}"
    return _class(expression, name)


def _implication(axiom: owl.Implication, name: Namer) -> str:
    """A SWRL rule, with variables numbered in the order in which they occur."""
    letters: dict[Variable, str] = {}

    def term(found: Constant | Variable) -> str:
        if isinstance(found, Constant):
            return name(found)
        return letters.setdefault(found, f"?{len(letters) + 1}")

    def atom(found: owl.ClassAtom | owl.PropertyAtom) -> str:
        if isinstance(found, owl.ClassAtom):
            return f"{_class(found.of, name, True)}({term(found.term)})"
        return f"{_property(found.property, name)}({term(found.subject)}, {term(found.object)})"

    body = ", ".join(atom(found) for found in axiom.body)
    return f"{body} -> {', '.join(atom(found) for found in axiom.heads)}"


def _several(parts: tuple[owl.ClassExpression, ...], name: Namer) -> str:
    return ", ".join(_short([_class(part, name, True) for part in parts]))


def _short(shown: list[str]) -> list[str]:
    """The first parts of a list, and how many there are if that is not all."""
    return shown if len(shown) <= _SHOWN else [*shown[:_SHOWN], f"… ({len(shown):,} in all)"]


def _iri(iri: str, name: Namer) -> str:
    return name(Constant(Kind.IRI, iri))
