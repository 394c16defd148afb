"""Statistics of materialisations and updates as the log of a run has them: what JSON can say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from modulog.engines.protocol import Failures
from modulog.maintenance.statistics import UpdateStatistics
from modulog.materialisation.statistics import RoundStatistics, Statistics


def described(statistics: Statistics) -> dict[str, Any]:
    """What a materialisation did, by stratum and rule, as JSON can say it.

    Rules that Spark evaluates together share the seconds of their round, and those that it puts off also the seconds of their evaluation.

    >>> from modulog import Reasoner
    >>> found = described(Reasoner("q(?x) :- p(?x) . p(a) .").materialise())
    >>> [stratum["predicates"] for stratum in found["strata"]], found["rules"][0]["rule"], found["rules"][0]["rows"]
    ([['q/1']], 'q(?x) :- p(?x) .', 1)
    """
    others = (("explicit facts, encoded", statistics.loading), ("evaluated late", statistics.late))
    strata = [
        *(_summed([name], [part], part.seconds) for name, part in others if part.actions),
        *(_summed(s.predicates, s.rounds, s.seconds) for s in statistics.strata),
    ]
    rounds = [r for stratum in statistics.strata for r in stratum.rounds]
    return {
        "strata": strata,
        "rules": _by_rule(rounds, statistics.late.seconds),
        "failures": counts(statistics.failures),
    }


def counts(failures: Failures) -> dict[str, int]:
    """How often what happened, without what did not.

    >>> counts(Failures(incomparable=2))
    {'incomparable': 2}
    """
    return {kind: number for kind, number in asdict(failures).items() if number}


def _summed(names: Sequence[str], rounds: Sequence[RoundStatistics], seconds: float) -> dict[str, Any]:
    """Some rounds in one line."""
    facts, jobs = sum(r.facts for r in rounds), sum(r.actions for r in rounds)
    return {
        "predicates": list(names),
        "rounds": len(rounds),
        "facts": facts,
        "jobs": jobs,
        "seconds": seconds,
    }


def _by_rule(rounds: Sequence[RoundStatistics], late: float = 0.0) -> list[dict[str, Any]]:
    """What each rule gave in all rounds, and its seconds: its own, or an equal share of its round's and, if it was put off, of the late ones."""
    put_off = sum(not rule.seconds for r in rounds for rule in r.rules if not r.actions)
    found: dict[str, dict[str, Any]] = {}
    failures: dict[str, Failures] = {}
    for round_ in rounds:
        together = sum(not rule.seconds for rule in round_.rules)
        rest = max(0.0, round_.seconds - sum(rule.seconds for rule in round_.rules))
        for rule in round_.rules:
            later = 0.0 if round_.actions else late / max(put_off, 1)
            total = found.setdefault(
                rule.rule, {"rule": rule.rule, "rounds": 0, "rows": 0, "seconds": 0.0, "shared": False}
            )
            total["rounds"] += 1
            total["rows"] = None if None in (total["rows"], rule.rows) else total["rows"] + rule.rows
            total["seconds"] += rule.seconds or rest / together + later
            total["shared"] |= not rule.seconds
            failures[rule.rule] = failures.get(rule.rule, Failures()) + rule.failures
    for name, total in found.items():
        total["failures"] = counts(failures[name])
    found.pop("", None)  # what is no rule: facts that an earlier run had found
    return sorted(found.values(), key=lambda rule: -rule["seconds"])


def described_update(statistics: UpdateStatistics) -> dict[str, Any]:
    """How an update brought each stratum up to date, and what rules gave, as JSON can say it."""
    strata = [asdict(replace(stratum, evaluated=[])) for stratum in statistics.strata]
    for stratum in strata:
        del stratum["evaluated"]
    rules = _by_rule([r for s in statistics.strata for r in s.evaluated])
    return {"updates": strata, "rules": rules, "failures": counts(statistics.failures)}
