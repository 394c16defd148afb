"""The run of a pipeline inside a task of Spark: the local engine, and everything that it writes in the folder
of the attempt.

An attempt has a store of its own, which begins as that of the run, by links. What a run writes beside its
store, net changes and bad records, lies there, too, and so do parts of sinks, the log of the run and
checkpoints. The driver takes all that from the attempt that answers: two attempts never write the same file,
and an area of checkpoints that is taken over stays as it is.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import chdir, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from modulog.errors import ModulogError
from modulog.formats.export import part_names
from modulog.formats.fact_file import FactFile
from modulog.formats.files import BAD_RECORDS
from modulog.formats.folders import Folder, LocalFolder
from modulog.formats.format import SINKS as SINK_FORMATS
from modulog.language.model import Predicate
from modulog.pipeline import pending_updates
from modulog.pipeline.checkpoints import STATE, Checkpoints
from modulog.pipeline.config import EngineKind, Role, Sink, Source
from modulog.pipeline.host import LocalHost
from modulog.pipeline.log import RunLog
from modulog.pipeline.run import Unwatched
from modulog.pipeline.run_account import Account
from modulog.pipeline.run_state import State, StreamState
from modulog.pipeline.runner import Counts, Runner, told
from modulog.pipeline.survey import Work
from modulog.store.draft import CHECKPOINT
from modulog.store.locks import RUN_LOCK
from modulog.task.descriptions import Description, renamed
from modulog.task.states import State as Stored
from modulog.task.states import link_file, link_state
from modulog.task.worker import NAME, Outcome, forget_reasoners

if TYPE_CHECKING:
    from modulog.reasoner.for_pipelines import Given
    from modulog.reasoner.reasoner import Reasoner

OWN_STORE = "store"
"""The store that an attempt writes, in its folder."""


class TaskLog(RunLog):
    """The log that a task writes; every line says how much memory the task has taken so far."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / NAME, Unwatched())
        self.write("task")

    def write(self, event: str, **values: Any) -> None:
        """As `RunLog.write`."""
        super().write(event, peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, **values)


_LEFT = "left-"
_TRIES = 5
"""How often an area is looked at that changes meanwhile."""


def take_checkpoint(tasks: Path, area: Path) -> None:
    """Let an area begin with the newest checkpoint that lies in the folder of tasks of a store; if there is
    none, with nothing.
    """
    for _ in range(_TRIES):
        newest = _newest(tasks)
        if newest is None:
            return
        try:
            _link_area(newest.parent, area)
            return
        except (OSError, ValueError, KeyError, TypeError):  # its attempt is at work, and has removed a file
            shutil.rmtree(area, ignore_errors=True)


def _newest(tasks: Path) -> Path | None:
    """The newest state that was committed."""
    found = {}
    patterns = (f"{_LEFT}*/{STATE}", f"*/tasks/*/*/{OWN_STORE}/{CHECKPOINT}/{STATE}")
    for path in (path for pattern in patterns for path in tasks.glob(pattern)):
        with suppress(OSError):
            found[path] = path.stat().st_mtime_ns
    return max(found, key=found.__getitem__, default=None)


def _link_area(source: Path, area: Path) -> None:
    """Give the files of a state second names in another area, and the state a copy."""
    sealed = (source / STATE).read_bytes()
    files = json.loads(json.loads(sealed)["content"])["files"]
    for folder, names in files.items():
        for name in names:
            link_file(source / folder / name, area / folder / name)
    area.mkdir(parents=True, exist_ok=True)
    (area / STATE).write_bytes(sealed)
    times = (source / STATE).stat()
    os.utime(area / STATE, ns=(times.st_atime_ns, times.st_mtime_ns))


def keep_checkpoint(tasks: Path) -> None:
    """Remove everything from the folder of tasks of a store but the newest checkpoint, for the next run."""
    newest, kept = _newest(tasks), tasks / f"{_LEFT}{uuid4().hex}"
    if newest is not None:
        with suppress(OSError):
            newest.parent.rename(kept)
    for path in tasks.glob("*"):
        if path != kept:
            shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        tasks.rmdir()  # if nothing is left


