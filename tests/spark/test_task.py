"""One task of Spark does what the local engine does, whatever happens to it."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import Any

import pytest

from modulog import IRI, Predicate, Reasoner
from modulog.engines.registry import is_one_task
from modulog.errors import DataError, EngineError, OptionError, QueryError, WorkerLost
from modulog.reasoner import for_pipelines
from modulog.reasoner.fact_batch import facts, read
from modulog.task.task_reasoner import TaskReasoner
from support import task_work
from support.amounts import amount
from support.module_programs import story
from support.strategies import text
from support.updates import as_python

PATHS = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) . end(?x) :- path(_, ?x), ~edge(?x, _) ."
EDGES = [("a", "b"), ("b", "c"), ("b", 1)]
TRIPLES = "<http://e/p>(?x, ?y) :- e(?x, ?y) . e(k, l) . all(?p) :- triple(_, ?p, _) ."


def one_task(program: str | Path, spark: Any, **options: Any) -> Reasoner:
    return Reasoner(program, spark=spark, workers=1, **options)


def all_of(reasoner: Reasoner) -> dict[str, list[str]]:
    return reasoner.perform(task_work.everything)


@pytest.fixture(autouse=True)
def undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here nothing is decided beforehand."""
    monkeypatch.setattr("modulog.reasoner.reasoner.is_one_task", is_one_task)


@pytest.fixture
def paths(spark: Any) -> Any:
    with one_task(PATHS, spark) as r:
        r.add("edge", EDGES)
        yield r


def test_everything_that_a_reasoner_does(paths: Reasoner, spark: Any, tmp_path: Path) -> None:
    local = Reasoner(PATHS)
    local.add("edge", EDGES)
    assert isinstance(paths, TaskReasoner)
    assert paths.materialise().facts == local.materialise().facts
    assert all_of(paths) == all_of(local)
    assert paths.count("path") == 5 and paths.count("path(?x, ?y), ?y != b") == 2
    assert paths.contains("path", ("a", "c")) and not paths.contains("path", ("a", "z"))
    assert paths.query("path(a, ?y), ~edge(a, ?y)").sort_by("y").to_pydict() == {"y": ['"c"', "1"]}
    assert paths.query("path(c, a)").to_pydict() == {"holds": [False]}
    assert [b.to_pydict() for b in paths.batches("edge")] == [b.to_pydict() for b in local.batches("edge")]
    assert [str(p) for p in paths.predicates()] == ["edge/2", "end/1", "path/2"]
    with pytest.raises(QueryError, match="did you mean path"):
        paths.rows("pat")
    named = paths.table("edge", columns=["from", "to"])
    assert named.equals(local.table("edge", columns=["from", "to"]))
    assert paths.to_pandas("edge").equals(local.to_pandas("edge"))
    frame = paths.to_spark("edge", columns=["from", "to"])
    assert frame.columns == ["from", "to"] and frame.schema["to"].metadata == {"modulog.terms": "turtle"}
    assert sorted(paths.create_views()) == ["edge", "end", "path"]
    assert spark.sql("SELECT count(*) AS n FROM path WHERE c0 = 'a'").collect()[0]["n"] == 3
    assert paths.export(tmp_path / "out") == local.export(tmp_path / "local")
    for name in ("edge.csv", "path.csv"):
        there, here = ((tmp_path / place / name).read_text().splitlines() for place in ("out", "local"))
        assert sorted(there) == sorted(
            here
        )  # a closure that was read from a store is listed in another order
    assert os.listdir(tmp_path / "out") == os.listdir(tmp_path / "local")
    assert str(paths.plan()).startswith("one task of Spark: as `workers=1` says")
    assert paths.warnings == []

    change = paths.update(add={"edge": [("c", "d")]}, delete={"edge": [("a", "b"), ("q", "q")]})
    same = local.update(add={"edge": [("c", "d")]}, delete={"edge": [("a", "b"), ("q", "q")]})
    assert repr(change) == repr(same)
    assert sorted(change.rows("path")) == sorted(same.rows("path"))
    assert sorted(change.rows("path", deleted=True), key=str) == sorted(
        same.rows("path", deleted=True), key=str
    )
    assert change.to_spark().where("predicate = 'edge' AND sign = 1").count() == 1
    paths.add("edge", [("d", "e")])
    local.add("edge", [("d", "e")])
    assert all_of(paths) == all_of(local)


