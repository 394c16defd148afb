"""What an update changed: net additions and deletions by predicate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from modulog.engines.backend import Backend
from modulog.engines.protocol import Table
from modulog.language.model import Predicate
from modulog.maintenance.statistics import UpdateStatistics
from modulog.maintenance.update import NetChange
from modulog.planning.plan import Link


@dataclass(slots=True)
class Change:
    """The net change of an update: what has come and what has gone, explicit or derived, by predicate.

    >>> from modulog import Reasoner
    >>> r = Reasoner("p(?x) :- e(?x, ?y) . e(a, b) . e(a, c) . e(b, c) .")
    >>> change = r.update(delete={"e": [("a", "b"), ("b", "c")]})
    >>> change.deleted, change.rows("p", deleted=True)
    ({'e': 2, 'p': 1}, [('b',)])
    """

    added: dict[str, int]
    deleted: dict[str, int]
    ignored: int  # facts to delete that were not explicit
    statistics: UpdateStatistics = field(repr=False)
    read: Callable[[str, bool], Iterator[tuple[Any, ...]]] = field(repr=False)

    def rows(self, predicate: str, *, deleted: bool = False) -> list[tuple[Any, ...]]:
        """The facts of a predicate that were added, or deleted, until the next update."""
        return list(self.read(predicate, deleted))

    def __bool__(self) -> bool:
        return bool(self.added or self.deleted)


def change_of(
    net: NetChange, links: Mapping[Predicate, Link], named: Callable[[str], Predicate], backend: Backend
) -> Change:
    """The net change in the user's predicates, which may be views of others."""

    def counts(tables: Mapping[Predicate, Table]) -> dict[str, int]:
        found: dict[str, int] = {}
        for predicate, link in links.items():
            if (table := tables.get(link.representative)) is not None:
                found[predicate.name] = found.get(predicate.name, 0) + len(table)
        return found

    def rows(name: str, deleted: bool) -> Iterator[tuple[Any, ...]]:
        link, tables = links[named(name)], net.gone if deleted else net.come
        if link.representative not in tables:
            return iter(())
        return backend.rows([tables[link.representative]], [f"c{place}" for place in link.places])

    return Change(counts(net.come), counts(net.gone), net.ignored, net.statistics, rows)
