"""Facts sorted, merged and subtracted in parts equal Python's own, whatever the number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.kernels import packing, split_work
from modulog.kernels.threads import Threads
from support.packed_facts import facts, rows_of, words_of

WIDTHS = pytest.mark.parametrize("width", [1, 2, 3])


@pytest.fixture(params=[(1, 1), (2, 1), (3, 1), (3, 4)], ids=str, scope="module", autouse=True)
def threads(request: pytest.FixtureRequest) -> Iterator[Threads]:
    """The number of threads, and how many entries each is worth."""
    found = Threads(*request.param)
    with found.current(), patch.object(split_work, "LONGEST", 5):
        yield found
    found.close()


@WIDTHS
@pytest.mark.parametrize("bucket", [1, 1 << 18])
@given(data=st.data())
def test_sorting(width: int, bucket: int, data: st.DataObject) -> None:
    rows = data.draw(facts(width))
    words = words_of(rows, width)
    before = words.copy()
    small = patch.object(split_work, "SHORT", 0), patch.object(split_work.sort, "PIECE", 20)
    with small[0], small[1], patch.object(split_work, "BUCKET", bucket):
        found, once = split_work.sort_words(words), split_work.sort_distinct(words)
    assert rows_of(found) == sorted(rows) and rows_of(once) == sorted(set(rows))
    assert (words == before).all() and found.flags.c_contiguous and once.flags.c_contiguous


@given(st.lists(st.sampled_from([0, 1 << 40, (1 << 40) + 1, (1 << 63) - 1]), min_size=8, max_size=60))
def test_sorting_keys_that_crowd(keys: list[int]) -> None:
    assert rows_of(split_work.sort_words(words_of([(key,) for key in keys], 1))) == sorted(
        (key,) for key in keys
    )


@WIDTHS
@given(data=st.data())
def test_merging(width: int, data: st.DataObject) -> None:
    few = data.draw(facts(width, 15))
    a, b = sorted(few + data.draw(facts(width, 15))), sorted(few[::2] + data.draw(facts(width, 15)))
    both = split_work.merge(words_of(a, width), words_of(b, width))
    assert rows_of(both) == sorted(a + b)
    assert split_work.is_increasing(both) == (len(set(a + b)) == len(a + b))
    unsorted = words_of(a + b, width)
    assert split_work.is_increasing(unsorted) == (a + b == sorted({*a, *b}))


@WIDTHS
@given(data=st.data())
def test_subtracting(width: int, data: st.DataObject) -> None:
    few = data.draw(facts(width, 15))
    a, b = sorted(few + data.draw(facts(width, 15))), sorted(few[::2] + data.draw(facts(width, 15)))
    words = words_of(a, width)
    mask = split_work.absent(words, words_of(b, width))
    assert mask.tolist() == [row not in set(b) for row in a]
    assert rows_of(split_work.select(words, mask)) == [row for row in a if row not in set(b)]


@WIDTHS
@given(data=st.data())
def test_concatenating(width: int, data: st.DataObject) -> None:
    parts = data.draw(st.lists(facts(width, 9), min_size=1, max_size=4))
    found = split_work.concatenate([words_of(part, width) for part in parts])
    assert rows_of(found) == [row for part in parts for row in part]


@pytest.mark.parametrize("arity", range(6))
@given(data=st.data())
def test_columns(arity: int, data: st.DataObject) -> None:
    order = np.array(data.draw(st.permutations(range(arity))), np.int64)
    rows = data.draw(
        st.lists(st.lists(st.integers(0, 2**31 - 1), min_size=arity, max_size=arity), max_size=20)
    )
    columns = np.ascontiguousarray(np.array(rows, np.int32).reshape(len(rows), arity).T)
    words = split_work.pack(columns, order)
    assert (words == packing.pack(columns, order)).all()
    places = np.argsort(order).astype(np.int64)
    start = data.draw(st.integers(0, len(rows)))
    found = split_work.unpack(words, places, start, len(rows))
    assert (found == packing.unpack(words, places, start, len(rows))).all()
    assert (found == columns[:, start:]).all()
