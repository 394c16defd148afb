"""What relations that close what they are given, and views, must show in every version: the definitions on Python sets."""

from __future__ import annotations

from collections.abc import Iterable

from support.relation_model import Fact

KINDS = ("closure", "reflexive closure", "components", "right-linear", "left-linear")


def versions_of(before: set[Fact], after: set[Fact], delta: set[Fact], leaving: bool) -> dict[str, set[Fact]]:
    """Every version, from what held when the update began, what holds without Δ's effect, and Δ."""
    return {
        "old": after - delta if leaving else after,
        "delta": delta,
        "all": after if leaving else after | delta,
        "before": before,
        "after": after,
        "kept": before & after,
        "either": before | after,
        "gone": before - after,
        "come": after - before,
    }


def closed(kind: str, seeds: set[Fact], edges: set[Fact]) -> set[Fact]:
    """What follows from external facts, and from the edges of a linear closure."""
    if kind.endswith("linear"):
        pairs, steps = set(seeds), edges
    else:
        pairs = seeds | {(y, x) for x, y in seeds} if kind == "components" else set(seeds)
        if kind.startswith("reflexive"):
            pairs |= {(x, x) for pair in seeds for x in pair}
        steps = set(pairs)
    while more := {(x, z) for x, y in pairs for u, z in steps if u == y} - pairs:
        pairs |= more
    return {(y, x) for x, y in pairs} if kind == "left-linear" else pairs


class ClosureModel:
    """External facts, and what followed from them when the update began and before the last `derive`."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.seeds: set[Fact] = set()
        self.edges: set[Fact] = set()
        self.waiting: tuple[set[Fact], set[Fact]] = (set(), set())
        self.start: tuple[set[Fact], set[Fact]] | None = None
        self.earlier: set[Fact] | None = None  # what held before a Δ that is not merged
        self.leaving = False

    @property
    def updating(self) -> bool:
        return self.start is not None

    def now(self) -> set[Fact]:
        return closed(self.kind, self.seeds, self.edges)

    def version(self, name: str) -> set[Fact]:
        now = self.now()
        after = now if self.earlier is None else self.earlier
        before = after if self.start is None else closed(self.kind, *self.start)
        delta = set() if self.earlier is None else now ^ self.earlier
        return versions_of(before, after, delta, self.leaving)[name]

    def schedule(self, seeds: Iterable[Fact], edges: Iterable[Fact]) -> None:
        self.waiting[0].update(seeds)
        self.waiting[1].update(edges)

    def derive(self, leaving: bool) -> int:
        self.earlier, self.leaving = self.now(), leaving
        (seeds, edges), self.waiting = self.waiting, (set(), set())
        if leaving:
            self.seeds, self.edges = self.seeds - seeds, self.edges - edges
        else:
            self.seeds, self.edges = self.seeds | seeds, self.edges | edges
        return len(self.now() ^ self.earlier)

    def merge(self) -> None:
        self.earlier, self.leaving = None, False

    def begin(self) -> None:
        self.start = (set(self.seeds), set(self.edges))

    def commit(self) -> None:
        self.start = None

    def rollback(self) -> None:
        assert self.start is not None
        (self.seeds, self.edges), self.start = self.start, None
        self.waiting = (set(), set())
        self.merge()
