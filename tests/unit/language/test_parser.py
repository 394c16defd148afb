"""What each piece of syntax means."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from modulog.errors import DataError, ParseError, Position, UnsafeRuleError
from modulog.language.model import Atom, Comparison, Directive, Negation, Predicate, Program, Rule, Variable
from modulog.language.parser import parse_file, parse_program, parse_query
from modulog.language.printer import print_program
from modulog.terms.constant import Constant, Kind
from support.steps import lines_run

XSD = "http://www.w3.org/2001/XMLSchema#"
X, Y = Variable("x"), Variable("y")


def string(text: str) -> Constant:
    return Constant(Kind.STRING, text)


def integer(text: str) -> Constant:
    return Constant(Kind.INTEGER, text)


def terms(text: str, before: str = "") -> list[object]:
    """The arguments of one fact, read as one token and with a comment inside, which must agree."""
    quick = parse_program(f"{before} p({text}) .", check=False).facts[-1].terms
    slow = parse_program(f"{before} p( % here\n {text}) .", check=False).facts[-1].terms
    assert quick == slow
    return list(quick)


def test_rule() -> None:
    program = parse_program("path(?x, ?y) :- edge(?x, ?z), ~gone(?z), path(?z, ?y), ?x != ?y .")
    z = Variable("z")
    assert program == Program(
        rules=(
            Rule(
                (Atom(Predicate("path", 2), (X, Y)),),
                (
                    Atom(Predicate("edge", 2), (X, z)),
                    Negation(Atom(Predicate("gone", 1), (z,))),
                    Atom(Predicate("path", 2), (z, Y)),
                    Comparison("!=", X, Y),
                ),
            ),
        )
    )


def test_several_heads_and_not() -> None:
    (rule,) = parse_program("a(?x), b(?x) :- c(?x), not d(?x), not ex(?x) .").rules
    assert [head.predicate.name for head in rule.heads] == ["a", "b"]
    assert [atom.predicate.name for atom in rule.negations] == ["d", "ex"]


def test_a_name_may_start_with_not() -> None:
    (rule,) = parse_program("p(?x) :- nothing(?x), not-yet(?x), note(?x) .").rules
    assert [atom.predicate.name for atom in rule.atoms] == ["nothing", "not-yet", "note"]


def test_facts() -> None:
    program = parse_program('edge(a, "b") . rain(), wet(street) . node(a).node(b).')
    assert [(f.predicate.name, f.terms) for f in program.facts] == [
        ("edge", (string("a"), string("b"))),
        ("rain", ()),
        ("wet", (string("street"),)),
        ("node", (string("a"),)),
        ("node", (string("b"),)),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abc", string("abc")),
        ("a-b_c1", string("a-b_c1")),
        ("größe", string("größe")),
        ("Hello%20World", string("Hello%20World")),
        ("not", string("not")),
        ('"abc"', string("abc")),
        ("'it is \"so\"'", string('it is "so"')),
        ('"""a "quoted"\nline"""', string('a "quoted"\nline')),
        ("'''it's'''", string("it's")),
        ('""', string("")),
        (r'"\t\n\r\"\\\u0041\U0001F600"', string('\t\n\r"\\A😀')),
        ('"% no comment // here"', string("% no comment // here")),
        ('"a, b) ."', string("a, b) .")),
        ("12", integer("12")),
        ("-7", integer("-7")),
        ("+007", integer("7")),
        ("9223372036854775807", integer("9223372036854775807")),
        ("9223372036854775808", Constant(Kind.TYPED, "9223372036854775808", XSD + "integer")),
        ("1.50", Constant(Kind.DECIMAL, "1.5")),
        (".5", Constant(Kind.DECIMAL, "0.5")),
        ("1e3", Constant(Kind.DOUBLE, "1.0E3")),
        ("-2.5E-3", Constant(Kind.DOUBLE, "-2.5E-3")),
        ("true", Constant(Kind.BOOLEAN, "true")),
        ("false", Constant(Kind.BOOLEAN, "false")),
        ("<http://e.org/a%20b//c>", Constant(Kind.IRI, "http://e.org/a%20b//c")),
        (r"<http://e.org/\u0020>", Constant(Kind.IRI, "http://e.org/ ")),
        ("<>", Constant(Kind.IRI, "")),
        ("<+>", Constant(Kind.IRI, "+")),
        ("_:b1", Constant(Kind.BLANK, "b1")),
        ("_", Variable("_")),
        ("_a", string("_a")),
        ("?x", X),
        ("?1", Variable("1")),
        ('"chat"@FR-be', Constant(Kind.LANGUAGE, "chat", "fr-be")),
        (f'"01"^^<{XSD}integer>', integer("1")),
        (f'"x"^^<{XSD}integer>', Constant(Kind.TYPED, "x", XSD + "integer")),
        (f'"a"^^<{XSD}string>', string("a")),
        ('"x"^^<a\xa0b>', Constant(Kind.TYPED, "x", "a\xa0b")),
        ('"2020"^^<http://e.org/year>', Constant(Kind.TYPED, "2020", "http://e.org/year")),
    ],
)
def test_terms(text: str, expected: object) -> None:
    assert terms(text) == [expected]
    assert terms(f"a, {text} , b") == [string("a"), expected, string("b")]


@pytest.mark.parametrize(
    ("text", "iri"),
    [
        ("ex:a", "http://e.org/a"),
        ("ex:", "http://e.org/"),
        ("ex:a.b", "http://e.org/a.b"),
        ("ex:a%20b", "http://e.org/a%20b"),
        (r"ex:a\,b", "http://e.org/a,b"),
        ("ex:a:b", "http://e.org/a:b"),
        (":a", "http://d.org/a"),
    ],
)
def test_prefixed_names(text: str, iri: str) -> None:
    before = "@prefix ex: <http://e.org/> . @prefix : <http://d.org/> ."
    assert terms(text, before) == [Constant(Kind.IRI, iri)]


def test_prefixed_datatype() -> None:
    assert terms('"01"^^xsd:integer', f"@prefix xsd: <{XSD}> .") == [integer("1")]


def test_a_prefix_holds_from_its_directive_on() -> None:
    program = parse_program("@prefix a: <http://1/> . p(a:x) . @prefix a: <http://2/> . p(a:x) .")
    assert [fact.terms[0].text for fact in program.facts] == ["http://1/x", "http://2/x"]  # type: ignore[union-attr]
    assert program.prefixes == (("a", "http://1/"), ("a", "http://2/"))


def test_base() -> None:
    program = parse_program("p(<x>) . @base <http://e.org/a/b> . <q>(<x>) . @prefix c: <c#> . p(c:d) .")
    assert program.base == "http://e.org/a/b"
    assert [fact.terms[0].text for fact in program.facts] == [  # type: ignore[union-attr]
        "x",
        "http://e.org/a/x",
        "http://e.org/a/c#d",
    ]
    assert program.facts[1].predicate.name == "<http://e.org/a/q>"


def test_predicates_named_by_iris() -> None:
    program = parse_program("@prefix ex: <http://e.org/> . ex:p(?x) :- <http://e.org/q(1)>(?x) .")
    (rule,) = program.rules
    assert rule.heads[0].predicate == Predicate("<http://e.org/p>", 1)
    assert rule.atoms[0].predicate == Predicate("<http://e.org/q(1)>", 1)


def test_comparisons() -> None:
    text = "p(?x):-q(?x,?y),?x<?y,?y>1,c = d, ?x<=2, ?x >= 3, <http://e.org/> != ?x, ?x < <http://e.org/>."
    (rule,) = parse_program(text).rules
    assert [c.operator for c in rule.comparisons] == ["<", ">", "=", "<=", ">=", "!=", "<"]
    assert rule.comparisons[2].left == string("c")


def test_comments() -> None:
    text = "% one\n%%% two\n// three\np(a // four\n , %! five\n b) . % six"
    assert parse_program(text).facts[0].terms == (string("a"), string("b"))


def test_directives() -> None:
    program = parse_program(
        """@prefix ex: <http://e.org/> .
        @import p :- csv{resource="f.csv", format=(string,int,), delimiter=";", header=true, limit=3} .
        @import ex:q:-rdf { resource = "f.nt" }.
        @export p :- tsv{} .
        @output p, ex:q . @output r .""",
    )
    assert program.imports == (
        Directive(
            "p",
            "csv",
            (
                ("resource", "f.csv"),
                ("format", ("string", "int")),
                ("delimiter", ";"),
                ("header", True),
                ("limit", 3),
            ),
        ),
        Directive("<http://e.org/q>", "rdf", (("resource", "f.nt"),)),
    )
    assert program.exports == (Directive("p", "tsv"),)
    assert program.outputs == ("p", "<http://e.org/q>", "r")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("int", "int"),
        ("(int)", ("int",)),
        ("()", ()),
        ("(a, (b, 1.5))", ("a", ("b", Constant(Kind.DECIMAL, "1.5")))),
    ],
)
def test_option_values(text: str, value: object) -> None:
    (directive,) = parse_program(f"@import p :- csv{{format={text}}} .", check=False).imports
    assert directive.options == (("format", value),)


def test_positions() -> None:
    text = "a(b) .\n  p(?x) :-\n\tq(?x %\n, c),  not r(?x), ?x = 1 .\n@output p ."
    program = parse_program(text, "rules.rls")
    (rule,) = program.rules
    assert program.facts[0].position == Position("rules.rls", 1, 1, 1, 5)
    assert rule.position == Position("rules.rls", 2, 3, 4, 27)
    assert rule.heads[0].position == Position("rules.rls", 2, 3, 2, 8)
    assert [literal.position for literal in rule.body] == [
        Position("rules.rls", 3, 2, 4, 5),
        Position("rules.rls", 4, 8, 4, 17),
        Position("rules.rls", 4, 19, 4, 25),
    ]
    assert rule.negations[0].position == Position("rules.rls", 4, 12, 4, 17)
    assert parse_program("@export p :- csv{} .", "d").exports[0].position == Position("d", 1, 1, 1, 21)


def test_text_is_kept_and_empty_programs_are_programs() -> None:
    assert parse_program("p(a) .").text == "p(a) ."
    assert parse_program(" % nothing\n") == Program()


def test_query() -> None:
    body = parse_query("path(b, ?y), ~edge(b, ?y), ?y != c")
    assert body == parse_query("path(b, ?y), ~edge(b, ?y), ?y != c .")
    assert [type(literal).__name__ for literal in body] == ["Atom", "Negation", "Comparison"]


def test_query_with_prefixes_and_base() -> None:
    (atom,) = parse_query("ex:p(<a>)", prefixes=[("ex", "http://e.org/")], base="http://b.org/")
    assert atom == Atom(Predicate("<http://e.org/p>", 1), (Constant(Kind.IRI, "http://b.org/a"),))


def test_query_is_checked() -> None:
    with pytest.raises(UnsafeRuleError, match=r"1:8: `\?y` is compared"):
        parse_query("p(?x), ?y < 1")
    assert parse_query("~p(?x)", check=False)


def test_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.rls"
    path.write_bytes("\ufeffp(é) .\r\nq(b) .\r\n".encode())
    program = parse_file(path)
    assert program.facts[1].position == Position(str(path), 2, 1, 2, 5)
    with pytest.raises(DataError, match=r"absent\.rls"):
        parse_file(tmp_path / "absent.rls")
    path.write_bytes(b"p(a) .\nq(\xff) .")
    with pytest.raises(ParseError, match=r"rules.rls:2:3: not UTF-8"):
        parse_file(path)


def test_the_work_of_parsing_grows_as_the_text() -> None:
    def work(rules: int) -> int:
        text = "\n".join(f"p{i}(?x, ?z) :- p{i - 1}(?x, ?y), e{i}(?y, ?z) ." for i in range(1, rules + 1))
        return lines_run(lambda: parse_program(text))

    parse_program("p(a) .")  # reads the grammar
    assert work(800) < 2.2 * work(400)


def test_lark_is_imported_by_the_first_parse_only() -> None:
    import subprocess

    code = "import sys, modulog.language.parser, modulog.language.safety; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


RDFS = "http://www.w3.org/2000/01/rdf-schema#"


def test_standard_prefixes_need_no_declaration() -> None:
    program = parse_program(
        'rdfs:label(?x, "a"^^xsd:token) :- skos:broader(?x, owl:Thing), rdf:type(?x, ?c) .'
    )
    assert {p.name for p in program.predicates()} >= {f"<{RDFS}label>"} and program.prefixes == ()
    assert parse_program(print_program(program)) == program
    assert parse_query("rdfs:label(?x, _)")[0].predicate.name == f"<{RDFS}label>"  # type: ignore[union-attr]


def test_a_declaration_takes_the_place_of_a_standard_prefix() -> None:
    program = parse_program("rdfs:p(a) . @prefix rdfs: <u:> . rdfs:p(a) .")
    assert [fact.predicate.name for fact in program.facts] == [f"<{RDFS}p>", "<u:p>"]
    assert parse_program(print_program(program)) == program
    query = parse_query("rdfs:p(?x)", prefixes=program.prefixes)
    assert query[0].predicate.name == "<u:p>"  # type: ignore[union-attr]
