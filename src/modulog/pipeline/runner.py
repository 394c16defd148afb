"""A run, stage by stage: read, materialise or update, note the change, save, write the sinks.

The store is saved before the sinks are written, with a note of what they do not have yet: a run that is
killed in between leaves that to the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from modulog.errors import DataError
from modulog.language.model import Predicate
from modulog.language.printer import print_program
from modulog.pipeline import pending_updates
from modulog.pipeline.check import Checked
from modulog.pipeline.checkpoints import Checkpoints
from modulog.pipeline.config import Source
from modulog.pipeline.host import LocalHost, host_of
from modulog.pipeline.log import RunLog, recorded
from modulog.pipeline.pending_updates import Step
from modulog.pipeline.run import Run, Watch
from modulog.pipeline.run_account import Account
from modulog.pipeline.run_state import SourceState, State, StreamState, way_of
from modulog.pipeline.sinks import write_sink
from modulog.pipeline.spark_host import Stream, file_stream
from modulog.pipeline.survey import Work, checksums_ahead, survey_on
from modulog.pipeline.update_checkpoints import UpdateCheckpoints
from modulog.planning.passes import Switches
from modulog.reasoner import for_pipelines
from modulog.reasoner.fact_batch import facts
from modulog.reasoner.reasoner import Reasoner
from modulog.store.draft import BAD, CHANGES, STREAMS, TASKS, check_target
from modulog.store.manifest import read_manifest

if TYPE_CHECKING:
    from modulog.maintenance.change import Change
    from modulog.pipeline.spark_host import SparkHost

Counts = tuple[int, int]
"""Explicit facts, and all facts."""


def run_alone(
    checked: Checked, watch: Watch, *, full: bool = False, spark: Any = None, streams: Sequence[Stream] = ()
) -> Run:
    """Run a pipeline while no other runs on its store, with log and report."""
    with recorded(checked.configuration, watch) as record:
        try:
            return record.finished(_run(checked, record.log, full, spark, streams))
        except OSError as error:  # a disk that is full, a file that is gone
            raise told(error, checked.configuration.store) from error


def told(error: OSError, store: str) -> DataError:
    """What is said of an error of the file system."""
    return DataError(f"{error.filename or store}: {error.strerror or error}")


def _run(checked: Checked, log: RunLog, full: bool, spark: Any, streams: Sequence[Stream]) -> Run:
    """Do everything; a failure leaves the store and the sinks with what they had when the last stage was
    done.
    """
    configuration, way = checked.configuration, way_of(checked, full)
    account, store = Account(log, way), Path(configuration.store)
    with checksums_ahead(checked) as ahead, host_of(configuration, log, spark) as host:
        clean(store)
        with log.stage("read"):
            work = Work(checked, way, survey_on(host, checked, way, ahead))
        decision = host.decide(work)
        if decision is not None:
            account.decided(decision)
        if decision is not None and decision.workers == 1:
            from modulog.pipeline.task_host import TaskRun

            counts = TaskRun(work, cast("SparkHost", host), log, account).run(streams)
        else:
            rmtree(store / TASKS, ignore_errors=True)
            counts = Runner(work, host, log, account).run(streams)
    return account.run(read_manifest(store).generation, *counts)


def clean(store: Path) -> None:
    """Remove what runs that were killed have left: changes that were never saved, and streams that the store
    does not know.
    """
    saved = check_target(store)
    streams = saved.notes.get("streams", {}) if saved else {}
    kept = {stream["checkpoint"] for stream in streams.values()}
    for path in (path for folder in (CHANGES, BAD, STREAMS) for path in store.glob(f"{folder}/*")):
        number = path.name.removeprefix("generation=")
        is_saved = path.name in kept or (number.isdecimal() and saved and int(number) <= saved.generation)
        if not is_saved:
            rmtree(path, ignore_errors=True)


def all_streams(work: Work, streams: Sequence[Stream]) -> list[Stream]:
    """The streams of files that are sources, and those that were given."""
    sources = work.checked.configuration.sources
    return [*(file_stream(source) for source in sources if source.stream), *streams]


class Runner:
    """A run in this process, with the reasoner of its host."""

    def __init__(self, work: Work, host: LocalHost, watch: RunLog, account: Account) -> None:
        self.work, self.host, self.watch, self.account = work, host, watch, account
        self.configuration, self.found = work.checked.configuration, work.found
        self.way, self.known = work.way, work.way.known
        self.store = Path(self.configuration.store)
        before = self.known.state if self.known else State()
        self.state = replace(before, switches=self.configuration.switches)
        self.has_streams = False
        """Whether there are streams besides those of the configuration."""
        self.checkpoints: UpdateCheckpoints | None = None

    def run(self, streams: Sequence[Stream] = ()) -> Counts:
        """Do everything, and answer how many facts there are; a failure leaves the store and the sinks with
        what they had when the last stage was done.
        """
        self.has_streams = bool(streams)
        with self._reasoner() as reasoner:
            self._apply(reasoner)
            for stream in all_streams(self.work, streams):
                self._stream(reasoner, stream)
            statistics = reasoner.materialise()
            counts = statistics.explicit, statistics.facts
        if self.checkpoints is not None:
            self.checkpoints.clear()
        return counts

    # ---- The facts as they were, or as the sources say

    def _reasoner(self) -> Reasoner:
        """A reasoner over the store, which has what the plain sources say, or said when they were
        last read.
        """
        if self.known is None:
            self._load()
        elif self.way.recomputes:
            self._recompute()
        if self.host.keeps_updates:
            self.checkpoints = UpdateCheckpoints(
                self.store, self._update_key(), self.configuration.checkpoint_rounds
            )
            self.account.resume(self.checkpoints.resumed)
        return self._open(self.checkpoints)

    def _open(self, checkpoints: Checkpoints | UpdateCheckpoints | None, **options: Any) -> Reasoner:
        made = self.host.options(checkpoints)
        opened = for_pipelines.open_store(
            self.store, checkpoints=checkpoints, progress=self.watch, **made, **options
        )
        return self.account.planned(opened)

    def _key(self) -> dict[str, Any]:
        """Everything that decides what is computed next."""
        saved = check_target(self.store)
        return {
            "engine": self.host.engine,
            "generation": saved.generation if saved is not None else 0,
            "rules": print_program(self.work.checked.program),
            "switches": self.state.switches,
            "sources": self.found.sums,
        }

    def _update_key(self, is_stream: bool = False) -> dict[str, Any]:
        """The same for an update. Nobody knows whether a table, or a batch of a stream, is the same next
        time: no other run can go on then.
        """
        sums = (self.found.sums[source.key] for source in self.configuration.sources if not source.stream)
        return {"run": uuid4().hex} if is_stream or None in sums else self._key()

    def _load(self) -> None:
        """Read all plain sources, compute what follows, save; a run that was killed is taken up where
        it was.
        """
        sums = self.found.sums
        checkpoints = Checkpoints(self.store, self._key(), self.configuration.checkpoint_rounds)
        self.account.resume(checkpoints.resumed)
        made = for_pipelines.begin(
            self.work.checked.program,
            switches=Switches(**self.configuration.switches),
            checkpoints=checkpoints,
            progress=self.watch,
            **self.host.options(checkpoints),
        )
        plain = [source for source in self.configuration.sources if not source.is_batch]
        with self.account.planned(made) as reasoner:
            filled: dict[str, Iterable[Predicate]] = {}
            with self.watch.stage("read"):
                for source in () if checkpoints.loaded else plain:
                    self.watch.note(source=source.place)
                    filled[source.key] = self.host.load(reasoner, source)
            self._materialise(reasoner)
            sources = {
                s.key: SourceState(sums[s.key], tuple(filled.get(s.key) or _fills(s, reasoner)))
                for s in plain
            }
            self._save_all(reasoner, replace(self.state, sources=sources))
        self._keep_no_more(checkpoints)

    def _recompute(self) -> None:
        """Compute what follows from the stored explicit facts by other rules, and save."""
        switches = Switches(**self.configuration.switches)
        checkpoints = Checkpoints(self.store, self._key(), self.configuration.checkpoint_rounds, stored=True)
        self.account.resume(checkpoints.resumed)
        program = self.work.checked.program
        with self._open(checkpoints, program=program, switches=switches) as reasoner:
            self._materialise(reasoner)
            self._save_all(reasoner, self.state)
        self._keep_no_more(checkpoints)

    def _keep_no_more(self, checkpoints: Checkpoints) -> None:
        """The store has what was kept."""
        checkpoints.clear()

    def _materialise(self, reasoner: Reasoner) -> None:
        for name in pending_updates.coming(self.work.checked, self.has_streams):
            for_pipelines.given(reasoner, facts(name, []))  # so that nobody is told that there are no facts
        with self.watch.stage("materialise"):
            reasoner.materialise()
            self.account.materialised(reasoner)

    def _save_all(self, reasoner: Reasoner, state: State) -> None:
        """Save a state of which sinks have nothing yet."""
        names = {predicate.name for predicate in reasoner.predicates()}
        self._save(reasoner, replace(state, behind=tuple(sorted(names))))

    # ---- What has changed

    def _apply(self, reasoner: Reasoner) -> None:
        """Bring in what sources and batches have changed, each as one update, then write the sinks."""
        if self.way.mode == "incremental":
            self.watch.note(plan=str(reasoner.plan()))
        if self.known is not None and (self.found.changed or self.found.concerned):
            with self.watch.stage("compare"):
                step = pending_updates.compare(
                    reasoner, self.found, self.configuration, self.state, partial(self.host.read, reasoner)
                )
            self._update(reasoner, step)
        if any(files for _, files in self.found.batches):
            with self.watch.stage("read"):
                step = pending_updates.take_batches(
                    self.found, self.state, partial(self.host.read_files, reasoner)
                )
            self._update(reasoner, step)
        self._write_sinks(reasoner)

    def _stream(self, reasoner: Reasoner, stream: Stream) -> None:
        """Every batch of a stream is an update, with sinks and all."""

        def take(batch: Any, after: StreamState) -> None:
            with self.watch.stage("read"):
                self.watch.note(stream=stream.key, batch=after.batch)
                given = [for_pipelines.given(reasoner, stream.read(batch))]
            self._next_update(is_stream=True)
            self._update(
                reasoner, pending_updates.stream_batch(given, stream.role, stream.key, self.state, after)
            )
            self._write_sinks(reasoner)

        known = self.state.streams.get(stream.key) or StreamState(uuid4().hex)
        self.host.run_stream(stream, known, self.store / STREAMS, take)

    def _update(self, reasoner: Reasoner, step: Step) -> None:
        """One update, its net change, and the state after it."""
        names: Iterable[str] = ()
        if not step.is_empty:
            with self.watch.stage("update"):
                change = for_pipelines.update(reasoner, delete=step.delete, add=step.add)
                names = (*change.added, *change.deleted)
                self.account.updated(reasoner, change)
            if change:
                self._note_change(change)
        behind = tuple(sorted({*self.state.behind, *names}))
        self._save(reasoner, replace(step.state, behind=behind))
        self._next_update()

    def _next_update(self, is_stream: bool = False) -> None:
        """What was committed of the last update is of no use to the next one."""
        if self.checkpoints is not None:
            self.checkpoints.next(self._update_key(is_stream))

    def _note_change(self, change: Change) -> None:
        """The table of the net change, under the number of the state that is saved next."""
        with self.watch.stage("change"):
            place = self._next(CHANGES)
            change.write(place)
            self.account.changed(change, place)

    # ---- What is written

    def _next(self, folder: str) -> Path:
        """The place of something that belongs to the state that is saved next."""
        before = check_target(self.store)
        number = 1 if before is None else before.generation + 1
        return self.store / folder / f"generation={number}"

    def _save(self, reasoner: Reasoner, state: State) -> None:
        with self.watch.stage("save"):
            self.account.save(reasoner, self._next(BAD))
            for_pipelines.save(reasoner, self.store, state.to_notes())
            self.state = state

    def _write_sinks(self, reasoner: Reasoner) -> None:
        """Write what sinks do not have yet, then note that they have it."""
        state, sinks = self.state, self.configuration.sinks
        known = {sink.key: state.sinks.get(sink.key) for sink in sinks}
        if state.behind or state.sinks.keys() != known.keys():
            parts = {}
            with self.watch.stage("sinks"):
                for sink in sinks:
                    written, parts[sink.key] = write_sink(
                        reasoner, self.host, sink, known[sink.key], state.behind
                    )
                    self.account.wrote(sink.place, written)
            self._written(reasoner, replace(state, sinks=parts, behind=()))

    def _written(self, reasoner: Reasoner, state: State) -> None:
        """Note what sinks have now."""
        self._save(reasoner, state)


def _fills(source: Source, reasoner: Reasoner) -> list[Predicate]:
    """What a source may have filled, when another run has read it: by its names, or anything."""
    names = source.predicates
    return [p for p in reasoner.predicates() if names is None or p.name in names]
