"""Finds predicates by the names that users write, and makes names for SQL views."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import chain, count

from modulog.errors import QueryError
from modulog.language.function_calls import explain_call
from modulog.language.model import Predicate
from modulog.terms.python_values import IRI
from modulog.wording import arguments


def choose(known: Iterable[Predicate], name: str, arity: int | None = None) -> Predicate:
    """The known predicate with a name and, if given, an arity; a QueryError names similar ones if none."""
    known = list(known)
    found = [p for p in known if p.name == name]
    if arity is not None and (exact := [p for p in found if p.arity == arity]):
        return exact[0]
    if not found and (explained := explain_call(name)):
        raise QueryError("; ".join(explained))
    if not found:
        if "(" in name:
            raise QueryError(f"`{name}` is no name of a predicate; for the answers of a query use `query`")
        names = {p.name for p in known}
        iris = [n for n in names if re.split(r"[/#:]", n.strip("<>"))[-1] == name]
        near = sorted(iris)[:3] or get_close_matches(name, names, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise QueryError(f"there is no predicate {name}{hint}")
    if arity is not None or len(found) > 1:
        has = arguments(p.arity for p in found)
        raise QueryError(f"{name} has {has}" + ("" if arity is None else f", not {arity}"))
    return found[0]


def chosen(known: Iterable[Predicate], wanted: str | IRI | Predicate) -> Predicate:
    """The known predicate that a name, an IRI or a `Predicate` refers to; a QueryError if there is none."""
    if isinstance(wanted, Predicate):
        return choose(known, wanted.name, wanted.arity)
    return choose(known, f"<{wanted.value}>" if isinstance(wanted, IRI) else wanted)


def view_names(predicates: Iterable[Predicate]) -> Iterator[str]:
    """A different SQL name for each predicate: the last part of its IRI, perhaps with arity or number.

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
