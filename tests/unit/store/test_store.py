"""What is saved comes back: facts, terms, program, switches; lazily, and without computing anything again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog import Reasoner, Switches
from modulog.engines.local import store_writer
from modulog.errors import DataError, QueryError
from modulog.reasoner import reasoner
from modulog.terms.python_values import value
from support.stores import EVERY_KIND, PATHS, forge, held
from support.strategies import Case, cases, text
from support.term_strategies import CONSTANTS
from support.values import rows_to_python


@pytest.fixture
def paths() -> Reasoner:
    r = Reasoner(PATHS)
    r.add("edge", [("a", "b"), ("b", "c"), ("c", 1)])
    r.add("thing", EVERY_KIND)
    return r


def test_round_trip(paths: Reasoner, tmp_path: Path) -> None:
    paths.save(tmp_path / "store")
    opened = Reasoner.open(tmp_path / "store")
    assert held(opened) == held(paths)
    assert opened.program == paths.program
    assert opened.count("path(a, ?y), ~edge(a, ?y)") == 2
    assert (opened.count("some()"), opened.count("cyclic()")) == (1, 0)
    with pytest.raises(QueryError, match="did you mean path"):
        opened.rows("pat")


@pytest.fixture(scope="module")
def hasty() -> Iterator[None]:
    """Do not wait for the disk: many small stores are only looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.mark.usefixtures("hasty")
@given(rows=st.lists(st.tuples(CONSTANTS, CONSTANTS), max_size=20))
def test_every_term(rows: list[tuple[object, object]]) -> None:
    r = Reasoner("swapped(?y, ?x) :- pair(?x, ?y) .")
    r.add("pair", [tuple(map(value, row)) for row in rows] or np.empty((0, 2), np.int64))  # type: ignore[arg-type]
    with TemporaryDirectory() as folder:
        r.save(folder)
        assert held(Reasoner.open(folder)) == held(r)


@pytest.mark.usefixtures("hasty")
@given(arity=st.integers(0, 5), data=st.data())
def test_every_arity(arity: int, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(*[st.integers(0, 9)] * arity), max_size=30))
    names = ", ".join(f"?x{j}" for j in range(arity))
    r = Reasoner(f"q({names}) :- p({names}) .")
    r.add("p", rows or np.empty((0, arity), np.int64))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_writer, "FACTS", data.draw(st.integers(1, 20)))
        patch.setattr(store_writer, "TERMS", data.draw(st.integers(1, 20)))
        patch.setattr(store_writer, "GROUP", data.draw(st.integers(1, 20)))
        r.save(folder)
        opened = Reasoner.open(folder)
        assert held(opened) == held(r)
        assert all(opened.contains("q", row) for row in rows)


@pytest.mark.usefixtures("hasty")
@pytest.mark.filterwarnings("ignore")
@given(case=cases(), late=st.randoms(use_true_random=False))
def test_programs(case: Case, late: Random) -> None:
    """Saved with some of its facts, opened, and given the others, a program holds what it would have held."""
    whole, r = Reasoner(text(case.rules)), Reasoner(text(case.rules))
    waiting = {
        p: {row for row in sorted(rows, key=repr) if late.random() < 0.3} for p, rows in case.facts.items()
    }
    for p, rows in case.facts.items():
        whole.add(p, rows_to_python(rows))
        if now := rows - waiting[p]:
            r.add(p, rows_to_python(now))
    with TemporaryDirectory() as folder:
        r.save(folder)
        opened = Reasoner.open(folder)
        assert held(opened) == held(r)
        for p, rows in waiting.items():
            if rows:
                opened.add(p, rows_to_python(rows))
        assert held(opened) == held(whole)


