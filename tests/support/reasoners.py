"""Reasoners whose switches are given as keywords, next to other options: tests that try many switches have them in one mapping."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from modulog import Reasoner, Switches

NAMES = {field.name for field in fields(Switches)}


def reasoner(program: Any, **options: Any) -> Reasoner:
    """A reasoner for a program."""
    return Reasoner(program, **with_switches(options))


def with_switches(options: dict[str, Any]) -> dict[str, Any]:
    """Options of `Reasoner`: what are switches among them become one option."""
    switches = {name: value for name, value in options.items() if name in NAMES}
    others = {name: value for name, value in options.items() if name not in NAMES}
    return {"switches": Switches(**switches), **others}
