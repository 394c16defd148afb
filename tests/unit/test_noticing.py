"""What a user is told without asking: functions in place of atoms, predicates without facts, constants that look like variables."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from modulog import IRI, Predicate, Reasoner, facts, parse_program
from modulog.errors import ProgramError, ProgramWarning, QueryError
from modulog.language.safety import check
from modulog.reasoner import for_pipelines
from modulog.terms.functions import FUNCTIONS, OF_SPARQL

PATHS = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."


def told(r: Reasoner, predicate: str) -> list[str]:
    """The first lines of the warnings that come with the first answer, all of which name this file; and none comes with the second."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        r.count(predicate)
    assert all(w.category is ProgramWarning and w.filename == __file__ for w in caught)
    r.count(predicate)
    return [str(w.message).split("\n")[0] for w in caught]


# ---- Functions


@pytest.mark.parametrize(
    "name", ["STRSTARTS", "CONTAINS", "REGEX", "isIRI", "SUBSTR", "LANG", "contains", "Regex"]
)
def test_a_function_of_sparql_in_place_of_an_atom(name: str) -> None:
    r = Reasoner(f'x(?s) :- a(?s),\n    {name}(?s, "ab") .')
    r.add("a", [("abc",)])
    for ask in (r.materialise, lambda: r.rows("x"), lambda: r.update(add={"a": [("b",)]})):
        with pytest.raises(ProgramError, match="no predicate of this name has facts") as caught:
            ask()
        assert str(caught.value).startswith(f"<program>:2:5: there is no function `{name}`")
        assert "functions are ABS" in (caught.value.hint or "")


def test_a_function_that_there_is_and_aggregates() -> None:
    for body, message, hint in (
        ("STRLEN(?s)", "`STRLEN` is a function", "`?n = STRLEN(?s)`"),
        ("count(?s)", "aggregates such as `count(…)` are not supported yet", "beforehand"),
    ):
        r = Reasoner(f"x(?s) :- a(?s), ~{body} . a(b) .")
        with pytest.raises(ProgramError, match=r"aggregates|is a function") as caught:
            r.count("x")
        assert caught.value.message.startswith(message) and hint in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["contains", "year", "CONTAINS", "max"])
def test_predicates_may_have_the_names_of_functions(name: str, tmp_path: Path) -> None:
    rules = f"x(?s) :- {name}(?s, ab) ."
    assert Reasoner(f"{rules} {name}(s, ab) .").rows("x") == [("s",)]
    assert Reasoner(f"{rules} {name}(?s, ?t) :- f(?s, ?t) . f(s, ab) .").rows("x") == [("s",)]
    r = Reasoner(rules)
    r.add(name, [("s", "ab")])
    assert r.rows("x") == [("s",)]
    (tmp_path / f"{name}.csv").write_text("s,ab\n")
    r = Reasoner(rules)
    r.load(tmp_path)
    assert r.rows("x") == [("s",)]
    (tmp_path / "rules.rls").write_text(f'@import {name} :- csv{{resource="{name}.csv"}} . {rules}')
    assert Reasoner(tmp_path / "rules.rls").rows("x") == [("s",)]
    r = Reasoner(rules)
    r.add(name, [])
    assert r.rows("x") == []
    r = Reasoner(rules)
    r.update(add={name: [("s", "ab")]})
    assert r.rows("x") == [("s",)]


def test_check_without_facts_refuses_the_spelling_of_sparql_alone() -> None:
    """A program that is only checked may get facts of `year`; nobody calls a predicate `isIRI`."""
    for name in ("STRSTARTS", "isIRI", "langMatches", "YEAR"):
        with pytest.raises(ProgramError, match=name):
            check(parse_program(f"x(?s) :- {name}(?s) ."), known=None)
    for name in ("year", "contains", "Contains"):
        assert check(parse_program(f"x(?s) :- {name}(?s) ."), known=None) == []


def test_functions_are_all_of_sparql_but_operators_and_skolem() -> None:
    assert {f for f in FUNCTIONS if f.isalpha()} - OF_SPARQL == {"INT", "SKOLEM"}


def test_functions_in_queries() -> None:
    r = Reasoner("a(b) .")
    with pytest.raises(QueryError, match=r"there is no function `STRSTARTS`.*functions are ABS"):
        r.query('a(?s), STRSTARTS(?s, "b")')
    with pytest.raises(QueryError, match=r"aggregates such as `COUNT\(…\)` are not supported yet"):
        r.query("a(?s), COUNT(?s)")
    assert Reasoner("year(1) .").count("year(?x)") == 1


# ---- Predicates without facts


def test_a_misspelt_predicate() -> None:
    r = Reasoner(PATHS + "\nfar(?x) :- paht(?x, _) .")
    r.add("edge", [(1, 2)])
    assert told(r, "far") == ["<program>:2:12: `paht` has no facts and no rules; did you mean `path`?"]
    assert [w.code for w in r.warnings] == ["no-facts"], "they can be asked for afterwards, too"


@pytest.mark.parametrize("empty", [[], pd.DataFrame({"a": [], "b": []})], ids=["list", "frame"])
def test_an_empty_table_is_no_reason_to_warn(empty: Any, tmp_path: Path) -> None:
    r = Reasoner(PATHS)
    r.add("edge", empty)
    assert told(r, "path") == []
    (tmp_path / "edge.csv").write_text("from,to\n")
    r = Reasoner(PATHS)
    r.load(tmp_path, header=True)
    assert told(r, "path") == []


