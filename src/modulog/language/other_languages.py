"""Detectors of what is legal elsewhere: SPARQL, constraints, `%` as an operator, the name of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from modulog.errors import Position
from modulog.language.error_context import Scene, Slip, is_token
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


def file_name(scene: Scene) -> Slip | None:
    """A file name where the text of a program is expected: `Reasoner("rules.rls")`."""
    name = scene.text.strip()
    if scene.query or not _FILE.fullmatch(name):
        return None
    at = _at(scene, scene.text.index(name), len(name))
    return Slip(
        "this is the name of a file, not a program", at, f"for a file write `Path({json.dumps(name)})`"
    )


def sparql(scene: Scene) -> Slip | None:
    """A SPARQL query, or a triple pattern in SPARQL's notation inside a body."""
    match = _SPARQL.match(scene.text)
    if scene.query and match:
        hint = (
            "write the atoms alone, with commas: `ub:Chair(?x), ub:worksFor(?x, ?y)`; "
            "every variable is an answer"
        )
        at = _at(scene, match.start(1), len(match[1]))
        return Slip("a query is a conjunction of atoms, not SPARQL", at, hint)
    if match and match[1].upper() not in ("PREFIX", "BASE") and list(scene.read) == [match[1]]:
        hint = (
            "a program has rules, `q(?x) :- <http://…/Chair>(?x) .`; "
            'a query of its facts is `reasoner.query("q(?x)")`'
        )
        return Slip("a program is not SPARQL", _at(scene, match.start(1), len(match[1])), hint)
    if (
        match
        and re.match(r"\s*[\w.-]*:\s*<", scene.text[match.end() :])
        and not scene.text[: match.start(1)].strip()
    ):
        written = f"@{match[1].lower()}"
        at = _at(scene, match.start(1), len(match[1]))
        return Slip(f"`{match[1]}` declares nothing here", at, f"write `{written} ex: <http://…> .`")
    if not scene.in_body:
        return None
    starts = (item.start_pos for item in scene.read[-3:] if is_token(item, "TERM", "PNAME", "IRI", "NAME"))
    triples = (triple for start in starts if (triple := _TRIPLE.match(scene.text, start)))
    here = scene.token.start_pos or 0
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
    at = _at(scene, triple.start("p"), len(p))
    return Slip("a triple is written as an atom", at, f"write `{atom}`")


def constraint(scene: Scene) -> Slip | None:
    """A constraint, which is a rule without a head: `! :- p(?x)`, `:- p(?x)`, `false :- p(?x)`."""
    last = scene.last
    bare = scene.token.type == "ARROW" and (not scene.read or (last == "false" and not scene.read[1:]))
    mark = not scene.read and re.match(r"(?:!|⊥)\s*:-", scene.remaining)
    if scene.query or not (bare or mark):
        return None
    return Slip("constraints, which are rules without a head, are not supported", scene.here(), VIOLATIONS)


def modulo(scene: Scene) -> Slip | None:
    """`?x % 2`: the `%` has been read as the start of a comment."""
    if not (is_token(scene.last, "TERM", "RPAR") or isinstance(scene.last, Call | Comparison)):
        return None
    end = scene.behind()
    is_comment = not scene.remaining.startswith("%")  # it does not begin one in RDFox's syntax
    return _modulo(scene.text, scene.source, end.line, end.column, is_comment)


def modulo_at_the_end(text: str, query: Sequence[Literal]) -> Slip | None:
    """`p(?x), ?z = ?x % 2`: this parses as a query, since it is complete before `%` begins a comment."""
    at = query[-1].position if query and isinstance(query[-1], Comparison) else None
    return _modulo(text, at.source, at.end_line, at.end_column, True) if at else None


def _modulo(text: str, source: str, line: int, column: int, is_comment: bool) -> Slip | None:
    """The explanation if `%` and an operand follow at a place in the text; else None."""
    match = _MODULO.match(text.split("\n")[line - 1], column - 1)
    if match is None:
        return None
    start = match.start(1) + 1
    comment = "`%` begins a comment; " if is_comment else ""
    hint = f"{comment}the remainder of ?x by 2 is `?x - 2 * INT(?x / 2)`"
    return Slip("there is no modulo", Position(source, line, start, line, start + 1), hint)


def _at(scene: Scene, start: int, length: int) -> Position:
    """The position of `length` characters from the offset `start`, all on one line."""
    line, column = scene.text.count("\n", 0, start) + 1, start - scene.text.rfind("\n", 0, start)
    return Position(scene.source, line, column, line, column + length)
