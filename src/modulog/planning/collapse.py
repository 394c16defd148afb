"""Pass 2: equivalent predicates collapse into one.

A rule with one body atom, whose two atoms have the same distinct variables and nothing else, *links* two predicates: `B(?y, ?x) :- A(?x, ?y)`.
Predicates that link each other in a cycle hold the same facts up to a permutation of the arguments. One of them represents
all: every rule speaks of it, the others are read as views. A link whose two sides become the same atom says nothing more;
otherwise it remains as a symmetry of the representative.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from modulog.language.graph import components
from modulog.language.model import Atom, Predicate, Variable
from modulog.planning.plan import Clause, Link

Permutation = tuple[int, ...]


def collapse(clauses: tuple[Clause, ...]) -> tuple[tuple[Clause, ...], dict[Predicate, Link]]:
    """The clauses over representatives, and how every other member of a class reads its representative."""
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
    """Where each argument of the body atom stands in the head, if the clause links two predicates."""
    if len(clause.atoms) != 1 or clause.negations or clause.comparisons:
        return None
    head, body = clause.head.terms, clause.atoms[0].terms
    names = set(clause.atoms[0].variables())
    if len(head) != len(body) or len(names) != len(body) or set(clause.head.variables()) != names:
        return None
    return tuple(head.index(t) for t in body)


def _classes(clauses: Iterable[Clause]) -> list[set[Predicate]]:
    edges: dict[Predicate, set[Predicate]] = {}
    for clause in clauses:
        edges.setdefault(clause.head.predicate, set()).add(clause.atoms[0].predicate)
        edges.setdefault(clause.atoms[0].predicate, set())
    return [set(c) for c in components(edges, edges) if len(c) > 1]


def _represent(members: set[Predicate], linking: list[tuple[Clause, Permutation]]) -> dict[Predicate, Link]:
    """Walk the links from the least member; a cycle goes both ways, so one direction reaches all."""
    representative = min(members)
    places: dict[Predicate, Permutation] = {representative: tuple(range(representative.arity))}
    while len(places) < len(members):
        for clause, stands in linking:
            head, body = clause.head.predicate, clause.atoms[0].predicate
            if body in places and head not in places:
                # Argument j of the body is argument stands[j] of the head, and argument places[body][j] of the representative.
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
    """The atom of the representative that says the same."""
    link = links.get(atom.predicate)
    if link is None:
        return atom
    terms = [atom.terms[0] if atom.terms else Variable("_")] * len(atom.terms)
    for j, place in enumerate(link.places):
        terms[place] = atom.terms[j]
    return Atom(link.representative, tuple(terms), atom.position)
