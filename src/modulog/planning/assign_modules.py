"""Pass 4: which kind of module handles which recursive clauses of a stratum."""

from __future__ import annotations

from dataclasses import replace

from modulog.planning.plan import ModulePlan, Stratum


def assign_modules(strata: tuple[Stratum, ...]) -> tuple[Stratum, ...]:
    """Every recursive clause goes to the seminaive module of its stratum."""
    return tuple(
        replace(s, modules=(ModulePlan("seminaive", s.recursive),)) if s.recursive else s for s in strata
    )
