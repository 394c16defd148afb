"""What becomes of facts to delete: those that were not there and those that rules derive are counted apart, and said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modulog import IRI, Reasoner, Switches, facts
from modulog.cli import app
from modulog.pipeline import Run
from support import oracle
from support.module_programs import story
from support.strategies import text
from support.values import rows_to_python

RULES = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) ."


@pytest.mark.parametrize("storage", ["auto", "plain", "compact"])
def test_a_derived_fact_stays_and_is_counted(storage: str) -> None:
    r = Reasoner(RULES, switches=Switches(storage=storage))
    r.add("edge", [(1, 2), (2, 3)])
    r.add("path", [(1, 2)])
    change = r.update(delete={"path": [(1, 3), (1, 2), (7, 8), (7, 8)], "edge": [(5, 5)], "other": [(1,)]})
    assert (change.still_derived, change.ignored) == (2, 3)  # (1, 2) was explicit, too
    assert not change and r.count("path") == 3


def E(name: str) -> IRI:
    return IRI(f"http://e.org/{name}")


SAME = """
    @prefix : <http://e.org/> .
    triple(?a, ?p, ?o) :- :same(?a, ?b), triple(?b, ?p, ?o) .
    :same(:a, :b) . triple(:b, :likes, tea) . triple(:b, rdf:type, :Cat) .
"""


@pytest.mark.parametrize(
    ("name", "row"),
    [
        (":likes", (E("a"), "tea")),
        ("triple", (E("a"), E("likes"), "tea")),
        (":Cat", (E("a"),)),
        ("rdf:type", (E("a"), E("Cat"))),
    ],
)
def test_a_fact_that_rules_derive_as_a_triple_stays(name: str, row: tuple[Any, ...]) -> None:
    r = Reasoner(SAME)
    change = r.update(delete={name: [row, (E("z"), *row[1:])]})
    assert (change.still_derived, change.ignored) == (1, 1)
    assert r.contains(name, row)


def test_a_fact_that_rules_derive_as_a_triple_goes_with_its_reason() -> None:
    r = Reasoner(SAME)
    change = r.update(delete={":likes": [(E("a"), "tea"), (E("b"), "tea")]})
    assert (change.still_derived, change.ignored, change.deleted) == (
        0,
        0,
        {"<http://e.org/likes>": 2, "triple": 2},
    )


def test_a_derived_fact_that_goes_with_its_reason_is_deleted() -> None:
    r = Reasoner(RULES)
    r.add("edge", [(1, 2), (2, 3)])
    change = r.update(delete={"path": [(1, 3)], "edge": [(2, 3)]})
    assert (change.still_derived, change.ignored) == (0, 0)
    assert change.deleted == {"edge": 1, "path": 2}


def test_a_fact_that_comes_in_the_same_update_is_neither() -> None:
    r = Reasoner(RULES)
    r.add("edge", [(1, 2)])
    change = r.update(delete={"path": [(4, 5), (1, 2)]}, add={"path": [(4, 5)], "edge": [(6, 7)]})
    assert (change.still_derived, change.ignored) == (1, 0)


@pytest.mark.parametrize(
    ("rules", "deleted", "asked"),
    [
        ("a(?x, ?y) :- b(?y, ?x) . b(?x, ?y) :- a(?y, ?x) .", "b", (2, 1)),  # one is the inverse of the other
        ("b(?x, ?y) :- a(?x, ?y) .", "b", (1, 2)),  # a view, where storage is compact
        ("b() :- a(?x, ?y) .", "b", ()),
    ],
)
@pytest.mark.parametrize("storage", ["plain", "compact"])
def test_collapsed_predicates_and_views(
    rules: str, deleted: str, asked: tuple[Any, ...], storage: str
) -> None:
    r = Reasoner(rules, switches=Switches(storage=storage))
    r.add("a", [(1, 2)])
    change = r.update(delete={deleted: [asked]})
    assert (change.still_derived, change.ignored) == (1, 0)


@pytest.mark.filterwarnings("ignore::modulog.errors.ProgramWarning")
@pytest.mark.parametrize("seed", range(40))
def test_random_updates_count_what_sets_say(seed: int) -> None:
    it = story(seed, updates=4)
    r, facts = (
        Reasoner(text(it.case.rules), switches=Switches(storage="compact" if seed % 2 else "auto")),
        it.case.facts,
    )
    for p, rows in facts.items():
        r.add(p, rows_to_python(rows))
    for number, step in enumerate(it.updates):
        wanted = {
            p: rows - (step.add.get(p, set()) if number % 2 else set()) for p, rows in step.delete.items()
        }
        plus = step.add if number % 2 else {}
        before = oracle.materialise(it.case.rules, facts)
        facts = {
            p: (facts.get(p, set()) - step.delete.get(p, set())) | plus.get(p, set())
            for p in {*facts, *step.delete, *plus}
        }
        after = oracle.materialise(it.case.rules, facts)
        change = r.update(
            delete={p: rows_to_python(rows) for p, rows in step.delete.items()},
            add={p: rows_to_python(rows) for p, rows in plus.items()} or None,
        )
        still = sum(len(rows & after.get(p, set())) for p, rows in wanted.items())
        absent = sum(len(rows - after.get(p, set()) - before.get(p, set())) for p, rows in wanted.items())
        assert (change.still_derived, change.ignored) == (still, absent), str(it)


def test_the_command_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    r = Reasoner(RULES)
    r.add("edge", [("a", "b"), ("b", "c")])
    r.save("store")
    Path("path.csv").write_text("a,c\nx,y\n", encoding="utf-8")
    for format, shown in (("table", None), ("json", 1)):
        with pytest.raises(SystemExit):
            app.app(["update", "store", "--delete", "path.csv", "--format", format])
        out = capsys.readouterr().out
        if shown is None:
            assert out == (
                "nothing changed\n1 fact to delete was not there\n1 fact was not deleted: rules derive it\n"
            )
        else:
            assert json.loads(out) == {"added": {}, "deleted": {}, "ignored": 1, "still_derived": 1}


def test_a_run_says_it() -> None:
    run = Run(
        "incremental",
        "why",
        1,
        1,
        2,
        written={"out/a.csv": 1, "out/b.csv": 2},
        still_derived=2,
        set_aside=1,
        bad_records="bad",
    )
    assert str(run).splitlines()[2:] == [
        "  2 facts were not deleted: rules derive them",
        "  1 bad record set aside: bad",
        "  out/a.csv: 1 row",
        "  out/b.csv: 2 rows",
    ]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda r: r.contains("p", "a"), r"not 'a'; write \('a',\)"),
        (lambda r: r.contains("p", 3), r"not 3; write \(3,\)"),
        (lambda r: r.contains("p", {"x": 1}), r"not {'x': 1}$"),
        (lambda r: r.add("p", ["ab", "cd"]), r"a str instead of a tuple; write \('ab',\)"),
        (lambda r: r.add("p", "ab"), "not a str"),
        (lambda r: r.update(add={"p": ["ab"]}), r"write \('ab',\)"),
        (lambda r: r.update(delete={"p": ["ab"]}), r"write \('ab',\)"),
        (lambda r: r.update(add=facts("p", ["ab"])), r"write \('ab',\)"),
    ],
)
def test_a_text_is_no_row(ask: Callable[[Reasoner], object], said: str) -> None:
    from modulog.errors import ModulogError

    r = Reasoner("p(a) . p(b) .")
    with pytest.raises(ModulogError, match=said):
        ask(r)
    assert r.contains("p", ("a",)) and r.contains("p", ["b"]) and r.count("p") == 2
