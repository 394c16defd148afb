"""RDFox's syntax: the same programs as from the other one, and mistakes shown where they are."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modulog.errors import ProgramError
from modulog.language.model import (
    Atom,
    Call,
    Comparison,
    Expression,
    Literal,
    Negation,
    Predicate,
    Program,
    Rule,
    Variable,
)
from modulog.language.parser import parse_file, parse_program
from modulog.language.printer import print_predicate, print_program, print_term
from modulog.language.rdfox import parse_dlog
from modulog.language.term_parser import quote
from modulog.language.triples import TYPE
from modulog.terms.constant import RDF, Constant, Kind
from support.amounts import amount
from support.term_strategies import CONSTANTS

PREFIXES = [("", "http://d.org/"), ("p", "http://p.org/#"), ("rdf", RDF)]
DLOG = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in PREFIXES)
RLS = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES)

PAIRS = [
    # The closures of the modular paper.
    ("p:path[?X,?Z] :- p:path[?X,?Y], p:edge[?Y,?Z] .", "p:path(?X, ?Z) :- p:path(?X, ?Y), p:edge(?Y, ?Z) ."),
    ("[?X, p:r, ?Z] :- [?X, p:r, ?Y], [?Y, p:r, ?Z] .", "p:r(?X, ?Z) :- p:r(?X, ?Y), p:r(?Y, ?Z) ."),
    ("p:s[?Y, ?X] :- p:s[?X, ?Y].", "p:s(?Y, ?X) :- p:s(?X, ?Y) ."),
    # Ontologies as rules: classes, domains and ranges, several heads.
    ("p:D[?X] :- p:C[?X] .", "p:D(?X) :- p:C(?X) ."),
    ("rdf:type[?X, p:D] :- rdf:type[?X, p:C] .", "p:D(?X) :- p:C(?X) ."),
    ("[?X, rdf:type, p:D] :- [?X, a, p:C] .", "p:D(?X) :- p:C(?X) ."),
    (f"[?X, <{RDF}type>, <http://p.org/#D>] :- p:C[?X] .", "p:D(?X) :- p:C(?X) ."),
    ("[?X,a,p:C], [?Y,a,p:D] :- [?X,p:q,?Y] .", "p:C(?X), p:D(?Y) :- p:q(?X, ?Y) ."),
    ("p:C[?X] :- [?X, p:q, ?Y], [?Y, a, _:b] .", "p:C(?X) :- p:q(?X, ?Y), rdf:type(?Y, _:b) ."),
    # A variable for the class or the property.
    ("p:t[?X, ?C] :- rdf:type[?X, ?C] .", "p:t(?X, ?C) :- rdf:type(?X, ?C) ."),
    ("p:t[?X, ?C] :- [?X, a, ?C] .", "p:t(?X, ?C) :- rdf:type(?X, ?C) ."),
    ("[?X, ?Q, ?Y] :- [?X, ?P, ?Y], p:sub[?P, ?Q] .", "triple(?X, ?Q, ?Y) :- triple(?X, ?P, ?Y), p:sub(?P, ?Q) ."),
    # Predicates of any arity, by their plain names.
    ("far(?x, 1, 'b') :- near(?x), ok() .", "far(?x, 1, b) :- near(?x), ok() ."),
    # Negation, also without interest in a value.
    ("p:B[?X] :- p:A[?X], NOT p:q[?X, ?X], not p:r[?X, _] .", "p:B(?X) :- p:A(?X), ~p:q(?X, ?X), ~p:r(?X, _) ."),
    # Facts and literals as in Turtle.
    ("p:q[:a, 1], [:b, a, p:C] . :n[1.50, 'x'] .", "p:q(:a, 1) . p:C(:b) . :n(1.5, x) ."),
    ('[:a, p:q, "chat"@fr] . [:a, p:q, "1"^^p:t] .', 'p:q(:a, "chat"@fr) . p:q(:a, "1"^^p:t) .'),
    (":n[true, -2.0E3] . :n[_:b, '''two\nlines'''] .", ':n(true, -2.0E3) . :n(_:b, "two\\nlines") .'),
    # Layout and comments.
    ("# one\np:B[ ?X ]:-p:A[ # two\n?X ].# three", "p:B(?X) :- p:A(?X) ."),
    ("[ # one\n?X, # two\na # three\n, p:C ] :- p:q[?X,?Y].", "p:C(?X) :- p:q(?X, ?Y) ."),
    # Conditions and values.
    ("p:B[?X] :- p:q[?X, ?y], FILTER(?y >= 2) .", "p:B(?X) :- p:q(?X, ?y), ?y >= 2 ."),
    ("p:q[?X,?c] :- p:r[?X,?a,?b], BIND(?a * ?b + 1 AS ?c) .", "p:q(?X, ?c) :- p:r(?X, ?a, ?b), ?c = ?a * ?b + 1 ."),
    ("p:q[?X,?c] :- p:q[?X,?a], filter(-?a-1 < (2+3)/4), bind(?a as ?c).", "p:q(?X, ?c) :- p:q(?X, ?a), -?a - 1 < (2 + 3) / 4, ?c = ?a ."),
    ('[?x, p:has, ?e] :- p:C[?x], BIND(SKOLEM("f", ?x) AS ?e) .', "p:has(?x, ?e) :- p:C(?x), ?e = SKOLEM(f, ?x) ."),
    ("p:B[?x] :- p:q[?x, ?y], FILTER(?y > 1 && ?y < 9) .", "p:B(?x) :- p:q(?x, ?y), ?y > 1, ?y < 9 ."),
    ("p:B[?x] :- p:q[?x, ?y], FILTER(!(?y > 1 && ?y != 9)) .", "p:B(?x) :- p:q(?x, ?y), ?y <= 1 . p:B(?x) :- p:q(?x, ?y), ?y = 9 ."),
    ("p:B[?x] :- p:q[?x, ?y], FILTER((?y < 1 || (?y) > 5) && ?x != :a) .", "p:B(?x) :- p:q(?x, ?y), ?y < 1, ?x != :a . p:B(?x) :- p:q(?x, ?y), ?y > 5, ?x != :a ."),
]  # fmt: skip


@pytest.mark.parametrize(("dlog", "rls"), PAIRS)
def test_same_program(dlog: str, rls: str) -> None:
    assert parse_dlog(DLOG + dlog) == parse_program(RLS + rls)


def test_prefixes_and_base() -> None:
    text = "@base <http://b.org/> .\nprefix e: <x/>\nBASE <http://c.org/>\n@prefix f: <y/> .\ne:p[f:a, <z>] ."
    assert parse_dlog(text) == parse_program(
        "@base <http://b.org/> . @prefix e: <x/> . @base <http://c.org/> . @prefix f: <y/> . e:p(f:a, <z>) ."
    )


def test_files_are_told_by_their_names(tmp_path: Path) -> None:
    for name, text in (("r.dlog", DLOG + PAIRS[0][0]), ("r.rls", RLS + PAIRS[0][1])):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert parse_file(tmp_path / "r.dlog") == parse_file(tmp_path / "r.rls")


# ---- Random programs, printed in both syntaxes

NAMES = st.one_of(
    st.sampled_from(["p", "edge", "Größe", "a-b"]),
    st.sampled_from(["q", "C", "1"]).map("<http://d.org/{}>".format),
)
TERMS = st.one_of(st.sampled_from(["x", "y", "z", "_"]).map(Variable), CONSTANTS)


def _atom(name: str, terms: list[Any]) -> Atom:
    return Atom(Predicate(name, len(terms)), tuple(terms))


ATOMS = st.one_of(
    st.builds(_atom, NAMES, st.lists(TERMS, max_size=4)),
    st.builds(_atom, st.just("triple"), st.tuples(TERMS, st.sampled_from([Variable("x"), Variable("_")]), TERMS).map(list)),
    st.builds(lambda t: Atom(TYPE, (t, Variable("c"))), TERMS),
)  # fmt: skip
EXPRESSIONS: st.SearchStrategy[Expression] = st.recursive(
    TERMS.filter(lambda t: t != Variable("_")),
    lambda inner: st.one_of(
        st.builds(lambda f, a, b: Call(f, (a, b)), st.sampled_from(["+", "-", "*", "/"]), inner, inner),
        st.builds(lambda a: Call("SKOLEM", tuple(a)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda a: Call("-", (a,)), inner),
    ),
    max_leaves=4,
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
PROGRAMS = st.builds(
    Program,
    st.lists(RULES, max_size=3).map(tuple),
    st.lists(ATOMS, max_size=3).map(tuple),
    prefixes=st.just(tuple(PREFIXES)),
)


class InDlog:
    """Prints programs in RDFox's syntax, in one of the ways there are, drawn as one goes."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data

    def pick(self, *ways: str) -> str:
        return self.data.draw(st.sampled_from(ways))

    def term(self, term: Any) -> str:
        if isinstance(term, Constant) and term.kind == Kind.STRING:
            return quote(term.text)
        return print_term(term, PREFIXES)

    def atom(self, atom: Atom) -> str:
        space = self.pick("", " ", " # comment\n")
        name, terms = (
            print_predicate(atom.predicate.name, PREFIXES),
            [self.term(t) + space for t in atom.terms],
        )
        inside = f",{space}".join(terms)
        ways = [f"{name}({inside})"]
        if atom.predicate.name == "triple":
            ways.append(f"[{inside}]")
        elif atom.predicate.name.startswith("<"):
            ways.append(f"{name}[{space}{inside}]")
            if len(terms) == 2:
                verb = self.pick("a", name) if atom.predicate == TYPE else name
                ways.append(f"[{space}{terms[0]},{verb}{space},{terms[1]}]")
            if len(terms) == 1:
                ways += [f"rdf:type[{inside},{name}]", f"[{inside}, a, {name}]"]
        return self.pick(*ways)

    def expression(self, expression: Expression) -> str:
        if not isinstance(expression, Call):
            return self.term(expression)
        parts = [self.expression(a) for a in expression.arguments]
        if expression.function.isalpha():
            return f"{expression.function}({', '.join(parts)})"
        return (
            f"({expression.function} {parts[0]})"
            if len(parts) == 1
            else f"({f' {expression.function} '.join(parts)})"
        )

    def literal(self, literal: Literal) -> str:
        if isinstance(literal, Negation):
            return self.pick("NOT ", "not ") + self.atom(literal.atom)
        if isinstance(literal, Atom):
            return self.atom(literal)
        left, right = self.expression(literal.left), self.expression(literal.right)
        ways = [f"FILTER({left} {literal.operator} {right})"]
        if literal.operator == "=" and isinstance(literal.left, Variable):
            ways.append(f"BIND({right} AS {left})")
        return self.pick(*ways)

    def program(self, program: Program) -> str:
        lines = [DLOG, *(f"{self.atom(fact)} ." for fact in program.facts)]
        for rule in program.rules:
            heads = ", ".join(map(self.atom, rule.heads))
            lines.append(f"{heads} :- {', '.join(map(self.literal, rule.body))} .")
        return "\n".join(lines)


