"""Reasoners whose work is divided at every size, and all that they say, so that those with different numbers of threads can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from modulog import Reasoner
from modulog.engines.local.backend import LocalBackend
from modulog.kernels.threads import Threads
from modulog.language.parser import read_program
from modulog.maintenance.change import Change
from modulog.planning.passes import Switches

NUMBERS = (1, 2, 3)
TIMES = {"seconds", "compiling", "label"}
"""What depends on the clock, or is no value."""


def divided(program: str | Path, workers: int, *, piece: int = 3, **switches: Any) -> Reasoner:
    """A reasoner that gives every thread something to do as soon as there are two entries, and cuts rows into small pieces."""
    threads = Threads(workers, least=1, piece=piece)
    made = object.__new__(Reasoner)
    made._start(*read_program(program), Switches(**switches), LocalBackend(threads), None)
    return made


def untimed(value: Any) -> Any:
    """A value without seconds."""
    if is_dataclass(value):
        return {f.name: untimed(getattr(value, f.name)) for f in fields(value) if f.name not in TIMES}
    if isinstance(value, Mapping):
        return {str(key): untimed(item) for key, item in value.items()}
    return list(map(untimed, value)) if isinstance(value, list | tuple) else value


def told(r: Reasoner) -> dict[str, Any]:
    """The facts of every predicate in their order, and how many there are."""
    return {p.name: (list(r.rows(p.name)), r.count(p.name)) for p in r.predicates()}


def changed(change: Change) -> Any:
    """What an update says, rows in their order."""
    names = sorted({*change.added, *change.deleted})
    rows = {p: (list(change.rows(p)), list(change.rows(p, deleted=True))) for p in names}
    return (
        rows,
        change.added,
        change.deleted,
        change.ignored,
        change.still_derived,
        untimed(change.statistics),
    )
