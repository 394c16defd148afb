"""What an update did: for each stratum how it was brought up to date, what that was expected to cost, and what it did."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class StratumUpdate:
    """One stratum in an update. `how` is "incrementally", "exactly" (a closure) or "from scratch"."""

    predicates: tuple[str, ...]
    how: str
    changes: int = 0  # facts below it that came or went
    facts: int = 0  # facts that a computation from scratch reads
    overdeleted: int = 0
    added: int = 0  # rederived or new
    rounds: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class UpdateStatistics:
    """The whole update; strata that nothing reached are not listed."""

    strata: list[StratumUpdate] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        lines = [f"{len(self.strata)} strata touched in {self.seconds * 1000:.1f} ms"]
        for s in self.strata:
            names = ", ".join(s.predicates[:3]) + (", …" if len(s.predicates) > 3 else "")
            lines.append(
                f"  {names}: {s.how} ({s.changes:,} changes below, {s.facts:,} facts from scratch), {s.overdeleted:,} left, "
                f"{s.added:,} came, {s.rounds} rounds, {s.seconds * 1000:.1f} ms"
            )
        return "\n".join(lines)
