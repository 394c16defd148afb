"""Function calls: builds them for both syntaxes, and finds atoms that were meant as calls.

An atom that was meant as a call, `STRLEN(?s)`, has the name of a SPARQL function, in upper or lower case (as
in calls), and there is no predicate of that name. A predicate may be called `year` or `contains`: it exists
if the program has rules, facts or an `@import` for it, or if facts for it have been loaded, even none. While
it is not known which facts will be loaded, only names spelled exactly as in SPARQL are refused.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence

from modulog.errors import ProgramError
from modulog.language.model import Call, Expression, Program
from modulog.language.program_warnings import unmade
from modulog.language.term_parser import BadTerm
from modulog.terms.functions import AGGREGATES, FUNCTIONS, OF_SPARQL

WITHOUT_AGGREGATES = "compute the numbers beforehand and load them as facts"
NAMED = sorted(f for f in FUNCTIONS if f.isalpha())


def make_call(name: str, arguments: Sequence[Expression]) -> Call:
    """The call of a function, whose name may be in lower case.

    Raises BadTerm if there is no such function, or if it takes another number of arguments.

    >>> make_call("strlen", [])
    Traceback (most recent call last):
    modulog.language.term_parser.BadTerm: `STRLEN` takes 1 argument, not 0
    """
    function = name.upper()
    if function in AGGREGATES:
        raise BadTerm(name, f"aggregates such as `{name}(…)` are not supported yet", WITHOUT_AGGREGATES)
    if function not in FUNCTIONS:
        near = [] if function in OF_SPARQL else difflib.get_close_matches(function, NAMED, 1)
        hint = f"did you mean {near[0]}?" if near else f"functions are {', '.join(NAMED)}"
        raise BadTerm(name, f"there is no function `{name}`", hint)
    least, most = FUNCTIONS[function]
    if len(arguments) < least or (most is not None and len(arguments) > most):
        wanted = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} or {most}"
        noun = "argument" if wanted == "1" else "arguments"
        raise BadTerm(name, f"`{function}` takes {wanted} {noun}, not {len(arguments)}")
    return Call(function, tuple(arguments))


# ---- Atoms that were meant as calls

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
