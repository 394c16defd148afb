"""What lies in the engine's folder: as many files as the facts need, and nothing that nobody reads any more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modulog.engines.spark.engine import SparkEngine
from modulog.engines.spark.table import SparkTable
from modulog.engines.spark.terms import SparkTerms
from support.relation_reads import take_away


@pytest.fixture
def on_spark(spark: Any, tmp_path: Path) -> SparkEngine:
    return SparkEngine(spark, SparkTerms(spark, f"{tmp_path}/terms"), f"{tmp_path}/facts")


@pytest.fixture
def adaptive(spark: Any) -> Iterator[None]:
    """As Spark is by default, but that parts are small: 1 MB."""
    changed = {
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.shuffle.partitions": "200",
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": "1m",
        "spark.sql.adaptive.coalescePartitions.minPartitionSize": "1m",
    }
    before = {name: spark.conf.get(name) for name in changed}
    for name, value in changed.items():
        spark.conf.set(name, value)
    yield
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.mark.long
@pytest.mark.usefixtures("adaptive")
def test_the_number_of_files_follows_the_facts(on_spark: SparkEngine) -> None:
    def files(rows: int) -> int:
        relation = on_spark.relation("r", 2)
        frame = on_spark.spark.range(0, rows, 1, 8).selectExpr("xxhash64(id) AS c0", "xxhash64(-id) AS c1")
        relation.schedule(SparkTable(("c0", "c1"), frame, rows), 0)
        assert relation.derive() == rows
        [part] = relation.delta
        assert part.path is not None
        return len(list(Path(part.path).glob("*.parquet")))

    tiny, some, many = files(10), files(100_000), files(500_000)
    assert tiny == 1
    assert 1 < some < many <= 40


@pytest.mark.partitions
@pytest.mark.parametrize("relations", [3, 60])
def test_facts_are_counted_exactly(on_spark: SparkEngine, relations: int) -> None:
    """By several tasks, for few relations and for many: a histogram of Spark's, even with a bin for each, is not exact."""
    rows = 40 * relations
    facts = on_spark.spark.range(0, rows, 1, 8).selectExpr(f"CAST(id % {relations} AS int) AS p", "id AS c0")
    part = on_spark.parts.write(1, facts, set(range(relations)))
    assert part.counts == dict.fromkeys(range(relations), 40)


@pytest.mark.long
def test_superseded_parts_are_deleted_through_updates(
    on_spark: SparkEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modulog.engines.spark.engine.WRITTEN", 12)
    relation = on_spark.relation("r", 1)

    def numbers(*ids: int) -> SparkTable:
        return on_spark.table(("c0",), np.array([ids]))

    relation.schedule(numbers(*range(100)), 0)
    relation.derive()
    relation.merge()
    for k in range(6):
        relation.begin()
        take_away(relation, numbers(k, k + 1))
        relation.schedule(numbers(k, 1000 + k), 0)
        relation.derive()
        relation.merge()
        relation.rest()
        relation.commit()
        assert len(on_spark.parts.folder.names()) < 40, "what is superseded goes now and then"
    assert relation.size("all") == 105
    written = on_spark.parts.writes
    on_spark.settle()
    kept = on_spark.parts.folder.names()
    assert {on_spark.parts.folder / name for name in kept} == {
        p.path for p in (*relation.base, *relation.dead)
    }
    assert len(kept) <= 18 < written


def test_relations_nobody_holds_leave_no_files(on_spark: SparkEngine) -> None:
    relation = on_spark.relation("r", 1)
    relation.schedule(on_spark.table(("c0",), np.array([[1, 2]])), 0)
    relation.derive()
    assert len(on_spark.parts.folder.names()) == 1
    del relation
    on_spark.settle()
    assert on_spark.parts.folder.names() == []
