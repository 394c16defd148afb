"""Builds function calls for both syntaxes; checks that the function exists and takes so many arguments."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from modulog.language.model import Call, Expression, Term
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


def replace_terms(expression: Expression, value: Callable[[Term], Expression]) -> Expression:
    """The expression with every constant and variable `t` replaced by `value(t)`."""
    if isinstance(expression, Call):
        return Call(expression.function, tuple(replace_terms(a, value) for a in expression.arguments))
    return value(expression)
