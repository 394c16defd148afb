"""Expressions over terms: promotion, canonical results, limits of every kind, and why a row has no value."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.algebra.expressions import Compute, Condition, Value
from modulog.engines.values import Failures
from modulog.terms.constant import XSD, Constant, Kind, language, literal
from modulog.terms.dictionary import Dictionary
from modulog.terms.functions import FUNCTIONS
from modulog.terms.term_functions import compute, satisfy
from support import oracle_values

NINES = "9" * 38
OVERFLOW, DIVISION, ILL_TYPED = Failures(overflows=1), Failures(divisions_by_zero=1), Failures(ill_typed=1)


def integer(text: object) -> Constant:
    return literal(str(text), f"{XSD}integer")


def decimal(text: object) -> Constant:
    return literal(str(text), f"{XSD}decimal")


def double(text: object) -> Constant:
    return literal(str(text), f"{XSD}double")


def string(text: str) -> Constant:
    return Constant(Kind.STRING, text)


def value_of(function: str, *arguments: Constant) -> Constant | Failures:
    """What a function gives for constants, as variables and as constants of the expression."""
    results: list[Constant | Failures] = []
    for constant in (False, True):
        dictionary = Dictionary()
        ids = [int(i) for i in dictionary.encode(arguments)]
        names = [f"x{i}" for i in range(len(ids))]
        columns = {} if constant else {n: np.array([i], np.int32) for n, i in zip(names, ids, strict=True)}
        call = Compute(function, tuple(ids if constant else names))
        found, fine, failures = compute(dictionary, call, columns, 1)
        results.append(dictionary.decode(found)[0] if fine[0] else failures)
        assert fine[0] == (failures == Failures())
    assert results[0] == results[1]
    return results[0]


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        ("+", [integer(1), integer(2)], integer(3)),
        ("+", [integer(1), decimal("0.5")], decimal("1.5")),
        ("+", [decimal("0.5"), decimal("0.5")], decimal("1.0")),
        ("+", [integer(1), double("0.5")], double("1.5")),
        ("+", [decimal("0.1"), double("0.2")], double(0.1 + 0.2)),
        ("-", [integer(1)], integer(-1)),
        ("-", [double("0")], double("-0.0")),
        ("-", [decimal("0.0")], decimal("0.0")),
        ("*", [decimal("0.1"), decimal("0.1")], decimal("0.01")),
        ("/", [integer(6), integer(2)], decimal("3.0")),
        ("/", [integer(1), integer(3)], decimal("0." + "3" * 38)),
        ("/", [integer(2), integer(3)], decimal("0." + "6" * 37 + "7")),
        ("/", [integer(200), integer(3)], decimal("66." + "6" * 35 + "7")),
        ("/", [integer(1), double("0")], double("INF")),
        ("/", [double("0"), integer(0)], double("NaN")),
        ("-", [double("INF"), double("INF")], double("NaN")),
        ("*", [double("1E308"), integer(10)], double("INF")),
        # 64 bits
        ("+", [integer(2**63 - 1), integer(0)], integer(2**63 - 1)),
        ("+", [integer(2**63 - 1), integer(1)], OVERFLOW),
        ("-", [integer(-(2**63)), integer(1)], OVERFLOW),
        ("-", [integer(-(2**63))], OVERFLOW),
        ("ABS", [integer(-(2**63))], OVERFLOW),
        ("*", [integer(2**32), integer(2**31)], OVERFLOW),
        ("*", [integer(-(2**32)), integer(2**31)], integer(-(2**63))),
        ("+", [integer(2**63), integer(-1)], OVERFLOW),
        ("+", [integer(2**70), integer(1)], OVERFLOW),
        ("+", [integer(2**63 - 1), decimal("1.0")], decimal(f"{2**63}.0")),
        # 38 digits
        ("+", [decimal(NINES), integer(0)], decimal(NINES)),
        ("+", [decimal(NINES), integer(1)], OVERFLOW),
        ("*", [decimal(NINES), decimal("10.0")], OVERFLOW),
        ("+", [decimal(NINES), decimal("0.4")], decimal(NINES)),
        ("+", [decimal(NINES), decimal("0.5")], OVERFLOW),
        ("+", [decimal("9" * 37 + ".0"), decimal("0.05")], decimal("9" * 37 + ".0")),
        ("+", [decimal("9" * 37 + ".0"), decimal("0.06")], decimal("9" * 37 + ".1")),
        ("*", [decimal("0." + "0" * 19 + "1")] * 2, decimal("0.0")),
        ("*", [decimal("0." + "0" * 18 + "1")] * 2, decimal("0." + "0" * 37 + "1")),
        ("-", [decimal(NINES)], decimal("-" + NINES)),
        ("INT", [decimal(NINES)], OVERFLOW),
        # division by zero
        ("/", [integer(1), integer(0)], DIVISION),
        ("/", [integer(0), decimal("0.0")], DIVISION),
        ("/", [decimal(NINES), integer(0)], DIVISION),
        # other numbers
        ("+", [literal("7", f"{XSD}byte"), integer(1)], integer(8)),
        ("+", [literal("1.5", f"{XSD}float"), integer(1)], double("2.5")),
        ("+", [literal("300", f"{XSD}byte"), integer(1)], ILL_TYPED),
        ("+", [literal("1" * 40, f"{XSD}decimal"), integer(1)], OVERFLOW),
        ("INT", [decimal("-2.7")], integer(-2)),
        ("INT", [double("2.7")], integer(2)),
        ("INT", [double("NaN")], ILL_TYPED),
        ("ABS", [double("-INF")], double("INF")),
        # no numbers
        ("+", [string("1"), integer(1)], ILL_TYPED),
        ("+", [integer(1), Constant(Kind.BOOLEAN, "true")], ILL_TYPED),
        ("-", [Constant(Kind.IRI, "http://e.org/")], ILL_TYPED),
        # texts
        ("STR", [integer("01")], string("1")),
        ("STR", [Constant(Kind.IRI, "http://e.org/")], string("http://e.org/")),
        ("STR", [language("chat", "fr")], string("chat")),
        ("STR", [literal("2020-01-01", f"{XSD}date")], string("2020-01-01")),
        ("STR", [Constant(Kind.BLANK, "b")], ILL_TYPED),
        ("STRLEN", [string("Zürich €")], integer(8)),
        ("STRLEN", [string("")], integer(0)),
        ("STRLEN", [integer(1)], ILL_TYPED),
        ("UCASE", [string("aé")], string("AÉ")),
        ("LCASE", [string("AÉ")], string("aé")),
        ("CONCAT", [string("a"), string(""), language("b", "en")], string("ab")),
        ("CONCAT", [string("a"), integer(1)], ILL_TYPED),
    ],
)
def test_values(function: str, arguments: list[Constant], expected: Constant | Failures) -> None:
    assert value_of(function, *arguments) == expected


def test_every_function_is_tested() -> None:
    marks = test_values.pytestmark[0].args[1]  # type: ignore[attr-defined]
    assert {function for function, _, _ in marks} | {"SKOLEM"} == set(FUNCTIONS)


def test_skolem_names_are_a_hash_of_the_arguments() -> None:
    keys = [string("f").key, integer(1).key]
    data = b"".join(len(key).to_bytes(4, "little") + key for key in keys)
    label = "sk" + hashlib.blake2b(data, digest_size=16).hexdigest()
    assert value_of("SKOLEM", string("f"), integer(1)) == Constant(Kind.BLANK, label)
    names = {
        value_of("SKOLEM", *(string(a) for a in arguments))
        for arguments in (["f"], ["f", ""], ["", "f"], ["ff"], ["f", "f"])
    }
    assert len(names) == 5


def test_names_stay_the_same_between_versions() -> None:
    assert value_of("SKOLEM", string("f"), string("x")) == Constant(
        Kind.BLANK, "sk929c048ef270bea2cfc2eb1b78d50d54"
    )


NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(lambda n: ("integer", n)),
    st.integers(-5, 5).map(lambda n: ("integer", n)),
    st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**12), max_value=10**12).map(
        lambda d: ("decimal", d + 0)
    ),
    st.decimals(allow_nan=False, allow_infinity=False, places=19, min_value=-(10**18), max_value=10**18).map(
        lambda d: ("decimal", d + 0)
    ),
    st.floats().map(lambda f: ("double", repr(f))),
)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=20), st.sampled_from("+-*/"))
def test_columns_of_mixed_numbers_equal_python(
    pairs: list[tuple[tuple[str, object], ...]], sign: str
) -> None:
    dictionary = Dictionary()
    columns = {}
    for name, side in (("x", 0), ("y", 1)):
        constants = [Constant.from_key(oracle_values.key(pair[side])) for pair in pairs]
        columns[name] = dictionary.encode(constants).view(np.int32)
    ids, fine, failures = compute(dictionary, Compute(sign, ("x", "y")), columns, len(pairs))
    expected = [oracle_values.evaluate(("()", sign, pair), {}) for pair in pairs]
    assert fine.tolist() == [e is not None for e in expected]
    assert sum(failures.counts()) == expected.count(None)
    found = iter(dictionary.decode(ids[fine]))
    assert all(next(found).key == oracle_values.key(e) for e in expected if e is not None)


def test_failures_are_counted_by_rows() -> None:
    d = Dictionary()
    zero, one, text = (int(i) for i in d.encode([integer(0), integer(1), string("a")]))
    columns = {"x": np.array([zero, zero, one, text, zero], np.int32)}
    ids, fine, failures = compute(d, Compute("/", (one, "x")), columns, 5)
    assert fine.tolist() == [False, False, True, False, False]
    assert failures == Failures(divisions_by_zero=3, ill_typed=1)
    assert d.decode(ids[fine]) == [decimal("1.0")]


def test_nested_functions_make_no_terms_but_the_last() -> None:
    d = Dictionary()
    ids = d.encode([integer(i) for i in range(100)]).view(np.int32)
    inner: Value = Compute("*", (Compute("+", ("x", "x")), Compute("SKOLEM", ("x",))))
    compute(
        d,
        Compute("STRLEN", (Compute("CONCAT", (Compute("STR", ("x",)), Compute("STR", ("x",)))),)),
        {"x": ids},
        100,
    )
    assert len(d) == 100
    mask, _ = satisfy(d, Condition("<", Compute("*", ("x", "x")), Compute("+", ("x", "x"))), {"x": ids}, 100)
    assert len(d) == 100
    assert np.flatnonzero(mask).tolist() == [1]
    assert compute(d, Compute("+", (inner, inner)), {"x": ids}, 100)[2] == Failures(ill_typed=100)


def test_the_first_failure_is_the_one_that_counts() -> None:
    d = Dictionary()
    zero, text = (int(i) for i in d.encode([integer(0), string("a")]))
    division, ill_typed = Compute("/", (zero, zero)), Compute("-", (text,))
    assert compute(d, Compute("+", (division, ill_typed)), {}, 1)[2] == DIVISION
    assert compute(d, Compute("+", (ill_typed, division)), {}, 1)[2] == ILL_TYPED
    assert compute(d, Compute("CONCAT", (text, Compute("STR", (division,)))), {}, 1)[2] == DIVISION


def test_conditions_with_functions() -> None:
    d = Dictionary()
    terms = [integer(1), integer(2), decimal("2.0"), string("a"), integer(0)]
    ids = [int(i) for i in d.encode(terms)]
    columns = {"x": np.array([*ids, ids[3]], np.int32)}
    mask, failures = satisfy(d, Condition("=", Compute("+", ("x", ids[0])), ids[1]), columns, 6)
    assert (mask.tolist(), failures) == ([True, False, False, False, False, False], Failures(ill_typed=2))
    mask, failures = satisfy(d, Condition("=", Compute("*", ("x", ids[0])), ids[2]), columns, 6)
    assert mask.tolist() == [False, True, True, False, False, False]
    mask, failures = satisfy(d, Condition("<", Compute("STR", ("x",)), ids[0]), columns, 6)
    assert (mask.any(), failures) == (False, Failures(incomparable=6))


def test_no_rows() -> None:
    d = Dictionary()
    nothing = {"x": np.empty(0, np.int32)}
    ids, fine, failures = compute(d, Compute("+", ("x", "x")), nothing, 0)
    assert (len(ids), len(fine), failures) == (0, 0, Failures())
    assert satisfy(d, Condition("<", Compute("+", ("x", "x")), "x"), nothing, 0)[0].tolist() == []
    assert compute(d, Compute("CONCAT", ("x", "x")), nothing, 0)[0].tolist() == []
    assert compute(d, Compute("SKOLEM", ("x", "x")), nothing, 0)[0].tolist() == []
