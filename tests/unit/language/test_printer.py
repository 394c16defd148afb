"""Printed programs read back as they were."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modulog.language.model import (
    Atom,
    Call,
    Comparison,
    Directive,
    Expression,
    Literal,
    Negation,
    Predicate,
    Program,
    Rule,
    Term,
    Variable,
)
from modulog.language.parser import parse_program
from modulog.language.printer import (
    print_atom,
    print_literal,
    print_predicate,
    print_program,
    print_rule,
    print_term,
)
from modulog.terms.constant import XSD, Constant, Kind, literal
from support.amounts import amount

NASTY = st.one_of(
    st.text(max_size=8),
    st.text(alphabet="\"'\\\n\r\t\u2028\x00%/<>?.,()~_:@^ a", max_size=8),
    st.sampled_from(
        ["true", "false", "not", "_", "a-b", "1", "01", "1.0", "1e3", "?x", "a b", "é", '"""', "_:b", "a:b"]
    ),
)
NAMES = st.from_regex(r"[A-Za-zé_][A-Za-z0-9_-]{0,4}", fullmatch=True).filter(
    lambda name: name not in ("not", "_", "BIND", "FILTER")
)
NAMESPACES = st.sampled_from(["http://e.org/", "http://e.org/a#", "urn:x:", "relative/", ""])
IRIS = st.one_of(st.builds(str.__add__, NAMESPACES, st.one_of(NAMES, NASTY)), NASTY)
LABELS = st.from_regex(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,3}[A-Za-z0-9_-])?", fullmatch=True)
TAGS = st.from_regex(r"[a-z]{1,3}(-[a-z0-9]{1,3})?", fullmatch=True)
DATATYPES = st.one_of(
    IRIS.filter(bool),
    st.sampled_from(["integer", "decimal", "double", "boolean", "string", "float"]).map(XSD.__add__),
)
LEXICAL = st.one_of(
    NASTY,
    st.integers().map(str),
    st.floats().map(str),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.sampled_from(["INF", "-INF", "NaN", "true", "0", "1.50", "9223372036854775808"]),
)
CONSTANTS = st.one_of(
    st.builds(Constant, st.just(Kind.STRING), NASTY),
    st.builds(Constant, st.just(Kind.IRI), IRIS),
    st.builds(Constant, st.just(Kind.BLANK), LABELS),
    st.builds(Constant, st.just(Kind.LANGUAGE), NASTY, TAGS),
    st.builds(literal, LEXICAL, DATATYPES),
)
VARIABLES = st.builds(Variable, st.sampled_from(["x", "y", "_", "1", "été"]))
TERMS: st.SearchStrategy[Term] = st.one_of(VARIABLES, CONSTANTS)
PREDICATES = st.one_of(NAMES, IRIS.map(lambda iri: f"<{iri}>"))


def _atom(name: str, terms: list[Term]) -> Atom:
    return Atom(Predicate(name, len(terms)), tuple(terms))


ATOMS = st.builds(_atom, PREDICATES, st.lists(TERMS, max_size=4))
EXPRESSIONS: st.SearchStrategy[Expression] = st.recursive(
    TERMS,
    lambda inner: st.one_of(
        st.builds(Call, st.sampled_from("+-*/"), st.tuples(inner, inner)),
        st.builds(Call, st.sampled_from(["-", "ABS", "STR"]), st.tuples(inner)),
        st.builds(
            Call, st.sampled_from(["SKOLEM", "CONCAT"]), st.lists(inner, min_size=1, max_size=3).map(tuple)
        ),
    ),
    max_leaves=5,
)
COMPARISONS = st.builds(
    Comparison, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), EXPRESSIONS, EXPRESSIONS
)
LITERALS: st.SearchStrategy[Literal] = st.one_of(ATOMS, st.builds(Negation, ATOMS), COMPARISONS)
RULES = st.builds(
    Rule,
    st.lists(ATOMS, min_size=1, max_size=3).map(tuple),
    st.lists(LITERALS, min_size=1, max_size=4).map(tuple),
)
PLAIN = (Kind.STRING, Kind.INTEGER, Kind.BOOLEAN)
VALUES = st.recursive(
    st.one_of(
        NASTY,
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        CONSTANTS.filter(lambda constant: constant.kind not in PLAIN),
    ),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=4,
)
DIRECTIVES = st.builds(
    Directive,
    PREDICATES,
    st.sampled_from(["csv", "tsv", "rdf", "parquet"]),
    st.lists(st.tuples(NAMES, VALUES), max_size=3, unique_by=lambda option: option[0]).map(tuple),
)
PREFIXES = st.tuples(st.from_regex(r"([a-zé][a-z0-9_.-]{0,3}[a-z])?", fullmatch=True), NAMESPACES)
PROGRAMS = st.builds(
    Program,
    st.lists(RULES, max_size=3).map(tuple),
    st.lists(ATOMS, max_size=3).map(tuple),
    st.lists(DIRECTIVES, max_size=2).map(tuple),
    st.lists(DIRECTIVES, max_size=2).map(tuple),
    st.lists(PREDICATES, max_size=2).map(tuple),
    st.lists(PREFIXES, max_size=3).map(tuple),
    st.sampled_from(["", "http://b.org/c/d", "http://e.org/", "relative"]),
)


