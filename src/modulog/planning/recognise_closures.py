"""Recognises clauses of closures, whatever the names of their variables and the order of their atoms."""

from __future__ import annotations

from modulog.language.model import Atom, Predicate, Variable
from modulog.planning.plan import Clause


def is_transitive(clause: Clause) -> bool:
    """Whether a clause is `R(x,z) :- R(x,y), R(y,z)`."""
    found = _chain(clause)
    return found is not None and found[0].predicate == found[1].predicate == clause.head.predicate


def is_symmetric(clause: Clause) -> bool:
    """Whether a clause is `R(y,x) :- R(x,y)`."""
    atoms = _binary(clause, 1)
    return (
        atoms is not None
        and atoms[0].predicate == clause.head.predicate
        and _distinct(atoms[0])
        and clause.head.terms == atoms[0].terms[::-1]
    )


def reflexive_end(clause: Clause) -> int | None:
    """0 for `R(x,x) :- R(x,_)`, 1 for `R(y,y) :- R(_,y)`, where `_` may be any other variable; else None."""
    atoms = _binary(clause, 1)
    if atoms is None or atoms[0].predicate != clause.head.predicate:
        return None
    (x, y), (a, b) = atoms[0].terms, clause.head.terms
    if a != b or not isinstance(a, Variable) or x == y:
        return None
    return 0 if a == x and isinstance(y, Variable) else 1 if a == y and isinstance(x, Variable) else None


def linear_graph(clause: Clause, own: tuple[Predicate, ...]) -> tuple[str, Atom] | None:
    """The kind of a linear closure and the atom of its edges; None if the clause is no linear closure.

    `P(x,z) :- P(x,y), E(y,z)` gives ("right-linear", E(y,z)), and `P(x,z) :- E(x,y), P(y,z)` gives
    ("left-linear", E(x,y)). E must not be of the same stratum, whose predicates are `own`; it may be
    inverted: `P(x,z) :- P(x,y), E(z,y)`.
    """
    head = clause.head.predicate
    found = _chain(clause, inverted=True)
    if found is None:
        return None
    first, second = found
    if first.predicate == head and second.predicate not in own:
        return "right-linear", second
    if second.predicate == head and first.predicate not in own:
        return "left-linear", first
    return None


def _binary(clause: Clause, atoms: int) -> tuple[Atom, ...] | None:
    """The body, if it has so many atoms and nothing else, and all atoms have arity two; else None."""
    plain = not clause.negations and not clause.comparisons and len(clause.atoms) == atoms
    return (
        clause.atoms if plain and all(a.predicate.arity == 2 for a in (clause.head, *clause.atoms)) else None
    )


def _distinct(atom: Atom) -> bool:
    x, y = atom.terms
    named = all(isinstance(t, Variable) and not t.anonymous for t in (x, y))
    return named and x != y


def _chain(clause: Clause, inverted: bool = False) -> tuple[Atom, Atom] | None:
    """The atoms of `H(x,z) :- A(x,y), B(y,z)` in this order; None if the clause is different.

    With `inverted`, an atom of another predicate than H may have its arguments inverted.
    """
    atoms = _binary(clause, 2)
    if atoms is None or not _distinct(clause.head) or not all(map(_distinct, atoms)):
        return None
    x, z = clause.head.terms
    for first, second in (atoms, atoms[::-1]):
        for a in _directions(first, clause, inverted):
            for b in _directions(second, clause, inverted):
                if a[0] == x and b[1] == z and a[1] == b[0] and a[1] not in (x, z):
                    return first, second
    return None


def _directions(atom: Atom, clause: Clause, inverted: bool) -> list[tuple[object, ...]]:
    other = inverted and atom.predicate != clause.head.predicate
    return [atom.terms, atom.terms[::-1]] if other else [atom.terms]
