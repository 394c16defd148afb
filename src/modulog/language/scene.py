"""Where the parser stopped, as the detectors of `slips` want to see it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from lark import Token, Tree
from lark.exceptions import UnexpectedToken

from modulog.errors import Position


class Slip(NamedTuple):
    """An explained mistake."""

    message: str
    position: Position
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """Where the parser stopped: the token it could not take, and the unfinished statement before it."""

    source: str
    text: str
    token: Token
    read: tuple[Any, ...]
    expected: frozenset[str]
    query: bool

    @property
    def rest(self) -> str:
        """The text from the token on; empty at the end."""
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
        """The innermost bracket that is still open."""
        stack: list[Token] = []
        for item in self.read:
            if is_token(item, "LPAR", "LBRACE", "LSQB"):
                stack.append(item)
            elif is_token(item, "RPAR", "RBRACE", "RSQB"):
                stack.pop()
        return stack[-1] if stack else None

    def here(self, width: int | None = None) -> Position:
        """The place of the token, or of the next `width` characters."""
        if not self.rest:
            return self.behind()
        found: Position = place(self.token, self.source)
        if width is None:
            return found
        return Position(self.source, found.line, found.column, found.line, found.column + width)

    def behind(self) -> Position:
        """The place right after what was read last."""
        places = [p for p in (place(item, self.source) for item in self.read) if p is not None]
        if not places:
            return Position(self.source, 1, 1, 1, 2)
        line, column = places[-1].end_line, places[-1].end_column
        return Position(self.source, line, column, line, column + 1)


def scene_of(error: UnexpectedToken, text: str, source: str, query: bool) -> Scene:
    """The scene of an error."""
    stack = list(error.state.value_stack)
    if stack and (stack[0] is None or isinstance(stack[0], Tree)):
        del stack[0]  # the statements before this one
    read = tuple(_leaves(stack))
    short = bool(read) and is_token(read[0], "PREFIX", "BASE") and is_token(read[-1], "IRI")
    if short or (read and is_token(read[-1], "DOT") and not query):
        read = ()  # a statement that is complete, only not put away yet
    return Scene(source, text, error.token, read, frozenset(_accepted(error)), query)


def _accepted(error: UnexpectedToken) -> Iterator[str]:
    """The terminals that could really have followed: those Lark expects, tried out."""
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
    """Whether something read is a token of one of some types."""
    return isinstance(item, Token) and item.type in types


def place(item: Any, source: str) -> Any:
    """The position of a token or a part of a program; None for what has none."""
    if isinstance(item, Token):
        line, column = item.line or 1, item.column or 1
        return Position(source, line, column, item.end_line or line, item.end_column or column)
    return getattr(item, "position", None)