def test_facts_that_come_with_the_first_update() -> None:
    r = Reasoner(PATHS)
    assert r.update(add={"edge": [(1, 2)]}).added == {"edge": 1, "path": 1}
    r = Reasoner(PATHS)
    r.update(add=facts("edge", [(1, 2)]))
    r = Reasoner(PATHS)
    r.update(delete={"edge": [(1, 2)]})
    assert r.count("path") == 0


@pytest.mark.parametrize(
    ("name", "row"), [("e:p", (1, 2)), ("triple", (1, IRI("u:e/p"), 2)), ("e:C", (1,)), ("rdf:type", (1, 2))]
)
def test_facts_under_prefixes_and_as_triples(name: str, row: tuple[Any, ...]) -> None:
    rules = "@prefix e: <u:e/> . q(?x) :- e:p(?x, ?y) . q(?x) :- e:C(?x) ."
    r = Reasoner(rules)
    r.add(name, [row])
    assert told(r, "q") == []
    Reasoner(rules).update(add={name: [row]})


def test_a_store_and_other_rules_over_it(tmp_path: Path) -> None:
    r = Reasoner(PATHS)
    r.add("edge", [])
    r.save(tmp_path)
    assert told(Reasoner.open(tmp_path), "path") == []
    other = parse_program("back(?y, ?x) :- edge(?x, ?y) .")
    assert told(Reasoner.open(tmp_path, program=other), "back") == []
    other = parse_program("back(?y, ?x) :- edgee(?x, ?y) .")
    assert told(Reasoner.open(tmp_path, program=other), "back") == [
        "<program>:1:17: `edgee` has no facts and no rules; did you mean `edge`?"
    ]


def test_facts_under_iris_leave_many_predicates_without_any() -> None:
    """But one that is nearly called as another is told of."""
    classes = " ".join(
        f"<u:e/Thing>(?x) :- <u:e/{name}>(?x) ." for name in ("Book", "Chair", "Person", "Chairs")
    )
    r = Reasoner(classes)
    r.add(IRI("u:e/Chair"), [(1,)])
    assert told(r, "<u:e/Thing>") == [
        f"<program>:1:{classes.index('<u:e/Chairs>') + 1}: `<u:e/Chairs>` has no facts and no rules; did you mean `<u:e/Chair>`?"
    ]


def test_many_are_not_all_shown() -> None:
    r = Reasoner(" ".join(f"q(?x) :- input{n}(?x) ." for n in range(9)))
    found = told(r, "q")
    assert len(found) == 6 and found[-1] == "4 more warnings: see `Reasoner.warnings`"


@pytest.mark.parametrize(
    ("ask", "name"),
    [
        (lambda r: r.materialise(), "materialise"),
        (lambda r: r.rows("q"), "rows"),
        (lambda r: r.query("q(?x)"), "query"),
        (lambda r: r.contains("q", (1,)), "contains"),
        (lambda r: list(r.batches("q")), "batches"),
        (lambda r: r.update(add={"other": [(1,)]}), "update"),
        (lambda r: for_pipelines.difference(r, [Predicate("other", 1)], None), "difference"),
    ],
)
def test_the_line_of_the_user_is_named(ask: Any, name: str) -> None:
    with pytest.warns(ProgramWarning) as caught:
        ask(Reasoner("q(?x) :- p(?x) ."))
    assert [w.filename for w in caught] == [__file__], name


# ---- Constants that look like variables


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        (
            "path(X, Y) :- edge(X, Y) .",
            "`X` and `Y` are constants here; did you mean `?X` and `?Y`? Quote them if not",
        ),
        ("path(X, ?y) :- edge(X, ?y) .", "`X` is a constant here; did you mean `?X`? Quote it if not"),
        ("some() :- edge(X, Y), edge(Y, X) .", "`X` and `Y` are constants here"),
        ("path(Node, Node) :- edge(Node, _) .", "`Node` is a constant here"),
        ("path(_x, 1) :- edge(_x, _y) .", "`_x` is a constant here"),
        ("path(X, 1) :- ~edge(X, 2) .", "`X` is a constant here"),
    ],
)
def test_constants_like_variables(rule: str, names: str) -> None:
    for mode in (("edge",), None):
        (warning,) = check(parse_program(rule), known=mode)
        assert warning.code == "like-variable" and warning.message.startswith(names)
    r = Reasoner(rule)
    r.add("edge", [(1, 2)])
    with pytest.warns(ProgramWarning, match=r"here; did you mean `\?"):
        r.materialise()


@pytest.mark.parametrize(
    "rule",
    [
        "ancestor(Ada, ?x) :- parent(Ada, ?x) .",
        "first(?x) :- parent(Ada, ?x) .",
        "closed() :- today(Sunday) .",
        'path("X", "Y") :- edge("X", "Y") .',
        "path(x, y) :- edge(x, y) .",
        "@prefix X: <u:> . path(X:X, X:X) :- edge(X:X, X:X) .",
        "path(<u:X>, <u:X>) :- edge(<u:X>, <u:X>) .",
        "grade(?s, A) :- best(?s) .",
        "path(X, Y) .",
    ],
)
def test_constants_that_are_meant(rule: str) -> None:
    assert check(parse_program(rule), known=None) == []
