"""A relation and its model side by side, changed together and compared."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from modulog.engines.local.relation import PlainRelation
from modulog.engines.relation import Relation
from support.relation_model import VERSIONS, Fact, Model
from support.relation_reads import scan, take_away

SMALL = list(range(4))
WIDE = [0, 1, 2, 300, 2**16 + 1, 2**24, 2**31 - 2]


class Pair:
    """A relation and its model, changed together and compared."""

    def __init__(self, relation: Relation, table: Callable[..., Any], ids: list[int], seed: int) -> None:
        self.relation, self.table, self.model = relation, table, Model()
        self.ids, self.random = ids, random.Random(seed)
        self.coming = False  # whether facts have come in the update since the last rest

    def facts(self, most: int = 8) -> list[Fact]:
        number = self.random.randint(0, most)
        return [tuple(self.random.choices(self.ids, k=self.relation.arity)) for _ in range(number)]

    def some_of(self, version: str) -> list[Fact]:
        there = sorted(self.model.version(version))
        return self.random.sample(there, self.random.randint(0, len(there)))

    def rows(self, facts: list[Fact]) -> Any:
        return self.table(facts, self.relation.arity)

    def schedule(self, facts: list[Fact], source: int = 1) -> None:
        self.relation.schedule(self.rows(facts), source)
        self.model.schedule(facts, source)

    def derive(self, leaving: bool = False) -> None:
        if self.model.sources or (leaving and not self.model.updating):
            return
        assert not (leaving and self.coming), "not a sequence that the contract allows"
        self.coming = self.model.updating and not leaving
        expected = self.model.derive(leaving)
        assert (self.relation.derive(leaving=True) if leaving else self.relation.derive()) == expected

    def merge(self) -> None:
        self.relation.merge()
        self.model.merge()

    def spare(self, facts: list[Fact]) -> None:
        if self.model.leaving:
            self.relation.spare(self.rows(facts))
            self.model.spare(facts)

    def rest(self) -> None:
        self.relation.rest()
        self.coming = False

    def begin(self) -> None:
        if not self.model.updating:
            self.relation.begin()
            self.model.begin()
            self.coming = False

    def retract(self, facts: list[Fact]) -> None:
        if self.model.updating and not self.model.leaving:
            self.coming = False
            take_away(self.relation, self.rows(facts))
            self.model.leave(facts)

    def end(self, name: str) -> None:
        if self.model.updating:
            getattr(self.relation, name)()
            getattr(self.model, name)()
            self.coming = False

    # ---- Comparing

    def check(self, versions: tuple[str, ...] = VERSIONS) -> None:
        for version in versions:
            self.check_version(version)

    def check_version(self, version: Any) -> None:
        relation, expected = self.relation, self.model.version(version)
        assert relation.size(version) == len(expected), f"size of {version}"
        assert self.scan((*(f"x{j}" for j in range(relation.arity)),), version) == Counter(expected), version
        asked = list(dict.fromkeys([*self.facts(), *sorted(expected)[:3]]))
        found = rows_of(relation.contains(self.rows(asked), version))
        assert found == Counter(fact for fact in asked if fact in expected), f"contains in {version}"
        args = self.pattern(expected)
        wanted = Counter(matched for fact in expected if (matched := match(args, fact)) is not None)
        assert self.scan(args, version) == wanted, f"{args} in {version}"
        self.check_estimate(version, expected)

    def check_estimate(self, version: Any, expected: set[Fact]) -> None:
        if max(self.ids) > 2**20 and self.random.random() < 0.95:
            return  # counting sparse ids is slow, and nothing else depends on it
        estimate = self.relation.estimate(version)
        assert len(estimate.distinct) == self.relation.arity
        assert estimate.rows == len(expected), f"estimate of {version}"
        assert all(min(1, len(expected)) <= d <= len(expected) for d in estimate.distinct), version
        places = tuple(j for j in range(self.relation.arity) if self.random.random() < 0.5)
        assert 0 <= self.relation.unsorted(places, version) <= estimate.rows

    def pattern(self, facts: set[Fact]) -> tuple[str | int | None, ...]:
        """Variables, perhaps repeated, constants that may or may not occur, and None."""
        likely = self.random.choice(sorted(facts)) if facts else (self.ids[0],) * self.relation.arity
        choices = [("x", "y", "z", None, likely[j], self.random.choice(self.ids)) for j in range(len(likely))]
        return tuple(map(self.random.choice, choices))

    def scan(self, args: Any, version: Any) -> Counter[Fact]:
        found: Counter[Fact] = Counter()
        every = tuple(f"_{j}" if a is None else a for j, a in enumerate(args))  # so that no row is dropped
        for table in scan(self.relation, every, version):
            for batch in table.batches():
                columns = [batch.column(name).to_pylist() for name in variables(args)]
                found.update(zip(*columns, strict=True) if columns else [()] * batch.num_rows)
        return found


def variables(args: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(a for a in args if isinstance(a, str)))


def match(args: tuple[Any, ...], fact: Fact) -> Fact | None:
    """The values of the variables, if the fact matches the arguments."""
    values: dict[str, int] = {}
    for a, value in zip(args, fact, strict=True):
        if a is not None and (values.setdefault(a, value) if isinstance(a, str) else a) != value:
            return None
    return tuple(values[v] for v in variables(args))


def rows_of(table: Any, columns: tuple[str, ...] | None = None) -> Counter[Fact]:
    """The rows of a table, each as often as it occurs."""
    names = table.columns if columns is None else columns
    assert set(names) == set(table.columns)
    found: Counter[Fact] = Counter()
    for batch in table.batches():
        arrays = [batch.column(name).to_pylist() for name in names]
        found.update(zip(*arrays, strict=True) if arrays else [()] * batch.num_rows)
    assert found.total() == len(table)
    return found


def weights_of(table: Any) -> Counter[Fact]:
    """The rows of a table with their multiplicities."""
    found: Counter[Fact] = Counter()
    for batch in table.batches():
        arrays = [batch.column(name).to_pylist() for name in table.columns]
        rows = zip(*arrays, strict=True) if arrays else [()] * batch.num_rows
        for row, weight in zip(rows, batch.column("#").to_pylist(), strict=True):
            found[row] += weight
    return found


def weighted(rows: Any, weights: list[int]) -> Any:
    """The same rows with multiplicities."""
    return replace(rows, weights=np.array(weights, np.int64))


UPDATES = st.lists(
    st.sampled_from(
        [
            *("schedule", "again", "round", "begin", "retract", "commit", "rollback"),
            *("leaving", "leaving", "spare", "rest", "bitmap"),
        ]
    ),
    max_size=25,
)


def bitmap(p: Pair) -> None:
    """Let a relation that can remove duplicates by a bitmap do so, as an engine would before it runs a rule."""
    if isinstance(p.relation, PlainRelation) and max(p.ids) < 2**10:
        p.relation.widen(((0, max(p.ids)),) * p.relation.arity)


def update(p: Pair, steps: list[str], versions: tuple[str, ...] = VERSIONS) -> None:
    """Random updates, in both directions, with a look at every version after each step."""
    for step in steps:
        match step:
            case "schedule":
                p.schedule(p.facts(), p.random.randint(-1, 3))
            case "again":
                p.schedule(sorted(p.model.gone)[:3])
            case "round":
                p.merge()
                p.derive()
            case "leaving":
                p.merge()
                if p.coming:  # what was scheduled was to come
                    p.derive()
                    p.merge()
                    p.rest()
                p.schedule([*p.facts(3), *p.some_of("after")], p.random.randint(-1, 3))
                p.derive(leaving=True)
            case "spare":
                p.spare([*p.facts(3), *p.some_of("delta")])
            case "bitmap" if p.coming or not p.model.updating:
                bitmap(p)
            case "rest" if not p.model.waiting:
                p.rest()
            case "begin" if not p.model.updating:
                p.merge()
                p.derive()
                p.merge()
                p.begin()
            case "retract" if not p.model.waiting:
                p.merge()
                p.retract([*p.facts(3), *p.some_of("after")])
            case "commit" | "rollback":
                p.merge()
                p.end(step)
        p.check(versions)
