"""Text to Program: the grammar is in `grammar.lark`, Lark reads it, the builder makes the program on the way.

Files ending in `.dlog` are read in RDFox's syntax, by `dlog`. Mistakes of syntax are put into words by `slips`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from modulog.errors import DataError, ParseError, Position
from modulog.language.machine import Machine
from modulog.language.model import Literal, Program


def parse_program(text: str, source: str = "<program>", *, check: bool = True) -> Program:
    """Read the text of a program; `check` refuses unsafe rules, clashing arities and cycles through negation.

    >>> program = parse_program("path(?x, ?y) :- edge(?x, ?y) . edge(a, b) .")
    >>> len(program.rules), len(program.facts)
    (1, 1)
    """
    program: Program = _parse(text, source, "program", (), "")
    if check:
        from modulog.language.checks import verify

        verify(program, text)
    return program


def parse_query(
    text: str,
    source: str = "<query>",
    prefixes: Iterable[tuple[str, str]] = (),
    *,
    base: str = "",
    check: bool = True,
) -> tuple[Literal, ...]:
    """Read a query: the body of a rule, with or without a full stop at the end.

    >>> len(parse_query("path(b, ?y), ~edge(b, ?y)"))
    2
    """
    body: tuple[Literal, ...] = _parse(text, source, "query", prefixes, base)
    from modulog.language.foreign import modulo_at_the_end

    if slip := modulo_at_the_end(text, body):
        raise ParseError(slip.message, slip.position, text, slip.hint)
    if check:
        from modulog.language.checks import verify_query

        verify_query(body, text)
    return body


def parse_file(path: str | Path, *, check: bool = True) -> Program:
    """Read a program from a file in UTF-8; one whose name ends in `.dlog` in RDFox's syntax."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        position = Position(str(path), line, column, line, column + 1)
        raise ParseError(
            f"not UTF-8: byte 0x{data[error.start]:02X}", position, hint="save the file as UTF-8"
        ) from error
    if path.suffix == ".dlog":
        from modulog.language.dlog import parse_dlog

        return parse_dlog(text, str(path), check=check)
    return parse_program(text, str(path), check=check)


def read_program(program: str | Path | Program) -> tuple[Program, Path]:
    """A program from its text, from a file, or as it is, and the folder against which its imports are resolved."""
    if isinstance(program, Program):
        return program, Path()
    if isinstance(program, Path):
        return parse_file(program), program.parent
    if not isinstance(program, str):
        raise TypeError(f"a program is a text, a Path or a Program, not a {type(program).__name__}")
    return parse_program(program), Path()


def _parse(text: str, source: str, start: str, prefixes: Iterable[tuple[str, str]], base: str) -> Any:
    from modulog.language.slips import explain

    return _machine().parse(text, source, start, prefixes, base, explain)


@functools.cache
def _machine() -> Machine:
    from modulog.language.builder import Builder

    return Machine("grammar.lark", Builder(), ("program", "query"), ("TERM", "PNAME", "IRI", "NAME"))
