"""Sources read in the executors: every format, bad records of each kind, and the same facts as the local readers."""

from __future__ import annotations

import bz2
import datetime
import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modulog.engines.spark.sources.reading import from_frame, read
from modulog.errors import DataError, EngineError, EngineUnavailable
from modulog.formats import DataWarning
from modulog.formats.csv import read_csv
from modulog.formats.parquet import read_parquet
from modulog.spark.errors import translate, translated
from modulog.terms.constant import RDF, XSD
from modulog.terms.dictionary import Dictionary
from modulog.terms.python_values import constant

TRIPLES = f"""# a comment
<http://a/s> <http://a/p> "x" .
<http://a/s> <{RDF}type> <http://a/C> .
_:b <{RDF}type> _:c .

<http://a/s> <http://a/p> "01"^^<{XSD}integer> .
<http://a/\\u00e9> <http://a/q> "ch\\"at"@FR . # more
"""
S, P, TYPE = "\x06http://a/s", "\x06http://a/p", f"\x06{RDF}type"
FACTS = [
    (S, P, "\x01x"),
    (S, TYPE, "\x06http://a/C"),
    ("\x07b", TYPE, "\x07c"),
    (S, P, "\x021"),
    ("\x06http://a/é", "\x06http://a/q", '\x08fr\x00ch"at'),
]


def k(value: object) -> str:
    return constant(value).key.decode()


def rows(frame: Any) -> list[tuple[Any, ...]]:
    with translated():
        return sorted(map(tuple, frame.collect()))


def local_rows(chunks: Any, dictionary: Dictionary) -> list[tuple[str, ...]]:
    """The facts of a local reader as keys."""
    found = []
    for chunk in chunks:
        columns = [[c.key.decode() for c in dictionary.decode(column)] for column in chunk]
        found += zip(*columns, strict=True)
    return sorted(found)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose name must be escaped in a URI."""
    made = tmp_path / "a folder"
    made.mkdir()
    return made


CSV = 'a,1\n"1",b\n\n<http://a/>,1.50\n007,-0\na"b,"c""d"\n,""\n"x,y",99999999999999999999\né,\x01z\n'


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("f.csv", bytes),
        pytest.param("f.csv.gz", gzip.compress, marks=pytest.mark.long),
        pytest.param("f.csv.bz2", bz2.compress, marks=pytest.mark.long),
    ],
)
def test_csv_as_locally(spark: Any, folder: Path, name: str, pack: Any) -> None:
    plain = folder.parent / "local.csv"
    plain.write_bytes(CSV.encode())
    path = folder / name
    path.write_bytes(pack(CSV.encode()))
    dictionary = Dictionary()
    expected = local_rows(read_csv(plain, dictionary), dictionary)
    assert rows(read(spark, str(path), "csv", multiline=True).frame) == expected
    source = read(spark, str(path), "csv", arity=2)
    assert rows(source.frame) == expected
    assert (source.arity, source.bad, source.frame.columns) == (2, None, ["k0", "k1"])


@pytest.mark.long
def test_csv_options(spark: Any, folder: Path) -> None:
    (folder / "a.csv").write_text("id;name;age\n1;x;7\n")
    (folder / "b.csv").write_text("id;name;age\n2;y;8\n3;z;9\n")
    picked = read(
        spark,
        f"{folder}/*.csv",
        "dsv",
        header=True,
        columns=["age", "id"],
        strings=True,
        delimiter=";",
        arity=2,
    )
    assert rows(picked.frame) == [(k("7"), k("1")), (k("8"), k("2")), (k("9"), k("3"))]
    by_place = read(spark, str(folder), "dsv", header=True, columns=[0, 0], delimiter=";")
    assert rows(by_place.frame) == [(k(i), k(i)) for i in (1, 2, 3)]
    (folder / "c.tsv").write_text('a\tb\n"a\tc"\t1\n')
    assert rows(read(spark, [str(folder / "c.tsv")], "tsv").frame) == [(k("a"), k("b")), (k("a\tc"), k(1))]
    with pytest.raises(DataError, match="there is no column 'nothing'"):
        read(spark, f"{folder}/a.csv", "dsv", header=True, columns=["nothing"], delimiter=";")
    assert rows(read(spark, f"{folder}/a.csv", "dsv", header=True).frame) == [(k(1), k("x"), k(7))]
    with pytest.warns(DataWarning, match="looks like a header"):
        read(spark, f"{folder}/b.csv", "dsv", delimiter=";")


@pytest.mark.long
def test_csv_headers_must_agree(spark: Any, folder: Path) -> None:
    (folder / "a.csv").write_text("x,y\n1,2\n")
    (folder / "b.csv").write_text("y,x\n1,2\n")
    with pytest.raises(DataError, match=r"[ab]\.csv:1: another header"):
        rows(read(spark, str(folder), "csv", header=True).frame)


def test_csv_with_newlines_in_quotes(spark: Any, folder: Path) -> None:
    text = 'x,y\n"a\nb",1\n"c\r\n""d""",2\nonly\n"e",3\n"f\ng\n'
    path = folder / "f.csv"
    path.write_bytes(text.encode())
    source = read(spark, str(path), "csv", header=True, multiline=True, bad="set-aside")
    assert rows(source.frame) == sorted([(k("a\nb"), k(1)), (k('c\r\n"d"'), k(2)), (k("e"), k(3))])
    assert [(r[1], r[3]) for r in rows(source.bad)] == [
        (6, "1 field where 2 should be"),
        (8, "a quote opens a field and nothing closes it"),
    ]
    with pytest.raises(DataError, match=r"a folder/f\.csv:6: 1 field where 2 should be"):
        rows(read(spark, str(path), "csv", header=True, multiline=True).frame)
    path.write_bytes(b'a,b\n1,"c\nd')
    with pytest.raises(DataError, match=r"f\.csv:2: a quote opens a field"):
        rows(read(spark, str(path), "csv", header=True, multiline=True).frame)
    with pytest.raises(DataError, match=r"f\.csv:2: a quote opens a field"):
        rows(read(spark, str(path), "csv", header=True).frame)


