"""The dictionary on Spark against the local one: dense, stable ids; the same comparisons, the same output columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from modulog.algebra.expressions import Condition
from modulog.engines.spark import export
from modulog.engines.spark.compute import SparkValues
from modulog.engines.spark.terms import Recent, SparkTerms
from modulog.engines.values import Failures
from modulog.errors import InternalError
from modulog.terms.arrow import column_field, to_arrow
from modulog.terms.constant import XSD, Constant, language, literal
from modulog.terms.dictionary import Dictionary
from modulog.terms.literal_values import compare
from modulog.terms.python_values import IRI, BlankNode, constant

MIXED = [
    constant("a"),
    constant('with "quotes"\nand \\ more'),
    constant(""),
    constant(1),
    constant(-7),
    constant(2**62 + 1),
    constant(Decimal("1.0")),
    constant(1.0),
    constant(float("nan")),
    constant(float("inf")),
    constant(True),
    constant(IRI("http://example.org/é")),
    constant(BlankNode("b0")),
    language("chat", "fr"),
    literal("2020-01-01T00:00:00Z", f"{XSD}dateTime"),
    literal("2020-01-01T00:00:00", f"{XSD}dateTime"),
    literal("x\0y", "http://example.org/type"),
]


def identify(terms: SparkTerms, constants: Sequence[Constant]) -> list[int]:
    """The ids of constants."""
    return [terms.identify(constant) for constant in constants]


def key(item: Constant) -> str:
    return item.key.decode()


def frame(spark: Any, rows: Sequence[tuple[Any, ...]], names: Sequence[str]) -> Any:
    """A small frame of keys or of ids."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    kind = pa.int64() if rows and isinstance(rows[0][0], int) else pa.string()
    return spark.createDataFrame(
        pa.table({n: pa.array(c, kind) for n, c in zip(names, columns, strict=True)})
    )


def keys(spark: Any, constants: Sequence[Constant]) -> Any:
    return frame(spark, [(key(c),) for c in constants], ["key"])


@pytest.fixture
def terms(spark: Any, tmp_path: Path) -> SparkTerms:
    """An empty dictionary."""
    return SparkTerms(spark, str(tmp_path / "terms"))


