"""Work that is stopped in the middle, and what is left of it: checkpoints, killed runs, lost executors, full disks."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from modulog import Reasoner, SparkOptions
from modulog.errors import DataError
from modulog.pipeline import checkpoints
from modulog.pipeline.checkpoints import Checkpoints
from modulog.pipeline.run import STAGES
from modulog.reasoner.for_pipelines import begin
from modulog.reasoner.persistence import kept_relations
from modulog.store.draft import Draft
from modulog.store.manifest import MANIFEST
from support.amounts import base_seed
from support.relation_reads import scan

SOURCE = str(Path(__file__).parents[2] / "src")
ENVIRONMENT = {**os.environ, "PYTHONPATH": SOURCE, "PYSPARK_PYTHON": sys.executable}
PATIENCE = 1200
"""Seconds after which a process hangs, on the busiest machine."""

PROGRAM = """
    leads(?x, ?y) :- e(?x, ?y), ~closed(?y) .
    leads(?x, ?z) :- leads(?x, ?y), e(?y, ?z) .
    t(?x, ?y) :- leads(?x, ?y), gate(?x, ?n), ?n > 2 .
    t(?x, ?z) :- t(?x, ?y), t(?y, ?z) .
    t(?y, ?x) :- t(?x, ?y), turns(?x) .
    s(?x, ?y) :- t(?x, ?y), turns(?y) .
    s(?y, ?x) :- s(?x, ?y) .
    s(?x, ?z) :- s(?x, ?y), s(?y, ?z) .
    s(?x, ?y) :- s(?x, ?z), turns(?z), e(?z, ?y) .
    twice(?x, ?m) :- gate(?x, ?n), s(?x, _), ?m = ?n * 2 .
    apart(?x) :- gate(?x, _), ~s(?x, _) .
    turns(n3) . turns(n6) . closed(n9) .
"""


class Stopped(Exception):
    """Somebody pulled the plug."""


class Plug:
    """Stops a materialisation after some rounds."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds

    def __call__(self, *_: object) -> None:
        self.rounds -= 1
        if self.rounds == 0:
            raise Stopped


def fill(r: Reasoner) -> None:
    random = Random(5)
    nodes = [f"n{i}" for i in range(10)]
    r.add("e", [(random.choice(nodes), random.choice(nodes)) for _ in range(12)])
    r.add("gate", [(node, i) for i, node in enumerate(nodes)])


def kept(r: Reasoner) -> dict[tuple[str, str], set[Any]]:
    """Every relation that a store would keep; of components, which members are together."""
    assert r._maintenance is not None
    strata, found = [stratum.live for stratum in r._maintenance.strata], {}
    for predicate, role, relation in kept_relations(r._facts, strata):
        names = tuple(f"c{j}" for j in range(predicate.arity))
        rows = set(r._backend.rows(scan(relation, names, "all"), names))
        if predicate.name.endswith(" members"):
            rows = {(x, y) for x, c in rows for y, d in rows if c == d}
        found[f"{role} {predicate}", predicate.name] = rows
    return found


@pytest.fixture(scope="module")
def uninterrupted(spark: Any) -> dict[Any, set[Any]]:
    with Reasoner(PROGRAM, spark=spark) as r:
        fill(r)
        r.materialise()
        return kept(r)


def fill_little(r: Reasoner) -> None:
    r.add("e", [("n1", "n2"), ("n2", "n3")])
    r.add("gate", [("n2", 3)])


