"""The relation contract on Spark: the model of `tests/contracts`, through random sequences of fixpoints and updates.

After each step the versions are read in one job; the questions that a relation answers besides are asked in a test of their own.
"""

from __future__ import annotations

import random
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modulog.engines.spark.engine import SparkEngine
from modulog.engines.spark.terms import SparkTerms
from support.relation_model import FIXPOINT, VERSIONS
from support.relation_pair import SMALL, Pair, update

STEPS = ["schedule", "schedule", "again", "round", "round", "begin", "retract", "commit", "rollback"]


class SparkPair(Pair):
    """A pair whose versions are compared in one job."""

    def check(self, versions: tuple[str, ...] = VERSIONS) -> None:
        from pyspark.sql import DataFrame
        from pyspark.sql import functions as F

        relation: Any = self.relation
        if not self.model.updating:
            versions = FIXPOINT  # the others follow from these outside updates
        columns = [f"c{j}" for j in range(relation.arity)]
        frames = [relation.frame(v).select(F.lit(v).alias("version"), *columns) for v in versions]
        found: dict[str, list[Any]] = {v: [] for v in versions}
        for row in reduce(DataFrame.union, frames).collect():
            found[row["version"]].append(tuple(row[1:]))
        for version in versions:
            assert sorted(found[version]) == sorted(self.model.version(version)), version


def pair(spark: Any, folder: Path, arity: int, seed: int) -> SparkPair:
    engine = SparkEngine(spark, SparkTerms(spark, f"{folder}/terms"), f"{folder}/facts")

    def table(rows: Any, arity: int) -> Any:
        ids = np.array(rows, np.int64).reshape(len(rows), arity).T
        return engine.table(tuple(f"c{j}" for j in range(arity)), ids)

    return SparkPair(engine.relation("r", arity), table, SMALL, seed)


@pytest.mark.parametrize(
    "arity", [0, pytest.param(1, marks=pytest.mark.long), 2, pytest.param(3, marks=pytest.mark.long)]
)
def test_long_sequences(spark: Any, tmp_path: Path, arity: int) -> None:
    p = pair(spark, tmp_path, arity, seed=arity)
    p.schedule(p.facts(12))
    steps = random.Random(arity).choices(STEPS, k=8)
    update(p, ["round", "begin", "retract", "again", "round", "round", *steps])


def test_every_question(spark: Any, tmp_path: Path) -> None:
    p = pair(spark, tmp_path, 2, seed=1)
    p.schedule(p.facts(12))
    p.derive()
    p.merge()
    p.relation.rest()
    p.begin()
    p.retract(p.some_of("before"))
    p.schedule(p.facts())
    p.derive()
    p.merge()
    for version in ("all", "kept", "come"):
        p.check_version(version)
