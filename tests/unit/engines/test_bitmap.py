"""A set of pairs as bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.engines.local.bitmap import Bitmap
from modulog.kernels.threads import Threads

LAST = 2**31 - 1


@given(
    st.sampled_from([0, 3, 2**20, LAST - 12]),
    st.sampled_from([0, 7, LAST - 12]),
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=60),
    st.integers(1, 20),
)
def test_keep_new(a: int, b: int, pairs: list[tuple[int, int]], step: int) -> None:
    bitmap = Bitmap((a, b), (a + 12, b + 12))
    found: list[int] = []
    for start in range(0, len(pairs), step):
        words = np.array([[(a + x) << 32 | (b + y) for x, y in pairs[start : start + step]]], np.int64)
        found += bitmap.keep_new(words)[0].tolist()
    assert found == [(a + x) << 32 | (b + y) for x, y in dict.fromkeys(pairs)]


def test_sizes() -> None:
    assert Bitmap.size((0, 0), (9, 9)) == 100
    assert Bitmap.size((5, 0), (5, 0)) == 1
    assert Bitmap.size((0, 0), (LAST, LAST)) == 2**62
    assert Bitmap((0, 0), (9, 9)).bytes == 16


@given(
    st.sampled_from([1, 40, 600]),
    st.sampled_from([1, 40, 600]),
    st.lists(st.tuples(st.integers(0, 599), st.integers(0, 599)), max_size=60),
    st.integers(2, 3),
)
def test_keep_new_on_threads(height: int, width: int, pairs: list[tuple[int, int]], workers: int) -> None:
    """Those of one thread, in the same order."""
    words = np.array([[x % height << 32 | y % width for x, y in pairs]], np.int64)
    one, several = (Bitmap((0, 0), (height - 1, width - 1)) for _ in range(2))
    threads = Threads(workers, least=1)
    with threads.current():
        found = several.keep_new(words)
    threads.close()
    assert found.tolist() == one.keep_new(words).tolist()
    assert (several.bits == one.bits).all()


@pytest.mark.parametrize("argument", [0, 1])
@pytest.mark.parametrize(("height", "width"), [(600, 1), (600, 40), (40, 600), (600, 700)])
def test_shards_have_words_of_their_own(height: int, width: int, argument: int) -> None:
    bitmap = Bitmap((5, 7), (5 + height - 1, 7 + width - 1))
    divided = bitmap.shards(argument)
    if divided is None:
        assert argument == 1 and width < 512
        return
    low, shift, number = divided
    owner: dict[int, int] = {}
    for x in range(5, 5 + height):
        for y in range(7, 7 + width):
            word = (x - 5) * int(bitmap.box[2]) + (y - 7) >> 6
            shard = ((x, y)[argument] - low >> shift) % number
            assert owner.setdefault(word, shard) == shard
    assert (number & (number - 1) == 0 and len(set(owner.values())) > 1) or (height, width)[argument] <= 64
