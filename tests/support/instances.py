"""The instances of prepared clauses over ids, and what modules keep, read into Python sets: to check what maintenance remembers.

Clauses are read as data; how they are joined here shares nothing with the package.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from support.relation_reads import scan

Fact = tuple[int, ...]


def facts_of(relation: Any, version: str = "all") -> set[Fact]:
    """The facts of a relation, as tuples of ids."""
    names = tuple(f"c{j}" for j in range(relation.arity))
    return {row for table in scan(relation, names, version) for row in rows_of(table)}


def rows_of(table: Any) -> list[Fact]:
    """The rows of a table; one without columns has empty rows."""
    if not table.columns:
        return [()] * len(table)
    columns = [
        [v for b in table.batches() for v in b.column(j).to_pylist()] for j in range(len(table.columns))
    ]
    return list(zip(*columns, strict=True))


def counts_of(counters: Any) -> Counter[Fact]:
    """The numbers of counters that are not zero."""
    found: Counter[Fact] = Counter()
    for table in counters.items():
        numbers = [n for b in table.batches() for n in b.column("#").to_pylist()]
        for row, number in zip(rows_of(table), numbers, strict=True):
            found[row] += number
    return found


def heads(clauses: Iterable[Any], facts: Any = facts_of) -> Counter[Fact]:
    """How many instances of prepared clauses have each head; `facts` gives the facts of a relation."""
    found: Counter[Fact] = Counter()
    for clause in clauses:
        assert not clause.conditions, "comparisons need values"
        ways: list[dict[str, int]] = [{}]
        for atom in clause.atoms:
            rows = facts(atom.relation)
            ways = [new for way in ways for row in rows if (new := match(atom.args, row, way)) is not None]
        for way in ways:
            if not any(
                match(n.args, row, way) is not None for n in clause.negations for row in facts(n.relation)
            ):
                found[tuple(way[a] if isinstance(a, str) else a for a in clause.head)] += 1
    return found


def match(args: Any, row: Fact, way: dict[str, int]) -> dict[str, int] | None:
    """The way extended so that the arguments are the row; None if they cannot be."""
    new = dict(way)
    for a, v in zip(args, row, strict=True):
        if a is not None and (new.setdefault(a, v) if isinstance(a, str) else a) != v:
            return None
    return new


def transitive(pairs: Iterable[Fact]) -> set[Fact]:
    """The transitive closure of a relation."""
    found, following = set(pairs), defaultdict(set)
    for a, b in found:
        following[a].add(b)
    wave = set(found)
    while wave:
        wave = {(a, c) for a, b in wave for c in following[b]} - found
        found |= wave
    return found


def closed(start: Iterable[Fact], relation: Any, clauses: Sequence[Any]) -> set[Fact]:
    """The least set that has the given facts of a relation and everything that clauses derive for it."""
    found, before = set(start), -1
    others: dict[int, set[Fact]] = {}

    def facts(read: Any) -> set[Fact]:
        if read is relation:
            return found
        if id(read) not in others:
            others[id(read)] = facts_of(read)
        return others[id(read)]

    while len(found) > before:
        before = len(found)
        found = found | set(heads(clauses, facts))
    return found
