"""Reads that close a cycle, joined all at once, give what joining them one after another gives, with the same multiplicities, on every engine."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from modulog.algebra.default_joins import as_joins
from modulog.algebra.expressions import Multiway, Project, Read
from modulog.engines.engine import Engine
from support.bodies import clique, cycle, flower, petals
from support.instances import rows_of
from support.relation_reads import take_away

SHAPES = {
    "triangle": cycle(3),
    "square": cycle(4),
    "clique": clique(4),
    "petals": petals(2),
    "flower": flower(2),
}
VALUES = range(1, 6)


def relation(engine: Engine, chance: random.Random, updated: bool) -> Any:
    """Some pairs; in an update, some of them have gone and others come."""
    pairs = [(a, b) for a in VALUES for b in VALUES]
    made: Any = engine.relation("r", 2)

    def put(rows: list[tuple[int, int]]) -> Any:
        return engine.table(("a", "b"), np.array(rows, np.int32).reshape(len(rows), 2).T.copy())

    for part in (chance.sample(pairs, 8), chance.sample(pairs, 4)):
        made.schedule(put(part), 0)
        made.derive()
        made.merge()
    made.rest()
    if updated:
        made.begin()
        take_away(made, put(chance.sample(pairs, 8)))
        made.schedule(put(chance.sample(pairs, 3)), 0)
        made.derive()
        made.merge()
    return made


def counted(engine: Engine, expr: Any, names: tuple[str, ...]) -> Counter[Any]:
    table = engine.collect(Project(expr, names, "sum"))
    if not len(table):
        return Counter()
    numbers = [n for batch in table.batches() for n in batch.column("#").to_pylist()]
    return Counter(dict(zip(rows_of(table), numbers, strict=True)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("updated", [False, True], ids=["plain", "in an update"])
def test_equals_joins(make_engine: Callable[..., Engine], shape: str, updated: bool) -> None:
    for seed in range(12):
        chance, engine = random.Random(seed), make_engine()
        relations = [relation(engine, chance, updated) for _ in range(2)]
        reads = [
            Read(chance.choice(relations), (*edge[:1], 3) if chance.random() < 0.1 else edge, "after")
            for edge in SHAPES[shape]
        ]
        names = sorted({v for read in reads for v in read.variables})
        wanted = tuple(chance.sample(names, chance.randint(1, len(names))))
        for counting in (False, True):
            expr = Multiway(tuple(reads), wanted, counting)
            found, expected = counted(engine, expr, wanted), counted(engine, as_joins(expr), wanted)
            assert (found if counting else set(found)) == (expected if counting else set(expected)), seed
