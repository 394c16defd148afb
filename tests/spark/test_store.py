"""Stores across engines: each reads what either wrote, computes nothing again, and goes on from there."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from modulog import Reasoner, Switches
from modulog.errors import DataError
from modulog.reasoner import reasoner
from modulog.terms.python_values import constant
from support.stores import EVERY_KIND, PATHS, forge, held

EDGES = [("a", "b"), ("b", "c"), ("c", 1)]
MORE = [("z", "a"), (1, "new term")]


def filled(*facts: tuple[Any, Any], **options: Any) -> Reasoner:
    r = Reasoner(PATHS, **options)
    r.add("edge", [*EDGES, *facts])
    r.add("thing", EVERY_KIND)
    return r


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return held(filled())


@pytest.mark.partitions
def test_local_writes_and_spark_reads(
    spark: Any, tmp_path: Path, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a [strange]* {name}% é"
    filled().save(folder)
    with monkeypatch.context() as patch:
        patch.setattr(reasoner, "materialise", None)
        with Reasoner.open(folder, spark=spark) as opened:
            assert held(opened) == expected
            assert opened.count("path(a, ?y), ~edge(a, ?y)") == 2
            assert opened.contains("path", ("a", 1)) and not opened.contains("path", (1, "a"))


def test_what_one_worker_represents_executors_list(spark: Any, tmp_path: Path) -> None:
    """A store with a represented closure and a view: what follows is computed again, and goes on from there."""
    rules = PATHS + "both(?x, ?y) :- path(?x, ?y) . both(?y, ?x) :- path(?x, ?y) ."
    local = Reasoner(rules, switches=Switches(storage="compact"))
    local.add("edge", EDGES)
    local.save(tmp_path)
    assert any(not relation.listed for relation in local._facts.derived.values())
    with Reasoner.open(tmp_path, spark=spark) as opened:
        assert held(opened) == held(local)
        opened.update(add={"edge": MORE}, delete={"edge": EDGES[:1]})
        opened.save(tmp_path)
    local.update(add={"edge": MORE}, delete={"edge": EDGES[:1]})
    assert held(Reasoner.open(tmp_path)) == held(local)


@pytest.mark.partitions
def test_spark_writes_and_both_read(spark: Any, tmp_path: Path, expected: dict[str, Any]) -> None:
    with filled(spark=spark) as r:
        r.save(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "facts",
        "modulog-store.json",
        "modulog-store.lock",
        "readers",
        "terms",
    ]
    assert held(Reasoner.open(tmp_path)) == expected
    with Reasoner.open(tmp_path, spark=spark) as opened:
        assert {p: opened.count(p.split("/")[0]) for p in expected} == {
            p: len(f) for p, f in expected.items()
        }
        assert {tuple(map(constant, row)) for row in opened.rows("thing")} == expected["thing/3"]


@pytest.mark.partitions
def test_spark_goes_on_and_saves_again(spark: Any, tmp_path: Path) -> None:
    """More facts after opening, with new terms; the old state stays readable until its reader closes."""
    filled().save(tmp_path)
    with Reasoner.open(tmp_path, spark=spark) as opened:
        opened.add("edge", MORE)
        assert opened.contains("path", ("z", "new term"))
        opened.save(tmp_path)
        assert held(Reasoner.open(tmp_path)) == held(filled(*MORE))
    local = Reasoner.open(tmp_path)
    local.add("edge", [("new term", "z")])
    assert local.count("cyclic") == 1


@pytest.mark.partitions
def test_changes_are_summed(spark: Any, tmp_path: Path) -> None:
    whole, less = Reasoner(""), Reasoner("")
    whole.add("r", [(i, i + 1) for i in range(10)])
    less.add("r", [(i, i + 1) for i in range(4)])
    whole.save(tmp_path / "store")
    less.save(tmp_path / "less")
    minus = json.loads((tmp_path / "less" / "modulog-store.json").read_text("utf-8"))["relations"][0]

    def change(content: dict[str, Any]) -> None:
        file = {**minus["files"][0], "sign": -1, "path": "facts/2/p=0/000001-99.parquet"}
        (tmp_path / "less" / minus["files"][0]["path"]).rename(tmp_path / "store" / file["path"])
        content["relations"][0]["files"].append(file)
        content["relations"][0]["rows"] = 6

    forge(tmp_path / "store", change)
    with Reasoner.open(tmp_path / "store", spark=spark) as opened:
        assert sorted(opened.rows("r")) == [(i, i + 1) for i in range(4, 10)]
        assert opened.count("r") == 6


def test_engines_take_turns_at_changing_a_store(spark: Any, tmp_path: Path) -> None:
    """Facts go and come back, by executors and by the local engine; each writes what has changed, and all read it."""
    dice, rows = Random(1), {(i, i + 1) for i in range(400)}
    first = Reasoner("path(?x, ?y) :- r(?x, ?y) . reached(?y) :- path(?x, ?y), ~start(?y) . start(3) .")
    first.add("r", rows)
    first.save(tmp_path)
    turns: list[dict[str, Any]] = [{"spark": spark}, {"engine": "local"}, {"spark": spark}]
    gone: set[tuple[int, int]] = set()
    for options in turns:
        lost = set(dice.sample(sorted(rows), 6))
        back = set(dice.sample(sorted(gone), min(len(gone), 4)))
        rows, gone = rows - lost | back, gone - back | lost
        with Reasoner.open(tmp_path, **options) as opened:
            opened.update(delete={"r": sorted(lost)}, add={"r": sorted(back)})
            opened.save(tmp_path)
    relations = json.loads((tmp_path / "modulog-store.json").read_text("utf-8"))["relations"]
    assert {file["sign"] for relation in relations for file in relation["files"]} == {1, -1}
    assert all("000001-" in relation["files"][0]["path"] for relation in relations if relation["rows"] > 1)
    for options in turns[:2]:
        with Reasoner.open(tmp_path, **options) as opened:
            assert set(opened.rows("r")) == set(opened.rows("path")) == rows
            assert set(opened.rows("reached")) == {(y,) for _, y in rows if y != 3}
            assert opened.count("r") == len(rows) and opened.count("reached") == len(rows) - ((2, 3) in rows)


def test_damage_is_named(spark: Any, tmp_path: Path) -> None:
    filled().save(tmp_path)
    for path in (*tmp_path.glob("facts/1/*/*.parquet"), *tmp_path.glob("terms/*.parquet")):
        whole = path.read_bytes()
        changed = bytearray(whole)
        changed[len(whole) // 2] ^= 4
        path.write_bytes(bytes(changed))
        with (
            Reasoner.open(tmp_path, spark=spark) as opened,
            pytest.raises(DataError, match=f"{path}: damaged"),
        ):
            held(opened)
        path.write_bytes(whole)


def test_a_failure_leaves_the_old_state(spark: Any, tmp_path: Path, expected: dict[str, Any]) -> None:
    """Executors have written, and the driver fails."""
    filled().save(tmp_path / "store")
    with Reasoner("r(1, 2) .", spark=spark) as r, pytest.MonkeyPatch.context() as patch:
        patch.setattr("modulog.engines.spark.store_files._measured", _fail)
        with pytest.raises(DataError, match="the store cannot be written: no space; it is as it was"):
            r.save(tmp_path / "store")
    assert held(Reasoner.open(tmp_path / "store")) == expected
    assert not (tmp_path / "store" / ".writing").exists()


def _fail(*_: object) -> None:
    raise OSError(28, "no space")
