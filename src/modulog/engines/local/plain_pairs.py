"""The facts of a plain relation as a set of pairs, so that they can be put together with sets that are represented."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from modulog.closures.pair_sets import CHUNK, Pairs
from modulog.closures.shared_lists import among, distinct
from modulog.engines.local import layer_lookup
from modulog.engines.local.fact_levels import Layer, held, size
from modulog.engines.local.layer_lookup import Lookup
from modulog.engines.local.runs import places
from modulog.kernels import packing, search
from modulog.kernels.types import Columns, Integers, Mask

BOTH = ("s", "t")
SCAN = Lookup((), BOTH, BOTH)
BY_SOURCE = Lookup(("s",), BOTH, BOTH)
BY_TARGET = Lookup(("t",), BOTH, BOTH)
NATURAL = places((0, 1))


class Listed(Pairs):
    """Layers of pairs; they stay what they are, whatever becomes of the relation."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self.layers = layers

    def count(self) -> int:
        return size(self.layers)

    def count_by(self, column: int) -> tuple[Columns, Integers]:
        found = [piece[column] for piece in self.scan()]
        ids, counts = search.count_values(np.sort(np.concatenate(found)) if found else np.empty(0, np.int32))
        return ids, counts

    def contains(self, pairs: Columns) -> Mask:
        return held(self.layers, packing.pack(np.ascontiguousarray(pairs), NATURAL), False)

    def scan(
        self, sources: Columns | None = None, targets: Columns | None = None, limit: int = CHUNK
    ) -> Iterator[Columns]:
        pieces = layer_lookup.scan(self.layers, SCAN) if sources is None and targets is None else iter(())
        if sources is not None:
            pieces = (
                ids for _, ids in layer_lookup.matches(self.layers, BY_SOURCE, distinct(sources)[np.newaxis])
            )
        elif targets is not None:
            asked = distinct(targets)[np.newaxis]
            pieces = (ids[::-1] for _, ids in layer_lookup.matches(self.layers, BY_TARGET, asked))
        for piece in pieces:
            if sources is not None and targets is not None:
                piece = piece[:, among(piece[1], targets)]
            for start in range(0, piece.shape[1], limit):
                yield np.ascontiguousarray(piece[:, start : start + limit])

    def is_same(self, other: Pairs) -> bool:
        if not isinstance(other, Listed) or len(self.layers) != len(other.layers):
            return False
        return all(a.is_same(b) for a, b in zip(self.layers, other.layers, strict=True))