@pytest.mark.long
def test_nothing_to_read(spark: Any, folder: Path) -> None:
    (folder / "f.csv").write_text("")
    assert rows(read(spark, str(folder / "f.csv"), "csv", arity=2).frame) == []
    assert read(spark, str(folder / "f.csv"), "csv", arity=0).frame.count() == 0
    (folder / "f.csv").write_text("\n")
    assert read(spark, str(folder / "f.csv"), "csv", arity=0).frame.count() == 1
    (folder / "f.csv").write_text("a\n")
    with pytest.raises(DataError, match="no argument should be"):
        read(spark, str(folder / "f.csv"), "csv", arity=0)
    for kind in ("csv", "nt", "ttl", "parquet", "jsonl"):
        with pytest.raises(DataError, match=r"nowhere.*: there is no such file"):
            read(spark, str(folder / "nowhere"), kind)
    with pytest.raises(DataError, match='there is no format "xls"; choose one of: csv, '):
        read(spark, str(folder), "xls")


@pytest.mark.long
def test_line_ends_and_marks(spark: Any, folder: Path) -> None:
    (folder / "f.csv").write_bytes("\ufeffa,1\r\nb,2\rc,3".encode())
    assert rows(read(spark, str(folder), "csv").frame) == [(k("a"), k(1)), (k("b"), k(2)), (k("c"), k(3))]


def test_json_lines(spark: Any, folder: Path) -> None:
    path = folder / "f.jsonl"
    path.write_text('{"a": 1, "b": "x"}\n\n{"b": 2.5, "a": true, "c": []}\n')
    expected = sorted([(k(1), k("x")), (k(True), k(2.5))])
    assert rows(read(spark, str(path), "jsonl").frame) == expected
    assert rows(read(spark, str(path), "jsonl", columns=["b"]).frame) == sorted([(k("x"),), (k(2.5),)])
    path.write_text('[1, "x"]\n[2, "y"]\n')
    assert rows(read(spark, str(path), "jsonl", arity=2).frame) == [(k(1), k("x")), (k(2), k("y"))]
    assert rows(read(spark, str(path), "jsonl", columns=[1]).frame) == [(k("x"),), (k("y"),)]


