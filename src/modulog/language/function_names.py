"""Atoms that were meant as calls: their name is that of a function of SPARQL, and no predicate of that name has facts or rules.

Names are compared as calls compare them, in any case of letters: `contains(?s, "ab")` is meant as a function just as `CONTAINS(?s, "ab")` is. But a predicate
may be called `year` or `contains`: it is one if the program has rules, facts or an `@import` for it, or if somebody has given facts for it, even none.
Where nobody can know which facts will be given, only names that are spelled as SPARQL spells them are refused.
"""

from __future__ import annotations

from collections.abc import Collection

from modulog.errors import ProgramError
from modulog.language.expressions import NAMED, WITHOUT_AGGREGATES
from modulog.language.model import Program
from modulog.language.suspicions import unmade
from modulog.terms.functions import AGGREGATES, OF_SPARQL

_MIXED = {
    "isBlank",
    "isIRI",
    "isLiteral",
    "isNumeric",
    "isURI",
    "langMatches",
    "sameTerm",
}  # SPARQL writes all others in capitals


def refuse_functions(program: Program, text: str | None, known: Collection[str] | None) -> None:
    """Raise an error for the first atom of a body that is a call; `known` names predicates that have facts from elsewhere, None if that is not known."""
    for name, position in unmade(program, known or ()).items():
        if known is None and not (name.isupper() or name in _MIXED):
            continue
        if said := explain_call(name):
            raise ProgramError(said[0], position, text, said[1])


def explain_call(name: str) -> tuple[str, str] | None:
    """What to say of a predicate without facts and rules that is called as a function is, and a hint; None for any other name.

    >>> explain_call("STRLEN")
    ('`STRLEN` is a function, and no predicate of this name has facts or rules', 'a function stands in a comparison: `?n = STRLEN(?s)`')
    """
    function = name.upper()
    if function in AGGREGATES:
        return f"aggregates such as `{name}(…)` are not supported yet", WITHOUT_AGGREGATES
    if function in NAMED:
        return (
            f"`{name}` is a function, and no predicate of this name has facts or rules",
            f"a function stands in a comparison: `?n = {function}(?s)`",
        )
    if function in OF_SPARQL:
        return (
            f"there is no function `{name}`, and no predicate of this name has facts or rules",
            f"functions are {', '.join(NAMED)}; facts for a predicate that is called so are given by `load`, `add` or @import",
        )
    return None
