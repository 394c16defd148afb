"""Everything that can go wrong, as one tree.

ModulogError
├── ProgramError            the rules are wrong; carries a position
│   ├── ParseError          the text cannot be read
│   ├── UnsafeRuleError     a variable that no positive atom binds
│   ├── ArityError          one predicate, two arities
│   └── StratificationError negation inside a cycle
├── DataError               facts are wrong: a malformed row, a missing or damaged file
├── PipelineError           the configuration of a pipeline is wrong; carries all mistakes
├── OptionError             an option that does not exist, or cannot have that value; also a TypeError and a ValueError
├── QueryError              a query that cannot be answered: an unknown predicate, a wrong arity
├── EngineError             an engine failed
│   ├── EngineUnavailable   the engine cannot be had: something is not installed
│   └── NotSupported        the engine does not offer the operation
├── LimitReached            rules that create values have gone on for longer than they may
├── Interrupted             the user stopped the work; says how far it came
└── InternalError           a mistake of ours

ProgramWarning              the rules may be read, but are likely not what was meant
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Position:
    """A stretch of text: lines and columns start at 1, the end is exclusive."""

    source: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


def underline(text: str, position: Position) -> str:
    """Show the line of a position with carets below the part that is meant.

    >>> print(underline("p(?x) :- q(?y) .", Position("rules", 1, 3, 1, 5)))
      1 | p(?x) :- q(?y) .
        |   ^^
    """
    lines = text.split("\n")
    line = lines[min(position.line, len(lines)) - 1]
    if position.end_line > position.line:
        end = len(line) + 1
    else:
        end = min(position.end_column, len(line) + 1)
    width = max(1, end - position.column)
    number = str(position.line).rjust(3)
    indent = "".join("\t" if c == "\t" else " " for c in line[: position.column - 1])
    return f"{number} | {line}\n{' ' * len(number)} | {indent}{'^' * width}"


class ModulogError(Exception):
    """The root of all errors that Modulog raises on purpose."""


class ProgramError(ModulogError):
    """A mistake in the rules: a message, where it is, the text there, and what would be right."""

    def __init__(
        self,
        message: str,
        position: Position | None = None,
        text: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.message, self.position, self.hint = message, position, hint
        parts = [f"{position}: {message}" if position else message]
        if position and text is not None:
            parts.append(underline(text, position))
        if hint:
            parts.append(f"hint: {hint}")
        super().__init__("\n".join(parts))


class ParseError(ProgramError):
    """The text of a program or a query cannot be read."""


class UnsafeRuleError(ProgramError):
    """A variable of a head, a negated atom or a comparison is bound by no positive atom."""


class ArityError(ProgramError):
    """A predicate is used with two numbers of arguments."""


class StratificationError(ProgramError):
    """A predicate depends on its own negation."""


class DataError(ModulogError):
    """Facts cannot be read or written; the message names the file and, where known, the line."""


class PipelineError(ModulogError):
    """The configuration of a pipeline is wrong: all mistakes, each with its place."""

    def __init__(self, mistakes: Sequence[str]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(self.mistakes))


class OptionError(ModulogError, TypeError, ValueError):
    """An option that does not exist, that belongs to another engine, or that cannot have the value it was given."""


class QueryError(ModulogError):
    """A query cannot be answered as it stands."""


class EngineError(ModulogError):
    """An engine failed while it worked."""


class EngineUnavailable(EngineError):
    """An engine cannot be used here; the message says what to install."""


class NotSupported(EngineError):
    """An engine does not offer an operation."""


class LimitReached(ModulogError):
    """Recursive rules that create values have made more rounds or facts than the limits allow; nothing is kept of them."""


class Interrupted(ModulogError, KeyboardInterrupt):
    """The user stopped the work; the message says how far it came."""


def stopped(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: while Numba hands over arguments, it comes out as the cause of SystemErrors."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


class ProgramWarning(UserWarning):
    """Rules that are likely not what was meant: a predicate that nobody has given facts or rules, constants that look like variables."""


class InternalError(ModulogError):
    """A mistake in Modulog itself."""
