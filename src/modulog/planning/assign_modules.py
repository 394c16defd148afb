"""The pass that assigns each recursive clause of a stratum to a module: a closure, hypertrees or seminaive.

If the clauses of one closure are all the recursion of a stratum, its module is `exact`: its external facts
are just those that nonrecursive clauses derive. Beside other recursive clauses, transitive and
symmetric-transitive modules work as in the modular paper. All other clauses of a stratum go to one module, so
that they are evaluated in the order of the program: the hypertree module if any of their bodies may be worth
decomposing, otherwise the seminaive one.

Clauses of closures are recognised whatever the names of their variables and the order of their atoms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

from modulog.joins.hypergraph import may_be_decomposed
from modulog.language.model import Atom, Predicate, Variable
from modulog.planning.plan import Clause, ModulePlan, Stratum


def assign_modules(
    strata: tuple[Stratum, ...], closures: bool = True, decompose: str = "off"
) -> tuple[Stratum, ...]:
    """The strata with their modules, which divide the recursive clauses; without `closures`, no closures."""
    marked = (replace(s, decompose=decompose) for s in strata)
    return tuple(_assigned(s, closures) if s.recursive else s for s in marked)


def _assigned(stratum: Stratum, closures: bool) -> Stratum:
    """A recursive stratum with its modules."""
    if not closures:
        return replace(stratum, modules=_without_closures(stratum.recursive, stratum.decompose))
    closure = _only_closure(stratum)
    if closure is not None:
        return replace(stratum, modules=(closure,))
    modules, remaining = [], list(stratum.recursive)
    for predicate, recognise in product(stratum.predicates, RECOGNISERS):
        if (module := recognise(predicate, remaining)) is not None:
            modules.append(module)
            remaining = [c for c in remaining if c not in module.clauses]
    return replace(stratum, modules=(*modules, *_without_closures(remaining, stratum.decompose)))


def _without_closures(clauses: Sequence[Clause], decompose: str) -> tuple[ModulePlan, ...]:
    """The module of the clauses that belong to no closure; an empty tuple if there are no such clauses."""
    kind = "hypertree" if any(may_be_decomposed(c, decompose) for c in clauses) else "seminaive"
    return (ModulePlan(kind, tuple(clauses)),) if clauses else ()


def _only_closure(stratum: Stratum) -> ModulePlan | None:
    """The module for a stratum whose only recursion is one closure; None for other strata."""
    if len(stratum.predicates) != 1:
        return None
    (predicate,), clauses = stratum.predicates, stratum.recursive
    ends = frozenset(end for c in clauses if (end := reflexive_end(c)) is not None)
    core = [c for c in clauses if reflexive_end(c) is None]
    if taken := _closure_clauses(predicate, core):
        if len(taken) == len(core):
            kind = "symmetric" if any(map(is_symmetric, core)) else "transitive"
            return ModulePlan(kind, clauses, exact=True, reflexive=ends)
    elif len(core) == 1 and not ends and (found := linear_graph(core[0], stratum.predicates)):
        return ModulePlan(found[0], clauses, exact=True, graph=found[1])
    return None


def shared_closure(predicate: Predicate, clauses: Sequence[Clause]) -> ModulePlan | None:
    """The module for a transitive or symmetric-transitive predicate beside other recursive clauses."""
    taken = _closure_clauses(predicate, clauses)
    kind = "symmetric" if any(map(is_symmetric, taken)) else "transitive"
    return ModulePlan(kind, taken) if taken else None


RECOGNISERS: list[Callable[[Predicate, Sequence[Clause]], ModulePlan | None]] = [shared_closure]
"""Functions that find, for a predicate, the clauses of a module among recursive ones; None if there are none."""


def _closure_clauses(predicate: Predicate, clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """The clauses that make a predicate transitive and perhaps symmetric; empty if it is not transitive."""
    own = [c for c in clauses if c.head.predicate == predicate]
    transitive = [c for c in own if is_transitive(c)]
    return (*transitive, *(c for c in own if is_symmetric(c))) if transitive else ()


# ---- Clauses of closures


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
