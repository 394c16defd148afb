"""Names of predicates that are probably the same, misspelt: one letter is lost, added, changed or elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

SHORTEST = 4
"""Letters of the shortest name that counts as misspelt."""
CHANGED = 6
"""Letters of the shortest name of which one may be another: `team` and `term` are both words."""


def near_names(known: Iterable[str]) -> Callable[[str], str]:
    """What gives the known name that is nearly the same as another one, or nothing. Of IRIs, only the last parts may differ.

    >>> near = near_names(["path", "edge2", "container", "<http://a/knows>"])
    >>> near("paht"), near("edge3"), near("pith"), near("contaimer"), near("<http://a/knos>"), near("<http://b/knows>")
    ('path', '', '', 'container', '<http://a/knows>', '')
    """
    names: dict[tuple[str, str], list[str]] = {}
    for name in sorted(known):
        for key in _keys(name):
            names.setdefault(key, []).append(name)

    def near(name: str) -> str:
        found = (other for key in _keys(name) for other in names.get(key, ()))
        return next((other for other in found if _is_near(name, other)), "")

    return near


def _parts(name: str) -> tuple[str, str]:
    """The beginning of an IRI up to its last part, and that part."""
    match = re.fullmatch(r"(<.*[/#:])([^/#:]+)>", name)
    return (match[1], match[2]) if match else ("", name)


def _keys(name: str) -> list[tuple[str, str]]:
    """The name as it is and without each of its letters: two names that are nearly the same have one of these in common."""
    start, last = _parts(name)
    return [(start, last), *((start, last[:i] + last[i + 1 :]) for i in range(len(last)))]


def _is_near(name: str, other: str) -> bool:
    """Whether two names that are the same but for a letter are more alike than different ones may be: numbers tell names apart."""
    one, two = _parts(name)[1], _parts(other)[1]
    if (
        name == other
        or min(len(one), len(two)) < SHORTEST
        or re.sub(r"\d", "", one) == re.sub(r"\d", "", two)
    ):
        return False
    moved_or_lost = len(one) != len(two) or sorted(one) == sorted(two)
    return moved_or_lost or len(one) >= CHANGED