def take_up(
    spark: Any,
    store: Path,
    program: str,
    rounds: int,
    give: Callable[[Reasoner], None] = fill,
    **options: Any,
) -> Reasoner:
    """Stop a materialisation after some rounds, and let another reasoner go on from what it left."""

    def reasoner(made: Checkpoints, progress: Any = None) -> Reasoner:
        own = SparkOptions(session=spark, folder=made.folder)
        return begin(program, spark=own, checkpoints=made, progress=progress, **options)

    key = {"sources": {"e.csv": "5f3a"}}
    first = Checkpoints(store, key, rounds=1)
    assert not first.loaded and not first.resumed
    with reasoner(first, Plug(rounds)) as r:
        give(r)
        with pytest.raises(Stopped):
            r.materialise()
    second = Checkpoints(store, key, rounds=3)
    assert second.resumed.startswith("explicit facts")
    return reasoner(second)


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit as often as is asked for, whatever that costs."""
    monkeypatch.setattr(checkpoints, "SHARE", 0)


@pytest.mark.long
@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("rounds", [2, 7])
def test_taken_up(spark: Any, tmp_path: Path, uninterrupted: dict[Any, set[Any]], rounds: int) -> None:
    """What was stopped in any round ends with the same facts, and with everything that later updates need."""
    with take_up(spark, tmp_path, PROGRAM, rounds) as r:
        r.materialise()
        assert kept(r) == uninterrupted
        change: dict[str, Any] = {
            "add": {"e": [("n1", "n7"), ("n7", "n2")], "turns": [("n5",)]},
            "delete": {"e": r.rows("e")[:2], "turns": [("n3",)]},
        }
        r.update(**change)
        local = Reasoner(PROGRAM)
        fill(local)
        local.update(**change)
        for name in ("leads", "t", "s", "twice", "apart"):
            assert sorted(r.rows(name)) == sorted(local.rows(name)), name


@pytest.mark.usefixtures("eager")
def test_taken_up_on_spark_alone(spark: Any, tmp_path: Path) -> None:
    """Without the driver's help Δ lies in parts, apart by module."""
    program = (
        "t(?x, ?y) :- e(?x, ?y) . t(?x, ?z) :- t(?x, ?y), t(?y, ?z) . t(?y, ?x) :- t(?x, ?y), gate(?x, 3) ."
    )
    with Reasoner(program, spark=spark) as r:
        fill_little(r)
        r.materialise()
        whole = kept(r)
    with take_up(spark, tmp_path, program, 2, fill_little) as r:
        r.materialise()
        assert kept(r) == whole


def test_what_is_not_whole_is_not_taken_up(spark: Any, tmp_path: Path) -> None:
    """Other rules or sources, a file that is too short, a state that was torn: the work begins anew."""

    def leave(key: str) -> Checkpoints:
        made = Checkpoints(tmp_path, {"rules": key})
        with begin(
            "q(?x) :- p(?x) . p(a) .", spark=SparkOptions(session=spark, folder=made.folder), checkpoints=made
        ) as r:
            r.materialise()
        return made

    made = leave("one")
    assert Checkpoints(tmp_path, {"rules": "one"}).loaded
    assert not Checkpoints(tmp_path, {"rules": "two"}).loaded and not made.area.exists()
    part = next(leave("one").area.rglob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-1])
    assert not Checkpoints(tmp_path, {"rules": "one"}).loaded
    state = leave("one").area / "state.json"
    state.write_bytes(state.read_bytes().replace(b"one", b"own"))
    assert not Checkpoints(tmp_path, {"rules": "own"}).loaded


# ---- Runs of a pipeline

RULES = """
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), edge(?y, ?z), ~closed(?y) .
    both(?x, ?y) :- path(?x, ?y), path(?y, ?x) .
    end(?x) :- path(_, ?x), ~edge(?x, _) .
"""
CONFIGURATION = """
store = "store"
rules = ["rules.rls"]
checkpoint_rounds = 2
[spark]
master = "local[2]"
sql.shuffle.partitions = 1
sql.codegen.wholeStage = false
sql.codegen.factoryMode = "NO_CODEGEN"
driver.extraJavaOptions = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
[[source]]
path = "edge.csv"
[[source]]
path = "closed.csv"
[[sink]]
path = "out"
format = "csv"
predicates = ["path", "end"]
"""
NAMES = ("edge", "path", "both", "end")


