"""What an update changed: net additions and deletions by predicate."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from modulog.engines.backend import Backend, Signed
from modulog.engines.protocol import Table
from modulog.language.model import Predicate
from modulog.maintenance.update import NetChange
from modulog.planning.plan import Link


class Change:
    """The net change of an update: what has come and what has gone, explicit or derived, by predicate.

    It is counted when it is asked for: where facts are represented there may be a great many. Of the facts to delete, `ignored` were not there,
    and `still_derived` are there still, because rules derive them: only explicit facts can be deleted.

    >>> from modulog import Reasoner
    >>> r = Reasoner("p(?x) :- e(?x, ?y) . e(a, b) . e(a, c) . e(b, c) .")
    >>> change = r.update(delete={"e": [("a", "b"), ("b", "c")]})
    >>> change.deleted, change.rows("p", deleted=True)
    ({'e': 2, 'p': 1}, [('b',)])
    >>> r.update(delete={"p": [("a",), ("z",)]})
    Change(added={}, deleted={}, ignored=1, still_derived=1)
    """

    def __init__(
        self,
        net: NetChange,
        count: Callable[[Mapping[Predicate, Table]], dict[str, int]],
        read: Callable[[str, bool], Iterator[tuple[Any, ...]]],
        signed: Callable[[], list[Signed]],
        backend: Backend,
    ) -> None:
        self.ignored = net.ignored
        self.still_derived = net.still_derived
        self.statistics = net.statistics
        self._net, self._count, self._read = net, count, read
        self._signed, self._backend = signed, backend

    @cached_property
    def added(self) -> dict[str, int]:
        """How many facts have come, by predicate."""
        return self._count(self._net.come)

    @cached_property
    def deleted(self) -> dict[str, int]:
        """How many facts have gone, by predicate."""
        return self._count(self._net.gone)

    def rows(self, predicate: str, *, deleted: bool = False) -> list[tuple[Any, ...]]:
        """The facts of a predicate that were added, or deleted, until the next update."""
        return list(self._read(predicate, deleted))

    def dataframe(self) -> Any:
        """On Spark, the whole change until the next update: predicate, sign (1 has come, -1 has gone) and terms, in Turtle form."""
        return self._backend.signed_dataframe(self._signed())

    def write(self, folder: str | os.PathLike[str]) -> None:
        """On Spark, write what `dataframe` has as Parquet into a new folder of this machine."""
        self._backend.write_signed(self._signed(), Path(folder))

    def __bool__(self) -> bool:
        return bool(self._net.come or self._net.gone)

    def __repr__(self) -> str:
        counts = f"ignored={self.ignored}, still_derived={self.still_derived}"
        return f"Change(added={self.added}, deleted={self.deleted}, {counts})"


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

    def signed() -> list[Signed]:
        return [
            Signed(predicate.name, sign, tables[link.representative], [f"c{place}" for place in link.places])
            for sign, tables in ((1, net.come), (-1, net.gone))
            for predicate, link in links.items()
            if link.representative in tables
        ]

    return Change(net, counts, rows, signed, backend)
