"""Pipelines on Spark as one task: what pipelines do on any engine."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from modulog import Pipeline
from modulog.engines.room import Room
from modulog.errors import DataError, WorkerLost
from modulog.pipeline import Run, Sink, Source, task_host
from modulog.store.manifest import MANIFEST
from modulog.task import place as task_places
from support import task_work
from support.local_pipeline import check, pipeline
from support.pipelines import (
    Place,
    content,
    stored,
    table_rows,
    test_incremental_runs_equal_computation_from_scratch,
    test_the_table_of_changes_and_other_rules,
    test_what_goes_wrong_leaves_everything_as_it_was,
    test_what_is_likely_wrong_and_what_cannot_be_deleted_is_told,
    test_what_was_left_out_is_told,
)

__all__ = [
    "test_incremental_runs_equal_computation_from_scratch",
    "test_the_table_of_changes_and_other_rules",
    "test_what_goes_wrong_leaves_everything_as_it_was",
    "test_what_is_likely_wrong_and_what_cannot_be_deleted_is_told",
    "test_what_was_left_out_is_told",
]
pytestmark = pytest.mark.filterwarnings("ignore::modulog.formats.DataWarning")


@pytest.fixture
def place(spark: Any) -> Place:
    return Place("spark", spark, 1)


# ---- The decision


@pytest.mark.parametrize(
    ("memory", "place"), [(10**10, "one task of Spark"), (10**8, "SQL over the executors of Spark")]
)
def test_sizes_decide(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: int, place: str
) -> None:
    """Without `workers`: what was decided, and why, is in the result, the log, the report and the plan."""
    monkeypatch.setattr(task_places, "room_of", lambda _: Room(memory, "as the test says"))
    (tmp_path / "rules.rls").write_text("path(?x, ?y) :- edge(?x, ?y) .")
    (tmp_path / "edge.csv").write_text("a,b\n")
    made = Pipeline(
        rules=[tmp_path / "rules.rls"],
        sources=[Source(str(tmp_path / "edge.csv"))],
        store=tmp_path / "store",
        mode="incremental",
    )
    for mode, size in (("full", "4 B"), ("incremental", "")):
        run = made.run(spark=spark)
        assert run.mode == mode and run.place.startswith(f"{place}") and "as the test says" in run.place
        assert size in run.place and run.place in str(run)
        log = Path(str(run.report)).with_suffix(".jsonl").read_text()
        notes = [note for note in map(json.loads, log.splitlines()) if note["event"] == "note"]
        assert run.place in [note.get("where") for note in notes]
        plans = [note["plan"] for note in notes if "plan" in note]
        assert plans and all(plan.startswith(run.place) for plan in plans)
        assert Path(str(run.report)).read_text().count(run.place) >= 2
    assert not (tmp_path / "store" / "tasks").exists()


# ---- What happens to a task


@pytest.fixture
def on_spark(tmp_path: Path, spark: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the pipeline of local runs as one task."""

    def run(length: int = 7, **options: Any) -> Run:
        made = pipeline(tmp_path, length, engine="spark", workers=1)
        return made.run(spark=spark, **options)

    return run


def test_a_worker_that_is_killed(on_spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that says what may be wrong; the next run goes on where the worker was."""
    with monkeypatch.context() as patch:
        patch.setattr(task_host, "RunRequest", task_work.MortalRequest)
        with pytest.raises(WorkerLost, match=r"outgrown its memory.*spark\.executor\.pyspark\.memory"):
            on_spark()
    assert not (tmp_path / "out").exists() and not (tmp_path / "store" / MANIFEST).exists()
    run = on_spark()
    assert run.resumed.startswith("explicit facts and 0 of 3 strata, the next one up to round ")
    assert run.set_aside == 1 and not run.read
    check(tmp_path)
    assert not (tmp_path / "store" / "tasks").exists()


def test_two_attempts(on_spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first has done everything when the second begins."""
    run_task = task_places.run_task
    monkeypatch.setattr(
        task_places, "run_task", lambda spark, _, *rest: run_task(spark, "support.task_work:twice", *rest)
    )
    on_spark()
    check(tmp_path)
    assert on_spark(5).deleted["edge"] == 3
    check(tmp_path)


def test_ctrl_c(on_spark: Any, tmp_path: Path, spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job is gone, the store as it was, and the log has its end."""
    on_spark()
    before = stored(tmp_path / "store"), content(tmp_path / "out")

    def stop() -> None:
        while not (tmp_path / "begun").exists():
            sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(task_host, "RunRequest", task_work.WaitingRequest)
    threading.Thread(target=stop).start()
    with pytest.raises(KeyboardInterrupt):
        on_spark(5)
    assert not spark.sparkContext.statusTracker().getActiveStageIds()
    assert (stored(tmp_path / "store"), content(tmp_path / "out")) == before
    logs = [path.read_text() for path in (tmp_path / "store" / "runs").glob("*.jsonl")]
    assert sum('"outcome": "failed"' in log for log in logs) == 1


# ---- What only Spark can read


def test_files_of_another_file_system(spark: Any, tmp_path: Path) -> None:
    """A scheme that only Spark knows: rows, bad records and messages have the names of the files, and not of copies; sinks are put there."""
    spark._jsc.hadoopConfiguration().set("fs.viewfs.mounttable.lake.link./lake", f"file://{tmp_path}")
    for folder in ("in", "add", "out"):
        (tmp_path / folder).mkdir()
    (tmp_path / "in" / "1.csv").write_text("a,b\nb\n")
    (tmp_path / "rules.rls").write_text("path(?x, ?y) :- edge(?x, ?y) .")
    there = "viewfs://lake/lake"
    made = Pipeline(
        sources=[
            Source(f"{there}/in", predicate="edge", bad="set-aside"),
            Source(f"{there}/add/*.csv", predicate="edge", role="add"),
        ],
        rules=[tmp_path / "rules.rls"],
        sinks=[Sink(f"{there}/out", format="csv", predicates=("path",))],
        store=tmp_path / "store",
        mode="incremental",
        workers=1,
    )
    with pytest.warns(match=f"{there}/in: 1 bad record set aside"):
        first = made.run(spark=spark)
    assert first.read == {f"{there}/in": 1} and first.set_aside == 1
    assert [row["file"] for row in table_rows(Path(str(first.bad_records)))] == [f"{there}/in/1.csv"]
    assert first.written == {f"{there}/out/path.csv": 1}
    (tmp_path / "add" / "2.csv").write_text("c,d\n")
    assert made.run(spark=spark).added == {"edge": 1, "path": 1}
    assert (tmp_path / "out" / "path.csv").read_text() == "a,b\nc,d\n"
    (tmp_path / "add" / "3.csv").write_text("e,f\ng\n")
    with pytest.raises(DataError, match=f"^{there}/add/3.csv:2: "):
        made.run(spark=spark)
