"""Pass 4: which kind of module handles which recursive clauses of a stratum.

A closure that is alone in its stratum is kept exactly: its external facts are the nonrecursively derived ones. Beside other recursive
clauses, transitive and symmetric-transitive modules work as in the modular paper. Bodies that may be worth decomposing go to the hypertree module; everything
else is seminaive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from modulog.language.model import Predicate
from modulog.planning.plan import Clause, ModulePlan, Stratum
from modulog.planning.recognise import is_symmetric, is_transitive, linear_graph, reflexive_end
from modulog.planning.worth import may_be_decomposed


def assign_modules(
    strata: tuple[Stratum, ...], closures: bool = True, decompose: str = "off"
) -> tuple[Stratum, ...]:
    """Give every recursive clause to one module; without `closures` none goes to a closure."""
    marked = (replace(s, decompose=decompose) for s in strata)
    return tuple(_assigned(s, closures) if s.recursive else s for s in marked)


def _assigned(stratum: Stratum, closures: bool) -> Stratum:
    if not closures:
        return replace(stratum, modules=_others(stratum.recursive, stratum.decompose))
    alone = _alone(stratum)
    if alone is not None:
        return replace(stratum, modules=(alone,))
    modules, rest = [], list(stratum.recursive)
    for predicate in stratum.predicates:
        taken = _closure_clauses(predicate, rest)
        if taken:
            kind = "symmetric" if any(map(is_symmetric, taken)) else "transitive"
            modules.append(ModulePlan(kind, taken))
            rest = [c for c in rest if c not in taken]
    return replace(stratum, modules=(*modules, *_others(rest, stratum.decompose)))


def _others(clauses: Sequence[Clause], decompose: str) -> tuple[ModulePlan, ...]:
    """The modules of clauses that belong to no closure."""
    trees = tuple(c for c in clauses if may_be_decomposed(c, decompose))
    plain = tuple(c for c in clauses if c not in trees)
    kinds = {"hypertree": trees, "seminaive": plain}
    return tuple(ModulePlan(kind, taken) for kind, taken in kinds.items() if taken)


def _alone(stratum: Stratum) -> ModulePlan | None:
    """The closure that is all the recursion of a stratum."""
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
    """The clauses that make a predicate transitive, and perhaps symmetric; none if it is not transitive."""
    own = [c for c in clauses if c.head.predicate == predicate]
    transitive = [c for c in own if is_transitive(c)]
    return (*transitive, *(c for c in own if is_symmetric(c))) if transitive else ()
