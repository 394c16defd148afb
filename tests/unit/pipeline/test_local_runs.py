"""Local runs that are killed: checkpoints of every relation, and SIGKILL at moments that are counted; and what a local run never loads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from modulog import Reasoner, Switches
from modulog.algebra.expressions import Read
from modulog.pipeline import checkpoints
from modulog.pipeline.checkpoints import Checkpoints
from modulog.pipeline.run import Unwatched
from modulog.reasoner.for_pipelines import begin
from modulog.reasoner.persistence import kept_relations
from modulog.store.manifest import read_manifest
from support.amounts import base_seed
from support.killed import killed
from support.local_pipeline import RULES, check, pipeline
from support.stores import held

pytestmark = pytest.mark.filterwarnings("ignore::modulog.formats.DataWarning")

PROGRAM = """
    leads(?x, ?y) :- e(?x, ?y), ~closed(?y) .
    leads(?x, ?z) :- leads(?x, ?y), e(?y, ?z) .
    far(?x, ?z) :- far(?x, ?y), far(?y, ?z) . far(?x, ?y) :- e(?x, ?y) .
    near(?x, ?z) :- near(?x, ?y), e(?y, ?z), gate(?z, ?n), ?n > 1 . near(?x, ?y) :- e(?x, ?y) .
    t(?x, ?y) :- leads(?x, ?y), gate(?x, ?n), ?n > 2 .
    t(?x, ?z) :- t(?x, ?y), t(?y, ?z) .
    t(?y, ?x) :- t(?x, ?y), turns(?x) .
    s(?x, ?y) :- t(?x, ?y), turns(?y) .
    s(?y, ?x) :- s(?x, ?y) .
    s(?x, ?z) :- s(?x, ?y), s(?y, ?z) .
    s(?x, ?y) :- s(?x, ?z), turns(?z), e(?z, ?y) .
    twice(?x, ?m) :- gate(?x, ?n), s(?x, _), ?m = ?n * 2 .
    on() :- s(?x, ?y), gate(?x, _) .
    apart(?x) :- gate(?x, _), ~s(?x, _), ~far(?x, ?x), on() .
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


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit as often as is asked for, whatever that costs."""
    monkeypatch.setattr(checkpoints, "SHARE", 0)


def fill(r: Reasoner) -> None:
    random = Random(5)
    nodes = [f"n{i}" for i in range(10)]
    r.add("e", [(random.choice(nodes), random.choice(nodes)) for _ in range(12)])
    r.add("gate", [(node, i) for i, node in enumerate(nodes)])


def kept(r: Reasoner) -> dict[str, set[Any]]:
    """Every listed relation that a store would keep; of components, which members are together."""
    assert r._maintenance is not None
    strata, found = [stratum.live for stratum in r._maintenance.strata], {}
    for predicate, role, relation in kept_relations(r._facts, strata):
        names = tuple(f"c{j}" for j in range(predicate.arity))
        rows = set(r._backend.rows(r._backend.engine.evaluate(Read(relation, names, "all")), names))
        if predicate.name.endswith(" members"):
            rows = {(x, y) for x, c in rows for y, d in rows if c == d}
        found[f"{role} {predicate}"] = rows
    return found


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("rounds", [1, 3, 8, 12])
@pytest.mark.parametrize(
    "options", [{}, {"modules": "off"}, {"storage": "plain"}, {"storage": "compact"}], ids=str
)
def test_taken_up(tmp_path: Path, rounds: int, options: dict[str, Any]) -> None:
    """What was stopped in any round ends with the same facts, and with everything that later updates need."""
    key = {"sources": {"e.csv": "5f3a"}}
    first = Checkpoints(tmp_path, key, rounds=1)
    assert not first.loaded and not first.resumed
    with begin(PROGRAM, checkpoints=first, progress=Plug(rounds), switches=Switches(**options)) as r:
        fill(r)
        with pytest.raises(Stopped):
            r.materialise()
    second = Checkpoints(tmp_path, key, rounds=3)
    assert second.resumed.startswith("explicit facts and ")
    change: dict[str, Any] = {
        "add": {"e": [("n1", "n7"), ("n7", "m1")], "turns": [("n5",)]},
        "delete": {"turns": [("n3",)]},
    }
    with Reasoner(PROGRAM, switches=Switches(**options)) as whole:
        fill(whole)
        whole.materialise()
        with begin(PROGRAM, checkpoints=second, switches=Switches(**options)) as r:
            r.materialise()
            assert kept(r) == kept(whole)
            r.update(**change)
            whole.update(**change)
            assert held(r) == held(whole)
            r.save(tmp_path / "store")
    with Reasoner.open(tmp_path / "store") as again:
        assert held(again)


def test_a_run_of_seconds_writes_nothing(tmp_path: Path) -> None:
    """Files that would take a good part of the time are not written."""
    made = Checkpoints(tmp_path, {}, rounds=1)
    with begin(PROGRAM, checkpoints=made) as r:
        fill(r)
        r.materialise()
    assert not made.commits and not made.area.exists()


@pytest.mark.usefixtures("eager")
def test_files_of_older_states_go(tmp_path: Path) -> None:
    """What no state needs is removed: many rounds do not fill the disk."""
    made = Checkpoints(tmp_path, {}, rounds=1)
    with begin(
        "p(?x, ?z) :- p(?x, ?y), e(?y, ?z) . p(?x, ?y) :- e(?x, ?y) .",
        switches=Switches(modules="off"),
        checkpoints=made,
    ) as r:
        r.add("e", [(i, i + 1) for i in range(40)])
        r.materialise()
    assert made.commits > 30
    assert len(list(made.area.glob("facts/*"))) < 12 and len(list(made.area.glob("terms/*"))) == 1


# ---- Runs of a pipeline


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("step", range(5, 86, 10))
def test_killed_at_a_step(tmp_path: Path, step: int) -> None:
    """SIGKILL before a step on files, in a full run and again in an incremental one; the next run ends with what follows."""
    made = pipeline(tmp_path)
    killed(made.run, step, tmp_path)
    run = made.run()
    check(tmp_path)
    assert run.mode == "full" or read_manifest(tmp_path / "store").generation > 1
    made = pipeline(tmp_path, 5)
    killed(made.run, step, tmp_path)
    made.run()
    check(tmp_path)


@pytest.mark.usefixtures("eager")
def test_what_was_computed_is_taken_up(tmp_path: Path) -> None:
    """Killed in a round: the next run does not read sources again, and says with what it goes on; bad records are not lost."""
    made = pipeline(tmp_path)

    class Mortal(Unwatched):
        def __call__(self, stratum: int, strata: int, name: str, round_: int, facts: int) -> None:
            if round_ == 3:
                os.kill(os.getpid(), signal.SIGKILL)

    assert killed(lambda: made.run(watch=Mortal()), 10**9, tmp_path)
    run = made.run()
    assert run.resumed.startswith("explicit facts and 0 of 3 strata, the next one up to round ")
    assert run.reason.startswith("a run that was killed goes on, with explicit facts")
    assert run.set_aside == 1 and run.bad_records is not None and not run.read
    check(tmp_path)
    rules = tmp_path / "rules.rls"
    assert killed(lambda: made.run(full=True, watch=Mortal()), 10**9, tmp_path)
    rules.write_text(RULES + "other(?x) :- both(?x, _) .")
    assert not made.run(full=True).resumed


def test_killed_at_random_steps(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Full and incremental runs after changes of the sources, killed wherever it happens."""
    random = Random(base_seed(request.config))
    for _ in range(4):
        made = pipeline(tmp_path, random.randrange(3, 9))
        if not killed(made.run, random.randrange(1, 120), tmp_path):
            check(tmp_path)
    made.run()
    check(tmp_path)


def test_nothing_of_spark_is_loaded(tmp_path: Path) -> None:
    """A full and an incremental run import no PySpark, and start no Java: there is none on the path."""
    pipeline(tmp_path)
    program = """
import sys
from pathlib import Path
from modulog.pipeline import Source, Sink
from modulog import Pipeline
folder = Path(sys.argv[1])
for change in ("", "a9,a0\\n"):
    with (folder / "edge.csv").open("a") as file:
        file.write(change)
    run = Pipeline(rules=[folder / "rules.rls"], sources=[Source(str(folder / "edge.csv"), bad="set-aside"), Source(str(folder / "closed.csv"))], sinks=[Sink(str(folder / "out"))], store=folder / "store", mode="incremental", engine="local").run()
    print(run.mode)
assert not [name for name in sys.modules if name.partition(".")[0] in ("pyspark", "py4j")]
"""
    environment = {k: v for k, v in os.environ.items() if k != "JAVA_HOME"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env={**environment, "PATH": str(tmp_path / "nothing")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["full", "incremental"]