SINKS = "sinks"


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of a stream: its facts, and how far the stream has come with it."""

    given: Sequence[Description]
    role: Role
    key: str
    after: StreamState


@dataclass(frozen=True, slots=True)
class Made:
    """Parts of a sink that a task has written into a folder: names of files with their rows, and under which
    names they are wanted; parts that are wanted no more.
    """

    sink: Sink
    folder: str
    rows: Mapping[str, int]
    parts: Mapping[str, str]
    truths: frozenset[str]
    """The files of predicates without arguments."""
    stale: Sequence[str]


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a run, or a batch of a stream: `saved` is the state that the attempt's store has, `state`
    the one once sinks are written.
    """

    account: Account
    counts: Counts
    saved: State
    state: State
    sinks: Sequence[Made]


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run, or a batch of a stream, as a task is asked for it; see `task.work.Asked`.

    `generation` is that of the store it begins with, 0 for none. `fetched` has sources and files of batches
    that only Spark could read, by the key of the source or the path.
    """

    folder: str
    token: str
    attempts: str
    work: Work
    state: State
    account: Account
    generation: int
    threads: int | None
    directory: str
    """The working directory of the driver, to which paths are relative."""
    has_streams: bool = False
    fetched: Mapping[str, Description] = field(default_factory=dict)
    batch: Batch | None = None

    def perform(self, outcome: Outcome) -> None:
        """Run it; errors name the store of the run."""
        store = self.work.checked.configuration.store
        own = Path(outcome.folder, OWN_STORE)
        here = self.directory if os.path.isdir(self.directory) else "."
        try:
            with chdir(here):
                outcome.result = self._run(Path(outcome.folder), own)
        except ModulogError as error:
            raise renamed(error, {str(own): store}) from None
        except OSError as error:
            raise renamed(told(error, store), {str(own): store}) from error

    def _run(self, attempt: Path, own: Path) -> Done:
        configuration = self.work.checked.configuration
        forget_reasoners()
        own.mkdir()
        (own / RUN_LOCK).touch()  # so that it counts as a store before it has a state
        if self.generation:
            link_state(Stored(configuration.store, self.generation), own)
        if self.batch is None:
            take_checkpoint(Path(self.folder).parent, own / CHECKPOINT)
        log = TaskLog(attempt)
        checked = replace(self.work.checked, configuration=replace(configuration, store=str(own)))
        runner = TaskRunner(
            replace(self.work, checked=checked),
            TaskHost(attempt, self.threads, self.fetched),
            log,
            self.account.watched(log),
            self.state,
        )
        try:
            counts = runner.run_batch(self.batch) if self.batch else runner.run_all(self.has_streams)
        finally:
            log.compiled()
            log.close()
        return runner.done(counts)


class TaskHost(LocalHost):
    """The worker of a task: it has what Spark has fetched for it, and leaves the parts of sinks to the
    driver.
    """

    engine: EngineKind = "spark"

    def __init__(self, attempt: Path, threads: int | None, fetched: Mapping[str, Description]) -> None:
        super().__init__(threads)
        self._attempt, self._fetched = attempt, fetched
        self.made: list[Made] = []

    def load(self, reasoner: Reasoner, source: Source) -> Sequence[Predicate]:
        """As `LocalHost.load`."""
        found = self._fetched.get(source.key)
        return super().load(reasoner, source) if found is None else found.stage(reasoner)

    def read(self, reasoner: Reasoner, source: Source) -> Given:
        """As `LocalHost.read`."""
        found = self._fetched.get(source.key)
        return super().read(reasoner, source) if found is None else found.given(reasoner)

    def read_files(self, reasoner: Reasoner, source: Source, files: Iterable[FactFile]) -> list[Given]:
        """As `LocalHost.read_files`."""
        read: list[Given] = []
        for file in files:
            found = self._fetched.get(str(file.path))
            read += super().read_files(reasoner, source, [file]) if found is None else [found.given(reasoner)]
        return read

    def folder(self, place: str) -> Folder:
        """The folder of a sink, as it is called."""
        return LocalFolder(place)

    def write_sink(
        self, reasoner: Reasoner, sink: Sink, parts: Mapping[Predicate, str], stale: Sequence[str]
    ) -> dict[str, int]:
        """Write the parts into the folder of the attempt."""
        folder = self._attempt / SINKS / str(len(self.made))
        format = "parquet" if sink.table is not None else SINK_FORMATS[sink.format]
        rows = reasoner.export(folder, format=format, predicates=list(parts)) if parts else {}
        rows.pop(BAD_RECORDS, None)
        files = part_names(list(parts), format)
        wanted = {file: parts[predicate] for predicate, file in files.items() if file in rows}
        truths = frozenset(file for predicate, file in files.items() if not predicate.arity)
        self.made.append(Made(sink, str(folder), rows, wanted, truths, stale))
        prefix = "" if sink.table is not None else f"{self.folder(sink.place) / ''}"
        return {prefix + part: rows[file] for file, part in wanted.items()}


class TaskRunner(Runner):
    """A run over the store of an attempt; that sinks are written is noted by the driver, once they are."""

    host: TaskHost

    def __init__(self, work: Work, host: TaskHost, watch: TaskLog, account: Account, state: State) -> None:
        super().__init__(work, host, watch, account)
        self.saved = self.state = state

    def run_all(self, has_streams: bool) -> Counts:
        """The run as far as its streams."""
        self.has_streams = has_streams
        with self._reasoner() as reasoner:
            self._apply(reasoner)
            return _counts(reasoner)

    def run_batch(self, batch: Batch) -> Counts:
        """A batch of a stream, which is an update, and the sinks."""
        with self._open(None) as reasoner:
            with self.watch.stage("read"):
                self.watch.note(stream=batch.key, batch=batch.after.batch)
                given = [part.given(reasoner) for part in batch.given]
            step = pending_updates.stream_batch(given, batch.role, batch.key, self.state, batch.after)
            self._update(reasoner, step)
            self._write_sinks(reasoner)
            return _counts(reasoner)

    def _save(self, reasoner: Reasoner, state: State) -> None:
        super()._save(reasoner, state)
        self.saved = state

    def _keep_no_more(self, checkpoints: Checkpoints) -> None:
        """The store of an attempt is nobody else's: until the driver has published it, another attempt needs
        what was kept.
        """

    def _written(self, reasoner: Reasoner, state: State) -> None:
        self.state = state

    def done(self, counts: Counts) -> Done:
        """What the driver has to know."""
        return Done(self.account.carried(), counts, self.saved, self.state, self.host.made)


def _counts(reasoner: Reasoner) -> Counts:
    """How many facts there are."""
    statistics = reasoner.materialise()
    return statistics.explicit, statistics.facts
