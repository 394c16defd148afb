"""The relation contract on Spark: the model of `tests/contracts`, through one fixpoint and two updates, in every version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contracts.relation_model import FIXPOINT
from contracts.relation_pair import SMALL, Pair
from modulog.engines.spark.engine import SparkEngine
from modulog.engines.spark.terms import SparkTerms


@pytest.mark.parametrize("arity", [0, 2])
def test_a_fixpoint_and_two_updates(spark: Any, tmp_path: Path, arity: int) -> None:
    engine = SparkEngine(spark, SparkTerms(spark, f"{tmp_path}/terms"), f"{tmp_path}/facts", local_limit=0)

    def table(rows: Any, arity: int) -> Any:
        ids = np.array(rows, np.int64).reshape(len(rows), arity).T
        return engine.table(tuple(f"c{j}" for j in range(arity)), ids)

    p = Pair(engine.relation("r", arity), table, SMALL, seed=1)
    for _ in range(2):
        p.schedule(p.facts())
        p.merge()
        p.derive()
    p.check(FIXPOINT)
    p.merge()
    p.relation.rest()
    p.begin()
    p.retract(p.some_of("before"))
    p.schedule(p.facts())
    p.derive()
    p.merge()
    p.check()
    p.end("commit")
    p.begin()
    p.retract(p.some_of("before"))
    p.end("rollback")
    p.check(("all", "before"))
