"""What a module promises: the modular paper's plug-in functions as work for an engine.

A module handles some recursive clauses of one stratum. It never touches facts itself: it hands expressions to the engine, which
evaluates those of all modules over the same versions and schedules the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from modulog.engines.protocol import ModuleId, Work
from modulog.planning.plan import Clause


class Module(Protocol):
    """Computes consequences of its clauses (Definition 3)."""

    number: ModuleId
    clauses: Sequence[Clause]

    def add(self) -> Sequence[Work]:
        """What follows in one step from the current deltas: Π[I ∪ Δ : Δ]. Empty when no body has a delta."""
