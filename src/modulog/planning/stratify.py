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
            recursive = [any(a.predicate in own for a in clause.atoms) for clause in rules]
            entry = tuple(c for c, is_recursive in zip(rules, recursive, strict=True) if not is_recursive)
            rest = tuple(c for c, is_recursive in zip(rules, recursive, strict=True) if is_recursive)
            strata.append(Stratum(tuple(sorted(own)), entry, rest))
    return tuple(strata)


def stages(strata: tuple[Stratum, ...]) -> list[tuple[Stratum, ...]]:
    """Strata that do not depend on each other, together: each stage needs only the stages before it."""
    level: dict[Predicate, int] = {}
    found: list[list[Stratum]] = []
    for stratum in strata:
        clauses = (*stratum.entry, *stratum.recursive)
        below = {a.predicate for c in clauses for a in (*c.atoms, *c.negations)} - set(stratum.predicates)
        own = max((level[p] + 1 for p in below if p in level), default=0)
        level.update(dict.fromkeys(stratum.predicates, own))
        found.extend([] for _ in range(own + 1 - len(found)))
        found[own].append(stratum)
    return [tuple(stage) for stage in found]
