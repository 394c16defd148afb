"""What a backend does whose work another process can take up: checkpoints of what it has computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from modulog.engines.relation import Relation
from modulog.engines.table import Table


@dataclass(frozen=True, slots=True)
class Frozen:
    """What an engine has so far: `state` can be written as JSON, and needs the files in some folders of the
    backend's folder.
    """

    state: Mapping[str, Any]
    folders: frozenset[str]


class Freezer(Protocol):
    """Writes what a backend has into files that another process can take up."""

    def freeze_into(self, folder: Path) -> None:
        """Put files into a folder of this machine, before anything else is asked. A backend whose facts lie
        in files anyway was made with the folder.
        """

    def can_freeze(self, relation: Relation) -> bool:
        """Whether the facts of a relation are written; if not, they are computed again."""

    def freezing_seconds(self, relations: Sequence[Relation]) -> float:
        """About how long it takes to write these relations, and the terms; 0 if they lie in files anyway."""

    def freeze(self, relations: Sequence[Relation], changing: Sequence[Relation]) -> Frozen | None:
        """What the relations hold, Δ apart, and all terms; None while an evaluation is put off.

        Relations that are not `changing` stay as they are from now on. The files stay until the state after
        the next one is frozen.
        """

    def thaw(self, state: Mapping[str, Any]) -> None:
        """Take up the terms of a frozen state, before there are others than those of a store."""

    def thaw_relations(self, state: Mapping[str, Any], relations: Sequence[Relation]) -> None:
        """Let new, empty relations be what those that were frozen had been, in the same order."""


class TableFreezer(Freezer, Protocol):
    """Also writes what an update has reached, for another process to take it up."""

    def freeze_tables(self, tables: Sequence[Table]) -> Frozen | None:
        """As `freeze`, for tables of facts that nobody changes: they are written, once each."""

    def thaw_tables(self, state: Mapping[str, Any]) -> list[Table]:
        """The tables that were frozen, in the same order."""