@pytest.fixture(scope="module")
def mixed(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> SparkTerms:
    """A dictionary with a term of every kind, numbered as in `MIXED`."""
    made = SparkTerms(spark, str(tmp_path_factory.mktemp("mixed")))
    assert identify(made, MIXED) == list(range(len(MIXED)))
    made.write_pending()
    return made


def table(terms: SparkTerms) -> dict[int, str]:
    rows = terms.frame().collect()
    assert len({row.id for row in rows}) == len(rows)
    return {row.id: row.key for row in rows}


def test_ids_are_dense_and_stay(spark: Any, terms: SparkTerms) -> None:
    a, b = constant("a"), constant("b")
    assert (terms.identify(a), terms.identify(b), terms.identify(a), len(terms)) == (0, 1, 0, 2)
    assert terms.grow(keys(spark, [b, constant(5), constant(5), constant("x")])) == 2
    before = table(terms)
    assert sorted(before) == [0, 1, 2, 3] and (before[0], before[1]) == (key(a), key(b))
    new = terms.identify(constant("new"))
    assert new == 4
    assert terms.grow(keys(spark, [constant("new"), constant("later"), a])) == 1
    after = table(terms)
    assert sorted(after) == [0, 1, 2, 3, 4, 5] and before.items() <= after.items()
    assert (after[4], after[5]) == (key(constant("new")), key(constant("later")))


def test_nothing_new_writes_nothing(spark: Any, terms: SparkTerms, tmp_path: Path) -> None:
    terms.grow(keys(spark, MIXED))
    terms.identify(constant("pending"))
    files = sorted(tmp_path.rglob("*"))
    assert terms.grow(keys(spark, [*MIXED, constant("pending")])) == 0
    assert sorted(tmp_path.rglob("*")) == files
    assert len(terms) == len(MIXED) + 1


def test_many_partitions_are_numbered_without_gaps(spark: Any, terms: SparkTerms) -> None:
    numbers = spark.range(0, 3000, 1, 7).selectExpr("concat(char(2), cast(id % 1000 as string)) as key")
    assert terms.grow(numbers.repartition(5)) == 1000
    assert terms.grow(numbers.repartition(3).union(keys(spark, [constant("z")]))) == 1
    assert sorted(table(terms)) == list(range(1001))


def test_parts_are_merged_and_a_state_is_taken_up_again(spark: Any, tmp_path: Path) -> None:
    terms = SparkTerms(spark, str(tmp_path))
    for i in range(10):
        terms.identify(constant(i))
        terms.write_pending()
    before = table(terms)
    assert before == {i: key(constant(i)) for i in range(10)}
    old = terms.frame()
    terms.grow(keys(spark, [constant("x"), constant(3)]))
    assert len(old.collect()) == 10
    terms.release()
    terms.identify(constant("pending"))
    [folder] = tmp_path.iterdir()
    assert len([p for p in folder.iterdir() if p.name.startswith("part-")]) <= 8
    again = SparkTerms(spark, str(tmp_path))
    again.take_up(json.loads(json.dumps(terms.state())))
    assert len(again) == 12 and table(again) == table(terms)
    assert identify(again, [constant("x"), constant("y"), constant(3)]) == [10, 12, 3]
    again.close()
    assert not folder.exists()


def test_single_constants(mixed: SparkTerms) -> None:
    mixed._recent = Recent()
    assert mixed.find([MIXED[4], constant("no such"), MIXED[16], MIXED[1]]) == [4, -1, 16, 1]
    assert [mixed.name(number) for number in (11, 0, 3)] == ["<http://example.org/é>", "a", "1"]
    assert mixed.name(13) == '"chat"@fr'
    with pytest.raises(InternalError, match="no term 99"):
        mixed.name(99)
    many = [constant(f"t{i}") for i in range(600)]
    assert mixed.find([*many, MIXED[2]]) == [-1] * 600 + [2]


@pytest.mark.parametrize("broadcast_terms", [0, 1000])
def test_frames_there_and_back(spark: Any, tmp_path: Path, broadcast_terms: int) -> None:
    terms = SparkTerms(spark, str(tmp_path), broadcast_terms=broadcast_terms)
    rows = [(key(a), key(b), key(c)) for a in MIXED[:4] for b in MIXED[4:8] for c in MIXED[8:]]
    (wide,) = terms.stage([frame(spark, rows, ["k0", "name", "k1"])])
    assert terms.grow(wide.selectExpr("k0 as key").union(wide.select("k1"))) == len(MIXED) - 4
    ids = terms.encode(wide, {"k0": "c0", "k1": "c1"})
    assert ids.columns == ["c0", "name", "c1"]
    back = terms.decode(ids, {"c0": "k0", "c1": "k1"})
    assert back.columns == ["k0", "name", "k1"]
    assert sorted(map(tuple, back.collect())) == sorted(rows)


def test_growth_by_nothing(spark: Any, terms: SparkTerms) -> None:
    assert terms.grow(keys(spark, [])) == 0 and len(terms) == 0


def test_the_driver_remembers_few_terms(terms: SparkTerms, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many terms are asked for, only the last ones are known without a job."""
    monkeypatch.setattr("modulog.engines.spark.terms.MOST_RECENT", 50)
    numbers = [constant(i) for i in range(300)]
    assert identify(terms, numbers) == list(range(300))
    terms.write_pending()
    assert terms.find(numbers[:200]) == list(range(200))
    assert len(terms._recent.ids) == 50 and not terms._pending
    before = terms.actions
    assert terms.find([numbers[199]]) == [199] and terms.key(199) == key(numbers[199])
    assert terms.actions == before
    assert terms.key(3) == key(numbers[3]) and terms.name(3) == "3"
    assert terms.actions == before + 1
    assert terms.find([numbers[250], constant("nobody")]) == [250, -1]
    assert len(terms._recent.ids) == 50
    with pytest.raises(InternalError, match="no term 300"):
        terms.key(300)


@pytest.mark.parametrize(
    "operator", ["=", "<", *(pytest.param(o, marks=pytest.mark.long) for o in ("!=", "<=", ">", ">="))]
)
def test_comparison_is_the_local_one(spark: Any, mixed: SparkTerms, operator: str) -> None:
    dictionary = Dictionary()
    local = dictionary.encode(MIXED)
    left, right = (side.reshape(-1) for side in np.meshgrid(local, local))
    mask, pairs = compare(dictionary, operator, left, right)
    ids = frame(spark, list(zip(left.tolist(), right.tolist(), strict=True)), ["c0", "c1"])
    evaluated = SparkValues(spark, mixed)
    found = evaluated.satisfy(ids, Condition(operator, "c0", "c1"))
    assert found.columns == ["c0", "c1"]
    expected = list(zip(left[mask].tolist(), right[mask].tolist(), strict=True))
    assert sorted(map(tuple, found.collect())) == sorted(expected)
    assert evaluated.failures == Failures(incomparable=pairs)


def test_comparison_with_a_constant(spark: Any, mixed: SparkTerms) -> None:
    ids = frame(spark, [(i, i) for i in range(len(MIXED))], ["x", "y"])
    evaluated, one = SparkValues(spark, mixed), MIXED.index(constant(1))
    found = evaluated.satisfy(ids, Condition("<=", "x", one))
    assert sorted(row.y for row in found.collect()) == [3, 4, 6, 7]
    found = evaluated.satisfy(ids, Condition("<", one, "x"))
    assert sorted(row.x for row in found.collect()) == [5, 9]


@pytest.mark.parametrize(
    ("places", "kind"),
    [
        ([3, 4, 5], "bigint"),
        pytest.param([7, 8, 9], "double", marks=pytest.mark.long),
        pytest.param([10], "boolean", marks=pytest.mark.long),
        pytest.param([0, 1, 2], "string", marks=pytest.mark.long),
        ([11, 12, 3, 6, 10], "string"),
        (list(range(len(MIXED))), "string"),
    ],
)
def test_output_columns_are_the_local_ones(
    spark: Any, mixed: SparkTerms, places: list[int], kind: str
) -> None:
    dictionary = Dictionary()
    local = dictionary.encode(MIXED)[places]
    field = column_field("v", {MIXED[i].kind for i in places})
    ids = frame(spark, [(i, i) for i in places], ["c0", "c1"])
    shown = export.typed(mixed, ids, ["c0", "c1"], ["v", "other name"])
    assert shown.columns == ["v", "other name"]
    assert shown.schema["v"].dataType.simpleString() == kind
    turtle = {} if field.metadata is None else {"modulog.terms": "turtle"}
    assert shown.schema["v"].metadata == turtle
    expected = to_arrow(dictionary, local, field).to_pylist()
    assert sorted(map(repr, (row.v for row in shown.collect()))) == sorted(map(repr, expected))


def test_output_of_nothing(spark: Any, mixed: SparkTerms) -> None:
    nothing = export.typed(mixed, frame(spark, [(1, 1)], ["a", "b"]).where("a > b"), ["a"], ["x"])
    assert nothing.dtypes == [("x", "string")] and nothing.collect() == []
