"""From the text of one term or predicate name to its meaning, under the prefixes and the base in force.

Each text is worked out once: the tables here are dictionaries that fill themselves.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from modulog.language.lexemes import resolve, unescape, unescape_local
from modulog.language.model import Predicate, Term, Variable
from modulog.terms.canonical import RDF, XSD, language, literal
from modulog.terms.model import Constant, Kind

FORMATS = ("csv", "tsv", "dsv", "parquet", "rdf", "ntriples", "nquads", "turtle", "trig", "rdfxml")
"""What `@import` and `@export` can name."""

KEYWORDS = ("FILTER", "BIND")
"""Names that no predicate can have."""

WELL_KNOWN = {
    "xsd": XSD,
    "rdf": RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "foaf": "http://xmlns.com/foaf/0.1/",
}

_LITERAL = re.compile(r"(\"\"\"|'''|\"|')([\s\S]*)\1(?:@([A-Za-z0-9-]+)|\s*\^\^\s*([\s\S]+))?")


class BadTerm(Exception):
    """A term that cannot be read; whoever knows where it stands makes a ParseError of it."""

    def __init__(self, text: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.text, self.message, self.hint = text, message, hint


@dataclass(slots=True)
class Scope:
    """The prefixes declared so far, in order, the last one for a name in force, and the base."""

    prefixes: list[tuple[str, str]]
    base: str

    def iri(self, text: str) -> str:
        """What `<iri>` or `prefix:local` stands for."""
        if text[0] == "<":
            return resolve(_unescaped(text, text[1:-1]), self.base)
        prefix, _, local = text.partition(":")
        for name, iri in reversed(self.prefixes):
            if name == prefix:
                return iri + unescape_local(local)
        raise BadTerm(text, f"unknown prefix `{prefix}:`", self._declare(prefix))

    def _declare(self, prefix: str) -> str:
        known = list(dict(self.prefixes))
        near = difflib.get_close_matches(prefix, known, 1)
        hint = f"did you mean `{near[0]}:`? If not, declare" if near else "declare"
        hint += f" it: `@prefix {prefix}: <{WELL_KNOWN.get(prefix, 'http://…')}> .`"
        return hint + (f" (known prefixes: {', '.join(f'`{name}:`' for name in known)})" if known else "")


class Terms(dict[str, Term]):
    """The term for each text of a term."""

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.scope = scope

    def __missing__(self, text: str) -> Term:
        term = self[text] = self._read(text)
        return term

    def _read(self, text: str) -> Term:
        first = text[0]
        if first == "?":
            if text == "?_":
                raise BadTerm(
                    text, "`?_` is not a variable", "write `_` for an anonymous variable, or name it: `?x`"
                )
            return Variable(text[1:])
        if first in "\"'":
            return self._literal(text)
        if first in "+-.0123456789":
            kind = "double" if "e" in text or "E" in text else "decimal" if "." in text else "integer"
            return literal(text, XSD + kind)
        if first == "<":
            return Constant(Kind.IRI, self.scope.iri(text))
        if ":" in text:
            if text.startswith("_:"):
                return Constant(Kind.BLANK, text[2:])
            return Constant(Kind.IRI, self.scope.iri(text))
        if text == "_":
            return Variable("_")
        return Constant(Kind.BOOLEAN if text in ("true", "false") else Kind.STRING, text)

    def _literal(self, text: str) -> Constant:
        match = _LITERAL.fullmatch(text)
        assert match is not None  # the grammar has already recognised it
        body = _unescaped(text, match[2])
        if match[3]:
            return language(body, match[3])
        if not match[4]:
            return Constant(Kind.STRING, body)
        try:
            return literal(body, self.scope.iri(match[4]))
        except BadTerm as problem:
            raise BadTerm(text, problem.message, problem.hint) from None


class Predicates(dict[tuple[str, int], Predicate]):
    """The predicate for each text of a name and each arity."""

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.scope = scope

    def __missing__(self, key: tuple[str, int]) -> Predicate:
        text, arity = key
        if text == "_":
            raise BadTerm(
                text, "`_` cannot name a predicate", "a predicate is a name, `<iri>` or `prefix:name`"
            )
        if text in KEYWORDS:
            raise BadTerm(text, f"`{text}` cannot name a predicate", "it has a meaning of its own in bodies")
        name = f"<{self.scope.iri(text)}>" if text[0] == "<" or ":" in text else text
        predicate = self[key] = Predicate(name, arity)
        return predicate


def _unescaped(text: str, body: str) -> str:
    try:
        return unescape(body)
    except ValueError as problem:
        hint = r"escapes are \t \b \n \r \f \" \' \\ \uXXXX \UXXXXXXXX; a backslash itself is \\"
        raise BadTerm(text, f"unknown escape `{problem}`", hint) from None
