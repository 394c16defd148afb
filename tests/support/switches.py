"""Which combinations of the reasoner's switches a case folder runs with.

`make test` takes few for each folder, so that any values of two switches meet: in every folder where facts are computed once, in any two folders
that follow each other where they are updated. `make test-long` takes all the others. Switches that are left alone are not in a combination.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

Options = dict[str, str]

TWO = [("modules", "off"), ("storage", "compact"), ("decompose", "all")]
"""Switches that choose how facts are computed and kept, and what they say if they are not left alone."""
MAINTENANCE = ("auto", "dred", "dredc", "recompute")
"""How facts are brought up to date."""


def chosen(*turned: bool) -> Options:
    """The first three switches, each turned or left alone."""
    return {name: value for (name, value), turn in zip(TWO, turned, strict=True) if turn}


COMPUTING = [chosen(*turned) for turned in product((False, True), repeat=3)]
PAIRS = [options for options in COMPUTING if len(options) in (0, 2)]
"""Four of eight, among which any two switches say everything that two can say."""

UPDATING = [options | {"maintenance": how} for how in MAINTENANCE for options in COMPUTING]


def few(number: int) -> Iterator[Options]:
    """Four combinations for updates, one for each kind of maintenance, in which every switch is turned and left alone; and all of them left alone.

    With those of the next number any values of two switches meet.
    """
    yield UPDATING[0]
    for place, how in enumerate(MAINTENANCE):
        low, high = place & 1, place >> 1
        modules = (number ^ low ^ high) & 1
        yield chosen(bool(modules), bool(modules ^ low), bool(modules ^ high)) | {"maintenance": how}
