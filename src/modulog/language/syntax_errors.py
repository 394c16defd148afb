"""Explains syntax errors: what is wrong, where, and what would be right.

Lark says which token it could not accept and what it had read before. The detectors below look for mistakes
that people really make, in order; the first that recognises one explains it. If none does, the message says
which tokens the grammar allows there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from lark import Token
from lark.exceptions import UnexpectedInput, UnexpectedToken

from modulog.errors import InternalError, ParseError, Position
from modulog.language import other_languages
from modulog.language.error_context import Scene, Slip, is_token, place, scene_of
from modulog.language.function_calls import WITHOUT_AGGREGATES

Detector = Callable[[Scene], Slip | None]

_STARTS = ("ATOM", "NAME", "PNAME", "IRI", "LSQB")
_DIRECTIVES = ("AT_PREFIX", "AT_BASE", "AT_IMPORT", "AT_EXPORT", "AT_OUTPUT", "PREFIX", "BASE")


def explain(
    error: UnexpectedInput,
    text: str,
    source: str,
    *,
    query: bool,
    detectors: Sequence[Detector] | None = None,
) -> ParseError:
    """The error for what Lark raised, explained by the first detector that recognises the mistake."""
    if not isinstance(error, UnexpectedToken):
        raise InternalError(f"the grammar let a character through: {error}")
    scene = scene_of(error, text, source, query)
    found = (slip for detect in detectors or _DETECTORS if (slip := detect(scene)))
    slip = next(found, None) or _unexpected(scene)
    return ParseError(slip.message, slip.position, text, slip.hint)


def quotes(scene: Scene) -> Slip | None:
    """A string without a closing quote."""
    match = re.match(r"'''|\"\"\"|'|\"", scene.remaining)
    if scene.token.type != "BAD" or not match:
        return None
    quote = match[0]
    last = scene.last
    if (
        is_token(last, "TERM")
        and last in ('""', "''")
        and last.end_pos == scene.token.start_pos
        and quote[0] == last[0]
    ):
        return Slip("this string is never closed", place(last, scene.source), f"end it with {quote[0] * 3}")
    if len(quote) == 3:
        return Slip("this string is never closed", scene.here(3), f"end it with {quote}")
    hint = f"close it with {quote} on the same line; a string over several lines stands between {quote * 3}"
    return Slip("this string is never closed", scene.here(len(scene.remaining.split("\n")[0].rstrip())), hint)


def variable(scene: Scene) -> Slip | None:
    """A `?` without a name."""
    if not scene.remaining.startswith("?") or scene.token.type != "BAD":
        return None
    if scene.query and scene.remaining.startswith("?-"):
        return Slip("a query has no `?-`", scene.here(2), "write the atoms alone: `path(a, ?x)`")
    return Slip(
        "a variable without a name", scene.here(1), "write the name directly behind the `?`, as in `?x`"
    )


_UNSUPPORTED = (
    (r"#\w+\s*\(", "aggregates such as `#sum(…)` are not supported yet"),
    (r"!\w+(?!\s*[\w(])", "existential variables such as `!v` are not supported yet"),
    (r"\$\w+", "parameters such as `$name` are not supported"),
)


def _unsupported(scene: Scene) -> Slip | None:
    """Features of other languages that are not supported."""
    for pattern, message in _UNSUPPORTED:
        if match := re.match(pattern, scene.remaining):
            shown = match[0][:-1].rstrip() if match[0][-1] == "(" else match[0]
            return Slip(message, scene.here(len(shown)), WITHOUT_AGGREGATES if shown[0] == "#" else None)
    last = scene.last
    name = is_token(last, "NAME", "PNAME", "IRI")
    if name and last == "f" and re.match(r"[\"']", scene.remaining) and last.end_pos == scene.token.start_pos:
        return Slip('format strings such as f"…" are not supported', place(last, scene.source))
    return None


def _directive(scene: Scene) -> Slip | None:
    """An unknown directive."""
    match = re.match(r"@(\w*)", scene.remaining)
    if not match or scene.token.type != "BAD" or scene.read:
        return None
    known = "directives are @prefix, @base, @import, @export and @output"
    word = "is not supported" if match[1] in ("declare", "parameter") else "is not a directive"
    return Slip(f"`{match[0]}` {word}", scene.here(len(match[0])), known)


def arrow(scene: Scene) -> Slip | None:
    """A wrong spelling of the arrow between head and body, such as `<-` or `:`."""
    match = re.match(r"<-|<=|<--|:[\u2010-\u2015\u2212]|:\s+-|:=|:\s|-:|->|=>|←|→|⟵|:(?=\w)", scene.remaining)
    wanted = "ARROW" in scene.expected
    if not match or not wanted or scene.in_body:
        return None
    if scene.token.type in _STARTS and (scene.token.line or 1) > scene.behind().line:
        return None  # the match is the empty prefix of a name that begins the next statement
    shown = match[0].rstrip()
    return Slip(
        f"`{shown}` is not the arrow of a rule", scene.here(len(shown)), "write `:-` between head and body"
    )


def _negation(scene: Scene) -> Slip | None:
    """A negated head, or a wrong spelling of negation such as `!` or `NOT`."""
    match = re.match(r"(!|¬|-|NOT\b|Not\b|\\\+)\s*(?=[\w<:])", scene.remaining)
    head = "negate in the body: `p(?x) :- q(?x), ~r(?x) .`"
    if scene.token.type == "NOT" and {"ATOM", "NOT"} & scene.expected == {"ATOM"} and not scene.in_body:
        return Slip("a head cannot be negated", scene.here(), head)
    if is_token(scene.last, "NAME") and scene.last == "not" and not scene.in_body and not scene.directive:
        return Slip("a head cannot be negated", place(scene.last, scene.source), head)
    literal = "ATOM" in scene.expected and {"NOT", "TERM"} & scene.expected != {"TERM"}
    if match and literal and scene.token.type in ("BAD", "BANG"):
        return Slip(f"`{match[1]}` does not negate", scene.here(len(match[1])), "write `~p(…)` or `not p(…)`")
    if (
        is_token(scene.last, "NAME")
        and scene.last in ("NOT", "Not")
        and scene.token.type in ("ATOM", "NAME", "PNAME")
    ):
        found = place(scene.last, scene.source)
        return Slip(f"`{scene.last}` does not negate", found, "write `~p(…)` or `not p(…)`, in small letters")
    return None


def operator(scene: Scene) -> Slip | None:
    """An operator of another language, such as `==`, `&&` or `≤`."""
    last, remaining = scene.last, scene.remaining
    if is_token(last, "COMPARE", "EQUALS") and scene.token.start_pos == last.end_pos:
        both = last + remaining[:1]
        right = {"==": "=", "<>": "!=", "=<": "<=", "=>": ">=", "=!": "!="}.get(both)
        if right:
            first = place(last, scene.source)
            both_at = Position(scene.source, first.line, first.column, first.line, first.column + 2)
            return Slip(f"`{both}` is not an operator", both_at, f"write `{right}`")
    words = {"&": ",", "∧": ",", "and": ",", "AND": ",", "≠": "!=", "≤": "<=", "≥": ">=", ";": "."}
    match = re.match(r"&&?|∧|;|≠|≤|≥|(?:and|AND)\b", remaining)
    if match and not {"ATOM", "TERM"} & scene.expected:
        right = words[match[0][:1] if match[0][0] == "&" else match[0]]
        return Slip(f"`{match[0]}` has no meaning here", scene.here(len(match[0])), f"write `{right}`")
    return None


def _hash(scene: Scene) -> Slip | None:
    """A comment that begins with `#`."""
    if not scene.remaining.startswith("#"):
        return None
    return Slip("`#` does not start a comment", scene.here(1), "comments start with `%` or `//`")


def bracket(scene: Scene) -> Slip | None:
    """A bracket that is still open where the statement ends, or where another one begins."""
    opened = scene.open
    if opened is None:
        return None
    if scene.token.type == "DOT" and is_token(scene.last, "NAME") and re.match(r"\.\w", scene.remaining):
        return Slip("a name has no full stops", scene.here(1), "quote it to make a string")
    closers = ("ARROW", "DOT", "$END", "RBRACE", "RPAR", "RSQB")
    starts = scene.token.type in _STARTS or scene.token.type in _DIRECTIVES
    later_line = starts and (scene.token.line or 1) > scene.behind().line
    if scene.token.type not in closers and not later_line:
        return None
    close, what = {"(": (")", "parenthesis"), "{": ("}", "brace"), "[": ("]", "bracket")}[str(opened)]
    if scene.token == close:
        return None
    return Slip(f"this {what} is never closed", place(opened, scene.source), f"add `{close}`")


def stop(scene: Scene) -> Slip | None:
    """A missing full stop or comma, before something that can only follow one."""
    kind = scene.token.type
    starts = kind in _STARTS
    if not scene.read:
        return None
    if scene.open is not None and {"RPAR", "RSQB"} & scene.expected and (starts or kind == "TERM"):
        return Slip("a comma is missing between two terms", scene.behind(), "separate terms by `,`")
    if "DOT" not in scene.expected or scene.last == ".":
        return None
    first = place(scene.read[0], scene.source)
    fresh = (scene.token.line or 1) > scene.behind().line and (scene.token.column or 1) <= first.column
    if kind == "$END" or kind in _DIRECTIVES or (starts and fresh):
        return Slip("a full stop is missing", scene.behind(), "end each rule, fact and directive with ` .`")
    if not starts and kind not in ("NOT", "FILTER", "BIND", "TERM"):
        return None
    if scene.in_body:
        return Slip("a comma is missing", scene.behind(), "separate the literals of a body by `,`")
    if scene.directive:
        return None
    wanted = "`:-` before the body, `,` before another head, or ` .` at the end"
    return Slip("`:-` or a comma is missing", scene.behind(), wanted)


def _bare(scene: Scene) -> Slip | None:
    """A name without arguments where an atom belongs."""
    last = scene.last
    if not is_token(last, "NAME", "PNAME", "IRI") or scene.directive or "LPAR" not in scene.expected:
        return None
    if scene.token.type in ("COMMA", "DOT", "ARROW", "$END"):
        hint = f"write `{last}()` for a predicate without arguments"
        if scene.query:
            hint = f"write `{last}(?x, ?y)`, with a variable for each argument; {hint.removeprefix('write ')}"
        return Slip(f"`{last}` alone is not an atom", place(last, scene.source), hint)
    if scene.token.type == "BAD" and scene.remaining[0] in "[{":
        return Slip(
            f"`{scene.remaining[0]}` does not open the arguments", scene.here(1), f"write `{last}(…)`"
        )
    return None


def bare_iri(scene: Scene) -> Slip | None:
    """An IRI without angle brackets, of which `http:` was read as a name (and the rest as a comment)."""
    for item in (scene.token, *reversed(scene.read)):
        start = item.start_pos if isinstance(item, Token) else None
        if start is not None and (match := re.compile(r"https?://[^\s(),\]]*").match(scene.text, start)):
            at = place(item, scene.source)
            at = Position(at.source, at.line, at.column, at.line, at.column + len(match[0]))
            return Slip("an IRI stands in angle brackets", at, f"write `<{match[0]}>`")
    return None


def number(scene: Scene) -> Slip | None:
    """A word that starts like a number."""
    match = re.match(r"[0-9][\w.]*\w", scene.remaining)
    if scene.token.type != "BAD" or not match:
        return None
    hint = f'a name starts with a letter; quote a string: "{match[0]}"'
    return Slip(f"`{match[0]}` is neither a number nor a name", scene.here(len(match[0])), hint)


def iri(scene: Scene) -> Slip | None:
    """An IRI that is not closed, or has a character in it that IRIs cannot have."""
    match = re.match(r"<[^\s>]*", scene.remaining)
    if not match or "IRI" not in scene.expected or scene.token.type == "IRI":
        return None
    hint = (
        "close it with `>`; spaces, quotes and braces are not allowed inside (write them as \\u0020 or %20)"
    )
    return Slip("this IRI cannot be read", scene.here(len(match[0])), hint)


_DETECTORS: tuple[Detector, ...] = (
    bare_iri,
    other_languages.file_name,
    other_languages.sparql,
    other_languages.constraint,
    other_languages.modulo,
    quotes,
    variable,
    _directive,
    arrow,
    _negation,
    operator,
    _unsupported,
    _hash,
    _bare,
    iri,
    number,
    bracket,
    stop,
)

_MARKS = {
    "ARROW": "`:-`",
    "COMMA": "`,`",
    "DOT": "`.`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "AS": "`AS`",
}


def _unexpected(scene: Scene) -> Slip:
    """The explanation if no detector recognises the mistake: the token, and what is allowed in its place."""
    wanted = list(_wanted(scene.expected)) or ["nothing more"]
    hint = "expected " + (" or ".join([", ".join(wanted[:-1]), wanted[-1]]) if len(wanted) > 1 else wanted[0])
    if scene.query and scene.token.type == "ARROW":
        hint = "a query is the body of a rule, without head and `:-`"
    if scene.query and scene.remaining.startswith("@"):
        hint = (
            "a query has the prefixes of the program that is asked; write other IRIs whole, in angle brackets"
        )
    if not scene.remaining:
        what = "an empty query" if not scene.read else "the text ends too early"
        return Slip(what, scene.behind(), hint)
    shown = scene.token.split("\n")[0]
    return Slip(f"`{shown}` cannot stand here", scene.here(len(shown)), hint)


def _wanted(expected: frozenset[str]) -> Iterator[str]:
    """Descriptions of the expected terminals."""
    if "AT_BASE" in expected:
        yield "a fact, a rule or a directive"
    elif {"ATOM", "LSQB"} <= expected:
        yield "an atom such as p:q[?x, ?y]" + (", NOT, FILTER or BIND" if "FILTER" in expected else "")
    elif "ATOM" in expected and {"TERM", "NOT"} & expected != {"TERM"}:
        yield (
            "an atom such as p(?x), a negated atom or a comparison"
            if "TERM" in expected
            else "an atom such as p(?x)"
        )
    elif "TERM" in expected:
        yield f"a term: a variable, a {'' if 'WORD' in expected else 'name, a '}number, a string or an IRI"
    elif {"NAME", "PNAME", "IRI"} <= expected:
        yield "the name of a predicate"
    elif "NAME" in expected:
        yield "a name"
    elif "PNAME" in expected:
        yield "a prefix such as `ex:`"
    elif "IRI" in expected:
        yield "an IRI such as <http://example.org/>"
    if "COMPARE" in expected:
        yield "one of = != < <= > >="
    elif "EQUALS" in expected:
        yield "`=`"
    yield from (word for name, word in _MARKS.items() if name in expected and "ATOM" not in expected)
