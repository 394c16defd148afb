"""Reading all classes and all triples: as if a program knew nothing but triples."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amounts import amount
from modulog import IRI, Reasoner
from modulog.errors import QueryError, StratificationError
from modulog.language.dlog import parse_dlog
from modulog.language.parser import parse_program
from modulog.language.printer import print_rule
from modulog.language.triples import TRIPLE, TYPE, bridges
from modulog.terms.canonical import RDF

RDF_TYPE = f"<{RDF}type>"

Pattern = tuple[str, str, str]

NODES = [f"<u:{name}>" for name in "ab"]
CLASSES = ["<u:C>", "<u:D>"]
PROPERTIES = ["<u:p>", "<u:q>"]
VARIABLES = ["?x", "?y", "?z"]
OBJECTS = st.sampled_from([*NODES, *CLASSES, *PROPERTIES])
TRIPLES: st.SearchStrategy[Pattern] = st.one_of(
    st.tuples(OBJECTS, st.just(RDF_TYPE), st.one_of(st.sampled_from(CLASSES), OBJECTS)),
    st.tuples(OBJECTS, st.sampled_from(PROPERTIES), OBJECTS),
)
TERMS = st.one_of(st.sampled_from(VARIABLES), OBJECTS)
PATTERNS: st.SearchStrategy[Pattern] = st.one_of(
    st.tuples(TERMS, st.just(RDF_TYPE), st.sampled_from([*CLASSES, *VARIABLES])),
    st.tuples(TERMS, st.sampled_from([*PROPERTIES, "?y"]), TERMS),
)


@st.composite
def rules(draw: st.DrawFn) -> tuple[Pattern, list[Pattern]]:
    """A head and a body of triples; the head has only variables of the body."""
    body = draw(st.lists(PATTERNS, min_size=1, max_size=2))
    bound = {term for pattern in body for term in pattern if term.startswith("?")}
    head = draw(PATTERNS)
    safe = [t if not t.startswith("?") or t in bound else "<u:C>" for t in head]
    return (safe[0], safe[1], safe[2]), body


def written(pattern: Pattern) -> str:
    return f"[{', '.join(pattern)}]"


def as_triple(pattern: Pattern) -> str:
    return f"t({', '.join(pattern)})"


@settings(max_examples=amount(50, 300), deadline=None)
@given(
    st.lists(rules(), min_size=1, max_size=4), st.lists(TRIPLES, max_size=5), st.lists(TRIPLES, max_size=2)
)
def test_as_if_there_were_only_triples(
    program: list[tuple[Pattern, list[Pattern]]], loaded: list[Pattern], facts: list[Pattern]
) -> None:
    dlog = [f"{written(head)} :- {', '.join(map(written, body))} ." for head, body in program]
    plain = [f"{as_triple(head)} :- {', '.join(map(as_triple, body))} ." for head, body in program]
    dlog += [f"{written(fact)} ." for fact in facts]
    plain += [f"{as_triple(fact)} ." for fact in (*facts, *loaded)]
    expected = set(Reasoner("\n".join(plain)).rows("t"))
    with TemporaryDirectory() as folder:
        path = Path(folder, "facts.nt")
        path.write_text(
            "# triples\n" + "".join(f"{' '.join(triple)} .\n" for triple in loaded), encoding="utf-8"
        )
        reasoner = Reasoner(parse_dlog("\n".join(dlog)), engine="local")
        reasoner.load(path)
    read = {pattern for _, body in program for pattern in body}
    for predicate in reasoner.program.predicates():
        rows = set(reasoner.rows(predicate.name)) if not _twice(reasoner, predicate.name) else None
        if predicate == TRIPLE:
            complete = any(p.startswith("?") for _, p, _ in read)
            assert rows is not None and (rows == expected if complete else rows <= expected)
        elif predicate == TYPE:
            types = {(s, o) for s, p, o in expected if p == IRI(RDF_TYPE[1:-1])}
            complete = any(p == RDF_TYPE and o.startswith("?") for _, p, o in read)
            assert rows is not None and (rows == types if complete else rows <= types)
        elif rows is not None:
            name = IRI(predicate.name[1:-1])
            pairs = {(s, o) for s, p, o in expected if p == name}
            of_class = {(s,) for s, p, o in expected if (p, o) == (IRI(RDF_TYPE[1:-1]), name)}
            assert rows == (pairs if predicate.arity == 2 else of_class)


def _twice(reasoner: Reasoner, name: str) -> bool:
    """Whether a name is a class and a property, so that it alone does not say which is meant."""
    return len({p.arity for p in reasoner.predicates() if p.name == name}) > 1


PREFIX = "@prefix : <u:> .\n@prefix rdf: <" + RDF + "> .\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p(?x) :- q(?x) .", []),
        (":p(?x) :- :q(?x) .", []),
        ("triple(?x, ?y, ?z) :- a(?x), b(?y), c(?z) .", []),
        ("r(?x) :- rdf:type(?x, :C) .", ["rdf:type(?s, :C) :- :C(?s) ."]),
        ("r(?x) :- triple(?x, :p, ?y), :p(?x, ?y), :q(?x, ?y) .", ["triple(?s, :p, ?o) :- :p(?s, ?o) ."]),
        ("rdf:type(?x, :C) :- :D(?x) . r(?x) :- :C(?x) .", [":C(?s) :- rdf:type(?s, :C) ."]),
        (":D(?x) :- rdf:type(?x, ?c) .", ["rdf:type(?s, :D) :- :D(?s) ."]),
        ("triple(?x, ?p, ?y) :- r(?x, ?p, ?y), :q(?x, ?y) .", [":q(?s, ?o) :- triple(?s, :q, ?o) ."]),
    ],
)
def test_bridges(text: str, expected: list[str]) -> None:
    program = parse_program(PREFIX + text)
    assert [print_rule(rule, program.prefixes) for rule in bridges(program)] == expected


def test_a_cycle_through_all_classes_is_refused() -> None:
    text = PREFIX + ":Odd[?x] :- :node[?x], NOT rdf:type[?x, ?x] ."
    with pytest.raises(StratificationError, match="depends on its own negation") as caught:
        parse_dlog(text)
    assert caught.value.position is not None
    assert (caught.value.position.line, caught.value.position.column) == (3, 24)


def test_classes_below_a_negation_are_fine() -> None:
    program = parse_dlog(
        PREFIX + "untyped(?x) :- :node[?x, ?y], NOT rdf:type[?x, _] . :node[:a, :b] . :C[:b] ."
    )
    reasoner = Reasoner(program)
    assert reasoner.rows("untyped") == [(IRI("u:a"),)]


ANIMALS = PREFIX + ":Cat(:tom) . :likes(:tom, :tim) . :Pet(?x) :- :Cat(?x) .\n"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("rdf:type(?x, :Pet)", ["tom"]),
        ("~rdf:type(:tim, :Pet), :likes(?x, :tim)", ["tom"]),
        ("triple(?x, :likes, ?y)", ["tom"]),
        ("triple(?x, rdf:type, :Cat)", ["tom"]),
    ],
)
def test_queries_read_triples_where_they_are_kept(question: str, expected: list[str]) -> None:
    found = Reasoner(ANIMALS).query(question)
    assert found.column("x").to_pylist() == [f"<u:{name}>" for name in expected]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("rdf:type(?x, ?c)", "no rule asks for all classes.* add one"),
        ("triple(?x, ?p, ?y)", "no rule asks for all triples.* add one"),
        ("triple(?x, :hates, ?y)", "there is no predicate <u:hates>; did you mean .*<u:likes>"),
    ],
)
def test_queries_for_everything_need_a_rule_that_asks_for_it(question: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        Reasoner(ANIMALS).query(question)
    if "hates" not in question:
        every = "every(?s, ?p, ?o) :- triple(?s, ?p, ?o) . types(?s, ?c) :- rdf:type(?s, ?c) ."
        assert Reasoner(ANIMALS + every).count(question) > 1
