"""Turns the texts of terms and predicates into `Term` and `Predicate`, by the prefixes and base in force.

Programs repeat their terms, so `ParsedTerms` and `ParsedPredicates` are dictionaries that compute an entry at
its first use. The escapes of strings and IRIs, which the printer writes, are here, too, and the resolution of
relative IRIs (RFC 3986, section 5.2).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from modulog.language.model import Predicate, Term, Variable
from modulog.terms.constant import RDF, XSD, Constant, Kind, language, literal

# ---- Escapes and IRIs

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")

_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([\s\S]))")
_LOCAL_ESCAPE = re.compile(r"\\(.)")
_CHARACTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPED = {"\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f", '"': '\\"', "\\": "\\\\"}
# Control characters, line ends as Python's `splitlines` knows them and surrogates are escaped in literals.
_SPECIAL = re.compile('[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff"\\\\]')
_NOT_IN_IRI = re.compile('[\\x00-\\x20<>"{}|^`\\\\\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff]')


def unescape(text: str) -> str:
    r"""Replace the escapes of Turtle by their characters; a wrong one raises ValueError, with it as argument.

    >>> unescape(r"a\tb\u0041")
    'a\tbA'
    """
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def unescape_local(text: str) -> str:
    r"""Replace the escapes of a prefixed name's local part: `a\,b` is `a,b`."""
    return _LOCAL_ESCAPE.sub(r"\1", text) if "\\" in text else text


def quote(text: str) -> str:
    r"""A string as a literal: in double quotes, on one line, with escapes where needed.

    >>> print(quote('say "hi"\n'))
    "say \"hi\"\n"
    """
    return '"' + _SPECIAL.sub(lambda m: _ESCAPED.get(m[0]) or _code(m), text) + '"'


def bracket(iri: str) -> str:
    """An IRI in angle brackets, with escapes for characters that may not stand there.

    >>> bracket("http://example.org/a b")
    '<http://example.org/a\\\\u0020b>'
    """
    return "<" + _NOT_IN_IRI.sub(_code, iri) + ">"


def resolve(iri: str, base: str) -> str:
    """The absolute IRI for one that is relative to a base; an absolute one stays as it is.

    >>> resolve("../c", "http://example.org/a/b")
    'http://example.org/c'
    """
    if not base or SCHEME.match(iri):
        return iri
    _, authority, path, query, fragment = _split(iri)
    scheme, base_authority, base_path, base_query, _ = _split(base)
    if authority is None:
        authority = base_authority
        if not path:
            path, query = base_path, base_query if query is None else query
        elif path.startswith("/"):
            path = _without_dots(path)
        else:
            folder = (
                "/" if base_authority is not None and not base_path else base_path[: base_path.rfind("/") + 1]
            )
            path = _without_dots(folder + path)
    else:
        path = _without_dots(path)
    return "".join(
        (
            f"{scheme}:" if scheme is not None else "",
            f"//{authority}" if authority is not None else "",
            path,
            f"?{query}" if query is not None else "",
            f"#{fragment}" if fragment is not None else "",
        )
    )


def _split(iri: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    match = _PARTS.fullmatch(iri)
    assert match is not None  # the pattern matches every text
    return match[1], match[2], match[3], match[4], match[5]


def _without_dots(path: str) -> str:
    """A path without its segments `.` and `..` (RFC 3986, section 5.2.4)."""
    segments = path.split("/")
    kept: list[str] = []
    for i, segment in enumerate(segments):
        if segment == "..":
            if len(kept) > 1 or (kept and kept[0]):
                kept.pop()
        elif segment != ".":
            kept.append(segment)
            continue
        if i == len(segments) - 1:
            kept.append("")
    return "/".join(kept)


def _character(match: re.Match[str]) -> str:
    if match[3]:
        if match[3] in _CHARACTERS:
            return _CHARACTERS[match[3]]
        raise ValueError(match[0])
    number = int(match[1] or match[2], 16)
    if number > 0x10FFFF:
        raise ValueError(match[0])
    return chr(number)


def _code(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04X}"


# ---- Terms and predicates

KEYWORDS = ("FILTER", "BIND")
"""Names that no predicate can have."""

STANDARD = {
    "rdf": RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": XSD,
    "skos": "http://www.w3.org/2004/02/skos/core#",
}
"""Prefixes that need no declaration; a program may declare them anew."""

WELL_KNOWN = {"foaf": "http://xmlns.com/foaf/0.1/", "dc": "http://purl.org/dc/elements/1.1/"}
"""Prefixes that need a declaration, for which the error message suggests the IRI."""

_LITERAL = re.compile(r"(\"\"\"|'''|\"|')([\s\S]*)\1(?:@([A-Za-z0-9-]+)|\s*\^\^\s*([\s\S]+))?")


class BadTerm(Exception):
    """A term that cannot be read. The builder, which knows its position, turns it into a ParseError."""

    def __init__(self, text: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.text, self.message, self.hint = text, message, hint


def in_force(declared: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The IRI of each prefix after some declarations, the standard prefixes included.

    >>> in_force([("e", "http://e.org/"), ("owl", "http://e.org/owl/")])["owl"]
    'http://e.org/owl/'
    """
    prefixes = dict(declared)
    return prefixes | {name: iri for name, iri in STANDARD.items() if name not in prefixes}


@dataclass(slots=True)
class Scope:
    """The prefixes declared so far, of which the last declaration of a name counts, and the base.

    `query` says that the text is a query, which cannot declare prefixes; the error messages differ.
    """

    prefixes: list[tuple[str, str]]
    base: str
    query: bool = False

    def iri(self, text: str) -> str:
        """The IRI that `<iri>` or `prefix:local` stands for."""
        if text[0] == "<":
            return resolve(_unescaped(text, text[1:-1]), self.base)
        prefix, _, local = text.partition(":")
        for name, iri in reversed(self.prefixes):
            if name == prefix:
                return iri + unescape_local(local)
        if prefix in STANDARD:
            return STANDARD[prefix] + unescape_local(local)
        raise BadTerm(text, f"unknown prefix `{prefix}:`", self._declare(prefix))

    def _declare(self, prefix: str) -> str:
        """The hint for an unknown prefix: the nearest known one, or how to declare it."""
        known = list(in_force(self.prefixes))
        near = difflib.get_close_matches(prefix, known, 1)
        where = " in the program that is asked" if self.query else ""
        hint = f"did you mean `{near[0]}:`? If not, declare" if near else "declare"
        hint += f" it{where}: `@prefix {prefix}: <{WELL_KNOWN.get(prefix, 'http://…')}> .`"
        if self.query:
            hint += ", or write the whole IRI in angle brackets"
        return f"{hint} (known prefixes: {', '.join(f'`{name}:`' for name in known)})"


def full_name(name: str, prefixes: Iterable[tuple[str, str]], base: str = "") -> str:
    """The name of a predicate with its prefix expanded; without a prefix, or with an unknown one, it stays.

    >>> full_name("skos:broader", []), full_name("e:p", []), full_name("edge", [])
    ('<http://www.w3.org/2004/02/skos/core#broader>', 'e:p', 'edge')
    """
    if ":" not in name or name.startswith("<"):
        return name
    try:
        return f"<{Scope(list(prefixes), base).iri(name)}>"
    except BadTerm:
        return name


class ParsedTerms(dict[str, Term]):
    """A cache: the text of a term to the term. A change of prefixes or base clears it."""

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


class ParsedPredicates(dict[tuple[str, int], Predicate]):
    """A cache: the text of a name and an arity to the predicate. A change of prefixes or base clears it."""

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
