"""Runs of the local engine from lists of facts, and back."""

from __future__ import annotations

import random

import numpy as np

from modulog.engines.local.runs import Run, places
from modulog.kernels import packing

Fact = tuple[int, ...]


def run_of(facts: list[Fact], arity: int, is_sorted: bool = False) -> Run:
    columns = np.ascontiguousarray(np.array(facts, np.int32).reshape(len(facts), arity).T)
    words = packing.pack(columns, places(tuple(range(arity))))
    return Run.of(arity, words, is_sorted)


def facts_of(run: Run) -> list[Fact]:
    return [tuple(fact) for fact in run.columns().T.tolist()]


def some_facts(seed: int, arity: int, number: int, ids: int = 6) -> list[Fact]:
    choose = random.Random(seed)
    found = {tuple(choose.choices(range(ids), k=arity)) for _ in range(number)}
    return choose.sample(sorted(found), len(found))
