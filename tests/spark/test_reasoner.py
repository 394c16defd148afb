"""What a user does with the Spark engine: facts from everywhere, results as frames, views and files, mistakes in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from modulog import IRI, Reasoner, SparkOptions, Switches
from modulog.errors import DataError, NotSupported, QueryError

PATHS = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) . end(?x) :- path(_, ?x), ~edge(?x, _) ."


@pytest.fixture(scope="module")
def paths(spark: Any) -> Any:
    with Reasoner(PATHS, spark=spark) as r:
        r.add("edge", [("a", "b"), ("b", "c"), ("b", 1)])
        r.materialise()
        yield r


def test_answers(paths: Reasoner) -> None:
    assert sorted(paths.rows("end"), key=str) == [("c",), (1,)]
    assert paths.count("path") == 5
    assert paths.contains("path", ("a", "c"))
    assert not paths.contains("path", ("a", "nobody"))
    assert paths.query("path(a, ?y), ~edge(a, ?y)").sort_by("y").to_pydict() == {"y": ['"c"', "1"]}
    assert paths.query("path(c, a)").to_pydict() == {"holds": [False]}
    assert paths.count("path(?x, ?y), ?y != b") == 4 - 2  # 1 cannot be compared with b
    assert sum(b.num_rows for b in paths.batches("path")) == 5
    with pytest.raises(QueryError, match="did you mean path"):
        paths.rows("pat")


def test_frames_and_views(paths: Reasoner, spark: Any) -> None:
    frame = paths.to_spark("edge")
    assert frame.columns == ["c0", "c1"]
    assert frame.schema["c1"].metadata == {"modulog.terms": "turtle"}
    assert sorted(paths.create_views()) == ["edge", "end", "path"]
    assert spark.sql("SELECT count(*) AS n FROM path WHERE c0 = 'a'").collect()[0]["n"] == 3


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_export_reads_back(paths: Reasoner, tmp_path: Path, format: str) -> None:
    assert paths.export(tmp_path, format=format)[f"path.{format}"] == 5
    r = Reasoner("copy(?x, ?y) :- path(?x, ?y) .")
    for part in sorted(
        (tmp_path / f"path.{format}").glob(f"part-*{'parquet' if format == 'parquet' else ''}")
    ):
        source = part if format == "parquet" else part.rename(part.with_suffix(".csv"))
        r.load(source, predicate="path")
    assert sorted(r.rows("copy"), key=str) == sorted(paths.rows("path"), key=str)


def test_triples(spark: Any, tmp_path: Path) -> None:
    a, b, knows, person = (f"<http://e/{n}>" for n in ("a", "b", "knows", "Person"))
    rdf_type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    (tmp_path / "data.nt").write_text(f"{a} {knows} {b} .\n{a} {rdf_type} {person} .\n", encoding="utf-8")
    program = f"known(?y) :- {person}(?x), {knows}(?x, ?y) . all(?p) :- triple(_, ?p, _) ."
    with Reasoner(program, spark=spark) as r:
        r.load(tmp_path / "data.nt")
        assert r.rows("known") == [(IRI("http://e/b"),)]
        assert {p for (p,) in r.rows("all")} == {IRI("http://e/knows"), IRI(rdf_type.strip("<>"))}
        assert r.count(IRI("http://e/Person")) == 1
        r.export(tmp_path / "out", format="nt", predicates=[IRI("http://e/knows"), IRI("http://e/Person")])
    lines = [line for p in (tmp_path / "out").glob("*/part-*") for line in p.read_text("utf-8").splitlines()]
    assert sorted(lines) == sorted([f"{a} {knows} {b} .", f"{a} {rdf_type} {person} ."])


def test_frames_come_in(spark: Any) -> None:
    frame = spark.createDataFrame([("a", 1, "x"), ("b", 2, "y")], "name string, age long, other string")
    with Reasoner("old(?x) :- age(?x, ?n), ?n > 1 .", spark=spark) as r:
        r.add("age", frame, columns=["name", "age"])
        assert r.rows("old") == [("b",)]


def test_facts_may_come_later(spark: Any) -> None:
    with Reasoner("q(?x) :- p(?x) .", spark=spark) as r:
        r.add("p", [(1,)])
        assert r.rows("q") == [(1,)]
        r.add("p", [(2,), (1,)])
        assert sorted(r.rows("q")) == [(1,), (2,)]


def test_bad_rows_name_file_and_line(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("a,b\nb\n", encoding="utf-8")
    with Reasoner(PATHS, spark=spark) as r:
        r.load(tmp_path / "edge.csv")
        with pytest.raises(DataError, match=r"edge\.csv:2"):
            r.materialise()


def test_rules_of_one_shape_are_one_plan(spark: Any) -> None:
    rules = "".join(f"c{i}(?x, ?y) :- r{i}(?y, ?x) . " for i in range(20))
    with Reasoner(rules, spark=spark, switches=Switches(modules="off")) as r:
        for i in range(20):
            r.add(f"r{i}", [(i, i + 1)])
        before = r._backend.engine.parts.writes  # type: ignore[attr-defined]
        r.materialise()
        assert r._backend.engine.parts.writes - before == 2  # type: ignore[attr-defined]  # explicit facts, all heads
        assert all(r.rows(f"c{i}") == [(i + 1, i)] for i in range(20))


def test_jobs_say_what_they_are_for(spark: Any) -> None:
    """Whoever watches Spark sees which stratum and round a job belongs to; afterwards the user's own description is back."""
    context = spark.sparkContext
    context.setJobDescription("mine")
    try:
        with Reasoner(PATHS, spark=spark) as r:
            r.add("edge", [("a", "b"), ("b", "c"), ("c", "d")])
            r.materialise()
            r.update(add={"edge": [("d", "e")]})
        assert context.getLocalProperty("spark.job.description") == "mine"
    finally:
        context.setLocalProperty("spark.job.description", None)
    context._jsc.sc().listenerBus().waitUntilEmpty()
    jobs = context._jsc.sc().statusStore().jobsList(None)
    said = {d.get() for i in range(jobs.size()) if (d := jobs.apply(i).description()).isDefined()}
    assert {"explicit facts", "stratum 1 of 2: path, round 1", "update: explicit facts"} <= said
    assert "update, stratum 1 of 2: path" in said


