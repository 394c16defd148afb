"""Rules of SWRL in a graph: bodies and heads of class and property atoms."""

from __future__ import annotations

from modulog.language.model import Term, Variable
from modulog.ontology.expressions import ClassAtom, Implication, PropertyAtom, Unsaid
from modulog.ontology.graph import Graph, Unreadable
from modulog.ontology.reasons import SWRL_ATOM
from modulog.ontology.vocabulary import SWRL
from modulog.terms.model import Constant

_OTHER = {
    "SameIndividualAtom": "equality",
    "DifferentIndividualsAtom": "inequality of individuals",
    "BuiltinAtom": "a built-in function",
    "DataRangeAtom": "a test of a datatype",
}


def implication(graph: Graph, rule: Constant) -> Implication | Unsaid:
    """The rule that a node of type swrl:Imp stands for."""
    atoms = {}
    for side in ("body", "head"):
        listed = graph.one(rule, SWRL + side)
        if listed is None:
            raise Unreadable(f"a rule of SWRL without a {side}")
        nodes = graph.members(listed)
        for node in nodes:
            for kind, what in _OTHER.items():
                if graph.has_type(node, SWRL + kind):
                    return Unsaid("Rule", (rule,), SWRL_ATOM.format(what=what))
        atoms[side] = tuple(_atom(graph, node) for node in nodes)
    return Implication(atoms["body"], atoms["head"])


def _atom(graph: Graph, node: Constant) -> ClassAtom | PropertyAtom:
    of, property_ = graph.one(node, SWRL + "classPredicate"), graph.one(node, SWRL + "propertyPredicate")
    first = _term(graph, node, "argument1")
    if of is not None:
        return ClassAtom(graph.expression(of), first)
    if property_ is None:
        raise Unreadable("an atom of SWRL without a class or a property")
    return PropertyAtom(graph.property(property_), first, _term(graph, node, "argument2"))


def _term(graph: Graph, atom: Constant, place: str) -> Term:
    found = graph.one(atom, SWRL + place)
    if found is None:
        raise Unreadable(f"an atom of SWRL without {place}")
    if not graph.has_type(found, SWRL + "Variable"):
        return found
    # Any different texts will do: rules get short names for their variables later.
    return Variable(f"{found.kind.name} {found.text}")
