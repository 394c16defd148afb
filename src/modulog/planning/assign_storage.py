"""The two passes that decide how predicates are stored: as lists of facts, or in a compact form.

`find_views` comes before strata are made: it turns unions and inverses into views, which are read from their
parts and not stored. `U(?x, ?y) :- A(?x, ?y)` and `U(?y, ?x) :- B(?x, ?y)` make U a view of A and B⁻¹. Facts
of U that come from other clauses, or are explicit, are stored in a hidden predicate `U°own`, which is a
further part of the view. Where a clause that reads U leads back, directly or not, to one of U's parts, the
clause is rewritten to read the parts in place of U: so the view is not recursive, and no fact of it can
support itself.

`assign_storage` comes last, and gives strata their storage schemes. A closure that is the only recursion of
its stratum can be stored as its edges; so can one beside other recursive clauses, but then an update computes
the stratum again. With "auto" the engine decides when it knows the facts; with "compact" everything that can
be is stored in the compact form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from modulog.engines.schemes import REPRESENTABLE, Kind, Listing, Scheme
from modulog.language.dependency_graph import components
from modulog.language.model import Atom, Predicate, Rule, Variable
from modulog.planning.assign_modules import is_transitive, linear_graph
from modulog.planning.merge_equivalent import link_of
from modulog.planning.plan import Clause, Link, ModulePlan, Stratum
from modulog.planning.stratify import predicate_graph

MOST = 32  # the most clauses that one clause may become by reading the parts of views in place of the views
OWN = "°own"  # what the name of a hidden predicate has after the name of its view

Views = dict[Predicate, tuple[Link, ...]]


def find_views(
    clauses: tuple[Clause, ...], everywhere: bool
) -> tuple[tuple[Clause, ...], Views, dict[Predicate, Predicate]]:
    """The rewritten clauses, the parts of each view, and for each hidden predicate its view.

    With `everywhere`, all unions and inverses become views; otherwise only those with a closure, or a view of
    one, as a part. Reading a view costs more than reading a list of facts, and saves no memory if the parts
    are lists.
    """
    chosen = _chosen(clauses, everywhere)
    while True:
        views = {u: _parts(u, clauses) for u in chosen}
        found = _with_views(clauses, views)
        if isinstance(found, tuple):
            return found, views, {own_predicate(u): u for u in chosen}
        chosen = [u for u in chosen if u != found]


def own_predicate(predicate: Predicate) -> Predicate:
    """The hidden predicate that stores the facts of a view that are in none of its parts."""
    return Predicate(predicate.name + OWN, predicate.arity)


def _chosen(clauses: Sequence[Clause], everywhere: bool) -> list[Predicate]:
    """The predicates that are to become views."""
    sources: dict[Predicate, set[Predicate]] = {}
    recursive: set[Predicate] = set()
    closures: set[Predicate] = set()
    for clause in clauses:
        head = clause.head.predicate
        if any(atom.predicate == head for atom in clause.atoms):
            recursive.add(head)  # perhaps a closure
        if is_transitive(clause) or linear_graph(clause, (head,)):
            closures.add(head)
        if (source := _source(clause)) is not None:
            sources.setdefault(head, set()).add(source)
    candidates = {u: parts for u, parts in sources.items() if u not in recursive and u.arity == 2}
    if everywhere:
        return sorted(candidates)
    chosen: set[Predicate] = set()
    while more := {u for u, parts in candidates.items() if u not in chosen and parts & (closures | chosen)}:
        chosen |= more
    return sorted(chosen)


def _source(clause: Clause) -> Predicate | None:
    """The predicate that a clause copies or inverts; None if it does something else."""
    if link_of(clause) is None or clause.atoms[0].predicate == clause.head.predicate:
        return None
    return clause.atoms[0].predicate


def _parts(predicate: Predicate, clauses: Sequence[Clause]) -> tuple[Link, ...]:
    """The parts of a view, the hidden predicate last; the view's argument j is argument places[j] of each."""
    found = []
    for clause in clauses:
        if clause.head.predicate == predicate and _source(clause) is not None:
            places = tuple(clause.atoms[0].terms.index(t) for t in clause.head.terms)
            found.append(Link(clause.atoms[0].predicate, places))
    return (*dict.fromkeys(found), Link(own_predicate(predicate), (0, 1)))


def _with_views(clauses: Sequence[Clause], views: Views) -> tuple[Clause, ...] | Predicate:
    """The clauses rewritten for the views; or a view that would turn one clause into more than `MOST`."""
    member = _recursion(clauses)
    result: list[Clause] = []
    for clause in clauses:
        head = clause.head.predicate
        if head in views and _source(clause) is None:
            clause = replace(clause, head=replace(clause.head, predicate=own_predicate(head)))
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
    """The clause by which a view has the facts of its hidden predicate."""
    x, y = Variable("x"), Variable("y")
    head, body = Atom(predicate, (x, y)), Atom(own_predicate(predicate), (x, y))
    return Clause(head, (body,), (), (), Rule((head,), (body,)))


def _recursion(clauses: Sequence[Clause]) -> dict[Predicate, int]:
    """For each predicate the number of its strongly connected component in the predicate graph."""
    edges = predicate_graph(clauses)
    return {p: number for number, component in enumerate(components(edges, edges)) for p in component}


def _unfolded(clause: Clause, inside: int, member: dict[Predicate, int], views: Views) -> Iterator[Clause]:
    """The clauses that read the parts of views in component `inside`, without those with head in the body.

    If there would be more than `MOST`, `MOST` + 1 clauses are returned, which the caller counts.
    """
    choices = [_replacements(atom, inside, member, views) for atom in clause.atoms]
    number = 1
    for options in choices:
        number *= len(options)
    for atoms in product(*choices) if number <= MOST else [clause.atoms] * (MOST + 1):
        if clause.head not in atoms:
            yield replace(clause, atoms=tuple(dict.fromkeys(atoms)))


def _replacements(atom: Atom, inside: int, member: dict[Predicate, int], views: Views) -> list[Atom]:
    """The atoms that may replace an atom: those of the parts, if it is of a view in component `inside`."""
    if atom.predicate not in views or member[atom.predicate] != inside:
        return [atom]
    found = []
    for link in views[atom.predicate]:
        terms = [atom.terms[0]] * 2
        for j, place in enumerate(link.places):
            terms[place] = atom.terms[j]
        part = Atom(link.representative, tuple(terms), atom.position)
        deeper = link.representative in views and member.get(link.representative) == inside
        found += _replacements(part, inside, member, views) if deeper else [part]
    return list(dict.fromkeys(found))


# ---- Storage schemes

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
    """The stratum with the most compact schemes that are possible; `listing` may ask for lists of facts."""
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
