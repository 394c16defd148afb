"""Updates that are stopped in the middle and taken up by another reasoner: after any commit they end as if nobody had stopped them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from modulog import Reasoner, SparkOptions
from modulog.engines.values import Failures
from modulog.pipeline import checkpoints
from modulog.pipeline.checkpoints import Checkpoints
from modulog.pipeline.update_checkpoints import UpdateCheckpoints
from modulog.planning.passes import Switches
from modulog.reasoner.for_pipelines import open_store
from support.stores import held

PROGRAM = """
    leads(?x, ?y) :- e(?x, ?y), ~closed(?y) .
    leads(?x, ?z) :- leads(?x, ?y), e(?y, ?z) .
    far(?x, ?y) :- e(?x, ?y) .
    far(?x, ?z) :- far(?x, ?y), far(?y, ?z) .
    t(?x, ?y) :- leads(?x, ?y), gate(?x, ?n), ?n > 2 .
    t(?x, ?z) :- t(?x, ?y), t(?y, ?z) .
    t(?y, ?x) :- t(?x, ?y), turns(?x) .
    s(?x, ?y) :- t(?x, ?y), turns(?y) .
    s(?y, ?x) :- s(?x, ?y) .
    s(?x, ?z) :- s(?x, ?y), s(?y, ?z) .
    s(?x, ?y) :- s(?x, ?z), turns(?z), e(?z, ?y) .
    twice(?x, ?m) :- gate(?x, ?n), s(?x, _), ?m = ?n * 2 .
    on() :- s(?x, ?y), closed(?x) .
    apart(?x) :- gate(?x, _), ~s(?x, _), ~far(?x, ?x) .
"""
NODES = [f"n{i}" for i in range(14)]
KEY = {"sources": {"e.csv": "5f3a"}}


pytestmark = pytest.mark.long


class Stopped(Exception):
    """Somebody pulled the plug."""


class Pulled(UpdateCheckpoints):
    """Stops the update after so many commits."""

    def __init__(self, store: Path, left: int) -> None:
        super().__init__(store, KEY, rounds=1)
        self.left = left

    def _commit(self, *args: Any) -> None:
        super()._commit(*args)
        self.left -= 1
        if not self.left:
            raise Stopped


def facts(seed: int) -> dict[str, list[tuple[Any, ...]]]:
    random = Random(seed)
    return {
        "e": [(random.choice(NODES), random.choice(NODES)) for _ in range(16)],
        "gate": [(node, i) for i, node in enumerate(NODES)],
        "turns": [("n3",), ("n6",)],
        "closed": [("n9",)],
    }


def change(given: dict[str, list[tuple[Any, ...]]], seed: int) -> dict[str, Any]:
    """Something new, with new terms, and something less."""
    random = Random(seed)
    new = [(random.choice([*NODES, "m1", "m2"]), random.choice([*NODES, "m1", "m2"])) for _ in range(5)]
    return {
        "add": {"e": new, "turns": [(random.choice(NODES),)], "gate": [("m1", 7)]},
        "delete": {"e": random.sample(given["e"], 4), "turns": [("n3",)]},
    }


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit as often as is asked for, whatever that costs."""
    monkeypatch.setattr(checkpoints, "SHARE", 0)


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, dict[str, list[tuple[Any, ...]]]]:
    """A store before the update."""
    given = facts(5)
    with Reasoner(PROGRAM) as r:
        for name, rows in given.items():
            r.add(name, rows)
        r.save(tmp_path / "before")
    return tmp_path / "before", given


def opened(spark: Any, store: Path, checkpoints: Any, **options: Any) -> Reasoner:
    return open_store(
        store,
        spark=SparkOptions(session=spark, folder=checkpoints.folder),
        checkpoints=checkpoints,
        **options,
    )


def from_scratch(given: dict[str, list[tuple[Any, ...]]], *changes: dict[str, Any]) -> dict[str, Any]:
    with Reasoner(PROGRAM) as r:
        for name, rows in given.items():
            r.add(name, rows)
        for some in changes:
            r.update(**some)
        return held(r)


