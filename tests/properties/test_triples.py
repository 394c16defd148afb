"""Programs of RDF against the oracle, for which there is nothing but triples: p(s, o) is the triple s p o, C(s) is s rdf:type C."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modulog import IRI, Reasoner
from modulog.language.model import Predicate
from modulog.terms.constant import RDF
from support import oracle

TYPE = f"{RDF}type"
NODES, CLASSES, PROPERTIES = ["u:a", "u:b"], ["u:C", "u:D"], ["u:p", "u:q"]
NAMES = [*NODES, *CLASSES, *PROPERTIES]
VARIABLES = ["?x", "?y", "?z"]

Pattern = tuple[str, str, str]
Row = tuple[str, str, str]

SUBJECTS = st.sampled_from([*VARIABLES, *NODES, "u:C"])
PATTERNS: st.SearchStrategy[Pattern] = st.one_of(
    st.tuples(SUBJECTS, st.just(TYPE), st.sampled_from([*CLASSES, *VARIABLES, "u:a"])),
    st.tuples(SUBJECTS, st.sampled_from([*PROPERTIES, *VARIABLES]), st.sampled_from([*VARIABLES, *NODES])),
)
TRIPLES: st.SearchStrategy[Row] = st.one_of(
    st.tuples(st.sampled_from(NAMES), st.just(TYPE), st.sampled_from([*CLASSES, "u:a"])),
    st.tuples(st.sampled_from(NAMES), st.sampled_from([*PROPERTIES, "u:a"]), st.sampled_from(NAMES)),
)
GIVEN = st.lists(st.tuples(TRIPLES, st.booleans()), max_size=5)
"""Triples, and whether they are given as facts of `triple`."""


@st.composite
def rules(draw: st.DrawFn) -> tuple[Pattern, list[Pattern]]:
    """A head and a body; the head has only variables of the body."""
    body = draw(st.lists(PATTERNS, min_size=1, max_size=2))
    bound = {term for pattern in body for term in pattern if term.startswith("?")}
    head = [t if not t.startswith("?") or t in bound else "u:C" for t in draw(PATTERNS)]
    return (head[0], head[1], head[2]), body


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[Pattern], list[Pattern]]:
    """Patterns that hold, and patterns that do not, of the same variables or `_`."""
    body = draw(st.lists(PATTERNS, min_size=1, max_size=3))
    bound = {term for pattern in body for term in pattern if term.startswith("?")}
    found = draw(st.lists(PATTERNS, max_size=1))
    safe = [[t if not t.startswith("?") or t in bound else "_" for t in pattern] for pattern in found]
    return body, [(s, p, o) for s, p, o in safe]


def term(text: str) -> str:
    return text if text.startswith("?") or text == "_" else f"<{text}>"


def written(pattern: Pattern, as_triple: bool) -> str:
    """A pattern as rules write it: as a triple, or under the name that its constants give."""
    s, p, o = map(term, pattern)
    if as_triple or p.startswith("?") or p == "_":
        return f"triple({s}, {p}, {o})"
    if pattern[1] == TYPE and o.startswith("<"):
        return f"{o}({s})"
    return f"{p}({s}, {o})"


def plain(pattern: Pattern) -> list[Any]:
    """A pattern as the oracle has it."""
    return [t if t.startswith("?") or t == "_" else (t,) for t in pattern]


def as_given(rows: Iterable[tuple[Row, bool]]) -> dict[str | IRI, list[tuple[IRI, ...]]]:
    """Triples as facts for a reasoner, under one name or the other."""
    found: dict[str | IRI, list[tuple[IRI, ...]]] = {}
    for (s, p, o), as_triple in rows:
        if as_triple:
            found.setdefault("triple", []).append((IRI(s), IRI(p), IRI(o)))
        elif p == TYPE and o in CLASSES:
            found.setdefault(IRI(o), []).append((IRI(s),))
        else:  # of a name that is a class and a property, only one can be given at a time
            found.setdefault(IRI(p), []).append((IRI(s), IRI(o)))
    return found


def parts(reasoner_rows: set[Row]) -> dict[Predicate, set[tuple[str, ...]]]:
    """What each property and class must have."""
    found: dict[Predicate, set[tuple[str, ...]]] = {}
    for s, p, o in reasoner_rows:
        if p == TYPE:
            found.setdefault(Predicate(f"<{o}>", 1), set()).add((s,))
        else:
            found.setdefault(Predicate(f"<{p}>", 2), set()).add((s, o))
    return found


def values(rows: Iterable[tuple[Any, ...]]) -> set[tuple[str, ...]]:
    found = [tuple(v.value for v in row) for row in rows]
    assert len(found) == len(set(found))  # no fact twice
    return set(found)


def check(reasoner: Reasoner, expected: set[Row], asked: Any) -> None:
    """Every way to ask gives what the oracle has."""
    facts = {"t": {tuple((t,) for t in row) for row in expected}}
    if not any(p.name.startswith("<") for p in reasoner.predicates()):
        return
    for body, absent, as_triple in asked:
        text = [written(pattern, as_triple) for pattern in body]
        text += [f"~{written(pattern, as_triple)}" for pattern in absent]
        # A name that nobody knows is an error, so everything has a fact of its own in `known`.
        literals = [("+", "t", plain(pattern)) for pattern in body]
        literals += [("-", "t", plain(pattern)) for pattern in absent]
        names = list(dict.fromkeys(t for pattern in body for t in pattern if t.startswith("?")))
        ways = {tuple(way[name][0] for name in names) for way in oracle.solve(literals, facts)}
        known = {str(p) for p in reasoner.predicates()}
        named = [Predicate(f"<{t}>", n) for t, n in _named([*body, *absent])]
        if any(str(p) not in known for p in named):
            continue
        answers = reasoner.query(", ".join(text))
        if names:
            rows = [tuple(v.strip("<>") for v in row.values()) for row in answers.to_pylist()]
            assert set(rows) == ways and len(rows) == len(ways), text
            assert reasoner.count(", ".join(text)) == len(ways), text
        else:
            assert answers.to_pylist() == [{"holds": bool(ways)}], text
    found = parts(expected)
    known_predicates = [
        p for p in reasoner.predicates() if p.name.startswith("<") and p != Predicate(f"<{TYPE}>", 2)
    ]
    assert set(found) <= set(known_predicates)
    for predicate in known_predicates:
        rows_of = values(reasoner.rows(predicate))
        assert rows_of == found.get(predicate, set()), predicate
        assert reasoner.count(predicate) == len(rows_of)
        assert sum(batch.num_rows for batch in reasoner.batches(predicate)) == len(rows_of)
    if known_predicates:
        assert values(reasoner.rows("triple")) == expected and reasoner.count("triple") == len(expected)
        types = {(s, o) for s, p, o in expected if p == TYPE}
        assert values(reasoner.rows(Predicate(f"<{TYPE}>", 2))) == types and reasoner.count(
            Predicate(f"<{TYPE}>", 2)
        ) == len(types)
        for row in [*expected][:3]:
            assert reasoner.contains("triple", tuple(map(IRI, row)))
        assert reasoner.contains("triple", (IRI("u:a"), IRI("u:p"), IRI("u:b"))) == (
            ("u:a", "u:p", "u:b") in expected
        )


def _named(patterns: Iterable[Pattern]) -> Iterable[tuple[str, int]]:
    """The properties and classes that patterns name."""
    for _, p, o in patterns:
        if p == TYPE and not o.startswith("?") and o != "_":
            yield o, 1
        elif p != TYPE and not p.startswith("?") and p != "_":
            yield p, 2


def check_change(change: Any, before: set[Row], after: set[Row]) -> None:
    """The net change, by name and as triples."""
    for one, other, counts, deleted in (
        (after, before, change.added, False),
        (before, after, change.deleted, True),
    ):
        found = parts(one - other)
        names = {p.name for p in found} - {f"<{TYPE}>"}
        for name in names:
            assert counts[name] == sum(len(rows) for p, rows in found.items() if p.name == name)
        assert {n for n in counts if n.startswith("<") and n != f"<{TYPE}>"} == names
        for predicate, rows in found.items():
            assert values(change.rows(predicate, deleted=deleted)) == rows
        if one and other:
            assert values(change.rows("triple", deleted=deleted)) == one - other


@pytest.mark.filterwarnings("ignore::modulog.errors.ProgramWarning")
@pytest.mark.filterwarnings("ignore:.*the file is empty|.*no files of facts are in this folder")
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(rules(), st.booleans()), min_size=0, max_size=3),
    GIVEN,
    GIVEN,
    GIVEN,
    st.lists(st.tuples(questions(), st.booleans()), min_size=1, max_size=3),
)
def test_as_if_there_were_only_triples(
    program: list[Any], first: list[Any], added: list[Any], deleted: list[Any], asked: list[Any]
) -> None:
    lines = [
        f"{written(head, as_triple)} :- {', '.join(written(b, as_triple) for b in body)} ."
        for (head, body), as_triple in program
    ]
    only = [
        ([("t", plain(head))], [("+", "t", plain(pattern)) for pattern in body])
        for (head, body), _ in program
    ]
    asked = [(body, absent, as_triple) for (body, absent), as_triple in asked]

    def follows(explicit: set[Row]) -> set[Row]:
        found = oracle.materialise(only, {"t": {tuple((t,) for t in row) for row in explicit}})
        return {(s, p, o) for (s,), (p,), (o,) in found["t"]}

    explicit = {row for row, _ in first}
    with Reasoner("\n".join(lines), engine="local") as reasoner:
        for name, rows_of in as_given(first).items():
            reasoner.add(name, rows_of)
        expected = follows(explicit)
        check(reasoner, expected, asked)
        change = reasoner.update(add=as_given(added), delete=as_given(deleted))
        leaving = {row for row, _ in deleted} - {row for row, _ in added}
        explicit = (explicit - {row for row, _ in deleted}) | {row for row, _ in added}
        before, expected = expected, follows(explicit)
        check(reasoner, expected, asked)
        check_change(change, before, expected)
        assert change.still_derived == len(leaving & expected)
        assert change.ignored == len(leaving - before - expected)
        with TemporaryDirectory() as folder:
            reasoner.save(Path(folder, "store"))
            with Reasoner.open(Path(folder, "store"), engine="local") as again:
                check(again, expected, asked)
            written_to = reasoner.export(Path(folder, "out"), format="nt")
            with Reasoner("", engine="local") as read:
                read.load(Path(folder, "out"))
                if written_to:
                    assert set(parts(expected)) <= set(read.predicates())
                    check(read, expected, [])
