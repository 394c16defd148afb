"""Pass 3: the finest strata, one for each strongly connected component of the predicate graph, dependencies first."""

from __future__ import annotations

from collections.abc import Iterable

from modulog.language.graph import components
from modulog.language.model import Predicate
from modulog.planning.plan import Clause, Stratum


def stratify(clauses: tuple[Clause, ...], collapsed: Iterable[Predicate] = ()) -> tuple[Stratum, ...]:
    """The strata that derive something; predicates without rules belong to none, unless others collapsed into them."""
    by_head: dict[Predicate, list[Clause]] = {}
    edges: dict[Predicate, set[Predicate]] = {predicate: set() for predicate in collapsed}
    gathering = set(edges)
    for clause in clauses:
        by_head.setdefault(clause.head.predicate, []).append(clause)
        below = {a.predicate for a in (*clause.atoms, *clause.negations)}
        edges.setdefault(clause.head.predicate, set()).update(below)
        for predicate in below:
            edges.setdefault(predicate, set())
    strata = []
    for component in components(edges, edges):
        own = set(component)
        rules = [c for p in sorted(own) for c in by_head.get(p, ())]
        if rules or own & gathering:
            recursive = tuple(c for c in rules if any(a.predicate in own for a in c.atoms))
            entry = tuple(c for c in rules if c not in set(recursive))
            strata.append(Stratum(tuple(sorted(own)), entry, recursive))
    return tuple(strata)
