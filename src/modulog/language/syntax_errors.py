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
from modulog.language.error_context import ErrorContext, Explanation, context_of, is_token, place
from modulog.language.function_calls import WITHOUT_AGGREGATES

Detector = Callable[[ErrorContext], Explanation | None]

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
    context = context_of(error, text, source, query)
    found = (explanation for detect in detectors or _DETECTORS if (explanation := detect(context)))
    explanation = next(found, None) or _unexpected(context)
    return ParseError(explanation.message, explanation.position, text, explanation.hint)


def quotes(context: ErrorContext) -> Explanation | None:
    """A string without a closing quote."""
    match = re.match(r"'''|\"\"\"|'|\"", context.remaining)
    if context.token.type != "BAD" or not match:
        return None
    quote = match[0]
    last = context.last
    if (
        is_token(last, "TERM")
        and last in ('""', "''")
        and last.end_pos == context.token.start_pos
        and quote[0] == last[0]
    ):
        return Explanation(
            "this string is never closed", place(last, context.source), f"end it with {quote[0] * 3}"
        )
    if len(quote) == 3:
        return Explanation("this string is never closed", context.here(3), f"end it with {quote}")
    hint = f"close it with {quote} on the same line; a string over several lines stands between {quote * 3}"
    return Explanation(
        "this string is never closed", context.here(len(context.remaining.split("\n")[0].rstrip())), hint
    )


def variable(context: ErrorContext) -> Explanation | None:
    """A `?` without a name."""
    if not context.remaining.startswith("?") or context.token.type != "BAD":
        return None
    if context.query and context.remaining.startswith("?-"):
        return Explanation("a query has no `?-`", context.here(2), "write the atoms alone: `path(a, ?x)`")
    return Explanation(
        "a variable without a name", context.here(1), "write the name directly behind the `?`, as in `?x`"
    )


_UNSUPPORTED = (
    (r"#\w+\s*\(", "aggregates such as `#sum(…)` are not supported yet"),
    (r"!\w+(?!\s*[\w(])", "existential variables such as `!v` are not supported yet"),
    (r"\$\w+", "parameters such as `$name` are not supported"),
)


def _unsupported(context: ErrorContext) -> Explanation | None:
    """Features of other languages that are not supported."""
    for pattern, message in _UNSUPPORTED:
        if match := re.match(pattern, context.remaining):
            shown = match[0][:-1].rstrip() if match[0][-1] == "(" else match[0]
            return Explanation(
                message, context.here(len(shown)), WITHOUT_AGGREGATES if shown[0] == "#" else None
            )
    last = context.last
    name = is_token(last, "NAME", "PNAME", "IRI")
    if (
        name
        and last == "f"
        and re.match(r"[\"']", context.remaining)
        and last.end_pos == context.token.start_pos
    ):
        return Explanation('format strings such as f"…" are not supported', place(last, context.source))
    return None


def _directive(context: ErrorContext) -> Explanation | None:
    """An unknown directive."""
    match = re.match(r"@(\w*)", context.remaining)
    if not match or context.token.type != "BAD" or context.read:
        return None
    known = "directives are @prefix, @base, @import, @export and @output"
    word = "is not supported" if match[1] in ("declare", "parameter") else "is not a directive"
    return Explanation(f"`{match[0]}` {word}", context.here(len(match[0])), known)


def arrow(context: ErrorContext) -> Explanation | None:
    """A wrong spelling of the arrow between head and body, such as `<-` or `:`."""
    match = re.match(
        r"<-|<=|<--|:[\u2010-\u2015\u2212]|:\s+-|:=|:\s|-:|->|=>|←|→|⟵|:(?=\w)", context.remaining
    )
    wanted = "ARROW" in context.expected
    if not match or not wanted or context.in_body:
        return None
    if context.token.type in _STARTS and (context.token.line or 1) > context.behind().line:
        return None  # the match is the empty prefix of a name that begins the next statement
    shown = match[0].rstrip()
    return Explanation(
        f"`{shown}` is not the arrow of a rule", context.here(len(shown)), "write `:-` between head and body"
    )


