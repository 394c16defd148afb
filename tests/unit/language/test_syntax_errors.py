"""Every syntax error: where it is shown, what it says and what it advises."""

from __future__ import annotations

import pytest

from modulog.errors import ParseError
from modulog.language.parser import parse_program, parse_query
from modulog.language.rdfox import parse_dlog

NO_HEAD = "constraints, which are rules without a head, are not supported"
EX = "@prefix ext: <http://e.org/> .\n"

CASES = [
    ("p(a)\nq(b) .", 1, 5, "a full stop is missing", "end each rule"),
    ("p(?x) :- q(?x)", 1, 15, "a full stop is missing", "end each rule"),
    ("p(?x) :- q(?x)\nr(?x) :- s(?x) .", 1, 15, "a full stop is missing", "end each rule"),
    ("@output p\np(a) .", 1, 10, "a full stop is missing", "end each rule"),
    ("p(a)\n@output p .", 1, 5, "a full stop is missing", "end each rule"),
    ("p(?x) :- q(?x) r(?x) .", 1, 15, "a comma is missing", "separate the literals"),
    ("p(?x) :- q(?x)\n    r(?x) .", 1, 15, "a comma is missing", "separate the literals"),
    ("p(?x) q(?x) .", 1, 6, "`:-` or a comma is missing", "`:-` before the body"),
    ("p(a b) .", 1, 4, "a comma is missing between two terms", "separate terms"),
    ('p("abc, ?x) .\nq("x") .', 1, 3, "this string is never closed", 'close it with "'),
    ('p(a, """abc) .', 1, 6, "this string is never closed", 'end it with """'),
    ("p(?x, ?y :- q(?x, ?y) .", 1, 2, "this parenthesis is never closed", "add `)`"),
    ("p(?x, ?y\nq(?x) .", 1, 2, "this parenthesis is never closed", "add `)`"),
    ("p(a) :- q(a", 1, 10, "this parenthesis is never closed", "add `)`"),
    ('@import p :- csv{resource="x" .', 1, 17, "this brace is never closed", "add `}`"),
    ("p(ex:a) .", 1, 3, "unknown prefix `ex:`", "declare it: `@prefix ex:"),
    ("p(a,\n  foaf:b) .", 2, 3, "unknown prefix `foaf:`", "<http://xmlns.com/foaf/0.1/>"),
    (EX + "p(ex:a) .", 2, 3, "unknown prefix `ex:`", "did you mean `ext:`?"),
    (
        EX + "p(other:a) .",
        2,
        3,
        "unknown prefix `other:`",
        "(known prefixes: `ext:`, `rdf:`, `rdfs:`, `owl:`, `xsd:`, `skos:`)",
    ),
    ("ex:p(a) .", 1, 1, "unknown prefix `ex:`", "declare it"),
    ("p(%\na, ex:b) .", 2, 4, "unknown prefix `ex:`", "declare it"),
    ('p("a"^^ex:b) .', 1, 3, "unknown prefix `ex:`", "declare it"),
    ("p(?x) <- q(?x) .", 1, 7, "`<-` is not the arrow of a rule", "write `:-`"),
    ("p(?x) :– q(?x) .", 1, 7, "`:–` is not the arrow of a rule", "write `:-`"),
    ("p(?x) : - q(?x) .", 1, 7, "`: -` is not the arrow of a rule", "write `:-`"),
    ("p(?x) := q(?x) .", 1, 7, "`:=` is not the arrow of a rule", "write `:-`"),
    ("p(?x) ← q(?x) .", 1, 7, "`←` is not the arrow of a rule", "write `:-`"),
    ("p(?x) :- q(?x), !r(?x) .", 1, 17, "`!` does not negate", "write `~p(…)`"),
    ("p(?x) :- q(?x), NOT r(?x) .", 1, 17, "`NOT` does not negate", "in small letters"),
    ("~p(a) :- q(a) .", 1, 1, "a head cannot be negated", "negate in the body"),
    ("not p(a) .", 1, 1, "a head cannot be negated", "negate in the body"),
    ("p(?x) :- q(? x) .", 1, 12, "a variable without a name", "directly behind the `?`"),
    ("p(?_) .", 1, 3, "`?_` is not a variable", "write `_`"),
    ("_(a) .", 1, 1, "`_` cannot name a predicate", "a predicate is a name"),
    ("p(?x) :- q .", 1, 10, "`q` alone is not an atom", "write `q()`"),
    ("p .", 1, 1, "`p` alone is not an atom", "write `p()`"),
    ("p(?x) :- http://e/q(?x) .\nr(a) .", 1, 10, "an IRI stands in angle brackets", "write `<http://e/q>`"),
    ("@prefix e: http://e/ .", 1, 12, "an IRI stands in angle brackets", "write `<http://e/>`"),
    ("p :- q(a) .", 1, 1, "`p` alone is not an atom", "write `p()`"),
    ("p[a] .", 1, 2, "`[` does not open the arguments", "write `p(…)`"),
    ("p(?x) :- q(?x), ?x == 2 .", 1, 20, "`==` is not an operator", "write `=`"),
    ("p(?x) :- q(?x), ?x <> 2 .", 1, 20, "`<>` is not an operator", "write `!=`"),
    ("p(?x) :- q(?x), ?x ≠ 2 .", 1, 20, "`≠` has no meaning here", "write `!=`"),
    ("p(?x) :- q(?x) & r(?x) .", 1, 16, "`&` has no meaning here", "write `,`"),
    ("p(a) ;", 1, 6, "`;` has no meaning here", "write `.`"),
    ("# comment\np(a) .", 1, 1, "`#` does not start a comment", "`%` or `//`"),
    ("p(0b11) .", 1, 3, "`0b11` is neither a number nor a name", "quote a string"),
    ("p(a.b) .", 1, 4, "a name has no full stops", "quote it"),
    ("p(<a b>) .", 1, 3, "this IRI cannot be read", "close it with `>`"),
    (r'p("\q") .', 1, 3, r"unknown escape `\q`", "escapes are"),
    ("p(a,) .", 1, 5, "`)` cannot stand here", "expected a term"),
    ("p(a)) .", 1, 5, "`)` cannot stand here", "expected `:-`, `,` or `.`"),
    ("p(?x) :- .", 1, 10, "`.` cannot stand here", "expected an atom"),
    ("p(?x) :- q(?x), ?x 3 .", 1, 20, "`3` cannot stand here", "expected one of = != < <= > >="),
    (", p(a) .", 1, 1, "`,` cannot stand here", "expected a fact, a rule or a directive"),
    ("@foo p .", 1, 1, "`@foo` is not a directive", "directives are @prefix"),
    ("@declare p(any) .", 1, 1, "`@declare` is not supported", "directives are @prefix"),
    ("@parameter $x = 1 .", 1, 1, "`@parameter` is not supported", "directives are @prefix"),
    ("@prefix ex <http://e.org/> .", 1, 9, "this does not name a prefix", "with the colon"),
    ("@prefix ex:a <http://e.org/> .", 1, 9, "this does not name a prefix", "with the colon"),
    ("@base http://e.org .", 1, 7, "an IRI stands in angle brackets", "write `<http://e.org>`"),
    ("@import p csv{} .", 1, 11, "`csv` cannot stand here", "expected `:-`"),
    ("@import p :- json{} .", 1, 14, "unknown format `json`", "formats are csv"),
    ("@import p :- csv{a=1, a=2} .", 1, 23, "the option `a` is given twice", None),
    ("@import p :- csv{a=?x} .", 1, 20, "an option takes a constant, not a variable", None),
    ('@import p :- csv{resource=f"x"} .', 1, 27, 'format strings such as f"…" are not supported', None),
    ("p(?x +) :- q(?x) .", 1, 7, "`)` cannot stand here", "expected a term"),
    ("p(?x) :- q(?x), ?y = ?x * .", 1, 27, "`.` cannot stand here", "expected a term"),
    ("p(?y) :- q(?x), ?y = (?x + 1 .", 1, 22, "this parenthesis is never closed", "add `)`"),
    ("p(f(?x)) :- q(?x) .", 1, 3, "there is no function `f`", "functions are ABS"),
    ("p(?x) :- q(?x), f(?x) = 2 .", 1, 17, "there is no function `f`", "functions are ABS"),
    ("p(?x) :- q(?x), 2 = STRLEM(?x) .", 1, 21, "there is no function `STRLEM`", "did you mean STRLEN?"),
    ("p(?x) :- q(?x), ABS(?x, 1) = 2 .", 1, 17, "`ABS` takes 1 argument, not 2", None),
    ("p(?x) :- q(?x), SKOLEM() = 2 .", 1, 17, "`SKOLEM` takes 1 or more arguments, not 0", None),
    ("p(?x) :- q(?x + 1) .", 1, 10, "an atom of a body has no expressions", "give the value a name"),
    ("p(?x) :- ~q(?x + 1), r(?x) .", 1, 11, "an atom of a body has no expressions", "give the value a name"),
    ("p(?x) :- q(?x), BIND(1 AS a) .", 1, 27, "`a` cannot stand here", "expected a term"),
    ("p(?x) :- q(?x), BIND(1 AS 2) .", 1, 27, "BIND gives a variable its value", "write `BIND("),
    ("p(?x) :- q(?x), FILTER(?x) .", 1, 26, "`)` cannot stand here", "expected one of = != < <= > >="),
    ("FILTER(?x) :- q(?x) .", 1, 1, "`FILTER` cannot name a predicate", "a meaning of its own"),
    ("p(#sum(?x)) :- q(?x) .", 1, 3, "aggregates such as `#sum(…)` are not supported yet", "beforehand"),
    ("p(COUNT(?x)) :- q(?x) .", 1, 3, "aggregates such as `COUNT(…)` are not supported yet", "beforehand"),
    ("p(?n) :- q(?x), ?n = max(?x) .", 1, 22, "aggregates such as `max(…)` are not supported yet", "before"),
    (
        "p(?n) :- q(?x), BIND(AVG(?x) AS ?n) .",
        1,
        22,
        "aggregates such as `AVG(…)` are not supported yet",
        "before",
    ),
    ("p(?x) :- q(?s), ?x = SUBSTR(?s, 1) .", 1, 22, "there is no function `SUBSTR`", "functions are ABS"),
    ("p(?s) :- q(?s), FILTER(?s % 2 = 0) .", 1, 27, "there is no modulo", "`?x - 2 * INT(?x / 2)`"),
    ("p(?x) :- q(?s), ?x = ?s % 2, r(?x) .", 1, 25, "there is no modulo", "`%` begins a comment"),
    ("p(?x) :- q(?s), ?x = (?s + 1) % 2 .", 1, 31, "there is no modulo", "`%` begins a comment"),
    ("p(?x) :- q(?s), ?x = ?s + 1 % 2 .", 1, 29, "there is no modulo", "`%` begins a comment"),
    ("p(?s % 2) :- q(?s) .", 1, 6, "there is no modulo", "`%` begins a comment"),
    ("p(?x) :- q(?s), ?x = ?s % 2 apples\n r(?x) .", 1, 24, "a comma is missing", "separate the literals"),
    ("select (?x) :- q(?x), .", 1, 23, "`.` cannot stand here", "expected an atom"),
    ("! :- p(?x), q(?x) .", 1, 1, NO_HEAD, "`wrong(?x) :-"),
    (":- p(?x), q(?x) .", 1, 1, NO_HEAD, "`wrong(?x) :-"),
    ("false :- p(?x) .", 1, 7, NO_HEAD, "`wrong(?x) :-"),
    ("p(?x) :- ?x a <u:C> .", 1, 13, "a triple is written as an atom", "write `<u:C>(?x)`"),
    (EX + "p(?x) :- ?x ext:q ?y .", 2, 13, "a triple is written as an atom", "write `ext:q(?x, ?y)`"),
    ("p(!v) :- q(?x) .", 1, 3, "existential variables such as `!v` are not supported yet", None),
    ("p($a) .", 1, 3, "parameters such as `$name` are not supported", None),
]


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "hint"), CASES, ids=[case[0] for case in CASES]
)
def test_program(text: str, line: int, column: int, message: str, hint: str | None) -> None:
    for before in ("", "a(b) .\nc(?x) :- a(?x) .\n"):
        with pytest.raises(ParseError) as caught:
            parse_program(before + text, "rules.rls", check=False)
        error = caught.value
        shift = before.count("\n")
        assert error.position is not None
        assert (error.position.line, error.position.column) == (line + shift, column)
        assert error.message == message
        assert (error.hint or "") == "" if hint is None else hint in (error.hint or "")
        assert str(error).startswith(f"rules.rls:{line + shift}:{column}: {message}\n")
        assert "^" in str(error)


