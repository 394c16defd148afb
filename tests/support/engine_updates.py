"""Relations for engines to read: filled in rounds, or by updates some of which are still under way."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from modulog.engines.engine import Engine
from support.engine_model import Row
from support.relation_reads import take_away


def table_of(engine: Engine, arity: int, rows: Any) -> Any:
    """A table of rows of ids."""
    ids = np.array(list(rows), np.int32).reshape(len(rows), arity).T
    return engine.table(tuple(f"c{j}" for j in range(arity)), np.ascontiguousarray(ids))


def fill(engine: Engine, arity: int, facts: Any, parts: int = 1) -> Any:
    """A relation with facts that came in parts, the last of them still in delta."""
    relation = engine.relation(f"r{arity}", arity)
    every = list(facts)
    for k in range(parts):
        relation.merge()
        relation.schedule(table_of(engine, arity, every[k::parts]), k % 3)
        relation.derive()
    return relation


def updated(engine: Engine, arity: int, facts: set[Row], parts: int = 1) -> Any:
    """A relation whose facts are what updates have left: others were there, some came late, some are about to leave."""
    choose = random.Random(len(facts) * 7 + parts)
    others = {tuple(choose.choices(range(6), k=arity)) for _ in range(2 * len(facts))} - facts
    late = set(choose.sample(sorted(facts), len(facts) // 3))
    relation = fill(engine, arity, (facts - late) | others)
    relation.merge()
    for k in range(parts):
        relation.begin()
        take_away(relation, table_of(engine, arity, sorted(others)[k::parts]))
        relation.schedule(table_of(engine, arity, sorted(late)[k::parts]), k % 3)
        relation.derive()
        relation.merge()
        if k + 1 < parts or choose.random() < 0.5:
            relation.commit()
            continue
        relation.rest()
        relation.schedule(table_of(engine, arity, choose.sample(sorted(facts), len(facts) // 2)), 1)
        relation.derive(leaving=True)
    return relation
