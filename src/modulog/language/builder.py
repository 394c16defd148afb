"""The part of the tree builder that reads statements and makes a `Program`; both syntaxes share it.

Lark calls a method of the builder as soon as it has recognised a rule of the grammar, so no syntax tree is
kept. Statements arrive in the order of the text; a prefix therefore applies from its directive onwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from modulog.errors import ParseError, Position
from modulog.formats.format import DIRECTIVES
from modulog.language.expression_builder import Expressions
from modulog.language.model import (
    Atom,
    Call,
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
from modulog.language.term_parser import BadTerm, ParsedPredicates, ParsedTerms, Scope
from modulog.language.triples import specialise_atom, specialise_rule
from modulog.terms.constant import Constant, Kind

if TYPE_CHECKING:
    from lark import Token


class Builder(Expressions):
    """Lark's transformer for programs and queries: each grammar rule has a public method of its name.

    A method takes the children that Lark has collected (tokens and results of other methods) and returns what
    the rule stands for; statements return nothing and add to the lists that `program` reads at the end.
    """

    match_predicate: (
        Any  # matches the predicate at the start of an atom that is one token; set by `LarkParser`
    )
    match_terms: re.Pattern[str]  # finds the arguments of such an atom

    def begin(
        self, text: str, source: str, prefixes: Iterable[tuple[str, str]], base: str, query: bool = False
    ) -> None:
        """Start with a new text, for which `prefixes` and `base` are declared already."""
        self.text, self.source = text, source
        self.scope = Scope(list(prefixes), base, query)
        self.terms = ParsedTerms(self.scope)
        self.predicates = ParsedPredicates(self.scope)
        self.all_rules: list[Rule] = []
        self.all_facts: list[Atom] = []
        self.atoms_with_calls = []
        self.imports: list[Directive] = []
        self.exports: list[Directive] = []
        self.outputs: list[str] = []

    def program(self, _: list[Any]) -> Program:
        return Program(
            tuple(map(specialise_rule, self.all_rules)),
            tuple(map(specialise_atom, self.all_facts)),
            tuple(self.imports),
            tuple(self.exports),
            tuple(self.outputs),
            tuple(self.scope.prefixes),
            self.scope.base,
            self.text,
        )

    def query(self, children: list[Any]) -> tuple[Literal, ...]:
        rules = self._rules([], children[0], None)
        if len(rules) > 1:
            hint = "ask one query for each case, or write a rule for each"
            raise self._error("a query has no `||`", self._position_between(0, len(self.text.rstrip())), hint)
        return rules[0].body

    def facts(self, children: list[Any]) -> None:
        if self.atoms_with_calls:
            self.all_rules += self._rules(
                children[0], [], self._position_from(children[0][0].position, children[1])
            )
        else:
            self.all_facts.extend(children[0])

    def rule(self, children: list[Any]) -> None:
        heads, _, body, dot = children
        self.all_rules += self._rules(heads, body, self._position_from(heads[0].position, dot))

    def heads(self, children: list[Any]) -> list[Atom]:
        return children[::2]

    def body(self, children: list[Any]) -> list[Literal]:
        return children[::2]

    def negation(self, children: list[Any]) -> Negation:
        sign, atom = children
        end = atom.position
        return Negation(atom, Position(self.source, sign.line, sign.column, end.end_line, end.end_column))

    def plain_atom(self, children: list[Any]) -> Atom:
        """An atom that is one token: its predicate and terms are found by regular expressions."""
        token = children[0]
        name = self.match_predicate(token)[0]
        texts = self.match_terms.findall(token, len(name))
        try:
            terms = tuple(map(self.terms.__getitem__, texts))
            predicate = self.predicates[name, len(terms)]
        except BadTerm as problem:
            raise self._locate(problem, token, len(name)) from None
        at = Position(self.source, token.line, token.column, token.end_line, token.end_column)
        return Atom(predicate, terms, at)

    def plain_call(self, children: list[Any]) -> Call:
        token = children[0]
        name = self.match_predicate(token)[0]
        try:
            terms: list[Expression] = [self.terms[t] for t in self.match_terms.findall(token, len(name))]
        except BadTerm as problem:
            raise self._locate(problem, token, len(name)) from None
        return self._call(name, token, terms, self._at(token))

    def spaced_atom(self, children: list[Any]) -> Atom:
        """An atom with comments or calls inside, whose predicate and terms are tokens of their own."""
        name, close = children[0], children[-1]
        terms: tuple[Any, ...] = tuple(self._value(item) for item in children[2:-1:2])
        atom = Atom(self._predicate(name, len(terms)), terms, self._position_from(self._at(name), close))
        if any(isinstance(term, Call) for term in terms):
            self.atoms_with_calls.append(atom)
        return atom

    def prefix(self, children: list[Any]) -> None:
        _, name, iri, _ = children
        prefix, _, local = name.partition(":")
        if local:
            raise self._bad_prefix(self._at(name))
        self.scope.prefixes.append((prefix, self._iri(iri)))
        self._clear_caches()

    def bad_prefix(self, children: list[Any]) -> None:
        raise self._bad_prefix(self._at(children[1]))

    def base(self, children: list[Any]) -> None:
        self.scope.base = self._iri(children[1])
        self._clear_caches()

    def import_(self, children: list[Any]) -> None:
        self.imports.append(self._directive(children))

    def export(self, children: list[Any]) -> None:
        self.exports.append(self._directive(children))

    def output(self, children: list[Any]) -> None:
        self.outputs.extend(self._predicate(token, 0).name for token in children[1:-1:2])

    def option(self, children: list[Any]) -> tuple[Token, object]:
        return children[0], children[2]

    def single(self, children: list[Any]) -> object:
        token = children[0]
        term = self._term(token)
        if isinstance(term, Variable):
            raise self._error("an option takes a constant, not a variable", self._at(token))
        return option_value(term)

    def several(self, children: list[Any]) -> tuple[object, ...]:
        return tuple(children[1:-1:2])

    def _directive(self, children: list[Any]) -> Directive:
        """The directive of an `@import` or `@export`, whose format and options are checked."""
        keyword, name, _, form, _, *options, _, dot = children
        if form not in DIRECTIVES:
            raise self._error(
                f"unknown format `{form}`", self._at(form), f"formats are {', '.join(DIRECTIVES)}"
            )
        values: dict[str, object] = {}
        for key, value in options[::2]:
            if str(key) in values:
                raise self._error(f"the option `{key}` is given twice", self._at(key))
            values[str(key)] = value
        predicate = self._predicate(name, 0).name
        return Directive(
            predicate, str(form), tuple(values.items()), self._position_from(self._at(keyword), dot)
        )

    def _term(self, token: Token) -> Term:
        try:
            return self.terms[str(token)]
        except BadTerm as problem:
            raise self._error(problem.message, self._at(token), problem.hint) from None

    def _predicate(self, token: Token, arity: int) -> Predicate:
        try:
            return self.predicates[str(token), arity]
        except BadTerm as problem:
            raise self._error(problem.message, self._at(token), problem.hint) from None

    def _iri(self, token: Token) -> str:
        term = self._term(token)
        assert isinstance(term, Constant)
        return term.text

    def _clear_caches(self) -> None:
        """Clear the caches of terms and predicates: a new prefix or base may change their meaning."""
        self.terms.clear()
        self.predicates.clear()

    def _position_from(self, start: Position, end: Token) -> Position:
        last = self._at(end)
        return Position(self.source, start.line, start.column, last.end_line, last.end_column)

    def _bad_prefix(self, position: Position) -> ParseError:
        return self._error(
            "this does not name a prefix",
            position,
            "write `@prefix ex: <http://example.org/> .`, with the colon",
        )

    def _locate(self, problem: BadTerm, token: Token, start: int) -> ParseError:
        """The error for a bad term of an atom that is one token, at the position of the term itself."""
        found = next((m for m in self.match_terms.finditer(token, start) if m[0] == problem.text), None)
        first, last = found.span() if found else (0, start)
        offset = token.start_pos or 0
        return self._error(
            problem.message, self._position_between(offset + first, offset + last), problem.hint
        )

    def _position_between(self, start: int, end: int) -> Position:
        line, column = self.text.count("\n", 0, start) + 1, start - self.text.rfind("\n", 0, start)
        end_line, end_column = self.text.count("\n", 0, end) + 1, end - self.text.rfind("\n", 0, end)
        return Position(self.source, line, column, end_line, end_column)


def option_value(constant: Constant) -> object:
    """The Python value of an option: `str`, `int` or `bool` for such constants; others stay constants.

    >>> option_value(Constant(Kind.BOOLEAN, "true"))
    True
    """
    if constant.kind == Kind.STRING:
        return constant.text
    if constant.kind == Kind.INTEGER:
        return int(constant.text)
    return constant.text == "true" if constant.kind == Kind.BOOLEAN else constant
