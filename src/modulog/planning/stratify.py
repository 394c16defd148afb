"""The pass that divides clauses into strata: the strongly connected components of the predicate graph.

These are the finest strata possible; each comes after those that it depends on.
"""

from __future__ import annotations

from collections.abc import Iterable

from modulog.language.dependency_graph import components
from modulog.language.model import Predicate
from modulog.planning.plan import Clause, Stratum


def stratify(clauses: tuple[Clause, ...], without_rules: Iterable[Predicate] = ()) -> tuple[Stratum, ...]:
    """The strata of the clauses; predicates without clauses have none, except those of `without_rules`.

    These are representatives of merged predicates and hidden predicates of views. They may have explicit
    facts that other predicates read, so they need a stratum of their own.
    """
    by_head: dict[Predicate, list[Clause]] = {}
    for clause in clauses:
        by_head.setdefault(clause.head.predicate, []).append(clause)
    always = set(without_rules)
    edges = predicate_graph(clauses, without_rules)
    strata = []
    for component in components(edges, edges):
        own = set(component)
        rules = [c for p in sorted(own) for c in by_head.get(p, ())]
        if rules or own & always:
            recursive = tuple(c for c in rules if any(a.predicate in own for a in c.atoms))
            entry = tuple(c for c in rules if not any(a.predicate in own for a in c.atoms))
            strata.append(Stratum(tuple(sorted(own)), entry, recursive))
    return tuple(strata)


def predicate_graph(
    clauses: Iterable[Clause], predicates: Iterable[Predicate] = ()
) -> dict[Predicate, set[Predicate]]:
    """For each predicate of the clauses those that its clauses read; `predicates` are in the graph anyway."""
    edges: dict[Predicate, set[Predicate]] = {predicate: set() for predicate in predicates}
    for clause in clauses:
        reads = clause.reads
        edges.setdefault(clause.head.predicate, set()).update(reads)
        for predicate in reads:
            edges.setdefault(predicate, set())
    return edges


def stages(strata: tuple[Stratum, ...]) -> list[tuple[Stratum, ...]]:
    """The strata in groups that can be evaluated at once: each group depends only on earlier ones."""
    level: dict[Predicate, int] = {}
    found: list[list[Stratum]] = []
    for stratum in strata:
        own = max((level[p] + 1 for p in stratum.below if p in level), default=0)
        level.update(dict.fromkeys(stratum.predicates, own))
        found.extend([] for _ in range(own + 1 - len(found)))
        found[own].append(stratum)
    return [tuple(stage) for stage in found]
