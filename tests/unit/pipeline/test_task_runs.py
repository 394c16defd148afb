"""Runs that one worker does, without Spark: what a task is asked for goes to another process, which may be killed at any moment, or to two processes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from modulog.engines.room import Room
from modulog.errors import DataError, WorkerLost
from modulog.pipeline import Run, checkpoints, in_task, runner, sinks
from modulog.pipeline.host import LocalHost
from modulog.pipeline.in_task import OWN_STORE, TaskHost
from modulog.pipeline.run import TASK, Unwatched
from modulog.store.draft import TASKS
from modulog.store.manifest import MANIFEST, read_manifest
from modulog.task import worker
from modulog.task.decision import Decision
from support.amounts import base_seed
from support.killed import killed
from support.local_pipeline import check, pipeline, stored
from support.pipelines import content as content_of

pytestmark = pytest.mark.filterwarnings("ignore::modulog.formats.DataWarning")

Attempt = Callable[[bytes], bytes]
NEVER = 10**9


class FakePlace:
    """Workers that are forked from this process."""

    room, cores, threads = Room(10**9, "as the test says"), 2, 1

    def __init__(self, folder: Path, attempt: Attempt) -> None:
        self.folder, self.attempt = folder / f"task-{uuid4().hex[:12]}", attempt
        self.folder.mkdir(parents=True)

    def run(self, function: str, request: bytes, description: str, look: Callable[[], None]) -> bytes:
        assert function == "modulog.task.worker:run" and description.startswith("pipeline ")
        answer = self.attempt(request)
        look()
        return answer

    def is_read_by_task(self, path: str) -> bool:
        return True


class FakeHost(LocalHost):
    """A host whose work is one task."""

    engine = "spark"

    def __init__(self, store: Path, attempt: Attempt) -> None:
        super().__init__(1)
        self.sizes = {"csv": 1000}
        self._store, self._attempt = store, attempt

    def decide(self, work: Any) -> Decision:
        return Decision(1, "as the test says")

    def place(self) -> FakePlace:
        return FakePlace(self._store / TASKS, self._attempt)


class Workers:
    """Runs of the pipeline in a folder, each by a worker that dies before a step on the store's files, of the store and all attempts."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.step, self.attempts, self.is_inline = folder, NEVER, 1, False
        monkeypatch.setattr(runner, "host_of", self._host)

    @contextmanager
    def _host(self, *_: object) -> Iterator[LocalHost]:
        yield FakeHost(self.folder / "store", self._attempts)

    def _attempts(self, request: bytes) -> bytes:
        answers = [self.attempt(request) for _ in range(self.attempts)]
        return answers[-1]

    def attempt(self, request: bytes) -> bytes:
        """The answer of another process, or of this one."""
        if self.is_inline:
            return worker.run(request)
        file = self.folder / f"answer-{uuid4().hex}"
        for begun in self.folder.glob("store/tasks/*/tasks/*/*-*"):
            if begun.is_file():  # an attempt that was killed, here: another executor would not know of it
                begun.unlink()
        if killed(lambda: file.write_bytes(worker.run(request)), self.step, self.folder / "store"):
            raise WorkerLost("killed")
        answer = file.read_bytes()
        file.unlink()
        return answer

    def run(self, length: int = 7, **options: Any) -> Run:
        return pipeline(self.folder, length).run(**options)