@pytest.mark.parametrize(
    ("text", "column", "message", "hint"),
    [
        ("", 1, "an empty query", "expected an atom"),
        ("p(a", 2, "this parenthesis is never closed", "add `)`"),
        ("p", 1, "`p` alone is not an atom", "with a variable for each argument"),
        ("?- p(?x)", 1, "a query has no `?-`", "write the atoms alone"),
        ("http://e/p(?x)", 1, "an IRI stands in angle brackets", "write `<http://e/p>`"),
        ("p(?x, https://e/a)", 7, "an IRI stands in angle brackets", "write `<https://e/a>`"),
        ("p(a),", 6, "the text ends too early", "expected an atom"),
        ("p(a) q(b)", 5, "a comma is missing", "separate the literals"),
        ("p(a) :- q(a)", 6, "`:-` cannot stand here", "without head and `:-`"),
        ("p(a) . q(b)", 8, "`q(b)` cannot stand here", "expected nothing more"),
        ("@prefix e: <u:> . e:p(?x)", 1, "`@prefix` cannot stand here", "prefixes of the program"),
        ("p(?x), ?x % 2 = 1", 11, "there is no modulo", "`%` begins a comment"),
        ("p(?x), ?z = ?x % 2", 16, "there is no modulo", "`%` begins a comment"),
        ("p(?x), ?z = ?x + 1 %?x .", 20, "there is no modulo", "`%` begins a comment"),
    ],
)
def test_query(text: str, column: int, message: str, hint: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_query(text)
    assert caught.value.position is not None
    assert (caught.value.position.column, caught.value.message) == (column, message)
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize("text", ["SELECT ?x WHERE { ?x a <u:C> }", "\n ASK { ?x a <u:C> }", "select * {}"])
def test_sparql_in_place_of_a_program(text: str) -> None:
    with pytest.raises(ParseError, match="a program is not SPARQL"):
        parse_program(text)


@pytest.mark.parametrize(
    "text", ["p(?x), ?x > 3 % 2 is too small", "p(?x), ?x = 3 .\n% 2", "p(?x) % 2", 'p(?x, "% 2")']
)
def test_comments_in_queries(text: str) -> None:
    assert parse_query(text)


@pytest.mark.parametrize(
    ("text", "line", "column", "hint"),
    [
        ("SELECT ?x WHERE { ?x a ub:Chair }", 1, 1, "`ub:Chair(?x), ub:worksFor(?x, ?y)`"),
        ("# all\nselect (COUNT(?x) AS ?n) {}", 2, 1, "write the atoms alone"),
        ("PREFIX ub: <u:> SELECT * WHERE {}", 1, 1, "write the atoms alone"),
        ("ASK { ?x a ub:Chair }", 1, 1, "write the atoms alone"),
        ("?x a ub:Chair", 1, 4, "write `ub:Chair(?x)`"),
        ("?x a ub:Chair . ?x ub:worksFor ?y", 1, 4, "write `ub:Chair(?x)`"),
        ("?x <u:p> ?y", 1, 4, "write `<u:p>(?x, ?y)`"),
        ("p(?x), ?x ?p ?y", 1, 11, "write `triple(?x, ?p, ?y)`"),
        ("ub:a a ?c", 1, 6, "write `rdf:type(ub:a, ?c)`"),
    ],
)
def test_sparql(text: str, line: int, column: int, hint: str) -> None:
    with pytest.raises(
        ParseError, match=r"is a conjunction of atoms, not SPARQL|is written as an atom"
    ) as caught:
        parse_query(text)
    assert caught.value.position is not None
    assert (caught.value.position.line, caught.value.position.column) == (line, column)
    assert hint in (caught.value.hint or "")


def test_predicates_may_be_called_as_words_of_sparql() -> None:
    assert len(parse_query("select(?x), ask(?x, ?y)")) == 2


@pytest.mark.parametrize("name", ["rules.rls", "dir/rules.dlog", "/a b/rules.rls", "./x.txt"])
def test_the_name_of_a_file(name: str) -> None:
    for parse in (parse_program, parse_dlog):
        with pytest.raises(ParseError, match="this is the name of a file, not a program") as caught:
            parse(name)
        assert caught.value.hint == f'for a file write `Path("{name}")`'


def test_the_remainder_is_what_the_hint_says() -> None:
    from modulog import Reasoner

    r = Reasoner("even(?x) :- n(?x), ?x - 2 * INT(?x / 2) = 0 .")
    r.add("n", [(n,) for n in range(10)])
    assert sorted(r.rows("even")) == [(0,), (2,), (4,), (6,), (8,)]


def test_the_parser_works_after_an_error() -> None:
    with pytest.raises(ParseError):
        parse_program("p(a) . @prefix a: <http://1/> . q(")
    program = parse_program("q(b) .")
    assert (len(program.facts), program.prefixes) == (1, ())
