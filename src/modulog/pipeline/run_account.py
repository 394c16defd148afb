"""What a run has done so far: it goes into the log as soon as it is known, and at the end all of it into the
`Run`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from modulog.engines.values import Failures
from modulog.evaluation.statistics import RoundStatistics, Statistics, UpdateStatistics
from modulog.pipeline.run import Run, Watch
from modulog.pipeline.run_state import Way
from modulog.reasoner import for_pipelines

if TYPE_CHECKING:
    from modulog.maintenance.change import Change
    from modulog.reasoner.reasoner import Reasoner
    from modulog.task.decision import Decision


SHOWN = 20
"""Bad records that the log has; the file that it names has all of them."""

_TEXT = 200  # characters of a bad record


class Account:
    """Everything by the names that `Run` has for it."""

    def __init__(self, watch: Watch, way: Way) -> None:
        self._watch, self._way = watch, way
        self._reason, self._resumed = way.reason, ""
        self._change: str | None = None
        self._bad_records: Path | None = None
        self._set_aside = self._still_derived = 0
        self._failures = Failures()
        self._read: dict[str, int] = {}
        self._added: dict[str, int] = {}
        self._deleted: dict[str, int] = {}
        self._written: dict[str, int] = {}
        self._decision: Decision | None = None
        watch.note(mode=way.mode, reason=way.reason)

    def decided(self, decision: Decision) -> None:
        """Say whether one task of Spark does the work, or all executors, and why."""
        self._decision = decision
        self._watch.note(workers=decision.workers, where=decision.place)

    def planned(self, reasoner: Reasoner) -> Reasoner:
        """Let the plan of a reasoner tell that, too."""
        if self._decision is not None:
            reasoner.plan().place = self._decision.place
        return reasoner

    def carried(self) -> Account:
        """The same as it travels: without somebody who watches."""
        found = copy(self)
        del found._watch
        return found

    def watched(self, watch: Watch) -> Account:
        """One that has travelled, with somebody who watches."""
        found = copy(self)
        found._watch = watch
        return found

    def take(self, other: Account, before: Path, after: Path) -> None:
        """Have what another process has done for this run; files that lay in one folder there lie in another
        now.
        """
        self.__dict__ |= other.__dict__
        if self._change is not None:
            self._change = self._change.replace(str(before), str(after))
        if self._bad_records is not None:
            self._bad_records = Path(str(self._bad_records).replace(str(before), str(after)))

    def resume(self, left: str) -> None:
        """Say what a run that was killed has left, if it has left anything."""
        if left:
            on = f"a run that was killed goes on, with {left}"
            self._reason = on if self._way.known is None else f"{self._way.reason}; {on}"
            self._resumed = left
            self._watch.note(resumed=left, reason=self._reason)

    # ---- What comes in

    def save(self, reasoner: Reasoner, place: Path) -> None:
        """What was read for the state that is saved now; its bad records are moved to a place."""
        found = for_pipelines.take_readings(reasoner)
        for reading in found:
            _add(self._read, {reading.path: reading.rows})
        if found:
            told = [{"source": r.path, "rows": r.rows, "set_aside": r.set_aside} for r in found]
            self._watch.note(sources=told)
        if moved := for_pipelines.move_bad_records(reasoner, place):
            self._bad_records = place if self._bad_records is None else place.parent
            self._set_aside += moved
            self._watch.note(set_aside=moved, place=str(place), bad_records=_first(place))

    # ---- What follows

    def materialised(self, reasoner: Reasoner) -> None:
        """All consequences were computed."""
        statistics = reasoner.materialise()
        self._watch.note(facts=statistics.facts, explicit=statistics.explicit, plan=str(reasoner.plan()))
        self._watch.note(**described(statistics))
        self._failures += statistics.failures

    def updated(self, reasoner: Reasoner, change: Change) -> None:
        """An update was made."""
        self._watch.note(added=change.added, deleted=change.deleted, ignored=change.ignored)
        self._watch.note(still_derived=change.still_derived)
        self._still_derived += change.still_derived
        self._watch.note(**described_update(change.statistics))
        self._failures += change.statistics.failures
        if self._way.mode == "incremental":  # a full run has shown how everything is joined
            self._watch.note(plan=str(reasoner.plan()))

    def changed(self, change: Change, place: Path) -> None:
        """The net change of an update is in a table."""
        self._change = str(place)
        _add(self._added, change.added)
        _add(self._deleted, change.deleted)

    # ---- What goes out

    def wrote(self, sink: str, parts: Mapping[str, int]) -> None:
        """The parts of a sink were written, with so many rows."""
        self._written |= parts
        self._watch.note(sink=sink, written=parts)

    def run(self, generation: int, explicit: int, facts: int) -> Run:
        """The whole run."""
        return Run(
            self._way.mode,
            self._reason,
            generation,
            explicit,
            facts,
            added=self._added,
            deleted=self._deleted,
            written=self._written,
            change=self._change,
            set_aside=self._set_aside,
            still_derived=self._still_derived,
            bad_records=None if self._bad_records is None else str(self._bad_records),
            read=self._read,
            failures=counts(self._failures),
            resumed=self._resumed,
            place="" if self._decision is None else self._decision.place,
        )


def _add(total: dict[str, int], more: Mapping[str, int]) -> None:
    for name, count in more.items():
        total[name] = total.get(name, 0) + count


def _head(place: Path) -> list[dict[str, Any]]:
    """Some rows of the Parquet files of a folder."""
    files = map(pq.ParquetFile, sorted(place.glob("*.parquet")))
    batches = (batch for file in files for batch in file.iter_batches(SHOWN))
    return list(islice((row for batch in batches for row in batch.to_pylist()), SHOWN))


def _first(place: Path) -> list[dict[str, Any]]:
    """Some of the bad records that lie at a place, with the beginning of their text."""
    rows = _head(place)
    for row in rows:
        row["text"] = row["text"][:_TEXT] + ("…" if len(row["text"]) > _TEXT else "")
    return sorted(rows, key=lambda row: (row["file"], row["line"] or 0))


# Statistics of materialisations and updates as the log of a run has them: what JSON can say.
def described(statistics: Statistics) -> dict[str, Any]:
    """What a materialisation did, by stratum and rule, as JSON can say it.

    Rules that Spark evaluates together share the seconds of their round, and those that it puts off also the
    seconds of their evaluation.

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
    """What each rule gave in all rounds, and its seconds: its own, or an equal share of its round's and, if
    it was put off, of the late ones.
    """
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
