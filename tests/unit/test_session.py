"""The public face: what a user calls, with what comes back written out."""

from __future__ import annotations

import gc
import pickle
import signal
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modulog import IRI, Reasoner, Switches, parse_program
from modulog.engines.values import Failures
from modulog.errors import (
    DataError,
    EngineUnavailable,
    Interrupted,
    LimitReached,
    ModulogError,
    ProgramError,
    QueryError,
)
from support.reasoners import reasoner

PATHS = """
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
"""


@pytest.fixture
def paths() -> Reasoner:
    """a → b → c → d."""
    r = Reasoner(PATHS)
    r.add("edge", [("a", "b"), ("b", "c"), ("c", "d")])
    return r


# ---- Facts in


@pytest.mark.parametrize(
    "facts",
    [
        [(1, 2), (3, 4)],
        iter([(1, 2), (3, 4)]),
        ((1, 2), [3, 4]),
        np.array([[1, 2], [3, 4]]),
        pd.DataFrame({"a": [1, 3], "b": [2, 4]}),
        pl.DataFrame({"a": [1, 3], "b": [2, 4]}),
        pa.table({"a": [1, 3], "b": [2, 4]}),
        pa.record_batch({"a": [1, 3], "b": [2, 4]}),
    ],
    ids=["list", "iterator", "tuple", "numpy", "pandas", "polars", "arrow", "batch"],
)
def test_add(facts: Any) -> None:
    r = Reasoner("q(?y) :- p(?x, ?y) .")
    r.add("p", facts)
    assert sorted(r.rows("p")) == [(1, 2), (3, 4)]
    assert sorted(r.rows("q")) == [(2,), (4,)]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_add_columns_of_a_wide_table(make: Any) -> None:
    wide = make({"id": [1, 2], "name": ["one", "two"], "size": [1.5, 2.5]})
    r = Reasoner("")
    r.add("name", wide, columns=["id", "name"])
    r.add("size", wide, columns=[2, 0])
    assert sorted(r.rows("name")) == [(1, "one"), (2, "two")]
    assert sorted(r.rows("size")) == [(1.5, 1), (2.5, 2)]


def test_add_repeats_are_one_fact() -> None:
    r = Reasoner("")
    r.add("p", [(1,), (1,), (2,)])
    r.add("p", [(1,)])
    assert r.count("p") == 2


def test_add_nothing_to_a_known_predicate(paths: Reasoner) -> None:
    paths.add("edge", [])
    assert paths.count("edge") == 3


@pytest.mark.parametrize("facts", [[(1,)], [(1, 2, 3)], np.array([1, 2]), [(1, 2), (3,)]], ids=str)
def test_facts_of_another_arity_than_the_rules_change_nothing(paths: Reasoner, facts: Any) -> None:
    with pytest.raises(DataError):
        paths.add("edge", facts)
    assert paths.count("edge") == 3
    assert paths.count("path") == 6


def test_add_after_materialise_updates(paths: Reasoner) -> None:
    assert paths.count("path") == 6
    paths.add("edge", [("d", "e")])
    assert paths.count("path") == 10
    statistics = paths.materialise()
    assert (statistics.facts, statistics.explicit) == (14, 4)
    assert paths.contains("path", ("a", "e"))


