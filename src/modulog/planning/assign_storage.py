"""The pass that decides which predicates may be stored in a compact form instead of as a list of all facts.

A closure that is the only recursion of its stratum can be stored as its edges; so can one beside other
recursive clauses, but then an update computes the stratum again. A predicate without recursion that copies or
inverts others can be a view of them; `find_views` has arranged that such a predicate has no other clauses.
With "auto" the engine decides when it knows the facts; with "compact" all these are stored in the compact
form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from modulog.engines.schemes import REPRESENTABLE, Kind, Listing, Scheme
from modulog.language.model import Predicate
from modulog.planning.plan import Link, ModulePlan, Stratum

LISTINGS: Mapping[str, Listing] = {"compact": "never", "auto": "auto", "plain": "always"}
"""Whether facts are listed, by the switch `storage`."""


def assign_storage(
    strata: tuple[Stratum, ...],
    views: Mapping[Predicate, tuple[Link, ...]],
    storage: str,
    represents: frozenset[str] = REPRESENTABLE,
) -> tuple[Stratum, ...]:
    """The strata with a storage scheme for each predicate; `represents` are the kinds that the engine has."""
    assigned = (_assigned(stratum, views, LISTINGS[storage]) for stratum in strata)
    return tuple(new if _kind(new) in represents else old for old, new in zip(strata, assigned, strict=True))


def _kind(stratum: Stratum) -> str:
    """The kind of compact storage that a stratum uses, as in `REPRESENTABLE`."""
    return "views" if stratum.view else "closures" if stratum.closure is not None else "shared closures"


def _assigned(stratum: Stratum, views: Mapping[Predicate, tuple[Link, ...]], listing: Listing) -> Stratum:
    """The stratum with the most compact schemes that are possible; `listing` says whether facts are listed."""
    closure, view = stratum.closure, views.get(stratum.predicates[0])
    if closure is None and listing == "always":
        return stratum
    if closure is not None:
        return replace(stratum, schemes={stratum.predicates[0]: Scheme(kind_of(closure), listing)})
    if view is not None and len(stratum.predicates) == 1 and not stratum.recursive:
        return replace(stratum, schemes={stratum.predicates[0]: Scheme("view", listing)}, view=view)
    kinds: dict[str, Kind] = {"transitive": "closure", "symmetric": "components"}
    shared = [(m.clauses[0].head.predicate, kinds[m.kind]) for m in stratum.modules if m.kind in kinds]
    return replace(stratum, schemes={p: Scheme(kind, listing, shared=True) for p, kind in shared})


def kind_of(closure: ModulePlan) -> Kind:
    """The kind of scheme that stores a closure."""
    if closure.kind == "symmetric":
        return "components"
    if closure.kind == "transitive":
        # One reflexive at one end follows from seeds: external facts, and that end of each with itself.
        kinds: tuple[Kind, Kind, Kind] = ("closure", "right-linear", "reflexive closure")
        return kinds[len(closure.reflexive)]
    return "left-linear" if closure.kind == "left-linear" else "right-linear"
