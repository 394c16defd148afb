"""How much memory an engine may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Room:
    """The memory that a process may have, in bytes, and where that is said."""

    bytes: int
    said: str
