"""Parts of messages: numbers with their nouns, suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def plural(number: int, noun: str, many: str = "") -> str:
    """A number with its noun; `many` is the plural of the noun if it is not formed by adding an s.

    >>> plural(1, "row"), plural(1200, "row"), plural(2, "stratum", "strata")
    ('1 row', '1,200 rows', '2 strata')
    """
    return f"{number:,} {noun if number == 1 else many or f'{noun}s'}"


def arguments(arities: Iterable[int]) -> str:
    """The numbers of arguments that a predicate has, in words.

    >>> arguments([1]), arguments([1, 2]), arguments([3])
    ('1 argument', '1 or 2 arguments', '3 arguments')
    """
    *others, last = arities
    return " or ".join((*map(str, others), plural(last, "argument")))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A suggestion of the known name nearest to `name`, to append to a message; empty if none is near.

    >>> did_you_mean("stroage", ["modules", "storage"]), did_you_mean("x", ["storage"])
    ('; did you mean `storage`?', '')
    """
    near = get_close_matches(name, list(known), 1)
    return f"; did you mean `{near[0]}`?" if near else ""


def still_derived(number: int) -> str:
    """The message about facts that an update should have deleted but that rules still derive.

    >>> still_derived(1)
    '1 fact was not deleted: rules derive it'
    """
    them = "it" if number == 1 else "them"
    return f"{plural(number, 'fact was', 'facts were')} not deleted: rules derive {them}"
