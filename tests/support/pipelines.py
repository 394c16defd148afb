"""Pipelines on any engine: what is read, computed, written and told, and incremental runs beside computations from scratch.

The tests take a fixture `place`, which says where pipelines run.
"""

from __future__ import annotations

import json
import random
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from modulog import Pipeline, Reasoner
from modulog.engines.values import Failures
from modulog.errors import DataError, ModulogError, ProgramWarning
from modulog.pipeline import Run, Sink, Source, sinks
from modulog.pipeline.run import START
from modulog.store.manifest import read_manifest
from support.reasoners import with_switches
from support.stores import held


@dataclass(frozen=True)
class Place:
    """An engine, and the session if it is Spark."""

    engine: str
    spark: Any = None
    workers: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """What a pipeline that runs here is made with."""
        return {"engine": self.engine, "workers": self.workers}

    def run(self, pipeline: Pipeline, **options: Any) -> Run:
        """Run a pipeline here."""
        return pipeline.run(spark=self.spark, **options)


RULES = """
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
    apart(?x) :- node(?x), ~path(?x, ?x) .
    good(?x) :- apart(?x), ~ban(?x) .
    edge(0, 1) .
"""
LATE = """
    late(?p) :- lead(?p, ?d), ?d > 20 .
    share(?x) :- stock(?p, ?n), ?x = 12 / ?n .
    blocked(?p) :- late(?p), stock(?p, ?n) .
"""


