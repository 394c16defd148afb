"""A run on Spark as one task, from the driver: what the task is asked for, what of it becomes known, and what
it has made is put into its places.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any
from uuid import uuid4

from modulog.errors import WorkerLost
from modulog.formats.folders import LocalFolder
from modulog.language.term_parser import full_name
from modulog.pipeline.in_task import OWN_STORE, Batch, Done, Made, RunRequest, keep_checkpoint
from modulog.pipeline.log import RunLog
from modulog.pipeline.pending_updates import file_options
from modulog.pipeline.run import TASK
from modulog.pipeline.run_account import Account
from modulog.pipeline.run_state import State, StreamState
from modulog.pipeline.runner import Counts, all_streams
from modulog.pipeline.sinks import bring_parts
from modulog.pipeline.spark_host import SparkHost, Stream
from modulog.pipeline.survey import Work
from modulog.reasoner.fact_batch import FactData, FactFiles, predicate_name
from modulog.store.draft import BAD, CHANGES, CHECKPOINT, STREAMS, TASKS, check_target
from modulog.store.manifest import Manifest
from modulog.task.call import Caller, Tail
from modulog.task.decision import needed, outgrown
from modulog.task.descriptions import Description, Fetching, GivenFacts, GivenFiles
from modulog.task.states import State as Stored
from modulog.task.states import forget, home_of, publish


class TaskRun:
    """A run of which a worker does everything, until files get their names and manifests theirs."""

    def __init__(self, work: Work, host: SparkHost, log: RunLog, account: Account) -> None:
        self.work, self.host, self.log, self.account = work, host, log, account
        self.configuration = work.checked.configuration
        self.store = Path(self.configuration.store)
        before = work.way.known.state if work.way.known else State()
        self.state = replace(before, switches=self.configuration.switches)

    def run(self, streams: Sequence[Stream]) -> Counts:
        """Do everything, and answer how many facts there are."""
        tasks = self.store / TASKS
        rmtree(self.store / CHECKPOINT, ignore_errors=True)  # of executors, which have not done this run
        keep_checkpoint(tasks)
        self.place = self.host.place()
        self.caller, self.fetching = Caller(self.place), Fetching(self.place)
        try:
            counts = self._run(streams)
        except BaseException:
            with suppress(OSError):
                keep_checkpoint(tasks)
            raise
        rmtree(tasks, ignore_errors=True)
        return counts

    def _run(self, streams: Sequence[Stream]) -> Counts:
        with self.log.stage("read"):
            fetched = self._fetched()
        counts = self._call(fetched=fetched, has_streams=bool(streams))
        for stream in all_streams(self.work, streams):

            def take(batch: Any, after: StreamState, stream: Stream = stream) -> None:
                nonlocal counts
                given = [_described(self.work, part) for part in stream.read(batch).parts]
                shipped = [part.shipped(self.fetching) for part in given]
                counts = self._call(batch=Batch(shipped, stream.role, stream.key, after))

            known = self.state.streams.get(stream.key) or StreamState(uuid4().hex)
            self.host.run_stream(stream, known, self.store / STREAMS, take)
        return counts

    # ---- What only Spark can read

    def _fetched(self) -> Mapping[str, Description]:
        """Sources, and files of batches, that a task cannot read by itself."""
        found = {}
        for source in self.work.to_read():
            if not self.place.is_read_by_task(source.place):
                self.log.note(source=source.place)
                found[source.key] = self.fetching.files(source.place, source.options())
        for source, files in self.work.found.batches:
            for file in files:
                if not self.place.is_read_by_task(str(file.path)):
                    found[str(file.path)] = self.fetching.files(str(file.path), file_options(source, file))
        return found

    # ---- The task

    def _call(self, **asked: Any) -> Counts:
        """Let a task do something, and put what it has made into its places."""
        attempts, before = self.caller.attempts(), check_target(self.store)
        replay = Replay(self.log, attempts, self.store)
        request = RunRequest(
            str(self.place.folder),
            self.caller.token,
            str(attempts),
            self.work,
            self.state,
            self.account.carried(),
            0 if before is None else before.generation,
            self.place.threads,
            os.getcwd(),
            **asked,
        )
        name = self.configuration.places.file or self.configuration.store
        try:
            outcome = self.caller.call(request, f"pipeline {name}", replay.look, partial(self._lost, replay))
        except BaseException as error:
            replay.close(error)
            raise
        replay.close()
        attempt = Path(outcome.folder)
        self._take(attempt, outcome.result, before)
        forget(attempts)
        done: Done = outcome.result
        return done.counts

    def _lost(self, replay: Replay) -> WorkerLost:
        return WorkerLost(outgrown(self.place.room, replay.peak, needed(self.host.sizes)))

    # ---- What a task has made

    def _take(self, attempt: Path, done: Done, before: Manifest | None) -> None:
        """Publish the state that an attempt has saved, then the sinks, then that they are written."""
        own = attempt / OWN_STORE
        self.account.take(done.account, own, self.store)
        made = check_target(own)
        assert made is not None
        state, home = Stored(str(own), made.generation), home_of(self.store, before) if before else None
        with self.log.stage("save"):
            for folder in (CHANGES, BAD):
                for path in (own / folder).glob("*"):
                    LocalFolder(str(self.store / folder)).bring(path, path.name)
            if before is None or made.generation > before.generation:
                home = publish(state, self.store, home, _notes(done.saved))
        self.state = done.saved
        if done.state != done.saved:
            with self.log.stage("sinks"):
                for sink in done.sinks:
                    self._put(sink)
            with self.log.stage("save"):
                publish(state, self.store, home, _notes(done.state))
            self.state = done.state

    def _put(self, made: Made) -> None:
        """Let parts of a sink take their places."""
        source = Path(made.folder)
        if made.sink.table is None:
            folder = self.host.folder(made.sink.place)
            bring_parts(source, folder, list(made.rows), made.stale)
            return
        for file, name in made.parts.items():
            frame = None if file in made.truths else partial(self.place.parquet, source / file)
            self.host.write_table(name, made.rows[file], frame)
        self.host.drop_tables(made.stale)


def _notes(state: State) -> Any:
    """A state as a manifest has it."""
    return json.loads(json.dumps(state.to_notes()))


class Replay:
    """Repeats in a log, and to who watches it, what the attempts at a task write; until the first line there
    is a stage for the start of the task.

    Of several attempts the one that has begun last is told. Where a task speaks of its own store, a folder in
    that of its attempt, it means the store of the run.
    """

    def __init__(self, log: RunLog, attempts: Path, store: Path) -> None:
        self._log, self._tail, self._store = log, Tail(attempts), store
        self._attempt: Path | None = None
        self._open: list[AbstractContextManager[None]] = [log.stage(TASK)]
        self._open[0].__enter__()
        self.peak = 0

    def look(self) -> None:
        """Repeat what has been written since the last time."""
        for attempt, text in self._tail.lines():
            line = json.loads(text.replace(str(attempt / OWN_STORE), str(self._store)))
            if line["event"] == "task":
                self.close(None if self._attempt is None else _Told())
                self._attempt = attempt
            if attempt == self._attempt:
                self._tell(line)

    def _tell(self, line: dict[str, Any]) -> None:
        self.peak = max(self.peak, line.pop("peak"))
        if line["event"] == "task":
            return
        entered = self._log.repeat(line)
        if entered is not None:
            entered.__enter__()
            self._open.append(entered)
        elif line["event"] in ("done", "failed"):
            self._leave(_Told() if line["event"] == "failed" else None)

    def _leave(self, error: BaseException | None) -> None:
        with suppress(_Told if error is None else type(error)):
            self._open.pop().__exit__(None if error is None else type(error), error, None)

    def close(self, error: BaseException | None = None) -> None:
        """Leave the stages that are open, with an error if there was one."""
        while self._open:
            self._leave(error)


class _Told(Exception):
    """A stage has failed, and why was written down."""


def _described(work: Work, part: FactFiles | FactData) -> Description:
    """A part of a batch as it travels to a task."""
    if isinstance(part, FactFiles):
        return GivenFiles(part.path, part.options)
    program = work.checked.program
    name = full_name(predicate_name(part.predicate), program.prefixes, program.base)
    return GivenFacts(name, part.values(), part.columns)