@settings(max_examples=amount(50, 300), deadline=None)
@given(PROGRAMS, st.data())
def test_both_syntaxes_give_the_same_program(program: Program, data: st.DataObject) -> None:
    assert parse_program(print_program(program), check=False) == program
    assert parse_dlog(InDlog(data).program(program), check=False) == program


# ---- Mistakes

WORDS = (
    "p:A [ ] ( ) ?x , . :- NOT FILTER BIND AS a 1 'x' && || ! < + - _ foo PREFIX : <u:v> exists #c\n".split(
        " "
    )
)

MISTAKES = [
    # What RDFox has and this reader has not.
    ("p:A[?x] :- p:B[?x], AGGREGATE(p:q[?x,?y] ON ?x BIND COUNT(?y) AS ?c) .", 1, 21, "`AGGREGATE (…)` is not supported", "beforehand"),
    ("p:A[?x] :- p:B[?x], NOT EXISTS ?y IN ([?x, p:q, ?y]) .", 1, 21, "`NOT EXISTS` is not supported", "NOT p:q[?x, _]"),
    ("p:A[?x] :- p:B[?x],\n  filter not exists { ?x ?y ?z } .", 2, 3, "`FILTER NOT EXISTS` is not supported", "negate one atom"),
    ("p:A[?x] :- p:B[?x], EXISTS ?y IN ([?x, p:q, ?y]) .", 1, 21, "`EXISTS` is not supported", "negate one atom"),
    ("p:A[?x] :- p:B[?x], NOT (p:C[?x], p:D[?x]) .", 1, 21, "`NOT (…)` is not supported", "without parentheses"),
    ("p:A[?x] :- p:B[?x], not exists .", 1, 21, "`NOT EXISTS` is not supported", "negate one atom"),
    ("p:A[?x] :- p:B[?x], OPTIONAL(p:C[?x]) .", 1, 21, "`OPTIONAL (…)` is not supported", "one rule with the atom"),
    ("p:A[?x] :- [?x, p:q, ?y] :G .", 1, 26, "an atom in a named graph is not supported", "`quad(?s, ?p, ?o, "),
    ("p:A[?x] :- p:q[?x, ?y] ?g, p:B[?x] .", 1, 24, "an atom in a named graph is not supported", "`quad(?s, ?p, ?o, "),
    (":a p:q :b .", 1, 1, "a triple stands in brackets", "write `[s, p, o]`"),
    ("p:A[?x] :- p:B[?x], BIND(REGEX(?x) AS ?y) .", 1, 26, "there is no function `REGEX`", "SKOLEM"),
    # What only the other syntax has.
    ("p:A[?x] :- ~p:B[?x] .", 1, 12, "`~` does not negate here", "write `NOT"),
    ("p:A[?x] :- p:B[?x], ?x != 3 .", 1, 21, "a condition stands inside FILTER", "write `FILTER"),
    ("p:A[?x] :- ?x = 3 .", 1, 12, "a condition stands inside FILTER", "BIND"),
    ("% words", 1, 1, "`%` does not start a comment here", "`#`"),
    ("p:A[:a] . // words", 1, 11, "`//` does not start a comment here", "`#`"),
    ("p:A[bob] .", 1, 5, "`bob` is no term", 'quote a string: "bob"'),
    ("[:a, knows, :b] .", 1, 6, "`knows` is no term", "`p:knows`"),
    ("[a, p:q, :b] .", 1, 2, "`a` is no term", "`p:a`"),
    ("@import p:A :- csv{} .", 1, 1, "`@import` is not a directive of this syntax", "PREFIX and BASE"),
    # What both have.
    ("p:A[?x] :- p:B[?x]\np:C[?x] :- p:D[?x] .", 1, 19, "a full stop is missing", "end each rule"),
    ("p:A[:a]\nPREFIX q: <http://q.org/>", 1, 8, "a full stop is missing", "end each rule"),
    ("p:A[?x] :- p:B[?x]", 1, 19, "a full stop is missing", "end each rule"),
    ("p:A[?x] :- p:B[?x] p:C[?x] .", 1, 19, "a comma is missing", "separate the literals"),
    ("p:A[?x] :- p:B[?x] FILTER(?x > 1) .", 1, 19, "a comma is missing", "separate the literals"),
    ("p:q[?x ?y] :- p:q[?y, ?x] .", 1, 7, "a comma is missing between two terms", "separate terms"),
    ("p:A[?x :- p:B[?x] .", 1, 4, "this bracket is never closed", "add `]`"),
    ("p:A[?x] :- [?x, a, p:B .", 1, 12, "this bracket is never closed", "add `]`"),
    ("p:A[?x] :- p:B[?x], FILTER(?x > 1 .", 1, 27, "this parenthesis is never closed", "add `)`"),
    ('p:A["x] .', 1, 5, "this string is never closed", 'close it with "'),
    ("q:A[:a] .", 1, 1, "unknown prefix `q:`", "declare it"),
    ("p:A[:a], [:b,\n  q:b, :c] .", 2, 3, "unknown prefix `q:`", "known prefixes"),
    ("[:b, # here\n  p:q, q:c] .", 2, 8, "unknown prefix `q:`", "known prefixes"),
    ("p:A[? x] .", 1, 5, "a variable without a name", "directly behind the `?`"),
    ("p:A[?x] <- p:B[?x] .", 1, 9, "`<-` is not the arrow of a rule", "write `:-`"),
    ("NOT p:A[?x] :- p:B[?x] .", 1, 1, "a head cannot be negated", "in the body"),
    ("p:A[?x] :- p:B[?x], p:C .", 1, 21, "`p:C` alone is not an atom", "`p:C[?x]`"),
    ("p:A[?x] :- p:B[?x], FILTER(?x == 3) .", 1, 31, "`==` is not an operator", "write `=`"),
    ("p:A[<a b>] .", 1, 5, "this IRI cannot be read", "close it with `>`"),
    ("[:a, 1, :b] .", 1, 6, "`1` cannot be the predicate of a triple", "`a` for rdf:type"),
    ("[:a, _:b, :b] .", 1, 6, "`_:b` cannot be the predicate of a triple", "`a` for rdf:type"),
    ("[:a, p:q] .", 1, 9, "`]` cannot stand here", "expected `,`"),
    ("p:A[?x] :- .", 1, 12, "`.` cannot stand here", "expected an atom such as p:q[?x, ?y], NOT, FILTER or BIND"),
    (", p:A[:a] .", 1, 1, "`,` cannot stand here", "expected a fact, a rule or a directive"),
    ("PREFIX q <http://q.org/>", 1, 8, "this does not name a prefix", "with the colon"),
    ("p:A[?x] :- p:B[?x], BIND(?x + 1 AS :a) .", 1, 36, "`:a` cannot stand here", "expected a term"),
    # Checks after reading.
    ("p:q[?x, ?y] :- p:B[?x] .", 1, 9, "`?y` of the head is bound by no positive atom", "in a positive atom"),
    ("p:A[?x] :- p:B[?x], NOT p:q[?x, ?y] .", 1, 33, "`?y` of a negated atom is bound by no", "`_`"),
    ("p:A[?x] :- p:B[?x], FILTER(?y > 1) .", 1, 28, "`?y` is compared, but nothing gives it a value", "in a positive atom"),
    ("p:A[?x] :- p:B[?x] . p:B(1, 2, 3) .", 1, 22, "`p:B` has 3 arguments here, but 1", "one number of arguments"),
    ("p:A[?x] :- p:B[?x], NOT rdf:type[?x, p:A] .", 1, 21, "depends on its own negation: p:A -> ~p:A (", "negate only predicates"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "message", "hint"), MISTAKES)
def test_mistakes(text: str, line: int, column: int, message: str, hint: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse_dlog(DLOG + text, "r.dlog")
    error = caught.value
    assert error.position is not None
    assert (error.position.line - len(PREFIXES), error.position.column) == (line, column), str(error)
    assert message in error.message
    assert hint in (error.hint or "")
    assert "^" in str(error)


@settings(max_examples=amount(50, 300), deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_anything_is_read_or_explained(words: list[str]) -> None:
    with suppress(ProgramError):  # anything else would be a mistake of ours
        parse_dlog(DLOG + " ".join(words))