def test_ntriples(spark: Any, folder: Path) -> None:
    (folder / "f.nt").write_text(TRIPLES)
    source = read(spark, str(folder / "f.nt"), "nt")
    assert rows(source.frame) == sorted(FACTS)


@pytest.mark.long
def test_nquads(spark: Any, folder: Path) -> None:
    (folder / "f.nq").write_text("<a:s> <a:p> <a:o> <a:g> .\n<a:s> <a:p> 'x' .\n<a:s> <a:p> \"x\" _:g.\n")
    source = read(spark, str(folder / "f.nq"), "nq", bad="set-aside")
    assert source.frame.columns == ["s", "p", "o", "g"]
    assert rows(source.frame) == [
        ("\x06a:s", "\x06a:p", "\x01x", "\x07g"),
        ("\x06a:s", "\x06a:p", "\x06a:o", "\x06a:g"),
    ]
    assert [(r[1], r[2]) for r in rows(source.bad)] == [(2, "<a:s> <a:p> 'x' .")]


TURTLE = """@prefix : <http://a/> .
:s :p "x", 1 ; a :C .
[] :q _:x . _:x :q <rel> .
"""
RDF_XML = f"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="{RDF}" xmlns:a="http://a/">
<rdf:Description rdf:about="http://a/s"><a:p>x</a:p><a:p rdf:datatype="{XSD}integer">1</a:p></rdf:Description>
</rdf:RDF>
"""


def test_turtle_and_rdf_xml(spark: Any, folder: Path) -> None:
    (folder / "one.ttl").write_text(TURTLE)
    (folder / "two.ttl.gz").write_bytes(gzip.compress(TURTLE.encode()))
    frame = read(spark, f"{folder}/*.ttl*", "ttl").frame
    found = rows(frame)
    assert found == rows(frame), "labels of blank nodes are the same when a file is read again"
    assert len(found) == 10 and len(set(found)) == 6, "a label in two files is one node"
    blanks = {t for row in found for t in row if t[:1] == "\x07"}
    assert len(blanks) == 3 and "\x07x" in blanks
    assert any(o.startswith("\x06file:///") and o.endswith("/rel") for _, _, o, _ in found)
    (folder / "f.rdf").write_text(RDF_XML)
    assert rows(read(spark, f"{folder}/f.rdf", "rdf").frame) == [(S, P, "\x01x", ""), (S, P, "\x021", "")]
    (folder / "f.trig").write_text("<http://a/g> { <http://a/s> <http://a/p> 1 }")
    assert rows(read(spark, f"{folder}/f.trig", "trig").frame) == [(S, P, "\x021", "\x06http://a/g")]


@pytest.mark.long
def test_broken_documents(spark: Any, folder: Path) -> None:
    (folder / "good.ttl").write_text(TURTLE)
    (folder / "bad.ttl").write_text("<http://a/s> <http://a/p> 1 .\n<http://a/s> <http://a/p> .\n")
    with pytest.raises(DataError, match=r"a folder/bad\.ttl:2: "):
        rows(read(spark, str(folder), "ttl").frame)
    (folder / "cut.ttl.gz").write_bytes(gzip.compress(TURTLE.encode())[:40])
    (folder / "cut.nt.gz").write_bytes(gzip.compress(TRIPLES.encode())[:40])
    for kind in ("ttl", "nt"):
        with pytest.raises(DataError, match=rf"a folder/cut\.{kind}\.gz"):
            rows(read(spark, str(folder / f"cut.{kind}.gz"), kind).frame)
    source = read(spark, f"{folder}/*d.ttl", "ttl", bad="set-aside")
    assert len(rows(source.frame)) == 5
    [(file, line, _, reason)] = rows(source.bad)
    assert Path(file) == folder / "bad.ttl" and line == 2 and reason


BAD_LINES = {
    "csv": ["a,b", "too few", "a,b,c", 'a,"open', b"\xff,b", "x,y"],
    "jsonl": [
        '{"a": 1, "b": 2}',
        '{"a": 1}',
        "[1, 2]",
        "7",
        '{"a": null, "b": 1}',
        b'{"a": "\xff", "b": 1}',
        "{",
    ],
    "nt": [
        "<a:s> <a:p> <a:o> .",
        "<a:s> <a:p> .",
        "<a:s> <a:p> <a:o>",
        '_:a _:p "x" .',
        b'<a:s> <a:p> "\xff" .',
        "<a b> <a:p> <a:o> .",
        "<s> <a:p> <a:o> .",
        '<a:s> <a:p> "\\uD800" .',
    ],
}
GOOD = {"csv": {1, 6}, "jsonl": {1}, "nt": {1}}


@pytest.mark.parametrize(
    "kind",
    ["csv", pytest.param("jsonl", marks=pytest.mark.long), pytest.param("nt", marks=pytest.mark.long)],
)
def test_bad_lines(spark: Any, folder: Path, kind: str) -> None:
    texts = [t if isinstance(t, bytes) else t.encode() for t in BAD_LINES[kind]]
    path = folder / f"f.{kind}"
    path.write_bytes(b"\n".join(texts))
    options: dict[str, Any] = {"jsonl": {"columns": ["a", "b"]}, "csv": {"arity": 2}, "nt": {}}[kind]
    source = read(spark, str(path), kind, bad="set-aside", **options)
    assert len(rows(source.frame)) == len(GOOD[kind])
    bad = rows(source.bad)
    assert source.bad is not None and source.bad.columns == ["file", "line", "text", "reason"]
    assert {row[1] for row in bad} == set(range(1, len(texts) + 1)) - GOOD[kind]
    assert all(row[2] == texts[row[1] - 1].decode(errors="replace") for row in bad)
    assert {Path(row[0]) for row in bad} == {path}
    with pytest.raises(DataError, match=rf"a folder/f\.{kind}:2: {bad[0][3][:20]}") as caught:
        rows(read(spark, str(path), kind, **options).frame)
    assert "\n" not in str(caught.value)


def test_lines_are_counted_across_blocks(spark: Any, folder: Path) -> None:
    """A file that is split has blocks whose first lines no executor knows the numbers of."""
    lines = [f"<a:s> <a:p> <a:o{i}> ." for i in range(2000)]
    for place in (700, 1500):
        lines[place - 1] = "nonsense"
    path = folder / "f.nt"
    path.write_text("\n".join(lines) + "\n")
    (folder / "g.nt").write_text("\n".join(lines[:699]))
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "8192")
    try:
        source = read(spark, str(folder), "nt", bad="set-aside")
        assert source.frame.rdd.getNumPartitions() > 3
        assert source.frame.count() == 2697
        assert [(Path(r[0]).name, r[1], r[2]) for r in rows(source.bad)] == [
            ("f.nt", 700, "nonsense"),
            ("f.nt", 1500, "nonsense"),
        ]
        with pytest.raises(DataError, match=r"f\.nt:(700|1500): "):
            rows(read(spark, str(folder), "nt").frame)
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", before)


def test_parquet_as_locally(spark: Any, folder: Path) -> None:
    table = pa.table(
        {
            "text": pa.array(["a", "1"]),
            "coded": pa.array(["x", "y"]).dictionary_encode(),
            "int": pa.array([1, -2], pa.int32()),
            "float": pa.array([1.5, float("nan")]),
            "small": pa.array([0.1, 2.0], pa.float32()),
            "decimal": pa.array([Decimal("1.50"), Decimal("-2.00")]),
            "bool": pa.array([True, False]),
            "date": pa.array([datetime.date(2020, 1, 2)] * 2),
            "moment": pa.array([datetime.datetime(2020, 1, 2, 3, 4, 5, 600000)] * 2, pa.timestamp("us")),
            "zoned": pa.array([datetime.datetime(2020, 1, 2, 3, 4, 5)] * 2, pa.timestamp("ms", "UTC")),
        }
    ).append_column(
        pa.field("terms", pa.string(), metadata={"modulog.terms": "turtle"}),
        pa.array(["<http://a/>", '"x"@en']),
    )
    path = folder / "f.parquet"
    pq.write_table(table, path)
    dictionary = Dictionary()
    source = read(spark, str(path), "parquet")
    assert source.arity == table.num_columns
    assert rows(source.frame) == local_rows(read_parquet(path, dictionary), dictionary)
    assert rows(read(spark, str(path), "parquet", columns=["int", 0], arity=2).frame) == sorted(
        [(k(1), k("a")), (k(-2), k("1"))]
    )
    with pytest.raises(DataError, match="11 columns"):
        read(spark, str(path), "parquet", arity=2)


@pytest.mark.long
def test_missing_values(spark: Any, folder: Path) -> None:
    path = folder / "f.parquet"
    pq.write_table(pa.table({"a": ["x", None, "z"], "b": [1, 2, None]}), path)
    with pytest.raises(DataError, match=r"a folder/f\.parquet:2: column 'a': a missing value"):
        rows(read(spark, str(path), "parquet").frame)
    source = read(spark, str(path), "parquet", bad="set-aside")
    assert rows(source.frame) == [(k("x"), k(1))]
    found = rows(source.bad)
    assert [(r[1], json.loads(r[2])) for r in found] == [(2, {"b": 2}), (3, {"a": "z"})]
    assert {Path(r[0]) for r in found} == {path}
    assert rows(read(spark, str(path), "parquet", columns=["a"], bad="set-aside").frame) == [
        (k("x"),),
        (k("z"),),
    ]
    pq.write_table(pa.table({"holds": [False, True]}), path)
    assert read(spark, str(path), "parquet", arity=0).frame.count() == 1
    path.write_text("not Parquet")
    with pytest.raises(DataError, match=r"f\.parquet: damaged"):
        rows(read(spark, str(path), "parquet").frame)


def test_frames_and_tables(spark: Any) -> None:
    frame = spark.createDataFrame([("a", 1, 2.5), ("b", 2, None)], "`x.y` string, n long, d double")
    assert rows(from_frame(frame, ["n", "x.y"]).frame) == [(k(1), k("a")), (k(2), k("b"))]
    with pytest.raises(DataError, match="the DataFrame: column 'd': a missing value"):
        rows(from_frame(frame).frame)
    assert len(rows(from_frame(frame, bad="set-aside").bad)) == 1
    frame.createOrReplaceTempView("some_facts")
    assert rows(read(spark, "some_facts", "table", columns=["n"]).frame) == [(k(1),), (k(2),)]
    listed = spark.createDataFrame([([1],)], "l array<int>")
    with pytest.raises(DataError, match="column 'l': values of the Arrow type list"):
        rows(from_frame(listed).frame)
    with pytest.raises(EngineError, match=r"Spark failed: .*no_such_table"):
        read(spark, "no_such_table", "table")


def test_errors_of_spark() -> None:
    java = translate(
        RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number.")
    )
    assert isinstance(java, EngineUnavailable) and "JAVA_HOME" in str(java)
    assert isinstance(translate(ImportError("no", name="pyspark.sql")), EngineUnavailable)
    assert str(translate(ValueError("one\ntwo"))) == "Spark failed: one"
    called = 'An error occurred while calling o1.x.\n: java.E: No FileSystem for scheme "s3a"\n\tat'
    assert isinstance(translate(ValueError(called)), DataError)
    assert str(translate(ValueError(called.replace("No F", "F")))).startswith("Spark failed: java.E: FileS")
    inner = translate(ValueError("Traceback …\nmodulog.errors.DataError: a:1: wrong\n\tat java"))
    assert isinstance(inner, DataError) and str(inner) == "a:1: wrong"