def _negation(context: ErrorContext) -> Explanation | None:
    """A negated head, or a wrong spelling of negation such as `!` or `NOT`."""
    match = re.match(r"(!|¬|-|NOT\b|Not\b|\\\+)\s*(?=[\w<:])", context.remaining)
    head = "negate in the body: `p(?x) :- q(?x), ~r(?x) .`"
    if context.token.type == "NOT" and {"ATOM", "NOT"} & context.expected == {"ATOM"} and not context.in_body:
        return Explanation("a head cannot be negated", context.here(), head)
    if (
        is_token(context.last, "NAME")
        and context.last == "not"
        and not context.in_body
        and not context.directive
    ):
        return Explanation("a head cannot be negated", place(context.last, context.source), head)
    literal = "ATOM" in context.expected and {"NOT", "TERM"} & context.expected != {"TERM"}
    if match and literal and context.token.type in ("BAD", "BANG"):
        return Explanation(
            f"`{match[1]}` does not negate", context.here(len(match[1])), "write `~p(…)` or `not p(…)`"
        )
    if (
        is_token(context.last, "NAME")
        and context.last in ("NOT", "Not")
        and context.token.type in ("ATOM", "NAME", "PNAME")
    ):
        found = place(context.last, context.source)
        return Explanation(
            f"`{context.last}` does not negate", found, "write `~p(…)` or `not p(…)`, in small letters"
        )
    return None


def operator(context: ErrorContext) -> Explanation | None:
    """An operator of another language, such as `==`, `&&` or `≤`."""
    last, remaining = context.last, context.remaining
    if is_token(last, "COMPARE", "EQUALS") and context.token.start_pos == last.end_pos:
        both = last + remaining[:1]
        right = {"==": "=", "<>": "!=", "=<": "<=", "=>": ">=", "=!": "!="}.get(both)
        if right:
            first = place(last, context.source)
            both_at = Position(context.source, first.line, first.column, first.line, first.column + 2)
            return Explanation(f"`{both}` is not an operator", both_at, f"write `{right}`")
    words = {"&": ",", "∧": ",", "and": ",", "AND": ",", "≠": "!=", "≤": "<=", "≥": ">=", ";": "."}
    match = re.match(r"&&?|∧|;|≠|≤|≥|(?:and|AND)\b", remaining)
    if match and not {"ATOM", "TERM"} & context.expected:
        right = words[match[0][:1] if match[0][0] == "&" else match[0]]
        return Explanation(
            f"`{match[0]}` has no meaning here", context.here(len(match[0])), f"write `{right}`"
        )
    return None


def _hash(context: ErrorContext) -> Explanation | None:
    """A comment that begins with `#`."""
    if not context.remaining.startswith("#"):
        return None
    return Explanation("`#` does not start a comment", context.here(1), "comments start with `%` or `//`")


def bracket(context: ErrorContext) -> Explanation | None:
    """A bracket that is still open where the statement ends, or where another one begins."""
    opened = context.open
    if opened is None:
        return None
    if (
        context.token.type == "DOT"
        and is_token(context.last, "NAME")
        and re.match(r"\.\w", context.remaining)
    ):
        return Explanation("a name has no full stops", context.here(1), "quote it to make a string")
    closers = ("ARROW", "DOT", "$END", "RBRACE", "RPAR", "RSQB")
    starts = context.token.type in _STARTS or context.token.type in _DIRECTIVES
    later_line = starts and (context.token.line or 1) > context.behind().line
    if context.token.type not in closers and not later_line:
        return None
    close, what = {"(": (")", "parenthesis"), "{": ("}", "brace"), "[": ("]", "bracket")}[str(opened)]
    if context.token == close:
        return None
    return Explanation(f"this {what} is never closed", place(opened, context.source), f"add `{close}`")


