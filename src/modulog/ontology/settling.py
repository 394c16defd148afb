"""A head and a body become a statement: known values are put in, and variables get short names in the order in which they appear."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from modulog.language.model import Atom, Rule, Term, Variable
from modulog.ontology.bodies import Body, class_atom
from modulog.ontology.vocabulary import THING

_LETTERS = "xyzuvw"


def settle(head: Atom, body: Body) -> Rule | Atom | None:
    """The rule, or the fact if nothing has to hold; None if the head is in the body.

    A variable that only the head has stands for every individual: owl:Thing binds it.

    >>> from modulog.language.model import Predicate
    >>> head, a = Atom(Predicate("p", 1), (Variable("fresh 0"),)), Atom(Predicate("q", 1), (Variable("fresh 0"),))
    >>> from modulog.language.printer import print_rule
    >>> print_rule(settle(head, Body((a,)))), print_rule(settle(head, Body()))
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
