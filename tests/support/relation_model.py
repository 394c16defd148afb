"""What a relation must do, on Python sets: the definitions of versions, word for word."""

from __future__ import annotations

from collections.abc import Iterable

Fact = tuple[int, ...]
FIXPOINT = ("old", "delta", "all")
VERSIONS = (*FIXPOINT, "before", "after", "kept", "either", "gone", "come")


class Model:
    """I; D and A since `begin`; Δ by source, which may be leaving; what waits for the next `derive`."""

    def __init__(self) -> None:
        self.facts: set[Fact] = set()
        self.gone: set[Fact] = set()
        self.come: set[Fact] = set()
        self.sources: dict[Fact, set[int]] = {}
        self.waiting: list[tuple[Fact, int]] = []
        self.updating = self.leaving = False

    def version(self, name: str) -> set[Fact]:
        i, d, a, delta = self.facts, self.gone, self.come, set(self.sources)
        now = (i - d) | a
        found: dict[str, set[Fact]] = {
            "old": now - delta,
            "delta": delta,
            "all": now | delta,
            "before": i,
            "after": now,
            "kept": i - (d - a),
            "either": i | a,
            "gone": d - a,
            "come": a - d,
        }
        return found[name]

    def schedule(self, facts: Iterable[Fact], source: int) -> None:
        self.waiting += [(fact, source) for fact in facts]

    def derive(self, leaving: bool = False) -> int:
        there = self.version("after")
        for fact, source in self.waiting:
            if (fact in there) == leaving:
                self.sources.setdefault(fact, set()).add(source)
        self.waiting, self.leaving = [], leaving
        return len(self.sources)

    def merge(self) -> None:
        delta, self.sources = set(self.sources), {}
        if self.leaving:
            self.leave(delta)
        elif self.updating:
            self.come |= delta
        else:
            self.facts |= delta
        self.leaving = False

    def spare(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            self.sources.pop(fact, None)

    def begin(self) -> None:
        self.updating = True

    def leave(self, facts: Iterable[Fact]) -> None:
        self.gone |= set(facts) & self.facts
        self.come -= set(facts)

    def commit(self) -> None:
        self.facts = self.version("after")
        self.updating, self.gone, self.come = False, set(), set()

    def rollback(self) -> None:
        self.updating, self.gone, self.come = False, set(), set()
        self.sources, self.waiting, self.leaving = {}, [], False
