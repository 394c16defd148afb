"""Counters of an engine beside a `collections.Counter`, changed together and compared."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from support.relation_pair import rows_of, weighted, weights_of

Fact = tuple[int, ...]


class Both:
    """Counters and a `Counter`, changed together and compared."""

    def __init__(
        self,
        engine: Any,
        table: Callable[..., Any],
        arity: int,
        ids: list[int],
        seed: int,
        weighted: Callable[..., Any] = weighted,
    ) -> None:
        self.counters, self.table, self.arity = engine.counters("r", arity), table, arity
        self.weighted = weighted
        self.ids, self.random = ids, random.Random(seed)
        self.model: Counter[Fact] = Counter()
        self.before: Counter[Fact] | None = None

    def facts(self, most: int = 12) -> list[Fact]:
        return [
            tuple(self.random.choices(self.ids, k=self.arity)) for _ in range(self.random.randint(0, most))
        ]

    def adjust(self, changes: list[tuple[Fact, int]], plain: bool = False) -> None:
        rows = self.table([fact for fact, _ in changes], self.arity)
        self.counters.adjust(rows if plain else self.weighted(rows, [number for _, number in changes]))
        for fact, number in changes:
            self.model[fact] += 1 if plain else number

    def step(self, name: str) -> None:
        match name:
            case "adjust":
                most = self.random.choice([3, 300, 70_000, 2**40])
                changes = [(fact, self.random.randint(-most, most)) for fact in self.facts()]
                self.adjust(changes, plain=self.random.random() < 0.3)
            case "undo":
                self.adjust(
                    [(fact, -number) for fact, number in self.model.items() if self.random.random() < 0.7]
                )
            case "begin" if self.before is None:
                self.counters.begin()
                self.before = Counter(self.model)
            case "commit" | "rollback" if self.before is not None:
                getattr(self.counters, name)()
                self.model, self.before = (self.model if name == "commit" else self.before), None
        self.check()

    def check(self) -> None:
        asked = [*self.facts(), *self.model]
        rows = self.table(asked, self.arity)
        positive = rows_of(self.counters.positive(rows))
        assert positive == Counter(fact for fact in asked if self.model[fact] > 0)
        found = sum((weights_of(table) for table in self.counters.items()), Counter())
        expected = {fact: number for fact, number in self.model.items() if number}
        assert {fact: number for fact, number in signed(self.counters).items() if number} == expected
        assert found == Counter({fact: n for fact, n in expected.items() if n > 0})


def signed(counters: Any) -> dict[Fact, int]:
    """Every fact with its number, each listed once."""
    found: dict[Fact, int] = {}
    for table in counters.items():
        for fact, number in weights_of(table).items():
            assert fact not in found
            found[fact] = number
    return found
