"""Reading all classes and all triples: as if a program knew nothing but triples."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modulog import IRI, Reasoner, Switches
from modulog.errors import QueryError, StratificationError
from modulog.language.model import Predicate
from modulog.language.parser import parse_program
from modulog.language.printer import print_rule
from modulog.language.rdfox import parse_dlog
from modulog.language.triples import TRIPLE, TYPE, bridges
from modulog.terms.constant import RDF
from support.amounts import amount

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


@pytest.mark.filterwarnings("ignore::modulog.errors.ProgramWarning")
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
    for predicate in reasoner.program.predicates():
        rows = set(reasoner.rows(predicate))
        if predicate == TRIPLE:
            assert rows == expected
        elif predicate == TYPE:
            assert rows == {(s, o) for s, p, o in expected if p == IRI(RDF_TYPE[1:-1])}
        else:
            name = IRI(predicate.name[1:-1])
            pairs = {(s, o) for s, p, o in expected if p == name}
            of_class = {(s,) for s, p, o in expected if (p, o) == (IRI(RDF_TYPE[1:-1]), name)}
            assert rows == (pairs if predicate.arity == 2 else of_class)


PREFIX = "@prefix : <u:> .\n@prefix rdf: <" + RDF + "> .\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p(?x) :- q(?x) .", []),
        (":p(?x) :- :q(?x) .", []),
        ("triple(?x, ?y, ?z) :- a(?x), b(?y), c(?z) .", []),
        ("r(?x) :- rdf:type(?x, :C) .", []),
        ("r(?x) :- triple(?x, :p, ?y), :p(?x, ?y), :q(?x, ?y) .", []),
        ("rdf:type(?x, :C) :- :D(?x) . r(?x) :- :C(?x) .", []),
        ("r(?x) :- triple(?x, ?p, ?y), :p(?x, ?y) .", ["triple(?s, :p, ?o) :- :p(?s, ?o) ."]),
        (":D(?x) :- rdf:type(?x, ?c) .", ["rdf:type(?s, :D) :- :D(?s) ."]),
        ("triple(?x, ?p, ?y) :- r(?x, ?p, ?y), :q(?x, ?y) .", [":q(?s, ?o) :- triple(?s, :q, ?o) ."]),
    ],
)
def test_bridges(text: str, expected: list[str]) -> None:
    program = parse_program(PREFIX + text)
    assert [print_rule(rule, program.prefixes) for rule in bridges(program)] == expected


def test_constants_name_the_predicate() -> None:
    """`triple` and `rdf:type` with constants are the facts that these name, in rules and in facts."""
    program = parse_program(
        PREFIX + 'triple(?x, rdf:type, :C) :- rdf:type(?x, :D), ~triple(?x, :p, ?x), triple(?x, "p", :a) .'
        "triple(:a, :p, :b) . rdf:type(:a, :D) ."
    )
    assert [print_rule(rule, program.prefixes) for rule in program.rules] == [
        ":C(?x) :- :D(?x), ~:p(?x, ?x), triple(?x, p, :a) ."
    ]
    assert [str(fact.predicate) for fact in program.facts] == ["<u:p>/2", "<u:D>/1"]


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


def test_an_unknown_property_is_an_error() -> None:
    with pytest.raises(QueryError, match=r"there is no predicate <u:hates>; did you mean .*<u:likes>"):
        Reasoner(ANIMALS).query("triple(?x, :hates, ?y)")
    with pytest.raises(QueryError, match="there is no predicate triple"):
        Reasoner("p(a, b) .").query("triple(?x, ?p, ?y)")


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("rdf:type(?x, ?c)", [("tom", "Cat"), ("tom", "Pet")]),
        ("triple(:tom, ?p, :tim)", [("likes",)]),
        ("triple(:tim, ?p, ?o)", []),
        ("triple(?s, ?p, ?o), ~rdf:type(?s, ?o)", [("tom", "likes", "tim")]),
        ("triple(?s, ?p, ?o), ?o != :Cat, ?o != :Pet", [("tom", "likes", "tim")]),
        ("triple(?s, ?p, ?o), triple(?s, ?q, :tim), rdf:type(?s, ?o)",
         [("tom", "type", "Cat", "likes"), ("tom", "type", "Pet", "likes")]),
        (":likes(?s, ?o), ~triple(?o, _, _)", [("tom", "tim")]),
        (":likes(?s, ?o), ~triple(?s, ?p, ?o), :likes(?s, ?p)", [("tom", "tim", "tim")]),
        ("triple(?s, _, _)", [("tom",)]),
        ("triple(?s, ?s, ?o)", []),
        ('triple(?s, "likes", ?o)', []),
    ],
)  # fmt: skip
@pytest.mark.parametrize("more", ["", "every(?s) :- triple(?s, ?p, ?o), rdf:type(?s, ?c) ."])
def test_all_triples_can_be_asked_of_any_program(
    question: str, answers: list[tuple[str, ...]], more: str
) -> None:
    with Reasoner(ANIMALS + more, engine="local") as reasoner:
        found = [tuple(row.values()) for row in reasoner.query(question).to_pylist()]
        names = [
            tuple(value.strip("<>").rpartition("#")[2].removeprefix("u:") for value in row) for row in found
        ]
        assert sorted(names) == answers and reasoner.count(question) == len(answers)


SAME = (
    "@prefix : <u:> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
    "triple(?a, ?p, ?o) :- owl:sameAs(?a, ?b), triple(?b, ?p, ?o) .\n"
    "rdf:type(?x, ?d) :- sub(?c, ?d), rdf:type(?x, ?c) .\n"
).replace("rdf:type", RDF_TYPE)


def test_what_only_triples_derive_is_seen_under_its_name(tmp_path: Path) -> None:
    """No rule names `:likes` or `:Animal`, but triples of them follow."""
    bob, bobby, tea, animal = (IRI(f"u:{name}") for name in ("bob", "bobby", "tea", "Animal"))
    same, likes, cat = IRI("http://www.w3.org/2002/07/owl#sameAs"), IRI("u:likes"), IRI("u:Cat")
    with Reasoner(SAME, engine="local") as reasoner:
        reasoner.add(same, [(bob, bobby)])
        reasoner.add(cat, [(bobby,)])
        reasoner.add("sub", [(cat, animal)])
        assert not reasoner.query("triple(:bob, ?p, :tea)").num_rows
        change = reasoner.update(add={likes: [(bobby, tea)]})
        assert change.added["<u:likes>"] == 2
        assert sorted(change.rows("<u:likes>")) == [(bob, tea), (bobby, tea)]
        assert reasoner.query(":likes(:bob, ?o)").to_pylist() == [{"o": "<u:tea>"}]
        assert sorted(reasoner.rows(animal)) == [(bob,), (bobby,)] and reasoner.count(animal) == 2
        assert reasoner.contains(likes, (bob, tea)) and reasoner.contains("triple", (bob, likes, tea))
        assert {Predicate("<u:likes>", 2), Predicate("<u:Animal>", 1)} <= set(reasoner.predicates())
        written = reasoner.export(tmp_path / "out", predicates=[likes, animal])
        assert list(written.values()) == [2, 2]
        reasoner.save(tmp_path / "store")
        with Reasoner.open(tmp_path / "store", engine="local") as again:
            assert again.query("~:likes(:tea, :bob), :Animal(?x)").num_rows == 2
            change = again.update(delete={"triple": [(bobby, likes, tea)]})
            assert sorted(change.rows(likes, deleted=True)) == [(bob, tea), (bobby, tea)]
            assert Predicate("<u:likes>", 2) not in set(again.predicates()) or not again.count(likes)


def test_facts_of_any_origin_are_triples() -> None:
    """Facts that were given as properties or classes are read as triples by rules, and the other way round, and can be taken back so."""
    a, b, p, c = (IRI(f"u:{name}") for name in "abpC")
    rules = PREFIX + "all(?s, ?p, ?o) :- triple(?s, ?p, ?o) . q(?x) :- :p(?x, ?y) ."
    with Reasoner(rules, engine="local") as reasoner:
        reasoner.add(p, [(a, b)])
        reasoner.add(c, [(a,)])
        reasoner.add("triple", [(b, p, a), (b, IRI(RDF_TYPE[1:-1]), c)])
        assert reasoner.count("all") == 4 and reasoner.count(c) == 2
        assert sorted(reasoner.rows("q")) == [(a,), (b,)]
        change = reasoner.update(delete={"triple": [(a, p, b)], p: [(b, a), (b, b)]})
        assert change.ignored == 1 and reasoner.rows("q") == [] and reasoner.count("all") == 2


def test_a_represented_closure_is_not_listed_for_all_triples() -> None:
    """Two hundred million pairs are counted, and looked up, without a list of them."""
    edges, size = IRI("u:r"), 20_000
    with Reasoner(
        PREFIX + ":r(?x, ?z) :- :r(?x, ?y), :r(?y, ?z) .",
        engine="local",
        switches=Switches(storage="compact"),
    ) as r:
        r.add(edges, [(i, i + 1) for i in range(size)])
        r.add(IRI("u:s"), [(7, 8)])
        assert r.count("triple") == size * (size + 1) // 2 + 1
        assert r.count(f"triple({size - 3}, ?p, ?o)") == 3
        assert r.query("triple(?s, ?p, 8), :s(?s, ?o)").to_pylist() == [
            {"s": 7, "p": "<u:r>", "o": 8},
            {"s": 7, "p": "<u:s>", "o": 8},
        ]
        assert r.query("triple(?s, ?p, ?o), ?p != :s", limit=5).num_rows == 5
        change = r.update(add={"triple": [(0, edges, -1)]})
        assert change.rows("triple") == [(0, edges, -1)] and change.added == {"<u:r>": 1}