def test_a_failed_update_keeps_what_was_staged_and_forgets_what_was_not(
    paths: Reasoner, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths.materialise()
    paths.add("edge", [("d", "e")])

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("modulog.maintenance.update.Maintenance._collect", fail)
        with pytest.raises(ZeroDivisionError):
            paths.materialise()
    assert paths.count("path") == 10
    with monkeypatch.context() as patch:
        patch.setattr("modulog.maintenance.update.Maintenance._collect", fail)
        with pytest.raises(ZeroDivisionError):
            paths.update(add={"new": [(1,)]})
    assert [p.name for p in paths.predicates()] == ["edge", "path"]


def test_deleting_what_nobody_knows_leaves_no_trace(paths: Reasoner) -> None:
    assert paths.update(delete={"other": [("a", "b")], "edge": [("x", "y")]}).ignored == 2
    paths.add("other", [("a",)])
    assert paths.count("other") == 1


def test_negation_is_recomputed_too() -> None:
    r = Reasoner("only(?x) :- p(?x), ~q(?x) .")
    r.add("p", [(1,), (2,)])
    r.add("q", [(5,)])
    assert sorted(r.rows("only")) == [(1,), (2,)]
    r.add("q", [(1,)])
    assert r.rows("only") == [(2,)]


def test_facts_for_a_derived_predicate_stay_explicit() -> None:
    r = Reasoner("p(?x) :- q(?x) .")
    r.add("p", [("a",)])
    r.add("q", [("a",), ("b",)])
    statistics = r.materialise()
    assert (statistics.explicit, statistics.facts, statistics.derived) == (3, 4, 1)
    assert sorted(r.rows("p")) == [("a",), ("b",)]


def test_what_a_closed_reasoner_derived_is_given_back() -> None:
    """Nothing may hold on to relations that nobody can ask for."""
    r = Reasoner(PATHS)
    r.add("edge", [("a", "b")])
    r.query("path(?x, ?y), edge(?y, ?z)")
    old = [weakref.ref(relation) for relation in r._facts.derived.values()]
    del r
    gc.collect()
    assert [ref() for ref in old] == [None] * len(old)


# ---- Facts out


def test_rows_and_limit(paths: Reasoner) -> None:
    expected = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]
    assert sorted(paths.rows("path")) == expected
    assert len(paths.rows("path", limit=4)) == 4
    assert paths.rows("path", limit=0) == []
    assert len(paths.rows("path", limit=100)) == 6


def test_a_negative_limit_is_an_error(paths: Reasoner) -> None:
    with pytest.raises((ValueError, ModulogError)):
        paths.rows("path", limit=-1)


def test_batches(paths: Reasoner) -> None:
    table = pa.Table.from_batches(paths.batches("path"))
    assert table.column_names == ["c0", "c1"]
    assert table.schema.types == [pa.string(), pa.string()]
    assert table.num_rows == 6


def test_batches_of_a_proposition_have_a_row() -> None:
    assert sum(b.num_rows for b in Reasoner("rain() .").batches("rain")) == 1


def test_batches_show_the_facts_of_the_time_of_the_call() -> None:
    r = Reasoner("p(1) . p(2) .")
    batches = r.batches("p")
    r.add("p", [("three",)])
    r.materialise()
    assert [v for b in batches for v in b.column(0).to_pylist()] == [1, 2]


def test_count_and_contains(paths: Reasoner) -> None:
    assert paths.count("path") == 6
    assert paths.count("path(a, ?y)") == 3
    assert paths.count("path(a, ?y), ~edge(a, ?y)") == 2
    assert paths.count("path(_, ?y)") == 3
    assert paths.count("path(d, _)") == 0
    assert paths.contains("path", ("a", "d"))
    assert not paths.contains("path", ("d", "a"))
    assert not paths.contains("path", ("a", "never seen"))


def test_an_equation_can_be_counted() -> None:
    assert Reasoner("").count("?y = 3") == 1


def test_query_columns_come_in_order_of_appearance(paths: Reasoner) -> None:
    table = paths.query("edge(?z, ?a), path(b, ?z)")
    assert table.column_names == ["z", "a"]
    assert table.to_pylist() == [{"z": "c", "a": "d"}]


def test_query_with_a_limit(paths: Reasoner) -> None:
    assert paths.query("path(?x, ?y)", limit=2).num_rows == 2
    assert paths.query("path(?x, ?y)", limit=0).num_rows == 0


def test_query_without_variables_holds_or_not(paths: Reasoner) -> None:
    assert paths.query("path(a, d)").to_pydict() == {"holds": [True]}
    assert paths.query("path(d, a)").to_pydict() == {"holds": [False]}
    assert paths.query("~path(d, a)").to_pydict() == {"holds": [True]}
    assert paths.query("path(_, _)").to_pydict() == {"holds": [True]}
    assert paths.query("path(a, d), 1 < 2").to_pydict() == {"holds": [True]}


def test_anonymous_variables_give_no_duplicates(paths: Reasoner) -> None:
    assert sorted(paths.query("path(?x, _)")["x"].to_pylist()) == ["a", "b", "c"]
    assert sorted(paths.query("path(?x, _), path(_, ?x)")["x"].to_pylist()) == ["b", "c"]
    assert paths.count("path(?x, _), path(_, ?x)") == 2


def test_query_assigns() -> None:
    r = Reasoner("p(1) . p(2) .")
    assert r.query("p(?x), ?y = a").to_pylist() == [{"x": 1, "y": "a"}, {"x": 2, "y": "a"}]
    assert r.query("?y = 3").to_pylist() == [{"y": 3}]


