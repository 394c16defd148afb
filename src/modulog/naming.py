"""Names of predicates: found as a user writes them, and as names of views."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import chain, count

from modulog.errors import QueryError
from modulog.language.function_names import explain_call
from modulog.language.model import Predicate
from modulog.terms.python import IRI
from modulog.wording import arguments


def choose(known: Iterable[Predicate], name: str, arity: int | None = None) -> Predicate:
    """The predicate of a name and, if one is given, an arity; an error names the nearest ones."""
    known = list(known)
    found = [p for p in known if p.name == name]
    if arity is not None and (exact := [p for p in found if p.arity == arity]):
        return exact[0]
    if not found and (said := explain_call(name)):
        raise QueryError("; ".join(said))
    if not found:
        near = get_close_matches(name, {p.name for p in known}, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise QueryError(f"there is no predicate {name}{hint}")
    if arity is not None or len(found) > 1:
        has = arguments(p.arity for p in found)
        raise QueryError(f"{name} has {has}" + ("" if arity is None else f", not {arity}"))
    return found[0]


def chosen(known: Iterable[Predicate], wanted: str | IRI | Predicate) -> Predicate:
    """The predicate that somebody means."""
    if isinstance(wanted, Predicate):
        return choose(known, wanted.name, wanted.arity)
    return choose(known, f"<{wanted.value}>" if isinstance(wanted, IRI) else wanted)


def view_names(predicates: Iterable[Predicate]) -> Iterator[str]:
    """A name for each predicate that SQL takes: an IRI becomes its last part; where two would be the same, the arity or a number follows.

    >>> list(view_names([Predicate("<http://e.org/p>", 1), Predicate("p", 2)]))
    ['p', 'p_2']
    """
    taken: set[str] = set()
    for predicate in predicates:
        short = re.sub(r"\W+", "_", re.split(r"[/#:]", predicate.name.strip("<>"))[-1]) or "_"
        options = chain([short, f"{short}_{predicate.arity}"], (f"{short}_{n}" for n in count(10)))
        name = next(name for name in options if name.lower() not in taken)
        taken.add(name.lower())
        yield name
