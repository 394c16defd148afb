"""What a run has computed so far, in the store's folder, so that a run that was killed is taken up where it
was.

    checkpoint/state.json            the key of the run, how far it has come, and in which files everything lies
    checkpoint/facts-…/, terms/      the files: of executors those that they have written anyway

A state is committed by one rename: until then the one before it counts, and its files stay. Nobody who reads
the store looks here. A run whose key, which is everything that decides what it computes, is not that of the
state begins anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from shutil import rmtree
from typing import Any

from modulog.engines.backend import Backend
from modulog.engines.freezer import Frozen
from modulog.engines.relation import Relation
from modulog.engines.values import Failures
from modulog.errors import NotSupported
from modulog.evaluation.facts import Facts
from modulog.evaluation.statistics import RoundStatistics, RuleStatistics, StratumStatistics
from modulog.evaluation.stratum import StratumGroup
from modulog.kernels.compile_time import working_time
from modulog.language.model import Predicate
from modulog.store.checked_file import checksum, synchronise, write_whole
from modulog.store.draft import CHECKPOINT

ROUNDS = 10
"""Rounds after which a state is committed, unless told otherwise."""

SHARE = 10
"""Committing takes at most one part in so many of the time: what is due waits, if it must, for a later round.
"""

STATE = "state.json"
"""The file that says what was committed, and in which files it lies."""
_VERSION = 4
_SYNCHRONISED = 16  # files at a time

Files = dict[str, dict[str, int]]
"""The files of each folder, with their bytes."""


class Committed:
    """The last state that was committed, and the next one.

    `key` can be said in JSON. `commits` counts those of this process.
    """

    kind: str
    """What is computed: one kind of work does not go on with what another has left."""

    def __init__(self, store: Path, key: Mapping[str, Any], rounds: int = ROUNDS) -> None:
        self.area = store.absolute() / CHECKPOINT
        self._expect(key)
        self._every = rounds
        self._state = self._found()
        self._files: Files = self._state["files"] if self._state is not None else {}
        self.commits = 0
        self._committed, self._cost = 0.0, 0.0  # when the last commit was over, and how long it took
        if self._state is None:
            self.clear()
        else:
            self._sweep()

    def _expect(self, key: Mapping[str, Any]) -> None:
        self._key = json.loads(json.dumps({"kind": self.kind, **key}))

    @property
    def folder(self) -> str:
        """Where the reasoner is to keep facts and terms."""
        return f"file://{self.area}"

    @property
    def loaded(self) -> bool:
        """Whether an earlier run has left something."""
        return self._state is not None

    def begin(self, backend: Backend) -> None:
        """Take terms up before there are others than those of the store."""
        if backend.freezer is None:
            raise NotSupported("this engine has no checkpoints")
        self._freezer = backend.freezer
        self._begun = working_time()
        self._freezer.freeze_into(self.area)
        if self._state is not None:
            self._freezer.thaw(self._state["engine"])

    def clear(self) -> None:
        """Remove everything, once no reasoner needs its files any more."""
        self.forget()
        rmtree(self.area, ignore_errors=True)

    def forget(self) -> None:
        """Let nobody take up what was committed: it is where it belongs."""
        with suppress(OSError):
            (self.area / STATE).unlink()

    # ---- Committing

    def _is_paid(self, cost: float = 0.0) -> bool:
        """Whether so much time has passed that a commit, which is thought to take so many seconds, costs
        little of it.
        """
        since = max(self._committed, self._begun if cost else 0.0)
        return working_time() - since >= SHARE * max(cost, self._cost)

    def _commit(self, began: float, frozen: Frozen, content: Mapping[str, Any]) -> None:
        """Make a state that was frozen, since some moment, the one that counts."""
        self._files = self._written(frozen)
        whole = {
            "version": _VERSION,
            "key": self._key,
            "files": self._files,
            **content,
            "engine": frozen.state,
        }
        text = json.dumps(whole, ensure_ascii=False)
        sealed = json.dumps({"checksum": checksum(text.encode()), "content": text}, ensure_ascii=False)
        write_whole(self.area / STATE, sealed.encode())
        self.commits += 1
        self._committed = working_time()
        self._cost = self._committed - began

    def _written(self, frozen: Frozen) -> Files:
        """The files of a state, all of them on disk."""
        new = frozen.folders - self._files.keys()
        found = {folder: _listed(self.area / folder) for folder in new}
        paths = [self.area / folder / name for folder, names in found.items() for name in names]
        folders = [self.area / folder for folder in new]
        above = {parent for folder in folders for parent in folder.parents if self.area in parent.parents}
        self.area.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(_SYNCHRONISED) as threads:
            list(threads.map(synchronise, [*paths, *folders, *above]))
        return {folder: found[folder] if folder in new else self._files[folder] for folder in frozen.folders}

    # ---- What an earlier run has left

    def _found(self) -> dict[str, Any] | None:
        """The state that an earlier run has left, if it is whole and this run's own."""
        try:
            sealed = json.loads((self.area / STATE).read_bytes())
            text = sealed["content"]
            if sealed["checksum"] != checksum(text.encode()):
                return None
            content: dict[str, Any] = json.loads(text)
            if content["version"] != _VERSION or content["key"] != self._key:
                return None
            whole = all(_listed(self.area / folder) == names for folder, names in content["files"].items())
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return content if whole else None

    def _sweep(self) -> None:
        """Remove what the state does not need: the work of the last moments of the run that was killed."""
        needed = {"/".join(folder.split("/")[:2]) for folder in self._files}
        for path in self.area.glob("*/*"):
            if path.relative_to(self.area).as_posix() not in needed:
                rmtree(path) if path.is_dir() else path.unlink()


def _listed(folder: Path) -> dict[str, int]:
    """The files of a folder with their bytes, without those that Hadoop puts beside them."""
    return {p.name: p.stat().st_size for p in sorted(folder.iterdir()) if p.name[0] not in "._"}


class Checkpoints(Committed):
    """The checkpoints of one run, for `begin` and `open_store` of `reasoner/for_pipelines.py`.

    `resumed` says in words what an earlier run with the same key has left; it is empty if there is nothing.
    Explicit facts that are `stored` lie in the store already. Once the results are where they belong, `clear`
    removes the files, which the reasoner needs until then.

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
        self._freezer.thaw_relations(self._state["engine"], [*explicit, *kept])
        for run, stratum in pairs:
            run.finished = stratum["finished"]
            run.statistics = _statistics(run.statistics, stratum)
        self._done, self._rounds = self._progress()

    def reached(self) -> None:
        """Commit if a stratum is done, or enough rounds are, and it costs little of the time; if it costs
        nothing, in any case when all is done.
        """
        done, rounds = self._progress()
        if done > self._done or rounds >= self._rounds + self._every:
            self._consider(is_last=done == len(self._runs))

    def _consider(self, is_last: bool = False) -> None:
        """Commit, unless that would take too much of the time."""
        relations = [*self._explicit().values(), *(r for run in self._runs for r in run.kept)]
        cost = self._freezer.freezing_seconds(relations)
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
        taken = [run for run in self._runs if all(map(self._freezer.can_freeze, run.kept))]
        kept = [relation for run in taken for relation in run.kept]
        changing: list[Relation] = [r for run in taken if not run.finished for r in run.kept]
        frozen = self._freezer.freeze([*explicit.values(), *kept], changing)
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