def stop(context: ErrorContext) -> Explanation | None:
    """A missing full stop or comma, before something that can only follow one."""
    kind = context.token.type
    starts = kind in _STARTS
    if not context.read:
        return None
    if context.open is not None and {"RPAR", "RSQB"} & context.expected and (starts or kind == "TERM"):
        return Explanation("a comma is missing between two terms", context.behind(), "separate terms by `,`")
    if "DOT" not in context.expected or context.last == ".":
        return None
    first = place(context.read[0], context.source)
    fresh = (context.token.line or 1) > context.behind().line and (context.token.column or 1) <= first.column
    if kind == "$END" or kind in _DIRECTIVES or (starts and fresh):
        return Explanation(
            "a full stop is missing", context.behind(), "end each rule, fact and directive with ` .`"
        )
    if not starts and kind not in ("NOT", "FILTER", "BIND", "TERM"):
        return None
    if context.in_body:
        return Explanation("a comma is missing", context.behind(), "separate the literals of a body by `,`")
    if context.directive:
        return None
    wanted = "`:-` before the body, `,` before another head, or ` .` at the end"
    return Explanation("`:-` or a comma is missing", context.behind(), wanted)


def _bare(context: ErrorContext) -> Explanation | None:
    """A name without arguments where an atom belongs."""
    last = context.last
    if not is_token(last, "NAME", "PNAME", "IRI") or context.directive or "LPAR" not in context.expected:
        return None
    if context.token.type in ("COMMA", "DOT", "ARROW", "$END"):
        hint = f"write `{last}()` for a predicate without arguments"
        if context.query:
            hint = f"write `{last}(?x, ?y)`, with a variable for each argument; {hint.removeprefix('write ')}"
        return Explanation(f"`{last}` alone is not an atom", place(last, context.source), hint)
    if context.token.type == "BAD" and context.remaining[0] in "[{":
        return Explanation(
            f"`{context.remaining[0]}` does not open the arguments", context.here(1), f"write `{last}(…)`"
        )
    return None


def bare_iri(context: ErrorContext) -> Explanation | None:
    """An IRI without angle brackets, of which `http:` was read as a name (and the rest as a comment)."""
    for item in (context.token, *reversed(context.read)):
        start = item.start_pos if isinstance(item, Token) else None
        if start is not None and (match := re.compile(r"https?://[^\s(),\]]*").match(context.text, start)):
            at = place(item, context.source)
            at = Position(at.source, at.line, at.column, at.line, at.column + len(match[0]))
            return Explanation("an IRI stands in angle brackets", at, f"write `<{match[0]}>`")
    return None


def number(context: ErrorContext) -> Explanation | None:
    """A word that starts like a number."""
    match = re.match(r"[0-9][\w.]*\w", context.remaining)
    if context.token.type != "BAD" or not match:
        return None
    hint = f'a name starts with a letter; quote a string: "{match[0]}"'
    return Explanation(f"`{match[0]}` is neither a number nor a name", context.here(len(match[0])), hint)


def iri(context: ErrorContext) -> Explanation | None:
    """An IRI that is not closed, or has a character in it that IRIs cannot have."""
    match = re.match(r"<[^\s>]*", context.remaining)
    if not match or "IRI" not in context.expected or context.token.type == "IRI":
        return None
    hint = (
        "close it with `>`; spaces, quotes and braces are not allowed inside (write them as \\u0020 or %20)"
    )
    return Explanation("this IRI cannot be read", context.here(len(match[0])), hint)


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


def _unexpected(context: ErrorContext) -> Explanation:
    """The explanation if no detector recognises the mistake: the token, and what is allowed in its place."""
    wanted = list(_wanted(context.expected)) or ["nothing more"]
    hint = "expected " + (" or ".join([", ".join(wanted[:-1]), wanted[-1]]) if len(wanted) > 1 else wanted[0])
    if context.query and context.token.type == "ARROW":
        hint = "a query is the body of a rule, without head and `:-`"
    if context.query and context.remaining.startswith("@"):
        hint = (
            "a query has the prefixes of the program that is asked; write other IRIs whole, in angle brackets"
        )
    if not context.remaining:
        what = "an empty query" if not context.read else "the text ends too early"
        return Explanation(what, context.behind(), hint)
    shown = context.token.split("\n")[0]
    return Explanation(f"`{shown}` cannot stand here", context.here(len(shown)), hint)


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
