"""Counters equal `collections.Counter`, through any sequence of adjustments and updates."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.errors import InternalError
from support.relation_pair import SMALL, WIDE, rows_of, weighted, weights_of

Fact = tuple[int, ...]
STEPS = st.lists(st.sampled_from(["adjust", "adjust", "undo", "begin", "commit", "rollback"]), max_size=25)


class Both:
    """Counters and a `Counter`, changed together and compared."""

    def __init__(self, engine: Any, table: Callable[..., Any], arity: int, ids: list[int], seed: int) -> None:
        self.counters, self.table, self.arity = engine.counters("r", arity), table, arity
        self.ids, self.random = ids, random.Random(seed)
        self.model: Counter[Fact] = Counter()
        self.before: Counter[Fact] | None = None

    def facts(self, most: int = 12) -> list[Fact]:
        return [
            tuple(self.random.choices(self.ids, k=self.arity)) for _ in range(self.random.randint(0, most))
        ]

    def adjust(self, changes: list[tuple[Fact, int]], plain: bool = False) -> None:
        rows = self.table([fact for fact, _ in changes], self.arity)
        self.counters.adjust(rows if plain else weighted(rows, [number for _, number in changes]))
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


@given(
    arity=st.integers(0, 5),
    ids=st.sampled_from([SMALL, WIDE]),
    seed=st.integers(0, 2**32),
    steps=STEPS,
    small=st.sampled_from([0, 4, 4096]),
)
def test_any_sequence(
    make_engine: Any, make_table: Any, arity: int, ids: list[int], seed: int, steps: list[str], small: int
) -> None:
    with (
        patch("modulog.engines.local.counters.SMALL", small),
        patch("modulog.engines.local.counters.PIECE", 5),
    ):
        both = Both(make_engine(), make_table, arity, ids, seed)
        for step in steps:
            both.step(step)


def test_no_update_in_an_update(make_engine: Any) -> None:
    counters = make_engine().counters("r", 1)
    counters.begin()
    with pytest.raises(InternalError, match="under way"):
        counters.begin()


def test_bytes_for_each_number(make_engine: Any) -> None:
    """Nine bytes and a share of the bucket table while numbers fit into a byte; one less while all are one."""
    engine = make_engine()
    counters = engine.counters("r", 2)
    pairs = np.stack(np.divmod(np.arange(200_000, dtype=np.int32), 500))
    rows = engine.table(("c0", "c1"), np.ascontiguousarray(pairs))
    counters.adjust(rows)
    counters.positive(rows)
    assert counters.memory().bytes <= 9 * 200_000 + 16
    counters.adjust(rows)
    counters.positive(rows)
    assert counters.memory().bytes <= 10 * 200_000 + 16


def test_adjusting_one_costs_no_pass(make_engine: Any, make_table: Any) -> None:
    """A million numbers stay where they are when a thousand change one by one."""
    engine = make_engine()
    counters = engine.counters("r", 2)
    pairs = np.stack(np.divmod(np.arange(1_000_000, dtype=np.int32), 1000))
    counters.adjust(engine.table(("c0", "c1"), np.ascontiguousarray(pairs)))
    large = counters.base[0]
    for k in range(1000):
        counters.begin()
        counters.adjust(make_table([(k, k), (k, k + 1)], 2))
        counters.commit()
    assert counters.base[0] is large and len(counters.base) == 2
    found = signed(counters)
    assert [found[fact] for fact in ((5, 5), (5, 6), (5, 7))] == [2, 2, 1]
