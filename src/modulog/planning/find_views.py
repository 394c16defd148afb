"""Pass 3: unions and inverses become views.

`U(?x, ?y) :- A(?x, ?y)` and `U(?y, ?x) :- B(?x, ?y)` make U a view of A and B⁻¹. What else is known of U, by other clauses or as explicit facts, are the
facts of a hidden predicate `U°own`, a further part of the view. Where U feeds a clause that leads back to one of its parts, the clause reads the parts in
U's place: the view is then no part of the recursion, and a fact of it cannot be its own support.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from modulog.language.graph import components
from modulog.language.model import Atom, Predicate, Rule, Variable
from modulog.planning.collapse import link_of
from modulog.planning.plan import Clause, Link
from modulog.planning.recognise import is_transitive, linear_graph

MOST = 32  # clauses that one clause may become when it reads the parts of views
OWN = "°own"

Views = dict[Predicate, tuple[Link, ...]]


def find_views(
    clauses: tuple[Clause, ...], everywhere: bool
) -> tuple[tuple[Clause, ...], Views, dict[Predicate, Predicate]]:
    """The clauses with views, their parts, and whose own facts each hidden predicate has.

    Unless `everywhere`, only over closures, or views of them: reading a view costs more than reading a list, and saves nothing where
    the parts are listed.
    """
    chosen = _chosen(clauses, everywhere)
    while True:
        views = {u: _parts(u, clauses) for u in chosen}
        found = _with_views(clauses, views)
        if isinstance(found, tuple):
            return found, views, {own(u): u for u in chosen}
        chosen = [u for u in chosen if u != found]


def own(predicate: Predicate) -> Predicate:
    """The hidden predicate of a view's own facts."""
    return Predicate(predicate.name + OWN, predicate.arity)


def _chosen(clauses: Sequence[Clause], everywhere: bool) -> list[Predicate]:
    sources: dict[Predicate, set[Predicate]] = {}
    barred: set[Predicate] = set()
    closures: set[Predicate] = set()
    for clause in clauses:
        head = clause.head.predicate
        if any(atom.predicate == head for atom in clause.atoms):
            barred.add(head)  # recursive by itself: perhaps a closure
        if is_transitive(clause) or linear_graph(clause, (head,)):
            closures.add(head)
        if (source := _source(clause)) is not None:
            sources.setdefault(head, set()).add(source)
    candidates = {u: parts for u, parts in sources.items() if u not in barred and u.arity == 2}
    if everywhere:
        return sorted(candidates)
    chosen: set[Predicate] = set()
    while more := {u for u, parts in candidates.items() if u not in chosen and parts & (closures | chosen)}:
        chosen |= more
    return sorted(chosen)


def _source(clause: Clause) -> Predicate | None:
    """What a clause copies or turns round."""
    if link_of(clause) is None or clause.atoms[0].predicate == clause.head.predicate:
        return None
    return clause.atoms[0].predicate


def _parts(predicate: Predicate, clauses: Sequence[Clause]) -> tuple[Link, ...]:
    """The parts of a view, its own facts last; argument j of a pair is argument places[j] of the part."""
    found = []
    for clause in clauses:
        if clause.head.predicate == predicate and _source(clause) is not None:
            places = tuple(clause.atoms[0].terms.index(t) for t in clause.head.terms)
            found.append(Link(clause.atoms[0].predicate, places))
    return (*dict.fromkeys(found), Link(own(predicate), (0, 1)))


def _with_views(clauses: Sequence[Clause], views: Views) -> tuple[Clause, ...] | Predicate:
    """The clauses with views, or a view that would make too many of one."""
    member = _recursion(clauses)
    result: list[Clause] = []
    for clause in clauses:
        head = clause.head.predicate
        if head in views and _source(clause) is None:
            clause = replace(clause, head=replace(clause.head, predicate=own(head)))
        elif head in views:
            result.append(clause)
            continue
        inside = [
            a.predicate for a in clause.atoms if a.predicate in views and member[a.predicate] == member[head]
        ]
        unfolded = list(_unfolded(clause, member[head], member, views))
        if len(unfolded) > MOST:
            return inside[0]
        result += unfolded
    result += [_copy(u) for u in views]
    return tuple(dict.fromkeys(result))


def _copy(predicate: Predicate) -> Clause:
    """What a view's own facts add to it."""
    x, y = Variable("x"), Variable("y")
    head, body = Atom(predicate, (x, y)), Atom(own(predicate), (x, y))
    return Clause(head, (body,), (), (), Rule((head,), (body,)))


def _recursion(clauses: Sequence[Clause]) -> dict[Predicate, int]:
    """For each predicate the number of its component in the predicate graph."""
    edges: dict[Predicate, set[Predicate]] = {}
    for clause in clauses:
        below = {a.predicate for a in (*clause.atoms, *clause.negations)}
        edges.setdefault(clause.head.predicate, set()).update(below)
        for predicate in below:
            edges.setdefault(predicate, set())
    return {p: number for number, component in enumerate(components(edges, edges)) for p in component}


def _unfolded(clause: Clause, inside: int, member: dict[Predicate, int], views: Views) -> Iterator[Clause]:
    """The clause over the parts of the views that it is recursive with; what derives nothing new is left out."""
    choices = [_choices(atom, inside, member, views) for atom in clause.atoms]
    number = 1
    for options in choices:
        number *= len(options)
    for atoms in product(*choices) if number <= MOST else [clause.atoms] * (MOST + 1):
        if clause.head not in atoms:
            yield replace(clause, atoms=tuple(dict.fromkeys(atoms)))


def _choices(atom: Atom, inside: int, member: dict[Predicate, int], views: Views) -> list[Atom]:
    if atom.predicate not in views or member[atom.predicate] != inside:
        return [atom]
    found = []
    for link in views[atom.predicate]:
        terms = [atom.terms[0]] * 2
        for j, place in enumerate(link.places):
            terms[place] = atom.terms[j]
        part = Atom(link.representative, tuple(terms), atom.position)
        deeper = link.representative in views and member.get(link.representative) == inside
        found += _choices(part, inside, member, views) if deeper else [part]
    return list(dict.fromkeys(found))
