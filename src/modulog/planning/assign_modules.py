"""The pass that assigns each recursive clause of a stratum to a module: a closure, hypertrees or seminaive.

If the clauses of one closure are all the recursion of a stratum, its module is `exact`: its external facts
are just those that nonrecursive clauses derive. Beside other recursive clauses, transitive and
symmetric-transitive modules work as in the modular paper. All other clauses of a stratum go to one module, so
that they are evaluated in the order of the program: the hypertree module if any of their bodies may be worth
decomposing, otherwise the seminaive one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from modulog.joins.decomposition_cost import may_be_decomposed
from modulog.language.model import Predicate
from modulog.planning.plan import Clause, ModulePlan, Stratum
from modulog.planning.recognise_closures import is_symmetric, is_transitive, linear_graph, reflexive_end


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
    for predicate in stratum.predicates:
        taken = _closure_clauses(predicate, remaining)
        if taken:
            kind = "symmetric" if any(map(is_symmetric, taken)) else "transitive"
            modules.append(ModulePlan(kind, taken))
            remaining = [c for c in remaining if c not in taken]
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


def _closure_clauses(predicate: Predicate, clauses: list[Clause]) -> tuple[Clause, ...]:
    """The clauses that make a predicate transitive and perhaps symmetric; empty if it is not transitive."""
    own = [c for c in clauses if c.head.predicate == predicate]
    transitive = [c for c in own if is_transitive(c)]
    return (*transitive, *(c for c in own if is_symmetric(c))) if transitive else ()
