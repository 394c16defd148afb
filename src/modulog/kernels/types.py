"""Names for the types of arrays that kernels take."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.int64]
"""Packed facts, of shape (words, facts)."""
Columns: TypeAlias = NDArray[np.int32]
"""Columns of ids, or any array of numbers of 32 bits."""
Integers: TypeAlias = NDArray[np.int64]
"""Numbers of 64 bits."""
Weights: TypeAlias = NDArray[np.signedinteger[Any]]
"""How often each fact of a table counts."""
Mask: TypeAlias = NDArray[np.bool_]
"""Which of some entries are meant."""


class ListArrays(NamedTuple):
    """Lists of numbers: list i is `numbers[first[i]:last[i]]`. Of a graph, list v has the successors of node
    v.
    """

    first: Columns
    last: Columns
    numbers: NDArray[Any]