def pipeline(folder: Path, length: int = 7, workers: int = 2) -> Path:
    """A pipeline whose fixpoint takes as many rounds as a chain is long."""
    (folder / "rules.rls").write_text(RULES)
    edges = [(i, i + 1) for i in range(length)] + [(3, 1), (length, length - 2)]
    (folder / "edge.csv").write_text("".join(f"a{x},a{y}\n" for x, y in edges))
    (folder / "closed.csv").write_text("a5\n")
    (folder / "pipeline.toml").write_text(f"workers = {workers}\n{CONFIGURATION}")
    return folder / "pipeline.toml"


def expected(folder: Path) -> dict[str, list[Any]]:
    r = Reasoner(folder / "rules.rls", engine="local")
    r.load(folder / "edge.csv")
    r.load(folder / "closed.csv")
    return {name: sorted(r.rows(name)) for name in NAMES}


def stored(folder: Path) -> dict[str, list[Any]]:
    with Reasoner.open(folder / "store", engine="local") as r:
        return {name: sorted(r.rows(name)) for name in NAMES}


def written(folder: Path) -> dict[str, list[str]]:
    """The lines of every sink."""
    sinks = {path.name: path for path in (folder / "out").iterdir()}
    return {
        name: sorted(
            line
            for part in (path.glob("part*") if path.is_dir() else [path])
            for line in part.read_text().splitlines()
        )
        for name, path in sinks.items()
    }


