"""Checkpoints of a materialisation: strata that are done, rounds of the next one.

A state is committed after loading, after every stratum, and after every k-th round, unless rounds are so quick that this would take most of the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from modulog.engines.protocol import Failures, Relation
from modulog.evaluation.facts import Facts
from modulog.evaluation.statistics import RoundStatistics, RuleStatistics, StratumStatistics
from modulog.evaluation.stratum_group import StratumGroup
from modulog.kernels.compile_time import working_time
from modulog.language.model import Predicate
from modulog.pipeline.checkpoint_file import ROUNDS, Committed


class Checkpoints(Committed):
    """The checkpoints of one run, for `Reasoner(checkpoints=…, folder=checkpoints.folder)` or `Reasoner.open`.

    `resumed` says in words what an earlier run with the same key has left; it is empty if there is
    nothing. Explicit facts that are `stored` lie in the store already. Once the results are where they belong, `clear` removes the files, which the reasoner needs until then.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as store:
    ...     Checkpoints(Path(store), {"rules": "p(?x) :- q(?x) ."}).loaded
    False
    """

    def __init__(
        self, store: Path, key: Mapping[str, Any], rounds: int = ROUNDS, *, stored: bool = False
    ) -> None:
        self.kind, self._stored = "recomputation" if stored else "materialisation", stored
        super().__init__(store, key, rounds)

    @property
    def failures(self) -> Failures:
        """What the earlier run had counted."""
        return Failures(*self._state["failures"]) if self._state is not None else Failures()

    @property
    def resumed(self) -> str:
        """What the earlier run has left, in words."""
        if self._state is None:
            return ""
        strata = self._state["strata"]
        done = sum(stratum["finished"] for stratum in strata)
        rounds = next((len(s["rounds"]) for s in strata if not s["finished"] and s["rounds"]), 0)
        words = f"explicit facts and {done} of {len(strata)} strata"
        return words + (f", the next one up to round {rounds - 1}" if rounds else "")

    # ---- What the reasoner asks for

    def resume(self, facts: Facts, runs: Sequence[StratumGroup]) -> None:
        """Put back what was kept, or commit the explicit facts."""
        self._facts, self._runs, self._before = facts, runs, facts.engine.failures - self.failures
        if self._state is None:
            self._done, self._rounds = 0, 0
            if not self._stored:
                self._consider()
            return
        for name, arity in self._state["explicit"]:
            facts.explicit_relation(Predicate(name, arity))
        explicit = [facts.explicit[Predicate(name, arity)] for name, arity in self._state["explicit"]]
        pairs = [(r, s) for r, s in zip(runs, self._state["strata"], strict=True) if s["kept"]]
        kept = [relation for run, _ in pairs for relation in run.kept]
        self._backend.thaw_relations(self._state["engine"], [*explicit, *kept])
        for run, stratum in pairs:
            run.finished = stratum["finished"]
            run.statistics = _statistics(run.statistics, stratum)
        self._done, self._rounds = self._progress()

    def reached(self) -> None:
        """Commit if a stratum is done, or enough rounds are, and it costs little of the time; if it costs nothing, in any case when all is done."""
        done, rounds = self._progress()
        if done > self._done or rounds >= self._rounds + self._every:
            self._consider(is_last=done == len(self._runs))

    def _consider(self, is_last: bool = False) -> None:
        """Commit, unless that would take too much of the time."""
        relations = [*self._explicit().values(), *(r for run in self._runs for r in run.kept)]
        cost = self._backend.freezing_seconds(relations)
        if self._is_paid(cost) or (is_last and not cost):
            self._keep()

    def _explicit(self) -> dict[Predicate, Relation]:
        """The explicit facts, unless they lie in the store."""
        return {} if self._stored else dict(self._facts.explicit)

    def _progress(self) -> tuple[int, int]:
        """How many strata are done, and the rounds of all."""
        done = sum(run.finished for run in self._runs)
        return done, sum(len(run.statistics.rounds) for run in self._runs)

    def _keep(self) -> None:
        """Commit the present state, unless its evaluation is put off."""
        began = working_time()
        explicit = self._explicit()
        taken = [run for run in self._runs if all(map(self._backend.can_freeze, run.kept))]
        kept = [relation for run in taken for relation in run.kept]
        changing: list[Relation] = [r for run in taken if not run.finished for r in run.kept]
        frozen = self._backend.freeze([*explicit.values(), *kept], changing)
        if frozen is None:
            return
        for run in self._runs:
            run.recount()
        content = {
            "explicit": [[p.name, p.arity] for p in explicit],
            "strata": [_stratum(run, run in taken) for run in self._runs],
            "failures": (self._facts.engine.failures - self._before).counts(),
        }
        self._commit(began, frozen, content)
        self._done, self._rounds = self._progress()


def _stratum(run: StratumGroup, is_kept: bool) -> dict[str, Any]:
    """How far a stratum has come, if its relations are kept; otherwise it is computed again."""
    if not is_kept:
        return {"kept": False, "finished": False, "rounds": []}
    return {"kept": True, "finished": run.finished, **_record(run.statistics)}


def _record(statistics: StratumStatistics) -> dict[str, Any]:
    """Rounds as JSON can say them; rules by their text."""
    rounds = [
        {**asdict(replace(r, rules=[])), "rules": [_rule(rule) for rule in r.rules]}
        for r in statistics.rounds
    ]
    return {"rounds": rounds, "seconds": statistics.seconds}


def _statistics(fresh: StratumStatistics, record: Mapping[str, Any]) -> StratumStatistics:
    """The statistics of a stratum with the rounds that were recorded."""
    rounds = [
        RoundStatistics(**{**r, "rules": [_rule_again(rule) for rule in r["rules"]]})
        for r in record["rounds"]
    ]
    return replace(fresh, rounds=rounds, seconds=record["seconds"])


def _rule(rule: RuleStatistics) -> list[Any]:
    return [rule.rule, rule.rows, rule.seconds, rule.failures.counts()]


def _rule_again(record: Sequence[Any]) -> RuleStatistics:
    label, rows, seconds, failures = record
    return RuleStatistics(label, rows, seconds, Failures(*failures))
