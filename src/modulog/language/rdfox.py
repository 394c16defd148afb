"""Parses programs in RDFox's syntax, by the grammar `dlog.lark`; terms and expressions are those of Modulog.

`p:q[?x, ?y]` and `[?x, p:q, ?y]` are the atom of the predicate `<…q>` with two arguments; `p:C[?x]`,
`rdf:type[?x, p:C]` and `[?x, a, p:C]` are the atom of the predicate `<…C>` with one. Atoms whose class or
property is a variable are described in `triples.py`. Syntax errors are explained by detectors of this syntax,
and by those of `syntax_errors.py` that fit.
"""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lark.exceptions import UnexpectedInput

from modulog.errors import ParseError, Position
from modulog.language import other_languages, syntax_errors
from modulog.language.builder import Builder
from modulog.language.error_context import ErrorContext, Explanation, is_token, place
from modulog.language.function_calls import WITHOUT_AGGREGATES
from modulog.language.model import Atom, Program, Term, Variable
from modulog.language.parser import LarkParser
from modulog.language.term_parser import BadTerm
from modulog.language.triples import TYPE, class_atom, triple_atom
from modulog.terms.constant import Kind

if TYPE_CHECKING:
    from lark import Token


def parse_dlog(text: str, source: str = "<program>", *, check: bool = True) -> Program:
    """Parse a program in RDFox's syntax; the result is the same `Program` as for Modulog's syntax.

    >>> from modulog.language.parser import parse_program
    >>> rules = "PREFIX e: <http://e.org/> e:C[?x], [?x, e:p, ?y] :- e:q[?x, ?y], NOT rdf:type[?y, e:C] ."
    >>> other = "@prefix e: <http://e.org/> . e:C(?x), e:p(?x, ?y) :- e:q(?x, ?y), ~e:D(?y) ."
    >>> rdf = "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . "
    >>> parse_dlog(rdf + rules.replace("?y, e:C", "?y, e:D")) == parse_program(rdf + other)
    True
    """
    from modulog.language.rdfox import explain

    program: Program = _parser().parse(text, source, "program", (), "", explain)
    if check:
        from modulog.language.safety import verify

        verify(program, text)
    return program


@functools.cache
def _parser() -> LarkParser:
    return LarkParser("dlog.lark", DlogBuilder(), ("program",), ("TERM", "PNAME", "IRI", "WORD", "A"))


class DlogBuilder(Builder):
    """The tree builder, with methods of its own for what RDFox writes differently: atoms and prefixes."""

    def plain_atom(self, children: list[Any]) -> Atom:
        token = children[0]
        name = "" if token[0] == "[" else self.match_predicate(token)[0]
        texts = self.match_terms.findall(token, len(name))
        try:
            atom = (
                self._triple(texts)
                if not name
                else self._named(name, list(map(self.terms.__getitem__, texts)))
            )
        except BadTerm as problem:
            raise self._locate(problem, token, len(name)) from None
        return replace(atom, position=self._at(token))

    def spaced_atom(self, children: list[Any]) -> Atom:
        name, close = children[0], children[-1]
        terms = [self._term(token) for token in children[2:-1:2]]
        try:
            atom = self._named(str(name), terms)
        except BadTerm as problem:
            raise self._error(problem.message, self._at(name), problem.hint) from None
        return replace(atom, position=self._position_from(self._at(name), close))

    def spaced_triple(self, children: list[Any]) -> Atom:
        tokens: list[Token] = children[1:-1:2]
        for token in (tokens[0], tokens[2]):
            self._term(token)
        try:
            atom = self._triple([str(token) for token in tokens])
        except BadTerm as problem:
            raise self._error(problem.message, self._at(tokens[1]), problem.hint) from None
        return replace(atom, position=self._position_from(self._at(children[0]), children[-1]))

    def unsupported(self, children: list[Any]) -> None:
        from modulog.language.rdfox import without

        explanation = without(children[0], self._at(children[0]))
        raise self._error(explanation.message, explanation.position, explanation.hint)

    def prefix(self, children: list[Any]) -> None:
        super().prefix([*children[:3], None])

    def _named(self, name: str, terms: list[Term]) -> Atom:
        """An atom that names its predicate; a class given as the argument of `rdf:type` is its predicate."""
        return class_atom(Atom(self.predicates[name, len(terms)], tuple(terms)))

    def _triple(self, texts: list[str]) -> Atom:
        """The atom of a triple pattern, from the texts of its three terms."""
        subject, verb, object_ = texts
        if verb == "a":
            return class_atom(Atom(TYPE, (self.terms[subject], self.terms[object_])))
        predicate = self.terms[verb]
        if not isinstance(predicate, Variable) and predicate.kind != Kind.IRI:
            hint = "write `<iri>`, `prefix:name`, a variable, or `a` for rdf:type"
            raise BadTerm(verb, f"`{verb}` cannot be the predicate of a triple", hint)
        return triple_atom(self.terms[subject], predicate, self.terms[object_])


# ---- Syntax errors


def explain(error: UnexpectedInput, text: str, source: str, *, query: bool) -> ParseError:
    """The error with an explanation for what Lark raised."""
    return syntax_errors.explain(error, text, source, query=query, detectors=_DETECTORS)


_HINTS = {
    "aggregate": WITHOUT_AGGREGATES,
    "exists": "negate one atom, with `_` for each variable that stands only there: `NOT p:q[?x, _]`",
    "not": "negate one atom, without parentheses; for several define a predicate of its own and negate that",
    "optional": "write one rule with the atom and one without",
}


