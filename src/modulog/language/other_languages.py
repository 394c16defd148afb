"""Detectors of what is legal elsewhere: SPARQL, constraints, `%` as an operator, the name of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from modulog.errors import Position
from modulog.language.error_context import ErrorContext, Explanation, is_token
from modulog.language.model import Call, Comparison, Literal

_FILE = re.compile(r"[^\n(?<@\"]+\.[A-Za-z]\w{0,4}")
_SPARQL = re.compile(
    r"(?:#[^\n]*\n|\s)*(SELECT|ASK|CONSTRUCT|DESCRIBE|INSERT|DELETE|PREFIX|BASE)(?=[\s{])", re.IGNORECASE
)
_TERM = r"(?:\?\w+|<[^\s>]+:[^\s>]*>|[\w.-]*:[\w.-]*\w|\"[^\"\n]*\"\S*|\d+)"
_TRIPLE = re.compile(
    rf"(?P<s>{_TERM}|\w+)\s+(?P<p>a(?!\w)|\?\w+|<[^\s>]+:[^\s>]*>|[\w.-]*:[\w.-]*\w)\s+(?P<o>{_TERM})"
)
_MODULO = re.compile(r"[ \t]*(%)[ \t]*(?:\(|(?:\?\w+|\d+)[ \t]*(?:[,.)=<>!+*/&|:-]|$))", re.MULTILINE)
VIOLATIONS = "give them a head whose facts are the violations: `wrong(?x) :- p(?x), q(?x) .`"


def file_name(context: ErrorContext) -> Explanation | None:
    """A file name where the text of a program is expected: `Reasoner("rules.rls")`."""
    name = context.text.strip()
    if context.query or not _FILE.fullmatch(name):
        return None
    at = _at(context, context.text.index(name), len(name))
    return Explanation(
        "this is the name of a file, not a program", at, f"for a file write `Path({json.dumps(name)})`"
    )


def sparql(context: ErrorContext) -> Explanation | None:
    """A SPARQL query, or a triple pattern in SPARQL's notation inside a body."""
    match = _SPARQL.match(context.text)
    if context.query and match:
        hint = (
            "write the atoms alone, with commas: `ub:Chair(?x), ub:worksFor(?x, ?y)`; "
            "every variable is an answer"
        )
        at = _at(context, match.start(1), len(match[1]))
        return Explanation("a query is a conjunction of atoms, not SPARQL", at, hint)
    if match and match[1].upper() not in ("PREFIX", "BASE") and list(context.read) == [match[1]]:
        hint = (
            "a program has rules, `q(?x) :- <http://…/Chair>(?x) .`; "
            'a query of its facts is `reasoner.query("q(?x)")`'
        )
        return Explanation("a program is not SPARQL", _at(context, match.start(1), len(match[1])), hint)
    if (
        match
        and re.match(r"\s*[\w.-]*:\s*<", context.text[match.end() :])
        and not context.text[: match.start(1)].strip()
    ):
        written = f"@{match[1].lower()}"
        at = _at(context, match.start(1), len(match[1]))
        return Explanation(f"`{match[1]}` declares nothing here", at, f"write `{written} ex: <http://…> .`")
    if not context.in_body:
        return None
    starts = (item.start_pos for item in context.read[-3:] if is_token(item, "TERM", "PNAME", "IRI", "NAME"))
    triples = (triple for start in starts if (triple := _TRIPLE.match(context.text, start)))
    here = context.token.start_pos or 0
    triple = next((t for t in triples if t.start("p") <= here < t.end()), None)
    if triple is None:
        return None
    s, p, o = triple["s"], triple["p"], triple["o"]
    atom = (
        f"rdf:type({s}, {o})"
        if p == "a" and o[0] == "?"
        else f"{o}({s})"
        if p == "a"
        else f"triple({s}, {p}, {o})"
        if p[0] == "?"
        else f"{p}({s}, {o})"
    )
    at = _at(context, triple.start("p"), len(p))
    return Explanation("a triple is written as an atom", at, f"write `{atom}`")


def constraint(context: ErrorContext) -> Explanation | None:
    """A constraint, which is a rule without a head: `! :- p(?x)`, `:- p(?x)`, `false :- p(?x)`."""
    last = context.last
    bare = context.token.type == "ARROW" and (not context.read or (last == "false" and not context.read[1:]))
    mark = not context.read and re.match(r"(?:!|⊥)\s*:-", context.remaining)
    if context.query or not (bare or mark):
        return None
    return Explanation(
        "constraints, which are rules without a head, are not supported", context.here(), VIOLATIONS
    )


def modulo(context: ErrorContext) -> Explanation | None:
    """`?x % 2`: the `%` has been read as the start of a comment."""
    if not (is_token(context.last, "TERM", "RPAR") or isinstance(context.last, Call | Comparison)):
        return None
    end = context.behind()
    is_comment = not context.remaining.startswith("%")  # it does not begin one in RDFox's syntax
    return _modulo(context.text, context.source, end.line, end.column, is_comment)


def modulo_at_the_end(text: str, query: Sequence[Literal]) -> Explanation | None:
    """`p(?x), ?z = ?x % 2`: this parses as a query, since it is complete before `%` begins a comment."""
    at = query[-1].position if query and isinstance(query[-1], Comparison) else None
    return _modulo(text, at.source, at.end_line, at.end_column, True) if at else None


def _modulo(text: str, source: str, line: int, column: int, is_comment: bool) -> Explanation | None:
    """The explanation if `%` and an operand follow at a place in the text; else None."""
    match = _MODULO.match(text.split("\n")[line - 1], column - 1)
    if match is None:
        return None
    start = match.start(1) + 1
    comment = "`%` begins a comment; " if is_comment else ""
    hint = f"{comment}the remainder of ?x by 2 is `?x - 2 * INT(?x / 2)`"
    return Explanation("there is no modulo", Position(source, line, start, line, start + 1), hint)


def _at(context: ErrorContext, start: int, length: int) -> Position:
    """The position of `length` characters from the offset `start`, all on one line."""
    line, column = context.text.count("\n", 0, start) + 1, start - context.text.rfind("\n", 0, start)
    return Position(context.source, line, column, line, column + length)
