"""Columns of Arrow in and out."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.errors import DataError
from modulog.terms.arrow import column_field, encode_arrow, is_turtle, to_arrow
from modulog.terms.constant import XSD, Constant, Kind, literal
from modulog.terms.dictionary import Dictionary
from modulog.terms.python_values import constant
from support.term_strategies import CONSTANTS, INTEGERS


def terms(array: pa.Array, **options: object) -> list[Constant]:
    dictionary = Dictionary()
    return dictionary.decode(encode_arrow(dictionary, array, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array(["1", "é", ""]), ["1", "é", ""]),
        (pa.array(["x", "1"], pa.large_string()), ["x", "1"]),
        (pa.array(["a text that is longer than a view holds", "b"], pa.string_view()).slice(1), ["b"]),
        (pa.array(["x", "y", "x"]).dictionary_encode(), ["x", "y", "x"]),
        (pa.array(["a", "b", "c"]).slice(1, 1), ["b"]),
        (pa.chunked_array([["a"], [], ["b"]]), ["a", "b"]),
        (pa.array([1, -(2**63), 2**63 - 1, 0]), [1, -(2**63), 2**63 - 1, 0]),
        (pa.array([200, 1], pa.uint8()), [200, 1]),
        (pa.array([1.5, float("inf")]), [1.5, float("inf")]),
        (pa.array([0.0, -0.0]), [0.0, -0.0]),
        (pa.array([0.5], pa.float32()), [0.5]),
        (pa.array([True, False, True]), [True, False, True]),
        (pa.array([Decimal("1.50"), Decimal("-0.00")]), [Decimal("1.5"), Decimal(0)]),
        (pa.array([datetime.date(2020, 2, 29)]), [datetime.date(2020, 2, 29)]),
        (
            pa.array([datetime.datetime(2020, 1, 1, 2, 3, 4, 500000)]),
            [datetime.datetime(2020, 1, 1, 2, 3, 4, 500000)],
        ),
        (pa.array([], pa.string()), []),
        (pa.array([], pa.int64()), []),
    ],
)
def test_columns_are_typed_by_arrow(array: pa.Array, expected: list[object]) -> None:
    assert terms(array) == [constant(v) for v in expected]


def test_moments_with_a_zone_are_in_universal_time() -> None:
    moment = datetime.datetime(2020, 1, 1, 2, 3, 4)
    array = pa.array([moment], pa.timestamp("ns", "Europe/Berlin"))
    assert terms(array) == [literal("2020-01-01T02:03:04Z", f"{XSD}dateTime")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", Constant(Kind.INTEGER, "0")),
        ("-12", Constant(Kind.INTEGER, "-12")),
        ("-0", Constant(Kind.INTEGER, "0")),
        ("9223372036854775807", Constant(Kind.INTEGER, "9223372036854775807")),
        ("-9223372036854775808", Constant(Kind.INTEGER, "-9223372036854775808")),
        ("9223372036854775808", literal("9223372036854775808", f"{XSD}integer")),
        ("-9223372036854775809", literal("-9223372036854775809", f"{XSD}integer")),
        ("1.50", Constant(Kind.DECIMAL, "1.5")),
        ("-0.00", Constant(Kind.DECIMAL, "0.0")),
        ("-0.10", Constant(Kind.DECIMAL, "-0.1")),
        ("10.0", Constant(Kind.DECIMAL, "10.0")),
        (f"{'1' * 20}.{'2' * 18}", Constant(Kind.DECIMAL, f"{'1' * 20}.{'2' * 18}")),
        (f"{'1' * 20}.{'2' * 19}", literal(f"{'1' * 20}.{'2' * 19}", f"{XSD}decimal")),
        ("<http://a/b>", Constant(Kind.IRI, "http://a/b")),
        *[
            (t, Constant(Kind.STRING, t))
            for t in (
                "",
                "007",
                "+1",
                "1.",
                ".5",
                "00.5",
                "-",
                "--1",
                "1e3",
                "1 ",
                " 1",
                "<>",
                "<a b>",
                "<a",
                "a>",
            )
        ],
    ],
)
def test_the_rule_of_csv_files(text: str, expected: Constant) -> None:
    assert terms(pa.array([text, "x", text]), types="infer") == [
        expected,
        Constant(Kind.STRING, "x"),
        expected,
    ]
    assert terms(pa.array([text])) == [Constant(Kind.STRING, text)]


def test_numbers_as_strings() -> None:
    assert terms(pa.array([1, 2]), types="strings") == [
        Constant(Kind.STRING, "1"),
        Constant(Kind.STRING, "2"),
    ]


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (pa.array(["a", None]), "row 2: a missing value"),
        (pa.chunked_array([[1, 2], [3, None]]), "row 4: a missing value"),
        (pa.array(["a", None]).dictionary_encode(), "row 2: a missing value"),
        (pa.array([1, 2**64 - 1], pa.uint64()), "row 2: the integer 18446744073709551615"),
        (pa.array([[1]]), "cannot be terms"),
        (pa.array([b"a"]), "cannot be terms"),
    ],
)
def test_what_cannot_be_a_fact(array: pa.Array, message: str) -> None:
    with pytest.raises(DataError, match=message):
        terms(array)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, -5, 2**63 - 1, -(2**63)], pa.int64()),
        ([1.5, float("inf"), -0.0, 1e300], pa.float64()),
        ([True, False], pa.bool_()),
        (["a", "", "é", "1"], pa.string()),
        ([], pa.string()),
    ],
)
def test_a_column_of_one_kind_has_its_type(values: list[object], kind: pa.DataType) -> None:
    dictionary = Dictionary()
    ids = dictionary.encode([constant(v) for v in values])
    field = column_field("x", set(dictionary.kinds(ids).tolist()))
    assert field.type == kind and not is_turtle(field)
    assert to_arrow(dictionary, ids, field).to_pylist() == values


def test_a_mixed_column_is_in_turtle_form() -> None:
    dictionary = Dictionary()
    ids = dictionary.encode([constant("a"), constant(1), constant("a"), Constant(Kind.IRI, "http://a")])
    field = column_field("x", {Kind.STRING, Kind.INTEGER, Kind.IRI})
    assert field.metadata == {b"modulog.terms": b"turtle"}
    assert to_arrow(dictionary, ids, field).to_pylist() == ['"a"', "1", '"a"', "<http://a>"]
    assert to_arrow(dictionary, ids[:0], field).to_pylist() == []


@given(st.lists(CONSTANTS, max_size=30))
def test_turtle_columns_there_and_back(constants: list[Constant]) -> None:
    dictionary = Dictionary()
    ids = dictionary.encode(constants)
    array = to_arrow(dictionary, ids, column_field("x", {Kind.STRING, Kind.IRI}))
    array.validate(full=True)
    assert encode_arrow(dictionary, array, turtle=True).tolist() == ids.tolist()


@given(st.lists(INTEGERS, max_size=30))
def test_integers_there_and_back(values: list[int]) -> None:
    dictionary = Dictionary()
    ids = encode_arrow(dictionary, pa.array(values, pa.int64()))
    assert dictionary.decode(ids) == [constant(v) for v in values]
    assert to_arrow(dictionary, ids, column_field("x", {Kind.INTEGER})).to_pylist() == values


def test_many_rows_with_few_terms() -> None:
    dictionary = Dictionary()
    ids = encode_arrow(dictionary, pa.array(np.arange(10_000) % 7))
    assert len(dictionary) == 7 and ids[:8].tolist() == [0, 1, 2, 3, 4, 5, 6, 0]


def test_extension_types_are_read_as_what_they_store() -> None:
    class Code(pa.ExtensionType):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(pa.int32(), "modulog.test.code")

        def __arrow_ext_serialize__(self) -> bytes:
            return b""

        @classmethod
        def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialised: bytes) -> Code:
            return cls()

    array = pa.ExtensionArray.from_storage(Code(), pa.array([1, 2], pa.int32()))
    assert terms(array) == [constant(1), constant(2)]


def test_a_dictionary_larger_than_its_column() -> None:
    dictionary = Dictionary()
    array = pa.array([f"t{i}" for i in range(100)]).dictionary_encode().slice(5, 2)
    assert dictionary.decode(encode_arrow(dictionary, array)) == [constant("t5"), constant("t6")]
    assert len(dictionary) == 2
