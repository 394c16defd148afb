"""The pass that merges equivalent predicates into one.

A rule with one body atom, whose two atoms have the same distinct variables and nothing else, *links* two
predicates: `B(?y, ?x) :- A(?x, ?y)`. Predicates that link each other in a cycle have the same facts up to a
permutation of the arguments. One of them becomes the representative: all rules are rewritten to it, and the
others are read from it. A link whose two sides become the same atom is dropped; any other becomes a symmetry
of the representative.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from modulog.language.dependency_graph import components
from modulog.language.model import Atom, Predicate, Variable
from modulog.planning.plan import Clause, Link

Permutation = tuple[int, ...]


def collapse(clauses: tuple[Clause, ...]) -> tuple[tuple[Clause, ...], dict[Predicate, Link]]:
    """The clauses with only representatives, and the link of each merged predicate to its representative."""
    linking = [(clause, p) for clause in clauses if (p := link_of(clause)) is not None]
    links: dict[Predicate, Link] = {}
    for members in _classes(clause for clause, _ in linking):
        links.update(
            _represent(
                members, [(c, p) for c, p in linking if {c.head.predicate, c.atoms[0].predicate} <= members]
            )
        )
    if not links:
        return clauses, {}
    rewritten = (_rewrite(clause, links) for clause in clauses)
    return tuple(dict.fromkeys(c for c in rewritten if c.head not in c.atoms)), links


def link_of(clause: Clause) -> Permutation | None:
    """The position in the head of each argument of the body, if the clause links two predicates; or None."""
    if len(clause.atoms) != 1 or clause.negations or clause.comparisons:
        return None
    head, body = clause.head.terms, clause.atoms[0].terms
    names = set(clause.atoms[0].variables())
    if len(head) != len(body) or len(names) != len(body) or set(clause.head.variables()) != names:
        return None
    return tuple(head.index(t) for t in body)


def _classes(clauses: Iterable[Clause]) -> list[set[Predicate]]:
    """The sets of predicates that link each other in cycles."""
    edges: dict[Predicate, set[Predicate]] = {}
    for clause in clauses:
        edges.setdefault(clause.head.predicate, set()).add(clause.atoms[0].predicate)
        edges.setdefault(clause.atoms[0].predicate, set())
    return [set(c) for c in components(edges, edges) if len(c) > 1]


def _represent(members: set[Predicate], linking: list[tuple[Clause, Permutation]]) -> dict[Predicate, Link]:
    """Links from all members to the least one, found by following the clauses from body to head.

    The members link each other in a cycle, so this direction alone reaches all of them.
    """
    representative = min(members)
    places: dict[Predicate, Permutation] = {representative: tuple(range(representative.arity))}
    while len(places) < len(members):
        for clause, stands in linking:
            head, body = clause.head.predicate, clause.atoms[0].predicate
            if body in places and head not in places:
                # Argument j of the body is argument stands[j] of the head
                # and argument places[body][j] of the representative.
                inverse = [0] * head.arity
                for j, at in enumerate(stands):
                    inverse[at] = places[body][j]
                places[head] = tuple(inverse)
    del places[representative]
    return {member: Link(representative, p) for member, p in places.items()}


def _rewrite(clause: Clause, links: dict[Predicate, Link]) -> Clause:
    return replace(
        clause,
        head=through(clause.head, links),
        atoms=tuple(dict.fromkeys(through(a, links) for a in clause.atoms)),
        negations=tuple(dict.fromkeys(through(a, links) for a in clause.negations)),
    )


def through(atom: Atom, links: dict[Predicate, Link]) -> Atom:
    """The atom with its predicate replaced by the representative, the arguments permuted accordingly."""
    link = links.get(atom.predicate)
    if link is None:
        return atom
    terms = [atom.terms[0] if atom.terms else Variable("_")] * len(atom.terms)
    for j, place in enumerate(link.places):
        terms[place] = atom.terms[j]
    return Atom(link.representative, tuple(terms), atom.position)