def _unsupported(context: ErrorContext) -> Explanation | None:
    """An unsupported feature of RDFox: aggregates, EXISTS, NOT with several atoms, OPTIONAL, named graphs."""
    for item in (*context.read, context.token):
        if is_token(item, "UNSUPPORTED"):
            return without(item, place(item, context.source))
    named = re.match(r"(?:<[^\s>]*>|(?:\w[\w.-]*)?:[\w-]+|\?\w+)(?=\s*(?:[,.](?!\w)|:-))", context.remaining)
    if named and is_token(context.last, "ATOM", "RSQB") and context.behind().line == context.here().line:
        hint = f"without a name an atom reads every graph; one graph is `quad(?s, ?p, ?o, {named[0]})`"
        return Explanation("an atom in a named graph is not supported", context.here(len(named[0])), hint)
    return None


def without(text: str, where: Position) -> Explanation:
    """The explanation for an unsupported feature of RDFox that begins with `text`."""
    words = " ".join(text.upper().split())
    key = "exists" if "EXISTS" in words else words.lower()
    feature = words if key == "exists" else f"{words} (…)"
    return Explanation(f"`{feature}` is not supported", where, _HINTS[key])


def _directive(context: ErrorContext) -> Explanation | None:
    """A directive of Modulog's own syntax, such as `@import`."""
    match = re.match(r"@\w*", context.remaining)
    if not match or context.token.type != "BAD" or context.read:
        return None
    known = "directives are PREFIX and BASE; facts are loaded by the command line or `Reasoner.load`"
    return Explanation(f"`{match[0]}` is not a directive of this syntax", context.here(len(match[0])), known)


def _comment(context: ErrorContext) -> Explanation | None:
    """A comment that does not begin with `#`."""
    match = re.match(r"%|//|--", context.remaining)
    if not match or (context.open is not None and match[0] != "%"):
        return None
    return Explanation(
        f"`{match[0]}` does not start a comment here", context.here(len(match[0])), "comments start with `#`"
    )


def _negation(context: ErrorContext) -> Explanation | None:
    """A negated head, or a wrong spelling of NOT."""
    match = re.match(r"(~|!|¬|-|\\\+)\s*(?=[\w<:\[])", context.remaining)
    hint = "write `NOT p:q[?x, ?y]`"
    if is_token(context.last, "NAME") and context.last.upper() == "NOT" and not context.in_body:
        where = place(context.last, context.source)
        return Explanation("a head cannot be negated", where, "negate in the body, behind `:-`")
    if match and "ATOM" in context.expected:
        return Explanation(f"`{match[1]}` does not negate here", context.here(len(match[1])), hint)
    return None


def _condition(context: ErrorContext) -> Explanation | None:
    """A comparison or an assignment without FILTER or BIND around it."""
    if not context.in_body or "FILTER" not in context.expected:
        return None
    if context.token.type not in ("TERM", "LPAR", "BAD") or not re.match(r"[?(\"'\d]", context.remaining):
        return None
    stretch = re.match(r"[^,\n]*?(?=\s*(?:,|\.?\s*$|\s\.))", context.remaining, re.MULTILINE)
    shown = stretch[0] if stretch and stretch[0] else str(context.token)
    hint = "write `FILTER(?x != ?y)` for a condition, `BIND(?x + 1 AS ?y)` to give a variable its value"
    return Explanation("a condition stands inside FILTER", context.here(len(shown)), hint)


def _constant(context: ErrorContext) -> Explanation | None:
    """A bare name where a term belongs; only Modulog's own syntax has those."""
    match = re.match(r"[^\W\d][\w-]*(?![\w:(-])", context.remaining)
    if not match or "WORD" not in context.expected or context.token.type not in ("NAME", "BAD", "A"):
        return None
    hint = f'quote a string: "{match[0]}"; give an IRI its prefix: `p:{match[0]}`'
    return Explanation(f"`{match[0]}` is no term", context.here(len(match[0])), hint)


def _bare(context: ErrorContext) -> Explanation | None:
    """A name where an atom belongs, or a triple without its brackets."""
    last = context.last
    if not is_token(last, "NAME", "PNAME", "IRI") or "LSQB" not in context.expected:
        return None
    where = place(last, context.source)
    if context.token.type in ("COMMA", "DOT", "ARROW", "$END"):
        return Explanation(
            f"`{last}` alone is not an atom", where, f"write its arguments in brackets: `{last}[?x]`"
        )
    if context.token.type in ("PNAME", "IRI", "TERM", "NAME", "A", "WORD"):
        return Explanation(
            "a triple stands in brackets",
            where,
            "write `[s, p, o]`, with commas; or put facts into a Turtle file",
        )
    return None


_DETECTORS: tuple[syntax_errors.Detector, ...] = (
    syntax_errors.bare_iri,
    other_languages.file_name,
    other_languages.constraint,
    other_languages.modulo,
    syntax_errors.quotes,
    syntax_errors.variable,
    _unsupported,
    _directive,
    syntax_errors.arrow,
    _comment,
    _negation,
    _condition,
    syntax_errors.operator,
    _bare,
    _constant,
    syntax_errors.iri,
    syntax_errors.number,
    syntax_errors.bracket,
    syntax_errors.stop,
)