@pytest.fixture
def workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workers:
    return Workers(tmp_path, monkeypatch)


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit as often as is asked for, whatever that costs."""
    monkeypatch.setattr(checkpoints, "SHARE", 0)


def whole(folder: Path) -> None:
    """Store and sinks have what follows from the files, and nothing of tasks is left."""
    check(folder)
    assert not (folder / "store" / TASKS).exists()


def test_what_a_run_tells(workers: Workers, tmp_path: Path) -> None:
    """The same as a local run, and where it was."""
    first = workers.run()
    whole(tmp_path)
    assert first.mode == "full" and first.set_aside == 1 and Path(str(first.bad_records)).is_dir()
    assert first.place == "one task of Spark: as the test says" and first.place in str(first)
    assert first.generation == read_manifest(tmp_path / "store").generation == 2
    assert {TASK, "read", "materialise", "save", "sinks"} <= first.seconds.keys()
    log = Path(str(first.report)).with_suffix(".jsonl").read_text()
    assert '"event": "round"' in log and str(tmp_path / "store" / TASKS) not in log
    page = Path(str(first.report)).read_text()
    assert "one task of Spark: as the test says" in page and "<h2>Strata</h2>" in page
    second = workers.run(5)
    whole(tmp_path)
    assert second.mode == "incremental" and (second.added["edge"], second.deleted["edge"]) == (1, 3)
    assert second.change is not None and Path(second.change).parent == tmp_path / "store" / "changes"
    assert len(list(Path(second.change).iterdir())) == 1
    assert not workers.run(5).written


@pytest.mark.usefixtures("eager")
def test_killed_while_sinks_are_written(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All strata are done, but the driver knows nothing of it: the next run takes them up."""
    with monkeypatch.context() as patch:
        patch.setattr(TaskHost, "write_sink", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        with pytest.raises(WorkerLost):
            workers.run()
    run = workers.run()
    assert run.resumed == "explicit facts and 3 of 3 strata" and run.mode == "full"
    whole(tmp_path)


def test_an_area_that_changes_while_it_is_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An attempt that is still at work may remove files of an older state: the newer one is taken, or none."""
    tasks, link = tmp_path / "tasks", in_task.link_file
    for number in (1, 2):
        area = tasks / "task-1" / "tasks" / "000001" / f"attempt-{number}" / OWN_STORE / "checkpoint"
        (area / "facts").mkdir(parents=True)
        (area / "facts" / "0.parquet").write_text(str(number))
        content = json.dumps({"files": {"facts": {"0.parquet": 1}}})
        (area / "state.json").write_text(json.dumps({"content": content}))
        os.utime(area / "state.json", ns=(number, number))
    gone: list[Path] = []

    def late(source: Path, target: Path) -> None:
        if not gone:
            gone.append(source)
            (source.parents[1] / "state.json").unlink()
            raise FileNotFoundError(source)
        link(source, target)

    monkeypatch.setattr(in_task, "link_file", late)
    in_task.take_checkpoint(tasks, tmp_path / "mine")
    assert "attempt-2" in str(gone[0]) and (tmp_path / "mine" / "facts" / "0.parquet").read_text() == "1"
    in_task.keep_checkpoint(tasks)
    (kept,) = tasks.iterdir()
    assert sorted(content_of(kept)) == ["facts/0.parquet", "state.json"]
    monkeypatch.undo()
    in_task.take_checkpoint(tasks, tmp_path / "next")
    assert content_of(tmp_path / "next") == content_of(kept)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("step", range(5, 86, 20))
def test_killed_at_a_step(workers: Workers, tmp_path: Path, step: int) -> None:
    """A worker that is killed leaves store and sinks as they were; the next run ends with what follows."""
    for length in (7, 5):
        before = _seen(tmp_path)
        workers.step = step
        with pytest.raises(WorkerLost, match=r"outgrown its memory.*workers=2"):
            workers.run(length)
        assert _seen(tmp_path) == before
        workers.step = NEVER
        workers.run(length)
        whole(tmp_path)


def _seen(folder: Path) -> Any:
    """The facts of the store and the files of sinks, and nothing of checkpoints."""
    has_store = (folder / "store" / MANIFEST).exists()
    return (stored(folder) if has_store else None), content_of(folder / "out")


class Mortal(Unwatched):
    """Kills the process that tells it of a round."""

    def __call__(self, stratum: int, strata: int, name: str, round_: int, facts: int) -> None:
        if round_ == 3:
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.usefixtures("eager")
def test_the_next_run_goes_on(workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finished strata and rounds are kept, and bad records, too; other sources begin anew."""
    with monkeypatch.context() as patch:
        patch.setattr("modulog.pipeline.in_task.Unwatched", Mortal)
        for _ in range(2):  # the second dies in a round that is none for it any more
            with pytest.raises(WorkerLost):
                workers.run()
    run = workers.run()
    assert run.resumed.startswith("explicit facts and 0 of 3 strata, the next one up to round ")
    assert run.set_aside == 1 and not run.read
    whole(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("modulog.pipeline.in_task.Unwatched", Mortal)
        with pytest.raises(WorkerLost):
            workers.run(full=True)
    assert not workers.run(6, full=True).resumed
    whole(tmp_path)


def test_a_worker_without_memory(workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has the numbers and what to set; what was there before is as it was."""

    def outgrow(*_: object) -> None:
        raise MemoryError

    workers.run()
    before = _seen(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(runner.Runner, "_materialise", outgrow)
        with pytest.raises(WorkerLost) as caught:
            workers.run(full=True)
    said = str(caught.value)
    assert "outgrown its memory at " in said and "may have 1.0 GB (as the test says)" in said
    assert "spark.executor.pyspark.memory" in said and "workers=2" in said
    assert _seen(tmp_path) == before
    pages = [path.read_text() for path in (tmp_path / "store" / "runs").glob("*.html")]
    assert sum("outgrown its memory" in page for page in pages) == 1


@pytest.mark.usefixtures("eager")
def test_two_attempts(workers: Workers, tmp_path: Path) -> None:
    """Two that have both done everything: one of them counts, and nothing is there twice."""
    workers.attempts = 2
    for length in (7, 5):
        run = workers.run(length)
        whole(tmp_path)
        assert run.mode == ("full" if length == 7 else "incremental")
    assert run.deleted["edge"] == 3


@pytest.mark.usefixtures("eager")
def test_a_driver_that_is_killed(workers: Workers, tmp_path: Path) -> None:
    """Together with its worker, before any step: while the state is published, changes and parts of sinks are moved, or all is cleaned up."""
    workers.is_inline = True
    for number, step in enumerate(range(3, 300, 23)):
        made = pipeline(tmp_path, 4 + number % 3)
        killed(made.run, step, tmp_path)
        if number % 2:
            workers.run(4 + number % 3)
            whole(tmp_path)
    workers.run(4)
    whole(tmp_path)


@pytest.mark.usefixtures("eager")
def test_killed_at_random_steps(workers: Workers, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Full and incremental runs after changes of the sources, workers killed wherever it happens."""
    random = Random(base_seed(request.config))
    for _ in range(5):
        workers.step = random.randrange(1, 150)
        try:
            workers.run(length := random.randrange(3, 9))
        except WorkerLost:
            continue
        whole(tmp_path)
    workers.step = NEVER
    workers.run(length)
    whole(tmp_path)


def test_a_failure_after_the_task(workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store is saved before sinks are written: the next run writes them."""

    def full(*_: object) -> None:
        raise DataError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(sinks, "move_parts", full)
        with pytest.raises(DataError, match="no space"):
            workers.run()
    assert stored(tmp_path)["path"] and not content_of(tmp_path / "out")
    assert set(workers.run().written) == {str(tmp_path / "out" / f"{name}.csv") for name in ("path", "end")}
    whole(tmp_path)
