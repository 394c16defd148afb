"""What a materialisation did: facts, rounds, rows and seconds by stratum, round and rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class RuleStatistics:
    """One evaluation of a rule in a round: the rows it gave, with those that were known, and the time it took."""

    label: object
    rows: int
    seconds: float

    @property
    def rule(self) -> str:
        """The text of the rule."""
        return str(self.label)


@dataclass(slots=True)
class RoundStatistics:
    """One round: how many new facts entered it as Δ, and what the rules made of them."""

    facts: int
    seconds: float = 0.0
    rules: list[RuleStatistics] = field(default_factory=list)


@dataclass(slots=True)
class StratumStatistics:
    """One stratum: its predicates and rounds. Round 0 is the nonrecursive rules and explicit facts."""

    predicates: tuple[str, ...]
    recursive: bool
    rounds: list[RoundStatistics] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def facts(self) -> int:
        """The facts of the stratum."""
        return sum(r.facts for r in self.rounds)

    def by_rule(self) -> dict[str, RuleStatistics]:
        """Rows and seconds of each rule over all rounds."""
        found: dict[str, RuleStatistics] = {}
        for item in (rule for r in self.rounds for rule in r.rules):
            total = found.setdefault(item.rule, RuleStatistics(item.label, 0, 0.0))
            total.rows += item.rows
            total.seconds += item.seconds
        return found


@dataclass(slots=True)
class Statistics:
    """The whole run.

    >>> from modulog import Reasoner
    >>> r = Reasoner("p(?x) :- e(?x, ?y) . e(a, b) . e(b, c) .")
    >>> r.materialise().derived
    2
    """

    strata: list[StratumStatistics] = field(default_factory=list)
    explicit: int = 0
    facts: int = 0
    derived: int = 0
    seconds: float = 0.0
    incomparable: int = 0
    nonrecursive_rules: int = 0
    recursive_rules: int = 0
    bytes: int = 0

    def rounds(self) -> int:
        """The rounds of all strata."""
        return sum(len(s.rounds) for s in self.strata)

    def __str__(self) -> str:
        lines = [
            f"{self.facts:,} facts ({self.explicit:,} explicit) in {self.seconds:.2f} s: {len(self.strata)} strata, "
            f"{self.nonrecursive_rules} nonrecursive and {self.recursive_rules} recursive rules, {self.bytes / 1e6:.1f} MB"
        ]
        lines += self._slowest()
        if self.incomparable:
            lines.append(
                f"  {self.incomparable:,} comparisons of values that cannot be compared counted as false"
            )
        return "\n".join(lines)

    def _slowest(self) -> Iterator[str]:
        ranked = sorted(enumerate(self.strata, 1), key=lambda pair: -pair[1].seconds)
        shown = sorted(ranked[:10])
        for number, s in shown:
            names = ", ".join(s.predicates[:3]) + (", …" if len(s.predicates) > 3 else "")
            yield f"  stratum {number}: {names}: {s.facts:,} facts in {len(s.rounds)} rounds, {s.seconds:.3f} s"
        if len(ranked) > len(shown):
            yield f"  … and {len(ranked) - len(shown)} faster strata"
