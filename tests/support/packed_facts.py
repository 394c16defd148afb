"""Facts packed into words, as the kernels take them: random ones, and conversions from and to rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

LAST = 2**31 - 1


HALVES = st.one_of(st.integers(0, 3), st.integers(0, LAST), st.sampled_from([0, 1, LAST - 1, LAST]))


WORDS = st.builds(lambda a, b: a << 32 | b, HALVES, HALVES)


def facts(width: int, most: int = 40) -> st.SearchStrategy[list[tuple[int, ...]]]:
    return st.lists(st.tuples(*[WORDS] * width), max_size=most)


def words_of(rows: Any, width: int) -> Any:
    return np.ascontiguousarray(np.array(list(rows), np.int64).reshape(-1, width).T)


def rows_of(words: Any) -> list[tuple[int, ...]]:
    return [tuple(row) for row in words.T.tolist()]