def test_the_plan_says_what_is_listed(spark: Any) -> None:
    union = "both(?x, ?y) :- path(?x, ?y) . both(?y, ?x) :- path(?x, ?y) ."
    for storage in ("auto", "compact"):
        with Reasoner(PATHS + union, spark=spark, switches=Switches(storage=storage)) as r:
            assert str(r.plan()).count("storage listed: this engine represents no closures") == 2


def test_superseded_parts_are_deleted(paths: Reasoner) -> None:
    engine: Any = paths._backend.engine
    engine.settle()
    used = {part.path for r in engine.relations for part in r.base}
    assert {engine.parts.folder / name for name in engine.parts.folder.names()} == used - {None}
    assert not [name for name in engine.terms._folder.names() if name.startswith("staged")]


def test_local_engine_has_no_frames() -> None:
    with pytest.raises(NotSupported, match="no Spark data frames"):
        Reasoner("p(1) .", engine="local").to_spark("p")


def test_nothing_is_left_in_a_folder(spark: Any, tmp_path: Path) -> None:
    """Neither facts nor terms; runs that have the same folder have nothing to do with each other."""
    for values in ("ab", "abc"):
        with Reasoner("q(?x) :- p(?x) .", spark=SparkOptions(session=spark, folder=str(tmp_path))) as r:
            r.add("p", [(value,) for value in values])
            assert sorted(r.rows("q")) == [(value,) for value in values]
            assert sorted(path.name.split("-")[0] for path in tmp_path.iterdir()) == ["facts", "terms"]
        assert not list(tmp_path.iterdir())
