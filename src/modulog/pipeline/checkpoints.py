"""Checkpoints of a run: what it has computed so far, in the store's folder, so that a run that was killed is taken up where it was.

    checkpoint/state.json            the key of the run, strata that are done, rounds, and in which files everything lies
    checkpoint/facts-…/, terms/      the files, which Spark has written anyway

A state is committed after loading, after every stratum, and after every k-th round, unless rounds are so quick that this would take most of the time, by one rename: until then the one before it counts, and its files stay. Nobody
who reads the store looks here. A run whose rules, switches and sources are not those of the state begins anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from shutil import rmtree
from time import perf_counter
from typing import Any

from modulog.engines.backend import Backend, Freezing, Frozen, can_freeze
from modulog.engines.protocol import Failures, Relation
from modulog.errors import NotSupported
from modulog.language.model import Predicate
from modulog.materialisation.facts import Facts
from modulog.materialisation.materialise import Run
from modulog.materialisation.statistics import RoundStatistics, RuleStatistics, StratumStatistics
from modulog.store.files import checksum, synchronise, write_whole
from modulog.store.writing import CHECKPOINT

ROUNDS = 10
"""Rounds after which a state is committed, unless told otherwise."""

SHARE = 10
"""Committing takes at most one part in so many of the time: what is due waits, if it must, for a later round."""

_STATE = "state.json"
_VERSION = 1
_SYNCHRONISED = 16  # files at a time

Files = dict[str, dict[str, int]]
"""The files of each folder, with their bytes."""


class Checkpoints:
    """The checkpoints of one run, for `Reasoner(checkpoints=…, folder=checkpoints.folder)`.

    `key` is everything that decides what the run computes, as JSON can say it. `resumed` says in words what an earlier run with the same key has left; it is empty if there is
    nothing. Once the results are where they belong, `clear` removes the files, which the reasoner needs until then.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as store:
    ...     Checkpoints(Path(store), {"rules": "p(?x) :- q(?x) ."}).loaded
    False
    """

    def __init__(self, store: Path, key: Mapping[str, Any], rounds: int = ROUNDS) -> None:
        self.area = store.absolute() / CHECKPOINT
        self._key, self._every = json.loads(json.dumps(key)), rounds
        self._state = self._found()
        self._files: Files = self._state["files"] if self._state is not None else {}
        self.commits = 0
        self._committed, self._cost = 0.0, 0.0  # when the last commit was over, and how long it took
        if self._state is None:
            self.clear()
        else:
            self._sweep()

    @property
    def folder(self) -> str:
        """Where the reasoner is to keep facts and terms."""
        return f"file://{self.area}"

    @property
    def loaded(self) -> bool:
        """Whether an earlier run has left something: then sources need not be read again."""
        return self._state is not None

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
        words = f"explicit facts, {done} of {len(strata)} strata"
        return words + (f", and the next up to round {rounds - 1}" if rounds else "")

    def clear(self) -> None:
        """Remove everything."""
        with suppress(OSError):
            (self.area / _STATE).unlink()  # first of all, so that nobody takes up what is left of the rest
        rmtree(self.area, ignore_errors=True)

    # ---- What the reasoner asks for

    def begin(self, backend: Backend) -> None:
        """Take terms up before there are others."""
        if not can_freeze(backend):
            raise NotSupported("only the Spark engine has checkpoints")
        self._backend: Freezing = backend
        if self._state is not None:
            backend.thaw(self._state["engine"])

    def resume(self, facts: Facts, runs: Sequence[Run]) -> None:
        """Put back what was kept, or commit the explicit facts."""
        self._facts, self._runs, self._before = facts, runs, facts.engine.failures - self.failures
        if self._state is None:
            self._commit()
            return
        for name, arity in self._state["explicit"]:
            facts.given(Predicate(name, arity))
        explicit = [facts.explicit[Predicate(name, arity)] for name, arity in self._state["explicit"]]
        kept = [relation for run in runs for relation in run.kept]
        self._backend.thaw_relations(self._state["engine"], [*explicit, *kept])
        for run, stratum in zip(runs, self._state["strata"], strict=True):
            run.finished = stratum["finished"]
            run.statistics = _statistics(run.statistics, stratum)
        self._done, self._rounds = self._progress()

    def reached(self) -> None:
        """Commit if a stratum is done, or enough rounds are; in any case when all is done."""
        done, rounds = self._progress()
        is_due = done > self._done or rounds >= self._rounds + self._every
        paid = perf_counter() - self._committed >= SHARE * self._cost
        if is_due and (paid or done == len(self._runs)):
            self._commit()

    def _progress(self) -> tuple[int, int]:
        """How many strata are done, and the rounds of all."""
        done = sum(run.finished for run in self._runs)
        return done, sum(len(run.statistics.rounds) for run in self._runs)

    # ---- Committing

    def _commit(self) -> None:
        """Make the present state the one that counts, unless its evaluation is put off."""
        began = perf_counter()
        explicit = dict(self._facts.explicit)
        kept = [relation for run in self._runs for relation in run.kept]
        changing: list[Relation] = [r for run in self._runs if not run.finished for r in run.kept]
        frozen = self._backend.freeze([*explicit.values(), *kept], changing)
        if frozen is None:
            return
        self._files = self._written(frozen)
        content = {
            "version": _VERSION,
            "key": self._key,
            "files": self._files,
            "explicit": [[p.name, p.arity] for p in explicit],
            "strata": [{"finished": run.finished, **_record(run.statistics)} for run in self._runs],
            "failures": (self._facts.engine.failures - self._before).counts(),
            "engine": frozen.state,
        }
        text = json.dumps(content, ensure_ascii=False)
        sealed = json.dumps({"checksum": checksum(text.encode()), "content": text}, ensure_ascii=False)
        write_whole(self.area / _STATE, sealed.encode())
        self._done, self._rounds = self._progress()
        self.commits += 1
        self._committed = perf_counter()
        self._cost = self._committed - began

    def _written(self, frozen: Frozen) -> Files:
        """The files of a state, all of them on disk."""
        new = frozen.folders - self._files.keys()
        found = {folder: _listed(self.area / folder) for folder in new}
        paths = [self.area / folder / name for folder, names in found.items() for name in names]
        folders = [self.area / folder for folder in new]
        above = {parent for folder in folders for parent in folder.parents if self.area in parent.parents}
        with ThreadPoolExecutor(_SYNCHRONISED) as threads:
            list(threads.map(synchronise, [*paths, *folders, *above]))
        return {folder: found[folder] if folder in new else self._files[folder] for folder in frozen.folders}

    # ---- What an earlier run has left

    def _found(self) -> dict[str, Any] | None:
        """The state that an earlier run has left, if it is whole and this run's own."""
        try:
            sealed = json.loads((self.area / _STATE).read_bytes())
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


def _record(statistics: StratumStatistics) -> dict[str, Any]:
    """Rounds as JSON can say them; rules by their text."""
    rounds = [
        {**asdict(replace(r, rules=[])), "rules": [[rule.rule, rule.rows, rule.seconds] for rule in r.rules]}
        for r in statistics.rounds
    ]
    return {"rounds": rounds, "seconds": statistics.seconds}


def _statistics(fresh: StratumStatistics, record: Mapping[str, Any]) -> StratumStatistics:
    """The statistics of a stratum with the rounds that were recorded."""
    rounds = [
        RoundStatistics(**{**r, "rules": [RuleStatistics(*rule) for rule in r["rules"]]})
        for r in record["rounds"]
    ]
    return replace(fresh, rounds=rounds, seconds=record["seconds"])
