"""Lark and a builder, made into a parser at the first parse and kept."""

from __future__ import annotations

import importlib.resources
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from modulog.errors import ParseError

if TYPE_CHECKING:
    from modulog.language.builder import Builder


class Machine:
    """Reads texts by one grammar. Lark is imported when one is made.

    `arguments` names the terminals of terms, of which the builder cuts the arguments of an atom that is one token.
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
        """What the builder makes of a text; `explain` makes an error of what Lark raised."""
        from lark.exceptions import UnexpectedInput

        with self.lock:  # one builder for all: Lark binds it into its tables
            self.builder.begin(text, source, prefixes, base, start == "query")
            try:
                return self.lark.parse(text, start=start)
            except UnexpectedInput as error:
                raise explain(error, text, source, query=start == "query") from None
            finally:
                self.builder.begin("", "", (), "")
