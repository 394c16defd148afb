"""What users meet first: answers as tables and frames, columns with names, and one short line for everything in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars
import pyarrow as pa
import pytest

from modulog import Pipeline, Predicate, Reasoner, Sink, Source, Switches, facts, parse_program, read
from modulog.errors import DataError, NotSupported, QueryError

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
    assert paths.table("edge", columns=(name for name in names)).column_names == names  # type: ignore[arg-type]
    assert [b.schema.names for b in paths.batches("edge", columns=names)] == [names]
    assert paths.to_pandas("edge", columns=names).equals(table.to_pandas())
    frame = paths.to_polars("edge", columns=names)
    assert isinstance(frame, polars.DataFrame) and frame.columns == names and frame.height == 2
    assert paths.table("any").to_pydict() == {"holds": [True]}
    with pytest.raises(NotSupported, match="no Spark data frames"):
        paths.to_spark("edge", columns=names)


@pytest.mark.parametrize("columns", [["a"], ["a", "b", "c"], ["a", "a"], "ab", [1, 2], 3])
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


def test_a_predicate_is_taken_where_its_name_is(paths: Reasoner, tmp_path: Path) -> None:
    copy, edge, wide = Reasoner(RULES), Predicate("edge", 2), Predicate("edge", 3)
    for predicate in paths.predicates():
        if predicate.arity:
            copy.add(predicate, paths.table(predicate))
    assert sorted(copy.rows("path")) == sorted(paths.rows("path"))
    assert copy.update(delete={edge: [("a", "b")]}, add=facts(edge, [("x", "y")])).deleted["edge"] == 1
    (tmp_path / "links.csv").write_text("l,m,n\n")
    copy.load(tmp_path / "links.csv", predicate=edge, columns=[0, 1])
    assert copy.discard(edge) == [str(tmp_path / "links.csv")]
    copy.load(tmp_path / "links.csv", mapping={edge: [0, 2]})
    assert copy.contains(edge, ("l", "n"))
    copy.load(tmp_path / "links.csv", mapping={"all": None})  # all columns
    assert copy.rows("all") == [("l", "m", "n")]
    with pytest.raises(DataError, match=r"facts of edge: .*2 .* 3 arguments"):
        Reasoner("").add(wide, [(1, 2)])
    with pytest.raises(DataError, match="edge has 2 arguments, but the rows have 3"):
        copy.add(wide, [(1, 2, 3)])
    with pytest.raises(QueryError, match="edge has 2 arguments, not 3"):
        copy.discard(wide)
    with pytest.raises(DataError, match="3 columns where 2 arguments"):
        Reasoner("").load(tmp_path / "links.csv", predicate=edge)


@pytest.mark.parametrize("rows", [iter, lambda rows: (row for row in rows)])
def test_a_generator_is_read_once(paths: Reasoner, rows: Any) -> None:
    batch = facts("edge", rows([("c", "d")]))
    paths.add(batch)
    with pytest.raises(DataError, match="facts of edge: an iterator gives its rows only once"):
        paths.update(delete=batch)
    assert paths.count("edge") == 3


@pytest.mark.parametrize(
    "data",
    [
        np.ma.masked_array([[1, 2], [3, 4]], [[0, 0], [0, 1]]),
        np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], [[0, 0], [0, 1]]),
        [(1, 2), (3, np.ma.masked)],
    ],
)
def test_masked_values_are_no_facts(data: Any) -> None:
    r = Reasoner("")
    with pytest.raises(DataError, match="facts of p: column 1, row 2: a masked value"):
        r.add("p", data)
    r.add("p", np.ma.masked_array([[1, 2], [3, 4]]))
    assert sorted(r.rows("p")) == [(1, 2), (3, 4)]


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