def test_stores(paths: Reasoner, spark: Any, tmp_path: Path) -> None:
    local = Reasoner(PATHS)
    local.add("edge", EDGES)
    paths.save(tmp_path / "store")
    with Reasoner.open(tmp_path / "store", spark=spark, workers=1) as again:
        for edge in (("c", "d"), ("d", "e")):
            for r in (again, local):
                r.update(add={"edge": [edge]}, delete={"edge": [("b", 1)]})
        assert Reasoner.open(tmp_path / "store").count("path") == 5  # as it was
        again.save(tmp_path / "store")
        again.update(add={"edge": [("e", "f")]})
        local.update(add={"edge": [("e", "f")]})
        again.save(tmp_path / "store")
        again.save(tmp_path / "other")
        for folder in ("store", "other"):
            assert all_of(Reasoner.open(tmp_path / folder)) == all_of(local)
        with Reasoner.open(tmp_path / "store", spark=spark, workers=2) as spread:
            assert all_of(spread) == all_of(local)
        for_pipelines.save(Reasoner.open(tmp_path / "store"), tmp_path / "store", {"by": "another"})
        again.update(add={"edge": [("f", "g")]})
        with pytest.raises(DataError, match="written since this state was opened"):
            again.save(tmp_path / "store")


def test_every_kind_of_source(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("a,b\nb,7\n")
    (tmp_path / "facts.nt").write_text("<http://e/a> <http://e/p> <http://e/b> .\n")
    Reasoner("age(x, 1.5) . age(y, 2) .").export(tmp_path / "in", format="parquet")
    frame = spark.createDataFrame([("a", 1, "x"), ("b", 2, "y")], "name string, n long, other string")
    frame.createOrReplaceTempView("people")
    program = f"{TRIPLES} old(?x) :- person(?x, ?n), ?n > 1 . edge(1, 2) ."
    local = Reasoner(program)
    with one_task(program, spark) as r:
        for reasoner in (r, local):
            filled = reasoner.load(tmp_path / "edge.csv")
            reasoner.load(tmp_path / "facts.nt")
            reasoner.load(tmp_path / "in")
        assert [str(p) for p in filled] == ["edge/2"]
        r.add("person", frame, columns=["name", "n"])
        r.load("table:people", mapping={"of": ["other", "name"]})
        local.add("person", [("a", 1), ("b", 2)])
        local.add("of", [("x", "a"), ("y", "b")])
        assert all_of(r) == all_of(local)
        assert r.count(IRI("http://e/p")) == 2
        r.update(delete=facts("person", frame, columns=["name", "n"]) + read(tmp_path / "edge.csv"))
        assert r.count("old") == 0 and r.rows("edge") == [(1, 2)]
    with pytest.raises(OptionError, match="a `Pipeline` keeps"):
        one_task(program, spark, checkpoints=object())
    with pytest.raises(DataError, match="there is no such file"), one_task(program, spark) as r:
        r.load(tmp_path / "none.csv")


def load(r: Reasoner, path: Path, **options: Any) -> None:
    """Have the facts of a file, which a task reads when it is asked."""
    r.load(path, **options)
    r.materialise()


def test_mistakes_are_told_as_here(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("a,b\nb\nc,d\n")
    said = []
    for make in (Reasoner, partial(one_task, spark=spark)):
        with make(PATHS) as r:
            r.add("edge", [("x", "y")])
            with pytest.raises(DataError) as caught:
                load(r, tmp_path / "edge.csv")
        said.append(str(caught.value))
    assert said[0] == said[1]
    with one_task(PATHS, spark) as r:
        with pytest.raises(DataError, match="3 columns where 2 arguments should be"):
            r.add("edge", [(1, 2, 3)])
        with pytest.warns(match="1 bad record set aside"):
            load(r, tmp_path / "edge.csv", bad="set-aside")
        assert r.bad_records().to_pylist()[0]["line"] == 2
        assert r.export(tmp_path / "out")["_bad_records.parquet"] == 1
        assert r.count("edge") == 2


def test_predicates_generators_and_delimiters(spark: Any, tmp_path: Path) -> None:
    edge = Predicate("edge", 2)
    (tmp_path / "links.csv").write_text("b;c\nc;d\n")
    with one_task(PATHS, spark) as r:
        batch = facts(edge, (row for row in [("a", "b")]))
        r.add(batch)
        with pytest.raises(DataError, match="an iterator gives its rows only once"):
            r.add(batch)
        with pytest.raises(QueryError, match="edge has 2 arguments, not 3"):
            r.discard(Predicate("edge", 3))
        with pytest.raises(DataError, match="2 columns where 3 arguments"):
            r.add(Predicate("team", 3), [(1, 2)])
        r.load(tmp_path / "links.csv", predicate=edge, delimiter=";")
        assert r.count("edge") == 3
        assert r.update(delete={edge: [("a", "b")]}).deleted["edge"] == 1


def test_facts_of_the_wrong_width_and_a_reasoner_that_is_closed(spark: Any) -> None:
    r = one_task(PATHS, spark)
    with pytest.raises(DataError, match="facts of edge: row 1: 3 columns"):
        r.add("edge", [("a", "b", "c")])
    r.close()
    with pytest.raises(EngineError, match="the reasoner is closed"):
        r.count("path")


@pytest.mark.parametrize("seed", range(amount(4, 4)))
@pytest.mark.filterwarnings("ignore")
def test_random_programs_with_updates(spark: Any, seed: int) -> None:
    it = story(seed, 3)
    local = Reasoner(text(it.case.rules), engine="local")
    with one_task(text(it.case.rules), spark) as r:
        for reasoner in (r, local):
            for predicate, rows in as_python(it.case.facts).items():
                reasoner.add(predicate, rows)
        assert all_of(r) == all_of(local), it
        for update in it.updates:
            facts = {"add": as_python(update.add), "delete": as_python(update.delete)}
            assert repr(r.update(**facts)) == repr(local.update(**facts)), it
            assert all_of(r) == all_of(local), it


# ---- What can happen to a task


def test_another_attempt_does_no_harm(paths: Reasoner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two attempts at one update, of which the first has written its state when the second begins."""
    paths.materialise()
    run = paths._place.run  # type: ignore[attr-defined]
    monkeypatch.setattr(
        paths._place,  # type: ignore[attr-defined]
        "run",
        lambda function, *rest: run("support.task_work:twice", *rest),
    )
    assert paths.update(add={"edge": [("c", "d")]}).added == {"edge": 1, "end": 1, "path": 3}
    monkeypatch.undo()
    assert paths.count("path") == 8
    assert len(list(paths._place.folder.glob("tasks/*/*/state"))) == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("end", [task_work.die, task_work.outgrow])
def test_a_worker_that_is_killed(paths: Reasoner, end: Any) -> None:
    before = all_of(paths)
    paths.add("edge", [("x", "y")])
    with pytest.raises(WorkerLost, match=r"outgrown its memory.*spark.executor.pyspark.memory.*workers=2"):
        paths.perform(end, changes="die")
    assert paths.discard("edge") == ["facts of edge"]
    assert all_of(paths) == before


def test_ctrl_c(paths: Reasoner, tmp_path: Path) -> None:
    """Ctrl-C, which comes to the thread that waits, cancels the job."""
    paths.materialise()

    class Stopping:
        def look(self) -> None:
            if (tmp_path / "begun").exists():
                raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("modulog.task.task_base.Watching", lambda attempts, observe: Stopping())
        with pytest.raises(KeyboardInterrupt):
            paths.perform(partial(task_work.wait, str(tmp_path)), changes="wait")
    assert paths.count("path") == 5


def test_progress_reaches_the_observer(spark: Any) -> None:
    seen: list[Any] = []
    with one_task(PATHS, spark, progress=lambda *where: seen.append(where)) as r:
        r.add("edge", EDGES)
        r.materialise()
    assert seen[0][:2] == (1, 2)


# ---- Which of the two


def test_the_decision(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with Reasoner(PATHS, spark=spark) as r:
        r.add("edge", EDGES)
        assert "one task of Spark" in str(r.plan()) and r.count("path") == 5
    monkeypatch.setattr("modulog.task.decision.FLOOR", 1 << 50)
    with Reasoner(PATHS, spark=spark) as r:
        r.add("edge", EDGES)
        assert "SQL over the executors of Spark" in str(r.plan())
        assert r.count("path") == 5
        assert r.update(add={"edge": [("c", "d")]}).added["path"] == 3
        assert r.perform(methodcaller("count", "path")) == 8
    with pytest.raises(OptionError, match="a number from 1 on"):
        Reasoner(PATHS, spark=spark, workers=0)


FOREIGN = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
sys.path.append(SOURCE)
from modulog import Reasoner
with Reasoner("q(?x) :- p(?x) . p(1) .", spark=spark, workers=1) as r:
    print(r.rows("q"))
"""


@pytest.mark.long
def test_a_session_whose_workers_do_not_know_us() -> None:
    """The environment of the driver is not activated, and Spark would run another Python."""
    hidden = ("PYTHONPATH", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "VIRTUAL_ENV")
    environment = {name: text for name, text in os.environ.items() if name not in hidden}
    environment["PATH"] = os.pathsep.join(p for p in environment["PATH"].split(os.pathsep) if "venv" not in p)
    program = f"SOURCE = {str(Path(__file__).parents[2] / 'src')!r}\n{FOREIGN}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=600
    )
    assert done.stdout.split("\n")[-2:] == ["[(1,)]", ""], done.stderr[-2000:]
