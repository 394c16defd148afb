"""Tests of failures about facts on their way in, for any engine: a test file imports all of them and has the fixtures `made`, which makes a
reasoner of a program, and `opened`, which opens a store.

An engine may refuse a bad source at once, and then nothing of it waits, or when facts are taken in, and then again and again until it is taken back.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from modulog import Reasoner
from modulog.errors import DataError, LimitReached, QueryError
from modulog.formats import DataWarning
from modulog.language.parser import parse_program
from modulog.planning.passes import Switches
from modulog.reasoner.for_pipelines import take_readings
from support.amounts import base_seed

Made = Callable[..., Reasoner]
PATHS = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) . m(?x) :- n(?x) ."
COUNTING = "up(?x) :- n(?x) . up(?y) :- up(?x), ?x > 100, ?y = ?x + 1 . path(?x, ?y) :- edge(?x, ?y) ."

pytestmark = pytest.mark.filterwarnings("ignore::modulog.errors.ProgramWarning")


@contextmanager
def perhaps_refused(match: str) -> Iterator[list[bool]]:
    """Expect an error that names a source, or none: then the list is not empty."""
    late: list[bool] = []
    try:
        yield late
        late.append(True)
    except DataError as error:
        if match not in str(error):
            raise


def refused(r: Reasoner, give: Callable[[], object], match: str, name: str) -> None:
    """Give bad facts for a name; the error, which comes at once or with every materialisation, names the source, and afterwards the facts are taken back."""
    with perhaps_refused(match) as late:
        give()
    if not late:
        assert r.discard(name) == []
        return
    for ask in (r.materialise, lambda: r.count("edge"), lambda: r.rows("path")):
        with pytest.raises(DataError) as caught:
            ask()
        assert match in str(caught.value)
        assert str(caught.value).endswith(f'discard("{name}")')
        assert caught.value.told == str(caught.value).rpartition("\n")[0]
    assert len(r.discard(name)) == 1


def test_good_facts_stay_when_a_table_is_bad(made: Made) -> None:
    r = made(PATHS)
    r.add("edge", [("a", "b"), ("b", "c")])
    refused(r, lambda: r.add("n", bad_table(r)), "facts of n", "n")
    assert (r.count("edge"), r.count("path"), r.rows("n")) == (2, 3, [])
    r.add("n", [("a",)])
    assert r.rows("m") == [("a",)]


def bad_table(r: Reasoner, arity: int = 1) -> Any:
    """Rows of which one lacks a value, as the engine reads them latest."""
    spark = getattr(r._backend, "spark", None)
    columns = {f"x{j}": ["a", None] for j in range(arity)}
    if spark is None:
        return pa.table(columns)
    return spark.createDataFrame(
        list(zip(*columns.values(), strict=True)), ", ".join(f"{x} string" for x in columns)
    )


@pytest.mark.parametrize("name", ["n.csv", "n.parquet"])
def test_good_facts_stay_when_a_file_is_bad(made: Made, tmp_path: Path, name: str) -> None:
    (tmp_path / "edge.csv").write_text("a,b\nb,c\n")
    write_bad(tmp_path / name)
    r = made(PATHS)
    r.load(tmp_path / "edge.csv")
    refused(r, lambda: r.load(tmp_path / name), str(tmp_path / name), "n")
    assert (r.count("edge"), r.count("path"), r.count("n")) == (2, 3, 0)
    (tmp_path / "better.csv").write_text("a\n")
    r.load(tmp_path / "better.csv", predicate="n")  # nobody warns of a second file: the first is gone
    assert r.rows("m") == [("a",)]


def write_bad(path: Path) -> None:
    """A file for a predicate with one argument whose second row is wrong."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"x": ["a", None]}), path)
    else:
        path.write_text("a\nb,c\nd\n")


