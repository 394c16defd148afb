"""What users meet first: answers as tables and frames, columns with names, and one short line for everything in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pytest

from modulog import Pipeline, Reasoner, Sink, Source, Switches, facts, parse_program, read
from modulog.errors import NotSupported, QueryError

RULES = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) . any() :- path(_, _) ."


@pytest.fixture
def paths() -> Reasoner:
    r = Reasoner(RULES)
    r.add("edge", [("a", "b"), ("b", "c")])
    return r


def test_the_facts_of_a_predicate_as_tables_and_frames(paths: Reasoner) -> None:
    names = ["from", "to"]
    table = paths.table("edge", columns=names)
    assert isinstance(table, pa.Table) and table.column_names == names
    assert sorted(zip(*table.to_pydict().values(), strict=True)) == [("a", "b"), ("b", "c")]
    assert paths.table("path").column_names == ["c0", "c1"]
    assert paths.table("path", limit=1).num_rows == 1
    assert [b.schema.names for b in paths.batches("edge", columns=names)] == [names]
    assert paths.to_pandas("edge", columns=names).equals(table.to_pandas())
    frame = paths.to_polars("edge", columns=names)
    assert isinstance(frame, polars.DataFrame) and frame.columns == names and frame.height == 2
    assert paths.table("any").to_pydict() == {"holds": [True]}
    with pytest.raises(NotSupported, match="no Spark data frames"):
        paths.to_spark("edge", columns=names)


@pytest.mark.parametrize("columns", [["a"], ["a", "b", "c"], ["a", "a"], "ab"])
def test_columns_need_a_name_each(paths: Reasoner, columns: Any) -> None:
    with pytest.raises(QueryError, match="the columns of edge/2 need 2 different names"):
        paths.table("edge", columns=columns)


def test_facts_of_several_predicates_are_added_at_once(paths: Reasoner, tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("c,d\n")
    batch = read(tmp_path / "edge.csv") + {"edge": [("d", "e")]} + facts("n", [("x", 1)], columns=[1])
    paths.add(batch)
    paths.add({"n": [(2,)]})
    assert (paths.count("edge"), sorted(paths.rows("n"))) == (4, [(1,), (2,)])
    assert paths.materialize() is paths.materialise()


def test_a_batch_is_added_as_a_whole_or_not_at_all(paths: Reasoner, tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("c,d\nlonely\n")
    bad = read(tmp_path / "edge.csv", bad="set-aside") + {"edge": [(1, 2, 3)]}
    for change in (paths.add, lambda batch: paths.update(add=batch)):
        with pytest.raises(Exception, match="2 arguments should be"), pytest.warns(match="1 bad record"):
            change(bad)
        assert (paths.count("edge"), paths.bad_records().num_rows) == (2, 0)


def test_everything_shows_itself_in_one_line(tmp_path: Path) -> None:
    program = parse_program(RULES + "edge(x, y) .")
    r = Reasoner(program, switches=Switches(storage="plain"))
    r.add("edge", [("a", "b"), ("b", "c")])
    waiting = repr(r)
    statistics = r.materialise()
    change = r.update(add={f"p{n}": [(1,)] for n in range(9)})
    (tmp_path / "rules.rls").write_text(RULES)
    (tmp_path / "edge.csv").write_text("a,b\n")
    pipeline = Pipeline(
        rules=[tmp_path / "rules.rls"],
        sources=[Source(str(tmp_path / "edge.csv"))],
        sinks=[Sink(str(tmp_path / "out"))],
        store=tmp_path / "store",
        engine="local",
    )
    run = pipeline.run()
    plan, stratum = r.plan(), statistics.strata[0]
    shown = {
        waiting: "<Reasoner: 3 rules, facts of 1 predicate not materialised yet>",
        repr(r): "<Reasoner: 3 rules, materialised>",
        repr(statistics).split(",")[0]: "<Statistics: 8 facts (3 explicit)",
        repr(plan): "<Plan: 2 strata, 3 rules>",
        repr(plan.strata[0]): "<Stratum: path/2, 2 rules>",
        repr(program): "<Program: 3 rules, 1 fact>",
        repr(program.rules[0]): "<Rule: path(?x, ?y) :- edge(?x, ?y) .>",
        repr(program.facts[0]): "<Atom: edge(x, y)>",
        repr(read("a.csv") + facts("p", [])): "<FactBatch: a.csv, facts of p>",
        repr(run): "<Run: full, 3 facts (1 explicit), +0 -0>",
        repr(pipeline): f"<Pipeline: 1 source, 1 sink, full, store {tmp_path / 'store'}>",
    }
    assert list(shown) == list(shown.values())
    others = [change, change.statistics, stratum, *stratum.rounds, *stratum.rounds[0].rules, *plan.clauses]
    assert all("\n" not in repr(one) and len(repr(one)) < 150 for one in others)
