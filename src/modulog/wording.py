"""Small words that messages share: numbers with their nouns, names that were perhaps meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def plural(number: int, noun: str, many: str = "") -> str:
    """A number with its noun; `many` is the noun for several, where it is not the same with an s behind.

    >>> plural(1, "row"), plural(1200, "row"), plural(2, "stratum", "strata")
    ('1 row', '1,200 rows', '2 strata')
    """
    return f"{number:,} {noun if number == 1 else many or f'{noun}s'}"


def arguments(arities: Iterable[int]) -> str:
    """How many arguments something has.

    >>> arguments([1]), arguments([1, 2]), arguments([3])
    ('1 argument', '1 or 2 arguments', '3 arguments')
    """
    *others, last = arities
    return " or ".join((*map(str, others), plural(last, "argument")))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The nearest of the known names as the end of a message; empty if none is near.

    >>> did_you_mean("stroage", ["modules", "storage"]), did_you_mean("x", ["storage"])
    ('; did you mean `storage`?', '')
    """
    near = get_close_matches(name, list(known), 1)
    return f"; did you mean `{near[0]}`?" if near else ""


def still_derived(number: int) -> str:
    """What to say of facts that an update was to delete, and that rules derive.

    >>> still_derived(1)
    '1 fact was not deleted: rules derive it'
    """
    return f"{plural(number, 'fact was', 'facts were')} not deleted: rules derive {'it' if number == 1 else 'them'}"
