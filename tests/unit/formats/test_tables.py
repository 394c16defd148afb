"""Facts from values in memory."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from modulog.errors import DataError
from modulog.formats.tables import read_table
from modulog.terms.dictionary import Dictionary
from modulog.terms.python_values import IRI, TaggedLiteral, value


@pytest.mark.parametrize(
    ("data", "column"),
    [
        (pl.DataFrame({"a": ["x"], "n": [1]}, schema={"a": pl.String, "n": pl.Int128}), "n"),
        (pl.Series("m", [1], dtype=pl.Int128), "m"),
    ],
)
def test_a_type_that_only_polars_has(data: Any, column: str) -> None:
    with pytest.raises(
        DataError, match=rf"column '{column}' of type Int128 \(cast it, to Int64, Decimal or String\)"
    ):
        list(read_table(data, Dictionary()))


def rows(data: object, **options: object) -> list[tuple[object, ...]]:
    dictionary = Dictionary()
    found: list[tuple[object, ...]] = []
    for chunk in read_table(data, dictionary, **options):  # type: ignore[arg-type]
        assert chunk.flags.c_contiguous and chunk.dtype == "uint32"
        found += zip(*[map(value, dictionary.decode(c)) for c in chunk], strict=True)
    return found


PAIRS = [("a", 1), ("b", 2)]


@pytest.mark.parametrize(
    "data",
    [
        PAIRS,
        [["a", 1], ["b", 2]],
        tuple(PAIRS),
        np.array(PAIRS, object),
        np.array(PAIRS, [("x", "U5"), ("y", "i4")]),
        pd.DataFrame(PAIRS, columns=["x", "y"]),
        pd.DataFrame(PAIRS, columns=["x", "y"], index=[7, 9]),
        pd.DataFrame({"x": pd.Categorical(["a", "b"]), "y": pd.array([1, 2], "Int64")}),
        pl.DataFrame(PAIRS, schema=["x", "y"], orient="row"),
        pl.DataFrame(PAIRS, schema=["x", "y"], orient="row").lazy(),
        pa.table({"x": ["a", "b"], "y": [1, 2]}),
        pa.record_batch({"x": ["a", "b"], "y": [1, 2]}),
        pa.table({"x": ["a", "b"], "y": [1, 2]}).to_reader(),
    ],
    ids=lambda data: type(data).__name__,
)
def test_tables_of_all_sorts(data: object) -> None:
    assert rows(data, arity=2) == PAIRS


@pytest.mark.parametrize(
    "data",
    [
        np.array([1, 2]),
        pd.Series([1, 2]),
        pl.Series([1, 2]),
        pa.array([1, 2]),
        pa.chunked_array([[1], [2]]),
        {(1,): 0, (2,): 0}.keys(),
    ],
    ids=lambda data: type(data).__name__,
)
def test_single_columns(data: object) -> None:
    assert rows(data, arity=1) == [(1,), (2,)]


def test_arrays_of_numbers() -> None:
    assert rows(np.array([[1, 2], [3, 4]], np.int16)) == [(1, 2), (3, 4)]
    assert rows(np.array([[1.5, 2.0]])) == [(1.5, 2.0)]
    assert rows(np.asfortranarray([[1, 2], [3, 4]])[::-1]) == [(3, 4), (1, 2)]
    assert rows(np.empty((0, 2))) == []


def test_rows_may_mix_types() -> None:
    mixed = [
        ("a", 1),
        (IRI("http://a"), 2.5),
        (True, Decimal("1.5")),
        (TaggedLiteral("x", language="en"), "1"),
    ]
    assert rows(mixed) == mixed
    assert rows(pd.DataFrame(mixed)) == mixed
    assert [type(v) for (v,) in rows([(1,), (1.0,), (True,), (Decimal(1),)])] == [int, float, bool, Decimal]


def test_columns_are_chosen() -> None:
    wide = {"x": ["a", "b"], "y": [1, 2], "z": [True, False]}
    assert rows(pd.DataFrame(wide), columns=["z", "x"], arity=2) == [(True, "a"), (False, "b")]
    assert rows(pa.table(wide), columns=["y", 0]) == [(1, "a"), (2, "b")]
    assert rows([("a", 1, True)], columns=[2, 2]) == [(True, True)]


def test_generators_are_read_piece_by_piece() -> None:
    taken = 0

    def facts() -> Iterator[tuple[int]]:
        nonlocal taken
        for taken in range(25):
            yield (taken,)

    chunks = read_table(facts(), Dictionary(), tuples=10)
    assert next(chunks).shape == (1, 10) and taken == 9
    assert [c.shape for c in chunks] == [(1, 10), (1, 5)]


def test_chunks_are_bounded() -> None:
    for data in (np.arange(25), pa.table({"x": range(25)})):
        assert [c.shape for c in read_table(data, Dictionary(), chunk=10)] == [(1, 10), (1, 10), (1, 5)]


def test_facts_without_arguments() -> None:
    assert [c.shape for c in read_table([()], Dictionary(), arity=0)] == [(0, 1)]
    assert list(read_table([], Dictionary(), arity=0)) == []


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ([("a", "b"), ("c",)], {}, "row 2: 1 value, but the rows before have 2"),
        ([("a", "b")], {"arity": 1}, "row 1: 2 columns where 1 argument should be"),
        (["ab", "cd"], {}, r"row 1: a str instead of a tuple; write \('ab',\)"),
        ([("a",), "b"], {}, "row 2: a str instead of a tuple"),
        ([("a", 1), ("b", None)], {}, "column 1, row 2: .*NoneType"),
        ([(1,), (2**63,)], {}, "column 0, row 2: the integer 9223372036854775808"),
        ([("\ud800",)], {}, "column 0, row 1: .* cannot be written as UTF-8"),
        ("edge", {}, "not a str"),
        ({"x": 1}, {}, "not a dict"),
        (5, {}, "not a int"),
        (np.zeros((1, 1, 1)), {}, "one or two dimensions"),
        (pd.DataFrame({"x": ["a", None]}), {}, "column 'x', row 2: a missing value"),
        (pd.DataFrame({"x": [1, None]}, dtype=object), {}, "column 'x', row 2: a missing value"),
        (pa.table({"x": [1, None]}), {}, "column 'x', row 2: a missing value"),
        (pa.table({"x": [1]}), {"arity": 2}, r"1 column \(x\) where 2 arguments should be"),
        (pa.table({"x": [1]}), {"columns": ["y"]}, "no column 'y', but columns 'x'"),
        ([("a",)], {"columns": ["x"]}, "no column 'x', but 1 column"),
    ],
)
def test_mistakes(data: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        rows(data, **options)