def start(file: Path, **environment: str) -> subprocess.Popen[str]:
    command, told = [sys.executable, "-m", "modulog", "run", str(file)], {**ENVIRONMENT, **environment}
    return subprocess.Popen(command, env=told, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def killed_in(file: Path, stage: str, number: int) -> bool:
    """Run a pipeline that is killed at a moment that is counted; False if it came to its end before that."""
    here = Path(__file__).parent
    paths = os.pathsep.join([SOURCE, str(here.parent)])
    command = [sys.executable, str(here / "killed_run.py"), str(file), stage, str(number)]
    done = subprocess.run(
        command, env={**ENVIRONMENT, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr[-3000:]
    return done.returncode != 0


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_runs(tmp_path: Path, workers: int) -> None:
    """SIGKILL in a round, then while the store is written; the third run ends with the right result, while a fourth is refused."""
    file = pipeline(tmp_path, workers=workers)
    assert killed_in(file, "round", 5)
    assert killed_in(file, "save", 5)
    last = start(file)
    logs = tmp_path / "store" / "runs"
    while len(list(logs.glob("*.jsonl"))) < 3 and last.poll() is None:
        time.sleep(0.02)  # until it says that it has begun
    other = start(file)
    _, said = other.communicate(timeout=PATIENCE)
    assert other.returncode == 2
    assert f"another run is at work on this store (process {last.pid} of " in said and "since" in said
    out, said = last.communicate(timeout=PATIENCE)
    assert last.returncode == 0, said[-3000:]
    assert stored(tmp_path) == expected(tmp_path)
    assert {name: len(lines) for name, lines in written(tmp_path).items()} == {
        f"{name}.csv": len(stored(tmp_path)[name]) for name in ("path", "end")
    }
    told = [path.read_text() for path in sorted(logs.glob("*.jsonl"))]
    assert not any((tmp_path / "store" / name).exists() for name in ("checkpoint", "tasks"))
    assert "report" in out
    if workers > 1:  # a task of rounds of a millisecond keeps nothing
        assert "up to round" in next(line for line in told[1].splitlines() if '"resumed"' in line)
        assert out.startswith("full run: a run that was killed goes on, with explicit facts and ")


KILLS = int(os.environ.get("MODULOG_KILLS", "2"))
"""How many runs are killed in any of their stages."""


@pytest.mark.long
def test_killed_in_any_stage(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Full and incremental runs, each killed after its sources have changed; the last one ends with what follows from them."""
    random = Random(base_seed(request.config))
    for number in range(KILLS + 1):
        file = pipeline(tmp_path, random.randrange(3, 6), workers=random.choice((1, 2)))
        file.write_text(f'mode = "incremental"\n{file.read_text()}')
        stage, step = random.choice(("round", *STAGES)), random.randrange(1, 20)
        if not killed_in(file, "never" if number == KILLS else stage, step):
            assert stored(tmp_path) == expected(tmp_path), (stage, step)
    parts = {f"{name}.csv": len(stored(tmp_path)[name]) for name in ("path", "end")}
    assert {name: len(lines) for name, lines in written(tmp_path).items()} == parts
    assert not any((tmp_path / "store" / name).exists() for name in ("checkpoint", "tasks"))


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
def test_lost_executor(tmp_path: Path, workers: int) -> None:
    """On two workers, one executor dies while a round is evaluated; where one has all the work, both do, so that it is among them."""
    file = pipeline(tmp_path, 4 if workers > 1 else 700, workers=workers)
    cluster = 'master = "local-cluster[2,1,1024]"\nexecutor.memory = "1g"\ndriver.host = "127.0.0.1"\n'
    without_sinks = file.read_text().partition("[[sink]]")[0]
    file.write_text(without_sinks.replace('master = "local[2]"\n', cluster))
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "lost_executor.py"), str(file), str(3 - workers)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    facts = sum(map(len, expected(tmp_path).values())) + 1
    assert done.stdout.splitlines()[-1] == f"killed True {facts}"
    assert stored(tmp_path) == expected(tmp_path)


@pytest.mark.long
def test_memory_that_is_limited(tmp_path: Path) -> None:
    """A task that wants more than Spark lets its worker have ends with the numbers; what it has kept waits for a run with more."""
    file = pipeline(tmp_path, 3000, workers=1)
    with file.open("a") as configuration:
        configuration.write('[spark.executor]\npyspark.memory = "1500m"\n')
    (tmp_path / "rules.rls").write_text(f"{RULES} far(?x, ?y, ?z) :- path(?x, ?y), path(?y, ?z) .")
    (tmp_path / "closed.csv").write_text("b\n")
    out, said = (run := start(file)).communicate(timeout=PATIENCE)
    assert run.returncode == 2 and not out
    assert "outgrown its memory at " in said and "may have 1.6 GB (spark.executor.pyspark.memory)" in said
    assert not (tmp_path / "out").exists() and not (tmp_path / "store" / MANIFEST).exists()


def test_full_disk(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that cannot write says so, and leaves store and sinks as they were; the next one succeeds."""
    from modulog import Pipeline

    made = Pipeline.from_file(pipeline(tmp_path, 3))
    made.run(spark=spark)
    before = stored(tmp_path), written(tmp_path)
    pipeline(tmp_path, 4)

    def full(*_: object) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Draft, "adopt", full)
        with pytest.raises(DataError, match="No space left on device"):
            made.run(spark=spark)
    assert (stored(tmp_path), written(tmp_path)) == before
    made.run(spark=spark)
    assert stored(tmp_path) == expected(tmp_path) != before[0]


@pytest.mark.long
def test_small_disk(spark: Any, tmp_path: Path) -> None:
    """The same on a real disk that is full, where Spark itself cannot write."""
    from modulog import Pipeline

    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("only an administrator can mount a small disk")
    try:
        made = Pipeline.from_file(pipeline(disk, 3))
        made.run(spark=spark)
        before = stored(disk), written(disk)
        file = pipeline(disk, 4)
        file.write_text(f'mode = "incremental"\n{file.read_text()}')
        filler = disk / "filler"
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        filler.write_bytes(bytes(free - 16384))
        with pytest.raises(DataError, match="No space left on device"):
            made.run(spark=spark)
        told = start(file)
        _, said = told.communicate(timeout=PATIENCE)
        assert told.returncode == 2 and "No space left on device" in said, said[-3000:]
        assert (stored(disk), written(disk)) == before
        filler.unlink()
        made.run(spark=spark)
        assert stored(disk) == expected(disk)
    finally:
        subprocess.run(["umount", str(disk)], check=True)
