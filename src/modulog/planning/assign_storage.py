"""Pass 5: which predicates may be kept without being listed.

A closure that is all the recursion of its stratum can be represented by its external facts; so can one beside other recursive clauses, but then the stratum
is computed again when something changes. A predicate without recursion that copies or turns
round others is a view; `find_views` has seen to it that such a predicate has no other clauses. With "auto" the engine decides once it
knows the facts; "compact" represents whatever can be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from modulog.engines.protocol import REPRESENTABLE
from modulog.language.model import Predicate
from modulog.planning.plan import Link, ModulePlan, Stratum


def assign_storage(
    strata: tuple[Stratum, ...],
    views: Mapping[Predicate, tuple[Link, ...]],
    storage: str,
    represents: frozenset[str] = REPRESENTABLE,
) -> tuple[Stratum, ...]:
    """Give every stratum its scheme, of those that the engine has."""
    if storage == "plain":
        return strata
    suffix = " auto" if storage == "auto" else ""
    assigned = (_assigned(stratum, views, suffix) for stratum in strata)
    return tuple(new if _kind(new) in represents else old for old, new in zip(strata, assigned, strict=True))


def _kind(stratum: Stratum) -> str:
    """What is represented there."""
    return "views" if stratum.view else "closures" if stratum.closure is not None else "shared closures"


def _assigned(stratum: Stratum, views: Mapping[Predicate, tuple[Link, ...]], suffix: str) -> Stratum:
    closure, view = stratum.closure, views.get(stratum.predicates[0])
    if closure is not None and (kind := scheme_of(closure)) is not None:
        return replace(stratum, schemes={stratum.predicates[0]: kind + suffix})
    if view is not None and len(stratum.predicates) == 1 and not stratum.recursive:
        return replace(stratum, schemes={stratum.predicates[0]: "view" + suffix}, view=view)
    if closure is None:
        kinds = {"transitive": "closure", "symmetric": "components"}
        shared = [(m.clauses[0].head.predicate, kinds[m.kind]) for m in stratum.modules if m.kind in kinds]
        return replace(stratum, schemes={p: f"{kind} shared{suffix}" for p, kind in shared})
    return stratum


def scheme_of(closure: ModulePlan) -> str | None:
    """The scheme that represents a closure; None if there is none, as for one that is reflexive at one end only."""
    if closure.kind == "symmetric":
        return "components"
    if closure.kind == "transitive":
        return {0: "closure", 2: "reflexive closure"}.get(len(closure.reflexive))
    return closure.kind