@settings(max_examples=amount(50, 300), deadline=None)
@given(PROGRAMS)
def test_programs_read_back(program: Program) -> None:
    assert parse_program(print_program(program), check=False) == program


@settings(max_examples=amount(50, 300), deadline=None)
@given(st.lists(TERMS, max_size=4), st.lists(PREFIXES, max_size=2))
def test_comments_inside_atoms_change_nothing(terms: list[Term], prefixes: list[tuple[str, str]]) -> None:
    declared = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in prefixes)
    inner = " % comment\n, ".join(print_term(term, dict(prefixes).items()) for term in terms)
    (fact,) = parse_program(f"{declared}p( // comment\n{inner} % comment\n) .", check=False).facts
    assert list(fact.terms) == terms


@pytest.mark.parametrize(
    ("constant", "text"),
    [
        (Constant(Kind.STRING, "abc"), "abc"),
        (Constant(Kind.STRING, "größe-2"), "größe-2"),
        (Constant(Kind.STRING, "true"), '"true"'),
        (Constant(Kind.STRING, "not"), '"not"'),
        (Constant(Kind.STRING, "_"), '"_"'),
        (Constant(Kind.STRING, "1"), '"1"'),
        (Constant(Kind.STRING, "a%20b"), '"a%20b"'),
        (Constant(Kind.STRING, 'a "b"\n\u2028'), r'"a \"b\"\n\u2028"'),
        (Constant(Kind.INTEGER, "-1"), "-1"),
        (Constant(Kind.DECIMAL, "1.5"), "1.5"),
        (Constant(Kind.DOUBLE, "1.0E3"), "1.0E3"),
        (Constant(Kind.DOUBLE, "INF"), f'"INF"^^<{XSD}double>'),
        (Constant(Kind.BOOLEAN, "true"), "true"),
        (Constant(Kind.IRI, "http://e.org/a"), "<http://e.org/a>"),
        (Constant(Kind.IRI, "a>b"), r"<a\u003Eb>"),
        (Constant(Kind.BLANK, "b"), "_:b"),
        (Constant(Kind.LANGUAGE, "chat", "fr"), '"chat"@fr'),
        (Constant(Kind.TYPED, "x", XSD + "integer"), f'"x"^^<{XSD}integer>'),
    ],
)
def test_constants(constant: Constant, text: str) -> None:
    assert print_term(constant) == text


def test_prefixes_shorten() -> None:
    prefixes = [("e", "http://e.org/"), ("ea", "http://e.org/a/"), ("xsd", XSD)]
    assert print_term(Constant(Kind.IRI, "http://e.org/a/b"), prefixes) == "ea:b"
    assert print_term(Constant(Kind.IRI, "http://e.org/"), prefixes) == "e:"
    assert print_term(Constant(Kind.IRI, "http://e.org/x.y"), prefixes) == "<http://e.org/x.y>"
    assert print_term(Constant(Kind.TYPED, "x", XSD + "date"), prefixes) == '"x"^^xsd:date'
    assert print_predicate("<http://e.org/p>", prefixes) == "e:p"
    assert print_predicate("p", prefixes) == "p"


def test_rules() -> None:
    (rule,) = parse_program("p(?x),q():-r(?x,_,'a b'),not s(?x),?x>=1 .").rules
    assert print_rule(rule) == 'p(?x), q() :- r(?x, _, "a b"), ~s(?x), ?x >= 1 .'
    assert print_atom(rule.atoms[0]) == 'r(?x, _, "a b")'
    assert [print_literal(literal) for literal in rule.body[1:]] == ["~s(?x)", "?x >= 1"]


@pytest.mark.parametrize(
    "text", ["-(true + ABS(?x))", "-ABS(?x)", "-(-?x)", "-(?x * ABS(?x))", "-?x + ABS(?x)"]
)
def test_a_minus_before_an_expression(text: str) -> None:
    (rule,) = parse_program(f"p(?y) :- q(?x), ?y = {text} .").rules
    assert print_literal(rule.body[1]) == f"?y = {text}"


def test_program() -> None:
    text = """@base <http://b.org/> .
@prefix e: <http://e.org/> .
@import e:q :- csv{resource="f.csv", format=(int, any), header=true} .
p(e:a, 1) .
r(?x) :- e:q(?x, _) .
@export r :- tsv{} .
@output r .
"""
    assert print_program(parse_program(text)) == text
