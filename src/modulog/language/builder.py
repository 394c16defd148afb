"""Makes a program from what Lark has recognised, on the way: shared by both syntaxes.

The builder sees statements in the order of the text, so a prefix holds from its directive on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from modulog.errors import ParseError, Position
from modulog.language.building import Expressions, Placed
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
from modulog.language.reading import FORMATS, BadTerm, Predicates, Scope, Terms
from modulog.language.triples import settle_atom, settle_rule
from modulog.terms.model import Constant, Kind

if TYPE_CHECKING:
    from lark import Token


class Builder(Expressions):
    """Makes a program from what Lark has recognised: one method for each rule of the grammar."""

    match_predicate: Any
    match_terms: re.Pattern[str]

    def begin(
        self, text: str, source: str, prefixes: Iterable[tuple[str, str]], base: str, query: bool = False
    ) -> None:
        self.text, self.source = text, source
        self.scope = Scope(list(prefixes), base, query)
        self.terms = Terms(self.scope)
        self.predicates = Predicates(self.scope)
        self.all_rules: list[Rule] = []
        self.all_facts: list[Atom] = []
        self.calling = []
        self.imports: list[Directive] = []
        self.exports: list[Directive] = []
        self.outputs: list[str] = []

    def program(self, _: list[Any]) -> Program:
        return Program(
            tuple(map(settle_rule, self.all_rules)),
            tuple(map(settle_atom, self.all_facts)),
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
            raise self._error("a query has no `||`", self._between(0, len(self.text.rstrip())), hint)
        return rules[0].body

    def facts(self, children: list[Any]) -> None:
        if self.calling:
            self.all_rules += self._rules(children[0], [], self._from(children[0][0].position, children[1]))
        else:
            self.all_facts.extend(children[0])

    def rule(self, children: list[Any]) -> None:
        heads, _, body, dot = children
        self.all_rules += self._rules(heads, body, self._from(heads[0].position, dot))

    def heads(self, children: list[Any]) -> list[Atom]:
        return children[::2]

    def body(self, children: list[Any]) -> list[Literal]:
        return children[::2]

    def negation(self, children: list[Any]) -> Negation:
        sign, atom = children
        end = atom.position
        return Negation(atom, Position(self.source, sign.line, sign.column, end.end_line, end.end_column))

    def plain_atom(self, children: list[Any]) -> Atom:
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

    def plain_call(self, children: list[Any]) -> Placed:
        token = children[0]
        name = self.match_predicate(token)[0]
        try:
            terms: list[Expression] = [self.terms[t] for t in self.match_terms.findall(token, len(name))]
        except BadTerm as problem:
            raise self._locate(problem, token, len(name)) from None
        return self._call(name, token, terms, self._at(token))

    def spaced_atom(self, children: list[Any]) -> Atom:
        name, close = children[0], children[-1]
        terms: tuple[Any, ...] = tuple(self._value(item) for item in children[2:-1:2])
        atom = Atom(self._predicate(name, len(terms)), terms, self._from(self._at(name), close))
        if any(isinstance(term, Call) for term in terms):
            self.calling.append(atom)
        return atom

    def prefix(self, children: list[Any]) -> None:
        _, name, iri, _ = children
        prefix, _, local = name.partition(":")
        if local:
            raise self._bad_prefix(self._at(name))
        self.scope.prefixes.append((prefix, self._iri(iri)))
        self._forget()

    def bad_prefix(self, children: list[Any]) -> None:
        raise self._bad_prefix(self._at(children[1]))

    def base(self, children: list[Any]) -> None:
        self.scope.base = self._iri(children[1])
        self._forget()

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
        keyword, name, _, form, _, *options, _, dot = children
        if form not in FORMATS:
            raise self._error(f"unknown format `{form}`", self._at(form), f"formats are {', '.join(FORMATS)}")
        values: dict[str, object] = {}
        for key, value in options[::2]:
            if str(key) in values:
                raise self._error(f"the option `{key}` is given twice", self._at(key))
            values[str(key)] = value
        predicate = self._predicate(name, 0).name
        return Directive(predicate, str(form), tuple(values.items()), self._from(self._at(keyword), dot))

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

    def _forget(self) -> None:
        """Prefixed names and relative IRIs may mean something else from here on."""
        self.terms.clear()
        self.predicates.clear()

    def _from(self, start: Position, end: Token) -> Position:
        last = self._at(end)
        return Position(self.source, start.line, start.column, last.end_line, last.end_column)

    def _bad_prefix(self, position: Position) -> ParseError:
        return self._error(
            "this does not name a prefix",
            position,
            "write `@prefix ex: <http://example.org/> .`, with the colon",
        )

    def _locate(self, problem: BadTerm, token: Token, start: int) -> ParseError:
        """The mistake in one term of an atom that was read as one token, at the place of that term."""
        found = next((m for m in self.match_terms.finditer(token, start) if m[0] == problem.text), None)
        first, last = found.span() if found else (0, start)
        offset = token.start_pos or 0
        return self._error(problem.message, self._between(offset + first, offset + last), problem.hint)

    def _between(self, start: int, end: int) -> Position:
        line, column = self.text.count("\n", 0, start) + 1, start - self.text.rfind("\n", 0, start)
        end_line, end_column = self.text.count("\n", 0, end) + 1, end - self.text.rfind("\n", 0, end)
        return Position(self.source, line, column, end_line, end_column)


def option_value(constant: Constant) -> object:
    """What an option's constant is in Python: strings, integers and booleans are what they look like.

    >>> option_value(Constant(Kind.BOOLEAN, "true"))
    True
    """
    if constant.kind == Kind.STRING:
        return constant.text
    if constant.kind == Kind.INTEGER:
        return int(constant.text)
    return constant.text == "true" if constant.kind == Kind.BOOLEAN else constant