def test_query_assigns_one_variable_to_another() -> None:
    assert Reasoner("p(1) .").query("p(?x), ?y = ?x").to_pylist() == [{"x": 1, "y": 1}]


def test_columns_have_the_type_of_their_terms() -> None:
    r = Reasoner('p(1, a, 1.5, true, <http://x>) . p(2, "b", 2.5, false, <http://y>) .')
    r.add("q", [(1, 0.5, True), (2, 1.5, False)])
    types = dict(zip("nxdbi", r.query("p(?n, ?x, ?d, ?b, ?i)").schema.types, strict=True))
    assert types["n"] == pa.int64()
    assert types["x"] == pa.string()
    assert r.query("q(?a, ?b, ?c)").schema.types == [pa.int64(), pa.float64(), pa.bool_()]


def test_mixed_columns_are_turtle() -> None:
    table = Reasoner("p(1) . p(a) . p(<http://x/y>) .").query("p(?x)")
    assert sorted(table["x"].to_pylist()) == ['"a"', "1", "<http://x/y>"]
    assert table.schema.field("x").metadata == {b"modulog.terms": b"turtle"}


def test_an_empty_answer_has_its_columns(paths: Reasoner) -> None:
    table = paths.query("path(d, ?y), edge(?y, ?z)")
    assert (table.column_names, table.num_rows) == (["y", "z"], 0)


def test_predicates(paths: Reasoner) -> None:
    paths.add("colour", [("a", "red")])
    assert [str(p) for p in paths.predicates()] == ["colour/2", "edge/2", "path/2"]


def test_an_iri_may_name_a_class_and_a_property() -> None:
    name = IRI("http://x/C")
    r = Reasoner("@prefix x: <http://x/> . both(?x) :- x:C(?x), x:C(?x, ?y) .")
    r.add(name, [("a",), ("b",)])
    r.add(name, [("a", "c")])
    assert r.rows("both") == [("a",)]
    assert r.contains(name, ("b",)) and r.contains(name, ("a", "c"))
    assert not r.contains(name, ("c",))
    assert r.count("<http://x/C>(?x)") == 2
    assert r.count("x:C(?x, ?y)") == 1
    with pytest.raises(QueryError, match="1 or 2"):
        r.rows(name)
    with pytest.raises(DataError):
        r.add(name, [(1, 2, 3)])


@pytest.mark.parametrize("modules", ["auto", "off"])
def test_collapsed_predicates_are_read_as_they_are(modules: str) -> None:
    r = Reasoner(
        "parent(?x, ?y) :- child(?y, ?x) . child(?x, ?y) :- parent(?y, ?x) . p(?x) :- parent(?x, _) .",
        switches=Switches(modules=modules),
    )
    r.add("child", [("ann", "bob")])
    r.add("parent", [("bob", "cid"), ("bob", "ann")])
    assert sorted(r.rows("parent")) == [("bob", "ann"), ("bob", "cid")]
    assert sorted(r.rows("child")) == [("ann", "bob"), ("cid", "bob")]
    assert r.contains("child", ("cid", "bob")) and not r.contains("child", ("bob", "cid"))
    assert sorted(r.query("child(?x, bob)")["x"].to_pylist()) == ["ann", "cid"]
    assert r.rows("p") == [("bob",)]
    assert r.count("parent") == r.count("child") == 2
    statistics = r.materialise()
    assert (statistics.explicit, statistics.facts, statistics.derived) == (3, 5, 2)


# ---- Export


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_export(paths: Reasoner, tmp_path: Path, form: str) -> None:
    written = paths.export(tmp_path / "out", format=form)
    assert sorted(written.values()) == [3, 6]
    files = sorted((tmp_path / "out").iterdir())
    assert [f.name for f in files] == [f"edge.{form}", f"path.{form}"]
    if form == "csv":
        assert sorted(files[0].read_text().split()) == ["a,b", "b,c", "c,d"]
    else:
        assert pq.read_table(files[1]).num_rows == 6


def test_export_of_chosen_predicates(paths: Reasoner, tmp_path: Path) -> None:
    paths.export(tmp_path, predicates=["path"])
    assert [f.name for f in tmp_path.iterdir()] == ["path.csv"]
    with pytest.raises(QueryError):
        paths.export(tmp_path, predicates=["paths"])