@pytest.mark.parametrize(
    ("maintenance", "stop", "goes_on"),
    [("auto", 11, True), ("dredc", 7, False), ("recompute", 9, False)],
)
def test_taken_up_after_any_commit(
    spark: Any, saved: Any, tmp_path: Path, maintenance: str, stop: int, goes_on: bool
) -> None:
    """Another update may follow, with checkpoints of its own."""
    before, given = saved
    store, first, second = tmp_path / "store", change(given, 1), change(given, 2)
    with open_store(before, switches=Switches(maintenance=maintenance)) as r:
        r.save(store)
    with opened(spark, store, Pulled(store, stop)) as r, pytest.raises(Stopped):
        r.update(**first)
    checkpoints = UpdateCheckpoints(store, KEY, rounds=1)
    assert checkpoints.loaded and "of the update" in checkpoints.resumed
    with opened(spark, store, checkpoints) as r:
        found = r.update(**first)
        assert held(r) == from_scratch(given, first)
        taken = [s for s in found.statistics.strata if s.how == "taken up"]
        assert len(taken) == int(checkpoints.resumed.split()[0])
        r.save(store)
        if goes_on:
            checkpoints.next({})
            r.update(**second)
            assert held(r) == from_scratch(given, first, second)
    checkpoints.clear()


def test_taken_up_by_executors(spark: Any, tmp_path: Path) -> None:
    """Without the driver's help; what had left and come lies in files of executors."""
    rules = "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), e(?y, ?z) . far(?x) :- p(?x, c5), ~e(?x, c5) ."
    edges = [(f"c{i}", f"c{i + 1}") for i in range(6)]
    first: dict[str, Any] = {"delete": {"e": edges[2:3]}, "add": {"e": [("c2", "d"), ("d", "c4")]}}
    with Reasoner(rules) as r:
        r.add("e", edges)
        r.save(tmp_path)
        r.update(**first)
        expected = held(r)
    with opened(spark, tmp_path, Pulled(tmp_path, 3)) as r, pytest.raises(Stopped):
        r.update(**first)
    checkpoints = UpdateCheckpoints(tmp_path, KEY, rounds=1)
    assert checkpoints.resumed
    with opened(spark, tmp_path, checkpoints) as r:
        r.update(**first)
        assert held(r) == expected


def test_what_was_counted_before_is_taken_up(spark: Any, tmp_path: Path) -> None:
    """A comparison that could not be decided, in a stratum that the run which was stopped had finished."""
    rules = "late(?p) :- lead(?p, ?d), ?d > 20 . on(?x, ?y) :- e(?x, ?y), ~late(?x) . on(?x, ?z) :- on(?x, ?y), e(?y, ?z) ."
    with Reasoner(rules) as r:
        r.add("lead", [("a", 25)])
        r.add("e", [("a", "b"), ("b", "c")])
        r.save(tmp_path)
    change: dict[str, Any] = {"add": {"lead": [("b", "n/a"), ("c", 30)], "e": [("c", "d")]}}
    with opened(spark, tmp_path, Pulled(tmp_path, 2)) as r, pytest.raises(Stopped):
        r.update(**change)
    checkpoints = UpdateCheckpoints(tmp_path, KEY, rounds=1)
    assert (
        checkpoints.resumed.startswith("1 stratum of the update") and checkpoints.failures.incomparable == 1
    )
    with opened(spark, tmp_path, checkpoints) as r:
        found = r.update(**change).statistics
        assert found.strata[0].how == "taken up" and found.failures == Failures(incomparable=1)
        checkpoints.next({})
        assert r.update(add={"lead": [("d", "soon")]}).statistics.failures == Failures(incomparable=1)


def test_other_rules_over_stored_facts(spark: Any, saved: Any) -> None:
    """Computing again by other rules is taken up, too; explicit facts stay where they are."""
    from modulog.language.parser import parse_program

    store, given = saved
    program = parse_program(PROGRAM.replace("?n > 2", "?n > 1"))

    rounds = iter(range(6))

    def stop(*_: object) -> None:
        if next(rounds) == 5:
            raise Stopped

    made = Checkpoints(store, KEY, 1, stored=True)
    with (
        opened(spark, store, made, program=program, progress=stop) as r,
        pytest.raises(Stopped),
    ):
        r.materialise()
    made = Checkpoints(store, KEY, 1, stored=True)
    assert made.resumed and "0 of" not in made.resumed
    with opened(spark, store, made, program=program) as r:
        r.materialise()
        with Reasoner(program) as other:
            for name, rows in given.items():
                other.add(name, rows)
            assert held(r) == held(other)
        r.save(store)
    made.clear()
    with Reasoner.open(store) as r, Reasoner(program) as other:
        for name, rows in given.items():
            other.add(name, rows)
        assert held(r) == held(other)