def test_what_a_bad_column_of_a_wide_file_does_not_touch(made: Made, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(
        pa.table({"id": ["a", "b"], "to": ["b", "c"], "n": ["a", None]}), tmp_path / "wide.parquet"
    )
    r, mapping = made(PATHS), {"edge": ["id", "to"], "n": ["n"]}
    refused(r, lambda: r.load(tmp_path / "wide.parquet", mapping=mapping), "wide.parquet", "n")
    if not r.count("edge"):  # refused at once, as a whole
        r.load(tmp_path / "wide.parquet", mapping={"edge": ["id", "to"]})
    assert (r.count("path"), r.count("m")) == (3, 0)


def test_facts_added_later_are_an_update_that_is_tried_again(made: Made) -> None:
    r = made(PATHS)
    r.add("edge", [("a", "b")])
    assert r.count("path") == 1
    r.add("edge", [("b", "c")])
    refused(r, lambda: r.add("n", bad_table(r)), "facts of n", "n")
    assert (r.count("edge"), r.count("path"), r.count("m")) == (2, 3, 0)


def test_a_failed_update_changes_nothing_and_can_be_tried_again(made: Made) -> None:
    r = made(PATHS)
    r.add("edge", [("a", "b"), ("b", "c")])
    for _ in range(2):
        with pytest.raises(DataError, match="facts of new"):
            r.update(add={"edge": [("c", "d")], "new": bad_table(r)}, delete={"edge": [("a", "b")]})
        assert (r.count("edge"), r.count("path")) == (2, 3)
        assert r.discard("edge") == []
    assert not [p for p in r.predicates() if p.name == "new"]
    assert r.update(add={"new": [(1, 2)]}, delete={"edge": [("a", "b")]}).added == {"new": 1}
    assert r.count("path") == 1


def test_an_update_does_not_take_in_what_waits_beside_a_bad_source(made: Made) -> None:
    r = made(PATHS)
    r.add("edge", [("a", "b")])
    r.materialise()
    try:
        r.add("n", bad_table(r))
    except DataError:
        return
    with pytest.raises(DataError, match="facts of n"):
        r.update(add={"edge": [("b", "c")]})
    assert r.discard("n") == ["facts of n"]
    assert r.count("path") == 1


def test_facts_that_lead_to_no_end_can_be_taken_back(made: Made) -> None:
    """The limit is reached while rules are evaluated, after the facts became explicit."""
    r = made(COUNTING, value_rounds=20)
    r.add("edge", [("a", "b")])
    r.add("n", [(1,), (101,)])
    for _ in range(2):
        with pytest.raises(LimitReached):
            r.materialise()
    assert r.discard("n") == ["facts of n"]
    assert (r.count("edge"), r.count("path"), r.count("n"), r.count("up")) == (1, 1, 0, 0)
    r.add("n", [(101,)])
    r.add("edge", [("b", "c")])
    for _ in range(2):
        with pytest.raises(LimitReached):
            r.count("edge")
    assert r.discard("n") == ["facts of n"]
    r.add("n", [(2,)])
    assert (r.count("path"), r.rows("up")) == (2, [(2,)])


def test_facts_of_the_program_stay(made: Made, tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("b,c\n")
    (tmp_path / "p.rls").write_text(
        f'@import edge :- csv{{resource = "edge.csv"}} .\nedge(a, b) . n(1) . {COUNTING}'
    )
    r = made(tmp_path / "p.rls", value_rounds=20)
    r.add("n", [(101,)])
    with pytest.raises(LimitReached):
        r.materialise()
    assert r.discard("edge") == []
    assert r.discard("n") == ["facts of n"]
    assert (r.count("path"), r.rows("n"), r.rows("up")) == (2, [(1,)], [(1,)])


def test_an_import_that_was_mended_is_read_again(made: Made, tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("a\nb,c\n")
    (tmp_path / "p.rls").write_text(f'@import n :- csv{{resource = "n.csv"}} .\n{PATHS}')
    r = made(tmp_path / "p.rls")
    r.add("edge", [("a", "b")])
    for _ in range(2):
        with pytest.raises(DataError, match=r"n\.csv:2"):
            r.count("edge")
    (tmp_path / "n.csv").write_text("a\nb\n")
    assert (r.count("edge"), r.count("m")) == (1, 2)


def test_bad_records_of_what_was_taken_back_do_not_count(made: Made, tmp_path: Path) -> None:
    for name in ("n.csv", "edge.csv"):
        (tmp_path / name).write_text("a,b\nc\n")
    r = made(PATHS)
    with pytest.warns(DataWarning, match="1 bad record"):
        r.load(tmp_path / "edge.csv", bad="set-aside")
    for _ in range(2):
        with pytest.warns(DataWarning, match="1 bad record"):
            r.load(tmp_path / "n.csv", columns=[0], predicate="seen", bad="set-aside")
        assert r.bad_records().num_rows == 2
        assert r.discard("seen") == [str(tmp_path / "n.csv")]
        assert r.bad_records().column("file").to_pylist() == [str(tmp_path / "edge.csv")]
    assert r.materialise().set_aside == 1
    if type(r) is Reasoner:
        readings = [(one.path, one.set_aside, one.rows) for one in take_readings(r)]
        assert readings == [(str(tmp_path / "edge.csv"), 1, 1)]


def test_bad_records_count_once_however_often_it_is_tried(made: Made, tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("a,b\nc\n")
    r = made(COUNTING, value_rounds=20)
    with pytest.warns(DataWarning, match="1 bad record"):
        r.load(tmp_path / "edge.csv", bad="set-aside")
    r.add("n", [(101,)])
    for _ in range(2):
        with pytest.raises(LimitReached):
            r.materialise()
    r.discard("n")
    assert r.materialise().set_aside == r.bad_records().num_rows == 1
    if type(r) is Reasoner:
        assert [(one.set_aside, one.rows) for one in take_readings(r)] == [(1, 1)]


GRAPH = "<u:a> <u:p> <u:b> . <u:a> <u:q> <u:b> . <u:a> a <u:C> . <u:b> a <u:D> .\n"
TRIPLES = "all(?s, ?p, ?o) :- triple(?s, ?p, ?o) . typed(?s, ?c) :- rdf:type(?s, ?c) ."


@pytest.mark.parametrize("program", ["", TRIPLES])
def test_triples_are_taken_back_under_all_their_names(made: Made, tmp_path: Path, program: str) -> None:
    (tmp_path / "g.ttl").write_text(GRAPH)
    r = made(program)
    r.load(tmp_path / "g.ttl")
    r.add("<u:q>", [("x", "y")])
    assert r.discard("<u:q>") == [str(tmp_path / "g.ttl"), "facts of <u:q>"]
    assert r.discard("<u:D>") == [str(tmp_path / "g.ttl")]
    assert r.count("triple") == 2
    if program:
        assert (r.count("all"), r.count("typed")) == (2, 1)
    assert {p.name for p in r.predicates()} >= {"<u:p>", "<u:C>"}
    assert not {p.name for p in r.predicates()} & {"<u:q>", "<u:D>"}
    r.load(tmp_path / "g.ttl")
    assert r.count("triple") == 4


def test_a_file_of_triples_is_taken_back_as_a_whole(made: Made, tmp_path: Path) -> None:
    (tmp_path / "g.ttl").write_text(GRAPH)
    r = made(TRIPLES + PATHS)
    r.add("edge", [("a", "b")])
    r.load(tmp_path / "g.ttl")
    assert r.discard("triple") == [str(tmp_path / "g.ttl")]
    assert (r.count("path"), r.count("triple"), r.count("all")) == (1, 0, 0)


def test_what_was_taken_back_fixes_no_arity(made: Made) -> None:
    r = made(PATHS)
    r.add("new", [(1, 2)])
    with pytest.raises(DataError, match="2 arguments"):
        r.add("new", [(1,)])
    assert r.discard("new") == ["facts of new"]
    assert not [p for p in r.predicates() if p.name == "new"]
    r.add("new", [(1,)])
    assert r.rows("new") == [(1,)]


def test_taking_back_what_does_not_wait(made: Made) -> None:
    r = made(PATHS)
    r.add("edge", [("a", "b")])
    with pytest.raises(QueryError, match="did you mean edge"):
        r.discard("edgee")
    r.materialise()
    assert r.discard("edge") == r.discard("n") == []
    assert r.count("path") == 1


def test_stopping_while_facts_are_taken_in_loses_nothing(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    r = made(PATHS)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    for rows in ([("a", "b")], [("b", "c")]):
        r.add("edge", rows)
        r.add("n", rows[0][:1] and [(rows[0][0],)])
        with monkeypatch.context() as patch:
            patch.setattr(
                type(r._facts.explicit[next(p for p in r._facts.explicit if p.name == "n")]), "merge", stop
            )
            with pytest.raises(KeyboardInterrupt):
                r.materialise()
    assert (r.count("edge"), r.count("path"), r.count("m")) == (2, 3, 2)


@pytest.mark.more
def test_any_order_of_steps(made: Made, tmp_path: Path, runs: int, pytestconfig: pytest.Config) -> None:
    """Random adds, loads, updates and materialisations with good and bad sources equal a model: what is taken in, and what waits."""
    rng = random.Random(base_seed(pytestconfig))
    for number in range(runs):
        (tmp_path / str(number)).mkdir()
        run_steps(made(COUNTING, value_rounds=12), rng, tmp_path / str(number))


def run_steps(r: Reasoner, rng: random.Random, folder: Path) -> None:
    """Ten steps beside the model."""
    taken: dict[str, set[tuple[object, ...]]] = {"edge": set(), "n": set()}
    waiting: list[tuple[str, set[tuple[object, ...]] | None]] = []

    def take_in() -> bool:
        facts = {name: taken[name].union(*(f for n, f in waiting if n == name and f)) for name in taken}
        if any(f is None for _, f in waiting) or any(x[0] > 100 for x in facts["n"]):  # type: ignore[operator]
            return False
        taken.update(facts)
        waiting.clear()
        return True

    for step in range(10):
        name = rng.choice(["edge", "n"])
        rows = {tuple(rng.randrange(4) for _ in range(2 if name == "edge" else 1)) for _ in range(2)}
        if name == "n" and rng.random() < 0.2:
            rows = {(101 + step,)}
        match rng.choice(["add", "bad", "load", "discard", "update", "bad update", "ask", "ask"]):
            case "add":
                r.add(name, sorted(rows))
                waiting.append((name, rows))
            case "bad":
                with perhaps_refused(f"facts of {name}") as late:
                    r.add(name, bad_table(r, 2 if name == "edge" else 1))
                waiting += [(name, None)] if late else []
            case "load":
                path = folder / f"{step}.csv"
                path.write_text("".join(",".join(map(str, row)) + "\n" for row in sorted(rows)))
                with warnings.catch_warnings(action="ignore", category=DataWarning):
                    r.load(path, predicate=name)
                waiting.append((name, rows))
            case "discard":
                mine = [item for item in waiting if item[0] == name]
                assert len(r.discard(name)) == len(mine)
                waiting = [item for item in waiting if item[0] != name]
            case "update":
                gone = {tuple(rng.randrange(4) for _ in row) for row in rows}
                if not take_in() or any(x[0] > 100 for x in rows if name == "n"):  # type: ignore[operator]
                    with pytest.raises((DataError, LimitReached)):
                        r.update(add={name: sorted(rows)}, delete={name: sorted(gone)})
                else:
                    r.update(add={name: sorted(rows)}, delete={name: sorted(gone)})
                    taken[name] = taken[name] - gone | rows
            case "bad update":
                take_in()
                with pytest.raises((DataError, LimitReached)):
                    r.update(add={"edge": [(9, 9)], name: bad_table(r, 2 if name == "edge" else 1)})
            case _:
                if not take_in():
                    with pytest.raises((DataError, LimitReached)):
                        r.count(name)
                    continue
                assert {p: set(r.rows(p)) for p in taken} == taken
                assert (set(r.rows("path")), set(r.rows("up"))) == (taken["edge"], taken["n"])


def test_a_store_that_is_computed_anew_keeps_its_facts(made: Made, opened: Made, tmp_path: Path) -> None:
    r = made(PATHS)
    r.add("edge", [("a", "b")])
    r.add("n", [(1,)])
    r.save(tmp_path / "store")
    again = opened(tmp_path / "store", program=parse_program(COUNTING), switches=Switches(value_rounds=12))
    again.add("n", [(2,), (101,)])
    for _ in range(2):
        with pytest.raises(LimitReached):
            again.materialise()
    assert again.discard("n") == ["facts of n"]
    again.add("n", [(3,)])
    assert (again.count("path"), sorted(again.rows("up"))) == (1, [(1,), (3,)])
    again.save(tmp_path / "store")
    assert sorted(opened(tmp_path / "store").rows("n")) == [(1,), (3,)]