def test_what_is_exported_can_be_loaded(tmp_path: Path) -> None:
    r = Reasoner("")
    r.add("p", [(1, "1"), ("a,b", 'say "x"'), (IRI("http://x/y"), "<z>"), ("", "007"), (-3, "\n")])
    r.export(tmp_path)
    again = Reasoner("")
    again.load(tmp_path)
    assert sorted(map(repr, again.rows("p"))) == sorted(map(repr, r.rows("p")))


# ---- The plan and statistics


def in_rounds() -> Reasoner:
    """The paths by the plain algorithm, which takes a round for each step."""
    r = Reasoner(PATHS, switches=Switches(modules="off"))
    r.add("edge", [("a", "b"), ("b", "c"), ("c", "d")])
    return r


def test_plan_names_closures(paths: Reasoner) -> None:
    assert "  module right-linear closure\n" in str(paths.plan())


def test_plan_before_and_after() -> None:
    paths = in_rounds()
    before = str(paths.plan())
    assert before == (
        "facts    edge/2\n"
        "stratum 1: path/2 (recursive)\n"
        "    path(?x, ?y) :- edge(?x, ?y) .\n"
        "  module seminaive\n"
        "    path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."
    )
    paths.materialise()
    assert "each round: Δpath(?x, ?y) ⋈ edge(?y, ?z)" in str(paths.plan())
    assert "once: edge(?x, ?y)" in str(paths.plan())


def test_plan_as_html() -> None:
    r = Reasoner('p(?x) :- q(?x, "<b>&"), ?x < 3 . a(?x) :- b(?x) . b(?x) :- a(?x) . q(1, "<b>&") .')
    r.materialise()
    text = r.plan()._repr_html_()
    assert text.startswith("<table>") and "<b>" not in text
    assert "&lt;b&gt;&amp;" in text
    assert text.count("<table>") == text.count("</table>") == 1
    assert "b/1" in text and "read from" in text


def test_statistics() -> None:
    paths = in_rounds()
    statistics = paths.materialise()
    assert (statistics.facts, statistics.explicit, statistics.derived) == (9, 3, 6)
    (stratum,) = statistics.strata
    assert [r.facts for r in stratum.rounds if r.facts] == [3, 2, 1]
    assert (statistics.nonrecursive_rules, statistics.recursive_rules) == (1, 1)
    rows = {str(rule): s.rows for rule, s in stratum.by_rule().items()}
    assert rows == {"path(?x, ?y) :- edge(?x, ?y) .": 3, "path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .": 3}
    assert paths.materialise() is statistics is paths.materialize()
    assert "9 facts (3 explicit)" in str(statistics)


def test_incomparable_values_are_counted_in_statistics() -> None:
    statistics = Reasoner("p(1) . p(a) . q(?x) :- p(?x), ?x < 3 .").materialise()
    assert statistics.incomparable == 1


def test_rows_without_a_value_are_counted_in_statistics() -> None:
    program = """
        p(0) . p(2) . p(9223372036854775807) . p(a) .
        inverse(?y) :- p(?x), ?y = 1 / ?x .
        next(?x + 1) :- p(?x) .
        small(?x) :- p(?x), ?x * 2 < 10 .
    """
    r = Reasoner(program)
    statistics = r.materialise()
    assert statistics.failures == Failures(overflows=2, divisions_by_zero=1, ill_typed=3)
    assert "\n  2 results too big for their kind gave no fact" in str(statistics)
    assert "\n  1 division by zero gave no fact" in str(statistics)
    assert "\n  3 functions with arguments of the wrong kind gave no fact" in str(statistics)
    assert (sorted(r.rows("next")), sorted(r.rows("small"))) == ([(1,), (3,)], [(0,), (2,)])


def test_rows_without_a_value_are_counted_in_an_update_and_by_rule() -> None:
    late, half = "late(?p) :- lead(?p, ?d), ?d > 20 .", "half(?x) :- late(?p), lead(?p, ?d), ?x = ?d / 0 ."
    r = Reasoner(f'{late} {half} lead(a, "n/a") . lead(b, 25) .')
    first = r.materialise()
    assert first.failures == Failures(incomparable=1, divisions_by_zero=1)
    by_rule = {rule.rule: rule.failures for s in first.strata for part in s.rounds for rule in part.rules}
    assert by_rule[late] == Failures(incomparable=1) and by_rule[half] == Failures(divisions_by_zero=1)
    change = r.update(add={"lead": [("c", "soon"), ("d", 3)]})
    assert change.statistics.failures == Failures(incomparable=1)
    assert "\n  1 comparison of values that cannot be compared" in str(change.statistics)
    assert r.update(add={"lead": [("e", 4)]}).statistics.failures == Failures()