def test_nothing_is_computed(paths: Reasoner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths.save(tmp_path)
    monkeypatch.setattr(reasoner, "materialise", None)
    opened = Reasoner.open(tmp_path)
    opened.materialise()
    assert sorted(opened.rows("end"), key=str) == sorted(paths.rows("end"), key=str)
    assert opened.query("path(a, ?y)").num_rows == 3
    statistics = opened.materialise()
    assert (statistics.facts, statistics.explicit) == (
        paths.materialise().facts,
        paths.materialise().explicit,
    )


def test_files_are_read_when_they_are_needed(paths: Reasoner, tmp_path: Path) -> None:
    paths.save(tmp_path)
    for file in tmp_path.glob("facts/*/*/*.parquet"):
        file.unlink()
    opened = Reasoner.open(tmp_path)
    assert opened.count("path") == paths.count("path")
    with pytest.raises(DataError, match=r"facts/2/p=\d+/000001-\d+\.parquet: damaged store: No such file"):
        opened.rows("path")


def test_more_facts_after_opening(paths: Reasoner, tmp_path: Path) -> None:
    paths.save(tmp_path)
    opened = Reasoner.open(tmp_path)
    for r in (paths, opened):
        r.add("edge", [("z", "a"), (1, "new term"), ("a", "b")])
        r.add("other", [(1, 2)])
    assert held(opened) == held(paths)
    assert opened.contains("path", ("z", "new term"))
    opened.save(tmp_path)
    assert held(Reasoner.open(tmp_path)) == held(paths)
    with pytest.raises(DataError, match="1 column where 3 arguments should be"):
        Reasoner.open(tmp_path).add("thing", [(1,)])


def test_explicit_facts_stay_apart(tmp_path: Path) -> None:
    """A derived fact that was also given stays when its derivation is gone from the program's explicit facts."""
    r = Reasoner("q(?x) :- p(?x) .")
    r.add("p", [(1,), (2,)])
    r.add("q", [(2,), (3,)])
    r.save(tmp_path)
    manifest_rows = {}

    def look(content: dict) -> None:  # type: ignore[type-arg]
        for relation in content["relations"]:
            manifest_rows[relation["predicate"]["name"], relation["role"]] = relation["rows"]

    forge(tmp_path, look)
    assert manifest_rows == {("p", "explicit"): 2, ("q", "explicit"): 2, ("q", "derived"): 3}


@pytest.mark.parametrize("modules", ["auto", "off"])
def test_collapsed_predicates_and_switches(tmp_path: Path, modules: str) -> None:
    r = Reasoner(
        "a(?x, ?y) :- b(?y, ?x) . b(?x, ?y) :- a(?y, ?x) . c(?x) :- b(?x, 2) .",
        switches=Switches(modules=modules),
    )
    r.add("a", [(1, 2), (2, 3)])
    r.add("b", [(5, 6)])
    r.save(tmp_path)
    opened = Reasoner.open(tmp_path)
    assert str(opened.plan()) == str(Reasoner(r.program, switches=Switches(modules=modules)).plan())
    assert held(opened) == held(r)
    opened.add("a", [(7, 5)])
    r.add("a", [(7, 5)])
    assert held(opened) == held(r)


def test_another_plan_computes_again(paths: Reasoner, tmp_path: Path) -> None:
    """A version that derives other predicates than the one that saved does not trust what was derived."""
    paths.save(tmp_path)

    def drop(content: dict) -> None:  # type: ignore[type-arg]
        content["relations"] = [r for r in content["relations"] if r["predicate"]["name"] != "path"]

    forge(tmp_path, drop)
    assert held(Reasoner.open(tmp_path)) == held(paths)


def test_changes_are_summed(tmp_path: Path) -> None:
    """A file of sign -1 takes facts back: what a change of a store is made of."""
    r, less = Reasoner("s(?x) :- r(?x, ?y) ."), Reasoner("s(?x) :- r(?x, ?y) .")
    r.add("r", [(i, i + 1) for i in range(10)])
    r.save(tmp_path / "store")
    less.add("r", [(i, i + 1) for i in range(4)])
    less.save(tmp_path / "less")

    def change(content: dict) -> None:  # type: ignore[type-arg]
        import json

        minus = json.loads((tmp_path / "less" / "modulog-store.json").read_text("utf-8"))["relations"][0]
        given = next(x for x in content["relations"] if x["predicate"]["name"] == "r")
        file = {**minus["files"][0], "sign": -1, "path": f"facts/2/p={given['number']}/000001-99.parquet"}
        (tmp_path / "less" / minus["files"][0]["path"]).rename(tmp_path / "store" / file["path"])
        given["files"].append(file)
        given["rows"] = 6

    forge(tmp_path / "store", change)
    opened = Reasoner.open(tmp_path / "store")
    assert opened.count("r") == 6
    assert sorted(opened.rows("r")) == [(i, i + 1) for i in range(4, 10)]


def test_ids_beyond_the_local_engine_are_refused(paths: Reasoner, tmp_path: Path) -> None:
    paths.save(tmp_path)

    def widen(content: dict) -> None:  # type: ignore[type-arg]
        for relation in content["relations"]:
            for file in relation["files"]:
                file["bounds"] = [[0, 2**40]] * len(file["bounds"])

    forge(tmp_path, widen)
    with pytest.raises(DataError, match="for the Spark engine"):
        Reasoner.open(tmp_path).rows("edge")
