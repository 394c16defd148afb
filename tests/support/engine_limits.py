"""Sizes at which the local engine works in another way, so small that a few facts meet them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

TINY = {
    "modulog.engines.local.layer_lookup.PIECE": 16,
    "modulog.engines.local.relation.UNSORTED_LIMIT": 4,
    "modulog.engines.local.relation.FREE_FACTS": 8,
    "modulog.engines.local.fused.PAIRS": 5,
    "modulog.engines.local.fused.BLOCK": 3,
    "modulog.engines.local.batches.SET_LIMIT": 4,
    "modulog.kernels.sort.SMALL": 4,
    "modulog.kernels.sort.PIECE": 8,
}


WITHOUT_BITMAPS = {
    "modulog.engines.local.relation.LARGEST": 0,
    "modulog.engines.local.batches.LARGEST": 0,
}


SETTINGS = {
    "usual": {},
    "tiny": TINY,
    "tiny, no bitmaps": TINY | WITHOUT_BITMAPS,
    "no bitmaps": WITHOUT_BITMAPS,
}


@contextmanager
def patched(values: Mapping[str, int], really: bool = True) -> Iterator[None]:
    """Give constants of modules, by their full names, other values for a while."""
    with ExitStack() as stack:
        for name, value in values.items() if really else ():
            stack.enter_context(patch(name, value))
        yield
