"""Prints programs as text that parses to the same program.

Statements are printed in the order prefixes, imports, facts, rules, exports, outputs. A term is printed in
the shortest way that can be read back: as a bare name, with a prefix if one fits, else in quotes or angle
brackets, as in Turtle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from modulog.language.model import (
    Atom,
    Call,
    Comparison,
    Directive,
    Expression,
    Literal,
    Negation,
    Program,
    Rule,
    Term,
    Variable,
)
from modulog.language.term_parser import SCHEME, bracket, quote
from modulog.terms.constant import XSD, Constant, Kind
from modulog.terms.functions import OPERATORS

Prefixes = Iterable[tuple[str, str]]

_NAME = re.compile(r"[^\W\d][\w-]*")
_RESERVED = {"true", "false", "not", "_"}
_PREFIX = re.compile(r"(?:[^\W\d_](?:[\w.-]*[\w-])?)?")
_LOCAL = re.compile(r"(?:\w[\w-]*)?")
_BARE = {
    Kind.INTEGER: ("integer", re.compile(r"-?[0-9]+")),
    Kind.DECIMAL: ("decimal", re.compile(r"-?[0-9]+\.[0-9]+")),
    Kind.DOUBLE: ("double", re.compile(r"-?[0-9]+\.[0-9]+E-?[0-9]+")),
    Kind.BOOLEAN: ("boolean", re.compile(r"true|false")),
}


def print_term(term: Term, prefixes: Prefixes = ()) -> str:
    """A term, written as in rules and in Turtle.

    >>> print_term(Constant(Kind.STRING, "a b")), print_term(Constant(Kind.STRING, "ab"))
    ('"a b"', 'ab')
    """
    if isinstance(term, Variable):
        return "_" if term.anonymous else f"?{term.name}"
    kind, text = term.kind, term.text
    if kind == Kind.STRING:
        return text if _NAME.fullmatch(text) and text not in _RESERVED else quote(text)
    if kind == Kind.IRI:
        return _iri(text, prefixes)
    if kind == Kind.BLANK:
        return f"_:{text}"
    if kind == Kind.LANGUAGE:
        return f"{quote(text)}@{term.qualifier}"
    if kind == Kind.TYPED:
        return f"{quote(text)}^^{_iri(term.qualifier, prefixes)}"
    datatype, pattern = _BARE[kind]
    return text if pattern.fullmatch(text) else f"{quote(text)}^^{_iri(XSD + datatype, prefixes)}"


def print_predicate(name: str, prefixes: Prefixes = ()) -> str:
    """The name of a predicate; an IRI is written with a prefix if one fits.

    >>> print_predicate("<http://example.org/p>", [("ex", "http://example.org/")])
    'ex:p'
    """
    return _iri(name[1:-1], prefixes) if name.startswith("<") and name.endswith(">") else name


def print_atom(atom: Atom, prefixes: Prefixes = ()) -> str:
    """An atom, `predicate(terms)`.

    >>> from modulog.language.model import Predicate
    >>> print_atom(Atom(Predicate("edge", 2), (Variable("x"), Constant(Kind.INTEGER, "1"))))
    'edge(?x, 1)'
    """
    terms = ", ".join(print_term(term, prefixes) for term in atom.terms)
    return f"{print_predicate(atom.predicate.name, prefixes)}({terms})"


def print_expression(expression: Expression, prefixes: Prefixes = ()) -> str:
    """An expression, with parentheses only where they are needed.

    >>> x = Variable("x")
    >>> print_expression(Call("*", (Call("-", (x, Call("+", (x, x)))), Call("-", (x,)))))
    '(?x - (?x + ?x)) * -?x'
    """
    return _expression(expression, prefixes, 0)


def _expression(expression: Expression, prefixes: Prefixes, outer: int) -> str:
    """An expression; `outer` is the precedence of the operator around it, which decides about parentheses."""
    if not isinstance(expression, Call):
        return print_term(expression, prefixes)
    name, arguments = expression.function, expression.arguments
    if name not in OPERATORS:
        return f"{name}({', '.join(_expression(a, prefixes, 0) for a in arguments)})"
    if len(arguments) == 1:
        (argument,) = arguments
        inner = _expression(argument, prefixes, 0)
        called = isinstance(argument, Call) and argument.function not in OPERATORS
        return f"-{inner}" if called or isinstance(argument, Variable) else f"-({inner})"
    own = OPERATORS[name]
    left, right = _expression(arguments[0], prefixes, own), _expression(arguments[1], prefixes, own + 1)
    text = f"{left} {name} {right}"
    return f"({text})" if own < outer else text


def print_literal(literal: Literal, prefixes: Prefixes = ()) -> str:
    """An atom, a negated atom or a comparison."""
    if isinstance(literal, Negation):
        return f"~{print_atom(literal.atom, prefixes)}"
    if isinstance(literal, Comparison):
        left, right = print_expression(literal.left, prefixes), print_expression(literal.right, prefixes)
        return f"{left} {literal.operator} {right}"
    return print_atom(literal, prefixes)


def print_rule(rule: Rule, prefixes: Prefixes = ()) -> str:
    """A rule, with its full stop.

    >>> from modulog.language.parser import parse_program
    >>> print_rule(parse_program('p(?x):-q(?x,"b"),not r(?x).').rules[0])
    'p(?x) :- q(?x, b), ~r(?x) .'
    """
    heads = ", ".join(print_atom(head, prefixes) for head in rule.heads)
    body = ", ".join(print_literal(literal, prefixes) for literal in rule.body)
    return f"{heads} :- {body} ."


def print_program(program: Program) -> str:
    """A whole program, one statement per line.

    >>> from modulog.language.parser import parse_program
    >>> print(print_program(parse_program("p(a). q(?x) :- p(?x).")), end="")
    p(a) .
    q(?x) :- p(?x) .
    """
    prefixes = tuple(dict(program.prefixes).items())
    # IRIs that stayed relative would change below `@base`, so it is printed last if there are any.
    base = [f"@base {bracket(program.base)} ."] if program.base else []
    first = all(SCHEME.match(iri) for iri in _iris(program))
    lines = [
        *(base if first else ()),
        *(f"@prefix {name}: {bracket(iri)} ." for name, iri in program.prefixes),
        *(f"@import {_directive(directive, prefixes)}" for directive in program.imports),
        *(f"{print_atom(fact, prefixes)} ." for fact in program.facts),
        *(print_rule(rule, prefixes) for rule in program.rules),
        *(f"@export {_directive(directive, prefixes)}" for directive in program.exports),
        *(f"@output {print_predicate(name, prefixes)} ." for name in program.outputs),
        *(() if first else base),
    ]
    return "".join(f"{line}\n" for line in lines)


def _iri(iri: str, prefixes: Prefixes) -> str:
    """An IRI, written with the prefix that makes it shortest, or in angle brackets if none fits."""
    best: str | None = None
    for prefix, start in prefixes:
        if iri.startswith(start) and _LOCAL.fullmatch(iri, len(start)) and _PREFIX.fullmatch(prefix):
            name = f"{prefix}:{iri[len(start) :]}"
            best = name if best is None or len(name) < len(best) else best
    return best or bracket(iri)


def _directive(directive: Directive, prefixes: Prefixes) -> str:
    options = ", ".join(f"{name}={_value(value, prefixes)}" for name, value in directive.options)
    return f"{print_predicate(directive.predicate, prefixes)} :- {directive.format}{{{options}}} ."


def _value(value: object, prefixes: Prefixes) -> str:
    """The value of an option."""
    if isinstance(value, tuple):
        return "(" + ", ".join(_value(part, prefixes) for part in value) + ")"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return print_term(Constant(Kind.STRING, value))
    return print_term(value, prefixes) if isinstance(value, Constant) else str(value)


def _iris(program: Program) -> Iterator[str]:
    """Every IRI in a program."""
    yield from (iri for _, iri in program.prefixes)
    names = [p.name for p in program.predicates()]
    names += [d.predicate for d in (*program.imports, *program.exports)] + list(program.outputs)
    yield from (name[1:-1] for name in names if name.startswith("<"))
    for term in _constants(program):
        if term.kind == Kind.IRI:
            yield term.text
        elif term.kind == Kind.TYPED:
            yield term.qualifier


def _constants(program: Program) -> Iterator[Constant]:
    for atom in program.facts:
        yield from (term for term in atom.terms if isinstance(term, Constant))
    for rule in program.rules:
        for atom in (*rule.heads, *rule.atoms, *rule.negations):
            yield from (term for term in atom.terms if isinstance(term, Constant))
        for comparison in rule.comparisons:
            yield from (term for term in comparison.terms() if isinstance(term, Constant))
    for directive in (*program.imports, *program.exports):
        stack: list[object] = [value for _, value in directive.options]
        while stack:
            value = stack.pop()
            if isinstance(value, tuple):
                stack.extend(value)
            elif isinstance(value, Constant):
                yield value
