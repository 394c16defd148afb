"""The state of the parser at a syntax error, in the form that the detectors of `syntax_errors.py` read."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from lark import Token, Tree
from lark.exceptions import UnexpectedToken

from modulog.errors import Position


class Explanation(NamedTuple):
    """The explanation of a syntax error: message, position and hint."""

    message: str
    position: Position
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class ErrorContext:
    """The state of the parser at a syntax error.

    `token` is the one that the grammar does not allow, `expected` the terminals that it allows there, and
    `read` the tokens and builder results of the unfinished statement before it.
    """

    source: str
    text: str
    token: Token
    read: tuple[Any, ...]
    expected: frozenset[str]
    query: bool

    @property
    def remaining(self) -> str:
        """The text from the token on; empty if the token is the end of the text."""
        return "" if self.token.type == "$END" else self.text[self.token.start_pos :]

    @property
    def last(self) -> Any:
        return self.read[-1] if self.read else None

    @property
    def directive(self) -> str | None:
        first = self.read[0] if self.read else None
        return str(first) if isinstance(first, Token) and first.type.startswith("AT_") else None

    @property
    def in_body(self) -> bool:
        return self.query or any(is_token(item, "ARROW") for item in self.read)

    @property
    def open(self) -> Token | None:
        """The innermost bracket that has not been closed."""
        stack: list[Token] = []
        for item in self.read:
            if is_token(item, "LPAR", "LBRACE", "LSQB"):
                stack.append(item)
            elif is_token(item, "RPAR", "RBRACE", "RSQB"):
                stack.pop()
        return stack[-1] if stack else None

    def here(self, width: int | None = None) -> Position:
        """The position of the token, or of the `width` characters from its start."""
        if not self.remaining:
            return self.behind()
        found: Position = place(self.token, self.source)
        if width is None:
            return found
        return Position(self.source, found.line, found.column, found.line, found.column + width)

    def behind(self) -> Position:
        """The position right after the last item of `read`."""
        places = [p for p in (place(item, self.source) for item in self.read) if p is not None]
        if not places:
            return Position(self.source, 1, 1, 1, 2)
        line, column = places[-1].end_line, places[-1].end_column
        return Position(self.source, line, column, line, column + 1)


def context_of(error: UnexpectedToken, text: str, source: str, query: bool) -> ErrorContext:
    """The context for an error that Lark raised."""
    stack = list(error.state.value_stack)
    if stack and (stack[0] is None or isinstance(stack[0], Tree)):
        del stack[0]  # the statements before this one
    read = tuple(_leaves(stack))
    short = bool(read) and is_token(read[0], "PREFIX", "BASE") and is_token(read[-1], "IRI")
    if short or (read and is_token(read[-1], "DOT") and not query):
        read = ()  # the statement before is complete; Lark has not reduced it yet
    return ErrorContext(source, text, error.token, read, frozenset(_accepted(error)), query)


def _accepted(error: UnexpectedToken) -> Iterator[str]:
    """The terminals that the grammar allows here: Lark's `expected` has too many, so each is tried."""
    quiet = copy.copy(error.state.parse_conf)
    quiet.callbacks = {}
    for name in error.expected:
        trial = copy.copy(error.state)
        trial.parse_conf = quiet
        try:
            trial.feed_token(Token(name, ""), name == "$END")
        except UnexpectedToken:
            continue
        yield name


def _leaves(items: list[Any]) -> Iterator[Any]:
    for item in items:
        if isinstance(item, list):
            yield from _leaves(item)
        elif isinstance(item, Tree):
            yield from _leaves(item.children)
        else:
            yield item


def is_token(item: Any, *types: str) -> bool:
    """Whether an item of `ErrorContext.read` is a token of one of these types."""
    return isinstance(item, Token) and item.type in types


def place(item: Any, source: str) -> Any:
    """The position of a token or of a builder result; None for what has none."""
    if isinstance(item, Token):
        line, column = item.line or 1, item.column or 1
        return Position(source, line, column, item.end_line or line, item.end_column or column)
    return getattr(item, "position", None)
