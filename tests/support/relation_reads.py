"""Reading a relation through its engine, and taking facts away from it, as algorithms do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modulog.algebra.expressions import Argument, Read
from modulog.engines.relation import EXPLICIT, Version
from support.implementations import engine_by_name

LOCAL = engine_by_name("local")


def scan(relation: Any, args: tuple[Argument, ...], version: Version) -> Iterator[Any]:
    """The matching facts in chunks; a relation names its engine where not any engine of its kind can read it."""
    yield from getattr(relation, "engine", LOCAL).evaluate(Read(relation, args, version))


def take_away(relation: Any, rows: Any) -> None:
    """Inside an update, take facts away in a round of their own."""
    relation.rest()
    relation.schedule(rows, EXPLICIT)
    relation.derive(leaving=True)
    relation.merge()
