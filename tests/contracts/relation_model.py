"""What a relation must do, on Python sets and counters: the definitions of versions, word for word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

Fact = tuple[int, ...]
FIXPOINT = ("old", "delta", "all")
VERSIONS = (*FIXPOINT, "before", "after", "kept", "either", "gone", "come")


class Model:
    """I with weights; D and A since `begin`; Δ by source; what waits for the next `derive`."""

    def __init__(self) -> None:
        self.weights: Counter[Fact] = Counter()
        self.gone: set[Fact] = set()
        self.come: set[Fact] = set()
        self.sources: dict[Fact, set[int]] = {}
        self.waiting: list[tuple[Fact, int]] = []
        self.updating = False

    @property
    def present(self) -> set[Fact]:
        return {fact for fact, weight in self.weights.items() if weight > 0}

    def version(self, name: str) -> set[Fact]:
        i, d, a, delta = self.present, self.gone, self.come, set(self.sources)
        found: dict[str, set[Fact]] = {
            "old": (i - d) | a,
            "delta": delta,
            "all": (i - d) | a | delta,
            "before": i,
            "after": (i - d) | a,
            "kept": i - (d - a),
            "either": i | a,
            "gone": d - a,
            "come": a - d,
        }
        return found[name]

    def schedule(self, facts: Iterable[Fact], source: int) -> None:
        self.waiting += [(fact, source) for fact in facts]

    def derive(self) -> int:
        there = self.version("old")
        for fact, source in self.waiting:
            if fact not in there:
                self.sources.setdefault(fact, set()).add(source)
        self.waiting = []
        return len(self.sources)

    def merge(self) -> None:
        if self.updating:
            self.come |= set(self.sources)
        else:
            self.weights.update(dict.fromkeys(self.sources, 1))
        self.sources = {}

    def adjust(self, changes: Iterable[tuple[Fact, int]]) -> None:
        for fact, weight in changes:
            self.weights[fact] += weight

    def begin(self) -> None:
        self.updating = True

    def retract(self, facts: Iterable[Fact]) -> None:
        self.gone |= set(facts) & self.version("after")

    def commit(self) -> None:
        after = self.version("after")
        self.weights = Counter({f: max(1, self.weights[f]) if f not in self.gone else 1 for f in after})
        self.updating, self.gone, self.come = False, set(), set()

    def rollback(self) -> None:
        self.updating, self.gone, self.come = False, set(), set()
        self.sources, self.waiting = {}, []
