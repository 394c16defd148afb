"""Finds atoms that were meant as function calls, `STRLEN(?s)`, and says how calls are written.

Such an atom bears the name of a SPARQL function, in upper or lower case (as in calls), and no predicate of
that name exists. A predicate may be called `year` or `contains`: it exists if the program has rules, facts or
an `@import` for it, or if facts for it have been loaded, even none. While it is not known which facts will be
loaded, only names spelled exactly as in SPARQL are refused.
"""

from __future__ import annotations

from collections.abc import Collection

from modulog.errors import ProgramError
from modulog.language.calls import NAMED, WITHOUT_AGGREGATES
from modulog.language.model import Program
from modulog.language.program_warnings import unmade
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
    """Raise an error for the first body atom that was meant as a call.

    `known` names predicates that have facts from outside the program; None if that is not known yet.
    """
    for name, position in unmade(program, known or ()).items():
        if known is None and not (name.isupper() or name in _MIXED):
            continue
        if explained := explain_call(name):
            raise ProgramError(explained[0], position, text, explained[1])


def explain_call(name: str) -> tuple[str, str] | None:
    """Message and hint for a missing predicate with the name of a function; None for any other name.

    >>> explain_call("STRLEN")[1]
    'a function stands in a comparison: `?n = STRLEN(?s)`'
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
            f"functions are {', '.join(NAMED)}; "
            "facts for a predicate that is called so are given by `load`, `add` or @import",
        )
    return None
