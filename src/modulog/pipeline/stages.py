"""A run, stage by stage: read, materialise or update, note the change, save, write the sinks.

The store is saved before the sinks are written, with a note of what they do not have yet: a run that is killed in between leaves that to the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from modulog.engines.backend import FactFile
from modulog.engines.registry import start_spark
from modulog.errors import DataError
from modulog.language.model import Predicate
from modulog.language.printer import print_program
from modulog.pipeline import incremental
from modulog.pipeline.account import Account
from modulog.pipeline.changes import Survey, survey
from modulog.pipeline.checking import Checked
from modulog.pipeline.checkpoints import Checkpoints
from modulog.pipeline.configuration import Source
from modulog.pipeline.files import checksums, remote_files
from modulog.pipeline.incremental import Step
from modulog.pipeline.log import RunLog, recorded
from modulog.pipeline.modes import way_of
from modulog.pipeline.run import START, Run, Watch
from modulog.pipeline.sinks import write_sink
from modulog.pipeline.state import Files, SourceState, State, StreamState
from modulog.pipeline.streams import Stream, file_stream, run_stream
from modulog.pipeline.update_checkpoints import UpdateCheckpoints
from modulog.planning.pipeline import Switches
from modulog.session import Reasoner
from modulog.store.manifest import read_manifest
from modulog.store.writing import BAD, CHANGES, STREAMS, check_target

if TYPE_CHECKING:
    from modulog.maintenance.change import Change


def run_alone(
    checked: Checked, watch: Watch, *, full: bool = False, spark: Any = None, streams: Sequence[Stream] = ()
) -> Run:
    """Run a pipeline while no other runs on its store, with log and report."""
    with recorded(checked.configuration, watch) as record:
        try:
            return record.finished(Runner(checked, record.log, full, spark, streams).run())
        except OSError as error:  # a disk that is full, a file that is gone
            where = error.filename or checked.configuration.store
            raise DataError(f"{where}: {error.strerror or error}") from error


class Runner:
    """One run of a pipeline in which nothing is wrong."""

    def __init__(
        self,
        checked: Checked,
        watch: RunLog,
        full: bool,
        spark: Any,
        streams: Sequence[Stream],
    ) -> None:
        self.checked, self.configuration, self.watch = checked, checked.configuration, watch
        self.store = Path(self.configuration.store)
        self.way = way_of(checked, full)
        self.known = self.way.known
        before = self.known.state if self.known else State()
        self.state = replace(before, switches=self.configuration.switches)
        self.spark, self.streams = spark, streams
        self.account = Account(watch, self.way)

    def run(self) -> Run:
        """Do everything; a failure leaves the store and the sinks with what they had when the last stage was done."""
        with ExitStack() as ours:
            if self.spark is None:
                later = self.known is not None and not self.way.recomputes
                starting = partial(self.watch.stage, START)
                settings, log = self.configuration.spark, self.watch.spark_log
                self.spark, stop = start_spark(settings, log, starting, later)
                ours.callback(stop)
            self._clean()
            with self._reasoner() as reasoner:
                self._apply(reasoner)
                statistics = reasoner.materialise()
                explicit, facts = statistics.explicit, statistics.facts
            self.checkpoints.clear()
        return self.account.run(read_manifest(self.store).generation, explicit, facts)

    # ---- The facts as they were, or as the sources say

    def _survey(self) -> Survey:
        """The sources as they are, before one of them is read: what changes later is seen by the next run."""
        files: dict[str, list[FactFile] | None] = {}
        sums: dict[str, Files | None] = {}
        for source, here in zip(self.configuration.sources, self.checked.files, strict=True):
            found = None if source.table or source.stream else here
            if source.path is not None and here is None and not source.stream:
                found = remote_files(self.spark, source)
            files[source.key] = found
            sums[source.key] = None if found is None else checksums(found, self.spark)
        return survey(self.configuration, self.checked.program, self.known, files, sums)

    def _reasoner(self) -> Reasoner:
        """A reasoner over the store, which has what the plain sources say, or said when they were last read."""
        with self.watch.stage("read"):
            self.found = self._survey()
        if self.known is None:
            self._load()
        elif self.way.recomputes:
            self._recompute()
        self.checkpoints = UpdateCheckpoints(
            self.store, self._update_key(), self.configuration.checkpoint_rounds
        )
        self.account.resume(self.checkpoints.resumed)
        return self._open(self.checkpoints)

    def _open(self, checkpoints: Checkpoints | UpdateCheckpoints, **options: Any) -> Reasoner:
        return Reasoner.open(
            self.store,
            spark=self.spark,
            folder=checkpoints.folder,
            checkpoints=checkpoints,
            progress=self.watch,
            **self.configuration.limits,
            **options,
        )

    def _key(self) -> dict[str, Any]:
        """Everything that decides what is computed next."""
        saved = check_target(self.store)
        return {
            "generation": saved.generation if saved is not None else 0,
            "rules": print_program(self.checked.program),
            "switches": self.state.switches,
            "sources": self.found.sums,
        }

    def _update_key(self, is_stream: bool = False) -> dict[str, Any]:
        """The same for an update. Nobody knows whether a table, or a batch of a stream, is the same next time: no other run can go on then."""
        sums = (self.found.sums[source.key] for source in self.configuration.sources if not source.stream)
        return {"run": uuid4().hex} if is_stream or None in sums else self._key()

    def _load(self) -> None:
        """Read all plain sources, compute what follows, save; a run that was killed is taken up where it was."""
        sums = self.found.sums
        checkpoints = Checkpoints(self.store, self._key(), self.configuration.checkpoint_rounds)
        self.account.resume(checkpoints.resumed)
        made = Reasoner(
            self.checked.program,
            spark=self.spark,
            folder=checkpoints.folder,
            checkpoints=checkpoints,
            progress=self.watch,
            **self.configuration.switches,
            **self.configuration.limits,
        )
        plain = [source for source in self.configuration.sources if not source.is_batch]
        with made as reasoner:
            filled: dict[str, Iterable[Predicate]] = {}
            with self.watch.stage("read"):
                for source in () if checkpoints.loaded else plain:
                    self.watch.note(source=source.place)
                    filled[source.key] = reasoner.load(source.place, **source.options())
            self._materialise(reasoner)
            sources = {
                s.key: SourceState(sums[s.key], tuple(filled.get(s.key) or _fills(s, reasoner)))
                for s in plain
            }
            self._save_all(reasoner, replace(self.state, sources=sources))
        checkpoints.clear()

    def _recompute(self) -> None:
        """Compute what follows from the stored explicit facts by other rules, and save."""
        switches = Switches(**self.configuration.switches)
        checkpoints = Checkpoints(self.store, self._key(), self.configuration.checkpoint_rounds, stored=True)
        self.account.resume(checkpoints.resumed)
        with self._open(checkpoints, program=self.checked.program, switches=switches) as reasoner:
            self._materialise(reasoner)
            self._save_all(reasoner, self.state)
        checkpoints.clear()

    def _materialise(self, reasoner: Reasoner) -> None:
        for name in incremental.coming(self.checked, bool(self.streams)):
            reasoner.given(name, [])  # so that nobody is told that there are no facts
        with self.watch.stage("materialise"):
            reasoner.materialise()
            self.account.materialised(reasoner)

    def _save_all(self, reasoner: Reasoner, state: State) -> None:
        """Save a state of which sinks have nothing yet."""
        names = {predicate.name for predicate in reasoner.predicates()}
        self._save(reasoner, replace(state, behind=tuple(sorted(names))))

    # ---- What has changed

    def _apply(self, reasoner: Reasoner) -> None:
        """Bring in what sources, batches and streams have changed, each as one update, then the sinks."""
        if self.way.mode == "incremental":
            self.watch.note(plan=str(reasoner.plan()))
        if self.known is not None and (self.found.changed or self.found.concerned):
            with self.watch.stage("compare"):
                step = incremental.compare(reasoner, self.found, self.configuration, self.state)
            self._update(reasoner, step)
        if any(files for _, files in self.found.batches):
            with self.watch.stage("read"):
                step = incremental.take_batches(reasoner, self.found, self.state)
            self._update(reasoner, step)
        self._write_sinks(reasoner)
        streams = [file_stream(source) for source in self.configuration.sources if source.stream]
        for stream in (*streams, *self.streams):
            self._stream(reasoner, stream)

    def _stream(self, reasoner: Reasoner, stream: Stream) -> None:
        """Every batch of a stream is an update, with sinks and all."""

        def take(batch: Any, after: StreamState) -> None:
            with self.watch.stage("read"):
                self.watch.note(stream=stream.key, batch=after.batch)
                given = stream.read(reasoner, batch)
            self.checkpoints.next(self._update_key(is_stream=True))
            streams = {**self.state.streams, stream.key: after}
            state = replace(incremental.touched_by(self.state, given), streams=streams)
            self._update(reasoner, incremental.batch(given, stream.role, state))
            self._write_sinks(reasoner)

        known = self.state.streams.get(stream.key) or StreamState(uuid4().hex)
        run_stream(self.spark, stream, known, self.store / STREAMS, take)

    def _update(self, reasoner: Reasoner, step: Step) -> None:
        """One update, its net change, and the state after it."""
        names: Iterable[str] = ()
        if not step.is_empty:
            with self.watch.stage("update"):
                change = reasoner.update(delete=step.delete, add=step.add)
                names = (*change.added, *change.deleted)
                self.account.updated(reasoner, change)
            if change:
                self._note_change(change)
        behind = tuple(sorted({*self.state.behind, *names}))
        self._save(reasoner, replace(step.state, behind=behind))
        self.checkpoints.next(self._update_key())

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
            reasoner.save(self.store, notes=state.to_notes())
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
                        reasoner, self.spark, sink, known[sink.key], state.behind
                    )
                    self.account.wrote(sink.place, written)
            self._save(reasoner, replace(state, sinks=parts, behind=()))

    def _clean(self) -> None:
        """Remove what runs that were killed have left: changes that were never saved, and streams that the store does not know."""
        saved = check_target(self.store)
        streams = saved.notes.get("streams", {}) if saved else {}
        kept = {stream["checkpoint"] for stream in streams.values()}
        for path in (path for folder in (CHANGES, BAD, STREAMS) for path in self.store.glob(f"{folder}/*")):
            number = path.name.removeprefix("generation=")
            is_saved = path.name in kept or (number.isdecimal() and saved and int(number) <= saved.generation)
            if not is_saved:
                rmtree(path, ignore_errors=True)


def _fills(source: Source, reasoner: Reasoner) -> list[Predicate]:
    """What a source may have filled, when another run has read it: by its names, or anything."""
    names = source.predicates
    return [p for p in reasoner.predicates() if names is None or p.name in names]