def content(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def stored(store: Path) -> dict[str, Any]:
    """The facts of a store, without predicates that have none."""
    with Reasoner.open(store) as opened:
        return {name: rows for name, rows in held(opened).items() if rows}


def expected(rules: str, facts: dict[str, set[tuple[Any, ...]]]) -> dict[str, Any]:
    """The same, computed from scratch."""
    r = Reasoner(rules)
    for name, rows in facts.items():
        r.add(name, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProgramWarning)  # where a run is to warn is another test's business
        return {name: rows for name, rows in held(r).items() if rows}


def write_csv(path: Path, rows: set[tuple[Any, ...]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in sorted(rows)))


def table_rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of a folder of Parquet files."""
    found: list[dict[str, Any]] = pq.read_table(folder).to_pylist()
    return found


def sink_rows(folder: Path) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in pq.read_table(folder).to_pylist())


# ---- What is told


def left_out(place: Place, tmp_path: Path, counted_once: bool = True, **options: Any) -> None:
    """Rows and bad records by source, and comparisons that cannot be decided: in the result, the log and the report of full and incremental runs."""
    (tmp_path / "rules.rls").write_text(LATE)
    (tmp_path / "lead.csv").write_text('a,"n/a",1\nb,25,2\nc\nd,12,0\n')
    (tmp_path / "part.nt").write_text("<urn:a> <urn:part> <urn:b> .\n<urn:a> <urn:part> <urn:c> .\n")
    lead = Source(str(tmp_path / "lead.csv"), map={"lead": [0, 1], "stock": [0, 2]}, bad="set-aside")
    pipeline = Pipeline(
        rules=[tmp_path / "rules.rls"],
        sources=[lead, Source(str(tmp_path / "part.nt"))],
        store=tmp_path / "store",
        mode="incremental",
        **with_switches({**place.options, **options}),
    )
    first = place.run(pipeline)
    assert first.read == {str(tmp_path / "lead.csv"): 3, str(tmp_path / "part.nt"): 2}
    assert first.failures.keys() == {"incomparable", "divisions_by_zero"} and first.set_aside == 2
    if counted_once:  # executors count a row again where they evaluate it again
        assert set(first.failures.values()) == {1}
    assert f"2 bad records set aside: {first.bad_records}" in str(first)
    told = Failures(**first.failures).told()
    assert all(f"\n  {line}\n" in str(first) for line in told)
    assert "read" in first.seconds and START not in first.seconds  # Spark was running already
    log = Path(str(first.report)).with_suffix(".jsonl").read_text().splitlines()
    notes = [line for line in map(json.loads, log) if line["event"] == "note"]
    (bad,) = (note for note in notes if "bad_records" in note)
    assert [(r["line"], r["text"]) for r in bad["bad_records"]] == [(3, "c"), (3, "c")]
    assert bad["place"] == first.bad_records and len(table_rows(Path(bad["place"]))) == 2
    assert first.failures in [note.get("failures") for note in notes]
    page = Path(str(first.report)).read_text()
    assert all(line in page for line in told) and "1 field where 3 should be" in page
    assert "once: " in page  # the order of the joins, as `modulog plan` shows it

    (tmp_path / "lead.csv").write_text('a,"n/a",1\nb,25,2\nd,12,0\ne,"soon",1\nf,"never",1\n')
    second = place.run(pipeline)
    assert second.mode == "incremental" and second.read == {str(tmp_path / "lead.csv"): 5}
    assert second.failures.keys() == {"incomparable"} and second.failures["incomparable"] >= 2
    assert not counted_once or second.failures["incomparable"] == 2
    assert not second.set_aside
    assert Failures(**second.failures).told()[0] in Path(str(second.report)).read_text()


def test_what_was_left_out_is_told(place: Place, tmp_path: Path) -> None:
    left_out(place, tmp_path)


# ---- Incremental runs


class Lake:
    """Files that change, a pipeline over them, and what there should be."""

    def __init__(self, folder: Path, place: Place, **options: Any) -> None:
        self.folder, self.place, self.store = folder, place, folder / "store"
        self.rules = RULES
        self.facts: dict[str, set[tuple[Any, ...]]] = {
            "edge": set(),
            "more": set(),
            "node": set(),
            "ban": set(),
        }
        for name in ("edge", "more", "node"):
            self.write(name)
        source = [Source(str(folder / f"{name}.csv")) for name in ("edge", "node")]
        source.append(Source(str(folder / "more.csv"), predicate="edge"))
        source += [
            Source(str(folder / f"{role}/*.csv"), predicate="ban", role=role) for role in ("add", "delete")
        ]  # type: ignore[arg-type]
        self.options = {
            "sources": source,
            "sinks": [Sink(str(folder / "out"), predicates=("path", "good"))],
            "mode": "incremental",
            **options,
        }

    def write(self, name: str) -> None:
        write_csv(self.folder / f"{name}.csv", self.facts[name])

    def run(self, **options: Any) -> Run:
        (self.folder / "rules.rls").write_text(self.rules)
        given = {**self.place.options, **self.options}
        pipeline = Pipeline(rules=[self.folder / "rules.rls"], store=self.store, **with_switches(given))
        return self.place.run(pipeline, **options)

    def check(self) -> None:
        """The store and the sink have what follows from the files."""
        facts = {
            "edge": self.facts["edge"] | self.facts["more"],
            "node": self.facts["node"],
            "ban": self.facts["ban"],
        }
        found = expected(self.rules, facts)
        assert stored(self.store) == found
        with Reasoner.open(self.store) as opened:
            for name in ("path", "good"):
                assert sink_rows(self.folder / "out" / f"{name}.parquet") == sorted(opened.rows(name))


def changed(rows: set[tuple[Any, ...]], random: random.Random, arity: int) -> set[tuple[Any, ...]]:
    """Some rows gone, some come."""
    kept = {row for row in rows if random.random() < 0.7}
    return kept | {tuple(random.randrange(8) for _ in range(arity)) for _ in range(random.randrange(4))}


@pytest.mark.parametrize(
    ("seed", "runs", "options"),
    [
        pytest.param(1, 5, {}, marks=pytest.mark.long),
        (2, 4, {"modules": "off", "maintenance": "dredc"}),
    ],
)
def test_incremental_runs_equal_computation_from_scratch(
    place: Place, tmp_path: Path, seed: int, runs: int, options: dict[str, Any]
) -> None:
    """Compared sources, two of them of one predicate, and batches that add and delete, over several runs."""
    lake, dice = Lake(tmp_path, place, **options), random.Random(seed)
    before: dict[str, set[Any]] = {}
    for number in range(runs):
        for name, arity in (("edge", 2), ("more", 2), ("node", 1)):
            if dice.random() < 0.7 or not number:
                lake.facts[name] = changed(lake.facts[name], dice, arity)
                lake.write(name)
        if number:
            gone, come = ({(dice.randrange(8),) for _ in range(dice.randrange(4))} for _ in range(2))
            write_csv(tmp_path / "delete" / f"{number}.csv", gone)
            write_csv(tmp_path / "add" / f"{number}.csv", come)
            lake.facts["ban"] = lake.facts["ban"] - gone | come
        run = lake.run()
        assert run.mode == ("incremental" if number else "full")
        lake.check()
        after = stored(lake.store)
        if number:
            names = after.keys() | before.keys()
            net = {n.split("/")[0] for n in names if after.get(n) != before.get(n)}
            assert net <= {*run.added, *run.deleted}
            written = {"path", "good"} & {*run.added, *run.deleted}
            assert {Path(part).name for part in run.written} == {f"{n}.parquet" for n in written}
        before = after
    assert not lake.run().written


def test_the_table_of_changes_and_other_rules(place: Place, tmp_path: Path) -> None:
    """What has changed in each state; nothing is applied twice; other rules over stored facts, also of batches that are gone."""
    lake = Lake(tmp_path, place)
    lake.facts["edge"], lake.facts["node"] = {(1, 2), (2, 3)}, {(1,), (9,)}
    lake.write("edge")
    lake.write("node")
    lake.run()
    lake.facts["edge"] = {(1, 2), (3, 1)}
    lake.write("edge")
    (tmp_path / "node.csv").touch()
    write_csv(tmp_path / "add" / "1.csv", {(8,), (9,)})
    lake.facts["ban"] = {(8,), (9,)}
    run = lake.run()
    assert run.added == {"edge": 1, "path": 2, "ban": 2}
    assert run.deleted == {"edge": 1, "path": 3, "good": 1}
    assert run.change is not None and Path(run.change).parent == lake.store / "changes"
    assert {
        (r["predicate"], r["sign"], *map(int, r["terms"])) for r in table_rows(lake.store / "changes")
    } == {
        ("edge", 1, 3, 1),
        ("edge", -1, 2, 3),
        ("path", 1, 3, 1),
        ("path", 1, 3, 2),
        ("path", -1, 2, 3),
        ("path", -1, 1, 3),
        ("path", -1, 0, 3),
        ("ban", 1, 8),
        ("ban", 1, 9),
        ("good", -1, 9),
    }
    write_csv(tmp_path / "delete" / "1.csv", {(8,), (77,)})
    lake.facts["ban"] = {(9,)}
    run = lake.run()
    assert run.deleted == {"ban": 1} and not run.written
    lake.check()
    (tmp_path / "add" / "1.csv").unlink()
    lake.rules = "path(?x, ?y) :- edge(?y, ?x) . good(?x) :- ban(?x) . edge(7, 7) ."
    run = lake.run()
    assert run.mode == "full" and "rules" in run.reason
    lake.check()
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"good.parquet", "path.parquet"}
    assert lake.run().mode == "incremental"


def test_what_goes_wrong_leaves_everything_as_it_was(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake(tmp_path, place)
    lake.facts["edge"] = {(i, i + 1) for i in range(5)}
    lake.write("edge")
    lake.run()
    before = content(tmp_path / "out"), read_manifest(lake.store), stored(lake.store)
    with (tmp_path / "edge.csv").open("a") as file:
        file.write("1,2,3\n")
    for options in ({}, {"full": True}):
        with pytest.raises(DataError, match=r"edge\.csv:6: "):
            lake.run(**options)
        assert (content(tmp_path / "out"), read_manifest(lake.store), stored(lake.store)) == before
    lake.facts["edge"] |= {(5, 6)}
    lake.write("edge")

    def full(*_: object, **__: object) -> None:
        raise DataError("no space left")

    monkeypatch.setattr(sinks, "move_parts", full)
    with pytest.raises(DataError, match="no space"):
        lake.run()
    monkeypatch.undo()
    assert content(tmp_path / "out") == before[0]
    lake.run()  # nothing has changed since, but the sinks are behind
    lake.check()
    write_csv(tmp_path / "add" / "1.csv", {(1,)})
    lake.options["sources"].append(
        Source(str(tmp_path / "add" / "1.csv"), predicate="edge", columns=[0, 0], role="add")
    )  # type: ignore[attr-defined]
    lake.run()
    lake.facts["edge"] = set()
    lake.write("edge")
    with pytest.raises(
        ModulogError, match=r"edge\.csv.*edge has also been changed by add or delete sources.*--full"
    ):
        lake.run()


def test_what_is_likely_wrong_and_what_cannot_be_deleted_is_told(place: Place, tmp_path: Path) -> None:
    """A misspelt predicate, but not one that waits for its first batch; then a fact that rules derive is to be deleted."""
    (tmp_path / "rules.rls").write_text("path(?x, ?y) :- edge(?x, ?y), ~gone(?x) . far(?x) :- paht(?x, _) .")
    write_csv(tmp_path / "edge.csv", {(1, 2), (3, 4)})
    write_csv(tmp_path / "gone" / "1.csv", set())
    pipeline = Pipeline(
        sources=[
            Source(str(tmp_path / "edge.csv")),
            Source(str(tmp_path / "gone/*.csv"), predicate="gone", role="add"),
            Source(str(tmp_path / "back/*.csv"), predicate="path", role="delete"),
        ],
        rules=[tmp_path / "rules.rls"],
        store=tmp_path / "store",
        mode="incremental",
        **place.options,
    )
    with pytest.warns(ProgramWarning) as caught:
        place.run(pipeline)
    assert [str(w.message).split("\n")[0] for w in caught if w.category is ProgramWarning] == [
        f"{tmp_path / 'rules.rls'}:1:54: `paht` has no facts and no rules; did you mean `path`?"
    ]
    write_csv(tmp_path / "back" / "1.csv", {(1, 2), (8, 8)})
    run = place.run(pipeline)
    assert run.still_derived == 1
    assert "  1 fact was not deleted: rules derive it\n" in str(run)
