"""A relation that shows the facts of others, some of them turned round: the scheme "view". Nothing is stored.

The parts are read in the same version, and what an earlier part has is not given again. In an update a fact
has come if it came to a part and was in none before; it has gone if it went from a part and is in none any
more. No fixpoint reaches a view: its parts are finished before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from modulog.closures.pair_sets import CHUNK, NOTHING, Pairs
from modulog.closures.shared_lists import among, distinct
from modulog.closures.unions import Difference, Part, together, within, without
from modulog.engines.local import layer_lookup
from modulog.engines.local.body_relation import Body, BodyRelation, LocalRelation
from modulog.engines.local.fact_levels import Layer, held, size
from modulog.engines.local.layer_lookup import Lookup
from modulog.engines.local.pairs_relation import PAIR_BYTES, PairsRelation
from modulog.engines.local.relation import Bounds
from modulog.engines.local.runs import places
from modulog.engines.relation import ModuleId, Relation, Version
from modulog.engines.schemes import Scheme
from modulog.engines.table import Table
from modulog.errors import InternalError
from modulog.kernels import packing, search
from modulog.kernels.threads import ALONE, Threads
from modulog.kernels.types import Columns, Integers, Mask, Words
from modulog.wording import plural

Parts = tuple[Pairs, ...]


class ViewBody(PairsRelation):
    """A union of relations and inverses."""

    def __init__(
        self, name: str, scheme: Scheme, shown: list[tuple[LocalRelation, bool]], start: Pairs | None
    ) -> None:
        super().__init__(name, scheme)
        self._shown = shown
        self._start = start  # what was listed when an update began that made a view of it
        self._known: dict[Version, tuple[Parts, Pairs]] = {}  # what was made last, and of what

    @property
    def storage(self) -> str:
        pairs = self.size("all")
        listed = f"listed {PAIR_BYTES * pairs / 1e6:.1f} MB"
        return f"view of {shown_as(self._shown)}: {plural(pairs, 'pair')}, {listed}"

    # ---- Versions

    def _parts(self, version: Version) -> Parts:
        found = []
        for relation, turns in self._shown:
            pairs = pairs_of(relation.body, version)
            found.append(pairs.turned() if turns else pairs)
        return tuple(found)

    def _union(self, version: Version) -> Pairs:
        parts = self._parts(version)
        if version not in self._known or not _same(self._known[version][0], parts):
            self._known[version] = parts, together(parts)
        return self._known[version][1]

    def pairs(self, version: Version) -> Pairs:
        match version:
            case "delta":
                return NOTHING
            case "old" | "all" | "after":
                return self._union("after")
            case "before":
                return self._union("before") if self._start is None else self._start
            case "come":
                return self._changed("come", "gone", "after", "before")
            case "gone":
                return self._changed("gone", "come", "before", "after")
            case "kept":
                before = self.pairs("before")
                return before if self.pairs("gone") is NOTHING else within(before, self._union("after"))
            case "either":
                return together([self.pairs("before"), self.pairs("come")], disjoint=True)

    def _changed(self, version: Version, opposite: Version, having: Version, lacking: Version) -> Pairs:
        """What changed in the parts, without what the view has on the other side of the update."""
        if self._start is not None:
            return without(self.pairs(having), self.pairs(lacking))
        changes = self._parts(version)
        if all(part is NOTHING for part in changes):
            return NOTHING
        has, lacks = self._union(having), self._union(lacking)
        made_of = (*changes, has, lacks)
        if version not in self._known or not _same(self._known[version][0], made_of):
            sides = (self._parts(having), self._parts(lacking), changes, self._parts(opposite))
            self._known[version] = made_of, Difference(has, lacks, list(map(Part, *sides)))
        return self._known[version][1]

    # ---- Nothing is stored

    def schedule(self, rows: Table, source: ModuleId) -> None:
        if len(rows):
            raise InternalError(f"{self.name}: a view stores nothing")

    def offer(self, words: Words, source: ModuleId) -> None:
        if words.shape[1]:
            raise InternalError(f"{self.name}: a view stores nothing")

    def derive(self, leaving: bool = False) -> int:
        return 0

    def merge(self) -> None:
        """There is no delta."""

    def rest(self) -> None:
        """Nothing is kept for rounds."""

    def begin(self) -> None:
        """The parts have begun the update."""

    def commit(self) -> None:
        self._start, self._known = None, {}

    def rollback(self) -> None:
        self._known = {}

    def span(self) -> Bounds | None:
        found: Bounds | None = None
        for relation, turns in self._shown:
            if (bounds := relation.body.span()) is not None:
                bounds = bounds[::-1] if turns else bounds
                if found is not None:
                    bounds = tuple(
                        (min(a, c), max(b, d)) for (a, b), (c, d) in zip(found, bounds, strict=True)
                    )
                found = bounds
        return found


class ViewRelation(BodyRelation):
    """A union of relations and inverses; with the scheme "auto" it is listed until a part is represented."""

    def __init__(self, name: str, wanted: Scheme, threads: Threads = ALONE) -> None:
        super().__init__(name, wanted, threads)
        self._plain = self.new_list()
        self._view: ViewBody | None = None
        self._shown: list[tuple[LocalRelation, bool]] = []
        self._is_new = False  # whether it became a view in this update

    @property
    def body(self) -> Body:
        return self._plain if self._view is None else self._view

    @property
    def viewing(self) -> ViewRelation:
        return self

    @property
    def storage(self) -> str:
        if self._view is not None:
            return self._view.storage
        return f"listed: no part of {shown_as(self._shown)} is represented"

    def over(self, parts: Sequence[tuple[Relation, bool]]) -> None:
        """Say what it is a view of."""
        self._shown.clear()
        for relation, turns in parts:
            assert isinstance(relation, LocalRelation) and relation.arity == 2
            self._shown.append((relation, turns))

    def consider_view(self) -> bool:
        """Compute the facts from the parts instead of listing them, if one of these is represented.

        Returns whether this is so now.
        """
        wanted = self.wanted.listing == "never" or any(not r.listed for r, _ in self._shown)
        if self._view is None and wanted:
            self._is_new = self._plain.versions.updating
            self._become_view(pairs_of(self._plain, "before") if self._is_new else None)
        return self._view is not None

    def look(self) -> None:
        """Compute the facts from the parts instead of listing them."""
        self._become_view(None)

    def _become_view(self, start: Pairs | None) -> None:
        self._view = ViewBody(self.name, self.wanted.represented, self._shown, start)

    def commit(self) -> None:
        self.body.commit()
        if self._is_new:
            self._plain, self._is_new = self.new_list(), False

    def rollback(self) -> None:
        self.body.rollback()
        if self._is_new:
            self._view, self._is_new = None, False
            self._plain.rollback()


def pairs_of(body: Body, version: Version) -> Pairs:
    """The facts of a version; the set stays what it is."""
    if isinstance(body, PairsRelation):
        return body.pairs(version)
    return Listed(body.lookup(version)) if body.has(version) else NOTHING


def shown_as(parts: Sequence[tuple[LocalRelation, bool]]) -> str:
    """What a view shows, for people."""
    return " ∪ ".join(f"{r.name}{'⁻¹' if turns else ''}" for r, turns in parts)


def _same(parts: Parts, others: Parts) -> bool:
    """Whether two unions are made of the same sets."""
    return len(parts) == len(others) and all(a.is_same(b) for a, b in zip(parts, others, strict=True))


# ---- Listed parts of a view


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