def test_recursion_that_creates_values_has_limits() -> None:
    endless = "n(0) . n(?y) :- n(?x), ?y = ?x + 1 . m(?x) :- n(?x) ."
    for option in ({"value_rounds": 50}, {"value_facts": 50}):
        r = reasoner(endless, **option)
        with pytest.raises(
            LimitReached, match=r"<program>:1:8: this rule creates values .*\n.*n\(\?y\)"
        ) as caught:
            r.count("m")
        assert "raise value_rounds" in str(caught.value)
        assert repr(r).endswith("not materialised yet>")
    bounded = endless.replace("n(?x), ?y", "n(?x), ?x < 50, ?y")
    assert Reasoner(bounded, switches=Switches(value_rounds=50)).count("m") == 51
    with pytest.raises(LimitReached):
        Reasoner(bounded, switches=Switches(value_rounds=49)).count("m")


def test_limits_are_for_rules_that_create_values() -> None:
    chain = "".join(f"e({i}, {i + 1}) . " for i in range(30))
    paths = "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), e(?y, ?z) . q(?x + ?y) :- p(?x, ?y) ."
    assert Reasoner(chain + paths, switches=Switches(value_rounds=2, value_facts=5)).count("p") == 465
    with pytest.raises(ValueError, match="value_rounds is a number above zero"):
        Reasoner(paths, switches=Switches(value_rounds=0))


def test_queries_compute() -> None:
    r = Reasoner("p(1) . p(2) . p(a) . n(4) .")
    assert r.query("p(?x), ?y = ?x * 2").to_pydict() == {"x": [1, 2], "y": [2, 4]}
    assert r.query("p(?x), ?x + 1 = 2").to_pydict() == {"x": [1]}
    assert r.query("p(?x), ?y = ?x * 2, ~n(?y)").to_pydict() == {"x": [1], "y": [2]}
    assert r.query("p(?x), n(?y), ?y = ?x + ?x").to_pydict() == {"x": [2], "y": [4]}
    assert r.query("?x = 1 + 2, ?y = ?x * ?x").to_pydict() == {"x": [3], "y": [9]}
    assert r.query("p(1), 1 + 1 = 2").to_pydict() == {"holds": [True]}
    assert r.count("p(?x), FILTER(!(?x / 2 = 1) && ?x < 5)") == 1


def test_a_plan_shows_what_is_computed() -> None:
    r = Reasoner("q(?x, ?x * 2) :- p(?x), ?x + 1 < 5, ~n(?x) . p(1) .")
    r.add("n", [])
    r.materialise()
    shown = "p(?x) where (?x + 1) < 5 ▷ n(?x) let ?_1 = (?x * 2)"
    assert shown in str(r.plan())
    assert "q(?x, ?_1) :- p(?x), ~n(?x), ?x + 1 < 5, ?_1 = ?x * 2 ." in str(r.plan())


def test_a_bound_variable_is_compared_by_value() -> None:
    r = Reasoner(
        "p(1) . q(2.0) . r(?x, ?y) :- p(?x), q(?y), ?y = ?x + 1 . s(?y) :- p(?x), ?y = ?x + 1, q(?y) ."
    )
    assert r.rows("r") == [(1, Decimal("2.0"))]
    assert r.rows("s") == [(Decimal("2.0"),)]


def test_warnings_know_the_facts(paths: Reasoner) -> None:
    assert paths.warnings == []
    assert len(Reasoner(PATHS).warnings) == 1


# ---- Mistakes


@pytest.mark.parametrize("ask", ["rows", "count", "batches", "query", "contains"])
def test_an_unknown_predicate_names_the_nearest(paths: Reasoner, ask: str) -> None:
    arguments = {"query": ("paht(?x, ?y)",), "contains": ("paht", ("a", "b"))}.get(ask, ("paht",))
    with pytest.raises(QueryError, match="there is no predicate paht; did you mean path"):
        getattr(paths, ask)(*arguments)


def test_a_wrong_arity_in_a_query(paths: Reasoner) -> None:
    with pytest.raises(QueryError, match="path has 2 arguments, not 1"):
        paths.query("path(?x)")
    with pytest.raises(QueryError, match="path has 2 arguments, not 3"):
        paths.contains("path", (1, 2, 3))


