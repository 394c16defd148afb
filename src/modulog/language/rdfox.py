"""Parses programs in RDFox's syntax, by the grammar `dlog.lark`; terms and expressions are those of Modulog.

`p:q[?x, ?y]` and `[?x, p:q, ?y]` are the atom of the predicate `<…q>` with two arguments; `p:C[?x]`,
`rdf:type[?x, p:C]` and `[?x, a, p:C]` are the atom of the predicate `<…C>` with one. Atoms whose class or
property is a variable are described in `triples`.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from modulog.language.builder import Builder
from modulog.language.model import Atom, Program, Term, Variable
from modulog.language.parser import Machine
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
    from modulog.language.rdfox_syntax_errors import explain

    program: Program = _machine().parse(text, source, "program", (), "", explain)
    if check:
        from modulog.language.safety import verify

        verify(program, text)
    return program


@functools.cache
def _machine() -> Machine:
    return Machine("dlog.lark", DlogBuilder(), ("program",), ("TERM", "PNAME", "IRI", "WORD", "A"))


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
        from modulog.language.rdfox_syntax_errors import without

        slip = without(children[0], self._at(children[0]))
        raise self._error(slip.message, slip.position, slip.hint)

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
