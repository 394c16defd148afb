"""Facts from everywhere through `Reasoner.load`: globs, URIs, tables, folders that Spark wrote, files with bad records."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from modulog import IRI, Reasoner, SparkOptions
from modulog.errors import DataError, EngineError
from modulog.formats import DataWarning

COPY = "copy(?x, ?y) :- edge(?x, ?y) ."

# Two files for one predicate are said, and meant here.
pytestmark = pytest.mark.filterwarnings("ignore:.*more facts of:modulog.formats.DataWarning")


def test_globs_and_uris(spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    for i in range(3):
        (folder / f"edge-{i}.csv").write_text(f"a,{i}\n")
    (folder / "edge-3.csv.gz").write_bytes(gzip.compress(b'b,"two\nlines"\n'))
    (folder / "node.jsonl").write_text('{"n": 7}\n')
    with Reasoner(COPY + " n(?x) :- node(?x) .", spark=spark) as r:
        r.load(f"{folder}/edge-[12].csv", predicate="edge")
        r.load(f"file://{folder}/*.csv.gz", predicate="edge")
        r.load(f"file://{folder}/node.jsonl")
        assert sorted(r.rows("copy"), key=str) == [("a", 1), ("a", 2), ("b", "two\nlines")]
        assert r.rows("n") == [(7,)]
        for path in (f"{folder}/*.parquet", f"file://{folder}/*.parquet"):
            with pytest.raises(DataError, match=r"\*\.parquet: no file matches"):
                r.load(path)
        with pytest.raises(DataError, match=r"nobody\.csv: there is no such file or folder"):
            r.load("file:///nobody.csv")
        with pytest.raises(DataError, match="Spark knows no file system for nowhere: paths"):
            r.load("nowhere://host/edge.csv")


def test_tables_and_frames(spark: Any) -> None:
    frame = spark.createDataFrame([("a", 1, "b"), ("b", 2, "c")], "`from` string, weight long, `to` string")
    frame.createOrReplaceTempView("links")
    try:
        for load in (
            lambda r: r.load("table:links", predicate="edge", columns=["from", "to"]),
            lambda r: r.load("table:links", mapping={"edge": ["from", "to"]}),
            lambda r: r.add("edge", spark.table("links"), columns=["from", "to"]),
        ):
            with Reasoner(COPY, spark=spark) as r:
                load(r)
                assert sorted(r.rows("copy")) == [("a", "b"), ("b", "c")]
                with pytest.raises(DataError, match="there is no column 'size'"):
                    r.load("table:links", predicate="edge", columns=["from", "size"])
                with pytest.raises(EngineError, match="no_such_table"):
                    r.load("table:no_such_table")
    finally:
        spark.catalog.dropTempView("links")


@pytest.mark.parametrize("format", ["parquet", pytest.param("csv", marks=pytest.mark.long)])
def test_what_was_written_is_read_by_both_engines(spark: Any, tmp_path: Path, format: str) -> None:
    iri = IRI("http://e/p")
    with Reasoner(COPY, spark=spark) as r:
        r.add("edge", [("a", "b"), (1, "c")])
        r.add(iri, [("a",)])
        r.add(iri, [("a", "b")])
        written = r.export(tmp_path, format=format)
    assert written[f"http%3A%2F%2Fe%2Fp@2.{format}"] == 1
    again = Reasoner(COPY, spark=spark)
    for r in (again, Reasoner(COPY, engine="local")):
        r.load(tmp_path)
        assert sorted(r.rows("copy"), key=str) == [("a", "b"), (1, "c")]
        assert [p.arity for p in r.predicates() if p.name == "<http://e/p>"] == [1, 2]


BAD = {
    "edge.csv": ("a,b\nc\n", 2),
    "edge.jsonl": ('["a", "b"]\n{\n', 2),
    "edge.ttl": ("<a:s> <a:p> <a:o> .\n<a:s> .\n", 2),
    "edge.parquet": (None, 2),
}


def test_names_that_begin_with_an_underscore(spark: Any, tmp_path: Path) -> None:
    for name in ("%5Fx.csv", "%5Fy.csv"):
        (tmp_path / name).write_text("a,1\nb,2\n")
    for name in ("_SUCCESS", "_bad_records.parquet"):
        (tmp_path / name).touch()
    with Reasoner("", spark=spark) as r:
        assert {p.name for p in r.load(tmp_path)} == {"_x", "_y"}
        (tmp_path / "_z.csv").write_text("a\n")
        with pytest.raises(DataError, match=r"_z\.csv: Spark's readers leave out .* call it %5Fz\.csv"):
            r.load(tmp_path / "_z.csv")
        r.load(tmp_path / "%5Fy.csv", bad="set-aside")
        r.export(tmp_path / "out", format="parquet")
        for options in ({"spark": spark}, {}):
            with Reasoner("", **options) as again:
                assert {p.name for p in again.load(tmp_path / "out")} == {"_x", "_y"}
                assert sorted(again.rows("_x")) == sorted(again.rows("_y")) == [("a", 1), ("b", 2)]


@pytest.mark.filterwarnings("ignore::modulog.errors.ProgramWarning")  # each fills one of two predicates
@pytest.mark.parametrize(
    "name",
    [
        "edge.csv",
        "edge.jsonl",
        *(pytest.param(n, marks=pytest.mark.long) for n in ("edge.ttl", "edge.parquet")),
    ],
)
def test_bad_records_of_each_kind(spark: Any, tmp_path: Path, name: str) -> None:
    text, line = BAD[name]
    path = tmp_path / name
    if text is None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"x": ["a", None], "y": ["b", "c"]}), path)
    else:
        path.write_text(text)
    rules = COPY + " known(?x) :- <a:p>(?x, _) ."

    def fails() -> None:
        with Reasoner(rules, spark=spark) as r:
            r.load(path)
            r.materialise()

    with pytest.raises(DataError, match=rf"{name}:{line}: ".replace(".", r"\.")):
        fails()
    with Reasoner(rules, spark=SparkOptions(session=spark, folder=str(tmp_path / "kept"))) as r:
        with pytest.warns(DataWarning, match=rf"{name}: 1 bad record set aside"):
            r.load(path, bad="set-aside")
        good = 0 if path.suffix == ".ttl" else 1  # a document with a mistake is left out as a whole
        assert r.count("copy") + r.count("known") == good
        [record] = r.bad_records().to_pylist()
        assert (Path(record["file"]), record["line"]) == (path, line) and record["reason"]
        statistics = r.materialise()
        assert statistics.set_aside == 1
        assert statistics.bad_records in str(statistics)
        assert spark.read.parquet(f"{statistics.bad_records}/*").count() == 1
