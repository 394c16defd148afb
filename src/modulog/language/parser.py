"""Parses programs and queries: Lark reads the text by `grammar.lark`, and calls `builder` as it goes.

Files ending in `.dlog` are parsed by `rdfox.py`, in RDFox's syntax. `syntax_errors.py` explains errors.
"""

from __future__ import annotations

import functools
import importlib.resources
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modulog.errors import DataError, ParseError, Position, QueryError
from modulog.formats.format import EXTENSIONS
from modulog.language.model import Literal, Program

if TYPE_CHECKING:
    from modulog.language.builder import Builder


_HOW_FACTS = (
    "facts are given beside the rules, by `--facts`, `load` or a source of a pipeline, "
    "and `modulog rules` makes rules of an ontology"
)


class LarkParser:
    """A parser for one grammar, made at the first parse and used for all; Lark is not imported before.

    `arguments` names the terminals that a term can be: by them the builder finds the arguments inside an atom
    that the grammar reads as a single token.
    """

    def __init__(
        self, grammar: str, builder: Builder, starts: Sequence[str], arguments: Sequence[str]
    ) -> None:
        from lark import Lark
        from lark.load_grammar import FromPackageLoader

        text = importlib.resources.files(__package__).joinpath(grammar).read_text("utf-8")
        self.builder = builder
        self.lark = Lark(
            text,
            parser="lalr",
            lexer="contextual",
            start=list(starts),
            transformer=builder,
            import_paths=[FromPackageLoader(str(__package__), ("",))],
        )
        self.lock = threading.Lock()
        patterns = {terminal.name: terminal.pattern.to_regexp() for terminal in self.lark.terminals}
        predicate = "|".join(patterns[name] for name in ("PNAME", "IRI", "NAME"))
        builder.match_predicate = re.compile(predicate).match
        builder.match_terms = re.compile("|".join(patterns[name] for name in arguments))

    def parse(
        self,
        text: str,
        source: str,
        start: str,
        prefixes: Iterable[tuple[str, str]],
        base: str,
        explain: Callable[..., ParseError],
    ) -> Any:
        """Parse a text from the grammar rule `start`; `explain` turns what Lark raises into a ParseError."""
        from lark.exceptions import UnexpectedInput

        with self.lock:  # Lark binds its one builder, which has state, into its tables
            self.builder.begin(text, source, prefixes, base, start == "query")
            try:
                return self.lark.parse(text, start=start)
            except UnexpectedInput as error:
                raise explain(error, text, source, query=start == "query") from None
            finally:
                self.builder.begin("", "", (), "")


def parse_program(text: str, source: str = "<program>", *, check: bool = True) -> Program:
    """Parse a program; `check` refuses unsafe rules, predicates with two arities, cycles through negation.

    >>> program = parse_program("path(?x, ?y) :- edge(?x, ?y) . edge(a, b) .")
    >>> len(program.rules), len(program.facts)
    (1, 1)
    """
    program: Program = _parse(text, source, "program", (), "")
    if check:
        from modulog.language.safety import verify

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
    """Parse a query: the body of a rule, with or without a full stop at the end.

    >>> len(parse_query("path(b, ?y), ~edge(b, ?y)"))
    2
    """
    if not isinstance(text, str):
        raise QueryError(f"a query is a text, such as `path(?x, ?y)`, not {text!r}")
    body: tuple[Literal, ...] = _parse(text, source, "query", prefixes, base)
    from modulog.language.other_languages import modulo_at_the_end

    if explanation := modulo_at_the_end(text, body):
        raise ParseError(explanation.message, explanation.position, text, explanation.hint)
    if check:
        from modulog.language.safety import verify_query

        verify_query(body, text)
    return body


def parse_file(path: str | Path, *, check: bool = True) -> Program:
    """Parse a program from a file in UTF-8; a file that ends in `.dlog` has RDFox's syntax."""
    path = Path(path)
    extension = next((s for s in reversed(path.suffixes) if s.lower() != ".gz"), "").lower()
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    if extension in EXTENSIONS:
        raise DataError(f"{path}: a file of facts by its name, not of rules; {_HOW_FACTS}")
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
        from modulog.language.rdfox import parse_dlog

        return parse_dlog(text, str(path), check=check)
    return parse_program(text, str(path), check=check)


def read_program(program: str | Path | Program) -> tuple[Program, Path]:
    """A program from its text, a file or itself, and the folder in which its `@import`s look for files."""
    if isinstance(program, Program):
        return program, Path()
    if isinstance(program, Path):
        return parse_file(program), program.parent
    if not isinstance(program, str):
        raise TypeError(f"a program is a text, a Path or a Program, not a {type(program).__name__}")
    return parse_program(program), Path()


def _parse(text: str, source: str, start: str, prefixes: Iterable[tuple[str, str]], base: str) -> Any:
    from modulog.language.syntax_errors import explain

    return _parser().parse(text, source, start, prefixes, base, explain)


@functools.cache
def _parser() -> LarkParser:
    from modulog.language.builder import Builder

    return LarkParser("grammar.lark", Builder(), ("program", "query"), ("TERM", "PNAME", "IRI", "NAME"))
