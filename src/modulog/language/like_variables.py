"""Constants that look like the variables of Prolog and Soufflé: `path(X, Y) :- edge(X, Y)`.

Here variables begin with `?`, so such a rule speaks of the strings X and Y. Whoever means a string can say so by quotes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from modulog.language.model import Program, Rule, Variable
from modulog.language.places import Diagnostic, atom_of
from modulog.terms.model import Constant, Kind

_CAPITAL = re.compile(r"[^\W\d_]\w*|_\w+")
_SHORT = re.compile(r"[A-Z]\d*|_\w+")


def like_variables(program: Program, text: str | None) -> Iterator[Diagnostic]:
    """A warning for each rule with such constants. Without the text of the program nobody can tell names from strings in quotes.

    A name counts if it occurs twice in a rule, as variables do: in a rule without any variable if it begins with a capital letter or `_`, in others only if it is a single
    capital letter (and digits), or begins with `_`: `ancestor(Ada, ?x) :- parent(Ada, ?x)` is as it should be.
    """
    if text is None:
        return
    lines = text.split("\n")
    for rule in program.rules:
        if names := [name for name in _names(rule) if _is_bare(rule, name, lines)]:
            shown, meant = " and ".join(f"`{n}`" for n in names), " and ".join(f"`?{n}`" for n in names)
            is_one = len(names) == 1
            message = (
                f"{shown} {'is a constant' if is_one else 'are constants'} here; did you mean {meant}? Quote"
            )
            place = next(a.position for b in rule.body if (a := atom_of(b)) and _has(a.terms, names))
            yield Diagnostic("like-variable", f"{message} {'it' if is_one else 'them'} if not", place)


def _names(rule: Rule) -> list[str]:
    """The names that occur twice in a rule, and in its body, and look like variables."""
    read = [atom for literal in rule.body if (atom := atom_of(literal)) is not None]
    terms = [term for atom in (*rule.heads, *read) for term in atom.terms]
    has_variables = any(isinstance(term, Variable) and not term.anonymous for term in terms)
    pattern = _SHORT if has_variables else _CAPITAL
    counts = Counter(t.text for t in terms if isinstance(t, Constant) and t.kind == Kind.STRING)
    return [
        name
        for name, count in counts.items()
        if count > 1
        and pattern.fullmatch(name)
        and (name[0] == "_" or name[0].isupper())
        and any(_has(atom.terms, [name]) for atom in read)
    ]


def _has(terms: tuple[object, ...], names: list[str]) -> bool:
    return any(isinstance(t, Constant) and t.kind == Kind.STRING and t.text in names for t in terms)


def _is_bare(rule: Rule, name: str, lines: list[str]) -> bool:
    """Whether a name stands in a rule as it is, without quotes and not as a part of something else."""
    place = rule.position
    if place is None or place.end_line > len(lines):
        return False
    stretch = lines[place.line - 1 : place.end_line]
    stretch[-1] = stretch[-1][: place.end_column - 1]
    stretch[0] = stretch[0][place.column - 1 :]
    return re.search(rf"(?<![\w\"'?:/#-]){re.escape(name)}(?![\w\"':/#-])", "\n".join(stretch)) is not None
