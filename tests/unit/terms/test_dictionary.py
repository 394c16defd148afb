"""Terms and their numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.errors import DataError, InternalError
from modulog.kernels.strings import same_text
from modulog.terms.constant import Constant, Kind
from modulog.terms.dictionary import MOST_TERMS, Dictionary, Texts
from support.term_strategies import CONSTANTS


def strings(*texts: str) -> list[Constant]:
    return [Constant(Kind.STRING, t) for t in texts]


def test_numbers_are_dense_and_in_order_of_arrival() -> None:
    dictionary = Dictionary()
    assert dictionary.encode(strings("b", "a", "b", "c")).tolist() == [0, 1, 0, 2]
    assert dictionary.encode(strings("c", "d")).tolist() == [2, 3]
    assert len(dictionary) == 4


def test_kinds_are_kept_apart() -> None:
    dictionary = Dictionary()
    terms = [Constant(kind, "1", "q" if kind >= Kind.LANGUAGE else "") for kind in Kind]
    assert dictionary.encode(terms).tolist() == list(range(9))
    assert dictionary.kinds([8, 0, 1]).tolist() == [Kind.TYPED, Kind.STRING, Kind.INTEGER]


def test_finding_adds_nothing() -> None:
    dictionary = Dictionary()
    dictionary.encode(strings("a", "b"))
    found = dictionary.find(strings("b", "x", "a"))
    assert found.dtype == np.int64 and found.tolist() == [1, -1, 0]
    assert len(dictionary) == 2
    assert dictionary.find([]).tolist() == []


def test_texts_from_a_buffer() -> None:
    dictionary = Dictionary()
    buffer = np.frombuffer("aé12".encode(), np.uint8)
    kinds = np.array([Kind.STRING, Kind.STRING, Kind.INTEGER, Kind.STRING], np.uint8)
    ids = dictionary.encode_strings(buffer, np.array([0, 1, 3, 5, 5]), kinds)
    assert dictionary.decode(ids) == [
        Constant(Kind.STRING, "a"),
        Constant(Kind.STRING, "é"),
        Constant(Kind.INTEGER, "12"),
        Constant(Kind.STRING, ""),
    ]


def test_growth() -> None:
    dictionary = Dictionary()
    texts = [f"{'x' * (i % 40)}{i}" for i in range(5000)]
    ids = dictionary.encode(strings(*texts))
    assert ids.tolist() == list(range(5000))
    assert dictionary.find(strings(*texts[::-1])).tolist() == list(range(5000))[::-1]
    assert [c.text for c in dictionary.decode(ids[::7])] == texts[::7]
    assert dictionary.memory() > sum(map(len, texts))


def test_one_long_text_among_short_ones() -> None:
    dictionary = Dictionary()
    long = "y" * 100_000
    assert dictionary.encode(strings("a", long, "b", long)).tolist() == [0, 1, 2, 1]
    assert dictionary.decode([1])[0].text == long


def test_bulk_loading() -> None:
    first, second = Dictionary(), Dictionary()
    first.encode([*strings("a", "", "é"), Constant(Kind.LANGUAGE, "chat", "fr")])
    second.extend(*first.keys())
    assert second.decode(range(4)) == first.decode(range(4))
    with pytest.raises(InternalError):
        second.extend(*first.keys([2]))


def test_unknown_numbers_are_a_mistake_of_ours() -> None:
    with pytest.raises(InternalError):
        Dictionary().decode([0])


def test_too_many_terms() -> None:
    with pytest.raises(DataError, match="at most"):
        Dictionary().reserve(MOST_TERMS + 1, 0)


@given(st.lists(st.lists(CONSTANTS, max_size=30), max_size=5))
def test_as_a_python_dictionary(batches: list[list[Constant]]) -> None:
    dictionary = Dictionary()
    expected: dict[Constant, int] = {}
    for batch in batches:
        ids = dictionary.encode(batch)
        assert ids.tolist() == [expected.setdefault(c, len(expected)) for c in batch]
        assert dictionary.decode(ids) == batch
    assert len(dictionary) == len(expected)


@given(st.lists(st.text("abé", max_size=20), max_size=40))
def test_terms_with_the_same_hash(texts: list[str]) -> None:
    """Whatever the hash function does, terms are told apart by their texts."""
    dictionary, expected = Dictionary(), dict[str, int]()
    encoded = [t.encode() for t in texts]
    ends = np.cumsum([len(e) for e in encoded], dtype=np.int64)
    starts = ends - np.array([len(e) for e in encoded], np.int64)
    column = Texts(np.frombuffer(b"".join(encoded), np.uint8), starts, ends, Kind.STRING)
    column.hashes[:] = 2**31 - 1
    ids = dictionary.encode_texts(column)
    assert ids.tolist() == [expected.setdefault(t, len(expected)) for t in texts]


@pytest.mark.parametrize("length", range(1, 25))
def test_texts_that_differ_in_one_byte(length: int) -> None:
    one = np.full(length, 97, np.uint8)
    assert same_text(one, 0, one.copy(), 0, length)
    for place in range(length):
        other = one.copy()
        other[place] = 98
        assert not same_text(one, 0, other, 0, length)


@given(
    there=st.lists(CONSTANTS, unique=True, max_size=30),
    steps=st.lists(
        st.tuples(st.booleans(), st.lists(CONSTANTS, max_size=20), st.lists(st.integers(0, 29), max_size=20)),
        max_size=12,
    ),
)
def test_opened_is_the_same(
    there: list[Constant], steps: list[tuple[bool, list[Constant], list[int]]]
) -> None:
    """A dictionary that is loaded when it is first asked for answers as the one it came from, hashed or not."""
    original = Dictionary()
    original.encode(there)
    loads = []

    def load() -> tuple[np.ndarray, np.ndarray]:
        loads.append(1)
        return original.keys(np.arange(len(there)))

    opened = Dictionary.opened(len(there), load)
    assert len(opened) == len(there)
    assert not loads
    for adds, new, old in steps:
        terms = [*new, *(there[i % len(there)] for i in old if there)]
        if adds:
            assert opened.encode(terms).tolist() == original.encode(terms).tolist()
        else:
            assert opened.find(terms).tolist() == original.find(terms).tolist()
    ids = np.arange(len(original))
    assert opened.decode(ids) == original.decode(ids)
    assert opened.kinds(ids).tolist() == original.kinds(ids).tolist()
    assert len(loads) == 1
