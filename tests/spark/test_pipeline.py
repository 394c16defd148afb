"""Pipelines on Spark: every kind of source and sink, streams, and what pipelines do on any engine."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modulog import IRI, Pipeline, Reasoner
from modulog.errors import DataError
from modulog.pipeline import Source
from modulog.store.manifest import read_manifest
from support.pipelines import (
    RULES,
    Lake,
    Place,
    expected,
    left_out,
    sink_rows,
    stored,
    table_rows,
    test_incremental_runs_equal_computation_from_scratch,
    test_the_table_of_changes_and_other_rules,
    test_what_goes_wrong_leaves_everything_as_it_was,
    test_what_is_likely_wrong_and_what_cannot_be_deleted_is_told,
    write_csv,
)

__all__ = [
    "test_incremental_runs_equal_computation_from_scratch",
    "test_the_table_of_changes_and_other_rules",
    "test_what_goes_wrong_leaves_everything_as_it_was",
    "test_what_is_likely_wrong_and_what_cannot_be_deleted_is_told",
]
pytestmark = pytest.mark.filterwarnings("ignore::modulog.formats.DataWarning")


@pytest.fixture
def place(spark: Any) -> Place:
    return Place("spark", spark, 2)


# ---- Sources and sinks


@pytest.fixture
def warehouse(spark: Any, tmp_path: Path) -> Iterator[Any]:
    """A session with a table to read, and a place for others."""
    spark.createDataFrame([("t1", 1), ("t2", 2)], "key string, number int").createOrReplaceTempView(
        "pipeline_in"
    )
    spark.sql(f"CREATE DATABASE pipeline_out LOCATION '{tmp_path}/tables'")
    yield spark
    spark.sql("DROP DATABASE pipeline_out CASCADE")
    spark.catalog.dropTempView("pipeline_in")


@pytest.mark.parametrize("workers", [1, 2])
def test_every_source_and_every_sink(warehouse: Any, tmp_path: Path, workers: int) -> None:
    (tmp_path / "a.rls").write_text(
        "@prefix u: <urn:> . old(?i) :- age(?i, ?a), ?a > 60 . kin(?x, ?y) :- u:knows(?x, ?y) ."
    )
    (tmp_path / "b.dlog").write_text(
        "PREFIX u: <urn:> u:friend[?y, ?x] :- u:knows[?x, ?y] . u:Known[?y] :- u:knows[?x, ?y] ."
    )
    (tmp_path / "people.csv").write_text('id,name,age\n1,Ann,70\n2,Bob,"x\n')
    (tmp_path / "people2.txt").write_text("3\tCy\t80\n")
    (tmp_path / "lines.jsonl").write_text('{"n": 1, "s": "one"}\n{"n": 2, "s": "two"}\n')
    pq.write_table(pa.table({"a": [1.5], "b": [True]}), tmp_path / "typed.parquet")
    with gzip.open(tmp_path / "facts.nt.gz", "wt") as file:
        file.write("<urn:a> <urn:knows> <urn:b> .\n")
    (tmp_path / "facts.ttl").write_text("@prefix u: <urn:> . u:b u:knows u:c .")
    (tmp_path / "pipeline.toml").write_text(
        """
        store = "store"
        rules = ["a.rls", "b.dlog"]
        [[source]]
        path = "people.csv"
        header = true
        map = { age = ["id", "age"], name = ["id", "name"] }
        bad = "set-aside"
        [[source]]
        path = "people2.txt"
        format = "tsv"
        map = { age = [0, 2], name = [0, 1] }
        strings = false
        [[source]]
        path = "lines.jsonl"
        predicate = "number"
        columns = ["s", "n"]
        [[source]]
        path = "typed.parquet"
        [[source]]
        path = "facts.*"
        [[source]]
        table = "pipeline_in"
        predicate = "row"
        columns = ["number"]
        [[sink]]
        path = "parquet"
        [[sink]]
        path = "csv"
        format = "csv"
        predicates = ["old", "number"]
        [[sink]]
        path = "triples"
        format = "ntriples"
        [[sink]]
        table = "pipeline_out.r_{predicate}"
        predicates = ["name", "old"]
        """
    )
    run = Pipeline.from_file(tmp_path / "pipeline.toml", workers=workers).run(spark=warehouse)
    assert (
        run.mode == "full"
        and run.change is None
        and run.generation == read_manifest(tmp_path / "store").generation
    )
    with Reasoner.open(tmp_path / "store") as opened:
        assert sorted(opened.rows("name")) == [(1, "Ann"), (3, "Cy")]
        assert sorted(opened.rows("old")) == [(1,), (3,)]
        assert opened.rows("typed") == [(1.5, True)]
        assert sorted(opened.rows("row")) == [(1,), (2,)]
        assert sorted(opened.rows("number")) == [("one", 1), ("two", 2)]
        assert opened.count("kin") == 2
        assert run.facts == sum(opened.count(p) for p in opened.predicates())
    assert sink_rows(tmp_path / "parquet" / "old.parquet") == [(1,), (3,)]
    assert sink_rows(tmp_path / "parquet" / "kin.parquet") == [("<urn:a>", "<urn:b>"), ("<urn:b>", "<urn:c>")]
    bad = table_rows(tmp_path / "store" / "bad")
    assert run.set_aside == len(bad) > 0 and {(Path(r["file"]).name, r["line"]) for r in bad} == {
        ("people.csv", 3)
    }
    csv = tmp_path / "csv" / "number.csv"
    lines = [p.read_text() for p in (csv.glob("part*") if csv.is_dir() else [csv])]
    assert sorted("".join(lines).splitlines()) == ["one,1", "two,2"]
    with Reasoner("") as again:
        again.load(tmp_path / "triples")
        assert sorted(again.rows(IRI("urn:friend"))) == [
            (IRI("urn:b"), IRI("urn:a")),
            (IRI("urn:c"), IRI("urn:b")),
        ]
        assert again.count(IRI("urn:Known")) == 2
    assert sorted(map(tuple, warehouse.table("pipeline_out.r_name").collect())) == [(1, "Ann"), (3, "Cy")]
    assert sorted(map(tuple, warehouse.table("pipeline_out.r_old").collect())) == [(1,), (3,)]
    hidden = [p for p in tmp_path.rglob(".*") if p.name.startswith(".modulog")]
    assert not hidden and len(run.written) == 8 + 3 + 4 + 2


def test_what_was_left_out_is_told(place: Place, tmp_path: Path) -> None:
    left_out(place, tmp_path, counted_once=False)


# ---- Streams


@pytest.mark.parametrize("workers", [1, 2])
def test_streams(spark: Any, tmp_path: Path, workers: int) -> None:
    """New files, and batches of any streaming frame; a batch that Spark gives again is not applied again."""
    lake = Lake(tmp_path, Place("spark", spark, workers))
    inbox = tmp_path / "in"
    lake.options["sources"].append(Source(str(inbox), predicate="edge", stream=True))  # type: ignore[attr-defined]
    lake.run()
    write_csv(inbox / "1.csv", {(1, 2), (2, 3)})
    (inbox / "README").write_text("no facts")
    with pytest.warns(match="README: skipped"):
        assert lake.run().added["edge"] == 2
    write_csv(inbox / "2.csv", {(3, 1)})
    (tmp_path / "frames").mkdir()
    (tmp_path / "frames" / "1.json").write_text('{"a": 1, "b": 2}\n')
    frame = spark.readStream.schema("a int, b int").json(str(tmp_path / "frames"))
    pipeline = Pipeline(rules=[tmp_path / "rules.rls"], store=lake.store, workers=workers, **lake.options)
    pipeline.stream(frame, "edge", columns=["a", "b"], role="delete")
    run = pipeline.run(spark=spark)
    assert run.added["edge"] == 1 and run.deleted["edge"] == 1
    assert stored(lake.store) == expected(RULES, {"edge": {(2, 3), (3, 1)}})
    # Killed after the store was saved and before Spark noted it: the commit of the last batch is missing.
    state = read_manifest(lake.store).notes["streams"]
    for stream in state.values():
        (lake.store / "streams" / stream["checkpoint"] / "commits" / str(stream["batch"])).unlink()
        (lake.store / "streams" / stream["checkpoint"] / "commits" / f".{stream['batch']}.crc").unlink()
    write_csv(inbox / "3.csv", {(1, 2)})
    assert lake.run().added["edge"] == 1
    run = pipeline.run(spark=spark)
    assert not run.added and not run.deleted and json.dumps(read_manifest(lake.store).notes)
    (inbox / "4.csv").write_text("1,2\n3\n")
    with pytest.raises(DataError, match=r"4\.csv:2: "):
        lake.run()
    (inbox / "4.csv").write_text("1,2\n3,4\n")
    lake.run()
    assert stored(lake.store) == expected(RULES, {"edge": {(2, 3), (3, 1), (1, 2), (3, 4)}})
