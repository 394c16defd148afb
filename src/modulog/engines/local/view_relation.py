"""A relation that shows the facts of others, some of them turned round: the scheme "view". Nothing is stored.

The parts are read in the same version, and what an earlier part has is not given again. In an update a fact has come if it came to a part and was in none
before; it has gone if it went from a part and is in none any more. No fixpoint reaches a view: its parts are finished before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from modulog.engines.local.compact import CompactRelation
from modulog.engines.local.listed import Listed
from modulog.engines.local.relation import Bounds, PlainRelation
from modulog.engines.protocol import Memory, ModuleId, Relation, Table, Version
from modulog.errors import InternalError
from modulog.storage.pairs import NOTHING, Pairs, Turned, together, turned, within, without
from modulog.storage.union_change import Difference, Part
from modulog.wording import plural

PLAIN = 8  # bytes of a listed pair, in one order
Parts = tuple[Pairs, ...]


class ViewRelation(CompactRelation):
    """A union of relations and inverses; with `wanted` "auto" it is listed until one of its parts is represented."""

    def __init__(self, name: str, wanted: str) -> None:
        super().__init__(name, wanted)
        self.parts: list[tuple[PlainRelation, bool]] = []
        self.looking = False
        self._known: dict[Version, tuple[Parts, Pairs]] = {}  # what was made last, and of what
        self._start: Pairs | None = None  # what was listed when an update began that made a view of it

    def over(self, parts: Sequence[tuple[Relation, bool]]) -> None:
        """Say what it is a view of."""
        self.parts = []
        for relation, turns in parts:
            assert isinstance(relation, PlainRelation) and relation.arity == 2
            self.parts.append((relation, turns))

    def consider_view(self) -> bool:
        """Be a view from now on, if a part is represented."""
        if not self.looking and (self.wanted == "always" or any(not r.listed for r, _ in self.parts)):
            if self.versions.updating:
                self._start = self.pairs("before")
            self.looking = True
        return self.looking

    def look(self) -> None:
        """Be a view."""
        self.looking = True

    @property
    def scheme(self) -> str:
        """Whether it is a view."""
        return "view" if self.looking else "plain"

    @property
    def listed(self) -> bool:
        """Whether it is not a view."""
        return not self.looking

    @property
    def storage(self) -> str:
        """What is seen, or why it is not."""
        shown = " ∪ ".join(f"{r.name}{'⁻¹' if turns else ''}" for r, turns in self.parts)
        if self.listed:
            return f"listed: no part of {shown} is represented"
        return f"view of {shown}: {plural(self.size('all'), 'pair')}, listed {PLAIN * self.size('all') / 1e6:.1f} MB"

    # ---- Versions

    def _parts(self, version: Version) -> Parts:
        found = []
        for relation, turns in self.parts:
            if isinstance(relation, CompactRelation):
                pairs = relation.pairs(version)
            else:
                pairs = Listed(relation.lookup(version)) if relation.has(version) else NOTHING
            found.append(turned(pairs) if turns else pairs)
        return tuple(found)

    def _union(self, version: Version) -> Pairs:
        parts = self._parts(version)
        if version not in self._known or not _same(self._known[version][0], parts):
            self._known[version] = parts, together(parts)
        return self._known[version][1]

    def represented(self, version: Version) -> Pairs:
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
                before = self.represented("before")
                return before if self.represented("gone") is NOTHING else within(before, self._union("after"))
            case "either":
                return together([self.represented("before"), self.represented("come")], disjoint=True)

    def _changed(self, version: Version, opposite: Version, having: Version, lacking: Version) -> Pairs:
        """What changed in the parts, without what the view has on the other side of the update."""
        if self._start is not None:
            return without(self.represented(having), self.represented(lacking))
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
        if self.listed:
            super().schedule(rows, source)
        elif len(rows):
            raise InternalError(f"{self.name}: a view stores nothing")

    def derive(self, leaving: bool = False) -> int:
        return super().derive(leaving) if self.listed else 0

    def merge(self) -> None:
        if self.listed:
            super().merge()

    def rest(self) -> None:
        if self.listed:
            super().rest()

    def commit(self) -> None:
        if self.looking and self._start is not None:
            self.versions = PlainRelation(self.name, 2).versions
        elif self.listed:
            super().commit()
        self.versions.updating, self._start, self._known = False, None, {}

    def rollback(self) -> None:
        if self._start is not None:
            self.looking, self._start = False, None
        self._known = {}
        if self.listed:
            super().rollback()
        self.versions.updating = False

    def span(self) -> Bounds | None:
        if self.listed:
            return self.bounds
        found: Bounds | None = None
        for relation, turns in self.parts:
            if (bounds := relation.span()) is not None:
                bounds = bounds[::-1] if turns else bounds
                if found is not None:
                    bounds = tuple(
                        (min(a, c), max(b, d)) for (a, b), (c, d) in zip(found, bounds, strict=True)
                    )
                found = bounds
        return found

    def memory(self) -> Memory:
        return super().memory() if self.listed else Memory(0, PLAIN * self.size("all"))


def _same(parts: Parts, others: Parts) -> bool:
    """Whether two unions are made of the same sets."""
    return len(parts) == len(others) and all(map(_alike, parts, others))


def _alike(a: Pairs, b: Pairs) -> bool:
    if isinstance(a, Turned) and isinstance(b, Turned):
        return _alike(a.pairs, b.pairs)
    if isinstance(a, Listed) and isinstance(b, Listed):
        return len(a.layers) == len(b.layers) and all(
            x.run is y.run
            and len(x.hidden) == len(y.hidden)
            and all(map(lambda p, q: p is q, x.hidden, y.hidden))
            for x, y in zip(a.layers, b.layers, strict=True)
        )
    return a is b
