"""A set of pairs as bits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from modulog.engines.local.bitmap import Bitmap

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