def test_a_query_that_cannot_be_read(paths: Reasoner) -> None:
    for text in ("path(?x", "path(?x, ?y), ~edge(?z, ?y)", "path(?x, ?y), ?z < ?x", ""):
        with pytest.raises(ModulogError):
            paths.query(text)


def test_a_missing_file() -> None:
    with pytest.raises(DataError, match=r"nothing\.csv"):
        Reasoner("").load("nothing.csv")
    with pytest.raises((ModulogError, OSError), match=r"nothing\.rls"):
        Reasoner(Path("nothing.rls"))


def test_an_unknown_engine_or_switch() -> None:
    with pytest.raises(EngineUnavailable, match="abacus"):
        Reasoner("", engine="abacus")


def test_an_unknown_value_of_a_switch() -> None:
    with pytest.raises((ValueError, ModulogError), match="sometimes"):
        Reasoner("", switches=Switches(modules="sometimes"))


def test_a_program_of_another_type() -> None:
    with pytest.raises((TypeError, ModulogError), match="int"):
        Reasoner(3)  # type: ignore[arg-type]


def test_a_program_is_text_a_path_or_a_program(tmp_path: Path) -> None:
    text = "q(?x) :- p(?x) . p(1) ."
    file = tmp_path / "rules.rls"
    file.write_text(text)
    for program in (text, file, parse_program(text)):
        assert Reasoner(program).rows("q") == [(1,)]
    with pytest.raises(ProgramError):
        Reasoner(str(file))


# ---- Stopping


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C raises, as it does in a terminal; what a shell starts in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_leaves_the_facts_and_a_later_run_works() -> None:
    calls: list[int] = []

    def stop(stratum: int, strata: int, name: str, round_: int, facts: int) -> None:
        calls.append(round_)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)

    r = Reasoner(PATHS, switches=Switches(modules="off"), progress=stop)
    r.add("edge", [(i, i + 1) for i in range(20)])
    with pytest.raises(Interrupted, match=r"stratum 1 of 1 \(path\), round 2, with 57 facts"):
        r.materialise()
    assert repr(r).endswith("not materialised yet>")
    assert r.count("edge") == 20
    assert r.count("path") == 210
    assert r.materialise().facts == 230


def test_any_error_leaves_the_facts_and_a_later_run_works() -> None:
    broken = [True]

    def stop(stratum: int, strata: int, name: str, round_: int, facts: int) -> None:
        if broken[0] and round_ == 1:
            raise ZeroDivisionError

    r = Reasoner(PATHS, progress=stop)
    r.add("edge", [(i, i + 1) for i in range(5)])
    with pytest.raises(ZeroDivisionError):
        r.rows("path")
    broken[0] = False
    assert r.count("path") == 15


def test_progress_is_told_every_round(paths: Reasoner) -> None:
    told: list[tuple[int, int, str, int, int]] = []
    r = Reasoner(
        PATHS + "end(?x) :- path(_, ?x), ~edge(?x, _) .",
        switches=Switches(modules="off"),
        progress=lambda *a: told.append(a),
    )
    r.add("edge", [("a", "b"), ("b", "c"), ("c", "d")])
    r.materialise()
    assert told == [(1, 2, "path", 0, 3), (1, 2, "path", 1, 5), (1, 2, "path", 2, 6), (2, 2, "end", 0, 7)]


def test_threads_that_change_one_reasoner() -> None:
    """No change of any is lost, and what follows is right."""
    r = Reasoner("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
    r.add("edge", [(n, n + 1) for n in range(50)])

    def chain(k: int) -> int:
        links = [(1000 * k + n, 1000 * k + n + 1) for n in range(10)]
        return sum(r.update(add={"edge": [link]}).added["edge"] for link in links)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(chain, range(1, 5))) == [10] * 4
    assert (r.count("edge"), r.count("path")) == (90, 50 * 51 // 2 + 4 * 55)


@pytest.mark.parametrize("copied", [copy, deepcopy, pickle.dumps])
def test_a_reasoner_is_neither_copied_nor_pickled(copied: Callable[[Reasoner], object]) -> None:
    """A copy had the facts, and updates of it left what follows as it was."""
    with pytest.raises(TypeError, match=r"neither copied nor pickled: `save` it"):
        copied(Reasoner("q(?x) :- p(?x) . p(1) ."))
