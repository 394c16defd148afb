"""All errors that Modulog raises, as one class hierarchy.

ModulogError
├── ProgramError            the rules are wrong; carries a position
│   ├── ParseError          the text cannot be read
│   ├── UnsafeRuleError     a variable that no positive atom binds
│   ├── ArityError          one predicate, two arities
│   └── StratificationError negation inside a cycle
├── DataError               facts are wrong: a malformed row, a missing or damaged file
├── PipelineError           the configuration of a pipeline is wrong; carries all mistakes
├── OptionError             an unknown option or a wrong value of one; also a TypeError and a ValueError
├── QueryError              a query that cannot be answered: an unknown predicate, a wrong arity
├── EngineError             an engine failed
│   ├── EngineUnavailable   the engine cannot be used: something is not installed
│   ├── WorkerLost          a worker of Spark ended without a result, mostly for lack of memory
│   └── NotSupported        the engine does not offer the operation
├── LimitReached            rules that create values exceeded their limit of rounds or facts
├── Interrupted             the user stopped the work; the message says how far it came
└── InternalError           a mistake in Modulog

ProgramWarning              the rules are legal, but probably not what was meant
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Position:
    """A range in a text; lines and columns start at 1, the end is exclusive.

    >>> str(Position("rules.rls", 3, 1, 3, 8))
    'rules.rls:3:1'
    """

    source: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


def underline(text: str, position: Position) -> str:
    """The line of a position, with carets below the range.

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
    """The base class of all errors of Modulog.

    The message may end with a line of advice (`advice`), which is of use to callers of the Python API only.

    >>> from modulog import Reasoner
    >>> try:
    ...     Reasoner("p(?x) :- q(?x) .").rows("r")
    ... except ModulogError as error:
    ...     print(type(error).__name__)
    QueryError
    """

    advice = ""

    @property
    def told(self) -> str:
        """The message without the line of advice, for the command line and reports.

        >>> DataError("a.csv:2: not JSON").told
        'a.csv:2: not JSON'
        """
        return str(self).removesuffix(f"\n{self.advice}") if self.advice else str(self)


class ProgramError(ModulogError):
    """A mistake in the rules: message, position, the line of the text, and a hint on what would be right.

    >>> from modulog import Reasoner
    >>> try:
    ...     Reasoner("p(?x) :- ~q(?x) .")
    ... except ProgramError as error:
    ...     print(str(error).splitlines()[0])
    <program>:1:3: `?x` of the head is bound by no positive atom of the body
    """

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
    """The text of a program or a query cannot be read.

    >>> from modulog import Reasoner
    >>> try:
    ...     Reasoner("p(?x) :- q(?x)")
    ... except ParseError as error:
    ...     print(str(error).splitlines()[0])
    <program>:1:15: a full stop is missing
    """


class UnsafeRuleError(ProgramError):
    """A variable of a head, a negated atom or a comparison is bound by no positive atom.

    >>> from modulog import Reasoner
    >>> try:
    ...     Reasoner("p(?y) :- q(?x) .")
    ... except UnsafeRuleError as error:
    ...     print(str(error).splitlines()[0])
    <program>:1:3: `?y` of the head is bound by no positive atom of the body
    """


class ArityError(ProgramError):
    """A predicate is used with two numbers of arguments.

    >>> from modulog import Reasoner
    >>> try:
    ...     Reasoner("p(?x) :- q(?x), q(?x, _) .")
    ... except ArityError as error:
    ...     print(str(error).splitlines()[0])
    <program>:1:17: `q` has 2 arguments here, but 1 at <program>:1:10
    """


class StratificationError(ProgramError):
    """A predicate depends on its own negation.

    >>> from modulog import Reasoner
    >>> try:
    ...     Reasoner("win(?x) :- move(?x, ?y), ~win(?y) .")
    ... except StratificationError as error:
    ...     print(str(error).splitlines()[0])
    <program>:1:26: a predicate depends on its own negation: win -> ~win (rules at <program>:1:1)
    """


class DataError(ModulogError):
    """Facts cannot be read or written; the message names the file and, where known, the line.

    `mark` identifies the source that the error is about, if it is raised long after the source was added: see
    `Backend.mark`.

    >>> from modulog import Reasoner
    >>> try:
    ...     Reasoner("p(?x) :- q(?x) .").load("missing.csv")
    ... except DataError as error:
    ...     print(str(error).splitlines()[0])
    missing.csv: there is no such file or folder
    """

    mark: str | None = None


class PipelineError(ModulogError):
    """The configuration of a pipeline is wrong; `mistakes` has all mistakes, each with its position.

    >>> error = PipelineError(["pipeline.toml:1: there is no key `sore` here", "pipeline.toml:3: no rules"])
    >>> len(error.mistakes)
    2
    """

    def __init__(self, mistakes: Sequence[str]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(self.mistakes))


class OptionError(ModulogError, TypeError, ValueError):
    """An option that does not exist, that belongs to another engine, or that cannot have the value it was given.

    >>> from modulog import Reasoner
    >>> try:
    ...     Reasoner("p(1) .", wrokers=2)
    ... except OptionError as error:
    ...     print(str(error).splitlines()[0])
    unknown option `wrokers`; did you mean `workers`?
    """


class QueryError(ModulogError):
    """A query cannot be answered as it stands.

    >>> from modulog import Reasoner
    >>> try:
    ...     Reasoner("p(1) .").rows("pp")
    ... except QueryError as error:
    ...     print(str(error).splitlines()[0])
    there is no predicate pp; did you mean p?
    """


class EngineError(ModulogError):
    """An engine failed while it worked."""


class EngineUnavailable(EngineError):
    """An engine cannot be used here; the message says what to install."""


class WorkerLost(EngineError):
    """A worker of Spark ended without a result, mostly for lack of memory; nothing of its work is kept."""


class NotSupported(EngineError):
    """An engine does not offer an operation."""


class LimitReached(ModulogError):
    """Recursive rules that create values exceeded their limits; no derived facts are kept.

    >>> from modulog import Reasoner, Switches
    >>> few = Switches(value_rounds=50)
    >>> try:
    ...     Reasoner("n(?y) :- n(?x), ?y = ?x + 1 . n(0) .", switches=few).materialise()
    ... except LimitReached as error:
    ...     print(str(error).splitlines()[0])
    <program>:1:1: this rule creates values from its own results, and after 51 rounds with 52 facts there is no end in sight
    """


class Interrupted(ModulogError, KeyboardInterrupt):
    """The user stopped the work; the message says how far it came."""


def stopped(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused an error: inside Numba, KeyboardInterrupt becomes the cause of a SystemError.

    >>> stopped(KeyboardInterrupt()), stopped(ValueError())
    (True, False)
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


class ProgramWarning(UserWarning):
    """Rules that are probably wrong: predicates without facts, constants that look like variables.

    >>> import warnings
    >>> from modulog import Reasoner
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = Reasoner("path(?x, ?y) :- edge(?x, ?y) .").count("path")
    >>> [warning.category.__name__ for warning in caught]
    ['ProgramWarning']
    """


class InternalError(ModulogError):
    """A mistake in Modulog itself."""
