"""Statistics of an update: how each stratum was brought up to date, expected costs, and what was done."""

from __future__ import annotations

from dataclasses import dataclass, field

from modulog.engines.values import Failures
from modulog.evaluation.statistics import RoundStatistics, compiling_line
from modulog.wording import plural


@dataclass(slots=True)
class StratumUpdate:
    """One stratum in an update. `how` is "incrementally", "exactly" (a closure) or "from scratch".

    >>> from modulog import Reasoner
    >>> r = Reasoner("p(?x) :- e(?x, ?y) . e(a, b) .")
    >>> [stratum] = r.update(add={"e": [("b", "c")]}).statistics.strata
    >>> stratum.how, stratum.changes, stratum.added
    ('incrementally', 1, 1)
    """

    predicates: tuple[str, ...]
    how: str
    changes: int = 0  # facts below it that came or went
    facts: int = 0  # facts below it
    incremental: float = 0.0  # facts that following the change was expected to look at
    scratch: float = 0.0  # facts that a computation from scratch was expected to look at
    overdeleted: int = 0
    added: int = 0  # rederived or new
    rounds: int = 0
    seconds: float = 0.0
    evaluated: list[RoundStatistics] = field(default_factory=list)  # what its rules gave, round by round

    def expect(self, incremental: float, scratch: float) -> None:
        """Note how many facts each way is expected to look at."""
        self.incremental, self.scratch = incremental, scratch

    def better_anew(self, few: int) -> bool:
        """Whether a computation from scratch is expected to be cheaper by more than a few facts."""
        return self.incremental > self.scratch + few


@dataclass(slots=True)
class UpdateStatistics:
    """The whole update; strata that nothing reached are not listed.

    >>> from modulog import Reasoner
    >>> r = Reasoner("p(?x) :- e(?x, ?y) . e(a, b) .")
    >>> [s.predicates for s in r.update(add={"e": [("b", "c")]}).statistics.strata]
    [('p/1',)]
    """

    strata: list[StratumUpdate] = field(default_factory=list)
    seconds: float = 0.0
    compiling: float = 0.0  # seconds in which kernels were compiled, which no other figure has
    node_bytes: int = 0  # the tables of decomposed rules, which are kept for the next update
    failures: Failures = field(default_factory=Failures)

    def __str__(self) -> str:
        lines = [f"{plural(len(self.strata), 'stratum', 'strata')} touched in {self.seconds * 1000:.1f} ms"]
        for s in self.strata:
            names = ", ".join(s.predicates[:3]) + (", …" if len(s.predicates) > 3 else "")
            lines.append(
                f"  {names}: {s.how} (expected to look at {s.incremental:,.0f} facts, "
                f"from scratch at {s.scratch:,.0f}), {plural(s.changes, 'change')} below, "
                f"{s.overdeleted:,} left, {s.added:,} came, {plural(s.rounds, 'round')}, {s.seconds * 1000:.1f} ms"
            )
        if self.compiling:
            lines.append(compiling_line(self.compiling))
        if self.node_bytes:
            lines.append(f"  tables of decomposed rules: {self.node_bytes / 1e6:.1f} MB")
        lines += [f"  {line}" for line in self.failures.told()]
        return "\n".join(lines)
